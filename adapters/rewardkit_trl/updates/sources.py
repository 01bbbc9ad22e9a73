"""The code of a reward as it was when it was sent: copied, and imported from the copy.

A file may be edited further while a training runs, and a run that is resumed has to find what it trained with. Copied
are the module of the reward and the modules beside it that it imports; what is installed is imported as it is.
"""

from __future__ import annotations

import ast
import importlib
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.worker import renew
from rewardkit.testing.loading import load, path_of, split

Sources = Mapping[str, str]
"""Path below the folder of an update -> the text of the file."""


@dataclass(frozen=True)
class Code:
    """A reward's code.

    Attributes:
        module: that the reward stands in, by its dotted name.
        name: of the variable that holds it; empty for the only reward of the module.
        files: the copied ones; none for a module that is installed.
    """

    module: str
    name: str
    files: Sources


def collected(target: str) -> Code:
    """The code of ``path.py:name`` or ``module:name``.

    Raises:
        RewardDefinitionError: there is no such file or module, or its code cannot be parsed.
    """
    source, name = split(target)
    path = path_of(source)
    root, module = _rooted(path)
    if _is_installed(path):
        return Code(module, name, {})
    files: dict[str, str] = {}
    _collect(root, path, files)
    return Code(module, name, files)


def _rooted(path: Path) -> tuple[Path, str]:
    """The folder that has to be on the path, and the module's name from there."""
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    if names[-1] == "__init__":
        names.pop()
    if any("." in name for name in names):
        raise RewardDefinitionError(f"{path} cannot be imported under its name: a module's has no dot in it")
    return folder, ".".join(names)


def _is_installed(path: Path) -> bool:
    known = sysconfig.get_paths()
    folders = [Path(known[name]).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    own = Path(sys.modules["rewardkit"].__file__ or "").resolve().parent
    return any(folder in path.parents for folder in [*folders, own])


def _collect(root: Path, path: Path, files: dict[str, str]) -> None:
    """Adds `path`, the packages that it is in, and what it imports of below `root`."""
    key = path.relative_to(root).as_posix()
    if key in files:
        return
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text, filename=str(path))
    except (OSError, ValueError, SyntaxError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise RewardDefinitionError(f"{path}{where}: {type(error).__name__}: {error}") from None
    files[key] = text
    for folder in path.relative_to(root).parents:
        package = root / folder / "__init__.py"
        if folder != Path() and package.is_file():
            _collect(root, package, files)
    for name in _imported(tree, path.relative_to(root)):
        below = root.joinpath(*name.split("."))
        for candidate in (below.with_suffix(".py"), below / "__init__.py"):
            if candidate.is_file() and not _is_installed(candidate.resolve()):
                _collect(root, candidate, files)


def _imported(tree: ast.AST, place: Path) -> Iterator[str]:
    """The names of all modules that may be meant by the imports in a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _and_above(alias.name)
        elif isinstance(node, ast.ImportFrom):
            around = list(place.parent.parts)
            base = around[: len(around) - (node.level - 1)] if node.level else []
            whole = ".".join([*base, *([node.module] if node.module else [])])
            if whole:
                yield from _and_above(whole)
            for alias in node.names:
                yield f"{whole}.{alias.name}" if whole else alias.name


def _and_above(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


def placed(files: Sources, folder: Path) -> None:
    """Writes the files that are not there: where several machines train, each has a folder of its own."""
    for name, text in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise RewardDefinitionError(f"{shorten(name)} leads out of the folder of the update")
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Imported:
    """A reward, and the modules that its copied code became; kept, so that going back to it runs no code.

    Attributes:
        reward: what the variable holds.
        folder: of the copies.
        tops: the first part of the names of its modules.
    """

    reward: Any
    folder: Path
    tops: frozenset[str]
    modules: Mapping[str, ModuleType]


class Modules:
    """Which version of copied modules stands in ``sys.modules``, where pickling and worker processes look for them."""

    def __init__(self) -> None:
        self._tops: frozenset[str] = frozenset()
        self._original: dict[str, ModuleType] = {}
        self._folder: Path | None = None

    def imported(self, code: Code, folder: Path) -> Imported:
        """The reward of the copies in `folder`; what was imported before stays where that fails.

        Raises:
            RewardDefinitionError: importing raised, or the reward is not there.
        """
        tops = frozenset(Path(name).parts[0].removesuffix(".py") for name in code.files)
        self._original |= _modules(tops - self._tops)
        self._tops |= tops
        before, path = _modules(tops), list(sys.path)
        _forget(tops)
        self._put_in_front(folder)
        try:
            reward = _found(code)
        except BaseException:
            _forget(tops)
            sys.modules.update(before)
            sys.path[:] = path
            raise
        made = Imported(reward, folder, tops, _modules(tops))
        self.activate(made)
        return made

    def activate(self, version: Imported | None) -> None:
        """Makes the modules of `version` the imported ones; without one those of the training's own script."""
        _forget(self._tops)
        sys.modules.update(self._original)
        if version is not None:
            _forget(version.tops)
            sys.modules.update(version.modules)
        self._put_in_front(version.folder if version is not None else None)
        renew()  # worker processes know the modules of before

    def _put_in_front(self, folder: Path | None) -> None:
        if self._folder is not None:
            with suppress(ValueError):
                sys.path.remove(str(self._folder))
        if folder is not None:
            sys.path.insert(0, str(folder))
        self._folder = folder
        importlib.invalidate_caches()


MODULES = Modules()
"""Those of this process."""


def _modules(tops: Set[str]) -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in tops}


def _forget(tops: Set[str]) -> None:
    for name in _modules(tops):
        del sys.modules[name]


def _found(code: Code) -> Any:
    found = load(f"{code.module}:{code.name}" if code.name else code.module)
    if len(found) != 1:
        names = ", ".join(one.name for one in found)
        raise RewardDefinitionError(f"{code.module} has several rewards: {names}. Name one of them behind a colon")
    return found[0].reward
