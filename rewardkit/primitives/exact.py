"""Exact match: ``rk.exact("answer")`` gives 1.0 to ``<answer>Paris</answer>`` if "answer" is ``Paris``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import shorten
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.tree.gold import GoldText, against_gold, normal
from rewardkit.core.tree.reward import Reward


@dataclass(frozen=True)
class Exact:
    """Compare two texts after normalizing white space and Unicode form."""

    ignore_case: bool

    def __call__(self, answer: str | None, gold: str) -> float | Score:
        if answer is None:
            return Score(0.0, "no answer found")
        if answer == gold or self._normal(answer) == self._normal(gold):
            return 1.0
        return Score(0.0, f"{shorten(answer, 60)} is not {shorten(gold, 60)}")

    def _normal(self, text: str) -> str:
        return normal(text, ignore_case=self.ignore_case)


def exact(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    ignore_case: bool = False,
) -> Reward:
    """Score 1.0 if the answer equals the gold answer, apart from white space and Unicode form (NFC), else 0.0.

    ``rk.exact("answer")`` gives 1.0 to ``<answer>Paris</answer>`` if the column "answer" is ``Paris``, and 0.0 if it is
    ``London``.

    Args:
        column: the column of the gold answer: text or int.
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold answer in its cell, such as ``rk.extract.after("####")`` for raw GSM8K.
        ignore_case: ignore case (Unicode case folding).

    Raises:
        CoercionError: while scoring: a gold cell that is not text, or in which no answer is found.
    """
    return against_gold(
        Exact(bool(ignore_case)),
        "exact",
        column,
        str,
        GoldText,
        extract=extract,
        gold=gold,
        ignore_case=(bool(ignore_case), False),
    )
