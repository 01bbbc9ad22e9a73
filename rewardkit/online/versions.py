"""Descriptions of rewards for a run's record."""

from __future__ import annotations

import inspect
import io
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from rewardkit.errors import shorten, shorten_line
from rewardkit.record.records import ComponentDescription, Version
from rewardkit.tree.evaluation.omission import binding_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.fingerprints import NO_SOURCE
from rewardkit.tree.loading import is_installed
from rewardkit.tree.reward import Reward, counted_nodes
from rewardkit.workers.pickled_by_value import with_function

# The code of a reward for the record: the pickled reward, and the source of the functions and classes that it uses.


MOST_BYTES = 8_000_000
"""The maximum size of a stored reward. For a larger reward, only the source code is stored. The limit is arbitrary: the
reward is written at each change, and a reward that contains a model is too large."""
# Arbitrary limits that keep the start of a training fast: characters per file, characters per constant, items per
# container, and objects in total.
_MOST_CHARACTERS = 1_000_000
_LONGEST_CONSTANT = 2_000
# The memory address in a repr differs in each process, and would make the reward look like another version.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_MOST_ITEMS = 1_000
_MOST_OBJECTS = 50_000
"""The limit for the search in `_reached`, together with `_MOST_ITEMS`."""
# Names such as "API_KEY" and "hf_token": their values are not recorded.
_SECRET = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)


class _Unstorable(Exception):
    """An exception that stops the pickling of a reward that cannot be stored."""


@dataclass
class Packed:
    """The code of a reward.

    Attributes:
        data: the pickled reward; empty if it cannot be stored.
        why_not: the reason why the reward cannot be stored, or an empty string if it can be stored.
        sources: file path -> the source code of the constants, functions, and classes in the file that the reward uses.
    """

    data: bytes = b""
    why_not: str = ""
    sources: dict[str, str] = field(default_factory=dict)


def pack_reward(reward: Reward) -> Packed:
    """Return the code of `reward`; never raise an exception."""
    result = Packed()
    try:
        result.data = _dumped(reward)
    except Exception as error:  # a lock, a connection, a model
        reason = str(error) if isinstance(error, _Unstorable) else f"{type(error).__name__}: {error}"
        result.why_not = shorten_line(reason)
    with suppress(Exception):  # inspecting a user's objects may run any code
        result.sources = _sources(reward)
    return result


def _dumped(reward: Reward) -> bytes:
    """Pickle `reward`, including the functions and classes that are not from installed packages."""
    import cloudpickle

    registered: list[ModuleType] = []

    class Packer(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, target: Any) -> Any:
            size = getattr(target, "nbytes", 0)
            if isinstance(size, int) and size > MOST_BYTES:
                raise _Unstorable(f"it contains {type(target).__name__} of {size:,} bytes")
            if isinstance(target, (FunctionType, type, ModuleType)) and _is_local(target):
                for name, value in vars(target).items() if isinstance(target, ModuleType) else _constants(target):
                    if _is_secret(name, value):
                        raise _Unstorable(f"its code reads {name}, which looks like a secret")
                module = sys.modules.get(_module_of(target))
                if module is not None and module.__name__ not in cloudpickle.list_registry_pickle_by_value():
                    cloudpickle.register_pickle_by_value(module)
                    registered.append(module)
            return with_function(target, _is_local) or super().reducer_override(target)

    buffer = _Limited()
    try:
        Packer(buffer).dump(reward)
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)
    return buffer.getvalue()


class _Limited(io.BytesIO):
    def write(self, data: Any, /) -> int:
        if self.tell() + memoryview(data).nbytes > MOST_BYTES:
            raise _Unstorable(f"it contains more than {MOST_BYTES:,} bytes of data")
        return super().write(data)


def _is_local(definition: Any) -> bool:
    """Return whether a function, class, or module is user code, which may change or be deleted."""
    name = _module_of(definition)
    if not isinstance(name, str) or _is_ours(name):
        return False
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    return name == "__main__" or (file is not None and not is_installed(Path(file).resolve()))


def _is_ours(module: str) -> bool:
    root = module.partition(".")[0]
    return root in ("rewardkit", "rewardkit_adapters")


def _module_of(definition: Any) -> Any:
    return definition.__name__ if isinstance(definition, ModuleType) else getattr(definition, "__module__", None)


def _sources(reward: Reward) -> dict[str, str]:
    """Return the source code of `reward` by file: constants, and then functions and classes in file order."""
    pieces_by_file: dict[str, list[tuple[int, int, str]]] = {}
    constants: dict[str, dict[str, str]] = {}
    for definition in _walk_user_code(reward):
        file = _label(definition.__module__)
        for name, value in _constants(definition):
            value_text = "..." if _is_secret(name, value) else _ADDRESS.sub("", shorten(value, _LONGEST_CONSTANT))
            constants.setdefault(file, {})[name] = f"{name} = {value_text}"
        with suppress(*NO_SOURCE):  # typed into an interpreter
            lines, start = inspect.getsourcelines(definition)
            text = textwrap.dedent("".join(lines)).strip("\n")
            pieces_by_file.setdefault(file, []).append((start, start + len(lines), text))
    texts = {}
    for file in dict.fromkeys([*pieces_by_file, *constants]):
        above = "\n".join(sorted(constants.get(file, {}).values()))
        pieces = [text for _, _, text in _outermost(pieces_by_file.get(file, []))]
        texts[file] = "\n\n\n".join(filter(None, [above, *pieces]))[:_MOST_CHARACTERS] + "\n"
    return texts


def _walk_user_code(reward: Reward) -> Iterator[Any]:
    """Yield the user's functions and classes that `reward` uses, directly or indirectly."""
    visited: dict[int, Any] = {}  # keeps them alive, so that ids stay unique
    todo: list[Any] = [reward]
    while todo and len(visited) < _MOST_OBJECTS:
        target = todo.pop()
        if id(target) in visited or isinstance(target, (str, bytes, int, float, ModuleType)):
            continue
        visited[id(target)] = target
        if isinstance(target, (FunctionType, type)):
            if _is_local(target):
                yield target
                todo += _parts_of(target)
        elif isinstance(target, (dict, MappingProxyType)):
            todo += list(target.values())[:_MOST_ITEMS]
        elif isinstance(target, (tuple, list, set, frozenset)):
            todo += list(target)[:_MOST_ITEMS]
        elif isinstance(target, MethodType):
            todo += [target.__func__, target.__self__]
        elif isinstance(target, partial):
            todo += [target.func, target.args, target.keywords]
        elif _is_local(type(target)) or _is_ours(type(target).__module__):  # does not search models and clients
            todo += [type(target), *getattr(target, "__dict__", {}).values()]
            todo += [getattr(target, field.name) for field in fields(target)] if is_dataclass(target) else []


def _parts_of(definition: FunctionType | type) -> Iterator[Any]:
    if not isinstance(definition, FunctionType):
        yield from definition.__bases__
        yield from vars(definition).values()
        return
    names = set(_names(definition.__code__))
    for value in [definition.__globals__[name] for name in names if name in definition.__globals__]:
        yield value
        if isinstance(value, ModuleType) and _is_local(value):
            yield from (vars(value)[name] for name in names if name in vars(value))
    yield from (definition.__defaults__ or ())
    for cell in definition.__closure__ or ():
        with suppress(ValueError):  # not assigned yet
            yield cell.cell_contents


def _constants(definition: FunctionType | type) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each global that a function reads, except functions, classes, and modules."""
    if not isinstance(definition, FunctionType):
        return
    for name in _names(definition.__code__):
        value = definition.__globals__.get(name, len)
        if not (callable(value) or isinstance(value, ModuleType)):
            yield name, value


def _is_secret(name: str, value: Any) -> bool:
    """Return whether a variable's name and value suggest a secret.

    The value is long, without spaces, and has a digit.
    """
    if not (isinstance(value, str) and _SECRET.search(name)):
        return False
    # Keys have 16 characters or more, with digits and without spaces; "tokens per minute" is not a secret.
    return re.fullmatch(r"[\w+/=.:-]{16,}", value) is not None and re.search(r"\d", value) is not None


def _outermost(pieces: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield a file's pieces in order, without pieces that are inside another piece."""
    last = -1
    for start, end, text in sorted(pieces, key=lambda piece: (piece[0], -piece[1])):
        if end > last:
            yield start, end, text
            last = end


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _label(module: str) -> str:
    """Return a module's file name: ``reward.py``, ``rewards/answers.py``, or ``notebook``."""
    if module == "__main__":
        file = getattr(sys.modules["__main__"], "__file__", None)
        return Path(file).name if file else "notebook"
    return f"{module.replace('.', '/')}.py"


_DATA = ("prompt", "example")
"""The sources, other than columns, from which a function may read the data."""


def version_of(scorer: Scorer) -> Version:
    """Return a reward's version for the record: its fingerprint, components, terms, and code."""
    reward = scorer.reward
    code = pack_reward(reward)
    return Version(
        reward.fingerprint,
        repr(reward),
        described_components(scorer),
        tuple(scorer.terms),
        sources=code.sources,
        packed=code.data,
        unpacked=code.why_not,
    )


def described_components(scorer: Scorer) -> tuple[ComponentDescription, ...]:
    """Describe each component; its kind is ``"reward"``, or ``"monitored"`` if it is not part of the total."""
    trained = set(counted_nodes(scorer.reward))
    return tuple(
        ComponentDescription(name, node.bounds, "reward" if node in trained else "monitored", _read_by(node))
        for name, node in scorer.names.components
    )


def _read_by(component: Reward) -> tuple[str, ...]:
    """Return the columns that the component's function reads, and ``"prompt"`` or ``"example"`` if it reads them."""
    binding = binding_of(component)
    read = [
        parameter
        for parameter in (() if binding is None else binding.parameters)
        if parameter.is_column or parameter.source in _DATA
    ]
    return tuple(dict.fromkeys(parameter.source for parameter in read))
