"""Refactorings for `benchmarks/check/review.py`: changes of a module that leave every score as it is.

``refactorings(subject)`` yields each kind that applies to a reward: other names, an extracted function, a loop for a
comprehension, turned conditions, another order of functions, types and comments, another module, another file.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from benchmarks.check.review_corpus import Subject
from benchmarks.check.review_parts import Function, constants, has, named_parts, other_order, parameters


@dataclass(frozen=True)
class Refactoring:
    """A change that changes nothing.

    Attributes:
        kind: of the change.
        files: the new files, by their path; the module of the reward is ``{stem}.py`` unless it moved.
        renamed: the new path of the module; "" if it stays.
    """

    kind: str
    files: dict[str, str] = field(repr=False)
    renamed: str = ""


def refactorings(subject: Subject, seed: int = 0) -> Iterator[Refactoring]:
    """Yield one refactoring of each kind that applies."""
    path = f"rewards/{subject.stem}.py"
    for kind, change in KINDS.items():
        tree = ast.parse(subject.source)
        used = _used_by(subject.name, tree)
        done = change(tree, used, random.Random(f"{seed} {subject.label} {kind}"))
        if done:
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            compile(text, path, "exec")
            yield Refactoring(kind, {path: text})
    yield Refactoring("comments and blank lines", {path: _commented(subject.source)})
    yield Refactoring("reformatted", {path: ast.unparse(ast.parse(subject.source)) + "\n"})
    yield Refactoring(
        "file renamed", {f"rewards/{subject.stem}_v2.py": subject.source}, f"rewards/{subject.stem}_v2.py"
    )
    moved = f"{subject.stem}_parts"
    names = _public(ast.parse(subject.source))
    face = f'"""The rewards of this task."""\n\nfrom {moved} import {", ".join(names)}\n'
    yield Refactoring("moved to a module", {path: face, f"rewards/{moved}.py": subject.source})


def _public(tree: ast.Module) -> list[str]:
    """Return the names that a module defines itself."""
    names = [name for one in tree.body for name in _names_of(one) if not isinstance(one, (ast.Import, ast.ImportFrom))]
    return list(dict.fromkeys(names))


def _names_of(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _used_by(name: str, tree: ast.Module) -> list[Function]:
    """Return the functions of a module that its reward uses, itself first."""
    defined = {one: statement for statement in tree.body for one in _names_of(statement)}
    found: dict[str, ast.stmt] = {}
    todo = [name]
    while todo:
        one = todo.pop()
        if one in defined and one not in found:
            found[one] = defined[one]
            todo += [node.id for node in ast.walk(defined[one]) if isinstance(node, ast.Name)]
    return [one for one in found.values() if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def local_names(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """Local variables have other names."""
    done = False
    for function in used:
        if has(function, ast.Global, ast.Nonlocal, ast.ClassDef, ast.Lambda, ast.ExceptHandler, ast.MatchAs) or any(
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node is not function
            for node in ast.walk(function)
        ):
            continue
        stored = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        names = {name: f"{name}_value" for name in stored - parameters(function)}
        function.body = [_Renamed(names).visit(one) for one in function.body]
        done |= bool(names)
    return done


def helper_names(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """A helper has another name."""
    helpers = [one for one in used[1:] if not one.decorator_list and one.name not in dir(builtins)]
    locals_ = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, (ast.arg, ast.keyword))}
    helpers = [one for one in helpers if one.name not in locals_ | arguments]
    if not helpers:
        return False
    one = chance.choice(helpers)
    new = f"{one.name}_of_text"
    tree.body = [_Renamed({one.name: new}).visit(statement) for statement in tree.body]
    one.name = new
    return True


def extracted(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """What a function returns is computed by a new function."""
    for function in used:
        returns = [one for one in function.body if isinstance(one, ast.Return) and one.value is not None]
        if not returns or has(function, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr):
            continue
        value = returns[-1].value
        assert value is not None
        inner = {node.id for node in ast.walk(value) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        loaded = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} - inner
        own = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        own |= {node.name for node in ast.walk(function) if isinstance(node, ast.FunctionDef)}
        wanted = sorted(loaded & (own | parameters(function)))
        name = f"_result_of_{function.name}"
        made = ast.parse(f"def {name}({', '.join(wanted)}):\n    pass").body[0]
        assert isinstance(made, ast.FunctionDef)
        made.body = [ast.Return(value)]
        returns[-1].value = ast.parse(f"{name}({', '.join(wanted)})", mode="eval").body
        tree.body.insert(tree.body.index(function), made)
        return True
    return False


def named_result(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """What a function returns has a name before."""
    done = False
    for function in used:
        for node in ast.walk(function):
            for name in ("body", "orelse"):
                block = getattr(node, name, None)
                if (
                    isinstance(block, list)
                    and block
                    and isinstance(block[-1], ast.Return)
                    and block[-1].value is not None
                ):
                    if isinstance(block[-1].value, (ast.Constant, ast.Name)):
                        continue
                    result = ast.Assign([ast.Name("outcome_", ast.Store())], block[-1].value)
                    block[-1:] = [result, ast.Return(ast.Name("outcome_", ast.Load()))]
                    done = True
    return done


class _Turned(ast.NodeTransformer):
    def __init__(self) -> None:
        self.done = 0

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        self.generic_visit(node)
        self.done += 1
        return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)

    def visit_If(self, node: ast.If) -> ast.If:
        self.generic_visit(node)
        if not node.orelse:
            return node
        self.done += 1
        return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)


def turned(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """Conditions are turned around, with their branches."""
    turn = _Turned()
    for function in used:
        function.body = [turn.visit(one) for one in function.body]
    return turn.done > 0


class _Swapped(ast.NodeTransformer):
    def __init__(self) -> None:
        self.done = 0

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        mirrored = {
            ast.Eq: ast.Eq,
            ast.NotEq: ast.NotEq,
            ast.Lt: ast.Gt,
            ast.Gt: ast.Lt,
            ast.LtE: ast.GtE,
            ast.GtE: ast.LtE,
        }
        kind = type(node.ops[0])
        if len(node.ops) > 1 or kind not in mirrored:
            return node
        self.done += 1
        return ast.Compare(node.comparators[0], [mirrored[kind]()], [node.left])


def swapped(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """The sides of comparisons are swapped: ``a < b`` is ``b > a``."""
    swap = _Swapped()
    for function in used:
        function.body = [swap.visit(one) for one in function.body]
    return swap.done > 0


def looped(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """A list comprehension is a loop."""
    done = False
    for function in used:
        for number, one in enumerate(function.body):
            value = one.value if isinstance(one, ast.Return) else None
            if not isinstance(value, ast.ListComp) or len(value.generators) > 1 or value.generators[0].is_async:
                continue
            loop = value.generators[0]
            append = ast.parse("collected_.append(0)").body[0]
            assert isinstance(append, ast.Expr)
            assert isinstance(append.value, ast.Call)
            append.value.args = [value.elt]
            body: list[ast.stmt] = [append]
            for test in reversed(loop.ifs):
                body = [ast.If(test, body, [])]
            function.body[number : number + 1] = [
                ast.parse("collected_ = []").body[0],
                ast.For(loop.target, loop.iter, body, []),
                ast.Return(ast.Name("collected_", ast.Load())),
            ]
            done = True
            break
    return done


def comprehended(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """A loop that appends is a list comprehension."""
    for function in used:
        for number in range(len(function.body) - 1):
            start, loop = function.body[number : number + 2]
            if not (
                isinstance(start, (ast.Assign, ast.AnnAssign))
                and isinstance(start.value, ast.List)
                and not start.value.elts
            ):
                continue
            target = start.targets[0] if isinstance(start, ast.Assign) else start.target
            if not (
                isinstance(loop, ast.For) and isinstance(target, ast.Name) and len(loop.body) == 1 and not loop.orelse
            ):
                continue
            call = loop.body[0].value if isinstance(loop.body[0], ast.Expr) else None
            if isinstance(call, ast.Call) and ast.unparse(call.func) == f"{target.id}.append":
                made = ast.ListComp(call.args[0], [ast.comprehension(loop.target, loop.iter, [], 0)])
                function.body[number : number + 2] = [ast.Assign([ast.Name(target.id, ast.Store())], made)]
                return True
    return False


def reordered(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """Functions without decorators and defaults stand in another order."""
    places = [
        number
        for number, one in enumerate(tree.body)
        if isinstance(one, ast.FunctionDef)
        and not one.decorator_list
        and not one.args.defaults
        and not one.args.kw_defaults
    ]
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    runs = [one for one in runs if len(one) > 1]
    for run in runs:
        tree.body[run[0] : run[-1] + 1] = tree.body[run[0] : run[-1] + 1][::-1]
    return bool(runs)


def documented(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """Functions have other docstrings."""
    for function in used:
        first = function.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            function.body = function.body[1:] or [ast.Pass()]
        function.body.insert(0, ast.Expr(ast.Constant("Return the result.\n\n    See the tests for examples.\n    ")))
    return bool(used)


def typed(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """Local variables have types."""
    done = False
    for function in used:
        declared = {
            node.target.id
            for node in ast.walk(function)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        if has(function, ast.Global, ast.Nonlocal):
            continue
        for number, one in enumerate(function.body):
            target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
            if isinstance(target, ast.Name) and target.id not in declared | parameters(function):
                assert isinstance(one, ast.Assign)
                declared.add(target.id)
                function.body[number] = ast.AnnAssign(target, ast.Constant("object"), one.value, 1)
                done = True
    return done


def _commented(source: str) -> str:
    """Add comments and blank lines before the functions of a module."""
    made: list[str] = []
    for line in source.splitlines():
        if line.startswith(("def ", "async def ")) and not (made and made[-1].startswith("@")):
            made += ["", "# This is used for the reward; see the notes of the last run."]
        made.append(line)
    return "\n".join([*made, "", "# End of the module.", ""])


Change = Callable[[ast.Module, list[Function], random.Random], bool]

KINDS: dict[str, Change] = {
    "local variables renamed": local_names,
    "a helper renamed": helper_names,
    "a function extracted": extracted,
    "results named": named_result,
    "conditions turned": turned,
    "comparisons swapped": swapped,
    "comprehension to loop": looped,
    "loop to comprehension": comprehended,
    "functions reordered": reordered,
    "docstrings changed": documented,
    "types added": typed,
    "constants named": constants,
    "addends reordered": other_order,
    "addends named": named_parts,
}
