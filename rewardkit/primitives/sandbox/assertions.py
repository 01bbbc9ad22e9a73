"""Split assertions: for ``assert add(1, 2) == 3`` the program is asked for ``add(1, 2)`` and never sees the 3.

A program that shares an interpreter with its test can rewrite ``AssertionError``, end with exit code 0, or return an
object that equals everything. So its process only evaluates the calls, and reports plain values. A second sandbox, in
which the program's code never runs, puts these values in place of the calls and evaluates the assertion. Whatever the
program does to its own process, it has to find the right values.

Names decide which parts belong to the program: those that neither Python nor the set-up code defines.
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
"""The maximum length of one assertion or set-up code."""

_BUILTINS = frozenset(dir(builtins))
_LIBRARIES = frozenset(("np", "numpy", "pd", "pandas", "pytest", "scipy", "sympy", "torch"))
"""Names that never belong to the program: otherwise it would be asked for np.allclose(f(1), 0.5) and see the 0.5."""


@final
@dataclass(frozen=True)
class Assertion:
    """One test: the calls that the program evaluates, and the check of its answers.

    Attributes:
        setup: source that runs after the program and before the calls.
        calls: expressions for the program, such as ``add(1, 2)``.
        ground: the part of the set-up code that works without the program, for the check.
        check: source with ``answer_0``, ``answer_1``... in place of the calls, such as ``assert answer_0 == 3``.
        shown: the assertion as it was written.
    """

    setup: str
    calls: tuple[str, ...]
    ground: str
    check: str
    shown: str


def split(source: str, setup: str = "") -> Assertion:
    """Split an assertion into the program's calls and the check.

    ``split("assert sorted(f([2, 1])) == [1, 2]")`` has the call ``sorted(f([2, 1]))``.

    Raises:
        ValueError: the program's results and the expected values cannot be separated; the message says why.
    """
    statements = parsed(source)
    if len(statements) != 1 or not isinstance(statements[0], ast.Assert):
        raise ValueError(f"a test must be one assertion such as 'assert f(1) == 2', got {source[:100]!r}")
    test = statements[0].test
    modules = [f"import {name}" for name in sorted(_modules(test))]  # modules that programs usually import themselves
    ground, known = _without_program(parsed("\n".join([*modules, setup])))
    splitter = _Splitter(known | _BUILTINS, _local_names(test))
    check = splitter.visit(test)
    if not splitter.calls:  # the program's function has the name of a built-in, such as sum
        splitter = _Splitter(splitter.known - set(_called_on_the_left(test)), splitter.local)
        check = splitter.visit(test)
    if not splitter.calls:
        raise ValueError(f"no part of {source[:100]!r} calls the program")
    asserted = f"assert {ast.unparse(check)}"
    return Assertion(setup, tuple(splitter.calls), "\n".join(map(ast.unparse, ground)), asserted, source.strip())


def foreign_modules(setup: str) -> Iterator[str]:
    """Return the modules that `setup` imports from outside the standard library."""
    for node in (node for statement in parsed(setup) for node in ast.walk(statement)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        yield from {module.partition(".")[0] for module in modules} - sys.stdlib_module_names


@final
class _Splitter(ast.NodeTransformer):
    """Replace everything that the program computes with ``answer_<n>``."""

    def __init__(self, known: frozenset[str], local: frozenset[str]) -> None:
        self.known = known
        self.local = local
        self.calls: list[str] = []

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Compare):
            self._check_sides(node)
        if isinstance(node, ast.Starred) or not isinstance(node, ast.expr) or not self._is_programs(node):
            return self.generic_visit(node)
        loose = sorted(self.local & set(_names(node)))
        if loose:
            raise ValueError(
                f"{ast.unparse(node)!r} depends on {loose[0]!r} inside the assertion; write one assertion per case"
            )
        self.calls.append(ast.unparse(node))
        return ast.copy_location(ast.Name(f"answer_{len(self.calls) - 1}", ast.Load()), node)

    def _check_sides(self, node: ast.Compare) -> None:
        """Refuse a comparison with the program's own constants: with ``== INF`` it would define the expected value."""
        for side in (node.left, *node.comparators):
            root = side
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and self._is_programs(root):
                raise ValueError(f"{ast.unparse(side)!r} is not defined; define it in the set-up code")

    def _is_programs(self, node: ast.expr) -> bool:
        """Return whether the program alone computes `node`, without any expected value."""
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
        # list(f(3)): a generator can be consumed only in the process that made it.
        plain = isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and not node.keywords
        return plain and bool(node.args) and all(map(self._is_programs, node.args))


def parsed(source: str) -> list[ast.stmt]:
    """Return the statements of `source`; raises ValueError if it is not valid Python."""
    if len(source) > MAX_CHARACTERS:
        raise ValueError(f"source has {len(source):,} characters, the limit is {MAX_CHARACTERS:,}")
    try:
        return ast.parse(source.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not valid Python ({error}): {source[:100]!r}") from None


def _names(node: ast.AST) -> Iterator[str]:
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _local_names(*nodes: ast.AST) -> frozenset[str]:
    """Return the names that code binds: variables, arguments of functions and lambdas, caught exceptions."""
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
    """Return the standard library modules that a test uses, as in ``math.isclose(f(2), 0.5)``."""
    for node in ast.walk(test):
        of = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(of, ast.Name) and of.id in sys.stdlib_module_names:
            yield of.id


def _without_program(setup: Sequence[ast.stmt]) -> tuple[list[ast.stmt], frozenset[str]]:
    """Return the statements that do not need the program, and the names they define."""
    kept: list[ast.stmt] = []
    known: set[str] = set()
    for statement in setup:
        bound = set(_bound(statement))
        if set(_names(statement)) <= known | bound | _local_names(statement) | _BUILTINS:
            kept.append(statement)
            known |= bound
    return kept, frozenset(known)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Return the names that a statement defines."""
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
    """Return the names that ``from module import *`` defines."""
    if module.partition(".")[0] not in sys.stdlib_module_names or module in ("antigravity", "this"):
        raise ValueError(f"'from {module} import *' hides which names belong to the program; import each name")
    found = importlib.import_module(module)
    yield from getattr(found, "__all__", None) or (name for name in vars(found) if not name.startswith("_"))


def _called_on_the_left(test: ast.expr) -> Iterator[str]:
    while isinstance(test, ast.Compare | ast.UnaryOp):
        test = test.left if isinstance(test, ast.Compare) else test.operand
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        yield test.func.id
