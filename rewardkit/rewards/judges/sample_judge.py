"""A judge that scores one completion at a time: it requests a verdict and converts it to a score with a note."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rewardkit.batch.score import Score
from rewardkit.errors import RewardFailure
from rewardkit.rewards.judges.brief import Brief, note, reported
from rewardkit.rewards.judges.canaries import Canaries, Canary
from rewardkit.rewards.judges.prompts import Example
from rewardkit.rewards.judges.service import Conversation
from rewardkit.rewards.judges.shield import Shielded, shielded
from rewardkit.rewards.judges.usage import Tally, metered, tally
from rewardkit.rewards.judges.verdicts import Form, Scale
from rewardkit.tree.results import Abstention

_log = logging.getLogger("rewardkit.rewards.judges")


@dataclass(frozen=True)
class SampleJudge:
    """A judge for single completions. A canary that takes longer than `patience` seconds has no verdict."""

    brief: Brief
    form: Form
    examples: tuple[Example, ...]
    canaries: Canaries | None
    # The default batch_deadline of an endpoint.
    patience: float = 600.0
    pool: ClassVar[str] = "judges"

    async def __call__(self, completion: str, *values: Any) -> Score | Abstention:
        sample = dict(zip(self.brief.names, values, strict=True))
        if lacking := self.brief.lacking(sample):
            return lacking
        excerpt = shielded(completion, self.brief.max_characters)
        verdict = await self.brief.verdict(self._conversation(excerpt, sample))
        scores = self.form.scores(verdict.answers)
        parts = {} if isinstance(self.form, Scale) else scores
        return Score(sum(scores.values()) / len(scores), note(verdict.reason, reported(excerpt, completion)), parts)

    async def measured(self, calls: Awaitable[list[Any]]) -> tuple[list[Any], Tally]:
        """Return the results for one batch, and the judge's usage for these results and the canaries."""
        return await metered(self._with_canaries(calls))

    def describe(self) -> str:
        """Return all settings that can change a verdict, for fingerprints."""
        return f"SampleJudge({self.brief.describe()}, {self.form!r}, {self.examples!r})"

    def _conversation(self, excerpt: Shielded, values: Mapping[str, Any]) -> Conversation:
        examples = [
            (shielded(text, self.brief.max_characters).text, self.form.written(dict(answers), reason))
            for text, answers, reason in self.examples
        ]
        return self.brief.conversation(self.form, excerpt.text, values, examples=examples)

    async def _with_canaries(self, calls: Awaitable[list[Any]]) -> list[Any]:
        if self.canaries is None:
            return await calls
        due = self.canaries.due(_batches[self])
        _batches[self] += 1
        results, canary_scores = await asyncio.gather(calls, asyncio.gather(*map(self._canary_score, due)))
        if due:
            drift = self.canaries.drift(canary_scores)
            tally().drifts.append(drift)
            if drift.warning:
                _log.warning("%s", drift.warning)
        return results

    async def _canary_score(self, canary: Canary) -> float | None:
        """Return a canary's current score on the judge's scale; None if there is no verdict."""
        values = {"prompt": canary.prompt, **dict(canary.columns)}
        judge_prompt = self._conversation(shielded(canary.completion, self.brief.max_characters), values)
        try:
            verdict = await asyncio.wait_for(self.brief.verdict(judge_prompt, fresh=True), self.patience)
            return float(verdict.answers["score"])
        except (RewardFailure, asyncio.TimeoutError):
            return None


_batches: Counter[SampleJudge] = Counter()
"""The number of batches that each judge with canaries has scored in this process."""
