"""Calibration of a reward with labels: the numbers, the warnings, the text and the figure."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.analyze.calibration import Calibration, calibration_of
from rewardkit.report.document import aligned
from rewardkit.report.values import excerpt, percent


@rk.reward
def right(completion: str, answer: str) -> rk.Score:
    return rk.Score(float(completion == answer), note="" if completion == answer else f"not {answer}")


@rk.reward
def long(completion: str) -> float:
    return min(1.0, len(completion) / 10)


TEXTS = ["42", "forty-three", "42", "41", "7", "seven"]
GROUPS = np.array([0, 0, 0, 0, 1, 1])
GOOD = np.array([True, False, True, False, True, False])


def calibrated(reward: Any, labels: Any = GOOD, **options: Any) -> Calibration:
    table = rk.score(reward, TEXTS, answer=["42"] * 4 + ["7"] * 2)
    return calibration_of(table, labels, GROUPS, replicates=50, **options)


def test_a_component_that_scores_bad_completions_higher_is_named() -> None:
    found = calibrated(0.5 * right + 0.5 * long)
    assert (found.rows, found.groups, found.good, found.bad) == (6, 2, 3, 3)
    assert found["right"].auc == 1.0
    assert found["long"].auc == pytest.approx(1 / 9)
    assert found.reversed_components == ("long",)
    assert found["long"].within.wrong == 3
    assert found["long"].within.tied == 2
    assert any("'long' has an AUC of 0.111" in warning for warning in found.warnings)
    assert found.total.best is not None
    assert found.total.best.accuracy == 1.0
    assert found.total.too_high == found.total.too_low == ()
    assert found["right"].best is not None
    assert found["long"].best is None
    assert found["long"].too_high[0].scores == {"long": 1.0}
    with pytest.raises(KeyError, match="Did you mean 'right'"):
        found["rigth"]


def test_misjudged_completions_have_their_notes_and_row_numbers() -> None:
    found = calibrated(0.2 * right + long, rows=np.arange(10, 16), cases=1)
    (high,), (low,) = found.total.too_high, found.total.too_low
    assert (high.row, high.completion, high.scores, high.notes) == (
        11,
        "forty-three",
        {"right": 0.0, "long": 1.0},
        {"right": "not 42"},
    )
    assert low.row == 14
    assert low.score == pytest.approx(0.3)
    shown = str(found)
    assert "row 11, 1 (right 0, long 1): forty-three" in shown
    assert "right  not 42" in shown


def test_the_threshold_argument_applies_to_the_total() -> None:
    found = calibrated(right, threshold=0.5)
    assert found.total.given is not None
    assert found.total.given.false_positives == 0
    assert found["right"].given is None
    assert "Confusion of the total at 0.5 (your threshold)" in str(found)


def test_one_class_has_no_auc() -> None:
    found = calibrated(right, np.ones(6, dtype=np.bool_))
    assert (found.total.auc, found.total.interval, found.total.best) == (None, None, None)
    assert "all 6 labels are good" in found.warnings[0]
    assert "no prompt has both" in found.warnings[-1]
    assert str(found)


def test_grades_are_ranked_and_have_no_threshold() -> None:
    found = calibrated(right, np.array([5.0, 1, 4, 2, 3, 1]))
    assert (found.good, found.total.best, found.total.interval, found.total.calibration_error) == (None,) * 4
    assert found.total.spearman == pytest.approx(13.5 / (13.5 * 17) ** 0.5)
    assert found.total.auc == pytest.approx((9 + 5 / 2) / 14)  # 3 pairs tie among the right ones, 2 among the wrong
    assert "grades" in str(found)


def test_rows_without_a_score_are_left_out_and_reported() -> None:
    @rk.reward
    def down(completion: str) -> float:
        if completion == "41":
            raise rk.RewardFailure("the service does not answer")
        return 1.0

    found = calibrated(down)
    assert (found.total.scored, found.total.unscored) == (5, 1)
    assert "'down' failed on 1 of 6 completions, first in row 3" in found.warnings[0]
    assert any("1 of 6 completions have no total" in warning for warning in found.warnings)


def test_all_unscored() -> None:
    @rk.reward
    def none(completion: str) -> float | None:
        return None

    found = calibrated(none)
    assert (found.total.auc, found.total.saturation, found.total.reliability) == (None, None, ())
    assert str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    if importlib.util.find_spec("matplotlib"):
        with pytest.raises(rk.RewardDefinitionError, match="no scored row"):
            found.plot()


def test_scores_beyond_1_have_no_calibration_error() -> None:
    assert calibrated(right).total.calibration_error == 0.0
    assert calibrated(2.0 * right).total.calibration_error is None
    assert calibrated(right, bounds={"total": (0.0, 1.2)}).total.calibration_error is None


@given(st.lists(st.booleans(), min_size=6, max_size=6))
def test_any_labels_print_and_are_json(labels: list[bool]) -> None:
    found = calibrated(0.5 * right + 0.5 * long, np.array(labels))
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["total"]["auc"] == found.total.auc
    assert plain["total"]["within"]["accuracy"] == found.total.within.accuracy
    assert all(line == line.rstrip() for line in str(found).splitlines())


def test_labels_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(rk.errors.BindingError, match="labels has 2 values for 6 rows"):
        calibrated(right, np.array([True, False]))


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")
@pytest.mark.parametrize("labels", [GOOD, np.array([5.0, 1, 4, 2, 3, 1]), np.ones(6, dtype=np.bool_)])
def test_the_plot_is_saved(tmp_path: Path, labels: Any) -> None:
    figure = calibrated(0.5 * right + 0.5 * long, labels).plot(tmp_path / "reliability.png", component="long")
    assert (tmp_path / "reliability.png").read_bytes().startswith(b"\x89PNG")
    assert len(figure.axes) == 2


def test_numbers_and_texts_are_formatted() -> None:
    assert aligned([["", "AUC"], ["total", "0.93"]]) == ["        AUC", "total  0.93"]
    assert [percent(share) for share in (0.0, 0.0001, 0.625, 0.99999, 1.0, None)] == [
        "0%",
        "<0.1%",
        "62.5%",
        ">99.9%",
        "100%",
        "-",
    ]
    assert excerpt("a" * 50 + "b" * 50, 15) == "aaaaa ... bbbbb"
