"""Parsing of test code: its tests, and the names that belong to the program.

``read_script("assert add(1, 2) == 3")`` has one test, and the name ``add`` belongs to the program, as do all names that
neither Python nor the test code defines. Test code may be arbitrary Python, because it runs in the tester (see
`tester`), never in the program's process.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import importlib
import marshal
import symtable
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, final

MAX_CHARACTERS: Final = 2_000_000
"""The maximum number of characters in test code. The limit is arbitrary: EvalPlus has more than a million characters
for one function."""

_BUILTINS = frozenset((*dir(builtins), "__file__"))
_LIBRARIES = frozenset(("np", "numpy", "pd", "pandas", "pytest", "scipy", "sympy", "torch"))
"""Names that never belong to the program. Otherwise, the program would compute ``np.allclose(f(1), 0.5)`` and see the
0.5."""

_TESTED = ("solution", "program", "main", "submission")
"""The module names from which test code imports the program, as in `tester`."""


@final
@dataclass(frozen=True)
class Step:
    """One test.

    Attributes:
        shown: the text of the test, for notes.
        source: code that runs after the script, such as ``assert add(1, 2) == 3``.
        place: the index of the statement in the script that is the test; None if the whole script runs.
        path: the name of a test function, or of a test class and a method.
        call: the name of a function (None to choose a function by its arguments), the arguments, and the results that
            pass, encoded by `marshal`.
    """

    shown: str
    source: str = ""
    place: int | None = None
    path: tuple[str, ...] = ()
    call: bytes = b""


@final
@dataclass(frozen=True)
class Script:
    """Test code and its tests.

    Attributes:
        steps: the tests.
        setup: code that runs before the tests. The part that does not need the program also runs before the program.
        source: the test code itself.
    """

    steps: tuple[Step, ...] = ()
    setup: str = ""
    source: str = ""


NO_SCRIPT = Script()


def read_script(source: str, setup: str = "", entry_point: str = "") -> Script:
    """Find the tests in test code: test functions, methods of test classes, ``check(candidate)``, or assertions.

    Raises:
        ValueError: there are no tests, or the code is invalid. The message contains the reason.
    """
    statements, text = parsed(source), source.strip().split("\n")
    steps = tuple(_functions(statements))
    defined = {line.name for line in statements if isinstance(line, ast.FunctionDef)}
    calls = [line for line in statements if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)]
    if not steps and "check" in defined and not any(ast.unparse(line).startswith("check(") for line in calls):
        if not entry_point:
            raise ValueError("check(candidate) needs the name of the function to check, as 'entry_point'")
        steps = (Step(f"check({entry_point})", source=f"check({entry_point})"),)
        script = Script(steps, setup, source)
        if undefined := set(names_of(script).program) - used(entry_point):
            raise ValueError(
                f"{min(undefined)!r} is not defined in the test. Add 'prompt' or 'setup' code that defines this name"
            )
        return script
    if not steps:
        steps = tuple(
            Step("\n".join(text[line.lineno - 1 : line.end_lineno]).strip(), place=number)
            for number, line in enumerate(statements)
            if not isinstance(line, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) and _asserts([line])
        )
    if not steps and calls and _asserts(statements):
        steps = (Step(ast.unparse(calls[-1])),)
    if not steps:
        raise ValueError(
            f"no tests: there are neither test functions nor assertions that run in {source.strip()[:100]!r}"
        )
    return Script(steps, setup, source)


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _functions(statements: Sequence[ast.stmt]) -> Iterator[Step]:
    classes = {line.name: line for line in statements if isinstance(line, ast.ClassDef)}
    for line in statements:
        if isinstance(line, _FUNCTION) and _is_test(line):
            yield Step(line.name, path=(line.name,))
        elif isinstance(line, ast.ClassDef) and (line.name.startswith("Test") or _is_case(line, classes)):
            methods = [method for kind in _above(line, classes) for method in kind.body if _is_test(method)]
            names = sorted({method.name for method in methods if isinstance(method, _FUNCTION)})
            for name in names if not _is_skipped(line) else ():
                yield Step(f"{line.name}.{name}", path=(line.name, name))


def _is_test(line: ast.stmt) -> bool:
    function = isinstance(line, _FUNCTION) and line.name.startswith("test")
    return function and not _is_skipped(line)


def _is_skipped(line: Any) -> bool:
    return any("skip" in (text := ast.unparse(mark)) or "xfail" in text for mark in line.decorator_list)


def _above(kind: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> Iterator[ast.ClassDef]:
    yield kind
    # Arbitrary: the limit on the depth ends the recursion if a class names itself as its base.
    for base in kind.bases if depth < 9 else ():
        if isinstance(base, ast.Name) and base.id in classes:
            yield from _above(classes[base.id], classes, depth + 1)


def _is_case(kind: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    return any(ast.unparse(base).endswith("TestCase") for part in _above(kind, classes) for base in part.bases)


def _asserts(statements: Iterable[ast.stmt]) -> bool:
    return any(isinstance(node, (ast.Assert, ast.Raise)) for line in statements for node in ast.walk(line))


# --- Names -------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Names:
    """The roles of the names in a script.

    Attributes:
        program: the names that belong to the program.
        makers: the names that the script uses as classes, in calls or ``isinstance``.
        classes: the names of the script's classes with instances that are copied between the processes.
        before: source code that runs before the program: the setup code that does not need the program, the script's
            imports from the standard library, and the definitions of `classes`.
        imports: import statements for standard modules that the script uses without importing them.
        modules: the modules outside the standard library that the script imports.
    """

    program: tuple[str, ...]
    makers: tuple[str, ...]
    classes: tuple[str, ...]
    before: str
    imports: str
    modules: tuple[str, ...]


# Arbitrary: enough for the tests of all prompts in a batch.
@lru_cache(64)
def names_of(script: Script) -> Names:
    """Find the names in a script that belong to the program.

    Raises:
        ValueError: a test does not use the program, or the program could influence the verdict (for example, by
            defining the expected value).
    """
    setup, source = parsed(script.setup), parsed(script.source)
    step_statements = [parsed(step.source) for step in script.steps]
    lines = [*setup, *source, *(line for code in step_statements for line in code)]
    nodes = [*walk(*lines)]
    needed = needed_imports(*lines)
    setup = [*needed, *setup]
    bound = frozenset(_bound(*setup, *source))
    imported_names = {*imported(*lines)}
    ground_statements, known_names = ground([*setup, *source])
    known_names |= _BUILTINS
    program = used(script.setup, script.source, *(step.source for step in script.steps)) - bound - _BUILTINS
    for step, code in zip(script.steps, step_statements, strict=True):
        test = code or ([source[step.place]] if step.place is not None else [])
        if not test or {*names_in(*test)} - known_names - local_names(*test):
            continue
        called = {name for line in test for name in called_on_the_left(line)}
        if not called:
            raise ValueError(f"no part of {step.shown[:100]!r} calls the program")
        program |= called  # the program's function has the name of a built-in, such as sum
    if not program | imported_names and not all(step.call for step in script.steps):
        raise ValueError(f"no part of {script.source.strip()[:100]!r} calls the program")
    if undefined := sorted(program & _LIBRARIES):
        raise ValueError(f"{undefined[0]!r} is not defined. Import it in the setup code")
    for node in nodes:
        _check_sides(node, program | imported_names)
    methods = [line for kind in source if isinstance(kind, ast.ClassDef) for line in kind.body]
    for line in [*source, *methods]:
        if (
            isinstance(line, _FUNCTION)
            and _is_test(line)
            and {*names_in(*line.decorator_list)} & (program | imported_names)
        ):
            raise ValueError(
                f"{line.name!r} has a decorator from the program, so the program decides whether {line.name!r} runs. "
                f"Decorate a function inside {line.name!r} instead"
            )
    _check_evaluation(nodes, bound | imported_names)
    own_setup = {id(line) for line in setup}
    classes = [
        line
        for line in ground_statements
        if isinstance(line, ast.ClassDef) and (id(line) in own_setup or _is_plain(line))
    ]
    plain_imports = [
        line for line in ground_statements if isinstance(line, (ast.Import, ast.ImportFrom)) and not {*_foreign(line)}
    ]
    allowed = {id(line) for line in (*setup, *classes, *plain_imports)}
    before = [line for line in ground_statements if id(line) in allowed and not _is_future(line)]
    modules = sorted({*_foreign(*nodes)} - {"pytest"})
    return Names(
        tuple(sorted(program)),
        tuple(sorted({*_makers(nodes)})),
        tuple(line.name for line in classes),
        "\n".join(map(ast.unparse, before)),
        "\n".join(map(ast.unparse, needed)),
        tuple(modules),
    )


def parsed(source: str) -> list[ast.stmt]:
    """Return the statements in `source`; raise ValueError if `source` is not valid Python or is too long."""
    if len(source) > MAX_CHARACTERS:
        raise ValueError(f"source has {len(source):,} characters, but the limit is {MAX_CHARACTERS:,}")
    try:
        return ast.parse(source.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not valid Python ({error}): {source[:100]!r}") from None


def used(*sources: str) -> frozenset[str]:
    """Return the global names that code uses: names at the module level, and undefined names."""
    names: set[str] = set()
    for source in sources:
        try:
            tables = [symtable.symtable(source.strip(), "<test>", "exec")]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(f"not valid Python ({error}): {source[:100]!r}") from None
        for table in tables:
            tables.extend(table.get_children())
            is_module = table.get_type() == "module"
            names.update(
                symbol.get_name()
                for symbol in table.get_symbols()
                if symbol.is_referenced() and (is_module or symbol.is_global())
            )
    return frozenset(names)


def walk(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes and all nodes inside them, except constants, because tests with large inputs contain millions."""
    pending = [*nodes]
    for node in pending:
        yield node
        pending.extend(child for child in ast.iter_child_nodes(node) if type(child) is not ast.Constant)


def ground(statements: Sequence[ast.stmt]) -> tuple[list[ast.stmt], frozenset[str]]:
    """Return the statements that do not need the program, and the names that they define."""
    ground_statements: list[ast.stmt] = []
    ground_names: set[str] = set()
    for statement in statements:
        nodes = [*walk(statement)]
        bound = {*_bound(*nodes)}
        needed = {name for name in names_in(*nodes) if name not in ground_names and name not in _BUILTINS}
        is_ground = not needed or needed <= bound | local_names(*nodes)
        if is_ground and not {*imported(*nodes)} and not isinstance(statement, ast.Assert):
            ground_statements.append(statement)
            ground_names |= bound
    return ground_statements, frozenset(ground_names)


def _check_sides(node: ast.AST, program: frozenset[str] | set[str]) -> None:
    """Raise ValueError for a comparison with a constant from the program (``INF``), which is an expected value."""
    sides: list[ast.expr] = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EQUALITIES:
        sides = node.args[:2]
    for side in sides:
        root = side
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name) and root.id in program:
            raise ValueError(f"{ast.unparse(side)!r} is not defined. Define it in the setup code")


_EQUALITIES = ("assertEqual", "assertEquals", "assertIs", "assertAlmostEqual", "assertListEqual", "assertDictEqual")


def _check_evaluation(nodes: Sequence[ast.AST], bound_names: frozenset[str]) -> None:
    """Raise ValueError if a test may evaluate text from the program, because such text could pass any test."""
    constant = {id(node.func) for node in nodes if isinstance(node, ast.Call) and all(map(_is_constant, node.args[:1]))}
    for node in nodes:
        name = ""
        if isinstance(node, ast.Name) and node.id not in bound_names:
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}".removeprefix("builtins.")
        elif isinstance(node, ast.ImportFrom):
            name = next((f"{node.module}.{alias.name}" for alias in node.names if alias.name == "loads"), "")
        if name in _EVALUATING and id(node) not in constant:
            raise ValueError(f"{name!r} may run code that the program returns. Compare plain values")


_EVALUATING = ("eval", "exec", "compile", "pickle.loads", "marshal.loads", "dill.loads", "cloudpickle.loads")


def _is_plain(kind: ast.ClassDef) -> bool:
    """Return whether the program may see a class in the test code, such as ``ListNode``.

    A class must have only special methods, because other methods may compute the expected result.
    """
    testing = kind.name.startswith("Test") or any(ast.unparse(base).endswith("TestCase") for base in kind.bases)
    names = [line.name for line in kind.body if isinstance(line, (ast.FunctionDef, ast.ClassDef))]
    special = all(name.startswith("__") and name not in ("__call__", "__getattr__", "__getitem__") for name in names)
    return special and not testing and not any(isinstance(line, (ast.Assign, ast.AugAssign)) for line in kind.body)


def _makers(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names used as classes: in ``isinstance``, or in calls with a result that is used as an object."""
    objects = {ast.unparse(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    assigned = [(set(map(ast.unparse, node.targets)), node.value) for node in nodes if isinstance(node, ast.Assign)]
    left = assigned
    while used_assignments := [(targets, value) for targets, value in left if not objects.isdisjoint(targets)]:
        left = [pair for pair in left if pair not in used_assignments]
        objects.update(name for _, value in used_assignments for name in names_in(value))
    for node in nodes:
        if isinstance(node, ast.Attribute) and (name := _made(node.value)):
            yield name
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            yield from names_in(*node.args[1:])
    for targets, value in assigned:
        if not objects.isdisjoint(targets):
            yield from (name for inner in ast.walk(value) if (name := _made(inner)))


def _made(node: ast.AST) -> str:
    """Return the class name in a call such as ``Vector(1, 2)``; "" if `node` does not look like such a call."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name if name[:1].isupper() else ""


def names_in(*nodes: ast.AST) -> Iterator[str]:
    return (inner.id for inner in walk(*nodes) if isinstance(inner, ast.Name))


def local_names(*nodes: ast.AST) -> frozenset[str]:
    """Return the names that code binds locally: variables, function and lambda parameters, and caught exceptions."""
    names: set[str] = set()
    for node in walk(*nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return frozenset(names)


def _bound(*nodes: ast.AST) -> Iterator[str]:
    """Yield the names that code defines: variables, functions, classes, and imports."""
    for node in walk(*nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield from () if node.module in _TESTED else _exported(node.module or "")
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _exported(module: str) -> Iterator[str]:
    """Yield the names that ``from module import *`` defines, for a module in the standard library."""
    if module.partition(".")[0] not in sys.stdlib_module_names or module in ("antigravity", "this"):
        raise ValueError(f"'from {module} import *' hides which names belong to the program. Import each name")
    loaded = importlib.import_module(module)
    yield from getattr(loaded, "__all__", None) or (name for name in vars(loaded) if not name.startswith("_"))


def imported(*nodes: ast.AST) -> Iterator[str]:
    """Yield the names that code imports from the program."""
    for node in walk(*nodes):
        if isinstance(node, ast.ImportFrom) and node.module in _TESTED:
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.asname or alias.name for alias in node.names if alias.name in _TESTED)


def _foreign(*nodes: ast.AST) -> Iterator[str]:
    """Yield the imported modules other than the program and standard library modules."""
    for node in nodes:
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        yield from {module.partition(".")[0] for module in modules} - sys.stdlib_module_names - {*_TESTED}


def _is_future(line: ast.stmt) -> bool:
    return isinstance(line, ast.ImportFrom) and line.module == "__future__"


def needed_imports(*lines: ast.stmt) -> list[ast.stmt]:
    """Return imports for the standard modules that code uses without importing them, as in ``math.pi``."""
    values = [node.value for node in walk(*lines) if isinstance(node, ast.Attribute)]
    names = {value.id for value in values if isinstance(value, ast.Name)} & sys.stdlib_module_names
    names -= {*_bound(*lines), *local_names(*lines)} if names else set()
    return parsed("\n".join(f"import {name}" for name in sorted(names)))


def called_on_the_left(line: ast.stmt) -> Iterator[str]:
    test: ast.expr | None = line.test if isinstance(line, ast.Assert) else None
    while isinstance(test, ast.Compare | ast.UnaryOp):
        test = test.left if isinstance(test, ast.Compare) else test.operand
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        yield test.func.id


# --- Code ----------------------------------------------------------------------------------------------------


# Arbitrary: fewer than for names, because compiled code takes more memory.
@lru_cache(16)
def shared_code(script: Script, tolerance: float | None) -> dict[str, Any]:
    """Return the code and the names that the tester needs for all tests in a script; see `tester.run`."""
    names = names_of(script)
    source = _code(script.source, "<test>", tolerance)
    setup = _code(f"{names.imports}\n{script.setup}", "<setup>", None)
    return {
        "statements": [*setup, *source],
        "start": len(setup),
        "tests": [len(setup) + step.place for step in script.steps if step.place is not None],
        "names": list(names.program),
        "makers": list(names.makers),
        "classes": list(names.classes),
        "numpy": "numpy" in names.modules,
        "lines": script.source.strip().split("\n"),
        "tolerance": tolerance,
    }


def step_code(step: Step, shared: dict[str, Any]) -> bytes:
    """Return the code that the tester needs for one test, in addition to `shared_code`, encoded by `marshal`."""
    statements = shared["statements"]
    index = None if step.place is None else shared["start"] + step.place
    described = {
        "after": index if index is not None else len(statements),
        "code": [statements[index]] if index is not None else _code(step.source, "<test>", shared["tolerance"]),
        "lines": step.source.strip().split("\n") if step.source else None,
        "path": step.path,
        "call": marshal.loads(step.call) if step.call else None,
    }
    return marshal.dumps(described)


def _code(source: str, name: str, tolerance: float | None) -> list[Any]:
    """Compile each statement in `source` separately."""
    statements = parsed(source)
    flags = 0
    for line in statements:
        if isinstance(line, ast.ImportFrom) and line.module == "__future__":
            for alias in line.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    if tolerance is not None:
        statements = [Tolerant().visit(line) for line in statements]
    if " is " in source:
        statements = [_Identical().visit(line) for line in statements]
    return [
        compile(ast.Module([] if _is_future(line) else [line], []), name, "exec", flags, dont_inherit=True)
        for line in map(ast.fix_missing_locations, statements)
    ]


@final
class _Identical(ast.NodeTransformer):
    """A transformer for ``a.next is b``. The result tests whether both sides refer to the same object in the program.

    In the test code, there may be two `Remote` objects for one object.
    """

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if len(sides) > 2 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)) or any(map(_is_constant, sides)):
            return node
        call: ast.expr = ast.Call(ast.Name("_same", ast.Load()), sides, [])
        if isinstance(node.ops[0], ast.IsNot):
            call = ast.UnaryOp(ast.Not(), call)
        return ast.copy_location(call, node)


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


@final
class Tolerant(ast.NodeTransformer):
    """A transformer that makes assertions such as ``assert f(1) == 0.3`` accept close numbers."""

    def __init__(self, *, everywhere: bool = False) -> None:
        self._in_assertion = everywhere

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = Tolerant(everywhere=True).visit(node.test)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not self._in_assertion or len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq):
            return node
        return ast.copy_location(ast.Call(ast.Name("_equal", ast.Load()), [node.left, *node.comparators], []), node)
