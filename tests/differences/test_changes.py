"""What differs between a revision and the working tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit.differences.revisions import changes
from rewardkit.errors import DataError
from tests.differences.repositories import committed, git, written


def test_changed_added_renamed_and_removed_files(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    base = committed(tmp_path, {"a.py": text, "b ü.py": text + "b", "c.py": "c", "same.py": "same"})
    git(tmp_path, "mv", "b ü.py", "moved\tb.py")
    git(tmp_path, "rm", "--quiet", "c.py")
    written(tmp_path, {"a.py": text + "more", "new.py": "new", "unknown.py": "not added"})
    git(tmp_path, "add", "new.py")
    found = changes("HEAD", tmp_path)
    assert found.base == base
    assert dict(found.files) == {"a.py": "a.py", "moved\tb.py": "b ü.py", "new.py": ""}
    assert found.removed == ("c.py",)
    assert [found.before(path) for path in ("moved\tb.py", "same.py", "new.py")] == ["b ü.py", "same.py", ""]


def test_the_base_is_the_last_common_commit(tmp_path: Path) -> None:
    base = committed(tmp_path, {"a.py": "1"})
    git(tmp_path, "checkout", "--quiet", "-b", "work")
    committed(tmp_path, {"a.py": "2"})
    git(tmp_path, "checkout", "--quiet", "main")
    committed(tmp_path, {"other.py": "on main"})
    git(tmp_path, "checkout", "--quiet", "work")
    found = changes("main", tmp_path)
    assert found.base == base
    assert list(found.files) == ["a.py"]
    assert not found.removed


def test_a_shallow_clone_is_compared_with_the_revision_itself(tmp_path: Path) -> None:
    committed(tmp_path / "origin", {"a.py": "1"})
    committed(tmp_path / "origin", {"a.py": "2"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path / 'origin'}", "clone")
    first = git(tmp_path / "origin", "rev-parse", "HEAD~1")
    with pytest.raises(DataError, match="fetch"):
        changes(first, tmp_path / "clone")
    git(tmp_path / "clone", "fetch", "--quiet", "--depth=1", "origin", first)
    assert list(changes(first, tmp_path / "clone").files) == ["a.py"]


@pytest.mark.parametrize("revision", ["no-such-branch", "--output=x", ""])
def test_an_unknown_revision_is_an_error(tmp_path: Path, revision: str) -> None:
    committed(tmp_path, {"a.py": "1"})
    with pytest.raises(DataError):
        changes(revision, tmp_path)


def test_outside_of_a_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        changes("HEAD", tmp_path)
