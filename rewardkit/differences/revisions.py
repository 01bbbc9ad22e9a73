"""Revisions: the files of a git revision in a temporary folder. The repository and its working tree stay as they are.

``with checked_out("HEAD~1", Path.cwd()) as tree: ...`` has all files of the commit before, also those that
``export-ignore`` would leave out.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rewardkit.errors import DataError, shorten


@dataclass(frozen=True)
class Tree:
    """The files of a revision.

    Attributes:
        root: the top of the repository.
        folder: where its files of that revision are.
        cwd: the folder in `folder` that corresponds to the working directory, or `folder` if it did not exist.
    """

    root: Path
    folder: Path
    cwd: Path


@contextmanager
def checked_out(revision: str, cwd: Path) -> Iterator[Tree]:
    """Write the files of `revision` of the repository around `cwd` to a temporary folder, which is deleted afterwards.

    Raises:
        DataError: there is no git, no repository, or no such revision.
    """
    root = Path(_git(cwd, "rev-parse", "--show-toplevel")).resolve()
    commit = _commit(root, revision)
    with tempfile.TemporaryDirectory(prefix="rewardkit-", ignore_cleanup_errors=True) as place:
        folder = Path(place).resolve() / "tree"
        folder.mkdir()
        index = {"GIT_INDEX_FILE": str(Path(place) / "index"), "GIT_LFS_SKIP_SMUDGE": "1"}
        _git(root, "read-tree", commit, environment=index)
        _git(root, "checkout-index", "--all", "--force", f"--prefix={folder.as_posix()}/", environment=index)
        inside = folder / cwd.resolve().relative_to(root)
        yield Tree(root, folder, inside if inside.is_dir() else folder)


def _commit(root: Path, revision: str) -> str:
    try:
        return _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except DataError:
        raise DataError(
            f"{root} has no git revision {shorten(revision)}. Run `git log` to see the revisions{_shallow(root)}"
        ) from None


def _shallow(root: Path) -> str:
    if _git(root, "rev-parse", "--is-shallow-repository") != "true":
        return ""
    return ". This clone has only a part of the history. Run `git fetch --unshallow`"


def _git(cwd: Path, *arguments: str, environment: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(cwd), *arguments],
            capture_output=True,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise DataError("git is not installed, which a revision needs. Install git, or pass two files") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise DataError(f"git {arguments[0]} failed in {cwd}: {shorten(said)}")
    return done.stdout.decode(errors="replace").strip()
