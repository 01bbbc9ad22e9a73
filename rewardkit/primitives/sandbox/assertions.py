"""Assertions, taken apart: of ``assert add(1, 2) == 3`` the program is asked ``add(1, 2)``, and never sees the 3.

A program that shares an interpreter with its test can rewrite ``AssertionError``, end with exit code 0, or return an
object that equals everything. So its process does nothing but evaluate the calls, and reports plain values. A second
sandbox, which the program's code never enters, puts them in place of the calls and evaluates the assertion. Whatever
the program does to its own process, it must come up with the right values.

What belongs to the program is told by its names: those that neither Python nor the set-up code defines.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

MAX_CHARACTERS = 100_000
"""Of one assertion or set-up code."""

_BUILTINS = frozenset(dir(builtins))
_LIBRARIES = frozenset(("np", "numpy", "pd", "pandas", "pytest", "scipy", "sympy", "torch"))
"""No program's own names: np.allclose(f(1), 0.5) would be asked of it otherwise, 0.5 and all."""


@final
@dataclass(frozen=True)
class Assertion:
    """One test: what the program is asked, and what must hold of its answers.

    Attributes:
        setup: source that runs after the program and before the calls.
        calls: expressions for the program, such as ``add(1, 2)``.
        ground: the part of the set-up code that does without the program, for the judge.
        check: source with ``answer_0``, ``answer_1``... in the place of the calls, such as ``assert answer_0 == 3``.
        shown: as it was written.
    """

    setup: str
    calls: tuple[str, ...]
    ground: str
    check: str
    shown: str


def split(source: str, setup: str = "") -> Assertion:
    """Takes an assertion apart.

    ``split("assert sorted(f([2, 1])) == [1, 2]")`` has the call ``sorted(f([2, 1]))``.

    Raises:
        ValueError: it cannot be told apart what the program computes and what is expected of it; says why.
    """
    statements = parsed(source)
    if len(statements) != 1 or not isinstance(statements[0], ast.Assert):
        raise ValueError(f"a test is one assertion such as 'assert f(1) == 2', not {source[:100]!r}")
    test = statements[0].test
    modules = [f"import {name}" for name in sorted(_modules(test))]  # which programs tend to have imported
    ground, known = _without_program(parsed("\n".join([*modules, setup])))
    splitter = _Splitter(known | _BUILTINS, _local_names(test))
    check = splitter.visit(test)
    if not splitter.calls:  # the program's function has the name of one of Python's, such as sum
        splitter = _Splitter(splitter.known - set(_called_on_the_left(test)), splitter.local)
        check = splitter.visit(test)
    if not splitter.calls:
        raise ValueError(f"nothing in {source[:100]!r} calls the program")
    asserted = f"assert {ast.unparse(check)}"
    return Assertion(setup, tuple(splitter.calls), "\n".join(map(ast.unparse, ground)), asserted, source.strip())


def foreign_modules(setup: str) -> Iterator[str]:
    """What `setup` imports that is not in the standard library."""
    for node in (node for statement in parsed(setup) for node in ast.walk(statement)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        yield from {module.partition(".")[0] for module in modules} - sys.stdlib_module_names


@final
class _Splitter(ast.NodeTransformer):
    """Puts ``answer_<n>`` in the place of everything the program computes."""

    def __init__(self, known: frozenset[str], local: frozenset[str]) -> None:
        self.known = known
        self.local = local
        self.calls: list[str] = []

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Compare):
            self._check_sides(node)
        if not isinstance(node, ast.expr) or not self._is_programs(node):
            return self.generic_visit(node)
        loose = sorted(self.local & set(_names(node)))
        if loose:
            raise ValueError(
                f"{ast.unparse(node)!r} depends on {loose[0]!r} inside the assertion; write one assertion per case"
            )
        self.calls.append(ast.unparse(node))
        return ast.copy_location(ast.Name(f"answer_{len(self.calls) - 1}", ast.Load()), node)

    def _check_sides(self, node: ast.Compare) -> None:
        """Of the program only what it computes is compared: by ``== INF`` it would be asked what is expected of it."""
        for side in (node.left, *node.comparators):
            root = side
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and self._is_programs(root):
                raise ValueError(f"{ast.unparse(side)!r} is not defined; define it in the set-up code")

    def _is_programs(self, node: ast.expr) -> bool:
        """Whether `node` is computed by the program alone, without anything that is expected of it."""
        if isinstance(node, ast.Name):
            if node.id in self.known or node.id in self.local:
                return False
            if node.id in _LIBRARIES:
                raise ValueError(f"{node.id!r} is not defined; import it in the set-up code")
            return True
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            return self._is_programs(node.value)
        if not isinstance(node, ast.Call):
            return False
        if self._is_programs(node.func):
            return True
        # list(f(3)): a generator can only be looked at where it is made.
        plain = isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and not node.keywords
        return plain and bool(node.args) and all(map(self._is_programs, node.args))


def parsed(source: str) -> list[ast.stmt]:
    """The statements of `source`; ValueError where it is not Python."""
    if len(source) > MAX_CHARACTERS:
        raise ValueError(f"{len(source):,} characters are more than {MAX_CHARACTERS:,}")
    try:
        return ast.parse(source.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not valid Python ({error}): {source[:100]!r}") from None


def _names(node: ast.AST) -> Iterator[str]:
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _local_names(*nodes: ast.AST) -> frozenset[str]:
    """Names that code binds for itself: variables, arguments of functions and lambdas, caught exceptions."""
    names: set[str] = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return frozenset(names)


def _modules(test: ast.expr) -> Iterator[str]:
    """Modules of the standard library that a test looks into, as in ``math.isclose(f(2), 0.5)``."""
    for node in ast.walk(test):
        of = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(of, ast.Name) and of.id in sys.stdlib_module_names:
            yield of.id


def _without_program(setup: Sequence[ast.stmt]) -> tuple[list[ast.stmt], frozenset[str]]:
    """The statements that need nothing of the program, and the names they define."""
    kept: list[ast.stmt] = []
    known: set[str] = set()
    for statement in setup:
        bound = set(_bound(statement))
        if set(_names(statement)) <= known | bound | _local_names(statement) | _BUILTINS:
            kept.append(statement)
            known |= bound
    return kept, frozenset(known)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement defines."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield from _exported(node.module or "")
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _exported(module: str) -> Iterator[str]:
    """What ``from module import *`` gives."""
    if module.partition(".")[0] not in sys.stdlib_module_names or module in ("antigravity", "this"):
        raise ValueError(f"'from {module} import *' hides which names are the program's; import them one by one")
    found = importlib.import_module(module)
    yield from getattr(found, "__all__", None) or (name for name in vars(found) if not name.startswith("_"))


def _called_on_the_left(test: ast.expr) -> Iterator[str]:
    while isinstance(test, ast.Compare | ast.UnaryOp):
        test = test.left if isinstance(test, ast.Compare) else test.operand
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        yield test.func.id
