"""The versions of a reward: each update makes one of the version before it, and can make it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit.core.errors import RewardKitError
from rewardkit.core.tree.reward import Reward
from rewardkit_live.mailbox import Answer, Mailbox, Request
from rewardkit_live.numbers import retuned
from rewardkit_live.sources import MODULES, Imported, placed
from rewardkit_trl.layout import Columns, Layout

Records = Mapping[int, tuple[Request, Answer]]


@dataclass(frozen=True)
class Version:
    """A reward that was in force.

    Attributes:
        update: the update that made it; 0: the training script.
        raw: True if the trainer multiplies by the weights of a plain sum, as by those of the script's list.
    """

    update: int
    reward: Reward
    imported: Imported | None
    raw: bool = False

    def layout(self, columns: Columns) -> Layout:
        return Layout.of(self.reward, columns, raw=self.raw)


class Versions:
    """The versions of one run.

    Args:
        own: the version of the training script.
    """

    def __init__(self, mailbox: Mailbox, own: Version) -> None:
        self._mailbox = mailbox
        self._known = {own.update: own}

    def use(self, own: Version) -> None:
        """Take another version as that of the training script."""
        self._known[own.update] = own

    def forget(self, update: int) -> None:
        """Drop a version that was made and then refused."""
        self._known.pop(update, None)

    def target(self, request: Request, now: Version) -> int:
        """Return the version that a rollback goes back to."""
        if request.to is not None:
            answer = self._mailbox.answer(request.to)
            if request.to and (answer is None or answer.status != "applied"):
                raise RewardKitError(
                    f"version {request.to} was never in force, so there is nothing to go back to. See --history"
                )
            return request.to
        origin = self._origin(now.update)
        if origin == 0:
            raise RewardKitError("the reward in force is the script's own, so there is nothing to go back to")
        answer = self._mailbox.answer(origin)
        return self._origin(answer.before if answer is not None else 0)

    def _origin(self, update: int) -> int:
        """Return the update that made a version; for a rollback, the update of its target."""
        answer = self._mailbox.answer(update)
        return update if answer is None or answer.to is None else self._origin(answer.to)

    def records(self, update: int) -> dict[int, tuple[Request, Answer]]:
        """Return all updates that a version is made of, from the mailbox."""
        found: dict[int, tuple[Request, Answer]] = {}
        wanted = [update]
        while wanted:
            number = wanted.pop()
            request, answer = self._mailbox.request(number), self._mailbox.answer(number)
            if number and number not in found and request is not None and answer is not None:
                found[number] = request, answer
                wanted += [answer.to or 0] if request.kind == "rollback" else [answer.before]
        return found

    def get(self, update: int, records: Records) -> Version:
        if update not in self._known:
            if update not in records:
                raise RewardKitError(f"there is no update {update}")
            request, answer = records[update]
            self.made(request, answer.before, answer.to, records)
        return self._known[update]

    def made(self, request: Request, before: int, to: int | None, records: Records) -> Version:
        """Make a version from the one `before` it and a request."""
        from rewardkit_trl.functions import successor

        if request.kind == "reward" and request.code is not None:
            folder = self._mailbox.code_folder(request.update)
            placed(request.code.files, folder)
            imported = MODULES.imported(request.code, folder)
            base = self.get(before, records)
            held = base.layout("terms").held if base.raw else None
            made = Version(request.update, successor(imported.reward, held), imported, base.raw)
        elif request.kind == "numbers":
            base = self.get(before, records)
            made = Version(request.update, retuned(base.reward, request.numbers), base.imported, base.raw)
        else:
            base = self.get(to or 0, records)
            made = Version(request.update, base.reward, base.imported, base.raw)
        self._known[request.update] = made
        return made
