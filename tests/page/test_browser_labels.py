"""Labels in a real browser: keys, notes, chips, filters, two windows, downloads; read-only without ``--labels``."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rewardkit.scoring.regressions import load
from tests.page.browsing import Visit, serving

pytestmark = pytest.mark.slow
PANES = ".pane pre.text"
START = "/run/first/completions?left=1.0.0.0&right=1.0.0.2"


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("labeled") / "labels.jsonl"


@pytest.fixture(scope="module")
def labeling(folder: Path, labels: Path) -> Iterator[str]:
    with serving(folder, options=("--labels", str(labels))) as address:
        yield address


@pytest.fixture
def window(chromium: Any, labeling: str, labels: Path) -> Iterator[Visit]:
    labels.unlink(missing_ok=True)
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, accept_downloads=True)
    visit = Visit(context, labeling)
    yield visit
    context.close()
    assert visit.errors == []
    assert visit.elsewhere() == []


def written(labels: Path) -> list[tuple[str, str, int]]:
    """Return label, note and row of each line."""
    found = [json.loads(line)["rewardkit"] for line in labels.read_text().splitlines()]
    return [(one["label"], one["note"], one["row"]) for one in found]


def pressed(side: str, name: str, state: str = "true") -> str:
    """Return a condition on a button of a label."""
    return f"document.querySelector('.pane.{side} .labels .{name}')?.getAttribute('aria-pressed') === '{state}'"


def test_labels_are_given_noted_found_and_removed(window: Visit, labels: Path) -> None:
    window.go(START, PANES)
    window.until("document.querySelector('.labels-line')?.innerText.includes('No labels yet')")
    window.page.keyboard.press("y")
    window.until(pressed("left", "good"))
    window.page.keyboard.press("Shift+X")
    window.until(pressed("right", "exploit"))
    window.page.keyboard.press("Shift+E")
    window.until("document.activeElement.classList.contains('note')")
    window.page.keyboard.type("begs for y and b")
    window.page.keyboard.press("Enter")
    window.until("document.querySelector('.labels-line').innerText.includes('2 labels')")
    window.page.locator(".table-head input").fill("label=exploit")
    window.until("document.querySelectorAll('.main .grid tbody tr[data-key]').length === 1")
    window.page.wait_for_selector(".main .grid td[title='begs for y and b'] .badge.exploit")
    assert written(labels) == [("good", "", 0), ("exploit", "begs for y and b", 2)]
    window.page.wait_for_selector(".prompts .grid td[title='1 exploit, 1 good'] .badge.exploit")
    window.at("rows=label")
    window.page.locator(".labels-line button", has_text="2 labels").click()
    window.until("document.querySelectorAll('.prompts tbody tr[data-key]').length === 1")
    window.page.reload()
    window.page.wait_for_selector(PANES)
    window.until(pressed("right", "exploit"))
    assert window.page.locator(".pane.right .note").input_value() == "begs for y and b"
    window.page.locator(".pane.right .labels button", has_text="exploit").click()
    window.until(pressed("right", "exploit", "false"))
    window.until("document.querySelector('.labels-line').innerText.includes('1 label')")
    assert written(labels) == [("good", "", 0)]


def test_two_windows_see_each_others_labels(window: Visit, labels: Path) -> None:
    window.go(START, PANES)
    other = Visit(window.page.context, window.base)
    other.go(START, PANES)
    window.page.locator(".pane.left .labels button", has_text="bad").click()
    other.page.locator(".pane.right .labels button", has_text="good").click()
    for one in (window, other):
        one.until(pressed("left", "bad"))
        one.until(pressed("right", "good"))
        one.until("document.querySelector('.labels-line').innerText.includes('2 labels')")
    assert sorted(written(labels)) == [("bad", "", 0), ("good", "", 2)]


def test_labels_are_saved_as_data_examples_and_regression_cases(window: Visit, tmp_path: Path) -> None:
    window.go(START, PANES)
    window.page.keyboard.press("x")
    window.until(pressed("left", "exploit"))
    line = window.page.locator(".labels-line")
    line.get_by_text("exploits", exact=True).click()
    window.page.get_by_text("a case needs a correct completion for the same prompt").wait_for()
    window.page.keyboard.press("Shift+Y")
    window.until(pressed("right", "good"))
    window.until("document.querySelector('.labels-line').innerText.includes('2 labels')")
    saved = {}
    for what in ("labels", "examples", "exploits"):
        with window.page.expect_download() as download:
            line.get_by_text(what, exact=True).click()
        assert download.value.suggested_filename == f"first-{what}.jsonl"
        saved[what] = tmp_path / f"{what}.jsonl"
        download.value.save_as(saved[what])
    [case] = load(saved["exploits"])
    assert case.completion == "Step 1 says that 0 is right, since 0 follows."
    assert case.good == ("Step 1 says that 2 is right, since 2 follows.",)
    [example] = [json.loads(row) for row in saved["examples"].read_text().splitlines()]
    assert (example["good"], example["bad"]) == ([case.good[0]], [case.completion])
    assert [json.loads(row)["is_good"] for row in saved["labels"].read_text().splitlines()] == [False, True]


def test_without_a_file_the_page_is_read_only(visit: Visit) -> None:
    visit.go(START, PANES)
    assert "Read-only" in visit.text(".labels-line")
    assert "--labels" in visit.text(".labels-line")
    visit.page.keyboard.press("y")
    visit.page.keyboard.press("e")
    visit.page.wait_for_timeout(300)
    assert visit.page.locator(".pane .labels").count() == 0
    visit.page.locator(".table-head input").fill("label=good")
    visit.page.get_by_text("There is no column 'label'").wait_for()


def test_another_site_cannot_label(window: Visit, labels: Path) -> None:
    window.go(START, PANES)
    window.page.keyboard.press("y")
    window.until(pressed("left", "good"))
    before = labels.read_bytes()

    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>another site</title>")

        def log_message(self, *arguments: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = window.page.context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        socket = f"{window.base}/_nicegui_ws/socket.io/?EIO=4&transport="
        opened = page.evaluate(
            """([url]) => new Promise((done) => {
                const socket = new WebSocket(url.replace('http', 'ws'));
                socket.onopen = () => done(true);
                socket.onerror = () => done(false);
            })""",
            [f"{socket}websocket"],
        )
        assert opened is False
        posted = page.evaluate(
            "([url]) => fetch(url, {method: 'POST', body: '40'}).then((answer) => answer.status, () => 'refused')",
            [f"{socket}polling"],
        )
        assert posted == "refused"
    finally:
        server.shutdown()
        server.server_close()
    assert labels.read_bytes() == before
