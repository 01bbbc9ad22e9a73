"""rk.diff: what it says of two rewards over the same completions."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.column import Floats
from rewardkit.differences.differences import Limit, Limits

ROWS: list[dict[str, Any]] = [
    {"prompt": prompt, "completion": completion, "answer": answer}
    for prompt, answer, completions in (
        ("6*7?", "42", ("42", "The answer is 42", "41", "I do not know")),
        ("2+2?", "4", ("4", "5", "4 or 5", "four")),
        ("1+1?", "2", ("3", "3", "3", "3")),
    )
    for completion in completions
]


@rk.reward
def exact(completion: str, answer: str) -> float:
    return float(completion == answer)


@rk.reward
def contains(completion: str, answer: str) -> float:
    return float(answer in completion)


@rk.reward
def short(completion: str) -> float:
    return float(len(completion) < 5)


@rk.reward
def brief(completion: str) -> float:
    return float(not len(completion) >= 5)


@rk.reward
def draws(completion: str) -> float:
    return random.random()


@rk.reward
def picky(completion: str, answer: str) -> float:
    if "know" in completion:
        raise ValueError("does not know")
    return float(completion == answer)


@rk.reward(scope="group")
def longest(completion: list[str]) -> list[float]:
    return [float(len(one) == max(map(len, completion))) for one in completion]


rewards = st.sampled_from([exact, contains, short, 0.5 * exact + 0.5 * short, rk.gate(short, exact), longest, draws])


@given(rewards)
def test_a_reward_does_not_differ_from_itself(reward: rk.Reward) -> None:
    found = rk.diff(reward, reward, ROWS)
    assert found.same
    assert found.verdict == "No completion's score changes."
    assert not found.examples
    assert {one.state for one in found.components} == {"same"}


@given(rewards, rewards)
def test_the_other_direction_swaps_everything(old: rk.Reward, new: rk.Reward) -> None:
    there, back = rk.diff(old, new, ROWS), rk.diff(new, old, ROWS)
    np.testing.assert_array_equal(there.changed, back.changed)
    assert there.same == back.same
    assert there.gradients is not None
    assert back.gradients is not None
    assert (there.gradients.flips, there.gradients.silenced) == (back.gradients.flips, back.gradients.voiced)
    assert [one.row for one in there.examples] == [one.row for one in back.examples]


@given(rewards, rewards)
def test_totals_are_those_of_score(old: rk.Reward, new: rk.Reward) -> None:
    if draws in (old, new):
        return
    found = rk.diff(old, new, ROWS)
    for reward, side in ((old, "before"), (new, "after")):
        np.testing.assert_array_equal(found.columns[f"total/{side}"], totals(reward))


def totals(reward: rk.Reward) -> Floats:
    """The totals of each prompt's completions, scored by themselves."""
    groups = [list(rows) for _, rows in itertools.groupby(ROWS, lambda row: row["prompt"])]
    return np.concatenate(
        [rk.score(reward, [row["completion"] for row in rows], **columns(rows)).total for rows in groups]
    )


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"prompts": [row["prompt"] for row in rows], "answer": [row["answer"] for row in rows]}


def test_the_verdict_says_what_a_training_would_notice() -> None:
    found = rk.diff(exact, contains, ROWS)
    assert found.gradients is not None
    assert found.changed.tolist() == [False, True, False, False, False, False, True, *[False] * 5]
    assert found.gradients.rewarded == 2
    assert (found.gradients.silent_before, found.gradients.silent_after) == (1, 1)
    assert [one.row for one in found.examples] == [1, 6]
    assert found.verdict == "2 of 12 completions get a different total, and 2 (16.7%) flip the sign of their advantage."


def test_a_component_under_another_name_is_recognized() -> None:
    by_structure = rk.diff(0.5 * exact + short, 0.5 * exact.named("right") + short, ROWS)
    assert [(one.before, one.after, one.state) for one in by_structure.components] == [
        ("exact", "right", "renamed"), ("short", "short", "same"), ("total", "total", "same"),
    ]  # fmt: skip
    by_scores = rk.diff(short, brief, ROWS)
    assert by_scores.same
    first = by_scores.components[0]
    assert (first.before, first.after, first.state) == ("short", "brief", "renamed")


def test_components_that_are_added_and_removed_are_listed() -> None:
    found = rk.diff(exact + short, exact + contains, ROWS)
    assert {(one.before, one.after): one.state for one in found.components[:-1]} == {
        ("exact", "exact"): "same", (None, "contains"): "added", ("short", None): "removed",
    }  # fmt: skip


def test_a_change_below_the_tolerance_is_none() -> None:
    assert rk.diff(exact, (1.0 + 1e-12) * exact, ROWS).same
    assert not rk.diff(exact, (1.0 + 1e-6) * exact, ROWS).same


def test_rows_that_only_one_reward_can_score_are_failures() -> None:
    found = rk.diff(exact, picky, ROWS)
    assert np.flatnonzero(found.failing).tolist() == [3]
    assert not found.recovered.any()
    assert "does not know" in found.text()
    assert found.to_dict()["failures"]["new"] == 1
    back = rk.diff(picky, exact, ROWS)
    assert np.flatnonzero(back.recovered).tolist() == [3]
    assert not back.same


def test_a_reward_that_draws_its_scores_is_named() -> None:
    found = rk.diff(draws, draws, ROWS)
    assert found.same
    assert found.after.unsteady is not None
    assert sum("not deterministic" in warning for warning in found.warnings) == 2
    assert rk.diff(exact, contains, ROWS).after.unsteady is None


def test_a_reward_of_whole_batches_is_deterministic() -> None:
    @rk.reward(scope="batch")
    def above_mean(completion: list[str]) -> list[float]:
        lengths = np.array(list(map(len, completion)))
        return [float(length > lengths.mean()) for length in lengths]

    rows = [{"completion": "x" * (number % 97 + number // 300)} for number in range(1_200)]
    found = rk.diff(above_mean, above_mean, rows)
    assert found.after.unsteady is None
    assert found.same
    assert any("whole batches" in warning for warning in found.warnings)


def test_without_prompts_there_are_totals_but_no_advantages() -> None:
    found = rk.diff(exact, contains, [{key: row[key] for key in ("completion", "answer")} for row in ROWS])
    assert found.gradients is None
    assert found.changed.sum() == 2
    assert any("no groups" in warning for warning in found.warnings)
    assert found.examples[0].advantages is None


def test_scattered_completions_of_a_prompt_are_one_group_and_epochs_are_two() -> None:
    scattered = rk.diff(exact, contains, [ROWS[0], ROWS[4], ROWS[1], ROWS[5]])
    assert scattered.columns["group"].tolist() == [0, 1, 0, 1]
    twice = rk.diff(exact, contains, [*ROWS[:8], *ROWS[:8]])
    assert twice.columns["group"].tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4


def test_components_left_out_abstain_on_both_sides() -> None:
    found = rk.diff(exact + short, exact + 2 * short, ROWS, without=["short"])
    assert found.same
    assert any("Excluded: short" in warning for warning in found.warnings)
    with pytest.raises(rk.errors.DataError, match="exactly"):
        rk.diff(exact, exact, ROWS, without=["exactly"])


def test_expensive_components_are_left_out_without_being_asked() -> None:
    @rk.reward(expensive=True)
    def costly(completion: str) -> float:
        raise AssertionError("was asked")

    found = rk.diff(exact + costly, contains + costly.named("other"), ROWS, without=["expensive"])
    assert found.changed.sum() == 2
    assert not found.failing.any()
    assert {one.before for one in found.components} == {"exact", "total", None}
    assert {one.after for one in found.components} == {"contains", "total", None}


def test_the_values_for_json_are_plain_and_complete() -> None:
    found = rk.diff(exact, contains, ROWS)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["changed"] == 2
    assert values["groups"]["rewarded"] == 2
    assert values["examples"][0]["totals"] == [0.0, 1.0]


def test_the_table_has_a_row_per_completion() -> None:
    found = rk.diff(exact + short, contains + short, ROWS)
    table = found.columns
    assert {len(column) for column in table.values()} == {len(ROWS)}
    assert {"components/short/before", "components/exact/before", "components/contains/after"} <= set(table)


def test_known_exploits_are_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "exploits.jsonl"
    case = {"completion": "41 or 42", "good": ["42"], "prompt": "6*7?", "columns": {"answer": "42"}, "why": "both"}
    file.write_text(json.dumps(case) + "\n", encoding="utf-8")
    worse = rk.diff(exact, contains, ROWS[8:], regressions=file)
    assert not worse.changed.any()
    assert worse.exploits.newly_paid
    assert not worse.same
    assert Limits().exceeded(worse)
    better = rk.diff(contains, exact, ROWS[8:], regressions=file)
    assert better.exploits.no_longer_paid
    assert not Limits().exceeded(better)
    assert rk.diff(contains, contains, ROWS, regressions=file).same


def test_completions_on_which_everything_abstains_have_no_total() -> None:
    @rk.reward
    def some(completion: str) -> float | None:
        return None if completion == "42" else 1.0

    found = rk.diff(short, some, ROWS)
    assert np.flatnonzero(found.failing).tolist() == [0]
    assert "abstain" in found.text()
    assert found.to_dict()["failures"] == {"before": 0, "after": 1, "new": 1, "gone": 0, "reasons": [""]}


def test_totals_may_change_without_any_advantage() -> None:
    found = rk.diff(exact, exact + 0.5 * rk.monitor(short) + rk.contains(none="cat"), ROWS)
    assert found.verdict == "12 of 12 completions get a different total, and no advantage changes."


@pytest.mark.parametrize("data", [["42"], [{"completion": "42"}, None]])
def test_rows_are_mappings(data: list[Any]) -> None:
    with pytest.raises(rk.errors.DataError, match="mapping"):
        rk.diff(exact, exact, data)


def test_a_missing_file_of_exploits_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(rk.errors.DataError, match="known exploits"):
        rk.diff(exact, exact, ROWS, regressions=tmp_path / "nothing.jsonl")


@pytest.mark.parametrize("recorded_side", [True, False])
def test_a_run_may_grow_while_it_is_scored(tmp_path: Path, recorded_side: bool) -> None:
    from rewardkit.record.recorder import Recorder
    from tests.record.batches import batch

    with Recorder(tmp_path, attempt=1, rank=0) as training, Recorder(tmp_path, attempt=1, rank=1) as slow_rank:

        @rk.reward
        def step(completion: str) -> float:
            training.record(batch(3))
            slow_rank.record(batch(1))
            assert training.flush()
            assert slow_rank.flush()
            return float(completion.split()[1]) / 2

        training.record(batch(1))
        training.record(batch(2))
        assert training.flush()
        differences = rk.diff(str(tmp_path) if recorded_side else short, step, tmp_path)
        recorded = [2.0, 0.25, 2.5, np.nan]
        before = (recorded if recorded_side else [0.0] * 4) * 2
        np.testing.assert_array_equal(differences.columns["total/before"], before)
        np.testing.assert_array_equal(differences.columns["total/after"], [0.5] * 4 + [1.0] * 4)
        assert differences.gradients is not None


@pytest.mark.parametrize(
    ("text", "count", "of", "exceeded"),
    [
        ("2%", 2, 100, False),
        ("2%", 3, 100, True),
        ("0", 0, 0, False),
        ("0", 1, 9, True),
        ("0%", 0, 0, False),
        ("20", 20, 20, False),
    ],
)
def test_limits_are_numbers_or_shares(text: str, count: int, of: int, exceeded: bool) -> None:
    assert Limit.parsed(text).exceeded(count, of) is exceeded


@pytest.mark.parametrize("text", ["-1", "2.5", "many", "", "%", "nan", "1e3"])
def test_other_limits_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="2%"):
        Limit.parsed(text)
