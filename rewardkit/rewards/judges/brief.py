"""The settings shared by all kinds of judges, and the notes that they attach to scores."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from rewardkit.errors import RewardFailure, shorten
from rewardkit.rewards.judges.prompts import Rubric, conversation
from rewardkit.rewards.judges.service import Conversation, Service, ask
from rewardkit.rewards.judges.shield import Shielded, escaped
from rewardkit.rewards.judges.usage import tally
from rewardkit.rewards.judges.verdicts import Form, Verdict
from rewardkit.tree.results import Abstention

NOTE_CHARACTERS = 500
"""The maximum length of a judge's reason in a note. The limit is arbitrary: it prevents a judge that writes pages from
filling the table of completions."""

_log = logging.getLogger("rewardkit.rewards.judges")


@dataclass(frozen=True)
class Brief:
    """The settings shared by all kinds of judges.

    Attributes:
        service: the model behind the judge.
        rubric: a description of a good completion.
        names: the columns that the judge receives in addition to the completion, in order.
        reference: the name, from `names`, of the column with an answer to compare with; None if there is no such
            column.
        max_characters: the maximum number of characters shown from one completion, or from all completions in a group.
        shared: whether equal samples share one verdict.
    """

    service: Service
    rubric: Rubric
    names: tuple[str, ...]
    reference: str | None
    max_characters: int
    shared: bool

    def conversation(self, form: Form, block: str, values: Mapping[str, Any], **options: Any) -> Conversation:
        return conversation(self.rubric, form, block, values, reference=self.reference, **options)

    async def verdict(self, judge_prompt: Conversation, *, fresh: bool = False) -> Verdict:
        try:
            return await ask(self.service, judge_prompt, shared=self.shared, fresh=fresh)
        except RewardFailure:
            raise
        except Exception as error:  # not the completion's fault, so it must not affect the score
            raise RewardFailure(f"judge {self.service.model!r} raised {type(error).__name__}: {error}") from error

    def lacking(self, sample: Mapping[str, Any]) -> Abstention | None:
        """Return an abstention if a column has no value in this sample, because the sample belongs to another task."""
        for name, value in sample.items():
            if value is None or (isinstance(value, Real) and value != value):  # NaN, as in pandas
                return Abstention(f"the column {name!r} is {value} here")
        return None

    def describe(self) -> str:
        """Return all settings that can change a verdict, for fingerprints."""
        return repr((self.service.describe(), self.rubric, self.names, self.reference, self.max_characters))


def reported(excerpt: Shielded, completion: str) -> Sequence[str]:
    """Count and log a completion's suspicious patterns, and return their descriptions."""
    if excerpt.suspicious:
        tally().suspicious += 1
        _log.info("suspicious (%s): %s", ", ".join(excerpt.suspicious), shorten(escaped(completion)))
    return excerpt.suspicious


def note(reason: str, suspicious: Sequence[str]) -> str:
    """Return the note for a score: the judge's reason, escaped and truncated, and the `suspicious` patterns."""
    escaped_reason = escaped(reason.strip())
    escaped_reason = (
        escaped_reason if len(escaped_reason) <= NOTE_CHARACTERS else f"{escaped_reason[:NOTE_CHARACTERS]}..."
    )
    return f"{escaped_reason} [suspicious: {', '.join(suspicious)}]" if suspicious else escaped_reason
