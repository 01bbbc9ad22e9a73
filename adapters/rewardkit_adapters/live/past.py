"""Past versions of a reward, loaded from each update's code in the run's folder.

``PastVersion("runs/x", 3).load()`` returns the reward from update 3, even long after training has ended.
"""

from __future__ import annotations

import pickle
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rewardkit.differences.targets import Location
from rewardkit.errors import RewardKitError, shorten_line
from rewardkit.tree.reward import Reward
from rewardkit_adapters.live.mailbox import Mailbox
from rewardkit_adapters.live.numbers import with_numbers
from rewardkit_adapters.live.sources import MODULES

# "my-run@3" is the third update. The name of a run may itself contain an @.
_NAMED = re.compile(r"(?P<run>.+)@(?P<update>\d+)")


@dataclass(frozen=True)
class PastVersion:
    """A past version of a run's reward.

    Attributes:
        run: the run's folder.
        update: the number of the update that created the version.
    """

    run: str
    update: int

    def __str__(self) -> str:
        return f"{self.run}@{self.update}"

    @contextmanager
    def placed(self) -> Iterator[Location]:
        """Provide a location from which another process can load this version."""
        absolute = PastVersion(str(Path(self.run).resolve()), self.update)
        yield Location(absolute, Path.cwd(), tuple(sys.path))

    def load(self) -> Reward:
        """Load the reward from its update's code.

        Raises:
            RewardKitError: the version does not exist, or its code is not in the run's folder.
        """
        return _load_version(Mailbox(self.run), self.update)


def past_version(text: str) -> PastVersion | None:
    """Parse a string such as ``runs/x@3``. Return None if `text` does not specify a version."""
    match = _NAMED.fullmatch(text)
    if match is None or not Path(match["run"]).is_dir():
        return None
    return PastVersion(match["run"], int(match["update"]))


def _load_version(mailbox: Mailbox, update: int) -> Reward:
    from rewardkit_adapters.trl.layout import successor

    run = mailbox.folder.parent
    if update == 0:
        return _load_first_reward(run)
    request, answer = mailbox.request(update), mailbox.answer(update)
    if request is None or answer is None or answer.status != "applied":
        applied = [candidate.update for candidate in mailbox.requests() if _is_applied(mailbox, candidate.update)]
        raise RewardKitError(
            f"{run} has no version {update}. Versions that have been active: {', '.join(map(str, [0, *applied]))}"
        )
    if request.kind == "rollback":
        return _load_version(mailbox, answer.to or 0)
    if request.kind == "numbers":
        return with_numbers(_load_version(mailbox, answer.before), request.numbers)
    assert request.code is not None
    imported = MODULES.imported(request.code, mailbox.code_folder(update))
    MODULES.activate(imported, MODULES)
    return successor(imported.reward, (mailbox.current() or {}).get("held"))


def _load_first_reward(run: Path) -> Reward:
    """Load the reward with which a run started training. The run's record contains this reward as pickled bytes."""
    from rewardkit.record.queries import first_version
    from rewardkit.record.run import open_run

    advice = f"Pass that reward's file at its git revision, or pass {run} to compare with the recorded scores"
    opened = open_run(run)
    fingerprint = first_version(opened) or ""
    version, code = opened.version(fingerprint), opened.packed(fingerprint)
    if code is None:
        reason = version.get("unpacked") or "it was recorded by an older rewardkit"
        raise RewardKitError(f"{run} does not have version 0, the reward that it started with: {reason}. {advice}")
    try:
        reward = pickle.loads(code)
    except Exception as error:
        written = version.get("python", "an unknown version")
        here = platform.python_version()
        other = f" It was stored with Python {written}, but this is Python {here}." if written != here else ""
        raise RewardKitError(
            f"version 0 of {run} cannot be loaded: {type(error).__name__}: {shorten_line(str(error))}.{other} {advice}"
        ) from error
    if not isinstance(reward, Reward):
        raise RewardKitError(f"version 0 of {run} is not a reward. {advice}")
    return reward


def _is_applied(mailbox: Mailbox, update: int) -> bool:
    answer = mailbox.answer(update)
    return answer is not None and answer.status == "applied"
