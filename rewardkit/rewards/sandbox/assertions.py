"""Assertions for a sandbox behind HTTP: for ``assert add(1, 2) == 3``, the program only computes ``add(1, 2)``.

Local test code communicates with a running program (see `dialogue`), but a service only runs a program once. In the
service, the program's process evaluates the calls and reports plain values. These values replace the calls and are
compared in this process without running code (see `comparison`). As in `scripts`, names determine which parts belong to
the program.
"""

from __future__ import annotations

import ast
import builtins
import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from rewardkit.rewards.sandbox import scripts
from rewardkit.rewards.sandbox.scripts import Script, Step, parsed

_BUILTINS = frozenset(dir(builtins))


@final
@dataclass(frozen=True)
class Assertion:
    """One test: the calls that the program evaluates, and the check for its answers.

    Attributes:
        setup: source code that needs the program, and therefore runs after the program and before the calls.
        calls: expressions that the program evaluates, such as ``add(1, 2)``.
        ground: the part of the setup code that does not need the program. It runs in this process, before `check`.
        check: assertions with ``answer_0``, ``answer_1``... in place of the calls, such as ``assert answer_0 == 3``.
        shown: the test as written.
    """

    setup: str
    calls: tuple[str, ...]
    ground: str
    check: str
    shown: str


def assertions(script: Script) -> tuple[Assertion, ...]:
    """Convert a script's tests to tests that can be checked without running code.

    Raises:
        ValueError: a test cannot be converted. The message contains the reason.
    """
    try:
        return tuple(_assertion(script, step) for step in script.steps)
    except ValueError as error:
        raise ValueError(f"in a service, tests must be assertions that can be split: {error}") from None


def _assertion(script: Script, step: Step) -> Assertion:
    if step.call:
        return _called(step, *marshal.loads(step.call))
    setup, lines = script.setup, parsed(step.source)
    source = parsed(script.source)
    for line in source:
        aliases = line.names if [*scripts.imported(line)] and isinstance(line, ast.Import | ast.ImportFrom) else []
        if (isinstance(line, ast.Import) and aliases) or any(alias.asname for alias in aliases):
            raise ValueError(
                f"{ast.unparse(line)!r} imports names that the program does not define. Import only "
                "names that it defines"
            )
    functions = {line.name: line for line in source if isinstance(line, ast.FunctionDef)}
    tested = {"check", *(path[0] for other in script.steps if (path := other.path))}
    preceding = [
        ast.unparse(line)
        for line in source[: step.place]
        if getattr(line, "name", "") not in tested and not isinstance(line, ast.Assert)
    ]
    if step.place is not None:
        lines = [source[step.place]]
    elif len(step.path) == 1 and step.path[0] in functions:
        lines = _body(functions[step.path[0]], ())
    elif "check" in functions and lines and isinstance(lines[0], ast.Expr) and isinstance(lines[0].value, ast.Call):
        lines = _body(functions["check"], lines[0].value.args)
    imports = [line for line in lines if isinstance(line, ast.Import | ast.ImportFrom)]
    setup = "\n".join([setup, *preceding, *map(ast.unparse, imports)])
    asserts = "\n".join(ast.unparse(line) for line in lines if line not in imports and not _is_text(line))
    return split(asserts, setup, step.shown)


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Pass) or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))


def _body(function: ast.FunctionDef, arguments: Sequence[ast.expr]) -> list[ast.stmt]:
    """Return a function's statements, with `arguments` in place of the parameters."""
    names = [parameter.arg for parameter in function.args.args]
    if len(names) != len(arguments) or function.decorator_list:
        raise ValueError(f"{function.name} has parameters or decorators")
    replacing = _Replacing(dict(zip(names, arguments, strict=True)))
    return [replacing.visit(line) for line in parsed(ast.unparse(ast.Module(function.body, [])))]


@final
class _Replacing(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)


def _called(step: Step, name: str | None, arguments: list[Any], expected: list[Any]) -> Assertion:
    if name is None:
        raise ValueError("calls need the name of the function, as 'fn_name'")
    function = f"(Solution().{name} if 'Solution' in globals() else {name})"
    return Assertion("", (f"{function}(*{arguments!r})",), "", f"assert _any_equal(answer_0, {expected!r})", step.shown)


def split(source: str, setup: str = "", label: str = "") -> Assertion:
    """Split assertions into the program's calls and the check.

    ``split("assert sorted(f([2, 1])) == [1, 2]")`` has the call ``sorted(f([2, 1]))``.

    Raises:
        ValueError: the program's results and the expected values cannot be separated. The message contains the reason.
    """
    lines = parsed(source)
    before = [*scripts.needed_imports(*parsed(setup), *lines), *parsed(setup)]
    ground_statements, ground_names = scripts.ground(before)
    after = [line for line in before if line not in ground_statements and not [*scripts.imported(line)]]
    splitter = _Splitter(ground_names | _BUILTINS)
    checks = []
    for line in lines:
        if not isinstance(line, ast.Assert):
            raise ValueError(
                f"a test must be one assertion such as 'assert f(1) == 2', got {ast.unparse(line)[:100]!r}"
            )
        checks.append(splitter.split(line))
    if not checks:
        raise ValueError(f"a test must be one assertion such as 'assert f(1) == 2', got {source[:100]!r}")
    text = "\n".join(f"assert {ast.unparse(check)}" for check in checks)
    setup_source, ground_source = ("\n".join(map(ast.unparse, part)) for part in (after, ground_statements))
    return Assertion(setup_source, tuple(splitter.calls), ground_source, text, label or source.strip())


@final
class _Splitter(ast.NodeTransformer):
    """A transformer that replaces every expression that the program computes with ``answer_<n>``."""

    def __init__(self, known_names: frozenset[str]) -> None:
        self.known = known_names
        self.local: frozenset[str] = frozenset()
        self.calls: list[str] = []

    def split(self, line: ast.Assert) -> ast.expr:
        before, self.local = len(self.calls), scripts.local_names(line.test)
        check: ast.expr = self.visit(line.test)
        if len(self.calls) == before:  # the program's function has the name of a built-in, such as sum
            known_names, self.known = self.known, self.known - set(scripts.called_on_the_left(line))
            check = self.visit(line.test)
            self.known = known_names
        if len(self.calls) == before:
            raise ValueError(f"no part of {ast.unparse(line)[:100]!r} calls the program")
        return check

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Starred) or not isinstance(node, ast.expr) or not self._is_programs(node):
            return self.generic_visit(node)
        bound_names = sorted(self.local & set(scripts.names_in(node)))
        if bound_names:
            raise ValueError(
                f"{ast.unparse(node)!r} depends on {bound_names[0]!r} inside the assertion. Write one assertion per "
                "case"
            )
        self.calls.append(ast.unparse(node))
        return ast.copy_location(ast.Name(f"answer_{len(self.calls) - 1}", ast.Load()), node)

    def _is_programs(self, node: ast.expr) -> bool:
        """Return whether the program computes all of `node`, which contains no expected value."""
        if isinstance(node, ast.Name):
            return node.id not in self.known and node.id not in self.local
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            return self._is_programs(node.value)
        if not isinstance(node, ast.Call):
            return False
        if self._is_programs(node.func):
            return True
        # list(f(3)) is one call: a generator can be consumed only in the process that created it.
        plain = isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and not node.keywords
        return plain and bool(node.args) and all(map(self._is_programs, node.args))
