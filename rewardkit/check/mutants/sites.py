"""Sites: places in source code that a mutation may change, with their text.

``sites_of(source)`` yields every node in the reward code. Examples, tests, annotations, decorators, and docstrings are
not sites, because a bug there is not a bug in the reward.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from typing import TypeAlias, TypeVar

from rewardkit.tree.loading import CONSTANTS

_PATTERNS = frozenset(("compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"))
"""Functions of ``re`` whose first argument is a pattern."""
Node = TypeVar("Node", bound=ast.AST)
T = TypeVar("T")
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """Source text with its syntax tree. The text of each node can be read and replaced."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        self._starts = [0]  # of lines, in bytes, because the columns of a syntax tree count bytes
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def segment(self, node: ast.AST) -> str:
        """Return the source text of a node."""
        start, end = self._span(node)
        return self._bytes[start:end].decode()

    def replaced(self, node: ast.AST, text: str) -> str:
        """Return the whole text, with the text of `node` replaced by `text`."""
        start, end = self._span(node)
        return (self._bytes[:start] + text.encode() + self._bytes[end:]).decode()

    def within(self, node: ast.AST, part: ast.AST, text: str) -> str:
        """Return the text of `node`, with the text of its inner node `part` replaced by `text`."""
        (first, last), (start, end) = self._span(node), self._span(part)
        return (self._bytes[first:start] + text.encode() + self._bytes[end:last]).decode()

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, (ast.expr, ast.stmt, ast.keyword, ast.excepthandler))
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset


@dataclass(frozen=True)
class Site:
    """A node of a syntax tree, with its surroundings.

    Attributes:
        node: the node that may be changed.
        source: the source code that contains the node.
        parents: the nodes around `node`, innermost first.
    """

    node: ast.AST
    source: Source
    parents: tuple[ast.AST, ...] = field(repr=False)

    @property
    def parent(self) -> ast.AST | None:
        return self.parents[0] if self.parents else None

    @property
    def text(self) -> str:
        return self.source.segment(self.node)

    def of(self, node: ast.AST) -> str:
        """Return the source text of another node."""
        return self.source.segment(node)

    @property
    def is_called(self) -> bool:
        """Whether the node is the function of a call."""
        return isinstance(self.parent, ast.Call) and self.parent.func is self.node

    @property
    def functions(self) -> list[Function]:
        """The functions around the node, innermost first."""
        return [node for node in self.parents if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]

    @property
    def parameters(self) -> list[str]:
        """The parameters of the outermost function around the node, without ``*args`` and ``**kwargs``."""
        if not self.functions:
            return []
        arguments = self.functions[-1].args
        return [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


Operator: TypeAlias = Callable[[Site], Iterator[str]]
"""A function that accepts a site and yields replacement texts for it."""


def for_nodes(kind: type[Node], function: Callable[[Site, Node], Iterator[T]]) -> Callable[[Site], Iterator[T]]:
    """Adapt `function` to sites: the result yields nothing for nodes that are not of type `kind`."""

    @wraps(function)
    def apply(site: Site) -> Iterator[T]:
        if isinstance(site.node, kind):
            yield from function(site, site.node)

    return apply


# Questions about a node.


def called(node: ast.AST | None) -> str:
    """Return the called function's name, as in ``search`` for ``re.search(...)``, or "" if `node` is not a call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def number(node: ast.AST | None) -> float | None:
    """Return the signed value of a number literal, or None for other nodes."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    written = node.value if isinstance(node, ast.Constant) else None
    return float(written) if isinstance(written, (int, float)) and not isinstance(written, bool) else None


def is_text(node: ast.AST | None) -> bool:
    """Return whether `node` is a string literal."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def operator_of(node: ast.Compare) -> type[ast.cmpop] | None:
    """Return the operator in a comparison of two values, or None for a chain of comparisons."""
    return type(node.ops[0]) if len(node.ops) == 1 else None


def calls_re(node: ast.Call) -> bool:
    """Return whether the first argument of a call is a regular expression, as in ``re.search(...)``."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in ("re", "regex") and called(node) in _PATTERNS


def grouped(text: str) -> str:
    """Return the expression, in parentheses so that it can be used anywhere."""
    return f"({text})"


def sites_of(source: Source, of: str = "") -> Iterator[Site]:
    """Yield the sites of a module, in source order.

    Args:
        source: the source of the module.
        of: the name of the function or variable whose sites are yielded, together with the code that it uses. The
            default is the whole module.
    """
    names = _used_by(of, source) if of else None
    for statement in source.tree.body:
        if (names is None or not names.isdisjoint(_names_of(statement))) and not _is_beside(statement):
            yield from _walk(statement, source, ())


def _used_by(name: str, source: Source) -> set[str]:
    """Return the module-level names that `name` uses, directly or indirectly, including `name`."""
    defined = {identifier: statement for statement in source.tree.body for identifier in _names_of(statement)}
    reached: set[str] = set()
    todo = [name]
    while todo:
        identifier = todo.pop()
        if identifier in defined and identifier not in reached:
            reached.add(identifier)
            todo += [node.id for node in ast.walk(defined[identifier]) if isinstance(node, ast.Name)]
    return reached


def _names_of(statement: ast.stmt) -> list[str]:
    """Return the names that a module-level statement defines."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_beside(statement: ast.stmt) -> bool:
    """Return whether a module-level statement is not part of a reward: an import, examples, a test, a script."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return statement.name.startswith("test_")
    if isinstance(statement, ast.If):
        return "__name__" in ast.dump(statement.test)
    return any(name.endswith(CONSTANTS) for name in _names_of(statement))


def _walk(node: ast.AST, source: Source, parents: tuple[ast.AST, ...]) -> Iterator[Site]:
    if isinstance(node, ast.JoinedStr):
        return  # before Python 3.12, the positions inside an f-string are wrong
    if isinstance(node, (ast.expr, ast.stmt, ast.excepthandler)):
        yield Site(node, source, parents)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        children = value if isinstance(value, list) else [value]
        for child in children:
            if isinstance(child, ast.AST) and not _is_docstring(child, node):
                yield from _walk(child, source, (node, *parents))


def _is_docstring(child: ast.AST, parent: ast.AST) -> bool:
    return (
        isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
        and isinstance(child.value.value, str)
        and isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module))
    )
