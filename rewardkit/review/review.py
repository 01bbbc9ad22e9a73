"""The review of a change: each reward that it touches, before and after, on a sample and on completions made for it.

``reviewed(changes("main"), ["rewards.py:reward"], Options(sample=Path("sample.jsonl")))`` compares the working tree
with the revision. A reward that is only written differently has nothing to review.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from rewardkit.core.errors import RewardKitError
from rewardkit.replay.differences.revisions import checked_out
from rewardkit.review.changes import Changes
from rewardkit.review.files import named, touched
from rewardkit.review.imports import may_define_rewards
from rewardkit.review.look import Seen
from rewardkit.review.results import Review, Reviewed
from rewardkit.review.sides import Options, Sides
from rewardkit.testing.fast import FAST

_REQUIREMENTS = ("requirements", "constraints", "pyproject.toml", "poetry.lock", "uv.lock", "environment.yml")


def reviewed(found: Changes, rewards: Sequence[str], options: Options) -> Review:
    """Review the named rewards, or those that the change touches.

    Raises:
        RewardKitError: git or a file fails, or a named reward is in no file.
    """
    files = list(named(found, rewards) if rewards else touched(found))
    notes = tuple(_notes(found, options))
    removed = () if rewards else found.removed
    if not files and not removed:
        return Review((), notes)
    with checked_out(found.base, Path.cwd()) as tree:
        sides = [Sides.of(file, tree, found.base, options) for file in files]
        listed = [one for side in sides for one in _of_file(side)]
        gone = [Reviewed(path, "removed") for path in removed if may_define_rewards(tree.folder, path)]
    return Review((*listed, *gone), notes)


def _of_file(side: Sides) -> Iterator[Reviewed]:
    """Review the rewards of one file."""
    file, options = side.file, side.options
    new, old = side.looks((FAST if options.budget else (), ()), options.budget)
    if isinstance(new, RewardKitError):
        yield Reviewed(file.now, "failed", str(new))
        return
    notes: tuple[str, ...] = ()
    if isinstance(old, RewardKitError):
        notes, old = (f"The version before cannot be loaded, so nothing is compared: {old}",), []
    for before, after in _paired(old, new):
        if after is None:
            assert before is not None
            yield Reviewed(f"{file.now}:{before.name}", "removed")
        elif before is None:
            yield Reviewed(f"{file.now}:{after.name}", "added", after.reason, broken=after.found, notes=notes)
        else:
            yield side.compared(before, after)


def _paired(old: Sequence[Seen], new: Sequence[Seen]) -> Iterator[tuple[Seen | None, Seen | None]]:
    """Pair rewards by name, without the parts of others; if one is left on each side, it has another name now."""
    before, known = {one.name: one for one in old}, {one.name for one in new}
    lost = [one for one in old if one.name not in known and not one.part]
    fresh = [one for one in new if one.name not in before and not one.part]
    if len(lost) == len(fresh) == 1:
        before[fresh[0].name] = lost.pop()
    yield from ((before.get(one.name), one) for one in new if not one.part)
    yield from ((one, None) for one in lost)


def _notes(found: Changes, options: Options) -> Iterator[str]:
    names = [path for path in found.files if PurePosixPath(path).name.startswith(_REQUIREMENTS)]
    if names:
        yield (
            f"{', '.join(names)} changed, too. Both versions were scored with the packages that are installed now, so "
            "what other versions of packages change does not show."
        )
    samples = [path for path in found.files if _is_sample(found.root / path, options)]
    if samples:
        yield f"{', '.join(samples)} changed, too. Both versions were scored on its new rows."


def _is_sample(path: Path, options: Options) -> bool:
    return ".sample." in path.name or (options.sample is not None and options.sample.resolve() == path.resolve())
