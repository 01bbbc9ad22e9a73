"""Laws of partial credit: scores rise toward the correct answer.

A completion closer to the correct answer must not score lower, and a damaged, wordier, or overconfident completion must
not score higher.
"""

from __future__ import annotations

import ast
import math
import operator
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise, permutations, product
from typing import Any

from rewardkit.batch.messages import prompt_text
from rewardkit.check.completion.parsed_completion import (
    THINKING,
    ParsedCompletion,
    Span,
    as_number,
    numbers_in,
    replaced,
)
from rewardkit.check.exploits.documents import Document
from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import Skip, Variant, finding, law, needs_good, needs_own_code
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import score_sweep
from rewardkit.check.reward_under_test.trials import Trial, TrialResult, text_of, with_text
from rewardkit.check.variants.broken_texts import blocks_of
from rewardkit.check.variants.format_variants import rules_of
from rewardkit.check.variants.wrong_answers import leaves, other_value, with_leaf

_SENTENCE = (
    "so now we look at each part of it again and ask what follows from that before going on with the next step where "
    "some things may still change while others stay as they were because nothing else depends on them yet"
)
_PROSE = (
    "the old stone hotel stands on the shore and the tired sailor rests in its shade as the tides rise and roll on the "
    "sand then a little red train rattles in and the sailor listens to it and tells the tales he learned as a lad on "
    "the seas in the north and in the lands that lie to the east and at last he stands and lets the lantern shine in"
)
"""A text with more than 200 characters in which each letter is frequent."""
_SIZES = (0, 5, 20, 50, 100, 200, 400, 800, 1600, 3200)
"""The numbers of words to add to a correct completion."""
_DEEP = 0.1
"""The share of the whole range by which a score must rise or fall to count. Arbitrary: a smaller change may be
intended, such as a small bonus."""
_MUCH = 0.2
"""The same share for steps that may change how the rest is read, such as a tag without its other mark, or words in
another language. Arbitrary, but larger than the share above."""
_MOST_STEPS = 12
"""The maximum number of values to replace in a document. Arbitrary: a document may have thousands of leaves."""


@law(
    advice="Look for a score that is skipped if a part is missing, and give the lowest score instead",
    skip="no correct completion has two tags or a JSON object whose parts change the score",
    applies=needs_good,
    per=judged,
)
def damage_never_pays(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If a completion with more faults scores higher, partial credit leads the policy away from the answer.

    The tags in a correct completion are removed one mark at a time, and the values in its JSON object are replaced one
    at a time. No step may score higher than an earlier step.
    """
    for damage, texts in _damaged(right):
        trials = [right.trial(text) for text in (right.anatomy.text, *texts)]
        scores = subject.see(trials)
        values = [score.value for score in scores]
        if not all(score.scored for score in scores) or len(values) < 3 or max(values) == min(values):
            continue
        yield None
        slack = (_MUCH if "tag" in damage else _DEEP) * (max(values) - min(values))
        for count, trial in enumerate(trials):
            lowest = min(range(count + 1), key=lambda step: values[step])
            message = (
                f"with {_counted(count, damage)}, a correct completion scores {{score}}, but with "
                f"{_counted(lowest, damage)} "
                "{base}"
            )
            yield Variant(trial, message, "no more", trials[lowest], slack)


def _counted(number: int, damage: str) -> str:
    return f"{number} of its {damage}" if number else f"none of its {damage}"


def _damaged(right: Judged) -> Iterator[tuple[str, list[str]]]:
    """Yield kinds of damage, each with increasingly damaged texts."""
    if len(right.anatomy.blocks) > 1 and not right.judges:  # the bare answer may also count
        pieces = blocks_of(right.anatomy).pieces()
        marks = [4 * number + side for number in range(len(right.anatomy.blocks)) for side in (1, 3)]
        for order in (marks, marks[::-1]):
            texts = ["".join(_without(pieces, order[:count])) for count in range(1, len(order) + 1)]
            yield "tag marks removed", [text for text in texts if not _is_thinking_only(text)]
    document = Document.within(right.anatomy)
    if document is not None:
        damaged, texts = document.value, []
        for path, value in [*leaves(document.value)][:_MOST_STEPS]:
            damaged = with_leaf(damaged, path, other_value(value))
            texts.append(document.saying(damaged))
        yield "values replaced", texts


def _is_thinking_only(text: str) -> bool:
    """Return whether `text` ends within its thinking and therefore gives no answer."""
    return any(text.count(f"<{name}>") > text.count(f"</{name}>") for name in THINKING)


def _without(pieces: Sequence[str], indices: Sequence[int]) -> list[str]:
    return ["" if index in indices else piece for index, piece in enumerate(pieces)]


@law(
    advice="Check the signs and limits of the curve: it should rise up to the best length, and then fall",
    skip="the length of a correct completion does not change its score",
    applies=needs_good,
    per=judged,
)
def one_best_length(subject: RewardUnderTest, right: Judged) -> Iterator[Finding | None]:
    """If the score falls with the length and then rises again, the policy learns to write longer and longer
    completions.

    Words are added to a correct completion. Its score may rise and then fall, but it must not fall and then rise.
    """
    curves = [[right.trial(text) for text in _longer(right, subject.seed + draw)] for draw in range(2)]
    first, second = map(subject.see, curves)
    if len({round(score.value, 9) for score in first if score.scored}) > 2:
        yield None
    if first[0].value - first[1].value > _MUCH * _range(subject):
        return  # the length of a few words cannot cost that much
    gap = _DEEP * _range(subject)
    valley = _valley(first, gap)
    if valley is not None and _falls_and_rises(second, valley, gap):
        steps = [f"with {_SIZES[step]} words added, it scores {first[step].value:.6g}" for step in valley]
        message = f"as a correct completion grows, its score falls and then rises: {'; '.join(steps)}"
        yield finding(subject, curves[0][valley[2]], first[valley[2]], message)


def _range(subject: RewardUnderTest) -> float:
    """Return the difference between the highest and the lowest score seen."""
    values = [score.value for _, score in score_sweep(subject) if score.scored]
    return max(values, default=0.0) - min(values, default=0.0)


def _valley(scores: Sequence[TrialResult], gap: float) -> tuple[int, int, int] | None:
    """Return three indices between which the scores fall and rise again by more than `gap`, or None."""
    values = [score.value for score in scores]
    for low in range(1, len(values) - 1) if all(score.scored for score in scores) else ():
        indices = (
            max(range(low), key=lambda index: values[index]),
            low,
            max(range(low + 1, len(values)), key=lambda index: values[index]),
        )
        if _falls_and_rises(scores, indices, gap):
            return indices
    return None


def _falls_and_rises(scores: Sequence[TrialResult], indices: tuple[int, int, int], gap: float) -> bool:
    before, low, after = (scores[index].value for index in indices)
    return min(before, after) > low + gap


def _longer(right: Judged, seed: int, text: str | None = None) -> list[str]:
    """Return versions of a completion with more and more words in its thinking, or before its text.

    The words form a separate sentence. In the clause with the answer, "may" and "nothing" would deny the answer.
    """
    draw = random.Random(seed)
    words = draw.choices([word for word in _SENTENCE.split() if len(word) > 2], k=max(_SIZES))
    start = right.anatomy.thinking.body.start if right.anatomy.thinking else 0
    text = right.anatomy.text if text is None else text
    added = [" ".join(words[:size]) + ". " if size else "" for size in _SIZES]
    return [text[:start] + sentence + text[start:] for sentence in added]


@law(
    advice="Limit the part of the score that depends on length, and add it only for correct answers",
    skip="no trial showed that the reward judges answers",
    applies=needs_own_code,
    per=judged,
    turn=Turn.EARLY,
)
def correctness_outweighs_length(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If length changes the score by more than correctness, the policy learns a length instead of the task.

    An incorrect answer with thousands of words must score less than the correct completion. A correct completion must
    not lose so much with each word that it scores less than a short incorrect answer.
    """
    wrong = next((text for text, score in right.honest if score.scored and not right.paid(score)), None)
    if wrong is None or not right.judges:
        return
    yield None
    short = right.trial(wrong)
    start, end = (right.trial(text) for text in _longer(right, subject.seed)[-2:])
    *_, long_wrong = _longer(right, subject.seed, wrong)
    yield Variant(
        right.trial(long_wrong),
        f"an incorrect answer with {_SIZES[-1]} more words scores {{score}}",
        base=right.as_given,
    )
    before, after = subject.see([start, end])
    lowest = min(score.value for _, score in right.honest if score.scored)
    # The penalty has no limit. Similarity only falls to the score of an unrelated text.
    if after.scored and before.scored and after.value < min(before.value, 2 * lowest - right.value):
        message = f"a correct completion with {_SIZES[-1]} more words scores {{score}}, but an incorrect one {{base}}"
        yield Variant(end, message, "no less", short)


@law(
    advice="Divide by the length, or limit the number of items that count",
    skip="no gold answer is text with partial credit",
    applies=needs_good,
    per=judged,
)
def long_texts_like_short_ones(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If the same mistake costs more in a long text than in a short text, the policy learns to write short texts.

    For example, ``difflib.SequenceMatcher`` ignores frequent letters in strings of 200 characters or more. The gold
    text for a reward with partial credit is replaced with a long text. The first word is removed from the long text and
    from the short text.
    """
    anatomy = right.anatomy
    gold = anatomy.gold
    # Five words: a shorter answer without its first word may be right or nonsense.
    if not right.judges or not isinstance(anatomy.value, str) or len(gold.split()) < 5 or gold != anatomy.value:
        return
    short = right.trial(anatomy.saying(gold.split(" ", 1)[1]))
    prose, slip = (
        replace(right.trial(anatomy.saying(text)), columns={anatomy.column: _PROSE})
        for text in (_PROSE, _PROSE.split(" ", 1)[1])
    )
    in_part, full, in_long = subject.see([short, prose, slip])
    if right.paid(full) and in_part.scored and in_long.scored and not right.paid(in_part):
        message = (
            f"without its first word, a text of {len(_PROSE)} characters scores {{score}}, but a text of "
            f"{len(gold)} characters scores {{base}}"
        )
        yield Variant(slip, message, "no less", short, _DEEP * _range(subject))


def _not_in_english_alone(subject: RewardUnderTest) -> None:
    """Raise `Skip` if all examples are in English."""
    needs_good(subject)
    text = str([(example.shown, example.good, example.bad) for example in subject.examples])
    if text.isascii() and not any("lang" in name for example in subject.examples for name in example.columns):
        raise Skip("the examples are in English")


@law(
    advice="Also count repeated characters if a script has no spaces",
    skip="no trial showed that repetition lowers the score",
    applies=_not_in_english_alone,
    per=judged,
)
def repetition_in_any_script(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """A repetition penalty that splits text at spaces does not detect repeated words in Chinese, Japanese, or Thai.

    If a repeated English phrase lowers the score, a repeated Chinese phrase must also lower it. The law applies if not
    all examples are in English.
    """
    # Long enough that no reward can ignore the text as too short.
    english, chinese = (right.trial(text) for text in ("the sky is blue and " * 40, "天空是蓝色的海水也是" * 40))
    first, second = subject.see([english, chinese])
    if first.scored and second.scored and first.value <= right.value - _DEEP * _range(subject):
        message = "a phrase repeated 40 times scores {base} in English, but {score} in Chinese"
        yield Variant(chinese, message, "no more", english, (right.value - first.value) / 2)


# Arithmetic: the expression in a right completion of a countdown task, and other expressions of the same numbers.


# "3 + 4 × (5 - 1)", also with x for times; no other letters, and no "=", because the text is cut before it.
_EXPRESSION = re.compile(r"[\d\s+\-*/()×÷x]+")
_OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_NODES: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_MOST_NUMBERS = 5
"""The maximum number of numbers in an expression. Six numbers have 720 orders with 1,024 choices of operators each.
Five numbers have 30,720 expressions in all."""
_MOST = 4_000
"""The maximum number of expressions to try. Arbitrary: 4,000 expressions take 0.06 s, and some of them are near
misses."""


@dataclass(frozen=True)
class Expression:
    """An arithmetic expression and its position in a completion.

    Attributes:
        text: the text of the completion.
        span: the expression's span.
        numbers: the numbers in the expression.
        value: the expression's value.
        target: the name of the column that contains the value, or "" if only the rules state it.
    """

    text: str
    span: Span
    numbers: tuple[int, ...]
    value: Fraction
    target: str

    def saying(self, expression: str) -> str:
        """Return the completion with `expression` in place of the correct expression."""
        return replaced(self.text, [(self.span, expression)])

    def others(self) -> Iterator[tuple[str, Fraction]]:
        """Yield other expressions with the same numbers, together with their values."""
        orders = permutations(self.numbers)
        signs = list(product("+-*/", repeat=len(self.numbers) - 1))
        for order, chosen in islice(((order, chosen) for order in orders for chosen in signs), _MOST):
            expression, value = str(order[0]), Fraction(order[0])
            try:
                for sign, number in zip(chosen, order[1:], strict=True):
                    expression, value = f"({expression} {sign} {number})", _OPERATORS[sign](value, Fraction(number))
            except ZeroDivisionError:
                continue
            yield expression[1:-1], value


def expression_in(anatomy: ParsedCompletion, columns: Mapping[str, Any], rules: str = "") -> Expression | None:
    """Return the expression that a correct completion marks as its answer.

    It is None if neither a column nor the `rules` of the task have its value.
    """
    if not anatomy.marked:
        return None
    body = anatomy.region.of(anatomy.text)
    expression_text = body.split("=")[0]
    # "3 + 4" is an expression; "3 4" and "-5" are not.
    if not _EXPRESSION.fullmatch(expression_text) or not re.search(r"\d\s*[-+*/×÷x]\s*[\d(]", expression_text):
        return None
    value = _value(expression_text.replace("×", "*").replace("x", "*").replace("÷", "/").strip())
    if value is None:
        return None
    numbers = tuple(map(int, re.findall(r"\d+", expression_text)))
    if not 2 <= len(numbers) <= _MOST_NUMBERS:
        return None
    target = next((name for name, cell in columns.items() if _is_number(cell) and Fraction(cell) == value), "")
    is_stated = value.denominator == 1 and re.search(rf"(?<![\d.]){value}(?![\d.]*\d)", rules) is not None
    if not (target or is_stated) or not any(_numbers(cell) == sorted(numbers) for cell in columns.values()):
        return None
    start = anatomy.region.start + len(expression_text) - len(expression_text.lstrip())
    return Expression(anatomy.text, Span(start, start + len(expression_text.strip())), numbers, value, target)


def _is_number(cell: Any) -> bool:
    return type(cell) is int or (isinstance(cell, float) and math.isfinite(cell))


def _numbers(cell: Any) -> Sequence[Any]:
    is_list = isinstance(cell, (list, tuple)) and all(map(_is_number, cell))
    return sorted(cell) if is_list else []


def _value(expression: str) -> Fraction | None:
    try:
        return _evaluate(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _evaluate(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in _NODES:
        return _NODES[type(node.op)](_evaluate(node.left), _evaluate(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    raise ValueError("no arithmetic")


_FAR = Fraction(1, 20)
"""The distance from which a value certainly misses the target. Arbitrary: far above rounding errors."""
# Arbitrary errors: below and above one half, one, and two.
_STEPS = tuple(map(Decimal, ("0.4", "0.9", "1", "2")))
_DISTANCES = frozenset(("abs", "fabs", "isclose"))
"""Functions that a reward calls to measure the distance of an answer from the gold answer."""
_GRADES = 4
"""The number of distinct scores on the way to the gold answer that indicates partial credit. A correct answer, an
incorrect answer, and no answer account for three."""
# Arbitrary errors relative to the gold answer, from a tight to a loose tolerance.
_SHARES = tuple(map(Decimal, ("0.001", "0.01", "0.04")))


@law(
    advice="Make each step toward the correct answer score more",
    skip="no rankings: pass declarations=Declarations(rankings=[...])",
)
def improves_along_rankings(subject: RewardUnderTest) -> Iterator[Variant]:
    """If a better completion scores lower, partial credit teaches the policy to write worse completions.

    This law checks the declared rankings. It also checks answers that come closer and closer to a numeric gold answer,
    if the column is annotated as a number or these answers are observed to score higher and higher.
    """
    rankings = [
        ([Trial(completion, number) for completion in ranking], "declared better")
        for number, ranking in subject.declarations.rankings
    ]
    for trials, reason in (*rankings, *_closer(subject)):
        for before, after in pairwise(trials):
            message = f"is {reason} than a completion that scores {{base}}, but it scores {{score}}"
            # The slack allows for rounding errors.
            yield Variant(after, message, "no less", before, slack=1e-6)


def _closer(subject: RewardUnderTest) -> Iterator[tuple[list[Trial], str]]:
    """Yield series of numbers that approach a gold answer from either side, if the reward measures the distance."""
    for right in judged(subject):
        number = as_number(right.anatomy.value)
        declared = _numeric(subject, right.anatomy.column)
        if number is None or number == 0 or not right.judges or not (declared or subject.mined.names & _DISTANCES):
            continue
        for sign in (1, -1):
            # Steps toward the answer from both sides, smaller near the end, where tolerances apply.
            factors = (10, 5, 3, 2, 1.5, 1.25, 1.1) if sign == 1 else (0, 0.25, 0.5, 0.75, 0.9)
            is_integer = number == number.to_integral_value()
            answers = [float(number) * factor for factor in factors]
            is_whole = is_integer and (abs(number) >= 20 or asks_for_whole_numbers(subject, right))
            texts = [str(round(answer)) if is_whole else f"{answer:.6g}" for answer in answers]
            # Rounded steps below 20 may be equal.
            texts = [text for text in dict.fromkeys(texts) if text != right.anatomy.gold]
            if len(texts) > 1:
                trials = [right.trial(right.anatomy.saying(text)) for text in [*texts, right.anatomy.gold]]
                if declared or len({round(score.value, 9) for score in subject.see(trials)}) >= _GRADES:
                    yield trials, "closer to the gold answer"


_WHOLE = re.compile(
    r"(?i)\bwhole (?:number|score|point|mark|dollar|unit)|\bintegers?\b|\bnatural number|\bhow many\b|\bnumber of\b"
    r"|\bscale (?:of|from)\b|\b(?:rat(?:e|ing)|score|grade|marks?|points?)\b[^.\n]{0,30}\b\d+\s?(?:to|-|–|/|and)\s?\d+"
)
"""Matches prompts that ask for whole numbers: "as an integer", "How many", "Rate it from 1 to 10"."""


_HALVES = re.compile(r"(?i)\bsteps? of 0?\.\d|\bhal(?:f|ves)\b|\bdecimals?\b")
"""Matches prompts that allow numbers that are not whole: "from 0 to 10 in steps of 0.5"."""


def asks_for_whole_numbers(subject: RewardUnderTest, right: Judged) -> bool:
    """Return whether the prompt asks for whole numbers, or the gold column is annotated as an int."""
    column = right.anatomy.column
    is_int = any(
        parameter.source == column and parameter.annotation is int
        for _, binding in subject.bindings
        for parameter in binding.parameters
    )
    prompt = prompt_text(subject.examples[right.example].prompt)
    return is_int or (_WHOLE.search(prompt) is not None and not _HALVES.search(prompt))


def _numeric(subject: RewardUnderTest, column: str) -> bool:
    return any(
        parameter.source == column and parameter.annotation in (float, int)
        for _, binding in subject.bindings
        for parameter in binding.parameters
    )


@law(
    advice="Use the absolute distance: abs(said - gold)",
    skip="no trial showed that the reward judges a numeric gold answer",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def errors_on_both_sides(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If 42.9 counts as 42 but 41.1 does not (digits are cut off, or a sign is lost), the policy learns to err upward.

    Numbers equally far above and below the gold answer must score the same if one of them scores as high as the correct
    answer.
    """
    gold = right.anatomy.gold
    number = as_number(gold)
    # The column must have exactly the number in the completion: an estimate already has an error.
    if number is None or not right.judges or as_number(right.anatomy.value) != number or abs(number) < 1:
        return
    yield None
    is_whole = asks_for_whole_numbers(subject, right)
    for step in (*_STEPS, *(abs(number) * share for share in _SHARES)):
        if step * 2 >= abs(number) or (is_whole and step != step.to_integral_value()):
            continue
        texts = [format((number + error).normalize(), "f") for error in (step, -step)]
        trials = [right.trial(right.anatomy.saying(text)) for text in texts]
        scores = subject.see(trials)
        paid = [right.paid(score) for score in scores]
        if all(score.scored for score in scores) and paid[0] != paid[1]:
            high, low = (0, 1) if paid[0] else (1, 0)
            message = (
                f"for the gold answer {gold}, {texts[high]} scores {{score}} and {texts[low]}, which is just as "
                f"near, scores {scores[low].value:.6g}"
            )
            yield Variant(trials[high], message)


@law(
    advice="Compare the value exactly, with fractions.Fraction or a tolerance of 1e-6",
    skip="no correct completion is an expression of numbers whose value is in a column or the prompt",
    applies=needs_good,
    per=judged,
)
def expressions_are_exact(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If 23.5 or the bare target counts as an expression for 23 in a countdown task, the policy does not need to
    calculate anything.

    The numbers in a correct expression are combined into values near the target. They are also combined into fractions,
    with the whole number below or above the fraction as the target. ``8 / (3 - 8 / 3)``, which is 24 but not in floats,
    must score as high as ``6 / (1 - 3 / 4)``.
    """
    columns = subject.examples[right.example].columns
    rules = "\n".join(rules_of(subject, [subject.examples[right.example]]))
    right_expression = expression_in(right.anatomy, columns, rules) if right.judges else None
    if right_expression is None:
        return
    for expression, target in _near_misses(right_expression):
        if right_expression.target or target == right_expression.value:
            message = f"{expression} scores {{score}} for the target {target}"
            yield Variant(_saying(right, right_expression, expression, target), message)
    numbers = next(name for name, cell in columns.items() if _numbers(cell) == sorted(right_expression.numbers))
    if right_expression.target or right_expression.value == _IN_FLOATS[2]:
        exact, inexact = (
            _saying(right, right_expression, expression, _IN_FLOATS[2], {numbers: type(columns[numbers])(cards)})
            for expression, cards in _IN_FLOATS[:2]
        )
        if right.paid(subject.see([exact])[0]):
            message = (
                f"{_IN_FLOATS[1][0]} scores {{score}} for the target {_IN_FLOATS[2]}: compare fractions, not floats"
            )
            yield Variant(inexact, message, "no less", exact)


_IN_FLOATS = (("6 / (1 - 3 / 4)", (1, 3, 4, 6)), ("8 / (3 - 8 / 3)", (3, 3, 8, 8)), 24)
"""Two expressions with their numbers, and their value. In floats, the first is exact, and the second is not."""


def _saying(
    right: Judged, right_expression: Expression, expression: str, target: int, more: Mapping[str, Any] | None = None
) -> Trial:
    """Return a trial of another expression, with `target` in the column with the target, and `more` columns."""
    columns = {right_expression.target: target} if right_expression.target else {}
    return Trial(right.saying(right_expression.saying(expression)), right.example, {**columns, **(more or {})} or None)


def _near_misses(right: Expression) -> Iterator[tuple[str, int]]:
    """Yield expressions with the same numbers, each with a target that the expression misses."""
    target = int(right.value)
    if target not in right.numbers:
        yield str(target), target
    variants = list(right.others())
    near = [(abs(value - target), expression) for expression, value in variants if _FAR <= abs(value - target) < 1]
    yield from ((expression, target) for _, expression in sorted(near)[:3])
    broken = [(expression, value) for expression, value in variants if value > 1 and _FAR < value % 1 < 1 - _FAR]
    for expression, value in broken[:3]:
        yield from ((expression, integer) for integer in (math.floor(value), math.ceil(value)))


# "Confidence: 80" and "a probability of 0.8". The word must come first: "80 apples, I am sure" states none.
_NAMED = re.compile(r"(?i)(?:confiden|probab|certain|\bsure|likelihood)[^\n]{0,20}\Z")
_STATED_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""The stated confidences to try: steps of 0.05 from 0.05 to 0.95, since logarithmic scores are infinite at 0 and 1."""
_DISHONEST = 0.15
"""The maximum distance between the true probability and the best probability to state: three steps between the
confidences that are tried. A proper score is best at the true probability, or at most one step away."""
_GAIN = 0.01
"""The share of the whole range by which a false statement must score higher to count. Arbitrary, but above rounding
errors."""


@law(
    advice="Use a proper scoring rule, such as 1 - (confidence - right) ** 2, for 0 to 1",
    skip="no completion states a confidence that changes its score",
    applies=needs_good,
)
def confidence_is_honest(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """If overstating confidence raises the score, the policy learns to be overconfident.

    The confidence stated in a correct completion and in an incorrect completion is varied. A scoring rule is proper
    (Gneiting and Raftery 2007) if a model that is correct with probability p expects the highest score for stating p.
    """
    forecasts: dict[bool, tuple[list[Trial], list[float]]] = {}
    for number, example in enumerate(subject.examples):
        for good, bad in zip(example.good, example.bad, strict=False):
            pair = [_confidence_span(text_of(completion)) for completion in (good, bad)]
            if pair[0] is None or pair[1] is None:
                continue
            trials = [
                [
                    Trial(with_text(completion, _with_confidence(text_of(completion), position, share)), number)
                    for share in _STATED_SHARES
                ]
                for completion, position in ((good, pair[0]), (bad, pair[1]))
            ]
            right, wrong = ([score.value for score in subject.see(row)] for row in trials)
            if not all(value == value for value in (*right, *wrong)) or len({*right, *wrong}) < 3:
                continue
            if right == wrong:  # a forecast: the reward compares only the stated confidence with the outcome
                forecasts[_share(text_of(good), pair[0]) > 0.5] = trials[0], right
                if len(forecasts) < 2:
                    continue
                (trials[0], right), (trials[1], wrong) = forecasts[True], forecasts[False]
            yield None
            incentive = _dishonest(right, wrong)
            if incentive is not None:
                truth, claim = incentive
                position = _STATED_SHARES.index(claim)
                message = (
                    f"a model that is correct in {truth:.0%} of its answers scores highest on average if it states "
                    f"{claim:.0%}: a correct answer then scores {right[position]:.6g}, and an incorrect one scores "
                    f"{wrong[position]:.6g}"
                )
                trial = trials[0][position]
                (score,) = subject.see([trial])
                yield finding(subject, trial, score, message)


def _confidence_span(text: str) -> Span | None:
    """Return the span of a stated confidence, or None if there is none."""
    return next((span for span in reversed(numbers_in(text)) if _NAMED.search(text[: span.start])), None)


def _share(text: str, span: Span) -> float:
    return float(as_number(span.of(text)) or 0) / (100 if _in_percent(text, span) else 1)


def _with_confidence(text: str, span: Span, share: float) -> str:
    return replaced(text, [(span, f"{share * 100:.0f}" if _in_percent(text, span) else f"{share:g}")])


def _in_percent(text: str, span: Span) -> bool:
    stated = as_number(span.of(text))
    return text[span.end :].lstrip().startswith("%") or (stated is not None and stated > 1)


def _dishonest(right: Sequence[float], wrong: Sequence[float]) -> tuple[float, float] | None:
    """Return a true probability and another one that scores higher if it is stated instead, or None."""
    spread = max(*right, *wrong) - min(*right, *wrong)
    # 0.7 first: if the score is linear in the confidence, stating 0.95 already scores higher there.
    for truth in (0.7, 0.3, 0.5, 0.9):
        expected = [
            truth * right_score + (1 - truth) * wrong_score
            for right_score, wrong_score in zip(right, wrong, strict=True)
        ]
        best = max(range(len(expected)), key=lambda index: expected[index])
        gain = expected[best] - expected[_STATED_SHARES.index(truth)]
        if abs(_STATED_SHARES[best] - truth) > _DISHONEST and gain > _GAIN * spread:
            return truth, _STATED_SHARES[best]
    return None
