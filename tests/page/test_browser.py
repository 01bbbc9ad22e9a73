"""The page in a real browser: every tab, permalinks, keyboard, a running run, and hostile texts."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from rewardkit.record.recorder import Recorder
from tests.page.browsing import Visit, serving
from tests.page.recorded import ordinary, record

pytestmark = pytest.mark.slow
GRAPHS = ".plot[data-drawn]"
PANES = ".pane pre.text"


def test_runs_are_listed_and_overlaid(visit: Visit, folder: Path) -> None:
    runs = len(list(folder.rglob("run.json")))
    visit.go("/", "tr[data-key=first] .badge.finished")
    visit.until(f"document.querySelectorAll('.badge').length == {runs} && !document.body.innerText.includes('reading')")
    assert "Upgrade" in visit.text("tr[data-key=broken]")
    assert visit.text("tr[data-key='sweep/second'] .k-number") == "6"
    visit.page.locator("input.field").fill("sec")
    visit.until("document.querySelectorAll('tr[data-key]').length == 1")
    visit.page.locator("input.field").fill("")
    visit.until(f"document.querySelectorAll('tr[data-key]').length == {runs}")
    for name in ("first", "sweep/second"):
        visit.page.locator(f"tr[data-key='{name}'] input").click()
    visit.page.wait_for_selector(GRAPHS)
    visit.until("document.querySelectorAll('.legend span span').length === 2")
    assert visit.texts(".legend span span") == ["first: total", "sweep/second: total"]
    visit.page.get_by_text("Overlay graphs").click()
    visit.page.wait_for_selector(".graph[data-graph=components] .plot[data-drawn]")
    visit.until("location.pathname === '/run/first/graphs'")
    visit.at("/run/first/graphs?with=sweep%252Fsecond")
    assert visit.place == "/run/first/graphs?with=sweep%252Fsecond"
    assert "sweep/second" in visit.texts(".graph[data-graph=total] .legend > span")


def test_graphs_are_searched_and_constant_ones_hidden(visit: Visit) -> None:
    visit.go("/run/still/graphs", GRAPHS)
    assert visit.texts("h2.section") == ["Reward", "Completions", "Trainer"]
    assert visit.page.locator(".graph[data-graph='metric/trainer/rate']").count() == 0
    visit.page.get_by_text("Show 1 more that never change").click()
    visit.page.wait_for_selector(".graph[data-graph='metric/trainer/rate'] .plot")
    visit.page.locator("input[data-search]").fill("loss")
    visit.until("[...document.querySelectorAll('.graph')].filter(one => one.offsetParent).length === 1")
    visit.at("q=loss")
    visit.page.locator("input[data-search]").fill("nothing like it")
    visit.page.get_by_text("No graph matches the search.").wait_for()


def test_prompts_are_found_by_their_completions(visit: Visit) -> None:
    visit.go("/run/first/completions?q=completion%3A%22that+11+is%22", ".prompts tbody tr")
    rows = "[...document.querySelectorAll('.prompts tbody tr .k-text')].map(cell => cell.innerText).join()"
    visit.until(f"{rows} === 'What is prompt number 2?'")
    visit.page.locator("input[data-search]").fill("completion:sorry")
    visit.page.get_by_text("completion:word finds prompts").wait_for()


def test_graphs_zoom_smooth_and_download(visit: Visit) -> None:
    visit.go("/run/first/graphs", GRAPHS)
    shown = set(visit.page.locator(".graph").evaluate_all("found => found.map(one => one.dataset.graph)"))
    assert {"total", "components", "weights", "gates", "outcomes", "flat", "length", "diversity"} <= shown
    drawn = visit.page.locator(".plot").first.get_attribute("data-drawn")
    visit.page.locator("input[type=range]").evaluate(
        "slider => { slider.value = 0; slider.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    visit.until(f"document.querySelector('.plot').dataset.drawn !== '{drawn}'")
    visit.at("smoothing=0")
    box = visit.page.locator(".plot").first.bounding_box()
    visit.page.mouse.move(box["x"] + 150, box["y"] + 90)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 260, box["y"] + 90, steps=3)
    visit.page.mouse.up()
    visit.until("location.search.includes('steps=')")
    steps = re.search(r"steps=(\d+)-(\d+)", visit.place)
    assert steps is not None
    assert 1 < int(steps[1]) < int(steps[2]) < 12
    visit.page.go_back()
    visit.until("!location.search.includes('steps=')")
    total = visit.page.locator(".graph[data-graph=total]")
    total.hover()
    with visit.page.expect_download() as csv:
        total.get_by_text("CSV").click()
    lines = Path(csv.value.path()).read_text().splitlines()
    assert lines[0] == "step,total,total (low),total (high)"
    assert len(lines) == 13
    with visit.page.expect_download() as png:
        total.get_by_text("PNG").click()
    assert png.value.suggested_filename == "first-total.png"
    assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")


def test_hovering_shows_the_numbers(visit: Visit) -> None:
    visit.go("/run/hostile/graphs", GRAPHS)
    box = visit.page.locator(".graph[data-graph=components] .plot").bounding_box()
    visit.page.mouse.move(box["x"] + 200, box["y"] + 100)
    visit.page.wait_for_selector(".tip")
    assert "onerror" in visit.text(".tip .name")


def test_prompts_are_searched_sorted_and_selected(visit: Visit) -> None:
    visit.go("/run/first/completions", PANES)
    rows = ".prompts tbody tr[data-key]"
    search = visit.page.locator("input[data-search]")
    for words, count in (("number 2", 1), ("level=easy", 2), ("length>1000", 0), ("", 3)):
        search.fill(words)
        visit.until(f"document.querySelectorAll('{rows}').length === {count}")
    search.fill("nothing<1")
    visit.until("document.querySelector('.prompts .complaint')?.innerText.includes('no column')")
    search.fill("")
    visit.until(f"document.querySelectorAll('{rows}').length === 3")
    visit.page.locator(".prompts th button", has_text="Mean").click()
    visit.until("document.querySelector('.prompts th[aria-sort]').textContent.startsWith('Mean')")
    visit.page.locator(rows).nth(1).click()
    chosen = visit.page.locator(rows).nth(1).get_attribute("data-key")
    visit.until("document.querySelectorAll('.prompts tr')[2].classList.contains('selected')")
    visit.until(f"document.querySelector('.prompt .mono').textContent === {chosen!r}")
    before = visit.text(".prompt h3")
    visit.page.keyboard.press("j")
    visit.until(f"document.querySelector('.prompt h3').textContent !== {before!r}")
    visit.page.keyboard.press("k")
    visit.until(f"document.querySelector('.prompt h3').textContent === {before!r}")
    visit.page.keyboard.press("b")
    visit.page.wait_for_selector(".prompts", state="hidden")


def test_alerts_are_shown_as_alerts(visit: Visit) -> None:
    visit.go("/run/first/suspicious?observations=1", ".alert, .alerts h2")
    assert "not verdicts" in visit.text(".notice")
    links = visit.page.locator(".alert .evidence a[href*=completions]")
    if links.count():
        links.first.click()
        visit.page.wait_for_selector(PANES)
        visit.at("right=")


def test_observations_are_folded_away_and_have_no_bar(visit: Visit) -> None:
    folded = "details.observations"
    visit.go("/run/certain/suspicious", f"{folded} > summary")
    assert re.fullmatch(r"\d+ observations?, which healthy runs show as often", visit.text(f"{folded} > summary"))
    observation = visit.page.locator(f"{folded} .alert", has_text="I am certain of")
    assert observation.count() == 1
    assert not observation.is_visible()
    visit.page.locator(f"{folded} > summary").click()
    visit.at("observations=1")
    assert observation.is_visible()
    assert visit.page.locator(f"{folded} .track").count() == 0
    visit.page.reload()
    visit.page.wait_for_selector(f"{folded}[open] .alert")
    visit.page.locator(f"{folded} > summary").click()
    visit.until("!location.search.includes('observations')")
    assert not observation.is_visible()


def test_keys_help_and_dark(visit: Visit) -> None:
    visit.go("/run/first/graphs", GRAPHS)
    visit.page.keyboard.press("?")
    visit.page.wait_for_selector(".help")
    visit.page.keyboard.press("Escape")
    visit.page.wait_for_selector('[role="dialog"]', state="detached")  # a dialog that fades takes keys
    visit.page.keyboard.press("d")
    visit.page.wait_for_selector("body.dark")
    visit.page.reload()
    visit.page.wait_for_selector("body.dark")
    visit.page.wait_for_selector(GRAPHS)
    for key, wanted in (("3", ".rates"), ("2", PANES), ("4", ".alerts"), ("1", GRAPHS), ("0", "tr[data-key=first]")):
        visit.page.keyboard.press(key)
        visit.page.wait_for_selector(wanted)
    visit.page.go_back()
    visit.page.wait_for_selector(GRAPHS)


@pytest.mark.parametrize("tab", ["graphs", "explain", "completions", "completions?view=rendered", "logs", "suspicious"])
def test_hostile_texts_are_not_executed(visit: Visit, tab: str) -> None:
    wanted = {
        "graphs": GRAPHS,
        "explain": ".verdicts p",
        "completions": PANES,
        "logs": ".rates tbody tr",
        "suspicious": ".alert, .alerts h2",
    }.get(tab, ".pane .rendered")
    visit.go(f"/run/hostile/{tab}", wanted)
    visit.page.wait_for_timeout(700)
    assert visit.page.locator("script[src*=evil], iframe, .page img, .page svg:not(.k-spark > svg)").count() == 0
    shown = visit.page.evaluate("document.body.innerText")
    assert not re.search("[\u202e\u2066\x1b\x07\u200b\ufeff]", shown)
    if tab.startswith("completions"):
        assert "<script>window.acted=1</script>" in shown
        for number in range(1, 8):
            visit.page.keyboard.press("ArrowRight")
            visit.page.keyboard.press("j")
            visit.until(f"document.querySelector('.prompt h3').textContent === 'Prompt {number}'")
        visit.until("document.querySelector('.panes').innerText.includes('1,000,000')")
        visit.page.locator(".complaint button").first.click()
        visit.until("[...document.querySelectorAll('.pane pre')].some(one => one.textContent.length === 1000000)")


@pytest.mark.parametrize("tab", ["graphs", "completions"])
def test_names_cannot_leave_the_folder(visit: Visit, folder: Path, tab: str) -> None:
    ordinary(folder.parent / f"outside-{tab}", 2)
    for name in (f"..%2Foutside-{tab}", "%00", f"first%2F..%2F..%2Foutside-{tab}"):
        visit.go(f"/run/{name}/{tab}", ".empty h2")
        assert "cannot be shown" in visit.text(".empty h2")


def test_broken_and_unknown_runs_say_what_to_do(visit: Visit) -> None:
    visit.go("/run/broken/graphs", ".empty h2")
    assert "Upgrade" in visit.text(".empty")
    visit.go("/run/nowhere/completions", ".empty h2")
    visit.page.locator(".empty a").click()
    visit.page.wait_for_selector("tr[data-key=first]")


def test_pages_follow_a_running_run(tmp_path: Path, chromium: Any) -> None:
    with serving(tmp_path) as address:
        context = chromium.new_context(viewport={"width": 1366, "height": 768})
        runs, graphs = Visit(context, address), Visit(context, address)
        runs.go("/", ".empty pre")
        assert 'record="runs/first"' in runs.text(".empty pre")
        with Recorder(tmp_path / "live", patience=math.inf, compact_every=4) as recorder:
            recorder.record(record(1))
            recorder.flush()
            runs.page.wait_for_selector(".badge.running")
            graphs.go("/run/live/graphs", GRAPHS)
            completions = Visit(context, address)
            completions.go("/run/live/completions", PANES)
            for step in range(2, 12):
                recorder.record(record(step))
                recorder.flush()
            graphs.until("document.querySelector('.badge').textContent.includes('step 11')")
            completions.until("document.querySelector('.pane.right h3').textContent === 'step 11'")
            runs.until("document.querySelector('tr[data-key=live] .k-number').textContent === '11'")
        graphs.page.wait_for_selector(".badge.finished")
        for one in (runs, graphs, completions):
            assert one.errors == []
            assert one.elsewhere() == []
        context.close()
    assert [path.name for path in tmp_path.iterdir()] == ["live"]


def test_a_link_with_a_token_works_from_any_page(tmp_path: Path, chromium: Any) -> None:
    ordinary(tmp_path / "first", 2)
    elsewhere = tmp_path / "elsewhere.html"
    with serving(tmp_path, token="a secret") as address:
        context = chromium.new_context()
        page = context.new_page()
        elsewhere.write_text(f"<a href='{address}'>the run</a>")
        page.goto(elsewhere.as_uri())
        page.locator("a").click()
        page.wait_for_selector("tr[data-key=first]")
        assert "secret" not in page.url
        page.go_back()
        assert page.url == elsewhere.as_uri()
        context.close()
