r"""Mathematics: ``rk.math_equal("answer")`` scores ``\boxed{0.5}`` 1.0 if "answer" is ``\frac{1}{2}``."""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, ClassVar, final

from rewardkit.batch.score import Score
from rewardkit.errors import MissingExtraError, RewardDefinitionError, WorkerDied, shorten
from rewardkit.progress.bounds import number as checked_number
from rewardkit.rewards.math_equal import statements as words
from rewardkit.rewards.math_equal.closed_form import arithmetic, decide, letters, value
from rewardkit.rewards.math_equal.notation import clean, compact, is_about, is_name, sides, split_at, wrapped
from rewardkit.rewards.math_equal.plain_numbers import Numeral, read, remainder
from rewardkit.rewards.math_equal.statements import (
    TOO_HIGH,
    TOWER,
    Family,
    Stated,
    are_least,
    families,
    is_other,
    option,
    refusal,
    renamed,
    same_families,
    stated,
    stated_once,
    with_argument_of,
    with_constant_of,
)
from rewardkit.rewards.math_equal.structure import BRACKETS, LEAF, ORDER, RELATIONS, Node, items, parse
from rewardkit.text.extractors import Extractor, TextExtractor
from rewardkit.text.final_answer import (
    COURTESY,
    bare,
    bare_answer,
    in_boxes,
    marked,
    own_words,
    stands_alone,
    stated as claimed,
)
from rewardkit.tree.gold import AcceptedGolds, against_gold
from rewardkit.tree.parameters import OnUnparsableGold
from rewardkit.tree.reward import Reward
from rewardkit.workers import worker

# Parse each gold answer once: ``Gold.of("x = 5").number`` is 5, and ``Gold.of("x = 5").name`` is ``x``.


# "\Delta p \approx 5": an approximate value after a name.
_APPROXIMATE_GOLD = re.compile(r"\\approx(?![A-Za-z])")
# A gold answer that consists of a single box.
_BOX = re.compile(r"\s*\\(?:boxed|fbox)\s*\{(.*)\}\s*", re.DOTALL)


@dataclass(frozen=True)
class Gold:
    """A parsed gold answer.

    Attributes:
        cleaned: the whole gold answer in normalized notation.
        stated: the answer without surrounding words, and its parameter's domain.
        text: the value as text, without a name before an equality sign.
        name: the value's name: ``x`` in ``x = 5``; "" if there is none.
        number: the value as a plain number; None if it is not a plain number.
        clock: the value as a time of day; None if it is not a time.
        spellings: the accepted spellings, if the answer may be words: ``even``, or ``c`` for ``(C)``.
        is_text: whether the answer consists only of words, or of notation that can be compared only as written.
        node: the value's structure.
        families: the value as a list of solution families; None if it is not such a list.
    """

    cleaned: str
    stated: Stated
    text: str
    name: str
    number: Numeral | None
    clock: tuple[int, int, int, str] | None
    spellings: tuple[str, ...]
    is_text: bool
    node: Node = field(compare=False)
    families: list[Family] | None = field(compare=False)

    @classmethod
    def of(cls, text: str) -> Gold:
        box = _BOX.fullmatch(text)
        cleaned = clean(box[1] if box else text)
        statement = stated(cleaned)
        name, text = "", statement.text
        parts = sides(text)
        if len(items(text)) == 1 and len(parts) > 1 and (is_name(parts[0]) or len(parts) > 2):
            name, text = parts[0] if is_name(parts[0]) else "", parts[-1]
        approximation = split_at(text, _APPROXIMATE_GOLD)
        if len(approximation) == 2 and is_name(approximation[0]):
            name, text = approximation  # "\\Delta p \\approx 5"
        number = read(text)
        clock = words.clock(text) if not number and ":" not in name else None
        spellings, is_text = ((), False) if number else words.spellings(cleaned)
        is_leaf = bool(number or is_text or refusal(statement.text))  # a refused text may be too deep to parse
        gold_families = (
            None if is_leaf else families(statement.text, statement.letters, is_stated=bool(statement.domain))
        )
        node = Node(LEAF, text=text) if is_leaf else parse(text)
        return cls(cleaned, statement, text, name, number, clock, spellings, is_text, node, gold_families)

    @property
    def is_relation(self) -> bool:
        """Whether the answer is a relation, which can be compared only as a whole: ``x^2 + y^2 = 25``."""
        return self.node.kind in RELATIONS

    @property
    def is_exact(self) -> bool:
        """Whether the answer can be parsed without computer algebra."""
        return all(value(leaf) != (None, None, "") for leaf in self.node.leaves())


# Find the final answer of a completion: ``FinalAnswer()(r"So it is \boxed{4}.")`` is ``4``.


# The end of a sentence: punctuation before a capital letter or a formula; not the period in "3.5" or "approx. 5".
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])")
# "So the area of the triangle is": a subject of up to 160 characters, before its value. Not "If the area is", which is
# a supposition.
_SUBJECT = re.compile(
    r"(?:\A|\b(?:So|Thus|Hence|Therefore|Then|Finally)\b,?\s+)(?:[Tt]he|[Ii]ts|[Tt]heir)\s[^.;:!?]{1,160}\s(?:is|are|"
    r"equals)\Z"
)
# Words with which a sentence denies, supposes, doubts or merely reports a value.
_DENIED = (
    r"not|never|no|none|nobody|cannot|if|when|suppose|assum\w*|guess\w*|might|(?<!that )(?<!which )could|may|would|"
    r"should|(?:a|the) possible|possibly|maybe|perhaps|likely|unlikely|wrong|incorrect|false|doubt|either|or|unless|"
    r"except|instead|error|mistake|claim\w*|says?|said|thinks?|thought|believes?|according|fake|candidates?|options|"
    r"impossible|invalid|extraneous|exclud\w+|reject\w+|discard\w+|without|ignoring"
)
# "It is not 5", "it might be 5". "That could be" in a relative clause about the subject is allowed.
_DOUBT = re.compile(rf"\b(?:{_DENIED})\b|n't\b", re.IGNORECASE)
_PARTIAL = re.compile(
    r"\b(?:almost|nearly|approximat\w*|about|around|less|more|least|most|greater|between|example|bound|one|first|"
    r"second|another|so far|partial|intermediate|estimate|contradiction|distractor|trap|to (?:subtract|avoid)|"
    r"modulo|a solution|(?<!this )case|in base|to the power|units of|answer(?:'s|, squared| (?:mod|plus|times))|some|"
    r"other|next|previous|initial|both|question|opposite|alternative|limit|minus|(?:square|cube|half|third|quarter|double|twice|triple|negative|inverse|reciprocal|multiple|"
    r"logarithm) (?:root )?of)\b",
    re.IGNORECASE,
)
"""Words in a sentence that states something near the answer, or only a part of it."""

# A number, a formula, a list of up to eight formulas, or bold text.
_VALUE = re.compile(
    r"(?:\*\*|\$|\\\()?\s*(?:[-+(\[\\]|[0-9.])[^\n]{0,120}"
    r"|\$[^$\n]{1,120}\$(?:(?:,? (?:and )?\$[^$\n]{1,120}\$){1,7}[.!]?)?"
    r"|\*\*[^*\n]{1,80}\*\*"
)
# "$x$", "$$x$$", "\(x\)", "\[x\]"; not "\$5", which is an amount of money.
_FORMULA = re.compile(
    r"(?<!\\)(?:\$\$?((?:[^$\\]|\\.)+)\$\$?|\\\(((?:[^\\]|\\[^()])+)\\\)|\\\[((?:[^\\]|\\[^\[\]])+)\\\])"
)
_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"))
_CLOSING = re.compile(r"(?:\s*(?:\n`{3}|\n-{3,}|\$?\\blacksquare\$?|∎|[QE]\.?E\.?D\.?))+\s*\Z")
"""Marks at the end of a block or a proof."""

# ". Let me know if you have questions!" after the answer; without digits, which may be an answer.
# A line break counts only with all the white space around it: "\s*\n\s*" would take cubic time.
_COURTESY = re.compile(
    rf"(?:[.!]\s*|(?<!\s)(?=[^\S\n]*\n)\s+){COURTESY.pattern}[^\n\d$.!?]{{0,160}}[.!?]?\s*\Z", re.IGNORECASE
)

# Text that may surround the only formula of the last line, or precede that line.

# "we get", "the answer is", "therefore", "=": a verb, a concluding word or a sign before the formula.
_RELATION = (
    r"(?:\b(?:is|are|equals|be|becomes|gives|gave|giving|yields|makes|get|gets|have|has|obtain|obtains|find|conclude|"
    r"costs|(?:equal|equals|simplifies|reduces|evaluates|amounts|adds? up|comes|leads|sums) to|(?:conclude|follows|"
    r"means|implies|find|see|get|have) that|so|therefore|thus|hence|then|finally|answer|solution|result|value)|"
    r"[=:\u2234\u21d2\u2192])[,*_\s]*\Z"
)
# "we get", "the sum is", "=" right before a formula.
_LEADS = re.compile(rf"[\s*_>]*\Z|.*{_RELATION}", re.IGNORECASE | re.DOTALL)
# A unit of up to three words after the formula. "million" would change the value, and "is" starts another claim.
_UNIT = re.compile(
    r"[*_\s]*[.!]?[*_]*\Z|\s?%[.!]?\Z|\s(?!(?:hundred|thousand|million|billion|trillion|dozen|squared|cubed|factorial|mod|times|is|"
    r"was|and|but|at|too|though|short|off|only|or|in|i|we|more|less|fewer|of)\b)[a-z]{2,20}(?:\s(?!\w*(?:is|was|and|or|"
    r"but|i)\b)[a-z]{2,20}){0,2}[.!]?\Z"
)
# Units that make a formula a quantity, not a step of the solution.
_MEASURED = re.compile(r"\s?(?:%|(?:percent|[ckm]?m|k?g|km/h|m/s|s|min|h|hours|degrees|dollars|units)\b)\W*\Z")
# "$5$ is the answer."
_IS_ANSWER = re.compile(
    r"(?:(?:So|Thus|Hence|Therefore),? )?(?P<value>\$[^$]+\$|\\\(.+\\\)|\*\*[^*]+\*\*|-?\d[\d.,/]*) is (?:the|my|our) "
    r"(?:final |correct )?(?:answer|solution|result)\W*\Z"
)
# "So x = 5", "Therefore, 5".
_CONCLUDED = re.compile(
    r"(?:So|Thus|Hence|Therefore|Then|Finally|In conclusion|We get),?\s(?:we (?:get|have|find)\s)?"
    r"(?=[A-Za-z]\s?=|[-\d\\])"
)
_ONLY_NUMBER = re.compile(
    r"(?:So|Thus|Hence|Therefore|Consequently|In total|Altogether|This means|This gives|It follows),?\s"
    r"[^\d$\\=]{2,120}\s(?:is|are|was|were|equals|has|have|had|makes?|gets?|needs?|spends?|pays?|earns?|costs?|(?:total|"
    r"count) of)[\s*]{1,3}"
    r"(?P<value>\\?\$?-?\d[\d,]*(?:\.\d+)?%?)(?=[\s.!*])[^\d$\\=]*\Z"
)
"""A last sentence with a single number as its conclusion: "So Tom has 42 apples"."""

# "or", "if" or "not" at the end of the previous line, which the formula continues.
_OPEN = re.compile(
    r"(?:\b(?:or|and|nor|not|never|than|if|unless|suppose|assume|of|but)|n't\b[^.\n]{0,40} that|"
    r"\bnot\b[^.\n]{0,40} that|\u2260|!=|n't)\W*\Z",
    re.IGNORECASE,
)
# The boundary before the last clause, whose words decide what the formula after it means.
_CLAUSE = re.compile(r"(?<=[.!?:])\s+|\n")
# An equality sign, but not the one in "<=" or "!=".
_EQUATION = re.compile(r"(?<![<>!\u2260\\])=")
# Two letters that do not belong to a command show that the line is a sentence.
_WORD = re.compile(r"(?<!\\)\b[a-z]{2}", re.IGNORECASE)


@final
@dataclass(frozen=True)
class FinalAnswer(TextExtractor):
    r"""An extractor for the marked answer, else the stated answer, else the formula in the last line.

    Several different boxes are read as a list, ``4, 5``. Therefore, a completion with two different boxed numbers is
    not correct if only one of them is.
    """

    def find(self, answer: str) -> str | None:
        answer = own_words(answer)
        mark = marked(answer)
        if mark is not None:
            return bare_answer(mark)
        claim = claimed(answer)
        if not claim:
            return _last_claim(answer) if claim == "" else None
        value = _value_of_subject(claim)
        return bare(value) if value else claim

    def __repr__(self) -> str:
        return "final_answer()"


def _last_claim(text: str) -> str | None:
    text = text.rstrip()
    if closing := _CLOSING.search(text, max(0, len(text) - 40)):
        text = text[: closing.start()]
    while courtesy := _COURTESY.search(text, max(0, len(text) - 240)):
        text = text[: courtesy.start()].rstrip()
    start = _last_line(text)
    before, line = text[:start], text[start:]
    if line.endswith("?") or _OPEN.search(before, max(0, len(before) - 40)):
        return None
    if value := _value_of_subject(line):
        return bare(value)
    sentence = _SENTENCE.split(line)[-1]
    if (only := _ONLY_NUMBER.match(sentence)) and not (_DOUBT.search(sentence) or _PARTIAL.search(sentence)):
        return only["value"] if stands_alone(sentence, *only.span("value")) else None
    if match := _IS_ANSWER.match(sentence):
        return bare(match["value"])
    formulas = list(_FORMULA.finditer(sentence))
    if len(formulas) > 1:
        return None
    lead, tail = (sentence[: formulas[0].start()], sentence[formulas[0].end() :]) if formulas else ("", "")
    is_alone = not lead.strip("*_> ")
    if concluded := None if formulas else _CONCLUDED.match(sentence):
        return bare(sentence[concluded.end() :])
    if is_alone and not _introduces(before if sentence == line else line[: -len(sentence)], sentence):
        return None
    if not formulas:
        return bare(line).lstrip("= ")
    if (
        (is_alone and tail.strip("*_.! ") and (before.strip() or not _MEASURED.match(tail)))
        or _DOUBT.search(lead)
        or _PARTIAL.search(lead)
        or not _LEADS.match(lead)
        or not _UNIT.match(tail)
    ):
        return None
    return "".join(formulas[0].groups("")) + tail.rstrip("*_.! ")


def _introduces(before: str, value: str) -> bool:
    """Return whether a value on a separate line after `before` may be the answer: not after "41" or "Suppose"."""
    before = before.rstrip("*_$`>- \n\t")
    if not before or value.startswith("="):
        return True
    last = _CLAUSE.split(before[-400:])[-1].strip("*_$` ")
    if _DOUBT.search(last):
        return False
    if _EQUATION.search(last):  # the previous line is a step, unless "x = 41" and "x = 42" are two results
        names = [text.strip("*_$\\[]() \n").partition("=")[0].strip() for text in (value, last)]
        return "=" not in value or names[0] != names[1]
    return bool(_LEADS.match(last)) or (last[-1:] in (".", "!") and bool(_WORD.search(last)))


def _value_of_subject(line: str) -> str | None:
    """Return the value in a last sentence such as "The largest n is 34."; None if it is denied, doubted, or unclear."""
    sentence = _SENTENCE.split(line[-400:].strip())[-1]
    for verb in (" is ", " are ", " equals "):
        start = sentence.rfind(verb)
        if start >= 0:
            subject, value = sentence[: start + len(verb) - 1], sentence[start + len(verb) :].strip()
            match = _SUBJECT.search(subject)
            if (
                match
                and not (_DOUBT.search(sentence, match.start()) or _PARTIAL.search(sentence, match.start()))
                and _VALUE.fullmatch(value)
            ):
                return value
    return None


def _last_line(text: str) -> int:
    """Return the start of the last line, or of a displayed formula at the end."""
    ending = text.rstrip(".")
    for opening, closing in _DISPLAYS:
        start = ending.rfind(opening, 0, -len(closing))
        if ending.endswith(closing) and start >= 0:
            return start
    return text.rfind("\n") + 1


# Call `computer_algebra`, which only worker processes import: ``submit("check", gold, timeout=3.0)``.


MEMORY_BYTES = 256_000_000
"""The memory that one comparison may use in addition to the loaded libraries. The limit is arbitrary: answers take a
few megabytes, and several workers share the machine."""

TOO_MUCH = (TimeoutError, MemoryError, RecursionError, WorkerDied)
"""The errors that end a comparison that takes too much time or memory."""


def submit(name: str, *arguments: Any, timeout: float, **options: Any) -> worker.Call:
    """Call a function of `computer_algebra` in a worker, which is killed after `timeout` seconds."""
    return worker.submit(_Symbolic(name, options), arguments, timeout, MEMORY_BYTES)


@dataclass(frozen=True)
class _Symbolic:
    """A function that is looked up when it is unpickled, so that the worker loads sympy before the timeout starts."""

    name: str
    options: dict[str, Any] = field(hash=False)

    def __call__(self, *arguments: Any) -> str:
        result: str = _function(self.name)(*arguments, **self.options)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self.name, self.options)


def _loaded(name: str, options: dict[str, Any]) -> _Symbolic:
    _function(name)
    return _Symbolic(name, options)


def _function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(
        importlib.import_module("rewardkit.rewards.math_equal.computer_algebra"), name
    )
    return function


# Arbitrary: answers are short, and a worker that takes more than a minute for one of them delays the run.
MAX_CHARACTERS = 2_000
MAX_SECONDS = 60.0

_APPROXIMATELY = re.compile(r"\\approx(?![A-Za-z])")
# A tower of three powers, a sum or a product. Such text must not be compared as written, as 2^{2018} is, because many
# other texts may equal it.
_HIGH_TOWER = re.compile(r"\^\{[^{}]*\^\{[^{}]*\^|\\(?:sum|prod)(?![a-z])")
# "300 \text{ K}" is 300 kelvins or 300 thousand, so it is compared only as written.
_KELVIN = re.compile(r"[-+0-9.,]+\s*\\text\s*\{\s+[KMBT]\s*\}")
# For the note only: a logarithm without a base may have base 10 or e.
_LOG = re.compile(r"\\log(?![A-Za-z_])(?!\s*_)")
# "f(x)", "g'(t)": a name, not a product.
_FUNCTION_NAME = re.compile(r"[A-Za-z]'*\([a-z]\)")
# AB and BA are the same segment.
_SEGMENT = re.compile(r"[A-Z]{2}")
# A rounded number. The group contains its decimals.
_DECIMAL = re.compile(r"-?[0-9]*\.?([0-9]*)")
# "x \in \{5\}" means x = 5. A set with two elements does not match.
_MEMBER = re.compile(r"\A[A-Za-z]\s*\\in\s*(?=\\\{[^{},]*\\\}\Z)")
# Signs in the description of a set of numbers instead of one number.
_REGION = re.compile(r"[<>]|\\(?:le|ge|ne|in)(?![A-Za-z])")


@dataclass(frozen=True)
class GoldAnswer:
    """A function that applies the gold extractor to a cell (a number or text) and parses the result as mathematics."""

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
        extracted = self.extract(value) if self.extract else value
        if extracted is None or not extracted.strip():
            raise ValueError(f"no gold answer found in {shorten(value)}")
        gold = Gold.of(extracted if self.extract else (in_boxes(extracted) or extracted))
        if words.spelled(gold.cleaned) in words.MISSING:
            raise ValueError(f"{shorten(extracted, 60)} is a missing value. Drop the row or fill in its gold answer")
        if refusal(gold.text) in (TOO_HIGH, TOWER) and not gold.is_exact and not _HIGH_TOWER.search(gold.text):
            return replace(gold, is_text=True)  # 2^{2018} is never evaluated, but equals itself
        if _KELVIN.fullmatch(gold.cleaned):
            return replace(gold, is_text=True)
        if reason := self._problem(gold):
            where = 'rk.extract.after("####")' if "####" in extracted else "rk.extract.boxed()"
            raise ValueError(
                f"{shorten(extracted, 60)} {reason}. If the column contains whole solutions, pass "
                f"gold=, such as gold={where}. Write an answer in words as \\text{{words}}. If only a reader can "
                'compare the answers, pass on_unparsable_gold="fail" and write '
                "rk.fallback(rk.math_equal(...), rk.judge(...))"
            )
        return gold

    def _problem(self, gold: Gold) -> str:
        if gold.number or gold.clock or gold.families:
            return ""
        if gold.is_text:
            is_long = "\\text" not in gold.cleaned and len(gold.cleaned.split()) > words.MAX_WORDS
            return "is a sentence, which can be written in too many ways" if is_long else ""
        if gold.is_exact and not refusal(gold.text):
            return ""
        is_notation = words.as_written_only(gold.cleaned) and not refusal(gold.cleaned)
        return "" if is_notation else _unreadable(gold.text, self.timeout)


# Arbitrary: the size only bounds memory.
@lru_cache(maxsize=10_000)
def _unreadable(text: str, timeout: float) -> str:
    if reason := refusal(text):
        return reason
    try:
        problem: str = submit("check", text, timeout=timeout).result()
        return problem
    except WorkerDied:  # possibly killed from outside, so the result must not be cached
        raise
    except TOO_MUCH as error:
        return _too_much(error, timeout)


def _too_much(error: BaseException, timeout: float) -> str:
    return f"takes more than {timeout:g} s" if isinstance(error, TimeoutError) else "takes too much memory"


@dataclass(frozen=True)
class MathEqual:
    """A function that compares an answer with the gold answer, directly if both are simple, else in a worker."""

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
            return Score(0.0, f"{shorten(cleaned, 60)} contains a negation")
        if gold.number is not None:
            return self._number(cleaned, gold, gold.number)
        if gold.is_text:
            return _unequal(cleaned, gold)
        if gold.clock:
            time = words.clock(stated(cleaned).text)
            return 1.0 if time and words.same_clock(gold.clock, time) else _unequal(cleaned, gold)
        return self._formula(cleaned, gold)

    def _number(self, cleaned: str, gold: Gold, expected: Numeral) -> float | Score | Future[float | Score]:
        statement = stated(cleaned)
        text = _MEMBER.sub("", statement.text, count=1) if gold.cleaned.startswith("\\{") else statement.text
        exact, *rounded = split_at(text, _APPROXIMATELY)
        if rounded and is_name(exact):
            exact, *rounded = rounded  # x \approx 11
        *other_sides, last = sides(exact)
        value = read(last) or read(remainder(last))
        if rounded:
            return self._rounded(last, rounded, gold, value, other_sides)
        if value is None and self.evaluated:
            return Score(0.0, f"{shorten(last, 60)} is not a number. The gold answer is {shorten(gold.cleaned, 60)}")
        if value is None:
            stated_sides = [side for side in other_sides if not is_about(side)]
            return self._decided([*stated_sides, last], gold, evaluated=False)
        if not expected.equals(value) or _other_variable(gold.name, other_sides):
            return _unequal(cleaned, gold)
        if self.evaluated and value.divided and not expected.divided:
            return Score(0.0, f"{shorten(last, 60)} still has to be evaluated")
        unparsed_sides = []
        for side in other_sides:
            if is_about(side):
                continue
            number = read(side)
            if number is None:
                unparsed_sides.append(side)
            elif not expected.equals(number):
                return Score(0.0, f"{shorten(cleaned, 60)} is not true")
        return self._decided(unparsed_sides, gold, evaluated=False) if unparsed_sides else 1.0

    def _rounded(
        self, exact: str, rounded: list[str], gold: Gold, value: Numeral | None, other_sides: list[str]
    ) -> float | Score | Future[float | Score]:
        """Score ``2\\sqrt{3} \\approx 3.46``: one side must equal the gold answer, and the other must be close."""
        ends = [_rounding(side) for side in rounded]
        if any(end is None for end in ends):
            return Score(0.0, f"{shorten(rounded[-1], 60)} is not a rounded number")
        roundings = [end for end in ends if end is not None]
        if value is not None:
            if gold.number is None or not gold.number.equals(value) or _other_variable(gold.name, other_sides):
                return _unequal(exact, gold)
            is_near = all(low < value.value < high for _, low, high in roundings)
            return 1.0 if is_near else Score(0.0, f"{shorten(rounded[-1], 60)} is not near {shorten(exact, 60)}")
        if reason := refusal(exact, exact if gold.number else gold.cleaned):
            return Score(0.0, f"{shorten(exact, 60)} {reason}")
        _, low, high = min(roundings, key=lambda end: end[2] - end[1])
        if gold.number is None:
            return self._compared([exact], gold, evaluated=self.evaluated, near=(low, high))
        if gold.number.value not in [number for number, _, _ in roundings] or gold.number.value.denominator == 1:
            return _unequal(exact, gold)
        future = submit("near", exact, low, high, timeout=self.timeout)
        return worker.chain(future, partial(self._score, exact, ""))

    def _formula(self, cleaned: str, gold: Gold) -> float | Score | Future[float | Score]:
        if cleaned.count("'") != gold.cleaned.count("'"):
            return _unequal(cleaned, gold)  # f' is not f
        exact, *rounded = split_at(cleaned, _APPROXIMATELY)
        if rounded:
            return self._rounded(sides(exact)[-1], rounded, gold, None, [])
        if reason := refusal(cleaned, gold.cleaned if self.evaluated else None):
            return Score(0.0, f"{shorten(cleaned, 60)} {reason}")
        statement = stated(with_constant_of(gold.cleaned, with_argument_of(gold.cleaned, cleaned)))
        if statement.domain != gold.stated.domain and (
            (statement.domain and gold.stated.domain)
            or (
                "R" not in (statement.domain, gold.stated.domain)
                and _bounds(gold.node, statement.letters + gold.stated.letters)
            )
            or (statement.domain != "R" and _bounds(parse(statement.text), statement.letters))
        ):
            return _unequal(cleaned, gold)
        if statement.letters and statement.letters.isalpha() and statement.letters not in statement.text:
            return Score(0.0, f"{shorten(cleaned, 60)} has no {statement.letters}")
        if gold.families and statement.domain in ("", "Z", gold.stated.domain):
            answer_families = families(statement.text, statement.letters, is_stated=True)
            verdict = same_families(gold.families, answer_families) if answer_families else None
            if verdict is not None and (
                gold.stated.domain in ("", "Z") or (not statement.domain and are_least(gold.families))
            ):
                return 1.0 if verdict else _unequal(cleaned, gold)
        text = statement.text
        if gold.stated.letters and statement.letters and len(gold.stated.letters) == len(statement.letters) == 1:
            text = renamed(text, statement.letters, gold.stated.letters)
        return self._value(text, gold)

    def _value(self, text: str, gold: Gold) -> float | Score | Future[float | Score]:
        """Compare a value, without surrounding words, with the gold answer."""
        if len(items(text)) > 1 or gold.is_relation:
            return self._decided([_solved(text, gold)], gold, evaluated=self.evaluated)
        *names, last = sides(text)
        if not names or _REGION.search(text):
            return self._decided([text], gold, evaluated=self.evaluated)
        if _other_variable(gold.name, names) or (gold.name and len(names) == 1 and not is_name(names[0])):
            # y - 2x = 1 or x = (y - 1)/2 for y = 2x + 1
            relation = replace(gold, text=gold.stated.text, node=parse(gold.stated.text))
            return self._decided([text], relation, evaluated=False)
        if wrapped(names[0])[0] == "()" and wrapped(last)[0] == "()":
            return self._decided([text], gold, evaluated=self.evaluated)
        values = [side for side in names if not is_about(side)]
        return self._decided([*values, last], gold, evaluated=self.evaluated)

    def _decided(self, stated: list[str], gold: Gold, *, evaluated: bool) -> float | Score | Future[float | Score]:
        """Check that all `stated` sides equal the gold answer and, if `evaluated`, that the last side is evaluated."""
        for side in stated:
            if reason := refusal(side, gold.cleaned if self.evaluated and evaluated else None):
                return Score(0.0, f"{shorten(side, 60)} {reason}")
        nodes = [parse(side) for side in stated]
        for side, node in zip(stated, nodes, strict=True):
            verdict = decide(gold.node, node)
            if verdict is False:
                return _unequal(side, gold)
            if verdict is None:
                return self._compared(stated, gold, evaluated=evaluated)
        left, allowed = arithmetic(nodes[-1]), arithmetic(gold.node)
        if evaluated and left is not None and allowed is not None and left > allowed:
            return Score(0.0, f"{shorten(stated[-1], 60)} still has to be evaluated")
        return 1.0

    def _compared(
        self, stated: list[str], gold: Gold, *, evaluated: bool, near: tuple[Fraction, Fraction] | None = None
    ) -> Future[float | Score]:
        arguments = (gold.text, tuple(stated), near)
        future = submit("compare", *arguments, timeout=self.timeout, evaluated=evaluated)
        return worker.chain(future, partial(self._score, stated[-1], gold.text))

    def _score(self, answer: str, gold: str, future: Future[str]) -> float | Score:
        try:
            reason = future.result()
        except TOO_MUCH as error:
            reason = _too_much(error, self.timeout)
        if reason == "is not equal" and {True, False} == {_LOG.search(text) is not None for text in (answer, gold)}:
            reason += "; \\log without a base may mean base 10 or base e: write \\ln or \\log_{10}"
        return Score(0.0, f"{shorten(answer, 60)} {reason}") if reason else 1.0


def _equals(gold: Gold) -> Score:
    return Score(1.0, f"the gold answer is {shorten(gold.cleaned, 60)}")


def _any_right(waiting: list[tuple[Gold, Future[float | Score]]], count: int) -> Score | Future[float | Score]:
    """Return 1.0 as soon as one of the `waiting` comparisons returns 1.0, or 0.0 once all have finished."""
    wrong = Score(0.0, f"equals none of {count} gold answers")
    if not waiting:
        return wrong
    decided: Future[float | Score] = Future()
    left = len(waiting)
    lock = threading.Lock()

    def finish(gold: Gold, future: Future[float | Score]) -> None:
        nonlocal left
        error = future.exception()
        is_right = error is None and future.result() == 1.0
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


def _other_variable(name: str, other_sides: list[str]) -> bool:
    """Return whether the answer names another value: ``y = 5`` for ``x = 5``, ``g(x) = x`` for ``f(x) = x``."""
    if any(side.startswith("-") and is_about(side) for side in other_sides):
        return True  # -x = 5
    return any(
        is_other(name, side) if "\\text" in name + side else name and not (is_name(side) and _same_name(name, side))
        for side in other_sides
        if is_about(side)
    )


def _same_name(gold: str, answer: str) -> bool:
    """Return whether two names can mean the same value: f(x) and y, or AB and BA, but not g(x) and y."""
    gold_name, answer_name = compact(gold), compact(answer)
    if gold_name == answer_name or (answer_name == "y" and _FUNCTION_NAME.fullmatch(gold_name)):
        return True
    if gold_name == "y" and _FUNCTION_NAME.fullmatch(answer_name):
        return answer_name.startswith("f(")
    return bool(_SEGMENT.fullmatch(gold_name)) and gold_name == answer_name[::-1]


def _bounds(node: Node, letters: str) -> bool:
    """Return whether `node` bounds one of `letters`. If so, its domain matters: ``x > 3`` is different for integers."""
    if node.kind in RELATIONS - {"="} or node.kind in (*BRACKETS, ORDER):
        return any(letter in (node.text, *node.leaves()) for letter in letters)
    return any(_bounds(part, letters) for part in node.parts)


def _solved(text: str, gold: Gold) -> str:
    """Prefix ``y = `` to an answer that is only a right side, if the gold answer is an equation in x and y."""
    is_curve = gold.node.kind == "=" and letters(gold.node) == {"x", "y"}
    node = parse(text)
    return f"y = {text}" if is_curve and node.kind == LEAF and letters(node) == {"x"} else text


def _rounding(text: str) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return a rounded number, with the bounds of the numbers from which it may have been rounded or truncated."""
    number, decimal = read(text), _DECIMAL.fullmatch(text)
    if number is None or decimal is None:
        return None
    step = Fraction(1, 10 ** len(decimal[1]))
    # Slightly more than half a step, because the bounds are exclusive, and 2.5 may be rounded to 2 or to 3.
    value, half = number.value, step * Fraction(51, 100)
    return (value, value - step, value + half) if text.startswith("-") else (value, value - half, value + step)


def math_equal(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    allow_unevaluated: bool = False,
    # Handwritten pairs take less than 1 ms (benchmarks/RESULTS.md); the limit is for formulas on which sympy hangs.
    timeout: float = 3.0,
    on_unparsable_gold: OnUnparsableGold | None = None,
) -> Reward:
    r"""Score 1.0 if the final answer equals the gold answer mathematically, else 0.0.

    ``\boxed{\frac{2}{4}}`` scores 1.0 if "answer" is ``0.5``, and ``\boxed{\sqrt{12}}`` if it is ``2\sqrt{3}``.
    ``\boxed{17 \times 24}`` scores 0.0 if "answer" is ``408``, because it only restates the question. Plain numbers and
    formulas without functions are compared exactly (0.333333 is not 1/3). All other answers are compared with sympy in
    a worker process with time and memory limits. An ambiguous answer scores 0.0.

    Args:
        column: the column with the gold answer: LaTeX with or without ``$``, text, a number, or a list of accepted
            answers.
        extract: an extractor that finds the answer. By default, ``<answer>``, else the boxes, else the text after
            ``####``, else the text after the last "The answer is", in many languages, else the last line if it is a
            result: "The area is 5", only a value, or a single formula after a relation ("we get $5$"). Several
            different boxes are read as a list.
        gold: an extractor that finds the gold answer in a cell, such as ``rk.extract.after("####")``. By default, the
            boxes in the cell, or the whole cell if there are no boxes.
        allow_unevaluated: if True, accept any equal expression. By default, the answer must be evaluated: if the gold
            answer is a number, the answer must be a number. Otherwise, it must not contain more unevaluated arithmetic
            than the gold answer.
        timeout: seconds for one comparison in the worker, at most 60. An answer that takes longer scores 0.0.
        on_unparsable_gold: the effect of an unreadable gold cell: ``"raise"`` raises a CoercionError. With ``"fail"``,
            the row has no score, and ``rk.fallback(rk.math_equal(...), rk.judge(...))`` uses the judge. The default is
            ``"fail"`` during training and ``"raise"`` otherwise.

    Raises:
        MissingExtraError: math-verify is not installed.
        CoercionError: raised while scoring if a gold cell is a missing value, or cannot be parsed as mathematics.
    """
    if find_spec("math_verify") is None or find_spec("antlr4") is None:
        raise MissingExtraError.of("rk.math_equal", "math")
    seconds = checked_number(timeout, "math_equal: timeout")
    if not 0.0 < seconds <= MAX_SECONDS:
        raise RewardDefinitionError(
            f"math_equal: timeout must be greater than 0 and at most {MAX_SECONDS:g} s, got {timeout}"
        )
    return against_gold(
        MathEqual(not allow_unevaluated, float(seconds)),
        "math_equal",
        column,
        tuple[Gold, ...],
        lambda where: AcceptedGolds(GoldAnswer(where, float(seconds))),
        extract=extract,
        gold=gold,
        default=FinalAnswer(),
        on_unparsable_gold=on_unparsable_gold,
        allow_unevaluated=(allow_unevaluated, False),
        timeout=(timeout, 3.0),
    )
