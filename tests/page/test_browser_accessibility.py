"""axe-core, which checks what screen readers and weak eyes need, over every tab, light and dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.browsing import Visit, serving

pytestmark = pytest.mark.slow
TABS = {
    "/": "tr[data-key=first] .badge.finished",
    "/run/first/graphs": ".plot[data-drawn]",
    "/run/first/completions?left=1.0.0.0&right=1.0.11.2&columns=column.level,seen,labels": ".pane pre.text",
    "/run/sweep/tools/completions?left=1.0.0.0&right=1.0.5.2": ".transcript .turn",
    "/run/sweep/tools/completions?view=rendered&q=calls>1": ".transcript .turn",
    "/run/sweep/marked/completions?view=rendered&open=1.0.1.0&mark=step": ".detail .rendered math",
    "/run/first/logs": ".rates tbody tr",
    "/run/certain/suspicious?observations=1": ".alert",
    "/run/first/compare?with=sweep%2Fsecond": ".page .grid tbody tr[data-key]",
    "/run/first/explain?steps=6-9": ".page .grid tbody tr[data-key]",
    "/run/first/versions": ".page .grid tbody tr[data-key]",
    "/run/nowhere/graphs": ".empty h2",
}


@pytest.fixture(scope="module")
def labeling(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    labels = tmp_path_factory.mktemp("labeled") / "labels.jsonl"
    with serving(folder, options=("--labels", str(labels))) as address:
        yield address


def violations(page: Any) -> list[str]:
    """Return what axe finds: rule, element, message."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python").Axe()
    return [
        f"{found['impact']} {found['id']}: {node['html'][:120]}: {message['message'][:160]}"
        for found in axe.run(page).response["violations"]
        for node in found["nodes"]
        for message in [*node["any"], *node["all"], *node["none"]][:1]
    ]


_CONTROLS = """[...document.querySelectorAll(".page a[href], .top a[href], button, input, select")]
    .filter((one) => one.offsetParent && !one.closest("th"))
    .map((one) => one.getAttribute("aria-label") || one.innerText || one.type)"""


def test_axe_finds_nothing_and_nothing_vanishes_on_any_tab(chromium: Any, labeling: str) -> None:
    context = chromium.new_context(viewport={"width": 1366, "height": 768})
    visit = Visit(context, labeling)
    found = {}
    for path, wanted in TABS.items():
        visit.page.set_viewport_size({"width": 1366, "height": 768})
        visit.go(path, wanted)
        if "right=1.0.11.2" in path:
            for side, name in (("left", "good"), ("right", "exploit")):
                visit.page.locator(f".pane.{side} .labels .{name}").click()
                visit.page.wait_for_selector(f".pane.{side} .{name}.on")
            visit.page.get_by_text("Columns", exact=True).click()
        one = violations(visit.page)
        visit.page.keyboard.press("d")
        other = violations(visit.page)
        found[path] = {*one, *other}
        wide = Counter(visit.page.evaluate(_CONTROLS))
        visit.page.set_viewport_size({"width": 800, "height": 768})
        visit.page.wait_for_timeout(200)
        assert wide - Counter(visit.page.evaluate(_CONTROLS)) == Counter(), path
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 800, path
        cut = "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth).length"
        assert visit.page.evaluate(cut) == 0, path
    visit.page.keyboard.press("?")
    visit.page.wait_for_selector(".help")
    visit.page.wait_for_timeout(600)  # it fades in
    found["help"] = {*violations(visit.page)}
    context.close()
    assert {path: violated for path, violated in found.items() if violated} == {}
    assert visit.errors == []


_REACHED = """([controls]) => {
    window.reached = new Set();
    window.unseen = [];
    document.addEventListener("focusin", (event) => {
        if (!event.target.matches(controls)) return;
        reached.add(event.target);
        const { outlineStyle, boxShadow } = getComputedStyle(event.target);
        if (outlineStyle === "none" && boxShadow === "none") unseen.push(event.target.outerHTML.slice(0, 120));
    });
    return [...document.querySelectorAll(controls)].filter((one) => one.offsetParent).length;
}"""


def test_every_control_can_be_reached_and_shows_the_focus(visit: Visit) -> None:
    visit.go("/run/first/completions", ".pane pre.text")
    visit.page.wait_for_selector(".main .grid tbody tr[data-key]")
    controls = "a[href], button:not([disabled]), input, select, summary, tr[tabindex]"
    count = visit.page.evaluate(_REACHED, [controls])
    for _ in range(count + 30):
        visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("reached.size") == count
    assert visit.page.evaluate("unseen") == []
