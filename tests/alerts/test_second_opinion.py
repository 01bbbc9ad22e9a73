"""Second opinions: a judge says of each completion of an alert whether it does the task."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.alerts import Alert, Evidence
from rewardkit.alerts.second_opinion import RowVerdict, SecondOpinion, second_opinions

TEXTS = ["1 2 3", "2", "three", "2"]
EVIDENCE = Evidence(
    steps=np.arange(4),
    prompts=np.array(["1+1", "1+1", "1+2", "3-1"]),
    totals=np.ones(4),
    completions=TEXTS,
    prompt_texts=["1+1", "1+1", "1+2", "3-1"],
)


def alert(*rows: int) -> Alert:
    return Alert(kind="proxy", title="a", text="b", strength=0.9, steps=(0, 3), rows=rows)


@rk.reward
def fair(completion: str, prompt: str) -> rk.Score:
    if completion == "three":
        return rk.Score(0.5, "not a number")
    return rk.Score(float(completion == "2"), f"{completion} for {prompt}")


@rk.reward
def strict(completion: str) -> rk.Score:
    return rk.Score(0.0, "never")


def test_each_alert_has_a_verdict_with_its_reason_on_each_of_its_completions() -> None:
    first, second = second_opinions([alert(3, 0, 2), alert(0)], EVIDENCE, fair)
    assert first.rows == (
        RowVerdict(3, "does", "2 for 3-1"),
        RowVerdict(0, "does_not", "1 2 3 for 1+1"),
        RowVerdict(2, "undecided", "not a number"),
    )
    assert first.counts == {"does": 1, "does_not": 1, "undecided": 1}
    assert second.rows == first.rows[1:2]


def test_a_completion_of_several_alerts_is_judged_once() -> None:
    judged: list[str] = []

    @rk.reward(deterministic=False)
    def counting(completion: str) -> float:
        judged.append(completion)
        return 1.0

    second_opinions([alert(0, 1), alert(1, 2)], EVIDENCE, counting)
    assert judged == TEXTS[:3]


def test_texts_can_be_read_by_functions_and_alerts_may_have_no_rows() -> None:
    read = replace(EVIDENCE, completions=lambda rows: [TEXTS[row] for row in rows.tolist()])
    assert second_opinions([alert(), alert(1)], read, fair) == [
        SecondOpinion(()),
        SecondOpinion((RowVerdict(1, "does", "2 for 1+1"),)),
    ]
    assert second_opinions([], read, fair) == []


def test_a_judge_gets_the_completions_that_batch_of_returns() -> None:
    def batch_of(rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> rk.Batch:
        return rk.Batch(["2"] * len(rows), columns={"answer": [str(row) for row in rows.tolist()]})

    [opinion] = second_opinions([alert(2, 1)], EVIDENCE, rk.exact("answer"), batch_of=batch_of)
    assert [one.verdict for one in opinion.rows] == ["does", "does_not"]


@rk.reward(on_failure=0.0)
def unreachable(completion: str) -> float:
    raise rk.RewardFailure("the judge is down")


@rk.reward
def broken(completion: str) -> float:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("judge", "why"),
    [(unreachable, "is down"), (broken, "ZeroDivisionError"), (rk.exact("gold"), "gold"), (3, "reward")],
    ids=["down", "broken", "another column", "no reward"],
)
def test_whatever_goes_wrong_with_the_judge_is_undecided_with_the_reason(judge: object, why: str) -> None:
    [opinion] = second_opinions([alert(0, 2)], EVIDENCE, judge)  # type: ignore[arg-type]
    assert opinion.counts == {"does": 0, "does_not": 0, "undecided": 2}
    assert all(why in one.reason for one in opinion.rows)


def test_evidence_without_texts_is_undecided_with_the_reason() -> None:
    [opinion] = second_opinions([alert(0)], replace(EVIDENCE, completions=None), fair)
    assert "completions" in opinion.rows[0].reason


def test_several_judges_are_named_in_the_reason() -> None:
    panel = rk.judge_panel([fair.named("a"), strict.named("b")])
    [opinion] = second_opinions([alert(1)], EVIDENCE, panel)
    assert opinion.rows[0].verdict == "undecided"
    assert "a: 2 for 1+1; b: never" in opinion.rows[0].reason


@given(st.floats(0.0, 1.0) | st.just(math.nan))
def test_a_verdict_is_clear_at_the_ends_of_the_scale_alone(score: float) -> None:
    @rk.reward
    def constant(completion: str) -> float | None:
        return None if math.isnan(score) else score

    [opinion] = second_opinions([alert(0)], EVIDENCE, constant)
    third = "does" if score >= 2 / 3 else "does_not" if score <= 1 / 3 else "undecided"
    assert opinion.rows[0].verdict == third
