"""The picture of a training needs no complete history."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit_adapters.runner import metrics, summary as plot

FIRST = {"step": 1.0, "reward": 0.1, "rewards/a/mean": 0.1, "components/a": 0.1, "weights/a": 0.0}
LATER = {"step": 5.0, "reward": -0.5, "rewards/a/mean": 1.0, "rewards/b/mean": -1.5, "components/b": 7.0}


@pytest.mark.parametrize(
    ("history", "before", "after"),
    [
        ([], None, None),
        ([], 0.1, 0.2),
        ([FIRST], 0.0, 0.1),
        ([FIRST, LATER], None, 0.5),
        ([FIRST, LATER | {"weights/a": 1.0}], -3.0, float("nan")),
    ],
)
@pytest.mark.filterwarnings("error")
def test_the_picture_bears_what_there_is(
    history: list[metrics.Metrics], before: float | None, after: float | None, tmp_path: Path
) -> None:
    plot.draw(history, before, after, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1_000


def test_the_trainers_log_becomes_lines() -> None:
    log: list[dict[str, object]] = [
        {"loss": 0.1, **FIRST},
        {"eval_reward": 0.3, "step": 1},
        {**LATER, "note": "x"},
        {"train_runtime": 3.0},
    ]
    history = metrics.history(log)
    assert [row["step"] for row in history] == [1.0, 5.0]
    assert metrics.series(history, metrics.components) == {"a": ([1.0], [0.1]), "b": ([5.0], [7.0])}
    assert metrics.terms(history[1]) == {"a": 1.0, "b": -1.5}


def test_a_step_without_a_finite_reward_is_left_out() -> None:
    assert metrics.history([FIRST | {"reward": float("nan")}, FIRST | {"reward": float("inf")}]) == []


def test_terms_are_found_where_the_trainer_holds_components() -> None:
    row = {"rewards/total/mean": 0.5, "contributions/a": 0.2, "contributions/b": 0.3}
    assert metrics.terms(row) == {"a": 0.2, "b": 0.3}


def test_smoothing_keeps_the_length_and_a_constant() -> None:
    for length in (1, 2, 6, 30):
        assert plot.smooth([0.25] * length).tolist() == pytest.approx([0.25] * length)
