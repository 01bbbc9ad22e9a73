"""Lists: as sets and in order, read strictly; adding text never raises the score."""

from __future__ import annotations

import json
import pickle
import sys
from itertools import combinations
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import MissingExtraError
from rewardkit.rewards.sequence import SequenceMetric, SetMetric, sequence_match, set_match
from rewardkit.text import json_text

FACTORIES: list[Any] = [set_match, sequence_match]
ITEM = st.sampled_from("abcdef")
ITEMS = st.lists(ITEM, min_size=1, max_size=8)
DISTINCT = st.lists(ITEM, min_size=1, max_size=6, unique=True)
ALL_BUT_RECALL: list[SetMetric] = ["f1", "precision", "jaccard", "exact"]
SET_METRICS = st.sampled_from(get_args(SetMetric))
SEQUENCE_METRICS = st.sampled_from(get_args(SequenceMetric))
ANYTHING = (
    st.text(alphabet=st.characters(), max_size=60)
    | st.text(alphabet='[]{},"ab1.-\n \ud800\0', max_size=30)
    | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)

HOSTILE = [
    "", " ", "\0", "\ud800", "[" * 200_000, "[" * 60 + "]" * 60, "," * 200_000, "\n" * 200_000, "a," * 100_000,
    "[" + "0," * 90_000 + "0]", "[" + "9" * 5_000 + "]", "[1e999]", "[NaN]", '["\\ud800"]', "- " * 100_000,
    "1. " * 60_000, "a" + "\u0300\u0327" * 90_000, " " * 199_999 + "a", "<answer></answer>", "[]", "<think>a",
    "a" * 200_001,
]  # fmt: skip


def value(reward: rk.Reward, completion: str, gold: Any) -> float:
    table = rk.score(reward, [completion], answer=[gold])
    assert table.outcomes[reward.name].tolist() == ["scored"]
    assert 0.0 <= table.total[0] <= 1.0
    assert table.total[0] == 1.0 or table.notes[reward.name][0]
    return float(table.total[0])


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("completion", HOSTILE, ids=lambda text: f"{text[:4]!r}x{len(text)}")
def test_hostile_texts_score_zero_without_raising(factory: Any, completion: str) -> None:
    for metric in get_args(SetMetric if factory is set_match else SequenceMetric):
        assert value(factory("answer", metric=metric), completion, ["red", "blue"]) == 0.0


@given(ANYTHING, ITEMS, SET_METRICS, SEQUENCE_METRICS, st.sampled_from([None, ",", "a"]))
def test_every_text_scores_within_bounds(
    completion: str, gold: list[str], of_sets: Any, of_sequences: Any, separator: str | None
) -> None:
    value(set_match("answer", metric=of_sets, separator=separator), completion, gold)
    value(sequence_match("answer", metric=of_sequences, separator=separator), completion, gold)


@given(ITEMS, SET_METRICS, SEQUENCE_METRICS)
def test_the_gold_list_gets_one_however_it_is_written(gold: list[str], of_sets: Any, of_sequences: Any) -> None:
    for text in (json.dumps(gold), ", ".join(gold), "\n".join(f"- {item}" for item in gold)):
        for cell in (gold, tuple(gold), text):
            assert value(sequence_match("answer", metric=of_sequences), text, cell) == 1.0
            if len(set(gold)) == len(gold):
                assert value(set_match("answer", metric=of_sets), text, cell) == 1.0


@pytest.mark.parametrize(
    ("gold", "answers", "others"),
    [
        (
            ["A", "B", "D"],
            ["ABD", "A B D", "A/B/D", "(A)(B)(D)", "(A), (B), (D)", "A & B & D", "\\boxed{\\text{ABD}}"],
            ["ABC", "ABDE", "AABD", "abd"],
        ),
        ("ABD", ["A, B and D", "['A', 'B', 'D']", "ABD", "**ABD**"], ["A, B", "ABC", "A, B, D, E", "BAD idea"]),
        (["A"], ["A", "A."], ["AB", "BAD", "A BAD CAB"]),
        (["cat"], ["cat"], ["c, a, t", "act"]),
        (["AB", "C"], ["AB, C"], ["ABC", "A, B, C"]),
    ],
)
def test_letters_side_by_side(gold: Any, answers: list[str], others: list[str]) -> None:
    reward = set_match("answer", metric="exact")
    assert [value(reward, text, gold) for text in [*answers, *others]] == [1.0] * len(answers) + [0.0] * len(others)


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("gold", ["", [], [""], "[]", "[1", {"a": 1}, 1.5, True, [object()]])
def test_gold_without_items_is_the_datas_fault(factory: Any, gold: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match="column 'answer', row 0"):
        rk.score(factory("answer"), ["a"], answer=[gold])


@pytest.mark.parametrize("factory", FACTORIES)
def test_answer_and_gold_have_their_own_extractors(factory: Any) -> None:
    reward = factory("answer", extract=rk.extract.document(), gold=rk.extract.after("####"))
    assert value(reward, 'So:\n```json\n["a", "b"]\n```', "so #### a, b") == 1.0
    assert value(reward, "So: a, b", "so #### a, b") < 1.0


@pytest.mark.parametrize("factory", FACTORIES)
def test_reading_json_needs_its_extra_when_the_reward_is_made(factory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jiter", None)
    json_text._parser.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install .*\[json\]"):
        factory("answer")
    assert value(factory("answer", separator=";"), "a; b", ["a", "b"]) == 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: set_match("answer", metric="f2"),  # type: ignore[arg-type]
        lambda: set_match("answer", separator=""),
        lambda: set_match("answer", max_items=0),
        lambda: set_match("answer", max_items=True),
        lambda: sequence_match("answer", metric="lcs"),  # type: ignore[arg-type]
        lambda: sequence_match("answer", floor=1),
        lambda: sequence_match(5),  # type: ignore[arg-type]
    ],
)
def test_impossible_options_are_refused(make: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"set_match|sequence_match|separator"):
        make()


@pytest.mark.parametrize(
    ("reward", "shown"),
    [
        (set_match("a", metric="recall", max_items=9), "set_match('a', metric='recall', max_items=9)"),
        (sequence_match("a", separator=">", ignore_case=True), "sequence_match('a', separator='>', ignore_case=True)"),
    ],
)
def test_rewards_are_values(reward: rk.Reward, shown: str) -> None:
    again = pickle.loads(pickle.dumps(reward))
    assert again == reward
    assert hash(again) == hash(reward)
    assert repr(again) == shown
    assert len({r.fingerprint for r in (set_match("a"), sequence_match("a"), reward)}) == 3


# --- set_match


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("f1", [0.8, 1.0, 6 / 7, 0.5, 0.0]),
        ("precision", [1.0, 1.0, 3 / 4, 1.0, 0.0]),
        ("recall", [2 / 3, 1.0, 1.0, 1 / 3, 0.0]),
        ("jaccard", [2 / 3, 1.0, 3 / 4, 1 / 3, 0.0]),
        ("exact", [0.0, 1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_set_match(metric: Any, values: list[float]) -> None:
    completions = ["<answer>red, blue</answer>", "blue\ngreen\nred", "red, red, green, blue", "green", "Red"]
    table = rk.score(set_match("answer", metric=metric), completions, answer=[["red", "green", "blue"]] * 5)
    assert table.total.tolist() == pytest.approx(values)


def test_items_that_the_gold_repeats_are_one_item() -> None:
    assert value(set_match("answer"), "red, blue", ["red", "blue", "red"]) == 1.0


def test_case_counts_unless_it_is_ignored() -> None:
    assert value(set_match("answer", ignore_case=True), "RED, straße", ["red", "STRASSE"]) == 1.0


def test_json_items_are_compared_as_they_are_written() -> None:
    assert value(set_match("answer"), '[1, "2", true, [3, 4]]', [1, 2, True, [3, 4]]) == 1.0
    assert value(set_match("answer"), "1, 2, true", [1, 2, True]) == 1.0


@given(ITEMS, DISTINCT)
def test_f1_and_jaccard_are_symmetric_over_sets(answer: list[str], gold: list[str]) -> None:
    once = list(dict.fromkeys(answer))
    metrics: list[SetMetric] = ["f1", "jaccard", "exact"]
    for metric in metrics:
        reward = set_match("answer", metric=metric)
        assert value(reward, ",".join(once), gold) == value(reward, ",".join(gold), once)


@given(ITEMS, DISTINCT, st.data())
def test_repeating_an_item_lowers_the_score(answer: list[str], gold: list[str], data: Any) -> None:
    again = [*answer, data.draw(st.sampled_from(answer))]
    for metric in ALL_BUT_RECALL:
        reward = set_match("answer", metric=metric)
        before, after = value(reward, ",".join(answer), gold), value(reward, ",".join(again), gold)
        assert after < before or after == before == 0.0
    recall = set_match("answer", metric="recall")
    assert value(recall, ",".join(again), gold) == value(recall, ",".join(answer), gold)


@given(DISTINCT, ITEMS)
def test_adding_to_the_gold_set_lowers_the_score(gold: list[str], spam: list[str]) -> None:
    for metric in ALL_BUT_RECALL:
        assert value(set_match("answer", metric=metric), ",".join(gold + spam), gold) < 1.0


def test_max_items_limits_listing_everything() -> None:
    reward = set_match("answer", metric="recall", max_items=3)
    assert value(reward, "a,b,c", ["a", "b"]) == 1.0
    assert value(reward, "a,b,c,d", ["a", "b"]) == 0.0


def test_a_miss_says_what_is_wrong() -> None:
    table = rk.score(set_match("answer"), ["red, red, pink"], answer=[["red", "green"]])
    assert table.notes["set_match"] == ["1 of 2 items, but 2 too many"]


# --- sequence_match


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("prefix", [0.5, 1.0, 0.0, 0.5, 0.8, 0.0, 0.0]),
        ("positions", [0.5, 1.0, 0.0, 0.5, 0.8, 0.5, 0.0]),
        ("kendall", [5 / 6, 1.0, 0.0, 1 / 6, 0.6, 0.5, 0.6]),
        ("exact", [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_sequence_match(metric: Any, values: list[float]) -> None:
    completions = ["A,B,D,C", "A\nB\nC\nD", "D,C,B,A", '["A", "B"]', "A,B,C,D,A", "C,B,A,D", "x,A,B,C,D"]
    table = rk.score(sequence_match("answer", metric=metric), completions, answer=[list("ABCD")] * 7)
    assert table.total.tolist() == pytest.approx(values)


@pytest.mark.parametrize("metric", get_args(SequenceMetric))
def test_a_single_item_is_right_or_wrong(metric: Any) -> None:
    reward = sequence_match("answer", metric=metric)
    assert value(reward, "a", ["a"]) == 1.0
    assert value(reward, "b", ["a"]) == 0.0


@given(ITEMS, ITEMS)
def test_kendall_counts_the_pairs_in_order(answer: list[str], gold: list[str]) -> None:
    def numbered(items: list[str]) -> list[tuple[str, int]]:
        return [(item, items[:place].count(item)) for place, item in enumerate(items)]

    said, right = numbered(answer), numbered(gold)
    pairs = sum(
        first in said and second in said and said.index(first) < said.index(second)
        for first, second in combinations(right, 2)
    )
    length = max(len(answer), len(gold))
    expected = pairs / (length * (length - 1) / 2) if length > 1 else float(answer == gold)
    assert value(sequence_match("answer", metric="kendall"), ",".join(answer), gold) == pytest.approx(expected)


@given(DISTINCT, st.randoms(use_true_random=False))
def test_an_order_and_its_reverse_share_one_point_of_kendall(gold: list[str], random: Any) -> None:
    shuffled = random.sample(gold, len(gold))
    reward = sequence_match("answer", metric="kendall")
    if len(gold) > 1:
        both = value(reward, ",".join(shuffled), gold) + value(reward, ",".join(shuffled[::-1]), gold)
        assert both == pytest.approx(1.0)


@given(ITEMS, ITEMS, SEQUENCE_METRICS)
def test_the_floor_earns_nothing(answer: list[str], gold: list[str], metric: Any) -> None:
    plain = value(sequence_match("answer", metric=metric), ",".join(answer), gold)
    above = value(sequence_match("answer", metric=metric, floor=0.5), ",".join(answer), gold)
    assert above == pytest.approx(max(0.0, 2 * plain - 1))


@given(ITEMS, ITEMS, SEQUENCE_METRICS)
def test_either_list_may_be_the_gold(answer: list[str], gold: list[str], metric: Any) -> None:
    reward = sequence_match("answer", metric=metric)
    assert value(reward, ",".join(answer), gold) == value(reward, ",".join(gold), answer)


@given(ITEMS, ITEMS, SEQUENCE_METRICS)
def test_adding_to_the_gold_list_lowers_the_score(gold: list[str], spam: list[str], metric: Any) -> None:
    reward = sequence_match("answer", metric=metric)
    assert value(reward, ",".join(gold + spam), gold) < 1.0
    if spam + gold != gold:
        assert value(reward, ",".join(spam + gold), gold) < 1.0


def test_a_long_list_is_compared_whole() -> None:
    gold = [str(number) for number in range(10_000)]
    assert value(sequence_match("answer", metric="kendall"), ",".join(gold[::-1]), gold) == 0.0
    assert value(sequence_match("answer", metric="kendall"), ",".join(gold), gold) == 1.0


def test_a_wrong_order_says_where_it_goes_wrong() -> None:
    table = rk.score(sequence_match("answer"), ["A,C", "A"], answer=[list("ABC")] * 2)
    assert table.notes["sequence_match"] == [
        "item 2 is 'C' after 1 of 3 correct ones",
        "items are missing after 1 of 3 correct ones",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[red, green, blue]", "['red', 'green', 'blue']", "[1] red\n[2] green\n[3] blue",
        "**red**, **green**, **blue**",
        "- **red**\n- **green**\n- **blue**", "`red`, `green`, `blue`", '"red", "green", "blue"', "red, green and blue",
        "red, green, blue.", "- red,\n- green,\n- blue", "a) red\nb) green\nc) blue", "red; green; blue",
        "red\uff0cgreen\uff0cblue", "\\boxed{\\{red, green, blue\\}}", "<answer>[red, green, blue]</answer>",
    ],
)  # fmt: skip
@pytest.mark.parametrize("factory", FACTORIES)
def test_lists_as_models_write_them(factory: Any, text: str) -> None:
    for gold in (["red", "green", "blue"], '["red", "green", "blue"]', "red, green, blue"):
        assert value(factory("answer"), text, gold) == 1.0


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("red or green", 0.0),
        ("red, green or blue, pink", 0.5),
        ('["red", "green"', 0.0),
        ("red, green, blue, or pink", 0.86),
    ],
)
def test_hedges_and_broken_lists_score_no_higher(text: str, most: float) -> None:
    assert value(set_match("answer"), text, ["red", "green", "blue"]) <= most


def test_abbreviations_at_the_end_of_gold_items_stay_right() -> None:
    assert value(set_match("answer"), "Apple Inc., Tesla Inc.", ["Apple Inc.", "Tesla Inc."]) == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "The answers are 3 and 4", "The answers are $3$ and $4$.", "Answer: 3, 4", "**Answer:** 4, 3",
        "### Answer\n3, 4",
        "### Final answer\n\n- 3\n- 4", "So the solutions are 3 and 4.", "<answer>3 and 4</answer>", "{3, 4}",
        "\\boxed{3 \\text{ and } 4}",
    ],
)  # fmt: skip
def test_what_introduces_a_list_is_no_item(answer: str) -> None:
    assert rk.score(rk.set_match("answer"), [answer], answer=[["3", "4"]]).total.tolist() == [1.0]


@pytest.mark.parametrize(
    "answer", ["The answers are not 3 and 4", "3 or 4", "3 and 4 and 5", "neither 3 nor 4", "salt and 4", "Answer 3: 4"]
)
def test_other_words_are_not_removed(answer: str) -> None:
    assert rk.score(rk.set_match("answer", metric="exact"), [answer], answer=[["3", "4"]]).total.tolist() == [0.0]
