"""The files of a repository that a change affects, read from the sources without running them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

_TESTS = ("conftest.py", "setup.py")
_WORK = frozenset(("train", "main", "run", "parse_args", "from_pretrained", "load_dataset", "evaluate", "launch"))
"""Functions that a module calls when it is a script rather than a module of rewards."""
_COMPLETIONS = frozenset(("completion", "completions", "messages"))


def reached(root: Path, changed: Collection[str], files: Collection[str]) -> set[str]:
    """Return the Python files among `files` that are changed, or use a changed file, however indirectly.

    Args:
        root: the folder that all paths are relative to.
        changed: paths of changed or removed files.
        files: all files of the repository.
    """
    modules = {path: (root / path).read_bytes() for path in files if path.endswith(".py")}
    file_index = _Files(frozenset((*files, *changed)))
    used: dict[str, set[str]] = {}
    affected: set[str] = set()
    todo = list(changed)
    while todo:
        path = todo.pop()
        if path in affected:
            continue
        affected.add(path)
        here = PurePosixPath(path)
        is_package = here.name == "__init__.py"
        word = here.parent.name if is_package else here.stem if here.suffix == ".py" else here.name
        for user, text in modules.items():
            if is_package and user.startswith(f"{here.parent}/"):
                todo.append(user)
            elif word.encode() in text:  # only then it is worth reading
                if user not in used:
                    used[user] = set(file_index.used(user, _parsed(root / user)))
                if path in used[user]:
                    todo.append(user)
    return {path for path in affected if path in modules}


def may_define_rewards(root: Path, path: str) -> bool:
    """Whether a file looks like a module of rewards; tests and scripts, which do more when imported, do not."""
    name = PurePosixPath(path).name
    tree = _parsed(root / path)
    if tree is None or name in _TESTS or name.startswith("test_") or name.endswith("_test.py"):
        return False
    statements = [
        statement
        for statement in tree.body
        if not (isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test))
    ]
    if any(_is_work(name) for statement in statements for name in _called(statement)):
        return False
    if any(_takes_completions(statement) for statement in statements):
        return True
    return _imports_rewardkit(tree) and any(_is_composed(statement) for statement in statements)


def _called(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of functions that a statement calls when the module is imported."""
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
    return not _COMPLETIONS.isdisjoint(argument.arg for argument in arguments)


def _is_composed(statement: ast.stmt) -> bool:
    """Whether a statement makes a variable by a call, an operation or a list."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    return isinstance(value, (ast.Call, ast.BinOp, ast.List))


def _imports_rewardkit(tree: ast.Module) -> bool:
    return any(
        name.partition(".")[0] == "rewardkit"
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
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


@dataclass(frozen=True)
class _Files:
    """All files of a repository, those that are gone included."""

    paths: frozenset[str]

    @cached_property
    def data(self) -> dict[str, list[str]]:
        """The paths of files that are not Python, by their names."""
        paths_by_name: dict[str, list[str]] = {}
        for path in self.paths:
            if not path.endswith(".py"):
                paths_by_name.setdefault(PurePosixPath(path).name, []).append(path)
        return paths_by_name

    def used(self, path: str, tree: ast.Module | None) -> Iterator[str]:
        """Yield the files that a module imports, or whose names are in one of its strings."""
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._imported(_folders(path), alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                module = node.module.split(".") if node.module else []
                folders = _folders(path) if node.level == 0 else (_above(path, node.level),)
                for alias in node.names:
                    yield from self._imported(folders, [*module, alias.name])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from self.data.get(node.value.replace("\\", "/").rpartition("/")[2], ())

    def _imported(self, folders: Iterable[str], names: Sequence[str]) -> Iterator[str]:
        """Yield the files of a dotted name, and of the packages on the way."""
        for prefix in folders:
            for name in names:
                if (file := f"{prefix}{name}.py") in self.paths:
                    yield file
                prefix = f"{prefix}{name}/"
                if (init := f"{prefix}__init__.py") in self.paths:
                    yield init


def _above(path: str, levels: int) -> str:
    """Return the folder that a relative import with so many dots starts from."""
    parts = path.split("/")[:-levels]
    return "".join(f"{part}/" for part in parts)


@lru_cache
def _folders(path: str) -> tuple[str, ...]:
    """Return the folders that may be on the path when a module is imported: its own, those above, and their ``src``."""
    above = [_above(path, levels) for levels in range(1, path.count("/") + 2)]
    return (*above, *(f"{folder}src/" for folder in above))
