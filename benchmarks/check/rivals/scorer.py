"""Scorer: a case as a function of texts, ``scorer.score("<answer>42</answer>", 0)``, that counts its calls.

All rivals get the same one. It knows how the good completion of a row writes its answer, so that a tool's answers can
be written in the form that the task asks for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from gold import Gold, column_of, gold_of

from rewardkit.batch.score import Outcome
from rewardkit.check.check import subject_of
from rewardkit.check.reward_under_test.trials import Trial, text_of

Slots = list[tuple[int, int]]
"""Where a text has its answer: start and end of each occurrence."""

_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?!\w)")
_MARKED = re.compile(
    r"<answer>\s*(.*?)\s*</answer>|\\boxed\{([^{}]*)\}|####\s*(\S.*?)\s*$|(?i:answer):\s*(\S[^\n]*?)\s*$", re.DOTALL
)


class Raised(RuntimeError):
    """The reward raised, or returned something that is not a score."""


class CannotCheck(Exception):
    """The tool is not made for such a case."""


class Scorer:
    """A case as a scorer of texts.

    Scores are mapped to [0, 1] where the reward has another scale, since the tools take 0 as nothing and 1 as full
    marks. The good, bad and empty completions say what the scale is. Calls for that are not counted.
    """

    def __init__(self, case: Any, calls: Any) -> None:
        self.case = case
        self.calls = calls
        self.subject = subject_of(case.reward, case.examples, good=case.good, bad=case.bad)
        self.rows = range(len(case.examples))
        self.good = [text_of(one) for one in case.good]
        self.bad = [text_of(one) for one in case.bad]
        good = [self._raw(one, row) for row, one in enumerate(case.good)]
        bad = [self._raw(one, row) for row, one in enumerate(case.bad)]
        empty = [self._raw(self.subject.formed(""), row) for row in self.rows]
        low, high = min([0.0, *filter(math.isfinite, bad + empty)]), max(filter(math.isfinite, good), default=1.0)
        scaled = (low < 0.0 or not 0.5 < high <= 1.0) and high - low > 1e-9
        self._low, self._span = (low, high - low) if scaled else (0.0, 1.0)
        self.full, self.wrong, self.nothing = (
            [0.0 if math.isnan(one) else self._mapped(one) for one in scores] for scores in (good, bad, empty)
        )

    def score(
        self, text: str, row: int = 0, columns: Mapping[str, Any] | None = None, *, counted: bool = True
    ) -> float | None:
        """Return the score of a text; None if the reward abstained.

        Raises:
            Raised: the reward raised.
        """
        if counted:
            self.calls.value += 1
        seen = self.subject.see([Trial(self.subject.formed(text), row, columns or None)], fresh=True)[0]
        if seen.outcome is Outcome.ERRORED:
            raise Raised(seen.reason)
        return None if math.isnan(seen.value) else self._mapped(seen.value)

    def prompt(self, row: int) -> str:
        """Return the prompt as text: the system and user messages of a chat."""
        prompt = self.case.examples[row].get("prompt") or ""
        if isinstance(prompt, str):
            return prompt
        return "\n".join(str(one.get("content") or "") for one in prompt if one.get("role") in ("system", "user"))

    @cached_property
    def golds(self) -> list[Gold]:
        """The gold answer of each row; empty if no column has it."""
        column = column_of(self.case.examples[0])
        return [] if column is None else [self._gold(column, row) for row in self.rows]

    def written(self, answer: str, row: int) -> str | None:
        """Write an answer as the good completion of the row does; None if it is unknown where its answer is."""
        slots = self._slots[row]
        return None if slots is None else _filled(self.good[row], slots, answer)

    def _mapped(self, raw: float) -> float:
        return round((raw - self._low) / self._span, 9)

    def _raw(self, completion: Any, row: int) -> float:
        try:
            return self.subject.see([Trial(completion, row)], fresh=True)[0].value
        except Exception:
            return math.nan

    def _gold(self, column: str, row: int) -> Gold:
        """Return the gold answer of a row; of several that are right, the one that the good completion gives."""
        value = self.case.examples[row][column]
        for one in value if isinstance(value, list) else ():
            given = isinstance(one, str) and one.strip() and one in self.good[row]
            if given and self._pays_fully(self.good[row], row, {column: [one]}):
                return Gold(column, value, one)
        return gold_of(column, value)

    def _pays_fully(self, text: str, row: int, columns: Mapping[str, Any] | None = None) -> bool:
        try:
            score = self.score(text, row, columns, counted=False)
        except Exception:
            return False
        return score is not None and score >= self.full[row] - 1e-6

    @cached_property
    def _slots(self) -> list[Slots | None]:
        return [self._slots_of(row) for row in self.rows]

    def _slots_of(self, row: int) -> Slots | None:
        """Find the gold answer in the good completion of a row: the same text, an equal number, or what is marked."""
        if not self.golds:
            return None
        good, gold = self.good[row], self.golds[row].text
        number, same = _number(gold), rf"(?<![\w.]){re.escape(gold)}(?!\w|\.\d)"
        proposed: list[Slots] = [
            [match.span() for match in re.finditer(same, good, re.IGNORECASE)],
            [match.span() for match in _NUMBER.finditer(good) if number is not None and _number(match[0]) == number],
            *([match.span(match.lastindex)] for match in _MARKED.finditer(good) if match.lastindex),
        ]
        return next(
            (slots for slots in proposed if slots and self._pays_fully(_filled(good, slots, gold), row)),
            None,
        )


def _filled(text: str, slots: Slots, answer: str) -> str:
    parts, end = [], 0
    for start, stop in slots:
        parts += [text[end:start], answer]
        end = stop
    return "".join([*parts, text[end:]])


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
