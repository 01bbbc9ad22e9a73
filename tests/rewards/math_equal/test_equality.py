"""Laws of equality: what formatting cannot change, and what must stay different."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

import rewardkit as rk

_SMALL = st.integers(-30, 30)
_POSITIVE = st.integers(1, 30)


def scores(gold: str, answers: list[str], *, allow_unevaluated: bool = False) -> list[float]:
    completions = [f"So it is \\boxed{{{answer}}}." for answer in answers]
    table = rk.score(
        rk.math_equal("answer", allow_unevaluated=allow_unevaluated), completions, answer=[gold] * len(answers)
    )
    found: list[float] = table.total.tolist()
    return found


_FRACTION = st.builds("\\frac{{{}}}{{{}}}".format, _SMALL, st.integers(2, 9))
_ROOT = st.builds("{}\\sqrt{{{}}}".format, st.integers(2, 9), st.sampled_from([2, 3, 5, 7]))
_VALUE = st.one_of(_SMALL.map(str), _FRACTION, _ROOT, st.builds("{}\\pi".format, st.integers(2, 9)))
_POLYNOMIAL = st.builds("{}x^2 + {}x - {}".format, st.integers(2, 9), st.integers(2, 9), _POSITIVE)
_FUNCTION = st.builds("{}\\{} {}".format, st.integers(2, 9), st.sampled_from(["ln", "arctan"]), st.integers(2, 7))
_TUPLE = st.lists(_VALUE, min_size=2, max_size=4).map(lambda values: f"({', '.join(values)})")
_SET = st.lists(_VALUE, min_size=2, max_size=4, unique=True).map(lambda values: f"\\{{{', '.join(values)}\\}}")
_INTERVAL = st.tuples(_SMALL, _POSITIVE, st.sampled_from("(["), st.sampled_from(")]")).map(
    lambda parts: f"{parts[2]}{parts[0]}, {parts[0] + parts[1]}{parts[3]}"
)
_EQUATION = st.builds("y = {}x + {}".format, st.integers(2, 9), _POSITIVE)
_ANSWER = st.one_of(_VALUE, _POLYNOMIAL, _FUNCTION, _TUPLE, _SET, _INTERVAL, _EQUATION)
_DRESSES = [
    "{}", " {} ", "{}.", "${}$", "\\({}\\)", "\\[{}\\]", "\\displaystyle {}", "\\mathbf{{{}}}", "**{}**", "$${}$$",
    "\\!{}\\!", "{}\\,", "\\;{}",
]  # fmt: skip
_REWRITES = [
    ("\\frac", "\\dfrac"), ("\\frac", "\\tfrac"), ("(", "\\left("), (")", "\\right)"), (", ", ","), (", ", ",\\ "),
    (" + ", "+"), ("^2", "^{2}"), ("\\sqrt", "\\sqrt "), ("\\pi", " \\pi"), ("-", "\u2212"), (" = ", "="),
]  # fmt: skip


@given(_ANSWER, st.sampled_from(_DRESSES), st.lists(st.sampled_from(_REWRITES), max_size=4))
def test_formatting_that_means_nothing_changes_nothing(
    answer: str, dress: str, rewrites: list[tuple[str, str]]
) -> None:
    written = answer
    for old, new in rewrites:
        if "\\left" not in new and "\\right" not in new:
            written = written.replace(old, new)
    written = dress.format(written)
    assert scores(answer, [written, answer]) == [1.0, 1.0]
    assert scores(written, [answer]) == [1.0]


@given(_TUPLE, st.sampled_from(["\\left({}\\right)", "\\bigl({}\\bigr)"]))
def test_the_size_of_brackets_means_nothing(answer: str, sized: str) -> None:
    assert scores(answer, [sized.format(answer[1:-1])]) == [1.0]


@given(st.lists(_SMALL, min_size=2, max_size=4), st.integers(0, 3), st.sampled_from([1, -1, 10, 100]))
def test_a_tuple_with_another_element_is_another_tuple(elements: list[int], place: int, change: int) -> None:
    other = list(elements)
    other[place % len(other)] += change
    written = [", ".join(map(str, values)) for values in (elements, other)]
    assert scores(f"({written[0]})", [f"({written[1]})", written[1], f"({written[1].replace(' ', '')})"]) == [0.0] * 3


@given(st.permutations([1, 2, 3, 234]), st.permutations([1, 2, 3, 234]))
def test_the_order_of_a_tuple_counts_and_that_of_a_set_does_not(one: list[int], other: list[int]) -> None:
    first, second = (",".join(map(str, values)) for values in (one, other))
    assert scores(f"({first})", [f"({second})"]) == [float(one == other)]
    assert scores(f"\\{{{first}\\}}", [f"\\{{{second}\\}}"]) == [1.0]


@given(st.lists(st.integers(0, 999), min_size=2, max_size=4, unique=True))
def test_commas_in_brackets_never_separate_thousands(elements: list[int]) -> None:
    tight = ",".join(map(str, elements))
    number = "".join(f"{element:03}" for element in elements).lstrip("0") or "0"
    for opening, closing in ("()", "[]", ("\\{", "\\}")):
        gold = f"{opening}{tight}{closing}"
        assert scores(gold, [number, f"{int(number):,}"]) == [0.0, 0.0]
        assert scores(gold, [f"{opening}{', '.join(map(str, elements))}{closing}"]) == [1.0]
    assert scores(number, [f"({tight})", f"[{tight}]"]) == [0.0, 0.0]


@given(_VALUE.filter(lambda text: not text.startswith(("0", "\\frac{0"))))
def test_another_sign_and_another_size_are_other_answers(answer: str) -> None:
    plain = answer.removeprefix("-")
    opposite = plain if answer.startswith("-") else f"-{answer}"
    if plain.startswith("\\frac{-"):
        opposite = plain.replace("{-", "{", 1)
    assert (
        scores(answer, [opposite, f"10 {answer}", f"{answer} \\cdot 10", f"\\pm {plain}"], allow_unevaluated=True)
        == [0.0] * 4
    )


@given(_SMALL, _POSITIVE, st.sampled_from("(["), st.sampled_from(")]"))
def test_the_ends_of_an_interval_count(low: int, length: int, left: str, right: str) -> None:
    high = low + length
    signs = {"(": "<", "[": "\\le", ")": "<", "]": "\\le"}
    gold = f"{left}{low}, {high}{right}"
    same = f"{low} {signs[left]} x {signs[right]} {high}"
    other_left, other_right = "([".replace(left, ""), ")]".replace(right, "")
    others = [
        f"{other_left}{low}, {high}{right}",
        f"{left}{low}, {high}{other_right}",
        f"{left}{low}, {high + 1}{right}",
        f"{left}{low - 1}, {high}{right}",
    ]
    assert scores(gold, [gold, same, f"x \\in {gold}"]) == [1.0, 1.0, 1.0]
    assert scores(gold, others) == [0.0] * len(others)
    assert scores(f"{low}, {high}", [same]) == [0.0]


@given(st.permutations(["x", "y", "z"]), st.lists(_SMALL, min_size=3, max_size=3))
def test_named_values_may_be_in_any_order_but_not_exchanged(names: list[str], values: list[int]) -> None:
    gold = f"x = {values[0]}, y = {values[1]}, z = {values[2]}"
    valued = dict(zip("xyz", values, strict=True))
    assert scores(gold, [", ".join(f"{name} = {valued[name]}" for name in names)]) == [1.0]
    mixed = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    is_same = all(valued[name] == value for name, value in zip(names, values, strict=True))
    assert scores(gold, [mixed]) == [float(is_same)]
    assert scores(", ".join(map(str, values)), [mixed]) == [float(is_same)]


@given(_SMALL, _SMALL, st.integers(2, 12), st.integers(1, 3))
def test_a_family_may_be_written_with_another_parameter_and_split(
    offset: int, turns: int, period: int, parts: int
) -> None:
    gold = f"x = \\frac{{{offset}\\pi}}{{12}} + {period} k \\pi, k \\in \\mathbb{{Z}}"
    split = ", ".join(
        f"\\frac{{{offset + 12 * period * (turns + part)}\\pi}}{{12}} + {period * parts} n \\pi"
        for part in range(parts)
    )
    assert scores(gold, [f"{split}, n \\in \\mathbb{{Z}}"]) == [1.0]
    wrong = f"\\frac{{{offset + 1}\\pi}}{{12}} + {period} n \\pi"
    assert scores(gold, [wrong, f"\\frac{{{offset}\\pi}}{{12}}"]) == [0.0, 0.0]


@given(_SMALL, st.integers(2, 30), _SMALL)
def test_a_congruence_is_a_family(residue: int, modulus: int, turns: int) -> None:
    gold = f"x \\equiv {residue} \\pmod{{{modulus}}}"
    assert scores(gold, [f"x = {modulus}k + {residue + turns * modulus}, k \\in \\mathbb{{Z}}"]) == [1.0]
    assert scores(gold, [f"x \\equiv {residue + 1} \\pmod{{{modulus}}}", str(residue)]) == [0.0, 0.0]


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 5))
def test_ratios(one: int, other: int, factor: int) -> None:
    assume(other < 10 and factor * other < 10)  # 1:20 may be a time of day
    gold = f"{one} : {other}"
    assert scores(gold, [f"{factor * one}:{factor * other}", str(Fraction(one, other))]) == [1.0, 1.0]
    assert scores(gold, [f"{one + 1}:{other}", f"({one}, {other})", f"{one}, {other}"]) == [0.0, 0.0, 0.0]


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 23), st.integers(0, 59))
def test_times_are_not_ratios(hour: int, minute: int, other_hour: int, other_minute: int) -> None:
    assume((hour, minute) != (other_hour, other_minute))
    gold = f"{hour}:{minute:02}"
    assert scores(gold, [gold, f"\\text{{{gold}}}"]) == [1.0, 1.0]
    wrong = [
        f"{other_hour}:{other_minute:02}",
        f"\\frac{{{hour}}}{{{minute or 1}}}",
        f"{hour}.{minute:02}",
        f"{hour},{minute}",
    ]
    assert scores(gold, wrong) == [0.0] * 4


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=9), st.randoms(use_true_random=False))
def test_a_word_is_not_its_anagram(word: str, random: object) -> None:
    letters = sorted(word)
    anagram = "".join(letters)
    assume(anagram != word and len(set(word)) > 1 and ord(letters[-1]) - ord(letters[0]) >= len(word))
    assume(word not in ("sqrt", "sinh", "cosh", "tanh"))
    assert scores(f"\\text{{{word}}}", [anagram, f"\\text{{{anagram}}}"]) == [0.0, 0.0]


@pytest.mark.parametrize("gold", ["nan", "NaN", "\\text{nan}", "NaT", "null", "<NA>", "N/A", "$nan$"])
def test_a_missing_gold_answer_is_an_error(gold: str) -> None:
    with pytest.raises(rk.errors.CoercionError):
        rk.score(rk.math_equal("answer"), ["nan"], answer=[gold])


@pytest.mark.parametrize(
    "gold",
    [
        "Kafelnikov served in the first game of the match", "The triangle can be cut along the midline.",
        "The rent for each $A$ room is $240$ yuan", "R=1 \\text{ is necessary} A",
    ],
)  # fmt: skip
def test_a_sentence_is_an_error_that_names_a_judge(gold: str) -> None:
    with pytest.raises(rk.errors.CoercionError, match="judge"):
        rk.score(rk.math_equal("answer"), ["1"], answer=[gold])
