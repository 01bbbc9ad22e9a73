"""Measure how fast the web page of recorded runs is: first paint and every interaction on 512,000 completions.

``python benchmarks/speed/viewer.py`` generates a run (or uses ``--run FOLDER``), starts ``rewardkit view`` and clicks
through it with headless Chromium. Times are measured inside the page, from the action until the result has been
drawn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = os.environ.get("REWARDKIT_CHROMIUM", "/usr/bin/chromium")
_TIMED = """async ([act, done, ...values]) => {
    const before = performance.now();
    const state = {};
    (new Function("state", "values", act))(state, values);
    const reached = new Function("state", "values", `return ${done}`);
    while (!reached(state, values)) {
        if (performance.now() - before > 20000) return null;
        await new Promise(requestAnimationFrame);
    }
    await new Promise(requestAnimationFrame);
    return performance.now() - before;
}"""
_TYPE = (
    "const field = document.querySelector(values[0]); state.was = document.querySelector(values[2])?.textContent;"
    "field.value = values[1]; field.dispatchEvent(new Event('input', { bubbles: true }));"
)
_KEY = (
    "state.was = document.querySelector(values[1]).textContent;"
    "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: values[0], bubbles: true }));"
)
_CLICK = (
    "state.was = document.querySelector(values[1])?.textContent;"
    "[...document.querySelectorAll(values[0])].at(values[2] ?? 0).click();"
)
_SEEN = "[...document.querySelectorAll('.plot')].filter((one) => one.getBoundingClientRect().top < innerHeight)"
_DRAWN = f"state.was = {_SEEN}.map((one) => one.dataset.drawn);"
_REDRAWN = f"{_SEEN}.every((one, at) => one.dataset.drawn !== state.was[at])"
_CHANGED = "document.querySelector(values[1])?.textContent !== state.was && document.querySelector(values[1])"
_FILTERED = "document.querySelector(values[2]).textContent !== state.was"
_SMOOTH = (
    "const slider = document.querySelector('.bar-of-tools input[type=range]'); slider.value = values[0];"
    "slider.dispatchEvent(new Event('input', { bubbles: true }));"
)
_SLID = (
    "state.was = document.querySelector(values[1]).textContent;"
    "const slider = document.querySelector(values[0]); slider.value = values[2];"
    "slider.dispatchEvent(new Event('input', { bubbles: true }));"
)
_PANES, _LIST, _ALL = ".panes", ".prompts tbody", ".main .grid tbody"


def first_paints(browser: Any, address: str, wanted: str, times: int) -> list[tuple[float, float, float]]:
    """Return milliseconds to first paint, first content and the `wanted` element, each in a new browser profile."""
    found = []
    for _ in range(times):
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        page = context.new_page()
        page.goto(address, wait_until="commit")
        page.wait_for_selector(wanted)
        shown = page.evaluate("performance.now()")
        paints = dict(page.evaluate("performance.getEntriesByType('paint').map((one) => [one.name, one.startTime])"))
        found.append((paints.get("first-paint", shown), paints.get("first-contentful-paint", shown), shown))
        context.close()
    return found


class Stopwatch:
    """Times actions on a page; `taken` has the milliseconds of each, by name."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.taken: dict[str, list[float]] = {}

    def time(self, name: str, act: str, done: str, *values: object) -> None:
        """Run the script `act` and wait until the expression `done` is true; both may use `state` and `values`."""
        milliseconds = self.page.evaluate(_TIMED, [act, done, *values])
        if milliseconds is None:
            raise SystemExit(f"{name}: the page did not react within 20 s")
        self.add(name, milliseconds)
        self.page.wait_for_timeout(150)

    def add(self, name: str, milliseconds: float) -> None:
        self.taken.setdefault(name, []).append(milliseconds)


def interactions(page: Any, base: str, name: str, times: int) -> dict[str, list[float]]:
    """Time what a user does on the page, each action `times` times."""
    stopwatch = Stopwatch(page)
    for turn in range(times):
        page.goto(f"{base}/run/{name}/graphs")
        page.wait_for_function(f"{_SEEN}.length > 3 && {_SEEN}.every((one) => one.dataset.drawn)")
        page.wait_for_timeout(300)
        _time_graphs(stopwatch, turn)
        _time_explanation(stopwatch, turn)
        page.goto(f"{base}/run/{name}/graphs")
        page.wait_for_function(f"{_SEEN}.length > 3 && {_SEEN}.every((one) => one.dataset.drawn)")
        shown = "document.querySelector('.panes pre') && document.querySelector('.main .grid tbody tr')"
        stopwatch.time("tab: to completions", _CLICK, shown, ".tabs a", _PANES, 1)
        _time_prompts(stopwatch, turn)
        _time_completions(stopwatch, turn)
        stopwatch.time("tab: to reward logs", _CLICK, "document.querySelector('.rates tbody tr')", ".tabs a", _ALL, 2)
        page.wait_for_selector("tbody tr[data-key]")
        logs = ".card.scroll:last-child tbody"
        stopwatch.time("logs: search", _TYPE, _FILTERED, "input[data-search]", f"{turn} calls", logs)
        drawn = f"{_SEEN}.length && {_SEEN}.every((one) => one.dataset.drawn)"
        stopwatch.time("tab: to graphs", _CLICK, drawn, ".tabs a", _ALL, 0)
        page.goto(f"{base}/run/{name}/compare?with={name}&a=first&b=last")
        page.wait_for_selector(".compared .pane pre")
        page.wait_for_timeout(300)
        _time_compared(stopwatch, turn)
    return stopwatch.taken


def _time_explanation(stopwatch: Stopwatch, turn: int) -> None:
    """From a graph to the completions behind a change, and other changes from there."""
    page, said = stopwatch.page, ".verdicts p"
    box = page.locator(".plot").nth(1).bounding_box()
    page.mouse.move(box["x"] + 200 + 10 * turn, box["y"] + 90)
    page.evaluate("window.began = performance.now()")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("document.querySelector('.verdicts p') && document.querySelector('.k-text')", polling="raf")
    stopwatch.add("graphs: click, to the completions of a change", page.evaluate("performance.now() - window.began"))
    page.wait_for_timeout(300)
    column = (
        "state.was = document.querySelector(values[0]).textContent; const menu = document.querySelector('main select');"
        "menu.value = values[1]; menu.dispatchEvent(new Event('change', { bubbles: true }));"
    )
    changed = "document.querySelector(values[0])?.textContent !== state.was && document.querySelector(values[0])"
    stopwatch.time("explain: another column", column, changed, said, ["answer", "length", "total"][turn % 3])
    stopwatch.time("explain: sort by step", _CLICK, _CHANGED, "th button", ".grid tbody", -1)
    stopwatch.time("explain: next page", _CLICK, _CHANGED, ".pager button", ".grid tbody", 1)
    box = page.locator(".plot").bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 900, box["y"] + 60, steps=4)
    page.evaluate("window.was = document.querySelector('.verdicts p').textContent; window.began = performance.now()")
    page.mouse.up()
    page.wait_for_function("document.querySelector('.verdicts p')?.textContent !== window.was", polling="raf")
    stopwatch.add("explain: a third of all steps by dragging", page.evaluate("performance.now() - window.began"))
    page.wait_for_timeout(300)
    shown = "document.querySelector('.panes pre')"
    stopwatch.time("explain: open a completion", _CLICK, shown, ".grid tbody tr", ".grid tbody", 2)


def _time_graphs(stopwatch: Stopwatch, turn: int) -> None:
    stopwatch.time("graphs: smoothing", _DRAWN + _SMOOTH, _REDRAWN, 3 + turn % 5)
    stopwatch.add("graphs: zoom by dragging", _drag(stopwatch.page))
    key = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'g', bubbles: true }))"
    stopwatch.time("graphs: all steps again", _DRAWN + key, _REDRAWN)


def _drag(page: Any) -> float:
    """Zoom into the first graph with the mouse; return the milliseconds until all visible graphs are drawn again."""
    box = page.locator(".plot").first.bounding_box()
    page.mouse.move(box["x"] + 120, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 90, steps=4)
    drawn = _DRAWN.replace("state.", "window.state.")
    page.evaluate(f"window.state = {{}}; {drawn} window.began = performance.now()")
    page.mouse.up()
    page.wait_for_function(_REDRAWN.replace("state.", "window.state."), polling="raf")
    return float(page.evaluate("performance.now() - window.began"))


def _time_prompts(stopwatch: Stopwatch, turn: int) -> None:
    search = ".prompts input"
    stopwatch.time("prompts: search", _TYPE, _FILTERED, search, f"{20 + turn} apples", _LIST)
    stopwatch.time("prompts: filter mean<0.5", _TYPE, _FILTERED, search, "mean<0.5", _LIST)
    stopwatch.time("prompts: clear search", _TYPE, _FILTERED, search, "", _LIST)
    stopwatch.time("prompts: sort by mean", _CLICK, _CHANGED, ".prompts th button", _LIST, -1)
    stopwatch.time("prompts: select one", _CLICK, _CHANGED, ".prompts tbody tr", _PANES, 7 + turn)
    stopwatch.time("prompts: next (j)", _KEY, _CHANGED, "j", _PANES)


def _time_completions(stopwatch: Stopwatch, turn: int) -> None:
    stopwatch.time("comparison: next completion (→)", _KEY, _CHANGED, "ArrowRight", _PANES)
    stopwatch.time("comparison: slider", _SLID, _CHANGED, ".pane input[type=range]", _PANES, 3 + turn)
    right = ".main .grid tbody tr:nth-child(5) button:last-child"
    stopwatch.time("completions: button right", _CLICK, _CHANGED, right, _PANES, 0)
    stopwatch.time("completions: sort by total", _CLICK, _CHANGED, ".main .grid th button", _ALL, 1)
    stopwatch.time("completions: filter", _TYPE, _FILTERED, ".table-head input", "total>0.9 the", _ALL)


def _time_compared(stopwatch: Stopwatch, turn: int) -> None:
    verdict, rows = ".verdict .said", ".summary tbody tr"
    stopwatch.time("compare: another component", _CLICK, _CHANGED, rows, verdict, 1 + turn % 3)
    stopwatch.time("compare: search", _TYPE, _FILTERED, ".prompts input", f"{20 + turn} apples", _LIST)
    stopwatch.time("compare: filter difference<0.5", _TYPE, _FILTERED, ".prompts input", "difference<0.5", _LIST)
    stopwatch.time("compare: next prompt (j)", _KEY, _CHANGED, "j", _PANES)
    stopwatch.time("compare: another completion", _CLICK, _CHANGED, ".pane.right .chips button", _PANES, 0)
    chosen = "const menu = document.querySelectorAll('select[aria-label^=Completions]')[0]; menu.value = 'all';"
    chosen += "menu.dispatchEvent(new Event('change', { bubbles: true }));"
    window = "document.querySelector(values[0]).textContent !== state.was"
    stopwatch.time(
        "compare: all steps on the left",
        f"state.was = document.querySelector(values[0]).textContent; {chosen}",
        f"document.querySelector(values[0]) && {window}",
        verdict,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a recorded run (default: generate one)")
    parser.add_argument("--times", type=int, default=5, help="repetitions of each measurement")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    from benchmarks.speed.generated_run import Plan, write

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run, other = options.run, Path(folder) / "other"
        if run is None:
            run = Path(folder) / "generated"
            write(str(run), Plan(exploit=True))
        write(str(other), Plan(steps=2, completions=16))  # a single run would be read before the browser asks for it
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        _report(browser, (run, other), options.times)
        browser.close()


@contextmanager
def _serving(runs: Sequence[Path]) -> Iterator[str]:
    """Start ``rewardkit view`` and return its address, a second later: a user's browser needs as long to open."""
    command = [sys.executable, "-m", "rewardkit.cli.main", "view", *map(str, runs), "--no-browser", "--port", "0"]
    server = subprocess.Popen([*command, "--token", "none"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = next(line for line in server.stdout if "http://" in line).split()[-1].rstrip("/")
        time.sleep(1.0)
        yield address
    finally:
        server.terminate()
        server.wait()


def _report(browser: Any, runs: Sequence[Path], times: int) -> None:
    name = runs[0].name
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before; milliseconds, {times} times each\n")
    began = time.perf_counter()
    print("| page | first paint | first content | content complete |\n|---|---|---|---|")
    graphs = f"/run/{name}/graphs", ".plot[data-drawn]"
    cold = []
    for _ in range(times):
        with _serving(runs) as base:
            cold += first_paints(browser, base + graphs[0], graphs[1], 1)
    _print_medians("graphs, run not read yet", cold)
    with _serving(runs) as base:
        first_paints(browser, base + graphs[0], graphs[1], 1)
        pages = [
            ("runs", "/", ".grid tbody tr"),
            ("graphs", *graphs),
            ("completions", f"/run/{name}/completions", ".panes pre"),
            ("reward logs", f"/run/{name}/logs", ".rates tbody tr"),
        ]
        for title, path, wanted in pages:
            _print_medians(title, first_paints(browser, base + path, wanted, times))
        page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
        print("\n| interaction | median | worst |\n|---|---|---|")
        for action, taken in interactions(page, base, name, times).items():
            print(f"| {action} | {statistics.median(taken):.0f} | {max(taken):.0f} |")
    print(f"\nload average {os.getloadavg()[0]:.1f} after {time.perf_counter() - began:.0f} s")


def _print_medians(title: str, found: Sequence[tuple[float, float, float]]) -> None:
    medians = [statistics.median(one[column] for one in found) for column in range(3)]
    print(f"| {title} | " + " | ".join(f"{value:.0f}" for value in medians) + " |")


if __name__ == "__main__":
    main()
