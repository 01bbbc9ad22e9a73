"""Exact match: ``rk.exact("answer")`` gives 1.0 to ``<answer>Paris</answer>`` where "answer" is ``Paris``."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from rewardkit.core import extraction
from rewardkit.core.algebra import Reward
from rewardkit.core.binding import Parameter
from rewardkit.core.errors import shorten
from rewardkit.core.extraction import Extractor, as_extractor
from rewardkit.core.leaf import expression, primitive
from rewardkit.core.outcome import Score

_STACK = 30
"""Marks on one character, at most, that Unicode's stream-safe text format (UAX 15) allows."""

_DOUBLE_MARKS = "\u0f73\u0f75\u0f81"
"""Characters that are no marks themselves but normalise to nothing but marks."""


@dataclass(frozen=True)
class GoldText:
    """A gold cell as text: text or an int, run through the gold's own extractor."""

    extract: Extractor | None

    def __call__(self, value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError(f"exact compares text; rk.number compares numbers such as {shorten(value)}")
        found = self.extract(value) if self.extract else value
        if found is None or not found.strip():
            raise ValueError(f"no gold answer is found in {shorten(value)}")
        return found


@dataclass(frozen=True)
class Exact:
    """Equal after normalising white space and Unicode form."""

    ignore_case: bool

    def __call__(self, answer: str | None, gold: str) -> float | Score:
        if answer is None:
            return Score(0.0, "no answer found")
        if answer == gold or self._normal(answer) == self._normal(gold):
            return 1.0
        return Score(0.0, f"{shorten(answer, 60)} is not {shorten(gold, 60)}")

    def _normal(self, text: str) -> str:
        text = " ".join(text.split())
        if not text.isascii() and not _stacked(text):
            text = unicodedata.normalize("NFC", text)
        return text.casefold() if self.ignore_case else text


def _stacked(text: str) -> bool:
    """Whether marks are piled on one character beyond all writing: sorting them takes the square of their number."""
    marks = bytes(unicodedata.combining(character) > 0 or character in _DOUBLE_MARKS for character in text)
    return b"\1" * (_STACK + 1) in marks


def exact(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    ignore_case: bool = False,
) -> Reward:
    """1.0 where the answer equals the gold answer, up to white space and Unicode form (NFC), else 0.0.

    Args:
        column: the gold answer's column; text or int.
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold answer in its cell, such as ``rk.extract.after("####")`` for raw GSM8K.
        ignore_case: compare without case (Unicode case folding).

    Raises:
        CoercionError: while scoring: a gold cell that is no text, or in which no answer is found.
    """
    where = as_extractor(extract, extraction.answer())
    gold_where = None if gold is None else as_extractor(gold, extraction.whole())
    shown = expression(
        "exact", column, extract=(extract and where, None), gold=(gold_where, None), ignore_case=(ignore_case, False)
    )
    return primitive(
        Exact(bool(ignore_case)),
        "exact",
        shown,
        Parameter("answer", "completion", view=where),
        Parameter("gold", column, annotation=Annotated[str, BeforeValidator(GoldText(gold_where))]),
    )
