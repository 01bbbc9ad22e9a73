"""Brief: what a judge has to know whatever it is asked, and what is noted of what it says."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from rewardkit.core.errors import RewardFailure, shorten
from rewardkit.core.tree.results import Abstention
from rewardkit.judges.inquiry import Conversation, Service, ask
from rewardkit.judges.prompts import conversation
from rewardkit.judges.rubrics import Rubric
from rewardkit.judges.shield import Shielded, escaped
from rewardkit.judges.usage import tally
from rewardkit.judges.verdicts import Form, Verdict

NOTE_CHARACTERS = 500

_log = logging.getLogger("rewardkit.judges")


@dataclass(frozen=True)
class Brief:
    """What a judge has to know whatever it is asked.

    Attributes:
        names: of the values that it is given beside the completion, in order.
        reference: the one of them that is an answer to compare with.
        max_characters: of a completion, or of all completions of a group, that are shown.
        shared: whether equal samples get one verdict.
    """

    service: Service
    rubric: Rubric
    names: tuple[str, ...]
    reference: str | None
    max_characters: int
    shared: bool

    def conversation(self, form: Form, block: str, values: Mapping[str, Any], **options: Any) -> Conversation:
        return conversation(self.rubric, form, block, values, reference=self.reference, **options)

    async def verdict(self, asked: Conversation, *, fresh: bool = False) -> Verdict:
        try:
            return await ask(self.service, asked, shared=self.shared, fresh=fresh)
        except RewardFailure:
            raise
        except Exception as error:  # an error scores the lowest bound, and a completion is not to blame for this one
            raise RewardFailure(f"judge {self.service.model!r} broke: {type(error).__name__}: {error}") from error

    def lacking(self, sample: Mapping[str, Any]) -> Abstention | None:
        """The abstention on a sample that has no value where there is something to show: it is of another task."""
        for name, value in sample.items():
            if value is None or (isinstance(value, Real) and value != value):  # as pandas has it
                return Abstention(f"the column {name!r} is {value} here")
        return None

    def describe(self) -> str:
        """What changes a verdict, for fingerprints."""
        return repr((self.service.describe(), self.rubric, self.names, self.reference, self.max_characters))


def reported(shown: Shielded, completion: str) -> Sequence[str]:
    """What is suspicious in a completion, counted and logged."""
    if shown.suspicious:
        tally().suspicious += 1
        _log.info("suspicious (%s): %s", ", ".join(shown.suspicious), shorten(escaped(completion)))
    return shown.suspicious


def note(reason: str, suspicious: Sequence[str]) -> str:
    """A judge's reason, safe to show and cut short, and what was suspicious."""
    said = escaped(reason.strip())
    said = said if len(said) <= NOTE_CHARACTERS else f"{said[:NOTE_CHARACTERS]}..."
    return f"{said} [suspicious: {', '.join(suspicious)}]" if suspicious else said
