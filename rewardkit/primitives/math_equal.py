r"""Mathematics: ``rk.math_equal("answer")`` gives 1.0 to ``\boxed{0.5}`` if "answer" is ``\frac{1}{2}``."""

from __future__ import annotations

import re
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, ClassVar

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, shorten
from rewardkit.core.processes import worker
from rewardkit.core.progress.bounds import number as checked_number
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.tree.gold import against_gold
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.mathematics import workers as in_worker
from rewardkit.primitives.mathematics.final_answer import FinalAnswer
from rewardkit.primitives.mathematics.formulas import Written, equal, written
from rewardkit.primitives.mathematics.notation import clean, compact, is_about, is_name, outer_brackets, sides
from rewardkit.primitives.mathematics.plain_numbers import Numeral, read
from rewardkit.primitives.mathematics.precheck import TOO_HIGH, refusal
from rewardkit.primitives.mathematics.units import differ, without_unit

MAX_CHARACTERS = 2_000
MAX_SECONDS = 60.0

_BOX = re.compile(r"\s*\\(?:boxed|fbox)\s*\{(.*)\}\s*", re.DOTALL)
_WORDS = re.compile(r"\\text\s*\{([^{}]*)\}")
_CHOICE = re.compile(r"\(?\s*([A-Za-z])\s*\)?")
_BARE_WORDS = re.compile(r"[a-z][a-z' -]*")
_CONNECTIVE = re.compile(r"\\text\s*\{\s*(and|or)\s*\}")
_INEQUALITY = re.compile(r"[<>]|\\[lg]e(?![a-z])|\\ne(?![a-z])")
_BASED = re.compile(r"([0-9A-Za-z]+)_\{([0-9]+)\}")


@dataclass(frozen=True)
class Gold:
    """A gold answer, read once.

    Attributes:
        cleaned: the whole gold answer in normal notation.
        text: the same without a name before an equality sign and without a unit.
        name: the name of the value: ``x`` in ``x = 5``.
        number: the value, if it is written as a plain number.
        spellings: the accepted spellings, if the answer may be words: ``even``, ``c`` for ``(C)``.
        is_text: whether the answer is only words.
        form: the formula, or list of formulas, if it needs no computer algebra.
    """

    cleaned: str
    text: str
    name: str
    unit: str
    number: Numeral | None
    spellings: tuple[str, ...]
    is_text: bool
    form: Written | None = field(compare=False)

    @classmethod
    def of(cls, text: str) -> Gold:
        box = _BOX.fullmatch(text)
        cleaned = clean(box[1] if box else text)
        name, value = "", cleaned
        if len(parts := sides(cleaned)) == 2 and is_name(parts[0]):
            name, value = parts
        number = read(value)
        value, unit = (value, number.unit) if number else without_unit(value)
        spellings, is_text = ((), False) if number else _spellings(cleaned)
        form = None if number or is_text else written(value)
        return cls(cleaned, value, name, unit, number, spellings, is_text, form)

    @property
    def is_relation(self) -> bool:
        """Whether it can be compared only as a whole: ``x^2 + y^2 = 25``, ``x = 1, y = 2``."""
        return len(sides(self.text)) > 1


def _spelled(cleaned: str) -> str:
    text = _WORDS.sub(r"\1", cleaned).rstrip(" .")
    choice = _CHOICE.fullmatch(text)
    return " ".join((choice[1] if choice else text).casefold().split())


def _spellings(cleaned: str) -> tuple[tuple[str, ...], bool]:
    """Return the accepted spellings of an answer in words, and whether it can only be words."""
    if based := _BASED.fullmatch(cleaned):
        return (cleaned.casefold(), based[1].casefold()), True
    spelled = _spelled(cleaned)
    is_text = ("\\text" in cleaned and not _WORDS.sub("", cleaned).strip(" .()")) or bool(_CHOICE.fullmatch(cleaned))
    return ((spelled,), is_text) if is_text or _BARE_WORDS.fullmatch(spelled) else ((), False)


@dataclass(frozen=True)
class GoldAnswer:
    """Read a gold cell as mathematics: a number, or text (after the gold extractor)."""

    extract: Extractor | None
    timeout: float

    def __call__(self, value: object) -> Gold:
        if isinstance(value, float):
            value = Decimal(repr(value))
        if isinstance(value, Decimal) and value.is_finite():
            value = format(value, "f")
        elif isinstance(value, (int, Fraction)) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError(f"not mathematics: {shorten(value)}")
        found = self.extract(value) if self.extract else value
        if found is None or not found.strip():
            raise ValueError(f"no gold answer found in {shorten(value)}")
        gold = Gold.of(found)
        if refusal(gold.text) == TOO_HIGH and not gold.form:
            return replace(gold, is_text=True)  # 2^{2018} is never evaluated, but equals itself
        if not (gold.number or gold.is_text or gold.form) and (reason := _unreadable(gold, self.timeout)):
            where = 'rk.extract.after("####")' if "####" in found else "rk.extract.boxed()"
            raise ValueError(
                f"{shorten(found, 60)} {reason}. For a column of whole solutions, pass gold=, such as gold={where}; "
                "write an answer in words as \\text{words}"
            )
        return gold


@lru_cache(maxsize=10_000)
def _unreadable(gold: Gold, timeout: float) -> str:
    if reason := refusal(gold.text):
        return reason
    try:
        problem: str = in_worker.submit("check", gold.text, timeout=timeout).result()
        return problem
    except in_worker.TOO_MUCH as error:
        return _too_much(error, timeout)


def _too_much(error: BaseException, timeout: float) -> str:
    return f"takes more than {timeout:g} s" if isinstance(error, TimeoutError) else "takes too much memory"


@dataclass(frozen=True)
class MathEqual:
    """Compare with the gold answer: directly if both are simple, else by computer algebra in a worker."""

    evaluated: bool
    timeout: float

    waits: ClassVar[bool] = True

    def __call__(self, answer: str | None, gold: Gold) -> float | Score | Future[float | Score]:
        if answer is None:
            return Score(0.0, "no answer found")
        if len(answer) > MAX_CHARACTERS:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        cleaned = clean(answer)
        if not cleaned:
            return Score(0.0, "no answer found")
        if "\\boxed" in cleaned or "\\fbox" in cleaned:
            return Score(0.0, "a box inside a box")
        if gold.number is not None:
            return self._number(cleaned, gold, gold.number)
        if compact(cleaned) == compact(gold.cleaned) or (gold.spellings and _spelled(cleaned) in gold.spellings):
            return 1.0
        if gold.is_text:
            return _unequal(cleaned, gold)
        return self._formula(cleaned, gold)

    def _number(self, cleaned: str, gold: Gold, expected: Numeral) -> float | Score | Future[float | Score]:
        *others, last = sides(cleaned)
        value = read(last)
        if value is None and self.evaluated:
            return Score(0.0, f"{shorten(last, 60)} is not a number; the gold answer is {shorten(gold.cleaned, 60)}")
        if value is None:
            stated = [side for side in others if not is_about(side)]
            return self._compared([*stated, last], gold, evaluated=False)
        if not expected.equals(value) or _other_variable(gold.name, others):
            return _unequal(cleaned, gold)
        if self.evaluated and value.divided and not expected.divided:
            return Score(0.0, f"{shorten(last, 60)} still has to be evaluated")
        unread = []
        for side in others:
            if is_about(side):
                continue
            number = read(side)
            if number is None:
                unread.append(side)
            elif not expected.equals(number):
                return Score(0.0, f"{shorten(cleaned, 60)} is not true")
        return self._compared(unread, gold, evaluated=False) if unread else 1.0

    def _formula(self, cleaned: str, gold: Gold) -> float | Score | Future[float | Score]:
        stated = sides(cleaned)
        if gold.is_relation and len(stated) == 1 and "," not in gold.text and not _CONNECTIVE.search(gold.text):
            return _unequal(cleaned, gold)  # one side of xy = 1 is not an equation
        if _connectives(cleaned, gold.cleaned) or cleaned.count("'") != gold.cleaned.count("'"):
            return _unequal(cleaned, gold)  # "and" is not "or" between inequalities, and f' is not f
        if gold.is_relation and len(stated) == 1 and (values := _named_values(gold.text)):
            cleaned = cleaned if outer_brackets(cleaned) or values[0] != "(" else f"({cleaned})"
            return self._decided([cleaned], replace(gold, text=values, form=written(values)))
        if gold.is_relation or (len(stated) > 2 and "," in cleaned):  # x = 1, y = 2
            return self._decided([cleaned], gold)
        if gold.name and len(stated) == 2 and (not is_about(stated[0]) or _other_variable(gold.name, stated[:-1])):
            # y - 2x = 1 for y = 2x + 1
            return self._decided([cleaned], replace(gold, text=gold.cleaned, form=written(gold.cleaned)))
        stated = [side for side in stated[:-1] if not is_about(side)] + stated[-1:]
        stated[-1], unit = without_unit(stated[-1])
        brackets = {outer_brackets(stated[-1]), outer_brackets(gold.text)} - {""}
        if differ(unit, gold.unit) or len(brackets) > 1:
            return _unequal(cleaned, gold)
        return self._decided(stated, gold)

    def _decided(self, stated: list[str], gold: Gold) -> float | Score | Future[float | Score]:
        decided = self._directly(stated, gold)
        return self._compared(stated, gold, evaluated=self.evaluated) if decided is None else decided

    def _directly(self, stated: list[str], gold: Gold) -> float | Score | None:
        """Return the score if neither side needs computer algebra, else None."""
        if gold.form is None:
            return None
        forms = [written(side) for side in stated]
        for side, form in zip(stated, forms, strict=True):
            found = equal(gold.form, form) if form else None
            if found is None:
                return None
            if not found:
                return _unequal(side, gold)
        if self.evaluated and forms[-1] and forms[-1].arithmetic > gold.form.arithmetic:
            return Score(0.0, f"{shorten(stated[-1], 60)} still has to be evaluated")
        return 1.0

    def _compared(self, stated: list[str], gold: Gold, *, evaluated: bool) -> Score | Future[float | Score]:
        """Check by computer algebra that all stated sides equal the gold answer and the last one is evaluated."""
        for side in stated:
            if reason := refusal(side, gold.cleaned if self.evaluated else None):
                return Score(0.0, f"{shorten(side, 60)} {reason}")
        future = in_worker.submit("compare", gold.text, tuple(stated), timeout=self.timeout, evaluated=evaluated)
        return worker.then(future, partial(self._score, stated[-1]))

    def _score(self, answer: str, done: Future[str]) -> float | Score:
        try:
            reason = done.result()
        except in_worker.TOO_MUCH as error:
            reason = _too_much(error, self.timeout)
        return Score(0.0, f"{shorten(answer, 60)} {reason}") if reason else 1.0


def _unequal(cleaned: str, gold: Gold) -> Score:
    return Score(0.0, f"{shorten(cleaned, 60)} is not {shorten(gold.cleaned, 60)}")


def _connectives(one: str, other: str) -> bool:
    """Return whether one text joins its inequalities with "and" and the other with "or"."""
    words = [set(_CONNECTIVE.findall(text)) if _INEQUALITY.search(text) else set() for text in (one, other)]
    return bool(words[0] and words[1] and words[0] != words[1])


def _named_values(text: str) -> str:
    """Return the values of ``x = 1, y = 2`` as ``(1,2)``, those of ``x = 1, x = 2`` as ``1,2``; otherwise ""."""
    parts = [sides(part) for part in text.split(",")]
    if len(parts) < 2 or not all(len(part) == 2 and is_name(part[0]) for part in parts):
        return ""
    values = ",".join(part[1] for part in parts)
    return values if len({part[0] for part in parts}) < len(parts) else f"({values})"


def _other_variable(name: str, others: list[str]) -> bool:
    """Return whether the answer is about another variable: ``y = 5`` for ``x = 5``."""
    return len(name) == 1 and any(len(side) == 1 and side.isalpha() and side != name for side in others)


def math_equal(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    evaluated: bool = True,
    timeout: float = 3.0,
) -> Reward:
    r"""Score 1.0 if the final answer equals the gold answer mathematically, else 0.0.

    ``\boxed{\frac{2}{4}}`` scores 1.0 if "answer" is ``0.5``, and ``\boxed{\sqrt{12}}`` if it is ``2\sqrt{3}``.
    ``\boxed{17 \times 24}`` scores 0.0 if it is ``408``, because that restates the question. Plain numbers are compared
    exactly (0.333333 is not 1/3); everything else by math-verify, in a worker process with limits on time and memory.

    Args:
        column: the column of the gold answer: LaTeX with or without ``$``, text, or a number.
        extract: finds the answer; by default ``<answer>``, else the boxes, else the text after ``####``, else the text
            after "answer is" or "answer:", else the only formula of the last line. Several different boxes are a list.
        gold: finds the gold answer in its cell, such as ``rk.extract.boxed()`` for whole solutions.
        evaluated: require an evaluated answer: a number if the gold answer is one, otherwise no more arithmetic left to
            do than in the gold answer. False accepts any equal expression.
        timeout: seconds for one comparison in the worker, at most 60; an answer that takes longer scores 0.0.

    Raises:
        MissingExtraError: math-verify is not installed.
        CoercionError: while scoring: a gold cell that cannot be read as mathematics.
    """
    if find_spec("math_verify") is None or find_spec("antlr4") is None:
        raise MissingExtraError.of("rk.math_equal", "math")
    seconds = checked_number(timeout, "math_equal: timeout")
    if not 0.0 < seconds <= MAX_SECONDS:
        raise RewardDefinitionError(f"math_equal: timeout must be above 0 and at most {MAX_SECONDS:g} s, got {timeout}")
    return against_gold(
        MathEqual(bool(evaluated), float(seconds)),
        "math_equal",
        column,
        Gold,
        partial(GoldAnswer, timeout=float(seconds)),
        extract=extract,
        gold=gold,
        default=FinalAnswer(),
        evaluated=(evaluated, True),
        timeout=(timeout, 3.0),
    )
