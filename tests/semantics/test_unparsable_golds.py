"""Rule 40: a gold answer that cannot be read raises outside of a training; in one, its row has no score at all."""

from __future__ import annotations

import logging
import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rewardkit as rk
from rewardkit.errors import CoercionError
from rewardkit.online.breaker import Breaker, Limits, WrongColumns
from rewardkit.online.faults import MAX_GOLDS, FaultReport, fault_counts, unparsable_golds
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from tests.hostile.rewards import REWARDS
from tests.semantics.leaves import HALF, down

GOLDS = {name: case for name, case in REWARDS.items() if case.columns and not case.relative}
BAD: list[Any] = ["", "\u2400?", {"no": "gold"}, [None], -7.5, [["x"]]]
"""Cells of which at least one is a gold answer of no ready reward."""


def trained(reward: Any, completions: list[Any], ids: Any = None, **columns: Any) -> rk.ScoreTable:
    """Score as the adapters do in a training."""
    batch = rk.Batch(completions, completion_ids=ids, columns=columns)
    return rk.Scorer(reward).score(batch, strict=False, on_unparsable_gold="fail")


def bad_cell(reward: rk.Reward, completion: Any, columns: dict[str, Any], name: str) -> Any:
    for cell in BAD:
        rows: dict[str, Any] = {key: [value] for key, value in (columns | {name: cell}).items()}
        try:
            rk.score(reward, [completion], completion_ids=[[0]], **rows)
        except CoercionError:
            return cell
    return None


@pytest.mark.parametrize("name", GOLDS)
def test_40_all_ready_rewards_let_the_row_fail_in_a_training_and_raise_elsewhere(name: str) -> None:
    case = GOLDS[name]
    reward, columns = case.make(), dict(case.columns)
    found = 0
    for column, cell in columns.items():
        bad = bad_cell(reward, case.right, columns, column)
        if bad is None:
            continue
        found += 1
        rows = {key: [value, value, bad if key == column else value] for key, value in columns.items()}
        table = trained(HALF + reward, [case.right, case.wrong, case.right], [[0]] * 3, **rows)
        readable: dict[str, Any] = {key: cells[:2] for key, cells in rows.items()}
        alone = rk.score(HALF + reward, [case.right, case.wrong], completion_ids=[[0]] * 2, **readable)
        np.testing.assert_array_equal(table.total, [*alone.total, math.nan])
        (fault,) = table.faults
        assert (fault.row, fault.outcome, fault.unparsable) == (2, "failed", True)
        assert f"{column!r}" in fault.reason or column in ("kwargs", "instruction_id_list")
        assert table.unparsable(fault.component).tolist() == [False, False, True]
        assert all(math.isnan(term[2]) for term in table.terms.values())
        assert cell == rows[column][0]
    assert found, "no cell is refused"


MONITORED = rk.monitor(rk.number("answer")) + HALF
rows_drawn = st.tuples(st.sampled_from(["41", "42", "A", ""]), st.sampled_from(["42", "x", "A", None]))
tables = st.lists(rows_drawn, max_size=9)
trees = st.sampled_from(
    [
        rk.number("answer"),
        0.5 * rk.number("answer") + 0.5 * rk.length.between(1, 2, unit="characters"),
        rk.gate(rk.regex("[0-9]+"), rk.number("answer"), otherwise=-0.5),
        rk.number("answer") * rk.schedules.linear(0, 1) + rk.exact("answer"),
        rk.choice("answer", options="AB") + rk.number("answer"),
        rk.minimum(rk.number("answer"), rk.exact("answer")).named("both") + HALF,
        MONITORED,
    ]
)


@given(trees, tables)
def test_40_readable_rows_have_the_scores_that_they_have_alone_and_the_others_none(
    tree: rk.Reward, rows: list[tuple[str, Any]]
) -> None:
    texts, golds = [text for text, _ in rows], [gold for _, gold in rows]
    whole = trained(tree, texts, answer=golds)
    for row, (text, gold) in enumerate(rows):
        faults = [fault.reason for fault in whole.faults if fault.row == row]
        if faults:
            with pytest.raises(CoercionError, match=re.escape(faults[0].partition("'answer': ")[2])):
                rk.score(tree, [text], answer=[gold])
            assert math.isnan(whole.total[row]) is (tree != MONITORED)
            if tree != MONITORED:
                assert all(math.isnan(term[row]) for term in whole.terms.values())
        else:
            alone = rk.score(tree, [text], answer=[gold])
            np.testing.assert_array_equal(whole.total[row], alone.total[0])
            for name, term in alone.terms.items():
                np.testing.assert_array_equal(whole.terms[name][row], term[0])


@given(trees, tables, st.integers(1, 8))
def test_40_rows_in_any_parts_have_the_same_scores_and_counts(
    tree: rk.Reward, rows: list[tuple[str, Any]], size: int
) -> None:
    assume(rows)
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    each = [trained(tree, [text for text, _ in part], answer=[gold for _, gold in part]) for part in parts]
    whole = trained(tree, [text for text, _ in rows], answer=[gold for _, gold in rows])
    np.testing.assert_array_equal(np.concatenate([table.total for table in each]), whole.total)
    assert sum(map(fault_counts, each)).tolist() == fault_counts(whole).tolist()  # type: ignore[union-attr]
    assert set().union(*map(unparsable_golds, each)) == unparsable_golds(whole)


@pytest.mark.parametrize("make", [rk.number, rk.choice, rk.math_equal])
def test_40_the_option_decides_everywhere(make: Any) -> None:
    for training in (False, True):
        score = trained if training else rk.score
        assert np.isnan(score(make("answer", on_unparsable_gold="fail"), ["1"], answer=["1/2x"]).total).all()
        with pytest.raises(CoercionError, match="column 'answer', row 0"):
            score(make("answer", on_unparsable_gold="raise"), ["1"], answer=["1/2x"])
    with pytest.raises(rk.RewardDefinitionError, match="on_unparsable_gold"):
        make("answer", on_unparsable_gold="skip")
    with pytest.raises(rk.RewardDefinitionError, match="on_unparsable_gold"):
        rk.Scorer(make("answer")).score(rk.Batch(["1"], columns={"answer": ["1"]}), on_unparsable_gold="skip")  # type: ignore[arg-type]
    reward = make("answer", on_unparsable_gold="fail")
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert len({make("answer", on_unparsable_gold=policy).fingerprint for policy in (None, "fail", "raise")}) == 3
    assert eval(repr(reward), vars(rk)) == reward
    assert reward.with_columns(answer="gold") == make("gold", on_unparsable_gold="fail")


def test_40_a_fallback_sees_it_as_failed() -> None:
    reward = rk.fallback(rk.math_equal("answer"), rk.exact("answer"))
    gold = "a long sentence that says the answer in very many words of its own"
    table = trained(reward, [gold, "\\boxed{1/2}"], answer=[gold, "0.5"])
    assert table.total.tolist() == [1.0, 1.0]
    with pytest.raises(CoercionError):
        rk.score(reward, [gold], answer=[gold])


def test_40_a_function_with_an_annotation_raises_in_a_training_too() -> None:
    @rk.reward
    def near(completion: str, answer: float) -> float:
        return float(len(completion) == answer)

    with pytest.raises(CoercionError, match="row 1"):
        trained(near, ["", ""], answer=["1", "many"])


def test_40_a_missing_gold_abstains_and_a_bug_of_an_extractor_does_not_score_the_row() -> None:
    def raising(text: str) -> str:
        raise ValueError("a bug")

    reward = rk.number("answer", extract=raising) + HALF
    table = trained(reward, ["1", "1", "1"], answer=["1", None, "x"])
    assert [str(one) for one in table.outcomes["number"]] == ["errored", "abstained", "failed"]
    np.testing.assert_array_equal(table.total, [0.5, 0.5, math.nan])


def test_40_a_worker_that_dies_while_it_reads_a_gold_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: Any, **__: Any) -> Any:
        raise rk.errors.WorkerDied("killed by the system")

    gold, reward = "\\ln(2)+\\sin(3)", rk.math_equal("answer")
    with monkeypatch.context() as patch:
        patch.setattr("rewardkit.rewards.math_equal.reward.submit", dies)
        table = trained(reward, [f"\\boxed{{{gold}}}"], answer=[gold])
        assert [(fault.outcome, fault.unparsable) for fault in table.faults] == [("failed", False)]
        assert "killed by the system" in table.faults[0].reason
        assert fault_counts(table)[0].tolist() == [1, 1, 0, 0, 0, 1]
        with pytest.raises(CoercionError, match="killed by the system"):
            rk.score(reward, [""], answer=[gold])
    assert trained(reward, [f"\\boxed{{{gold}}}"], answer=[gold]).total.tolist() == [1.0]  # nothing is remembered


@given(st.integers(1, 30), st.integers(0, 30))
def test_40_the_breaker_counts_no_golds_and_is_not_diluted_by_them(unparsable: int, failed: int) -> None:
    breaker = Breaker(Limits(0.5, 0.05, 1))
    rows = unparsable + 30
    stop = breaker.add([[rows, failed, 0, 0, unparsable, 30]], ["number"])
    assert (stop is not None) == (failed > 0.5 * 30)


def test_40_composites_do_not_count_a_gold_as_an_outage() -> None:
    reward = rk.minimum(rk.number("answer"), down(when="!")).named("both") + HALF
    table = trained(reward, ["1", "1", "1!", "1!"], answer=["1", "x", "1", "x"])
    counts = dict(zip(table.components, fault_counts(table).tolist(), strict=True))
    assert counts["number"] == [4, 0, 0, 0, 2, 2]
    assert counts["down"] == [4, 2, 0, 0, 0, 4]
    assert counts["both"] == [4, 1, 0, 0, 2, 2]


# What stops a run


def batches(*golds: list[str], reward: rk.Reward | None = None) -> list[str]:
    """Return the errors of a training with these golds in its batches."""
    tree = rk.number("answer") + rk.exact("answer") if reward is None else reward
    columns = WrongColumns(rk.Scorer(tree))
    errors = []
    for batch in golds:
        table = trained(tree, ["1"] * len(batch), answer=batch)
        error = columns.add(
            fault_counts(table).tolist(),
            list(table.components),
            lambda table=table: unparsable_golds(table),  # type: ignore[misc]
        )
        errors.append("" if error is None else str(error))
    return errors


def test_40_a_column_of_which_the_first_batch_reads_nothing_stops_the_run() -> None:
    (error,) = batches(["x", "y"] * 4)
    assert error.startswith(
        "reward 'number' cannot read any gold answer in its first batch: column 'answer': 'x' cannot be"
    )
    assert batches(["x", "1", "y"], ["x", "y"]) == ["", ""]
    tolerant = rk.number("answer", on_unparsable_gold="fail") + rk.exact("answer")
    assert batches(["x", "y"], ["x", "y"], reward=tolerant) == ["", ""]


def test_40_a_batch_with_one_gold_leaves_it_to_the_second() -> None:
    assert batches(["x"] * 8, ["1"] * 8, ["x"] * 8, ["y"] * 8) == [""] * 4
    for other in ("x", "y"):
        first, second = batches(["x"] * 8, [other] * 8)
        assert first == ""
        assert "cannot read any gold answer in its first batch" in second


def test_40_a_component_that_comes_later_has_a_first_batch_of_its_own() -> None:
    reward = rk.route({"a": rk.exact("answer"), "b": rk.number("answer")}, by="task")
    scorer = rk.Scorer(reward)
    columns = WrongColumns(scorer)
    errors = []
    for task, golds in (("a", ["x", "y"]), ("b", ["x", "x"]), ("b", ["1", "x"]), ("b", ["x", "y"])):
        table = trained(reward, ["1", "1"], answer=golds, task=[task] * 2)
        errors.append(columns.add(fault_counts(table).tolist(), list(table.components), lambda: set()))
    assert errors == [None] * 4


def test_40_a_new_version_of_a_reward_keeps_what_is_known_of_its_components() -> None:
    old, new = rk.number("answer") + HALF, rk.number("answer") + rk.choice("letter") + HALF
    columns = WrongColumns(rk.Scorer(old))
    errors = []
    for tree, golds, letters in (
        (old, ["1", "x"], ["A", "B"]),
        (new, ["x", "y"], ["A", "B"]),
        (new, ["x"] * 2, ["x", "y"]),
    ):
        columns.follow(rk.Scorer(tree))
        table = trained(tree, ["1", "1"], answer=golds, letter=letters)
        found = unparsable_golds(table)
        errors.append(columns.add(fault_counts(table).tolist(), list(table.components), found.copy))
    assert errors == [None] * 3  # the letters were right, too
    other = rk.choice("letter", options="CD").named("other")
    table = trained(other, ["1", "1"], letter=["x", "y"])
    error = columns.add(fault_counts(table).tolist(), list(table.components), unparsable_golds(table).copy)
    assert "reward 'other' cannot read any gold answer" in str(error)


@given(st.lists(st.lists(st.sampled_from(["1", "x", "y"]), min_size=1, max_size=4), max_size=5))
def test_40_a_run_never_stops_once_a_gold_was_read(golds: list[list[str]]) -> None:
    errors = batches(*golds)
    for number, error in enumerate(errors):
        seen = [gold for batch in golds[: number + 1] for gold in batch]
        if error:
            assert "1" not in seen
        elif "1" not in seen:
            assert number == 0
            assert len(set(seen)) == 1


# Rows that arrive one at a time


def row(gold: str, text: str = "1") -> Row:
    return Row(text, columns={"answer": gold})


def row_scorer(reward: Any = None, **options: Any) -> RowScorer:
    return RowScorer(
        rk.number("answer") + HALF if reward is None else reward, TrainerInputs("any", groups=True), **options
    )


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_40_a_row_without_a_readable_gold_has_no_score_at_once(patience: float) -> None:
    good, bad = row_scorer().score([row("1"), row("x")], patience=patience)  # a second try would take a second
    assert good.total == 1.5
    assert bad.total is None
    assert bad.unparsable
    assert not bad.failed
    assert "number: column 'answer': 'x' cannot be parsed" in bad.why
    assert pickle.loads(pickle.dumps(bad)) == bad


def test_40_an_outage_in_such_a_row_is_still_one() -> None:
    (both,) = row_scorer(rk.number("answer") + down()).score([row("x")])
    assert not both.unparsable
    assert both.failed
    (second,) = row_scorer(rk.fallback(rk.number("answer"), down())).score([row("x")], num_generations=1)
    assert second.failed
    (replaced,) = row_scorer(rk.fallback(rk.number("answer"), rk.exact("answer"))).score([row("x")], num_generations=1)
    assert replaced.total == 0.0
    assert not replaced.unparsable


def test_40_ten_thousand_rows_with_some_bad_golds_do_not_stop_a_run(caplog: pytest.LogCaptureFixture) -> None:
    scorer = row_scorer()
    with caplog.at_level(logging.WARNING, "rewardkit"):
        for _ in range(40):
            golds = ["x" if place % 10 == 0 else "y" if place % 10 == 5 else "1" for place in range(250)]
            scores = scorer.score(list(map(row, golds)))
    assert sum(score.scored for score in scores) == 200
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2  # each value once
    assert all("cannot read the gold answer in row" in one for one in said)


def test_40_a_wrong_column_stops_after_64_rows_and_ever_after() -> None:
    scorer = row_scorer()
    scorer.score([row(f"x{number}") for number in range(63)])
    for _ in range(2):
        with pytest.raises(CoercionError, match="cannot read any gold answer"):
            scorer.score([row("x")])
    with pytest.raises(CoercionError, match="cannot read any gold answer"):  # a trainer that hands over whole batches
        row_scorer().score([row("x"), row("y")], strict=True)
    endless = row_scorer(limits=rk.Limits(max_failure_rate=1.0))
    assert not any(score.scored for score in endless.score([row(f"x{number}") for number in range(200)]))


def test_40_raise_ends_a_run_of_rows_as_well() -> None:
    scorer = row_scorer(rk.number("answer", on_unparsable_gold="raise"))
    assert scorer.score([row("1")])[0].scored
    for gold in ("x", "1"):
        with pytest.raises(CoercionError, match="'x' cannot be parsed"):
            scorer.score([row(gold)])


def test_40_a_probe_lists_all_golds_that_cannot_be_read() -> None:
    examples = [{"answer": "1"}, {"answer": "x"}, {"answer": "x"}, *({"answer": f"y{number}"} for number in range(12))]
    with pytest.raises(CoercionError) as caught:
        row_scorer(examples=examples)
    lines = str(caught.value).splitlines()
    assert lines[0] == "13 gold answers in examples= cannot be read:"
    assert lines[1].startswith("  example 1: number: column 'answer': 'x' cannot be parsed")
    assert lines[-1] == "  ... and 3 more"
    row_scorer(rk.number("answer", on_unparsable_gold="fail"), examples=examples)


def test_40_the_log_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    reports = FaultReport()
    golds = [f"x{number}" for number in range(2 * MAX_GOLDS)]
    table = trained(rk.number("answer"), ["1"] * len(golds), answer=golds)
    with caplog.at_level(logging.WARNING, "rewardkit"):
        reports.add(table)
        reports.add(table)
    assert MAX_GOLDS <= len(caplog.records) <= MAX_GOLDS + 10
