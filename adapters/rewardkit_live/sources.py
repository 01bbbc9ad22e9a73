"""The code of a reward as it was when it was sent: copied, and imported from the copy.

A file may be edited further while a training runs, and a run that is resumed has to find what it trained with. Copied
are the module of the reward and the modules beside it that it imports; what is installed is imported as it is.
"""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import sys
import sysconfig
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.processes.worker import renew
from rewardkit.data.reward_names import load, path_of, split

Sources = Mapping[str, str]
"""Path below the folder of an update -> the text of the file."""
MOST_CHARACTERS = 8_000_000
"""Of all files of a reward together."""


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
    _check_names(files)
    return Code(module, name, files)


def _check_names(files: Iterable[str]) -> None:
    """Raises RewardDefinitionError where a file would take the place of a module that everything else needs."""
    for file in files:
        top = Path(file).parts[0].removesuffix(".py")
        held = getattr(sys.modules.get(top), "__file__", None)
        if top in sys.stdlib_module_names or (held is not None and _is_installed(Path(held).resolve())):
            raise RewardDefinitionError(
                f"{file} is called like the installed module {top!r}, whose place it would take in the whole training: "
                "rename it"
            )


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
        text = path.read_text(encoding="utf-8-sig")
        tree = ast.parse(text, filename=str(path))
    except (OSError, ValueError, SyntaxError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise RewardDefinitionError(f"{path}{where}: {type(error).__name__}: {error}") from None
    files[key] = text
    if sum(map(len, files.values())) > MOST_CHARACTERS:
        raise RewardDefinitionError(
            f"the code of the reward, with all that it imports from {root}, has more than {MOST_CHARACTERS:,} "
            "characters: move data out of it, or install what it imports"
        )
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
    """Makes the files those of `folder`: where several machines train, each has a folder of its own.

    Raises:
        RewardDefinitionError: a name leads out of the folder.
        OSError: the folder cannot be written, and does not hold them.
    """
    for name, text in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise RewardDefinitionError(f"{shorten(name)} leads out of the folder of the update")
        if _holds(path, text):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)  # of a file of the same second and length
        # Whole or not at all: other processes of this machine may look at the same time.
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_text(encoding="utf-8") == text
    except (FileNotFoundError, ValueError):
        return False


@dataclass(frozen=True)
class Imported:
    """A reward, and the modules that its copied code became; kept, so that going back to it runs no code.

    Attributes:
        reward: what the variable holds.
        folder: of the copies.
    """

    reward: Any
    folder: Path
    modules: Mapping[str, ModuleType]


class Modules:
    """Which version of copied modules stands in ``sys.modules``, where pickling and worker processes look for them.

    Every list of rewards has a version of its own; of modules of one name the last that was activated is there.
    """

    def __init__(self) -> None:
        self._original: dict[str, ModuleType | None] = {}
        self._active: weakref.WeakKeyDictionary[object, Imported] = weakref.WeakKeyDictionary()
        self._folders: list[str] = []

    def imported(self, code: Code, folder: Path) -> Imported:
        """The reward of the copies in `folder`, which are not activated; whatever was imported before stays.

        Raises:
            RewardDefinitionError: importing raised, the reward is not there, or a module would take another's place.
        """
        _check_names(code.files)
        names = _names(code.files)
        for name in names.difference(*(version.modules for version in self._active.values())):
            self._original[name] = sys.modules.get(name)
        before, path = {name: sys.modules.get(name) for name in names}, list(sys.path)
        _put(dict.fromkeys(names))
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        try:
            reward = _found(code)
            modules = {name: sys.modules[name] for name in names if name in sys.modules}
        finally:
            _put(before)
            sys.path[:] = path
            importlib.invalidate_caches()
        _join(modules, self._original)
        return Imported(reward, folder, modules)

    def activate(self, version: Imported | None, owner: object) -> None:
        """Makes the modules of `version` the imported ones; without one those of the script's own reward."""
        if self._active.get(owner) is not version:
            self._active.pop(owner, None)
            if version is not None:
                self._active[owner] = version
            self._renew()

    def keep(self, owners: Iterable[object]) -> None:
        """Takes the versions of all others away: their trainings are over."""
        kept = list(owners)
        gone = [owner for owner in self._active if owner not in kept]
        for owner in gone:
            del self._active[owner]
        if gone:
            self._renew()

    def _renew(self) -> None:
        active = list(self._active.values())
        _put(self._original)
        for version in active:
            _put(version.modules)
        for folder in self._folders:
            with suppress(ValueError):
                sys.path.remove(folder)
        self._folders = [str(version.folder) for version in reversed(active)]
        sys.path[:0] = self._folders
        importlib.invalidate_caches()
        renew()  # worker processes know the modules of before


MODULES = Modules()
"""Those of this process."""


def _names(files: Iterable[str]) -> set[str]:
    """The modules that `files` are, and the packages around them."""
    parts = [Path(file).with_suffix("").parts for file in files]
    return {
        ".".join(one[:length]) for one in parts for length in range(1, len(one) + 1) if one[length - 1] != "__init__"
    }


def _put(modules: Mapping[str, ModuleType | None]) -> None:
    """Makes them those of ``sys.modules``; None is one that is not imported."""
    for name, module in modules.items():
        if module is not None:
            sys.modules[name] = module
        else:
            sys.modules.pop(name, None)


def _join(copies: Mapping[str, ModuleType], originals: Mapping[str, ModuleType | None]) -> None:
    """Lets copied packages find what was not copied where the training's own ones find it."""
    for name, copy in copies.items():
        path, known = getattr(copy, "__path__", None), getattr(originals.get(name), "__path__", ())
        if isinstance(path, list):
            path += [place for place in known if place not in path]
    for name, module in list(sys.modules.items()):
        around, _, own = name.rpartition(".")
        if around in copies and name not in copies and not hasattr(copies[around], own):
            setattr(copies[around], own, module)


def _found(code: Code) -> Any:
    found = load(f"{code.module}:{code.name}" if code.name else code.module)
    if len(found) != 1:
        names = ", ".join(one.name for one in found)
        raise RewardDefinitionError(f"{code.module} has several rewards: {names}. Name one of them behind a colon")
    return found[0].reward
