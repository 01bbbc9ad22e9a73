r"""Vocabulary: the texts that a reward's code mentions, which are used to build completions.

A function with ``re.compile(r"<answer>(.*?)</answer>")`` and the constant ``"####"`` is tried with answers inside these
tags and after these hash marks, without any configuration.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import CodeType
from typing import Any

from rewardkit.rewards.format import Tags
from rewardkit.text.extractors import Tagged
from rewardkit.tree.fingerprints import NO_SOURCE
from rewardkit.tree.reward import Reward
from rewardkit.tree.trl_function import OtherColumns

# Source: facts about a function that only its source code shows, not its bytecode.


def only_zipped(function: Callable[..., Any], name: str) -> bool:
    """Return whether a function only zips its argument `name` with others in a loop but never reads the items.

    ``for completion, gold in zip(completions, target): ...`` is copied from reward to reward, even if no line reads
    ``gold``. The result is False if there is no source.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (*NO_SOURCE, ValueError):
        return False
    read = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    items = [item for target, source in _loops(tree) for item in _items_of(target, source, name)]
    return (
        bool(items) and read.count(name) == len(items) and all(item is not None and item not in read for item in items)
    )


def _loops(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the target and the iterable of every loop."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield node.target, node.iter


def _items_of(target: ast.expr, source: ast.expr, name: str) -> Iterator[str | None]:
    """Yield the loop variable for the items of `name`, such as ``b`` in ``for a, b in zip(x, name)``, or None."""
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
        return
    if source.func.id == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2 and source.args:
        yield from _items_of(target.elts[1], source.args[0], name)
    elif source.func.id == "zip":
        parts = target.elts if isinstance(target, ast.Tuple) else []
        for index, argument in enumerate(source.args):
            if isinstance(argument, ast.Name) and argument.id == name:
                part = parts[index] if len(parts) == len(source.args) else None
                yield part.id if isinstance(part, ast.Name) else None


_CALL = "__call__"
# Limits on what is read in the code: the depth of calls, the characters of a text, and the number of texts. Arbitrary:
# longer texts are messages.
_DEPTH = 4
_LONGEST = 80
_MOST = 60


@dataclass(frozen=True)
class Mined:
    """The texts, patterns, and names that a reward's code mentions.

    Attributes:
        texts: string constants of at most 80 characters, without docstrings.
        patterns: sources of regular expressions.
        names: identifiers and keys, such as the names of columns.
    """

    texts: tuple[str, ...]
    patterns: tuple[str, ...]
    names: frozenset[str]

    @property
    def words(self) -> tuple[str, ...]:
        """The words in the patterns, and all short texts."""
        # At least three letters: shorter runs are flags and character classes.
        pattern_words = [word for pattern in self.patterns for word in re.findall(r"(?<!\\)[A-Za-z]{3,30}", pattern)]
        return tuple(dict.fromkeys([*pattern_words, *(text.strip() for text in self.texts if len(text) <= 40)]))

    @property
    def has_dots(self) -> bool:
        """Whether a pattern contains a repeated ``.``, which stops at line breaks without re.DOTALL."""
        # ".*", but not "\.*".
        return any(re.search(r"(?<!\\)\.[*+{]", text) for text in (*self.patterns, *self.texts))

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of XML-like tags in the texts and patterns."""
        names = (
            name for text in (*self.patterns, *self.texts) for name in re.findall(r"</?([A-Za-z_]\w{0,30})>", text)
        )
        return tuple(dict.fromkeys(names))


def mine_reward(reward: Reward) -> Mined:
    """Return the texts, patterns, and names that a reward's functions and primitives mention."""
    texts: dict[str, None] = {}
    patterns: dict[str, None] = {}
    names: set[str] = set()
    visited: set[int] = set()
    for kind, text in _mine_value(reward, _DEPTH, visited):
        if kind == "name":
            names.add(text)
        elif kind == "pattern":
            patterns.setdefault(text)
        elif text.strip() and len(text) <= _LONGEST:
            texts.setdefault(text)
            names.add(text)
    return Mined(tuple(texts)[:_MOST], tuple(patterns)[:_MOST], frozenset(names))


def _mine_value(value: Any, depth: int, visited: set[int]) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield "text", value
        return
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield "pattern", value.pattern
        return
    if depth < 0 or id(value) in visited or isinstance(value, (int, float, bytes, type(None))):
        return
    visited.add(id(value))
    if isinstance(value, Reward) and value.facts.binding is not None:  # its options are rewardkit's words
        binding = value.facts.binding
        for part in (binding.original, *(parameter.view for parameter in binding.parameters)):
            yield from _mine_value(part, depth, visited)
    elif isinstance(value, (Tags, Tagged)):
        for pair in value.pairs if isinstance(value, Tags) else (value.marks,):
            yield from (("text", pair.opening), ("text", pair.closing))
    elif isinstance(value, functools.partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _mine_value(part, depth, visited)
    elif inspect.ismethod(value):
        yield from _mine_value(value.__func__, depth, visited)
        yield from _mine_value(value.__self__, depth, visited)
    elif inspect.isfunction(value):
        yield from _mine_function(value, depth, visited)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in list(value)[:_MOST]:
            yield from _mine_value(item, depth - 1, visited)
    elif isinstance(value, Mapping):
        for key, item in list(value.items())[:_MOST]:
            yield from _mine_value(key, depth - 1, visited)
            yield from _mine_value(item, depth - 1, visited)
    elif is_dataclass(value) and not isinstance(value, type):
        below = depth if isinstance(value, Reward) else depth - 1
        for field in fields(value):
            yield from _mine_value(getattr(value, field.name, None), below, visited)
        yield from _mine_value(getattr(type(value), _CALL, None), depth - 1, visited)
    elif callable(value) and not isinstance(value, type) and not inspect.isbuiltin(value):
        yield from _mine_value(vars(value) if hasattr(value, "__dict__") else None, depth - 1, visited)
        for name, method in vars(type(value)).items():
            if inspect.isfunction(method) and (name == _CALL or not name.startswith("__")):
                yield from _mine_value(method, depth - 1, visited)
        yield from _mine_value(getattr(type(value), _CALL, None), depth - 1, visited)


def _mine_function(function: Callable[..., Any], depth: int, visited: set[int]) -> Iterator[tuple[str, str]]:
    if (function.__module__ or "").split(".")[0] in ("rewardkit", "re", "json", "typing"):
        return
    yield from _names_and_constants(function.__code__, function.__doc__)
    reached = function.__globals__
    for name in _globals_of(function.__code__):
        if name in reached and not inspect.ismodule(reached[name]):
            yield from _mine_value(reached[name], depth - 1, visited)
    for cell in function.__closure__ or ():
        try:
            yield from _mine_value(cell.cell_contents, depth - 1, visited)
        except ValueError:  # not assigned yet
            continue
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield from _mine_value(default, depth - 1, visited)
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield from _mine_value(wrapped, depth - 1, visited)


def _names_and_constants(code: CodeType, doc: str | None) -> Iterator[tuple[str, str]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_and_constants(constant, None)
        elif isinstance(constant, str) and constant != doc:
            yield ("pattern" if _is_pattern(constant) else "text"), constant
        elif isinstance(constant, (tuple, frozenset)):
            for item in constant:
                if isinstance(item, str):
                    yield "text", item
    for name in code.co_names:
        yield "name", name


def _globals_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)


def _is_pattern(text: str) -> bool:
    """Return whether a constant looks like a regular expression."""
    # "\d", ".*", "(?", "[^": text that is almost certainly a pattern.
    if not re.search(r"\\[dswbDSWB.]|[*+?]\)|\(\?|\[\^|\.\*|\]\+", text):
        return False
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def code_of(function: Any) -> CodeType | None:
    """Return the code object of a function or of an object's ``__call__``, or None if there is none."""
    target = inspect.unwrap(getattr(function, "func", function))
    code = getattr(target, "__code__", None) or getattr(getattr(type(target), _CALL, None), "__code__", None)
    return code if isinstance(code, CodeType) else None


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter] | None:
    """Return a function's parameters by name, or None if it has no signature, like some built-ins."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def uses_argument(function: Callable[..., Any], name: str) -> bool:
    """Return whether the code of `function` reads its argument `name`, or True if unknown.

    ``for completion, gold in zip(completions, target)`` does not read ``target`` if nothing reads ``gold``.
    """
    if isinstance(function, OtherColumns):
        parameter_names = {column_name: parameter_name for parameter_name, column_name in function.columns}
        return uses_argument(function.function, parameter_names.get(name, name))
    code = code_of(function)
    if code is None:
        return True
    if only_zipped(function, name):
        return False
    if code.co_flags & inspect.CO_VARKEYWORDS and name not in code.co_varnames:
        return True  # the function passes its arguments on
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "COPY_FREE")):
            read = instruction.argval
            if read == name or (isinstance(read, tuple) and name in read):
                return True
    return any(name in constant.co_freevars for constant in code.co_consts if isinstance(constant, CodeType))
