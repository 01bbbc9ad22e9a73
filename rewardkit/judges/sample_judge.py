"""What a judge of single completions does, once for each: it asks, and makes of the verdict a score with a note."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.core.calling import Abstention
from rewardkit.core.errors import RewardFailure, shorten
from rewardkit.core.outcome import Score
from rewardkit.judges.asking import Conversation, Service, ask
from rewardkit.judges.canaries import Canaries, Canary
from rewardkit.judges.conversations import Example, conversation
from rewardkit.judges.metering import Tally, metered, tally
from rewardkit.judges.rubrics import Rubric
from rewardkit.judges.shielding import Shielded, escaped, shielded
from rewardkit.judges.verdicts import Form, Scale, Verdict

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
        name = next((name for name, value in sample.items() if value is None), None)
        return None if name is None else Abstention(f"the column {name!r} is None here")

    def describe(self) -> str:
        """What changes a verdict, for fingerprints."""
        return repr((self.service.describe(), self.rubric, self.names, self.reference, self.max_characters))


@dataclass(frozen=True)
class SampleJudge:
    """Judges one completion at a time; canaries have `patience` seconds."""

    brief: Brief
    form: Form
    examples: tuple[Example, ...]
    canaries: Canaries | None
    patience: float = 600.0

    async def __call__(self, completion: str, *values: Any) -> Score | Abstention:
        sample = dict(zip(self.brief.names, values, strict=True))
        if lacking := self.brief.lacking(sample):
            return lacking
        shown = shielded(completion, self.brief.max_characters)
        verdict = await self.brief.verdict(self._asked(shown, sample))
        found = self.form.scores(verdict.answers)
        parts = {} if isinstance(self.form, Scale) else found
        return Score(sum(found.values()) / len(found), note(verdict.reason, reported(shown, completion)), parts)

    async def measured(self, calls: Awaitable[list[Any]]) -> tuple[list[Any], Tally]:
        """All calls of one batch, canaries among them, and what they took."""
        return await metered(self._with_canaries(calls))

    def describe(self) -> str:
        """What changes a verdict, for fingerprints."""
        return f"SampleJudge({self.brief.describe()}, {self.form!r}, {self.examples!r})"

    def _asked(self, shown: Shielded, values: Mapping[str, Any]) -> Conversation:
        examples = [
            (shielded(text, self.brief.max_characters).text, self.form.written(dict(answers), reason))
            for text, answers, reason in self.examples
        ]
        return self.brief.conversation(self.form, shown.text, values, examples=examples)

    async def _with_canaries(self, calls: Awaitable[list[Any]]) -> list[Any]:
        if self.canaries is None:
            return await calls
        due = self.canaries.due(_batches[self])
        _batches[self] += 1
        results, given = await asyncio.gather(calls, asyncio.gather(*map(self._recognised, due)))
        if due:
            drift = self.canaries.drift(given)
            tally().drifts.append(drift)
            if drift.warning:
                _log.warning("%s", drift.warning)
        return results

    async def _recognised(self, canary: Canary) -> float | None:
        """The score that a known completion gets now, on the judge's own scale."""
        values = {"prompt": canary.prompt, **dict(canary.columns)}
        asked = self._asked(shielded(canary.completion, self.brief.max_characters), values)
        try:
            verdict = await asyncio.wait_for(self.brief.verdict(asked, fresh=True), self.patience)
            return float(verdict.answers["score"])
        except (RewardFailure, asyncio.TimeoutError):
            return None


_batches: Counter[SampleJudge] = Counter()
"""The batches that this process has scored with each judge that has canaries."""


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
