"""Imports: which files of a repository a change reaches, read from the sources without running them.

If ``answers.py`` changes, and ``rewards.py`` says ``from answers import last_number``, then `reached` returns both. A
file that names a changed data file (``open("units.json")``) is reached, too.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

_TESTS = ("conftest.py", "setup.py")
_WORK = frozenset(("train", "main", "run", "parse_args", "from_pretrained", "load_dataset", "evaluate", "launch"))
"""Functions that a module calls when it is a script rather than a module of rewards."""
_COMPLETIONS = frozenset(("completion", "completions", "messages"))


def reached(root: Path, changed: Collection[str], files: Collection[str]) -> set[str]:
    """Return the Python files among `files` that are changed, or that use a changed file, however indirectly.

    Args:
        root: the folder that all paths are relative to.
        changed: paths of changed or removed files.
        files: all files of the repository.
    """
    sources = {path: _parsed(root / path) for path in files if path.endswith(".py")}
    known = set(files) | set(changed)
    users: dict[str, set[str]] = {}
    for path, tree in sources.items():
        for used in _used(path, tree, known) if tree is not None else ():
            users.setdefault(used, set()).add(path)
    data = {PurePosixPath(path).name: path for path in changed if not path.endswith(".py")}
    found: set[str] = set()
    todo = [path for path in changed if path.endswith(".py")]
    todo += [path for path, tree in sources.items() if tree is not None and _names(tree, data)]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += users.get(path, ())
    return {path for path in found if path in sources}


def may_define_rewards(root: Path, path: str) -> bool:
    """Whether a file looks like a module of rewards; tests and scripts, which do more when imported, do not."""
    name = PurePosixPath(path).name
    tree = _parsed(root / path)
    if tree is None or name in _TESTS or name.startswith("test_") or name.endswith("_test.py"):
        return False
    statements = [one for one in tree.body if not (isinstance(one, ast.If) and "__name__" in ast.dump(one.test))]
    if any(_is_work(name) for one in statements for name in _called(one)):
        return False
    if any(_takes_completions(one) for one in statements):
        return True
    return _imports_rewardkit(tree) and any(_is_composed(one) for one in statements)


def _called(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of what a statement calls when the module is imported."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_work(name: str) -> bool:
    return name in _WORK or name.endswith("Trainer")


def _takes_completions(statement: ast.stmt) -> bool:
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    arguments = (*statement.args.posonlyargs, *statement.args.args, *statement.args.kwonlyargs)
    return not _COMPLETIONS.isdisjoint(one.arg for one in arguments)


def _is_composed(statement: ast.stmt) -> bool:
    """Whether a statement makes a variable by a call, an operation or a list."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    return isinstance(value, (ast.Call, ast.BinOp, ast.List))


def _imports_rewardkit(tree: ast.Module) -> bool:
    return any(
        name.partition(".")[0] == "rewardkit"
        for node in ast.walk(tree)
        for name in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    )


def _parsed(path: Path) -> ast.Module | None:
    """Return the syntax tree of a file; None if it is not Python, or gone."""
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _names(tree: ast.Module, data: Mapping[str, str]) -> bool:
    """Whether a module has the name of one of these data files in a text."""
    return bool(data) and any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and PurePosixPath(node.value.replace("\\", "/")).name in data
        for node in ast.walk(tree)
    )


def _used(path: str, tree: ast.Module, known: Collection[str]) -> Iterator[str]:
    """Yield the files of the repository that a module imports, also its own packages, and those on the way."""
    here = PurePosixPath(path).parent
    yield from (init for folder in (here, *here.parents) if (init := str(folder / "__init__.py")) in known)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield from _found(_folders(here), one.name.split("."), known)
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            folders = _folders(here) if node.level == 0 else [_above(here, node.level - 1)]
            for one in node.names:
                yield from _found(folders, [*module, one.name], known)


def _above(folder: PurePosixPath, levels: int) -> PurePosixPath:
    for _ in range(levels):
        folder = folder.parent
    return folder


def _folders(here: PurePosixPath) -> list[PurePosixPath]:
    """Return the folders that may be on the path when a module is imported: its own, those above, and their ``src``."""
    above = [here, *here.parents]
    return [*above, *(folder / "src" for folder in above)]


def _found(folders: list[PurePosixPath], names: list[str], known: Collection[str]) -> Iterator[str]:
    for folder in folders:
        place = folder
        for name in names:
            if str(file := place / f"{name}.py") in known:
                yield str(file)
            place = place / name
            if str(init := place / "__init__.py") in known:
                yield str(init)
