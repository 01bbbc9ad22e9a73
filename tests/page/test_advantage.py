"""The steps on the page end at the recorded advantage, for every way in which TRL computes it, and say so if not."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rewardkit.analyze.advantages import WAYS, Derivation, Way
from rewardkit.batch.column import Floats
from rewardkit.page.advantage import explain_advantage
from rewardkit.page.watcher import Watched
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import Record
from tests.page.recorded import record


def opened(path: Path, *records: Record) -> Watched:
    with Recorder(path, patience=math.inf) as recorder:
        for one in records:
            recorder.record(one)
    return Watched.open("run", path)


def derived(one: Record, way: Way) -> Floats:
    table = one.table
    components = {name: column.scored for name, column in table.components.items()}
    assert one.groups is not None
    return Derivation.of(way, table.total, table.terms, one.groups, components).advantages


@pytest.mark.parametrize("way", WAYS)
def test_the_steps_end_at_the_recorded_advantage(tmp_path: Path, way: Way) -> None:
    one = record(3)
    advantages = derived(one, way)
    watched = opened(tmp_path, replace(one, advantages=advantages))
    for row in range(len(advantages) - 1):
        found = explain_advantage(watched, row)
        lines = {step.label: step for step in found.steps}
        assert float(lines["advantage"].text) == pytest.approx(advantages[row], abs=6e-4)
        assert float(found.equation.split(" = ")[1]) == pytest.approx(advantages[row], abs=6e-4)
        terms = [float(step.text) for step in found.steps if step.kind == "term"]
        summed = next(step for step in found.steps if step.kind == "sum")
        assert sum(terms) == pytest.approx(float(summed.text), abs=3e-3)
        spread = [step.text for step in found.steps if step.kind == "divide"]
        divisor = float(spread[0].split(" + ")[0]) + 1e-4 if spread else 1.0
        assert float(lines["difference"].text) / divisor == pytest.approx(advantages[row], abs=2e-2)
        assert (way == "none") == (not spread)
        assert all(bool(step.detail) == (way == "each") for step in found.steps if step.kind == "term")


def test_the_bars_of_the_terms_stack_up_to_the_total(tmp_path: Path) -> None:
    watched = opened(tmp_path, record(3))
    form, answer, total, mean, difference, *_ = explain_advantage(watched, 2).steps
    assert (form.low, answer.low) == (0.0, form.high)
    assert (total.low, total.high) == pytest.approx((0.0, answer.high))
    assert mean.high == pytest.approx(total.high)
    assert difference.high == pytest.approx(mean.low)


def test_a_batch_is_put_together_from_all_processes(tmp_path: Path) -> None:
    one = record(3)
    advantages, groups = derived(one, "batch"), one.groups
    assert groups is not None
    for rank, (start, stop) in enumerate(((0, 8), (8, 12))):
        part = Record(
            one.table.part(start, stop),
            one.version,
            step=3,
            groups=groups[start:stop] - groups[start],
            advantages=advantages[start:stop],
        )
        with Recorder(tmp_path, attempt=1, rank=rank, patience=math.inf) as recorder:
            recorder.record(part)
    watched = Watched.open("run", tmp_path)
    row = watched.scores.find((1, 1, 0, 0))
    assert row is not None
    found = explain_advantage(watched, row)
    assert found.how == "Divided by the spread of the batch"
    assert len(found.dots) + found.without == 4


@pytest.mark.parametrize(
    ("advantages", "said"),
    [(None, "No advantage is recorded"), (np.linspace(-3.0, 3.0, 12), "None of TRL's methods")],
)
def test_what_cannot_be_explained_is_said(tmp_path: Path, advantages: Any, said: str) -> None:
    watched = opened(tmp_path, replace(record(3), advantages=advantages))
    found = explain_advantage(watched, 0)
    assert said in found.note
    assert not found.equation
    assert [step.kind for step in found.steps][:5] == ["term", "term", "sum", "minus", "sum"]
    assert any(step.label == "advantage" for step in found.steps) == (advantages is not None)


def test_an_unscorable_completion_has_no_steps(tmp_path: Path) -> None:
    watched = opened(tmp_path, record(3))
    found = explain_advantage(watched, 11)
    assert "could not be scored" in found.note
    assert [step.label for step in found.steps] == ["advantage"]
    assert found.without == 1
    assert not any(dot.chosen for dot in found.dots)


def test_a_group_without_differences_is_named(tmp_path: Path) -> None:
    one = record(3)
    table = replace(one.table, total=np.ones(12), terms={"form": np.ones(12), "answer": np.zeros(12)})
    watched = opened(tmp_path, replace(one, table=table, advantages=np.zeros(12)))
    found = explain_advantage(watched, 0)
    assert "the same total" in found.note
    assert {dot.place for dot in found.dots} == {0.5}


def test_dots_are_lined_up_by_a_component(tmp_path: Path) -> None:
    watched = opened(tmp_path, record(3))
    found = explain_advantage(watched, 1, by="form")
    assert found.ends == ("0.000", "1.000")
    assert sorted(dot.place for dot in found.dots) == [0.0, 0.0, 1.0, 1.0]
    assert [dot.chosen for dot in found.dots] == [False, True, False, False]
