"""The search of the built site finds the page of a question first. ``make docs`` builds the site before."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.page.browsing import CHROMIUM, browser

SITE = Path(__file__).parents[1] / "site"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SITE.exists(), reason="the site is not built: make docs"),
]

QUESTIONS = {
    "reward hacking": "reward_hacking",
    "reward manager": "trainers/verl",
    "verl reward manager": "trainers/verl",
    "exception": "errors_and_failures",
    "raises": "errors_and_failures",
    "VLM": "images",
    "CI": "ci",
    "dead component": "metrics",
    "stringified": "write_a_reward",
    "list column": "write_a_reward",
    "install": "quickstart",
    "curriculum": "schedules",
    "judge timeout": "errors_and_failures",
    "resume": "training",
    "custom law": "own_laws",
    "github actions": "ci",
    "sandbox": "code",
    "tool calls": "agents",
    "json schema": "json",
    "preference pairs": "selection",
    "ray cluster": "scale",
    "wandb": "dashboards",
    "gate": "composition",
    "skipped": "errors_and_failures",
}


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened.new_page()
        opened.close()


def first_pages(page: Any, address: str, question: str) -> list[str]:
    """Return the pages that the search shows for `question`, best first."""
    page.goto(f"{address}/index.html?q={quote(question)}")
    page.wait_for_selector(".md-search-result__item", state="attached", timeout=120_000)
    links = page.locator(".md-search-result__item > a:first-child").evaluate_all("links => links.map(a => a.pathname)")
    return list(dict.fromkeys(link.removeprefix("/").removesuffix(".html") for link in links))


@pytest.mark.parametrize(("question", "expected"), QUESTIONS.items())
def test_the_search_finds_the_page_of_a_question_first(page: Any, address: str, question: str, expected: str) -> None:
    assert first_pages(page, address, question)[0] == expected
