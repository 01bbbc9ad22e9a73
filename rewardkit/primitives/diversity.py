"""Diversity: ``rk.diversity()`` gives 1.0 to an answer that nobody else of the group gave, and 0.0 where all agree.

``<answer>red</answer>``, ``<answer>Red</answer>``, ``<answer>blue</answer>`` of one prompt get 0.5, 0.5 and 1.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.core.batch.score import Score
from rewardkit.core.text.extraction import Answer, Extractor, as_extractor
from rewardkit.core.text.visibility import shown
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.gold import PlainText, bare
from rewardkit.core.tree.leaf import Leaf, expression
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.results import Contract
from rewardkit.core.tree.reward import Reward


@dataclass(frozen=True)
class Distinctness:
    """How few of the others of a group gave the same answer."""

    read: PlainText

    def __call__(self, answers: Sequence[str | None]) -> list[Score | float | None]:
        if len(answers) < 2:
            return [None] * len(answers)
        found = [self._read(answer) for answer in answers]
        counts = Counter(found)
        others = len(answers) - 1
        return [
            Score(0.0, "no answer found") if answer is None else 1.0 - (counts[answer] - 1) / others for answer in found
        ]

    def _read(self, answer: str | None) -> str | None:
        try:
            # As it looks, without marks and stops around it: "red." and a red with something invisible are no news.
            return bare(self.read(shown(answer or "")))
        except ValueError:  # empty, or too long to compare
            return None


def diversity(*, extract: Extractor | Any = None, ignore_case: bool = True) -> Reward:
    """The share of the rest of the group that answered something else.

    It pays for being different, not for being right: keep it small beside what says so, and behind a gate that demands
    some quality, or the policy learns to say anything that nobody else says.

    Args:
        extract: where the answer stands; what ``rk.extract.answer()`` finds by default. ``rk.extract.whole()`` compares
            whole completions. Where none is found the score is 0.0.
        ignore_case: compare without case. White space, what is invisible, and marks and stops around an answer make no
            difference either way.

    A completion that is alone in its group abstains.

    Raises:
        BindingError: while scoring: a process got part of a group, and cannot bring it together.
    """
    where = as_extractor(extract, Answer())
    answers = Parameter("answers", "completion", view=where)
    return Leaf(
        Binding(Distinctness(PlainText(ignore_case)), (answers,), scope="group", trusted=True),
        Contract("diversity", may_abstain=True),
        expression("diversity", extract=(extract and where, None), ignore_case=(ignore_case, True)),
    )
