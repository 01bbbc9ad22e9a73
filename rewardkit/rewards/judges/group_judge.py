"""A judge that ranks all completions for a prompt in one request.

The completions' order and identifiers are computed from all texts, so a completion cannot predict its position, and the
verdict refers to identifiers instead of positions. If a group gets no verdict, the judge assesses each completion
separately. Completions without a verdict fail, and the others are ranked.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

from rewardkit.batch.score import Score
from rewardkit.errors import NoVerdict
from rewardkit.rewards.judges.brief import Brief, note, reported
from rewardkit.rewards.judges.shield import Shielded, shielded
from rewardkit.rewards.judges.usage import Tally, metered
from rewardkit.rewards.judges.verdicts import Ranking, Verdict
from rewardkit.tree.results import Abstention, Raised

LEAST_CHARACTERS = 200
"""The minimum number of characters shown from each completion in a large group. The number is arbitrary, but with
fewer, the answer may be hidden."""


@dataclass(frozen=True)
class GroupJudge:
    """A judge that ranks the completions for one prompt, from 1.0 for the best down to 0.0 for the worst.

    Attributes:
        brief: the judge's settings.
        shuffle: the seed for the order in which the completions are shown.
    """

    brief: Brief
    shuffle: int = 0
    pool: ClassVar[str] = "judges"

    async def __call__(self, completion: Sequence[str], *values: Any) -> list[Score | Abstention | Raised]:
        # All rows of a group have the same values; the prompt is already a single text.
        sample = {
            name: value if name == "prompt" else value[0] for name, value in zip(self.brief.names, values, strict=True)
        }
        if lacking := self.brief.lacking(sample):
            return [lacking] * len(completion)
        distinct = list(dict.fromkeys(completion))
        if len(distinct) == 1:
            return [Score(0.5, "all completions of the group are equal")] * len(completion)
        most = max(LEAST_CHARACTERS, self.brief.max_characters // len(distinct))
        excerpts = {text: shielded(text, most) for text in distinct}
        outcomes: dict[str, Score | Raised] = {}
        try:
            outcomes |= await self._ranked(excerpts, sample)
        except NoVerdict:
            outcomes |= await self._unfit(excerpts, sample)
            judgeable = {text: excerpt for text, excerpt in excerpts.items() if text not in outcomes}
            if not outcomes or len(judgeable) < 2:
                raise
            outcomes |= await self._ranked(judgeable, sample)
        return [outcomes[text] for text in completion]

    async def _ranked(self, excerpts: Mapping[str, Shielded], sample: Mapping[str, Any]) -> dict[str, Score]:
        """Rank two or more completions, and return their scores by text."""
        verdict, identified = await self._verdict(excerpts, sample)
        scores = Ranking(tuple(identified)).scores(verdict.answers)
        outcomes = {}
        for rank, identifier in enumerate(verdict.answers["ranking"], 1):
            text = identified[identifier]
            reason = f"{rank} of {len(excerpts)} ({identifier}): {verdict.reason}"
            outcomes[text] = Score(scores[identifier], note(reason, reported(excerpts[text], text)))
        return outcomes

    async def _unfit(self, excerpts: Mapping[str, Shielded], sample: Mapping[str, Any]) -> dict[str, Raised]:
        """Return the completions that do not get a verdict even separately, with their errors, so that only these fail.

        The endpoint refuses such a completion, or the judge's verdict on it is invalid.
        """
        requests = [self._verdict({text: excerpt}, sample) for text, excerpt in excerpts.items()]
        outcomes = {}
        for text, outcome in zip(excerpts, await asyncio.gather(*requests, return_exceptions=True), strict=True):
            if isinstance(outcome, NoVerdict):
                reported(excerpts[text], text)
                outcomes[text] = Raised(outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
        return outcomes

    async def _verdict(
        self, excerpts: Mapping[str, Shielded], sample: Mapping[str, Any]
    ) -> tuple[Verdict, dict[str, str]]:
        """Return the verdict and a mapping from its identifiers to texts."""
        identified = identifiers(excerpts, self.shuffle)
        blocks = "\n\n".join(f"{identifier}:\n{excerpts[text].text}" for identifier, text in identified.items())
        judge_prompt = self.brief.conversation(Ranking(tuple(identified)), f"To rank:\n\n{blocks}", sample)
        return await self.brief.verdict(judge_prompt), identified

    async def measured(self, calls: Awaitable[list[Any]]) -> tuple[list[Any], Tally]:
        """Return the results for one batch, and the judge's usage for them."""
        return await metered(calls)

    def describe(self) -> str:
        """Return all settings that can change a verdict, for fingerprints."""
        return f"GroupJudge({self.brief.describe()}, {self.shuffle})"


def identifiers(texts: Iterable[str], shuffle: int) -> dict[str, str]:
    """Return a mapping from identifiers to texts, in an order that depends only on the set of texts and the seed."""
    ordered = sorted(texts)
    seed = _digest(str(shuffle), *ordered)
    # Six hexadecimal digits are easy for the judge to repeat. In one of 8,000 groups of 64 completions, two share their
    # first six digits, and that group gets longer identifiers.
    for length in count(6):
        by_identifier = {_digest(seed, text)[:length]: text for text in ordered}
        if len(by_identifier) == len(ordered):
            break
    return dict(sorted(by_identifier.items(), key=lambda item: _digest("order", seed, item[1])))


def _digest(*parts: str) -> str:
    joined = "\x00".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode(errors="surrogatepass")).hexdigest()
