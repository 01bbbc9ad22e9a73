"""Diversity: ``rk.diversity()`` gives 1.0 to an answer that is unique in its group, and 0.0 if all answers agree.

For one prompt, ``<answer>red</answer>``, ``<answer>Red</answer>``, ``<answer>blue</answer>`` get 0.5, 0.5, and 1.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.batch.score import Score
from rewardkit.text.extraction import as_extractor
from rewardkit.text.extractors import Answer, Extractor
from rewardkit.text.final_answer import bare
from rewardkit.text.visibility import shown
from rewardkit.tree.binding import Binding
from rewardkit.tree.gold import PlainText
from rewardkit.tree.leaf import Leaf, expression
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.results import ReturnPolicy
from rewardkit.tree.reward import Reward


@dataclass(frozen=True)
class Distinctness:
    """The fraction of the other completions in a group that have a different answer."""

    read: PlainText

    def __call__(self, answers: Sequence[str | None]) -> list[Score | float | None]:
        if len(answers) < 2:
            return [None] * len(answers)
        readings = [self._read(answer) for answer in answers]
        counts = Counter(readings)
        other_count = len(answers) - 1
        return [
            Score(0.0, "no answer found") if answer is None else 1.0 - (counts[answer] - 1) / other_count
            for answer in readings
        ]

    def _read(self, answer: str | None) -> str | None:
        try:
            # Answers are compared as they look, without surrounding marks and periods: neither "red." nor an invisible
            # character makes an answer new.
            return bare(self.read(shown(answer or "")))
        except ValueError:  # empty, or too long to compare
            return None


def diversity(*, extract: Extractor | Any = None, ignore_case: bool = True) -> Reward:
    """Score the fraction of the group's other completions that have a different answer.

    Three completions for one prompt, ``<answer>red</answer>``, ``<answer>Red</answer>``, and ``<answer>blue</answer>``,
    get 0.5, 0.5, and 1.0. If a completion is alone in its group, the reward abstains.

    This reward favors different answers, not correct ones. Give it a small weight next to a reward for correctness, and
    put it behind a gate that requires some quality. Otherwise, the policy learns to give odd answers.

    Args:
        extract: finds the answer, by default ``rk.extract.answer()``. ``rk.extract.whole()`` compares whole
            completions. If no answer is found, the score is 0.0.
        ignore_case: ignore case. White space, invisible characters, and periods and marks (such as quotation marks)
            around an answer are always ignored.

    Raises:
        BindingError: while scoring: a process received only part of a group and cannot gather the rest.
    """
    where = as_extractor(extract, Answer())
    answers = Parameter("answers", "completion", view=where)
    return Leaf(
        Binding(Distinctness(PlainText(ignore_case)), (answers,), scope="group", trusted=True),
        ReturnPolicy("diversity", may_abstain=True),
        expression("diversity", extract=(extract and where, None), ignore_case=(ignore_case, True)),
    )
