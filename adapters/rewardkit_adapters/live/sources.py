"""Copy a reward's code when a request is sent, and import the reward from the copy.

The original files may be edited during training, and a resumed run needs the code with which it was trained. The copy
contains the reward's module and the modules in its folder that it imports. Installed modules are imported as usual.
"""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.tree.loading import is_installed, load, path_of, split
from rewardkit.workers.worker import renew

Sources = Mapping[str, str]
"""An update's files: the path in the update's folder -> the file's text."""
MOST_CHARACTERS = 8_000_000
"""The maximum total length of a reward's files, in characters. The limit is arbitrary. A reward is source code, so
hundreds of files are a mistake."""


@dataclass(frozen=True)
class Code:
    """A reward's code.

    Attributes:
        module: the dotted name of the reward's module.
        name: the variable that contains the reward, or "" for the only reward in the module.
        files: the copied files, or an empty mapping for an installed module.
    """

    module: str
    name: str
    files: Sources


def collect_sources(target: str) -> Code:
    """Collect the code for the reward ``path.py:name`` or ``module:name``.

    Raises:
        RewardDefinitionError: the file or module does not exist, or its code cannot be parsed.
    """
    source, name = split(target)
    path = path_of(source)
    root, module = _module_root(path)
    if is_installed(path):
        return Code(module, name, {})
    files: dict[str, str] = {}
    _collect(root, path, files)
    _check_names(files)
    return Code(module, name, files)


def _check_names(files: Iterable[str]) -> None:
    """Raise RewardDefinitionError if a file would replace an installed module."""
    for file in files:
        top = Path(file).parts[0].removesuffix(".py")
        origin = getattr(sys.modules.get(top), "__file__", None)
        if top in sys.stdlib_module_names or (origin is not None and is_installed(Path(origin).resolve())):
            raise RewardDefinitionError(
                f"{file} has the same name as the installed module {top!r}, and would replace it in the "
                "whole training run. Rename the file"
            )


def _module_root(path: Path) -> tuple[Path, str]:
    """Return the folder that must be in ``sys.path`` to import `path`, and the module name relative to this folder."""
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    if names[-1] == "__init__":
        names.pop()
    if any("." in name for name in names):
        raise RewardDefinitionError(f"{path} cannot be imported, because its name contains a dot. Rename the file")
    return folder, ".".join(names)


def _collect(root: Path, path: Path, files: dict[str, str]) -> None:
    """Collect in `files` the file `path`, its parent packages, and the modules in `root` that it imports."""
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
            f"the reward's code, including its imports from {root}, has more than {MOST_CHARACTERS:,} characters. "
            "Move data out of the code, or install the modules that it imports"
        )
    for folder in path.relative_to(root).parents:
        package = root / folder / "__init__.py"
        if folder != Path() and package.is_file():
            _collect(root, package, files)
    for name in _imported(tree, path.relative_to(root)):
        module_path = root.joinpath(*name.split("."))
        for candidate in (module_path.with_suffix(".py"), module_path / "__init__.py"):
            if candidate.is_file() and not is_installed(candidate.resolve()):
                _collect(root, candidate, files)


def _imported(tree: ast.AST, path: Path) -> Iterator[str]:
    """Yield the names of all modules that a file may import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _name_prefixes(alias.name)
        elif isinstance(node, ast.ImportFrom):
            package_parts = list(path.parent.parts)
            base = package_parts[: len(package_parts) - (node.level - 1)] if node.level else []
            module_name = ".".join([*base, *([node.module] if node.module else [])])
            if module_name:
                yield from _name_prefixes(module_name)
            for alias in node.names:
                yield f"{module_name}.{alias.name}" if module_name else alias.name


def _name_prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


def write_sources(files: Sources, folder: Path) -> None:
    """Write the files to `folder` unless they already exist. Each machine may have its own folder.

    Raises:
        RewardDefinitionError: a file name refers to a path outside the folder.
        OSError: the files do not exist and cannot be written.
    """
    for name, text in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise RewardDefinitionError(f"{shorten(name)} is outside the update's folder")
        if _holds(path, text):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(
            path.parent / "__pycache__", ignore_errors=True
        )  # it may belong to an earlier file with the same modification time and length
        # Atomic, because other processes on this machine may be reading the file.
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
    """An imported reward and its modules, stored so that a rollback does not run the code again.

    Attributes:
        reward: the value of the variable that contains the reward.
        folder: the folder with the copied files.
    """

    reward: Any
    folder: Path
    modules: Mapping[str, ModuleType]


class Modules:
    """The versions of copied modules in ``sys.modules``, in which pickling and worker processes look up modules.

    Each list of rewards has its own version. If names clash, the last activated version takes precedence.
    """

    def __init__(self) -> None:
        self._original: dict[str, ModuleType | None] = {}
        self._active: weakref.WeakKeyDictionary[object, Imported] = weakref.WeakKeyDictionary()
        self._folders: list[str] = []

    def imported(self, code: Code, folder: Path) -> Imported:
        """Import the reward from the copied files in `folder` without changing ``sys.modules``.

        Raises:
            RewardDefinitionError: the import failed, the reward is missing, or a file has the name of an installed
                module.
        """
        _check_names(code.files)
        names = _names(code.files)
        for name in names.difference(*(version.modules for version in self._active.values())):
            self._original[name] = sys.modules.get(name)
        before, path = {name: sys.modules.get(name) for name in names}, list(sys.path)
        _install_modules(dict.fromkeys(names))
        # Before the working directory, which loading by a module's name would put first.
        sys.path[:0] = [str(folder), str(Path.cwd())]
        importlib.invalidate_caches()
        try:
            reward = _find_reward(code)
            modules = {name: sys.modules[name] for name in names if name in sys.modules}
        finally:
            _install_modules(before)
            sys.path[:] = path
            importlib.invalidate_caches()
        _link_packages(modules, self._original)
        return Imported(reward, folder, modules)

    def activate(self, version: Imported | None, owner: object) -> None:
        """Put `version`'s modules into ``sys.modules``, or restore the script's own modules if it is None."""
        if self._active.get(owner) is not version:
            self._active.pop(owner, None)
            if version is not None:
                self._active[owner] = version
            self._renew()

    def keep(self, owners: Iterable[object]) -> None:
        """Deactivate the versions of all other owners, whose training runs have ended."""
        active_owners = list(owners)
        ended_owners = [owner for owner in self._active if owner not in active_owners]
        for owner in ended_owners:
            del self._active[owner]
        if ended_owners:
            self._renew()

    def _renew(self) -> None:
        active = list(self._active.values())
        _install_modules(self._original)
        for version in active:
            _install_modules(version.modules)
        for folder in self._folders:
            with suppress(ValueError):
                sys.path.remove(folder)
        self._folders = [str(version.folder) for version in reversed(active)]
        sys.path[:0] = self._folders
        importlib.invalidate_caches()
        renew()  # worker processes still have the old modules


MODULES = Modules()
"""This process's only `Modules` instance."""


def _names(files: Iterable[str]) -> set[str]:
    """Return the names of the modules in `files` and of their parent packages."""
    parts = [Path(file).with_suffix("").parts for file in files]
    return {
        ".".join(path_parts[:length])
        for path_parts in parts
        for length in range(1, len(path_parts) + 1)
        if path_parts[length - 1] != "__init__"
    }


def _install_modules(modules: Mapping[str, ModuleType | None]) -> None:
    """Put modules into ``sys.modules``. A value of None removes the module."""
    for name, module in modules.items():
        if module is not None:
            sys.modules[name] = module
        else:
            sys.modules.pop(name, None)


def _link_packages(copies: Mapping[str, ModuleType], originals: Mapping[str, ModuleType | None]) -> None:
    """Make modules that were not copied available in copied packages, as in the original packages."""
    for name, copy in copies.items():
        path, original_path = getattr(copy, "__path__", None), getattr(originals.get(name), "__path__", ())
        if isinstance(path, list):
            path += [entry for entry in original_path if entry not in path]
    for name, module in list(sys.modules.items()):
        parent, _, attribute = name.rpartition(".")
        if parent in copies and name not in copies and not hasattr(copies[parent], attribute):
            setattr(copies[parent], attribute, module)


def _find_reward(code: Code) -> Any:
    rewards = load(f"{code.module}:{code.name}" if code.name else code.module)
    if len(rewards) != 1:
        names = ", ".join(candidate.name for candidate in rewards)
        raise RewardDefinitionError(
            f"{code.module} has several rewards: {names}. Name one after a colon: {code.module}:{rewards[0].name}"
        )
    return rewards[0].reward
