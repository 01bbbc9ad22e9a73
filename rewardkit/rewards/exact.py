"""Exact match: ``rk.exact("answer")`` gives 1.0 to ``<answer>Paris</answer>`` if "answer" is ``Paris``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from rewardkit.batch.score import Score
from rewardkit.errors import shorten
from rewardkit.text.extractors import Extractor, TextExtractor
from rewardkit.text.final_answer import bare, bare_answer, marked, own_words, stated
from rewardkit.tree.gold import GoldTexts, against_gold, best, is_default, normal
from rewardkit.tree.reward import Reward


@final
@dataclass(frozen=True)
class FinalText(TextExtractor):
    """An extractor for the marked answer, else the stated answer, else the whole visible text."""

    def find(self, answer: str) -> str | None:
        text = own_words(answer)
        mark = marked(text)
        if mark is not None:
            bare_text = bare_answer(mark)
            words = _WORDS_OF_LATEX.fullmatch(bare_text or "")
            return words[1] if words else bare_text
        claim = stated(text)
        return text if claim == "" else claim

    def __repr__(self) -> str:
        return "final_text()"


# A LaTeX command around the whole answer: "\text{Paris}" is Paris.
_WORDS_OF_LATEX = re.compile(r"\s*\\(?:text(?:bf|it|rm)?|math(?:rm|bf))\s?\{([^{}]*)\}\s*")


@dataclass(frozen=True)
class Exact:
    """A string comparison that ignores white space and Unicode form and, if `loosely`, marks around the strings."""

    ignore_case: bool
    loosely: bool

    def __call__(self, answer: str | None, gold: tuple[str, ...]) -> float | Score:
        return best(self._compare, answer, gold)

    def _compare(self, answer: str | None, gold: str) -> float | Score:
        if answer is None:
            return Score(0.0, "no answer found")
        if answer == gold or self._normal(answer) == self._normal(gold):
            return 1.0
        if self.loosely and self._normal(bare(answer)) == self._normal(bare(gold)):
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
    """Score 1.0 if the answer equals the gold answer, else 0.0. White space and Unicode form (NFC) are ignored.

    ``rk.exact("answer")`` gives 1.0 to ``<answer>Paris</answer>`` and to ``The answer is **Paris**.`` if the column
    "answer" is ``Paris``, and 0.0 if it is ``London``.

    Args:
        column: the column with the gold answer: text, int, or a list of accepted answers.
        extract: finds the answer. By default, this is the marked answer (``<answer>``, ``\\boxed{}``, ``####``), else
            the answer in the last "The answer is", else the whole visible text. With this default, quotation marks,
            emphasis, and a final period around the answer are ignored. If you pass `extract`, the answer that it finds
            is compared unchanged.
        gold: finds the gold answer in its cell (in each item of a list), such as ``rk.extract.after("####")``. Without
            it, text that is a list of quoted strings is read as a list of accepted answers. ``rk.extract.whole()``
            keeps it as one answer, for answers that are lists themselves.
        ignore_case: ignore case (Unicode case folding).

    Raises:
        CoercionError: while scoring: a gold cell is not text, or no answer is found in it.
    """
    return against_gold(
        Exact(bool(ignore_case), is_default(extract)),
        "exact",
        column,
        tuple[str, ...],
        partial(GoldTexts, str),
        extract=extract,
        gold=gold,
        default=FinalText(),
        ignore_case=(bool(ignore_case), False),
    )
