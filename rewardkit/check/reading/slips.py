r"""Slips: code that does not work as its author intended, each with the intended code.

``re.sub(pattern, "", text, re.I)`` passes the flag as the number of replacements, ``text.lstrip("Answer: ")`` removes
letters, and ``"Yes" in text.lower()`` is never true. A slip proposes a repair. It counts only if the repaired code
gives some completion another score.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rewardkit.check.mutants.sites import Node, Site, called, calls_re, for_nodes, grouped, operator_of
from rewardkit.check.reading.places import closed_over
from rewardkit.tree.reward import Reward, bindings

# Repair: run a reward with one place of its code replaced, without running the module again.


_DEPTH = 8
"""The depth of calls to follow in a reward's code. Arbitrary: it limits the search."""


class NotRepaired(Exception):
    """Raised if a site is not in a function or constant that can be replaced while the process runs."""


@contextmanager
def repaired(reward: Reward, site: Site, text: str) -> Iterator[None]:
    """Inside the ``with`` block, run the reward with the code at `site` replaced by `text`.

    Raises:
        NotRepaired: the code cannot be replaced, or the file has changed since it was loaded.
    """
    source = site.source.replaced(site.node, text)
    try:
        before, after = (_codes(compile(candidate, "<repaired>", "exec")) for candidate in (site.source.text, source))
    except (SyntaxError, ValueError) as error:
        raise NotRepaired(str(error)) from None
    names = [function.name for function in site.functions]
    functions = list(reachable(reward))
    if not names:
        yield from _with_constant(functions, site, source)
        return
    changed = {location for location, code in after.items() if location in before and before[location] != code}
    exchanged = [
        candidate
        for candidate in functions
        if _code_key(candidate.__code__) in changed and _is_same_code(candidate.__code__, before)
    ]
    if not exchanged:
        raise NotRepaired(f"{names[-1]} was not found unchanged in its file")
    originals = [candidate.__code__ for candidate in exchanged]
    try:
        for candidate in exchanged:
            candidate.__code__ = after[_code_key(candidate.__code__)]
        yield
    finally:
        for candidate, code in zip(exchanged, originals, strict=True):
            candidate.__code__ = code


def _with_constant(functions: list[FunctionType], site: Site, source: str) -> Iterator[None]:
    """Replace the value of a module constant until the generator is closed."""
    statement = site.parents[-1] if site.parents else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    spaces = [
        candidate.__globals__
        for candidate in functions
        if isinstance(target, ast.Name) and target.id in candidate.__globals__
    ]
    if not isinstance(target, ast.Name) or not spaces:
        raise NotRepaired("it is not a constant of a module that is in use")
    space, name = spaces[0], target.id
    written = next(
        candidate
        for candidate in ast.parse(source).body
        if getattr(candidate, "lineno", 0) == getattr(statement, "lineno", -1)
    )
    assert isinstance(written, (ast.Assign, ast.AnnAssign))
    assert written.value is not None
    try:
        value = eval(compile(ast.Expression(written.value), "<repaired>", "eval"), dict(space))
    except Exception as error:  # the constant depends on something that has changed since
        raise NotRepaired(str(error)) from None
    original = space[name]
    if type(value) is not type(original):
        raise NotRepaired(f"{name} has changed")
    space[name] = value
    try:
        yield
    finally:
        space[name] = original


def _codes(module: CodeType) -> dict[tuple[str, int], CodeType]:
    """Return the code objects of all functions in a module, by name and line."""
    codes: dict[tuple[str, int], CodeType] = {}
    todo = [module]
    while todo:
        for constant in todo.pop().co_consts:
            if isinstance(constant, CodeType):
                codes[_code_key(constant)] = constant
                todo.append(constant)
    return codes


def _code_key(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _is_same_code(code: CodeType, codes: Mapping[tuple[str, int], CodeType]) -> bool:
    """Return whether the running code is the same as the code in the file."""
    other = codes.get(_code_key(code))
    return other is not None and (code.co_code, code.co_freevars) == (other.co_code, other.co_freevars)


def reachable(reward: Reward) -> Iterator[FunctionType]:
    """Yield the functions of a reward, and the functions in the same modules that they use."""
    visited: set[int] = set()
    todo: list[tuple[Any, int]] = [(binding.original, _DEPTH) for _, binding in bindings(reward) if not binding.trusted]
    while todo:
        value, depth = todo.pop()
        value = inspect.unwrap(getattr(value, "func", value)) if callable(value) else value
        if id(value) in visited or depth < 0:
            continue
        visited.add(id(value))
        if inspect.ismethod(value):
            todo += [(value.__func__, depth), (value.__self__, depth)]
        elif isinstance(value, FunctionType):
            yield value
            todo += [(member, depth - 1) for member in _used(value)]
        elif not isinstance(value, type) and type(value).__module__ not in ("builtins", "re"):
            todo += [
                (member, depth - 1)
                for member in vars(type(value)).values()
                if isinstance(member, (FunctionType, staticmethod))
            ]


def _used(function: FunctionType) -> Iterator[Any]:
    """Yield the values that a function uses from its module and from its closure."""
    file = function.__code__.co_filename
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
        if getattr(code, "co_filename", file) == file and value is not None:
            yield value
    yield from closed_over(function)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def reads_messages(reward: Reward) -> bool:
    """Return whether a reward's functions read the content of chat messages, as in ``completion[0]["content"]``.

    The functions that they import, by name or as ``module.function``, are also read.
    """
    functions = list(reachable(reward))
    for function in list(functions):
        names = list(_names(function.__code__))
        values = [function.__globals__.get(name) for name in names]
        values += [getattr(value, name, None) for value in values if isinstance(value, ModuleType) for name in names]
        functions += [value for value in values if isinstance(value, FunctionType)]
    return any("content" in _keys(function.__code__) for function in functions)


def _keys(code: CodeType) -> Iterator[Any]:
    """Yield the names and constants in a function's code, including the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _keys(constant)
        else:
            yield constant


_FLAGS = frozenset(("I", "IGNORECASE", "S", "DOTALL", "M", "MULTILINE", "X", "VERBOSE", "A", "ASCII"))
_ENDS = {"strip": ("removeprefix", "removesuffix"), "lstrip": ("removeprefix",), "rstrip": ("removesuffix",)}
# Signs that a text was written as a pattern: "\d", ".*", "(?", "[".
_MADE = re.compile(r"\\[dswb]|\.[*+]|\(\?|\[|\\")
# "\d+.\d+": the dot was meant as a decimal point.
_DOT = re.compile(r"(\\d[+*]?|\[0-9\][+*]?)\.(?=\(?\\d|\[0-9\])")
# A capital letter, but not the one in "\S" or "\W".
_CAPITAL = re.compile(r"(?<!\\)[A-Z]")


@dataclass(frozen=True)
class Slip:
    """A place in the code that does not work as the author intended.

    Attributes:
        site: the place in the code.
        repairs: alternatives that the author may have intended. The slip has an effect if each of them changes the
            score.
        why: a description of what the code does.
    """

    site: Site
    repairs: tuple[str, ...]
    why: str

    @property
    def line(self) -> int:
        return int(getattr(self.site.node, "lineno", 0))


_KINDS: list[Callable[[Site], Iterator[Slip]]] = []


def _kind(node: type[Node]) -> Callable[[Callable[[Site, Node], Iterator[Slip]]], None]:
    """Register a function that finds one kind of slip in nodes with the type `node`."""
    return lambda function: _KINDS.append(for_nodes(node, function))


def slips(sites: Iterator[Site]) -> Iterator[Slip]:
    """Yield the slips at the given sites in a reward's code."""
    for site in sites:
        for kind in _KINDS:
            yield from kind(site)


@_kind(ast.Call)
def _flag_as_count(site: Site, node: ast.Call) -> Iterator[Slip]:
    index = {"sub": 3, "subn": 3, "split": 2}.get(called(node), 0)
    for argument in node.args[index : index + 1] if index and calls_re(node) else ():
        if any(
            isinstance(descendant, ast.Attribute) and descendant.attr in _FLAGS for descendant in ast.walk(argument)
        ):
            repaired = _replace_part(site, argument, f"flags={site.of(argument)}")
            yield Slip(
                site, (repaired,), f"re.{called(node)}() interprets the flag as the maximum number of replacements"
            )


@_kind(ast.Call)
def _letters_stripped(site: Site, node: ast.Call) -> Iterator[Slip]:
    name = called(node)
    if not (isinstance(node.func, ast.Attribute) and name in _ENDS and node.args):
        return
    letters = _text(node.args[0])
    if sum(letter.isalpha() for letter in set(letters)) > 2 and len(set(letters)) * 2 > len(letters):
        owner, written = site.of(node.func.value), site.of(node.args[0])
        repaired = owner + "".join(f".{end}({written})" for end in _ENDS[name])
        why = f"{name}({letters!r}) removes any of these letters from the ends, not the whole word"
        yield Slip(site, (repaired,), why)


@_kind(ast.Call)
def _pattern_of_a_text(site: Site, node: ast.Call) -> Iterator[Slip]:
    """Find data text that is used as a regular expression."""
    if not (calls_re(node) and node.args):
        return
    first = node.args[0]
    names = [
        variable.id
        for variable in _formatted(first)
        if variable.id.islower() and not _is_of_patterns(variable.id, site)
    ]
    if names:
        escaped = ast.unparse(_Escaping(set(names)).visit(ast.parse(site.of(first), mode="eval").body))
        why = f"{names[0]!r} is read as a regular expression, without re.escape()"
        yield Slip(site, (_replace_part(site, first, escaped),), why)


def _formatted(node: ast.expr) -> list[ast.Name]:
    """Return the variables in an f-string, in a concatenation, or in a plain name."""
    if isinstance(node, ast.JoinedStr):
        parts: list[ast.AST] = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    else:
        parts = [*ast.walk(node)] if isinstance(node, ast.BinOp) else [node]
    return [variable for variable in parts if isinstance(variable, ast.Name)]


def _is_of_patterns(name: str, site: Site) -> bool:
    """Return whether a variable holds a pattern, according to its name or the code that assigns it."""
    # "re" must be a separate word of the name: "answer_re", but not "score".
    if re.search(r"pattern|regex|expr|(?:^|_)re(?:_|$)", name):
        return True
    for node in ast.walk(site.functions[-1]) if site.functions else ():
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(
            isinstance(descendant, ast.Name) and descendant.id == name
            for target in targets
            if target
            for descendant in ast.walk(target)
        ):
            value = getattr(node, "value", None) or getattr(node, "iter", None)
            inside = list(ast.walk(value)) if value is not None else []
            if any(
                called(descendant) in ("escape", "compile") or _MADE.search(_text(descendant)) for descendant in inside
            ):
                return True
            if any(isinstance(descendant, ast.Name) and descendant.id.isupper() for descendant in inside):
                return True
    return False


class _Escaping(ast.NodeTransformer):
    """A transformer that wraps the variables `names` in ``re.escape()``."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        return ast.Call(ast.Attribute(ast.Name("re"), "escape"), [ast.Call(ast.Name("str"), [node], [])], [])


@_kind(ast.Constant)
def _pattern_too_wide(site: Site, node: ast.Constant) -> Iterator[Slip]:
    """Find patterns that match too much: ``[A-z]``, ``\\d+.\\d+``, ``^a|b$``, and a backspace in place of ``\\b``."""
    pattern = _text(node)
    if not pattern or not _is_pattern(site):
        return
    if "[A-z" in pattern or "[a-Z" in pattern:
        yield Slip(site, (repr(pattern.replace("A-z", "A-Za-z")),), "[A-z] also contains [, \\, ], ^, _ and `")
    if _DOT.search(pattern):
        yield Slip(site, (repr(_DOT.sub(r"\1\\.", pattern)),), "the dot between the digits matches any character")
    # "^yes|no$" without parentheses.
    if re.match(r"\^[^()]*\|[^()]*\$\Z", pattern):
        yield Slip(
            site, (repr(f"^(?:{pattern[1:-1]})$"),), "^ applies only to the first alternative, and $ only to the last"
        )
    if "\x08" in pattern:
        yield Slip(
            site, (repr(pattern.replace("\x08", r"\b")),), "'\\b' is a backspace here: the r before it is missing"
        )


@_kind(ast.Compare)
def _in_a_text(site: Site, node: ast.Compare) -> Iterator[Slip]:
    """Find ``answer in ("yes")``, which is true for every substring of "yes"."""
    if operator_of(node) not in (ast.In, ast.NotIn):
        return
    left, right = node.left, node.comparators[0]
    within = _text(right)
    if len(within) < 2 or isinstance(left, ast.Constant) or not within.isalnum():
        return
    versions = [f"({within!r},)", f"tuple({within!r})"]
    yield Slip(
        site,
        tuple(_replace_part(site, right, version) for version in versions),
        f"this is true for every part of {within!r}, and also for empty text",
    )


@_kind(ast.BoolOp)
def _always_true(site: Site, node: ast.BoolOp) -> Iterator[Slip]:
    """Find ``kind == "a" or "b"``, which is always true."""
    first, *rest = node.values
    is_test = isinstance(site.parent, (ast.If, ast.While, ast.IfExp, ast.UnaryOp, ast.BoolOp, ast.comprehension))
    if not (is_test and isinstance(node.op, ast.Or) and isinstance(first, ast.Compare) and all(map(_text, rest))):
        return
    if operator_of(first) in (ast.Eq, ast.In):
        if operator_of(first) is ast.Eq:
            each = [f"{site.of(first.left)} == {site.of(text)}" for text in rest]
        else:
            each = [f"{site.of(text)} in {site.of(first.comparators[0])}" for text in rest]
        repaired = grouped(" or ".join([site.of(first), *each]))
        yield Slip(site, (repaired,), f"{site.text} is always true")


@_kind(ast.Call)
def _place_as_truth(site: Site, node: ast.Call) -> Iterator[Slip]:
    """Find ``if text.find(word):``, which is true if the word is missing, and false if the text begins with it."""
    parent = site.parent
    if called(node) not in ("find", "rfind") or len(node.args) != 1 or not isinstance(node.func, ast.Attribute):
        return
    is_test = isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.Assert)) and node is not getattr(
        parent, "body", None
    )
    if is_test or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
        repaired = grouped(f"{site.of(node.args[0])} in {site.of(node.func.value)}")
        yield Slip(
            site,
            (repaired,),
            f"{called(node)}() is -1, which is true, if nothing is found, and 0, which is false, at the start",
        )


@_kind(ast.expr)
def _capital_in_lower_case(site: Site, node: ast.expr) -> Iterator[Slip]:
    """Find ``"Yes" in text.lower()``, which is never true."""
    why = "lowercase text has no capital letters, so this never matches"
    if isinstance(node, ast.Compare) and operator_of(node) in (ast.In, ast.NotIn, ast.Eq):
        left, right = node.left, node.comparators[0]
        for operand, other in ((left, right), (right, left)):
            written = _text(operand)
            if written != written.lower() and _is_lowered(other, site):
                yield Slip(site, (_replace_part(site, operand, repr(written.lower())),), why)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        written = _text(node.args[0])
        if written == written.lower():
            return
        if calls_re(node) and len(node.args) > 1 and _CAPITAL.search(written) and _is_lowered(node.args[-1], site):
            repaired = repr(_CAPITAL.sub(lambda match: match[0].lower(), written))
            if "IGNORECASE" not in site.text and "re.I" not in site.text and "(?i" not in written:
                yield Slip(site, (_replace_part(site, node.args[0], repaired),), why)
        elif called(node) in ("startswith", "endswith", "split", "count", "find", "index") and _is_lowered(
            node.func.value, site
        ):
            yield Slip(site, (_replace_part(site, node.args[0], repr(written.lower())),), why)


def _is_lowered(node: ast.AST, site: Site) -> bool:
    """Return whether an expression is lowercase text: a call to ``lower()``, or a variable that holds its result."""
    while called(node) in ("strip", "rstrip", "lstrip"):
        assert isinstance(node, ast.Call)
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if called(node) in ("lower", "casefold"):
        return True
    if not isinstance(node, ast.Name) or not site.functions:
        return False
    values = [
        assignment.value
        for assignment in ast.walk(site.functions[0])
        if isinstance(assignment, ast.Assign)
        and any(isinstance(to, ast.Name) and to.id == node.id for to in assignment.targets)
    ]
    return len(values) == 1 and not isinstance(values[0], ast.Name) and _is_lowered(values[0], site)


@_kind(ast.Call)
def _frequent_letters_dropped(site: Site, node: ast.Call) -> Iterator[Slip]:
    has_autojunk = len(node.args) > 3 or any(keyword.arg == "autojunk" for keyword in node.keywords)
    if called(node) == "SequenceMatcher" and not has_autojunk:
        inside = site.text.rstrip()[:-1].rstrip().rstrip(",")
        yield Slip(
            site,
            (f"{inside}, autojunk=False)",),
            "SequenceMatcher ignores frequent letters in strings of 200 characters or more",
        )


@_kind(ast.expr)
def _order_of_a_set(site: Site, node: ast.expr) -> Iterator[Slip]:
    """Find code that depends on the order of strings in a set, which differs between processes."""
    parent = site.parent
    is_set = called(node) in ("set", "frozenset") or isinstance(node, (ast.Set, ast.SetComp))
    if not is_set or (isinstance(node, ast.Call) and not node.args):
        return
    is_ordered = called(parent) in ("list", "tuple", "join", "iter", "next", "enumerate", "zip")
    is_ordered = is_ordered or (isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node)
    if is_ordered:
        versions = tuple(f"sorted({site.text}, key=str, reverse={back})" for back in (False, True))
        yield Slip(site, versions, "the order of strings in a set differs from process to process")


@_kind(ast.expr)
def _texts_run_together(site: Site, node: ast.expr) -> Iterator[Slip]:
    """Find two strings in a list without a comma between them."""
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)) or len(node.elts) < 2:
        return
    for item in node.elts:
        parts = (
            # 'a' 'b': two string literals side by side, which Python joins.
            re.fullmatch(r"""\s*(["'])([^"'\\\n]+)\1\s+(["'])([^"'\\\n]+)\3\s*""", site.of(item))
            if _text(item)
            else None
        )
        if parts is not None and parts[2] == parts[2].strip() and parts[4] == parts[4].strip():
            repaired = _replace_part(site, item, f"{parts[2]!r}, {parts[4]!r}")
            yield Slip(site, (repaired,), f"a comma is missing: {parts[2]!r} and {parts[4]!r} are one string")


@_kind(ast.BinOp)
def _flags_lost(site: Site, node: ast.BinOp) -> Iterator[Slip]:
    """Find ``re.I & re.S``, which is 0 and sets no flags."""
    sides = (node.left, node.right)
    flags = all(isinstance(side, ast.Attribute) and side.attr in _FLAGS for side in sides)
    if flags and isinstance(node.op, ast.BitAnd):
        yield Slip(site, (grouped(" | ".join(map(site.of, sides))),), f"{site.text} sets no flag")


def _text(node: ast.AST) -> str:
    """Return the value of a string literal, or "" for other nodes."""
    value = node.value if isinstance(node, ast.Constant) else ""
    return value if isinstance(value, str) else ""


def _is_pattern(site: Site) -> bool:
    """Return whether a text is the pattern in a call to ``re``, or is assigned and looks like a pattern."""
    parent = site.parent
    if isinstance(parent, ast.Call) and calls_re(parent):
        return parent.args[:1] == [site.node]
    return isinstance(parent, (ast.Assign, ast.List, ast.Tuple, ast.Dict)) and bool(_MADE.search(_text(site.node)))


def _replace_part(site: Site, part: ast.AST, text: str) -> str:
    """Return the text of a site with the inner node `part` replaced by `text`."""
    return site.source.within(site.node, part, text)
