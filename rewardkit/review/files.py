"""Files of rewards that a change touches, before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rewardkit.core.errors import RewardKitError
from rewardkit.data.reward_names import split
from rewardkit.review.changes import Changes, git
from rewardkit.review.imports import may_define_rewards, reached


@dataclass(frozen=True)
class File:
    """A file of rewards on both sides, relative to the top of the repository; "" where it is not.

    Attributes:
        names: of the rewards; empty for all.
    """

    now: str
    before: str
    names: tuple[str, ...] = ()


def named(found: Changes, rewards: Sequence[str]) -> Iterator[File]:
    """Yield the files of ``path.py:name`` targets, named from the working directory."""
    names: dict[str, list[str]] = {}
    for target in rewards:
        source, name = split(target)
        path = Path(source).resolve()
        if not path.is_relative_to(found.root.resolve()):
            raise RewardKitError(f"{source} is not in the repository {found.root}. Pass a file of this repository")
        names.setdefault(path.relative_to(found.root.resolve()).as_posix(), []).extend([name] if name else [])
    for named, listed in names.items():
        yield File(named, found.before(named), tuple(listed))


def touched(found: Changes) -> Iterator[File]:
    """Yield the files that look like modules of rewards, and that the change reaches."""
    tracked = [path for path in git("ls-files", "-z", folder=found.root).split("\0") if (found.root / path).is_file()]
    for path in sorted(reached(found.root, [*found.files, *found.removed], tracked)):
        if may_define_rewards(found.root, path):
            yield File(path, found.before(path))
