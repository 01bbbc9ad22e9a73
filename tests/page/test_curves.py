"""The graphs as series."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.batch.score import SKIPPED
from rewardkit.page.charts import extent_of, rows_of, spec_of
from rewardkit.page.curves import SECTIONS, Line, Metrics, Panel, _others, panels, smoothed, thinned, version_marks
from rewardkit.page.watcher import Watched
from rewardkit.record.recorder import Recorder
from tests.page.recorded import changing, ordinary, record

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(np.array)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.open("run", ordinary(tmp_path_factory.mktemp("runs") / "run"))


def test_totals_equal_those_of_a_query(watched: Watched) -> None:
    total = next(panel for panel in watched.panels if panel.key == "total").lines[0]
    query = "select step, avg(total), stddev_pop(total) from scores where training group by step order by step"
    steps, means, deviations = map(np.array, zip(*watched.run.sql(query).fetchall(), strict=True))
    np.testing.assert_array_equal(total.x, steps)
    np.testing.assert_allclose(total.y, means)
    assert total.high is not None
    assert total.low is not None
    lowest, highest = watched.run.sql("select min(total), max(total) from scores").fetchall()[0]
    np.testing.assert_allclose(total.high, np.minimum(means + deviations, highest))
    np.testing.assert_allclose(total.low, np.maximum(means - deviations, lowest))
    assert (means + deviations > highest).any()


def test_lines_have_gaps_where_a_component_did_not_exist(tmp_path: Path) -> None:
    lines = {
        (panel.key, line.name): line for panel in Watched.open("run", changing(tmp_path)).panels for line in panel.lines
    }
    missing = [step - 1 for step in range(41, 46)]
    for key in ("components", "terms"):
        assert np.flatnonzero(np.isnan(lines[key, "form"].y)).tolist() == missing
        assert not np.isnan(lines[key, "answer"].y).any()
    gate = lines["gates", "form"]
    assert gate.x.tolist() == list(range(1, 61))
    assert np.flatnonzero(np.isnan(gate.y)).tolist() == list(range(18, 60))
    assert not np.isnan(lines["metric/trainer/loss", "loss"].y).any()


def test_all_graphs_have_the_same_axis() -> None:
    early, late = (Panel("p", "p", "", [Line("a", np.array(x), np.array(x))]) for x in ([3.0, 180.0], [5.0, 400.0]))
    extent = extent_of([early, late])
    assert extent == (3.0, 400.0)
    assert spec_of([("run", early)], [], extent=extent)["range"] == [3.0, 400.0]
    assert spec_of([("run", early)], [], extent=extent, zoom=(7.0, 9.0))["range"] == [7.0, 9.0]
    assert extent_of([Panel("p", "p", "", [Line("a", np.array([3.0]), np.array([1.0]))])]) is None


def test_conversations_have_graphs_of_their_own(tmp_path: Path, watched: Watched) -> None:
    names = (
        "turns",
        "calls",
        "errors",
        "unfinished",
        "pending",
        "malformed_calls",
        "broken",
        "calls/open",
        "calls/look",
    )
    metrics = {f"trajectory/{name}": float(number) for number, name in enumerate(names)}
    with Recorder(tmp_path, patience=math.inf) as recorder:
        recorder.record(record(1, metrics=metrics))
    drawn = {panel.key: [line.name for line in panel.lines] for panel in Watched.open("run", tmp_path).panels}
    assert drawn["turns"] == ["turns", "calls", "errors"]
    assert drawn["endings"] == ["unfinished", "pending", "malformed calls", "broken"]
    assert drawn["tools"] == ["look", "open"]
    assert not any(key.startswith("metric/trajectory/") for key in drawn)
    assert not {"turns", "endings", "tools"} & {panel.key for panel in watched.panels}


def test_a_constant_metric_is_still() -> None:
    steps = np.arange(3.0)
    constant, rising = Line("a", steps, np.array([1.0, 1.0, np.nan])), Line("b", steps, steps)
    assert Panel("x", "x", "", [constant, Line("c", steps[:1], steps[:1])]).still
    assert not Panel("x", "x", "", [constant, rising]).still


def test_everything_recorded_has_a_graph(watched: Watched) -> None:
    drawn = {panel.key for panel in watched.panels}
    expected = {"total", "components", "terms", "weights", "gates", "outcomes", "flat", "length", "diversity"}
    assert expected | {"metric/trainer/loss"} <= drawn
    assert {panel.section for panel in watched.panels} == set(SECTIONS)
    gates = next(panel for panel in watched.panels if panel.key == "gates")
    assert spec_of([("run", gates)], watched.components)["lines"][0]["named"]  # the legend says which gate


def test_judge_times_have_a_graph_and_limits_do_not() -> None:
    series = np.array([0.0, 1.0]), np.array([0.2, 0.3])
    metrics = Metrics(training={"judge_seconds_median/judge": series, "limit/tokens": series})
    assert [panel.key for panel in _others(metrics)] == ["metric/judge_seconds_median/judge"]


def test_outcomes_are_counted(watched: Watched) -> None:
    lines = {line.name: line for line in next(one for one in watched.panels if one.key == "outcomes").lines}
    assert lines["answer: failed"].y.tolist() == [1.0, 0.0] * 6
    assert lines["answer: errored"].y.tolist() == [0.0, 1.0] * 6
    assert lines["no total"].y.tolist() == [1.0] * 12


def test_outcomes_of_a_component_look_different(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run", patience=math.inf) as recorder:
        for step in (1, 2):
            one = record(step)
            one.table.components["answer"].codes[0] = SKIPPED
            one.table.components["answer"].values[0] = np.nan
            recorder.record(one)
    run = Watched.open("run", tmp_path / "run")
    outcomes = next(panel for panel in run.panels if panel.key == "outcomes")
    drawn = spec_of([("run", outcomes)], run.components)["lines"]
    looks = {line["name"]: (line["color"], line["dash"]) for line in drawn}
    assert [dash for _, dash in looks.values()] == ["solid", "dashed", "dotted", "solid"]
    assert len(set(looks.values())) == len(looks) == 4


def test_lines_are_in_the_order_of_the_components(watched: Watched) -> None:
    series = np.array([1.0]), np.array([0.2])
    metrics = Metrics(training={f"{kind}/{name}": series for kind in ("weights", "seconds") for name in "abc"})
    drawn = {panel.key: [line.name for line in panel.lines] for panel in panels(watched.scores, metrics, ["c", "a"])}
    assert drawn["weights"] == drawn["seconds"] == ["c", "a", "b"]


def test_groups_without_variance(tmp_path: Path, watched: Watched) -> None:
    flat = next(panel for panel in watched.panels if panel.key == "flat").lines[0]
    query = (
        "select avg(flat) from (select step, (max(total) - min(total) < 1e-9)::double flat from scores "
        'group by step, part, "group") group by step order by step'
    )
    np.testing.assert_allclose(flat.y, [share for (share,) in watched.run.sql(query).fetchall()])


def test_version_changes_are_marked(watched: Watched) -> None:
    assert version_marks(watched.scores) == [(7, "b" * 16)]


def test_smoothing_keeps_a_constant_and_gaps() -> None:
    assert smoothed(np.array([2.0, 2.0, 2.0]), 0.9) == pytest.approx([2.0, 2.0, 2.0])
    assert np.isnan(smoothed(np.array([1.0, np.nan, 1.0]), 0.5)).tolist() == [False, True, False]


@given(VALUES, st.floats(0.0, 0.99))
def test_smoothed_values_stay_within(values: np.typing.NDArray[np.float64], weight: float) -> None:
    found = smoothed(values, weight)
    assert found.min() >= values.min() - 1e-3
    assert found.max() <= values.max() + 1e-3


@given(VALUES, st.integers(1, 30))
def test_downsampled_lines_stay_within_bounds(values: np.typing.NDArray[np.float64], most: int) -> None:
    x, (y,) = thinned(np.arange(float(len(values))), [values], most)
    assert len(x) == len(y) <= max(most, len(values))
    assert len(x) <= most or len(values) <= most
    assert y.min() >= values.min() - 1e-6
    assert y.max() <= values.max() + 1e-6
    assert (np.diff(x) > 0).all()


def test_specs_are_json_without_nan(watched: Watched) -> None:
    for panel in watched.panels:
        spec = spec_of([("run", panel)], watched.components, smoothing=0.6, zoom=(2.0, 9.0))
        json.dumps(spec, allow_nan=False)
        assert spec["range"] == [2.0, 9.0]


def test_a_component_has_one_color_everywhere(watched: Watched) -> None:
    specs = [spec_of([("run", panel)], watched.components) for panel in watched.panels]
    colors = {line["color"] for spec in specs for line in spec["lines"] if line["name"].startswith("answer")}
    assert len(colors) == 1


def test_overlaid_runs_differ_in_dashes(watched: Watched) -> None:
    panel = next(panel for panel in watched.panels if panel.key == "components")
    spec = spec_of([("a", panel), ("b", panel)], watched.components)
    assert {line["name"] for line in spec["lines"]} >= {"a: form", "b: form"}
    assert {(line["run"], line["dash"]) for line in spec["lines"]} == {("a", "solid"), ("b", "dashed")}


def test_names_are_escaped() -> None:
    line = Line("\u202e<b>\x1b", np.array([1.0]), np.array([1.0]))
    spec = spec_of([("run", Panel("p", "\u202et", "", [line]))], [])
    assert spec["lines"][0]["name"] == "\\u202e<b>\\x1b"
    assert spec["title"] == "\\u202et"


def test_an_export_has_every_point(watched: Watched) -> None:
    panel = next(panel for panel in watched.panels if panel.key == "total")
    header, rows = rows_of([("run", panel)])
    assert header == ["step", "total", "total (low)", "total (high)"]
    assert [row[0] for row in rows] == list(range(1, 13))
    assert rows[0][1] == panel.lines[0].y[0]
