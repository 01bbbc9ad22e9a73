"""Changes: the files that differ between a git revision and the working tree.

``changes("main").files`` is ``{"rewards/math.py": "rewards/math.py", "rewards/new.py": ""}``: each changed file with
its path in the other revision, which is another one if the file was renamed, and empty if it was added.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rewardkit.core.errors import ConfigError, shorten


@dataclass(frozen=True)
class Changes:
    """What differs between a revision and the working tree.

    Attributes:
        root: the folder of the repository.
        base: the commit that the working tree is compared with.
        files: changed files, relative to the root -> their path at the base; "" if there was none.
        removed: files that are gone.
    """

    root: Path
    base: str
    files: Mapping[str, str]
    removed: tuple[str, ...] = ()

    def before(self, path: str) -> str:
        """Return where a file, relative to the root, was at the base; "" if it was not there."""
        return self.files.get(path, path)


def changes(base: str, folder: Path | None = None) -> Changes:
    """Compare the working tree with the last commit that it shares with `base`; new files count once git knows them.

    Raises:
        ConfigError: the folder is in no repository, or there is no such revision here.
    """
    root = Path(git("rev-parse", "--show-toplevel", folder=folder).strip())
    commit = shared(base, root)
    said = git("diff", "--name-status", "--find-renames", "-z", "--no-ext-diff", commit, "--", folder=root)
    files: dict[str, str] = {}
    removed: list[str] = []
    fields = iter(said.split("\0")[:-1])
    for status in fields:
        path = next(fields)
        if status[0] in "RC":  # renamed or copied: the old path comes first
            files[next(fields)] = path
        elif status[0] == "D":
            removed.append(path)
        else:
            files[path] = "" if status[0] == "A" else path
    return Changes(root, commit, files, tuple(removed))


def shared(base: str, root: Path) -> str:
    """Return the last commit that `base` and HEAD share, or `base` itself if the clone is too shallow to tell.

    Raises:
        ConfigError: there is no such revision here.
    """
    try:
        commit = git("rev-parse", "--verify", "--end-of-options", f"{base}^{{commit}}", folder=root).strip()
    except ConfigError:
        raise ConfigError(
            f"there is no revision {shorten(base)} in {root}. In a shallow clone, fetch it first: "
            f"git fetch --depth=1 origin {base.removeprefix('origin/')}. In GitHub Actions, set fetch-depth: 0 for "
            "actions/checkout"
        ) from None
    try:
        return git("merge-base", commit, "HEAD", folder=root).strip()
    except ConfigError:
        return commit


def git(*arguments: str, folder: Path | None = None) -> str:
    """Run git and return its output.

    Raises:
        ConfigError: it failed, or is not installed.
    """
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise ConfigError("git is not installed, and a review compares two revisions. Install git") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise ConfigError(f"git {arguments[0]} failed in {folder or Path.cwd()}: {shorten(said)}") from None
    return done.stdout.decode(errors="surrogateescape")
