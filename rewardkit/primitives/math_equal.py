r"""Mathematics: ``rk.math_equal("answer")`` gives 1.0 to ``\boxed{0.5}`` if "answer" is ``\frac{1}{2}``."""

from __future__ import annotations

import re
import threading
from concurrent.futures import Future
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, ClassVar

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, WorkerDied, shorten
from rewardkit.core.processes import worker
from rewardkit.core.progress.bounds import number as checked_number
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.final_answer import in_boxes
from rewardkit.core.tree.gold import AcceptedGolds, against_gold
from rewardkit.core.tree.parameters import OnUnparsableGold
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.mathematics import words, workers as in_worker
from rewardkit.primitives.mathematics.exact_leaves import arithmetic, decide, letters
from rewardkit.primitives.mathematics.families import are_least, families, same_families
from rewardkit.primitives.mathematics.final_answer import FinalAnswer
from rewardkit.primitives.mathematics.gold import Gold
from rewardkit.primitives.mathematics.notation import clean, compact, is_about, is_name, sides, split_at, wrapped
from rewardkit.primitives.mathematics.plain_numbers import Numeral, read, remainder
from rewardkit.primitives.mathematics.precheck import TOO_HIGH, TOWER, refusal
from rewardkit.primitives.mathematics.statements import (
    is_other,
    option,
    renamed,
    stated,
    stated_once,
    with_argument_of,
    with_constant_of,
)
from rewardkit.primitives.mathematics.structure import BRACKETS, LEAF, ORDER, RELATIONS, Node, items, parse

MAX_CHARACTERS = 2_000
MAX_SECONDS = 60.0

_APPROXIMATELY = re.compile(r"\\approx(?![A-Za-z])")
_HIGH_TOWER = re.compile(r"\^\{[^{}]*\^\{[^{}]*\^|\\(?:sum|prod)(?![a-z])")
_KELVIN = re.compile(r"[-+0-9.,]+\s*\\text\s*\{\s+[KMBT]\s*\}")
_LOG = re.compile(r"\\log(?![A-Za-z_])(?!\s*_)")
_FUNCTION_NAME = re.compile(r"[A-Za-z]'*\([a-z]\)")
_SEGMENT = re.compile(r"[A-Z]{2}")
_DECIMAL = re.compile(r"-?[0-9]*\.?([0-9]*)")
_MEMBER = re.compile(r"\A[A-Za-z]\s*\\in\s*(?=\\\{[^{},]*\\\}\Z)")
_REGION = re.compile(r"[<>]|\\(?:le|ge|ne|in)(?![A-Za-z])")


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
        gold = Gold.of(found if self.extract else (in_boxes(found) or found))
        if words.spelled(gold.cleaned) in words.MISSING:
            raise ValueError(f"{shorten(found, 60)} is a missing value. Drop the row or fill in its gold answer")
        if refusal(gold.text) in (TOO_HIGH, TOWER) and not gold.is_exact and not _HIGH_TOWER.search(gold.text):
            return replace(gold, is_text=True)  # 2^{2018} is never evaluated, but equals itself
        if _KELVIN.fullmatch(gold.cleaned):
            return replace(gold, is_text=True)  # or thousands
        if reason := self._problem(gold):
            where = 'rk.extract.after("####")' if "####" in found else "rk.extract.boxed()"
            raise ValueError(
                f"{shorten(found, 60)} {reason}. For a column of whole solutions, pass gold=, such as gold={where}; "
                "write an answer in words as \\text{words}; for answers that only a reader can compare, pass "
                'on_unparsable_gold="fail" and write rk.fallback(rk.math_equal(...), rk.judge(...))'
            )
        return gold

    def _problem(self, gold: Gold) -> str:
        if gold.number or gold.clock or gold.families:
            return ""
        if gold.is_text:
            is_long = "\\text" not in gold.cleaned and len(gold.cleaned.split()) > words.MAX_WORDS
            return "is a sentence, which can be said in too many ways" if is_long else ""
        if gold.is_exact and not refusal(gold.text):
            return ""
        is_notation = words.as_written_only(gold.cleaned) and not refusal(gold.cleaned)
        return "" if is_notation else _unreadable(gold.text, self.timeout)


@lru_cache(maxsize=10_000)
def _unreadable(text: str, timeout: float) -> str:
    if reason := refusal(text):
        return reason
    try:
        problem: str = in_worker.submit("check", text, timeout=timeout).result()
        return problem
    except WorkerDied:  # maybe by other hands, so it must not be remembered
        raise
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
    pool: ClassVar[str] = "mathematics"

    def __call__(self, answer: str | None, gold: tuple[Gold, ...]) -> float | Score | Future[float | Score]:
        if len(gold) == 1:
            return self._compare(answer, gold[0])
        waiting = []
        for accepted in gold:
            score = self._compare(answer, accepted)
            if isinstance(score, Future):
                waiting.append((accepted, score))
            elif score == 1.0:
                return _equals(accepted)
        return _any_right(waiting, len(gold))

    def _compare(self, answer: str | None, gold: Gold) -> float | Score | Future[float | Score]:
        if answer is None:
            return Score(0.0, "no answer found")
        if len(answer) > MAX_CHARACTERS:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        cleaned = stated_once(clean(answer))
        if not cleaned:
            return Score(0.0, "no answer found")
        if "\\boxed" in cleaned or "\\fbox" in cleaned:
            return Score(0.0, "a box inside a box")
        letters_of_options = {option(cleaned), option(gold.cleaned)} - {""}
        if len(letters_of_options) > 1:
            return _unequal(cleaned, gold)
        if gold.number is None and (
            words.plain(cleaned) == words.plain(gold.cleaned) or words.spelled(cleaned) in gold.spellings
        ):
            return 1.0
        if words.denials(cleaned) - words.denials(gold.cleaned):
            return Score(0.0, f"{shorten(cleaned, 60)} denies something")
        if gold.number is not None:
            return self._number(cleaned, gold, gold.number)
        if gold.is_text:
            return _unequal(cleaned, gold)
        if gold.clock:
            time = words.clock(stated(cleaned).text)
            return 1.0 if time and words.same_clock(gold.clock, time) else _unequal(cleaned, gold)
        return self._formula(cleaned, gold)

    def _number(self, cleaned: str, gold: Gold, expected: Numeral) -> float | Score | Future[float | Score]:
        said = stated(cleaned)
        text = _MEMBER.sub("", said.text, count=1) if gold.cleaned.startswith("\\{") else said.text
        exact, *rounded = split_at(text, _APPROXIMATELY)
        if rounded and is_name(exact):
            exact, *rounded = rounded  # x \approx 11
        *others, last = sides(exact)
        value = read(last) or read(remainder(last))
        if rounded:
            return self._rounded(last, rounded, gold, value, others)
        if value is None and self.evaluated:
            return Score(0.0, f"{shorten(last, 60)} is not a number; the gold answer is {shorten(gold.cleaned, 60)}")
        if value is None:
            stated_sides = [side for side in others if not is_about(side)]
            return self._decided([*stated_sides, last], gold, evaluated=False)
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
        return self._decided(unread, gold, evaluated=False) if unread else 1.0

    def _rounded(
        self, exact: str, rounded: list[str], gold: Gold, value: Numeral | None, others: list[str]
    ) -> float | Score | Future[float | Score]:
        """Score ``2\\sqrt{3} \\approx 3.46``: one of the two is the gold answer, and the other is near it."""
        ends = [_rounding(side) for side in rounded]
        if any(end is None for end in ends):
            return Score(0.0, f"{shorten(rounded[-1], 60)} is not a rounded number")
        nearest = [end for end in ends if end is not None]
        if value is not None:
            if gold.number is None or not gold.number.equals(value) or _other_variable(gold.name, others):
                return _unequal(exact, gold)
            is_near = all(low < value.value < high for _, low, high in nearest)
            return 1.0 if is_near else Score(0.0, f"{shorten(rounded[-1], 60)} is not near {shorten(exact, 60)}")
        if reason := refusal(exact, exact if gold.number else gold.cleaned):
            return Score(0.0, f"{shorten(exact, 60)} {reason}")
        _, low, high = min(nearest, key=lambda end: end[2] - end[1])
        if gold.number is None:
            return self._compared([exact], gold, evaluated=self.evaluated, near=(low, high))
        if gold.number.value not in [number for number, _, _ in nearest] or gold.number.value.denominator == 1:
            return _unequal(exact, gold)
        future = in_worker.submit("near", exact, low, high, timeout=self.timeout)
        return worker.then(future, partial(self._score, exact, ""))

    def _formula(self, cleaned: str, gold: Gold) -> float | Score | Future[float | Score]:
        if cleaned.count("'") != gold.cleaned.count("'"):
            return _unequal(cleaned, gold)  # f' is not f
        exact, *rounded = split_at(cleaned, _APPROXIMATELY)
        if rounded:
            return self._rounded(sides(exact)[-1], rounded, gold, None, [])
        if reason := refusal(cleaned, gold.cleaned if self.evaluated else None):
            return Score(0.0, f"{shorten(cleaned, 60)} {reason}")
        said = stated(with_constant_of(gold.cleaned, with_argument_of(gold.cleaned, cleaned)))
        if said.domain != gold.stated.domain and (
            (said.domain and gold.stated.domain)
            or ("R" not in (said.domain, gold.stated.domain) and _bounds(gold.node, said.letters + gold.stated.letters))
            or (said.domain != "R" and _bounds(parse(said.text), said.letters))
        ):
            return _unequal(cleaned, gold)
        if said.letters and said.letters.isalpha() and said.letters not in said.text:
            return Score(0.0, f"{shorten(cleaned, 60)} has no {said.letters}")
        if gold.families and said.domain in ("", "Z", gold.stated.domain):
            theirs = families(said.text, said.letters, is_stated=True)
            found = same_families(gold.families, theirs) if theirs else None
            if found is not None and (
                gold.stated.domain in ("", "Z") or (not said.domain and are_least(gold.families))
            ):
                return 1.0 if found else _unequal(cleaned, gold)
        text = said.text
        if gold.stated.letters and said.letters and len(gold.stated.letters) == len(said.letters) == 1:
            text = renamed(text, said.letters, gold.stated.letters)
        return self._value(text, gold)

    def _value(self, text: str, gold: Gold) -> float | Score | Future[float | Score]:
        """Compare an answer without the words around it."""
        if len(items(text)) > 1 or gold.is_relation:
            return self._decided([_solved(text, gold)], gold, evaluated=self.evaluated)
        *names, last = sides(text)
        if not names or _REGION.search(text):
            return self._decided([text], gold, evaluated=self.evaluated)
        if _other_variable(gold.name, names) or (gold.name and len(names) == 1 and not is_name(names[0])):
            # y - 2x = 1 or x = (y - 1)/2 for y = 2x + 1
            whole = replace(gold, text=gold.stated.text, node=parse(gold.stated.text))
            return self._decided([text], whole, evaluated=False)
        if wrapped(names[0])[0] == "()" and wrapped(last)[0] == "()":
            return self._decided([text], gold, evaluated=self.evaluated)
        values = [side for side in names if not is_about(side)]
        return self._decided([*values, last], gold, evaluated=self.evaluated)

    def _decided(self, stated: list[str], gold: Gold, *, evaluated: bool) -> float | Score | Future[float | Score]:
        """Check that all stated sides equal the gold answer and the last one is evaluated."""
        for side in stated:
            if reason := refusal(side, gold.cleaned if self.evaluated and evaluated else None):
                return Score(0.0, f"{shorten(side, 60)} {reason}")
        nodes = [parse(side) for side in stated]
        for side, node in zip(stated, nodes, strict=True):
            found = decide(gold.node, node)
            if found is False:
                return _unequal(side, gold)
            if found is None:
                return self._compared(stated, gold, evaluated=evaluated)
        left, allowed = arithmetic(nodes[-1]), arithmetic(gold.node)
        if evaluated and left is not None and allowed is not None and left > allowed:
            return Score(0.0, f"{shorten(stated[-1], 60)} still has to be evaluated")
        return 1.0

    def _compared(
        self, stated: list[str], gold: Gold, *, evaluated: bool, near: tuple[Fraction, Fraction] | None = None
    ) -> Future[float | Score]:
        arguments = (gold.text, tuple(stated), near)
        future = in_worker.submit("compare", *arguments, timeout=self.timeout, evaluated=evaluated)
        return worker.then(future, partial(self._score, stated[-1], gold.text))

    def _score(self, answer: str, gold: str, done: Future[str]) -> float | Score:
        try:
            reason = done.result()
        except in_worker.TOO_MUCH as error:
            reason = _too_much(error, self.timeout)
        if reason == "is not equal" and {True, False} == {_LOG.search(text) is not None for text in (answer, gold)}:
            reason += "; \\log without a base may be that of 10 or of e: write \\ln or \\log_{10}"
        return Score(0.0, f"{shorten(answer, 60)} {reason}") if reason else 1.0


def _equals(gold: Gold) -> Score:
    return Score(1.0, f"the gold answer is {shorten(gold.cleaned, 60)}")


def _any_right(waiting: list[tuple[Gold, Future[float | Score]]], count: int) -> Score | Future[float | Score]:
    """Score 1.0 as soon as one of the comparisons does, 0.0 once all have ended."""
    wrong = Score(0.0, f"equals none of {count} gold answers")
    if not waiting:
        return wrong
    decided: Future[float | Score] = Future()
    left = len(waiting)
    lock = threading.Lock()

    def finish(gold: Gold, done: Future[float | Score]) -> None:
        nonlocal left
        error = done.exception()
        is_right = error is None and done.result() == 1.0
        with lock:
            left -= 1
            if decided.done() or not (is_right or error or left == 0):
                return
            if error:
                decided.set_exception(error)
            else:
                decided.set_result(_equals(gold) if is_right else wrong)

    for gold, score in waiting:
        score.add_done_callback(partial(finish, gold))
    return decided


def _unequal(cleaned: str, gold: Gold) -> Score:
    return Score(0.0, f"{shorten(cleaned, 60)} is not {shorten(gold.cleaned, 60)}")


def _other_variable(name: str, others: list[str]) -> bool:
    """Return whether the answer is about something else: ``y = 5`` for ``x = 5``, ``g(x) = x`` for ``f(x) = x``."""
    if any(side.startswith("-") and is_about(side) for side in others):
        return True  # -x = 5
    return any(
        is_other(name, side) if "\\text" in name + side else name and not (is_name(side) and _same_name(name, side))
        for side in others
        if is_about(side)
    )


def _same_name(gold: str, answer: str) -> bool:
    """Return whether two names can mean the same: f(x) and y, AB and BA; g(x) is not y."""
    one, other = compact(gold), compact(answer)
    if one == other or (other == "y" and _FUNCTION_NAME.fullmatch(one)):
        return True
    if one == "y" and _FUNCTION_NAME.fullmatch(other):
        return other.startswith("f(")
    return bool(_SEGMENT.fullmatch(one)) and one == other[::-1]


def _bounds(node: Node, letters: str) -> bool:
    """Return whether it bounds one of the letters: ``x > 3`` is another set if x is an integer."""
    if node.kind in RELATIONS - {"="} or node.kind in (*BRACKETS, ORDER):
        return any(letter in (node.text, *node.leaves()) for letter in letters)
    return any(_bounds(part, letters) for part in node.parts)


def _solved(text: str, gold: Gold) -> str:
    """Return ``y = ...`` for an answer that gives only the right side of an equation of x and y."""
    is_curve = gold.node.kind == "=" and letters(gold.node) == {"x", "y"}
    node = parse(text)
    return f"y = {text}" if is_curve and node.kind == LEAF and letters(node) == {"x"} else text


def _rounding(text: str) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return a rounded number, and the lowest and the highest number that it may stand for, rounded or cut off."""
    number, decimal = read(text), _DECIMAL.fullmatch(text)
    if number is None or decimal is None:
        return None
    step = Fraction(1, 10 ** len(decimal[1]))
    value, half = number.value, step * Fraction(51, 100)
    return (value, value - step, value + half) if text.startswith("-") else (value, value - half, value + step)


def math_equal(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    evaluated: bool = True,
    timeout: float = 3.0,
    on_unparsable_gold: OnUnparsableGold | None = None,
) -> Reward:
    r"""Score 1.0 if the final answer equals the gold answer mathematically, else 0.0.

    ``\boxed{\frac{2}{4}}`` scores 1.0 if "answer" is ``0.5``, and ``\boxed{\sqrt{12}}`` if it is ``2\sqrt{3}``.
    ``\boxed{17 \times 24}`` scores 0.0 if it is ``408``, because that restates the question. Plain numbers are compared
    exactly (0.333333 is not 1/3), so are formulas without functions, and everything else by sympy, in a worker process
    with limits on time and memory. What readers could read in two ways scores 0.0.

    Args:
        column: the column of the gold answer: LaTeX with or without ``$``, text, a number, or a list of accepted ones.
        extract: finds the answer; by default ``<answer>``, else the boxes, else the text after ``####``, else what the
            last "The answer is" states, in many languages, else the last line, if it is a result: "The area is 5", a
            value alone, or the only formula after a relation ("we get $5$"). Several different boxes are a list.
        gold: finds the gold answer in its cell, such as ``rk.extract.after("####")``. Without it, the boxes in the cell
            are the gold answer, else the whole cell is.
        evaluated: require an evaluated answer: a number if the gold answer is one, otherwise no more arithmetic left to
            do than in the gold answer. False accepts any equal expression.
        timeout: seconds for one comparison in the worker, at most 60; an answer that takes longer scores 0.0.
        on_unparsable_gold: what a gold cell does that cannot be read: ``"raise"`` a CoercionError, or ``"fail"``: its
            row has no score, and ``rk.fallback(rk.math_equal(...), rk.judge(...))`` asks the judge. By default it
            raises, and fails in a training.

    Raises:
        MissingExtraError: math-verify is not installed.
        CoercionError: while scoring: a gold cell that is a missing value, or cannot be read as mathematics.
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
        tuple[Gold, ...],
        lambda where: AcceptedGolds(GoldAnswer(where, float(seconds))),
        extract=extract,
        gold=gold,
        default=FinalAnswer(),
        on_unparsable_gold=on_unparsable_gold,
        evaluated=(evaluated, True),
        timeout=(timeout, 3.0),
    )
