"""The description of a reward in the record of a run."""

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
from rewardkit.tree.evaluation.omission import binding_of, counted
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.loading import is_installed
from rewardkit.tree.reward import Reward
from rewardkit.workers.pickled_by_value import with_function

# The code of a reward for the record: the reward as bytes, and the source of the functions and classes it uses.


MOST_BYTES = 8_000_000
"""A reward that needs more is not stored, only its source. Any limit: it is written at each change, and a reward with a
model in it is too large."""
# Any limits, so that the start of a training takes no time: characters of a file, and below, of a constant, items of a
# container, and objects in all.
_MOST_CHARACTERS = 1_000_000
_LONGEST_CONSTANT = 2_000
# The address in a repr differs in each process, and would make another version.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_MOST_ITEMS = 1_000
_MOST_OBJECTS = 50_000
"""The limits of the search."""
# "API_KEY", "hf_token": their values are not written into a recording.
_SECRET = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)


class _Unstorable(Exception):
    """Ends the packing of a reward."""


@dataclass
class Packed:
    """The code of a reward.

    Attributes:
        data: the reward for `pickle`; empty if it cannot be stored.
        why_not: why it cannot be stored.
        sources: path of a file -> the parts of it that the reward uses: constants, functions, classes.
    """

    data: bytes = b""
    why_not: str = ""
    sources: dict[str, str] = field(default_factory=dict)


def packed(reward: Reward) -> Packed:
    """Return the code of `reward`; never raises."""
    result = Packed()
    try:
        result.data = _dumped(reward)
    except Exception as error:  # a lock, a connection, a model
        reason = str(error) if isinstance(error, _Unstorable) else f"{type(error).__name__}: {error}"
        result.why_not = shorten_line(reason)
    with suppress(Exception):  # objects of users may do anything when they are looked at
        result.sources = _sources(reward)
    return result


def _dumped(reward: Reward) -> bytes:
    """Pickle `reward` with the functions and classes that are not installed."""
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

    written = _Limited()
    try:
        Packer(written).dump(reward)
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)
    return written.getvalue()


class _Limited(io.BytesIO):
    def write(self, data: Any, /) -> int:
        if self.tell() + memoryview(data).nbytes > MOST_BYTES:
            raise _Unstorable(f"it contains more than {MOST_BYTES:,} bytes of data")
        return super().write(data)


def _is_local(definition: Any) -> bool:
    """Whether a function or class is of the user's own code, which may change or vanish."""
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
    """Return a text for each file: the constants, then functions and classes in their order in the file."""
    pieces_by_file: dict[str, list[tuple[int, int, str]]] = {}
    constants: dict[str, dict[str, str]] = {}
    for definition in _reached(reward):
        file = _label(definition.__module__)
        for name, value in _constants(definition):
            value_text = "..." if _is_secret(name, value) else _ADDRESS.sub("", shorten(value, _LONGEST_CONSTANT))
            constants.setdefault(file, {})[name] = f"{name} = {value_text}"
        with suppress(OSError, TypeError):  # typed into an interpreter
            lines, start = inspect.getsourcelines(definition)
            text = textwrap.dedent("".join(lines)).strip("\n")
            pieces_by_file.setdefault(file, []).append((start, start + len(lines), text))
    texts = {}
    for file in dict.fromkeys([*pieces_by_file, *constants]):
        above = "\n".join(sorted(constants.get(file, {}).values()))
        pieces = [text for _, _, text in _outermost(pieces_by_file.get(file, []))]
        texts[file] = "\n\n\n".join(filter(None, [above, *pieces]))[:_MOST_CHARACTERS] + "\n"
    return texts


def _reached(reward: Reward) -> Iterator[Any]:
    """Yield the functions and classes of the user that a reward uses, however indirectly."""
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
        elif _is_local(type(target)) or _is_ours(type(target).__module__):  # not into models and clients
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
    """Yield the global variables that a function reads, without functions, classes and modules."""
    if not isinstance(definition, FunctionType):
        return
    for name in _names(definition.__code__):
        value = definition.__globals__.get(name, len)
        if not (callable(value) or isinstance(value, ModuleType)):
            yield name, value


def _is_secret(name: str, value: Any) -> bool:
    """Whether a variable is called like a secret and looks like one: long, without blanks, with a digit."""
    if not (isinstance(value, str) and _SECRET.search(name)):
        return False
    # Keys have 16 characters or more, with digits and without spaces; "tokens per minute" is no secret.
    return re.fullmatch(r"[\w+/=.:-]{16,}", value) is not None and re.search(r"\d", value) is not None


def _outermost(pieces: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield the pieces of a file in order, without those that are inside another one."""
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
    """Return the name of a module's file: ``reward.py``, ``rewards/answers.py``, or ``notebook``."""
    if module == "__main__":
        file = getattr(sys.modules["__main__"], "__file__", None)
        return Path(file).name if file else "notebook"
    return f"{module.replace('.', '/')}.py"


_DATA = ("prompt", "example")
"""Arguments that a function may read from the data besides columns."""


def version_of(scorer: Scorer) -> Version:
    """Return the version of a reward for the record: its fingerprint, components, terms and code."""
    reward = scorer.reward
    code = packed(reward)
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
    """Describe each component; its kind is ``"reward"``, or ``"monitored"`` if it earns nothing."""
    trained = set(counted(scorer.reward))
    return tuple(
        ComponentDescription(name, node.bounds, "reward" if node in trained else "monitored", _read_by(node))
        for name, node in scorer.names.components
    )


def _read_by(component: Reward) -> tuple[str, ...]:
    """Return the example columns that its function reads, and ``"prompt"`` or ``"example"`` if it reads these."""
    binding = binding_of(component)
    read = [
        parameter
        for parameter in (() if binding is None else binding.parameters)
        if parameter.is_column or parameter.source in _DATA
    ]
    return tuple(dict.fromkeys(parameter.source for parameter in read))
