"""The recorded runs, the server and the browser that all tests of the page share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewardkit.record.recorder import Recorder
from tests.page.browsing import CHROMIUM, Visit, browser, serving
from tests.page.recorded import certain, changing, conversations, gamed, hostile, marked_up, ordinary, record


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded")
    ordinary(path / "first")
    ordinary(path / "sweep" / "second", 6)
    hostile(path / "hostile")
    certain(path / "certain")
    gamed(path / "sweep" / "gamed")
    marked_up(path / "sweep" / "marked")
    changing(path / "sweep" / "changing")
    conversations(path / "sweep" / "tools")
    with Recorder(path / "still", patience=math.inf) as recorder:
        for step in (1, 2, 3):
            recorder.record(record(step, metrics={"trainer/loss": 1.0 / step, "trainer/rate": 0.1, "diversity/x": 1.0}))
    (path / "broken").mkdir()
    (path / "broken" / "run.json").write_text('{"schema": 99}')
    return path


@pytest.fixture(scope="session")
def base(folder: Path) -> Iterator[str]:
    with serving(folder) as address:
        yield address


@pytest.fixture(scope="module")  # not longer: while Playwright runs, no other test can run an event loop
def chromium() -> Iterator[Any]:
    with browser() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(chromium: Any, base: str) -> Iterator[Visit]:
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, accept_downloads=True)
    visit = Visit(context, base)
    yield visit
    acted = visit.page.evaluate("window.acted")
    context.close()
    assert acted is None
    assert visit.dialogs == []
    assert visit.elsewhere() == []
    assert visit.errors == []
