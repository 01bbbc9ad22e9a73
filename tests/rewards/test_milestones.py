"""Milestones: each counts once, in order, at its first occurrence."""

from __future__ import annotations

import pickle
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.milestones import milestones as reached

MILESTONE = st.text(alphabet="abc", min_size=1, max_size=3)
MILESTONES = st.lists(MILESTONE, min_size=1, max_size=6, unique=True)
TEXT = st.text(alphabet="abc ", max_size=40)


def value(reward: rk.Reward, completion: str, **columns: Any) -> float:
    cells: dict[str, Any] = {name: [cell] for name, cell in columns.items()}
    table = rk.score(reward, [completion], **cells)
    assert table.outcomes["milestones"].tolist() == ["scored"]
    assert 0.0 <= table.total[0] <= 1.0
    assert (table.total[0] == 1.0) == (not table.notes["milestones"][0])
    return float(table.total[0])


@pytest.mark.parametrize(
    ("completion", "ordered", "anywhere"),
    [
        ("sort, merge, return", 1.0, 1.0),
        ("First sort, then return.", 2 / 3, 2 / 3),
        ("return merge sort", 1 / 3, 1.0),
        ("return, then sort and merge", 2 / 3, 1.0),
        ("merge sort return", 2 / 3, 1.0),
        ("sort sort sort", 1 / 3, 1 / 3),
        ("return merge sort " * 9, 1 / 3, 1.0),
        ("sort the\nmerged returns", 1.0, 1.0),
        ("Sort", 0.0, 0.0),
        ("<think>sort merge return</think>", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_steps(completion: str, ordered: float, anywhere: float) -> None:
    assert value(reached("sort", "merge", "return"), completion) == pytest.approx(ordered)
    assert value(reached("sort", "merge", "return", ordered=False), completion) == pytest.approx(anywhere)


def test_one_place_is_not_two_milestones_in_order() -> None:
    assert value(reached("step 1", "step 10"), "step 10") == 0.5
    assert value(reached("ab", "bc"), "abc") == 0.5
    assert value(reached("a", "abc", "b"), "abc") == pytest.approx(2 / 3)


def test_form_does_not_count_and_case_does_on_demand() -> None:
    assert value(reached("the cafe\u0301", "New York"), "the   café in New\nYork") == 1.0
    assert value(reached("SORT", "Straße", ignore_case=True), "Sort STRASSE") == 1.0


def test_any_apostrophe_will_do() -> None:
    assert value(reached("don't"), "I don\u2019t") == value(reached("don\u2019t"), "I don't") == 1.0
    assert value(reached(column="plan"), "I don't", plan=["don\u2019t"]) == 1.0


def test_milestones_keep_their_stops_and_marks() -> None:
    assert value(reached(column="plan"), "return x", plan=["return `x`."]) == 0.0


def test_a_list_of_milestones_is_to_be_starred() -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"rk\.milestones\(\*texts\)"):
        reached(["a", "b"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cell", [["sort", "merge", "return it"], '["sort", "merge", "return it"]', "- sort\n- merge\n- return it"]
)
def test_milestones_from_a_column(cell: Any) -> None:
    assert value(reached(column="plan"), "sort, merge", plan=cell) == pytest.approx(2 / 3)


def test_a_line_with_commas_is_one_milestone() -> None:
    assert value(reached(column="plan"), "so sort, then merge it", plan="sort, then merge") == 1.0
    assert value(reached(column="plan"), "sort it, merge it, then merge", plan="sort, then merge") == 0.0


def test_answer_and_column_have_their_own_extractors() -> None:
    reward = reached(column="plan", extract=rk.extract.tag("work"), gold=rk.extract.fenced())
    assert value(reward, "<work>a</work> b", plan="So:\n```\na\nb\n```") == 0.5


def test_a_miss_says_what_is_missing() -> None:
    table = rk.score(reached("sort", "merge", "return"), ["return sort"])
    assert table.notes["milestones"] == ["missing: 'merge'; 1 out of order"]


@given(TEXT, MILESTONES)
def test_the_longest_chain_of_first_places_counts(text: str, milestones: list[str]) -> None:
    shown = " ".join(text.split())
    spans = [(shown.find(one), shown.find(one) + len(one)) for one in milestones if one in shown]
    longest = max(
        size
        for size in range(len(spans) + 1)
        for chain in combinations(spans, size)
        if all(first[1] <= second[0] for first, second in pairwise(chain))
    )
    assert value(reached(*milestones), text) == pytest.approx(longest / len(milestones))


@given(MILESTONES)
def test_the_milestones_in_order_get_one_where_none_holds_another(milestones: list[str]) -> None:
    marked = [f"<{place}{milestone}>" for place, milestone in enumerate(milestones)]
    assert value(reached(*marked), " then ".join(marked)) == 1.0
    assert value(reached(*marked), " then ".join(reversed(marked))) == pytest.approx(1 / len(marked))


@given(TEXT, TEXT, MILESTONES, st.booleans())
def test_more_words_never_lower_it(text: str, more: str, milestones: list[str], ordered: bool) -> None:
    reward = reached(*milestones, ordered=ordered)
    assert value(reward, f"{text} {more}") >= value(reward, text)


@given(TEXT, MILESTONES, st.integers(2, 5))
def test_saying_it_all_again_earns_nothing(text: str, milestones: list[str], times: int) -> None:
    once = f"{text} {' '.join(reversed(milestones))} "
    assert value(reached(*milestones), once * times) == value(reached(*milestones), once)


@given(st.text(alphabet=st.characters(), max_size=60), st.booleans(), st.booleans())
def test_every_text_scores_within_bounds(completion: str, ordered: bool, ignore_case: bool) -> None:
    value(reached("a", "0", " b c ", ordered=ordered, ignore_case=ignore_case), completion)


@pytest.mark.parametrize(
    "completion",
    [
        "\0",
        "\ud800",
        "a" * 200_000,
        "a" * 200_001,
        "ß" * 200_000,
        "b" + "\u0300\u0327" * 90_000,
        "<think>",
        " " * 200_000,
    ],
    ids=lambda text: f"{text[:4]!r}x{len(text)}",
)
def test_hostile_texts_score_zero_without_raising(completion: str) -> None:
    milestones = ["a" * size + "b" for size in range(1, 101)]
    assert value(reached(*milestones, ignore_case=True), completion) == 0.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: reached(),
        lambda: reached("a", column="plan"),
        lambda: reached("a", gold=rk.extract.whole()),
        lambda: reached("a", " "),
        lambda: reached("a", 5),  # type: ignore[arg-type]
        lambda: reached("a b", "a  b"),
        lambda: reached("a", "A", ignore_case=True),
        lambda: reached(*map(str, range(101))),
        lambda: reached(column=5),  # type: ignore[arg-type]
        lambda: reached(column=""),
    ],
)
def test_impossible_milestones_are_refused(make: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="milestones"):
        make()


@pytest.mark.parametrize("cell", ["", [], ["a", "a "], list(map(str, range(101))), {"a": 1}, "[1"])
def test_impossible_milestones_in_a_column_are_the_datas_fault(cell: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match="column 'plan', row 0"):
        rk.score(reached(column="plan"), ["a"], plan=[cell])


@pytest.mark.parametrize(
    ("reward", "shown"),
    [
        (reached("a", "b"), "milestones('a', 'b')"),
        (reached(column="plan", ordered=False), "milestones(column='plan', ordered=False)"),
    ],
)
def test_rewards_are_values(reward: rk.Reward, shown: str) -> None:
    again = pickle.loads(pickle.dumps(reward))
    assert again == reward
    assert hash(again) == hash(reward)
    assert repr(again) == shown
    assert len({r.fingerprint for r in (reached("b", "a"), reached("a", "b", ordered=False), reward)}) == 3
