"""Git: the files of a revision in a temporary folder, and the differences between a revision and the working tree.

``with checked_out("HEAD~1", Path.cwd()) as tree: ...`` provides all files of the previous commit, including files that
``export-ignore`` would exclude. The repository and its working tree stay unchanged.

``changes("main").files`` is ``{"rewards/math.py": "rewards/math.py", "rewards/new.py": ""}``: each changed file with
its path in the other revision. This path differs if the file was renamed, and is empty if the file was added.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rewardkit.errors import DataError, shorten


@dataclass(frozen=True)
class Tree:
    """The files of a revision in a temporary folder.

    Attributes:
        root: the root of the repository.
        folder: the temporary folder with the files of the revision.
        cwd: the counterpart of the working directory in `folder`, or `folder` itself if that directory did not exist.
    """

    root: Path
    folder: Path
    cwd: Path


@contextmanager
def checked_out(revision: str, cwd: Path) -> Iterator[Tree]:
    """Write the files of `revision` to a temporary folder, which is deleted at the end of the ``with`` block.

    Raises:
        DataError: git is not installed, `cwd` is not in a repository, or the revision does not exist.
    """
    root = root_of(cwd).resolve()
    commit = commit_of(revision, root)
    with tempfile.TemporaryDirectory(prefix="rewardkit-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary).resolve() / "tree"
        folder.mkdir()
        index = {"GIT_INDEX_FILE": str(Path(temporary) / "index"), "GIT_LFS_SKIP_SMUDGE": "1"}
        git("read-tree", commit, folder=root, variables=index)
        prefix = f"--prefix={folder.as_posix()}/"
        git("checkout-index", "--all", "--force", prefix, folder=root, variables=index)
        inside = folder / cwd.resolve().relative_to(root)
        yield Tree(root, folder, inside if inside.is_dir() else folder)


@dataclass(frozen=True)
class Changes:
    """The differences between a revision and the working tree.

    Attributes:
        root: the root of the repository.
        base: the commit with which the working tree is compared.
        files: path of a changed file, relative to the root -> its path at the base, or "" if it did not exist.
        removed: the paths of removed files.
    """

    root: Path
    base: str
    files: Mapping[str, str]
    removed: tuple[str, ...] = ()

    def before(self, path: str) -> str:
        """Return a file's path at the base, relative to the root, or "" if the file did not exist."""
        return self.files.get(path, path)


def changes(base: str, folder: Path | None = None) -> Changes:
    """Compare the working tree with the last commit shared with `base`. New files count once git tracks them.

    Raises:
        DataError: the folder is not in a repository, or the revision does not exist in it.
    """
    root = root_of(folder)
    commit = shared(base, root)
    listing = git("diff", "--name-status", "--find-renames", "-z", "--no-ext-diff", commit, "--", folder=root)
    files: dict[str, str] = {}
    removed: list[str] = []
    fields = iter(listing.split("\0")[:-1])
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
    """Return the last commit that `base` and HEAD share, or `base` itself if the clone is too shallow to find it.

    Raises:
        DataError: the revision does not exist in the repository.
    """
    commit = commit_of(base, root)
    try:
        return git("merge-base", commit, "HEAD", folder=root).strip()
    except DataError:
        return commit


def root_of(folder: Path | None) -> Path:
    """Return the root of the repository that contains a folder.

    Raises:
        DataError: the folder is not in a repository.
    """
    return Path(git("rev-parse", "--show-toplevel", folder=folder).strip())


def commit_of(revision: str, root: Path) -> str:
    """Return the commit that a revision names.

    Raises:
        DataError: the revision does not exist in the repository.
    """
    try:
        name = f"{revision}^{{commit}}"
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", name, folder=root).strip()
    except DataError:
        hint = "Run `git log` to see the revisions"
        if git("rev-parse", "--is-shallow-repository", folder=root).strip() == "true":
            hint = (
                "This clone has only part of the history. Run `git fetch --depth=1 origin "
                f"{revision.removeprefix('origin/')}`, or in GitHub Actions set fetch-depth: 0 for actions/checkout"
            )
        raise DataError(f"{root} has no git revision {shorten(revision)}. {hint}") from None


def git(*arguments: str, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    """Run git in a folder and return its output.

    Raises:
        DataError: git failed, or is not installed.
    """
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **(variables or {})}
    try:
        result = subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise DataError(
            "git is not installed, but is needed to read a revision. Install git, or pass two files"
        ) from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip()
        raise DataError(f"git {arguments[0]} failed in {folder or Path.cwd()}: {shorten(reason)}") from None
    return result.stdout.decode(errors="surrogateescape")
