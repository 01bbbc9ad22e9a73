"""Batch: shapes of input, equality of values, groups, shared views."""

from __future__ import annotations

import re
from contextlib import nullcontext
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.batch import RESERVED, Batch, ViewFault
from rewardkit.batch.equality import equality


@rk.reward(bounds=(0.0, 9.0))
def words(completion: str) -> float:
    return float(len(completion.split()))


class Picture:
    """Like an image: hashable, by identity."""


PICTURE, ARRAY = Picture(), np.zeros(3)
NOON = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)

DIFFERENT: list[list[Any]] = [
    [1, 1.0, True, "1", b"1", Decimal(1), Fraction(1), np.float64(1), np.int64(1)],
    [0, 0.0, -0.0, False, "", None, [], {}, ()],
    [[1], [1.0], [True], ["1"], (1,), [[1]]],
    [{"1": "a"}, {1: "a"}, {"1": ["a"]}],
    [[(1, 2)], [[1, 2]]],
    [Decimal("1.0"), Decimal("1.00")],
    [NOON, NOON.astimezone(timezone(timedelta(hours=1)))],
    [frozenset({1}), frozenset({True})],
    [Picture(), Picture()],
    [np.zeros(3), np.zeros(3)],
    [10**5000, 10**5000 + 1],
    ["\ud800", "\udfff", "\x00", ""],
]
ALIKE: list[list[Any]] = [
    ["a", "a"],
    [float("nan"), float("nan")],
    [{"a": 1, "b": [2]}, {"b": [2], "a": 1}],
    [PICTURE, PICTURE],
    [ARRAY, ARRAY],
    [None, None],
]


@pytest.mark.parametrize("values", DIFFERENT)
def test_values_that_a_function_could_tell_apart_are_not_merged(values: list[Any]) -> None:
    assert equality(values).count == len(values)


@pytest.mark.parametrize("values", ALIKE)
def test_equal_values_are_merged(values: list[Any]) -> None:
    assert equality(values).numbers.tolist() == [0, 0]


def test_a_value_nested_too_deep_to_compare_equals_itself_alone() -> None:
    def nested() -> list[Any]:
        value: list[Any] = []
        for _ in range(5_000):
            value = [value]
        return value

    deep = nested()
    assert equality([deep, nested(), deep]).numbers.tolist() == [0, 1, 0]


@given(st.lists(st.one_of(st.text(max_size=2), st.integers(0, 2), st.booleans(), st.none())))
def test_numbers_count_distinct_values_in_the_order_of_their_first_appearance(values: list[Any]) -> None:
    found = equality(values)
    keys = [(type(value), value) for value in values]
    assert [keys.index(key) for key in keys] == [found.numbers.tolist().index(number) for number in found.numbers]
    assert sorted(set(found.numbers.tolist())) == list(range(found.count))


def test_groups_are_runs_of_equal_prompt_and_columns() -> None:
    batch = rk.Batch(list("abcdef"), prompts=["p", "p", "q", "q", "p", "p"], columns={"answer": [1, 1, 1, 2, 2, 2]})
    assert batch.groups.tolist() == [0, 0, 1, 2, 3, 3]


def test_groups_of_a_known_size_do_not_ask_for_the_prompt() -> None:
    """An environment may start each completion of a prompt differently."""
    batch = rk.Batch(list("abcdef"), prompts=list("pqrstt"), num_generations=3)
    assert batch.groups.tolist() == [1, 1, 1, 2, 2, 2]


def test_groups_of_equal_neighbors_are_cut_by_num_generations() -> None:
    batch = rk.Batch(list("abcd"), prompts=["p"] * 4, num_generations=2)
    assert batch.groups.tolist() in ([0, 0, 1, 1], [1, 1, 2, 2])


def test_one_array_on_all_rows_of_a_group_does_not_split_it() -> None:
    batch = rk.Batch(list("abc"), prompts=["p"] * 3, columns={"image": [ARRAY] * 3})
    assert len(set(batch.groups.tolist())) == 1


def test_whole_groups_widens_rows_to_their_groups() -> None:
    batch = rk.Batch(list("abcd"), prompts=["p", "p", "q", "q"])
    assert batch.whole_groups(np.array([False, True, False, False])).tolist() == [True, True, False, False]


@pytest.mark.parametrize("name", [name for name in RESERVED if name != "prompt"])
def test_a_column_with_a_reserved_name_is_refused_with_a_new_name(name: str) -> None:
    batch = rk.Batch(["a"], columns={name: ["b"]})
    with pytest.raises(rk.errors.BindingError, match=f"'gold_{name}'"):
        rk.Scorer(rk.tags("answer")).score(batch)


def test_a_column_of_prompts_is_refused_with_the_argument_to_pass() -> None:
    with pytest.raises(rk.errors.BindingError, match=r"Pass prompts=\["):
        rk.score(rk.tags("answer"), ["a"], prompt=["b"])
    with pytest.raises(rk.errors.BindingError, match="'gold_prompt'"):
        rk.score(rk.tags("answer"), ["a"], prompts=["b"], prompt=["b"])


@pytest.mark.parametrize("value", [40, 0.5, "40", True, None, {"a": 1}])
def test_a_single_value_is_shown_as_the_list_to_pass(value: Any) -> None:
    with pytest.raises(rk.errors.BindingError) as refused:
        rk.score(rk.number("answer"), ["a", "b"], answer=value)
    pasted = str(refused.value).rpartition("Pass ")[2]
    assert eval(pasted) == [value] * 2
    with pytest.raises(rk.errors.BindingError, match=re.escape("Pass ['a b']")):
        rk.score(rk.number("answer"), "a b", answer=["1"])
    with pytest.raises(rk.errors.BindingError) as refused:
        rk.score(rk.number("answer"), "a b" * 100, answer=["1"])
    assert "Pass" not in str(refused.value)


@pytest.mark.parametrize("completions", ["text", b"bytes", {"a": 1}, 7, None])
def test_completions_must_be_a_list(completions: Any) -> None:
    with pytest.raises(rk.errors.BindingError, match="must be a list with one value per completion"):
        rk.Batch(completions)


@pytest.mark.parametrize("what", ["prompts", "completion_ids"])
def test_lengths_must_agree(what: str) -> None:
    with pytest.raises(rk.errors.BindingError, match=f"{what} has 1 values for 2 completions"):
        rk.Batch(["a", "b"], **{what: [[1]]})  # type: ignore[arg-type]
    with pytest.raises(rk.errors.BindingError, match="column 'answer' has 3 values for 2 completions"):
        rk.Batch(["a", "b"], columns={"answer": [1, 2, 3]})


def test_generators_and_arrays_are_taken_as_lists() -> None:
    batch = rk.Batch((text for text in "ab"), prompts=np.array(["p", "q"]), columns={"answer": np.array([1, 2])})
    assert batch.texts == ["a", "b"]
    assert batch.prompt_texts == ["p", "q"]


def test_a_view_reads_each_distinct_text_once_however_often_it_is_asked_for() -> None:
    read: list[str] = []

    def count(text: str) -> int:
        read.append(text)
        return len(text)

    batch = rk.Batch(["aa", "b", "aa"])
    assert batch.view(count, [0, 2]) == [2, 2]
    assert batch.view(count, [0, 1, 2]) == [2, 1, 2]
    assert read == ["aa", "b"]


@pytest.mark.parametrize("error", [ValueError, SystemExit, RecursionError])
def test_an_exception_in_an_extractor_affects_only_its_row(error: type[BaseException]) -> None:
    def extract(text: str) -> str:
        if text == "bad":
            raise error
        return text

    good, bad = rk.Batch(["good", "bad"]).view(extract, [0, 1])
    assert good == "good"
    assert isinstance(bad, ViewFault)
    assert isinstance(bad.error, error)


def test_ctrl_c_in_an_extractor_passes() -> None:
    def extract(text: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rk.Batch(["a"]).view(extract, [0])


def test_an_empty_batch_has_no_groups() -> None:
    assert rk.Batch([]).groups.tolist() == []


def test_columns_that_cannot_be_compared_do_not_split_groups_of_known_size() -> None:
    images = [np.zeros(2) for _ in range(6)]
    batch = rk.Batch(["a"] * 6, prompts=["p"] * 6, columns={"pixels": images}, num_generations=3)
    assert batch.groups.tolist() == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("ids", ["abc", 10, None, b"a"])
def test_token_ids_are_lists_of_them(ids: object) -> None:
    with pytest.raises(rk.errors.BindingError, match=r"completion_ids\[0\] must be a list of token ids"):
        rk.Batch(["a"], completion_ids=[ids])


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=8), st.data())
def test_a_view_gives_each_row_its_own_text_whichever_rows_ask_first(texts: list[str], data: st.DataObject) -> None:
    batch = rk.Batch(texts)
    for _ in range(3):
        rows = data.draw(st.lists(st.integers(0, len(texts) - 1), unique=True).map(sorted))
        assert batch.view(str.upper, rows) == [texts[row].upper() for row in rows]


def test_a_text_seen_first_in_another_route_keeps_its_score() -> None:
    digits = rk.regex(r"\d+").named("digits")
    reward = rk.route({"number": digits, "other": rk.json_valid()}, by="task")
    table = rk.score(reward, ["no", "64", "no"], task=["other", "number", "number"])
    np.testing.assert_array_equal(table["digits"], [np.nan, 1.0, 0.0])


def test_progress_of_another_type_is_refused() -> None:
    with pytest.raises(rk.errors.BindingError, match=r"rk.Progress\(step, max_steps\), got 0.5"):
        rk.score(rk.tags("answer"), ["a"], progress=0.5)  # type: ignore[arg-type]


def test_interleaved_groups_are_refused_where_the_tree_compares_and_nowhere_else() -> None:
    reward = rk.rank_in_group(words)
    completions = ["a", "b b", "c c c", "d d"]
    with pytest.raises(rk.errors.BindingError, match="num_generations") as caught:
        rk.score(reward, completions, prompts=["p", "q", "p", "q"])
    assert "Rows 0 and 2 have the same prompt, but row 1" in str(caught.value)
    with pytest.raises(rk.errors.BindingError, match="same columns"):
        rk.score(rk.fallback(reward, reward), completions, answer=[1, 2, 1, 2])
    one = rk.score(words, completions, prompts=["p", "q", "p", "q"])
    assert one.total.tolist() == [1.0, 2.0, 3.0, 2.0]


def test_groups_of_a_known_size_may_repeat_prompts() -> None:
    reward = rk.rank_in_group(words)
    completions = ["a", "b b", "c c c", "d d", "e", "f f"]
    prompts = ["p", "p", "q", "q", "p", "p"]  # another epoch
    with pytest.raises(rk.errors.BindingError, match="num_generations"):
        rk.score(reward, completions, prompts=prompts)
    table = rk.score(reward, completions, prompts=prompts, num_generations=2)
    assert table.total.tolist() == [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    for wrong in (4, 0, True, 2.0):
        with pytest.raises(rk.errors.BindingError, match="num_generations"):
            rk.score(reward, completions, prompts=prompts, num_generations=wrong)  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_groups_are_known_exactly_if_each_prompt_is_one_run(prompts: list[int]) -> None:
    batch = rk.Batch(["x"] * len(prompts), prompts=[str(prompt) for prompt in prompts])
    together = len(list(groupby(prompts))) == len(set(prompts))
    with nullcontext() if together else pytest.raises(rk.errors.BindingError, match="next to each other"):
        batch.check_groups()


def test_lists_with_one_image_are_equal_and_a_list_in_itself_ends() -> None:
    rows = [[{"content": [{"image": PICTURE}, "a"]}] for _ in range(2)] + [[{"content": [{"image": Picture()}, "a"]}]]
    assert equality(rows).numbers.tolist() == [0, 0, 1]
    endless: list[Any] = [PICTURE]
    endless += [endless, endless]
    assert equality([endless, endless, [PICTURE]]).numbers.tolist() == [0, 0, 1]


@given(st.lists(st.lists(st.integers(0, 1), min_size=18, max_size=21), max_size=6), st.integers(0, 40))
def test_token_ids_are_equal_only_if_all_of_them_are(rows: list[list[int]], place: int) -> None:
    changed = [[*ids[:place], 2, *ids[place + 1 :]] for ids in rows]
    batch = rk.Batch(["a"] * 2 * len(rows), completion_ids=[*rows, *changed])
    assert batch.equality("completion_ids").numbers.tolist() == equality([*rows, *changed]).numbers.tolist()


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from([1, 2]))), st.data())
def test_rows_are_equal_if_all_their_arguments_are(cells: list[tuple[str, str, int]], data: st.DataObject) -> None:
    texts, answers, levels = ([row[place] for row in cells] for place in range(3))
    batch = Batch(texts, columns={"answer": answers, "level": levels})
    equal = batch.equality("completion", "answer", "level")
    distinct = list(dict.fromkeys(cells))
    assert equal.numbers.tolist() == [distinct.index(row) for row in cells]
    assert equal.count == len(distinct)
    assert equal.firsts.tolist() == [cells.index(row) for row in distinct]
    rows = sorted(data.draw(st.sets(st.sampled_from(range(len(cells)))))) if cells else []
    some, kept = equal.among(np.array(rows, dtype=np.int64)), [cells[row] for row in rows]
    assert some.numbers.tolist() == [list(dict.fromkeys(kept)).index(row) for row in kept]
