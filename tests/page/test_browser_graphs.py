"""The graphs in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.browsing import Visit

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


def test_a_click_shows_the_completions_behind_a_jump(visit: Visit) -> None:
    visit.go(CHANGING, GRAPHS)
    options(visit, "components")
    x, y = visit.page.evaluate(
        """async () => {
            const { echarts } = await import("nicegui-echart");
            const canvas = document.querySelector('[data-graph="components"] .canvas');
            const { left, top } = canvas.getBoundingClientRect();
            const [x, y] = echarts.getInstanceByDom(canvas).convertToPixel("grid", [31, 0.55]);
            return [left + x, top + y];
        }"""
    )
    visit.page.mouse.click(x, y)
    visit.page.wait_for_selector(".verdicts p")
    visit.at("/run/sweep/changing/explain?steps=31-31&by=answer")
    assert visit.text(".verdicts p") == "answer rose by 0.400: from 0.150 in step 30 to 0.550 in step 31."
    facts = dict(zip(visit.texts(".facts dt"), visit.texts(".facts dd:nth-child(2)"), strict=True))
    assert facts["Jump"] == facts["Sum of contributions"] == facts["Same prompts"] == "+0.400"
    assert facts["New prompts"] == facts["Changed mix"] == "+0.000"
    rows = visit.texts(".grid tbody tr td:first-child")
    assert len(rows) == 12
    numbers = [float(row) for row in rows[:-1]]
    assert numbers == sorted(numbers, reverse=True)
    assert sum(numbers) == pytest.approx(0.4, abs=1e-3)
    visit.page.locator(".grid tbody tr").first.click()
    visit.page.wait_for_selector(".pane pre.text")
    visit.at("/completions?")
    visit.at("steps=31-31")
    visit.page.go_back()
    visit.page.wait_for_selector(".verdicts p")
    visit.page.go_back()
    visit.page.wait_for_selector(".graph[data-graph=total]")


def test_the_first_step_has_nothing_to_compare_with(visit: Visit) -> None:
    visit.go("/run/sweep/changing/explain?steps=1-1", ".verdicts p")
    assert visit.text(".picked") == "step 1 ×\ncompared with the steps before step 1"
    assert visit.text(".verdicts p").startswith("No completion in the steps before step 1 has this score")
    visit.go("/run/sweep/changing/explain?steps=2-4", ".verdicts p")
    assert visit.text(".picked") == "steps 2 to 4 ×\ncompared with step 1"


def drag(visit: Visit, graph: str, ends: tuple[float, float]) -> None:
    visit.page.locator(f"{graph} .plot").scroll_into_view_if_needed()
    box = visit.page.locator(f"{graph} .plot").bounding_box()
    visit.page.mouse.move(box["x"] + ends[0] * box["width"], box["y"] + 90)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + ends[1] * box["width"], box["y"] + 90, steps=3)
    visit.page.mouse.up()


def test_steps_are_brushed_and_compared_with_others(visit: Visit) -> None:
    visit.go(CHANGING, GRAPHS)
    visit.page.locator(".choices button", has_text="explain").click()
    visit.until("location.search.includes('drag=explain')")
    drag(visit, "[data-graph=total]", (0.6, 0.8))
    visit.page.wait_for_selector(".verdicts p")
    chosen = visit.text(".picked button.on")
    assert chosen.startswith("steps ")
    visit.page.locator(".choices button", has_text="before").click()
    drag(visit, ".changes", (0.1, 0.3))
    visit.until("location.search.includes('before=')")
    visit.page.locator(".picked button", has_text="compared with").wait_for()
    assert visit.text(".picked button.on") == chosen
    visit.page.locator("select").select_option("answer")
    visit.until("document.querySelector('.verdicts p').textContent.startsWith('answer rose by 0.4')")
    visit.page.locator("th button", has_text="Step").click()
    visit.until("location.search.includes('order=step')")
    visit.page.locator(".picked button", has_text="compared with").click()
    visit.until("!location.search.includes('before=')")
    visit.page.locator(".picked button.on").first.click()
    visit.page.get_by_text("The newest tenth: steps 55 to 60").wait_for()


def test_a_graph_is_used_with_the_keyboard(visit: Visit) -> None:
    visit.go(CHANGING, GRAPHS)
    plot = visit.page.locator("[data-graph=components] .plot")
    about = visit.page.locator(f"id={plot.get_attribute('aria-describedby')}")
    assert "answer: from 0.15 at step 1 to 0.55 at step 60, between 0.15 and 0.55" in str(about.text_content())
    assert plot.get_attribute("aria-label") == "Components"
    plot.focus()
    visit.page.keyboard.press("ArrowRight")
    assert "step 1: form 0.667, answer 0.15" in str(plot.locator("[aria-live]").text_content())
    visit.page.wait_for_selector(".tip")
    for _ in range(4):
        visit.page.keyboard.press("Shift+ArrowRight")
    assert str(plot.locator("[aria-live]").text_content()).startswith("from step 1 to step 5")
    visit.page.keyboard.press("Escape")
    visit.page.keyboard.press("End")
    visit.page.keyboard.press("Shift+ArrowLeft")
    visit.page.keyboard.press("z")
    visit.until("location.search.includes('steps=59-60')")
    visit.page.keyboard.press("g")
    visit.until("!location.search.includes('steps=')")
    plot.focus()
    visit.page.keyboard.press("Home")
    visit.page.keyboard.press("Shift+PageDown")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".verdicts p")
    visit.at("/explain?steps=1-11&by=form")
    assert visit.place.endswith("/explain?steps=1-11&by=form")
    visit.page.get_by_text("there is nothing to compare").wait_for()


def test_export_buttons_appear_on_hover_or_focus(visit: Visit) -> None:
    visit.go(CHANGING, GRAPHS)
    seen = "Number(getComputedStyle(document.querySelector('[data-graph=total] .tools')).opacity)"
    visit.page.mouse.move(0, 0)
    assert visit.page.evaluate(seen) == 0
    visit.page.locator("[data-graph=total]").hover()
    assert visit.page.evaluate(seen) == 1
    visit.page.mouse.move(0, 0)
    assert visit.page.evaluate(seen) == 0
    visit.page.locator("[data-graph=total] button", has_text="PNG").focus()
    assert visit.page.evaluate(seen) == 1


def test_the_selected_steps_hold_in_all_tabs(visit: Visit) -> None:
    visit.go("/run/sweep/changing/explain?steps=31-32&by=answer", ".verdicts p")
    visit.page.locator(".tabs a", has_text="Completions").click()
    visit.page.wait_for_selector(".pane pre.text")
    visit.at("steps=31-32&by=answer")
    visit.until("document.querySelector('.table-head .soft').textContent === '8 of 240'")
    assert visit.text(".picked button.on").startswith("steps 31 to 32")
    visit.page.locator(".tabs a", has_text="Reward logs").click()
    visit.page.get_by_text("4 lines").wait_for()
    visit.at("steps=31-32&by=answer")
    visit.page.locator("button.on", has_text="steps 31 to 32").click()
    visit.until("!location.search.includes('steps=')")
    visit.page.get_by_text("120 lines").wait_for()
    visit.page.locator(".tabs a", has_text="Completions").click()
    visit.until("document.querySelector('.table-head .soft')?.textContent === '240'")
    assert visit.page.locator(".picked").count() == 0
    visit.go("/run/sweep/changing/completions?steps=900-901", ".prompts .grid")
    visit.page.get_by_text("No prompt matches.").wait_for()
    visit.page.locator(".picked button.on").click()
    visit.page.wait_for_selector(".pane pre.text")
