"""A judge that ranks all completions of a prompt in one request.

The order of the completions and their identifiers are computed from all texts, so a completion cannot know its
position, and the verdict names identifiers instead of positions. If a group gets no verdict, the judge is asked about
each completion alone: the ones without a verdict fail, and the others are ranked.
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
"""The minimum number of characters shown of each completion in a large group. Arbitrary: fewer may hide the answer."""


@dataclass(frozen=True)
class GroupJudge:
    """A judge that ranks the completions of one prompt, from 1.0 for the best one down to 0.0 for the worst.

    Attributes:
        brief: the settings of the judge.
        shuffle: the seed of the order in which the completions are shown.
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
        """Return the completions that get no verdict even alone, with their errors, so that only these fail.

        Such a completion is refused by the endpoint or confuses the judge.
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
        """Return the verdict, and the mapping identifier -> text for the identifiers in it."""
        identified = identifiers(excerpts, self.shuffle)
        blocks = "\n\n".join(f"{identifier}:\n{excerpts[text].text}" for identifier, text in identified.items())
        judge_prompt = self.brief.conversation(Ranking(tuple(identified)), f"To rank:\n\n{blocks}", sample)
        return await self.brief.verdict(judge_prompt), identified

    async def measured(self, calls: Awaitable[list[Any]]) -> tuple[list[Any], Tally]:
        """Return the results of one batch, and the usage of the judge for them."""
        return await metered(calls)

    def describe(self) -> str:
        """Return all settings that can change a verdict, for fingerprints."""
        return f"GroupJudge({self.brief.describe()}, {self.shuffle})"


def identifiers(texts: Iterable[str], shuffle: int) -> dict[str, str]:
    """Return a mapping identifier -> text, in an order that depends on the set of texts but not on the input order."""
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
