"""Weights over a training, as numbers and as a figure."""

from __future__ import annotations

import importlib.util
import io
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.progress.schedule import PerformanceSchedule
from rewardkit.schedules import linear, track, when_reached

plots = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib: pip install 'rewardkit-sdk[plot]'"
)


@rk.reward
def form(completion: str) -> float:
    return 0.75


@rk.reward
def right(completion: str) -> float:
    return 0.25


@rk.reward
def terse(completion: str) -> float:
    return 0.5


untyped: Any = form
LEARNED = when_reached("form", level=0.5, window=2)
STAGED = rk.curriculum([rk.Stage("form", form, until=LEARNED), rk.Stage("all", 0.5 * form + right)])


def test_weights_are_the_factors_of_the_terms() -> None:
    weights = (form * linear(1.0, 0.0) + right + 0.5 * form).weights_over_training(4)
    assert {name: values.tolist() for name, values in weights.items()} == {
        "form": [1.5, 1.25, 1.0, 0.75, 0.5],
        "right": [1.0] * 5,
    }


def test_gates_count_as_open_means_as_divided_and_monitors_not_at_all() -> None:
    tree = rk.gate(form, 2.0 * right, otherwise=-0.5) + rk.mean({terse: 3.0, form: 1.0}) + rk.monitor(right)
    weights = tree.weights_over_training(1)
    assert {name: values.tolist() for name, values in weights.items()} == {
        "right": [2.0, 2.0],
        "form_gate.otherwise": [1.0, 1.0],
        "terse": [0.75, 0.75],
        "form": [0.25, 0.25],
    }


@given(st.integers(0, 10), st.integers(1, 10))
def test_they_are_the_weights_of_the_table(step: int, max_steps: int) -> None:
    tree = linear(1.0, 0.5) * (form + linear(0.0, 1.0, end=0.5) * right) + rk.route({"a": terse, "b": form}, by="task")
    step = min(step, max_steps)
    table = rk.score(tree, ["", ""], task=["a", "b"], progress=rk.Progress(step, max_steps))
    weights = tree.weights_over_training(max_steps)
    for name in ("right", "terse"):
        assert table.weights[name] == pytest.approx(weights[name][step])


def test_schedules_by_performance_follow_the_means_that_are_passed() -> None:
    weights = STAGED.weights_over_training(4, means={"form": [0.6, 0.6], "unknown": [1.0]})
    assert weights["form"].tolist() == [1.0, 1.0, 0.5, 0.5, 0.5]
    assert weights["right"].tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]


def test_nan_is_a_batch_without_a_score() -> None:
    weights = STAGED.weights_over_training(3, means={"form": np.array([0.6, math.nan, 0.6])})  # type: ignore[dict-item]
    assert weights["right"].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_a_course_is_that_of_states_kept_batch_by_batch() -> None:
    means = [0.1, 0.5, 0.9, 0.2]
    fading = track("form", 0.2, 0.8, half_life=2.0)
    assert isinstance(fading, PerformanceSchedule)
    weights = (form + fading * right).weights_over_training(4, means={"form": means})
    state = fading.init()
    for step, mean in enumerate(means):
        assert weights["right"][step] == fading.value(state)
        state = fading.update(state, {"form": mean})
    assert weights["right"][4] == fading.value(state)


@plots
@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: form.weights_over_training(0), r"max_steps must be .* got 0"),
        (lambda: untyped.weights_over_training(2.5), r"max_steps must be .* got 2.5"),
        (lambda: untyped.weights_over_training(means={"form": 0.5}), "must be a list"),
        (lambda: untyped.weights_over_training(means={"form": ["x"]}), "must be a list"),
        (lambda: form.plot_schedules(0), "plot_schedules: max_steps must be"),
        (lambda: rk.monitor(form).plot_schedules(), "has no weights"),
    ],
)
def test_invalid_plots_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


def test_means_that_are_missing_are_asked_for() -> None:
    with pytest.raises(rk.errors.BindingError, match=r"follows 'form', .*means=\{'form': \[...\]\}"):
        STAGED.weights_over_training(means={"right": [1.0]})
    for look in (STAGED.weights_over_training, STAGED.plot_schedules):
        with pytest.raises(
            rk.errors.BindingError, match=r"follows 'form', which is not in means=. Did you mean 'from'\?"
        ):
            look(means={"from": [1.0]})


def lines(figure: Any) -> list[dict[str, list[float]]]:
    """Each panel's labeled lines."""
    return [
        {line.get_label(): line.get_ydata().tolist() for line in axis.lines if line.get_label()[0] != "_"}
        for axis in figure.axes
    ]


def drawn(figure: Any) -> Any:
    figure.savefig(io.BytesIO())
    return figure


@plots
def test_a_figure_draws_weights_thresholds_and_stages() -> None:
    tree = STAGED + rk.gate(terse, right, threshold=linear(0.0, 1.0))
    figure = drawn(tree.plot_schedules(2, means={"form": [0.6, 0.6]}))
    assert [axis.get_ylabel() for axis in figure.axes] == ["weight", "stage", "threshold"]
    assert lines(figure) == [
        {"form": [1.0, 1.0, 0.5], "right": [1.0, 1.0, 2.0]},
        {"curriculum": [1.0, 1.0, 2.0]},
        {"terse_gate": [0.0, 0.5, 1.0]},
    ]


@plots
def test_without_means_it_draws_from_the_lowest_to_the_highest_course() -> None:
    figure = drawn(STAGED.plot_schedules(2))
    weight, stage = figure.axes
    assert lines(figure) == [{"form": [0.5] * 3, "right": [1.0] * 3}, {"curriculum": [2.0] * 3}]
    assert [line.get_ydata().tolist() for line in stage.lines] == [[2.0] * 3, [1.0] * 3]
    assert len(weight.collections) == 2


@plots
def test_it_draws_one_schedule() -> None:
    assert lines(drawn(linear(0.0, 1.0).plot(2))) == [{"linear(0, 1)": [0.0, 0.5, 1.0]}]
    figure = drawn((0.5 * LEARNED).plot(2, means={"form": [1.0, 1.0]}))
    assert list(lines(figure)[0].values()) == [[0.0, 0.0, 0.5]]


@plots
def test_it_draws_names_that_mean_something_to_matplotlib() -> None:
    figure = drawn((form.named("_hidden") + right.named(r"$\foo{$")).plot_schedules(1))
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown == [" _hidden", r"\$\foo{\$"]
