"""The graphs in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from tests.viewer.browsing import Visit

pytestmark = pytest.mark.slow
GRAPHS = ".plot[data-drawn]"
CHANGING = "/run/sweep%2Fchanging/graphs?smoothing=0"
_MODEL = """async (graph) => {
    const { echarts } = await import("nicegui-echart");
    return echarts.getInstanceByDom(document.querySelector(`[data-graph="${graph}"] .canvas`)).getOption();
}"""


def options(visit: Visit, graph: str) -> dict[str, Any]:
    """Return the options of ECharts with which a graph is drawn."""
    visit.page.locator(f"[data-graph='{graph}']").scroll_into_view_if_needed()
    visit.page.wait_for_selector(f"[data-graph='{graph}'] {GRAPHS}")
    found: dict[str, Any] = visit.page.evaluate(_MODEL, graph)
    return found


def lines(drawn: dict[str, Any]) -> dict[str, list[tuple[float, float | None]]]:
    points = {
        one["name"]: [point["value"] if isinstance(point, dict) else point for point in one["data"]]
        for one in drawn["series"]
    }
    return {name: [(x, y) for x, y in data] for name, data in points.items() if not name.startswith("\0")}


def test_graphs_share_an_axis_and_have_gaps(visit: Visit) -> None:
    visit.go(CHANGING, GRAPHS)
    for graph in ("total", "gates", "metric/trainer/loss"):
        axis = options(visit, graph)["xAxis"][0]
        assert (axis["min"], axis["max"]) == (1, 60)
    gate = lines(options(visit, "gates"))["form"]
    assert [x for x, y in gate if y is not None] == list(range(1, 19))
    form = lines(options(visit, "components"))["form"]
    assert [x for x, y in form if y is None] == [41, 42, 43, 44, 45]


def test_shares_above_one_are_not_cut(visit: Visit) -> None:
    visit.go(CHANGING, GRAPHS)
    options(visit, "advantage")
    reach = visit.page.evaluate(
        """async () => {
            const { echarts } = await import("nicegui-echart");
            const chart = echarts.getInstanceByDom(document.querySelector('[data-graph="advantage"] .canvas'));
            const rows = [1.5, -0.5].map((y) => chart.convertToPixel("grid", [30, y])[1]);
            return [...rows.map((y) => chart.containPixel("grid", [200, y])), rows[0] < rows[1]];
        }"""
    )
    assert reach == [True, True, True]


def test_labels_of_versions_do_not_overlap(visit: Visit) -> None:
    visit.go(CHANGING, GRAPHS)
    (marks,) = [one for one in options(visit, "total")["series"] if one["name"] == "\0marks"]
    labels = [(mark["xAxis"], mark["label"]["show"]) for mark in marks["markLine"]["data"]]
    assert labels == [(20, True), (21, False), (22, False), (50, True)]
