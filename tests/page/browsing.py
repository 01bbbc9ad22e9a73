"""A real server and a real browser for the tests of the page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("REWARDKIT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
REASON = "needs a browser: apt install chromium, or REWARDKIT_CHROMIUM=/path/to/chromium"


@contextmanager
def serving(*folders: Path, options: tuple[str, ...] = (), token: str = "none") -> Iterator[str]:
    """Run ``rewardkit view`` in another process, and return the address that it prints."""
    command = [sys.executable, "-m", "rewardkit.cli.main", "view", *map(str, folders), "--no-browser", "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    environment["REWARDKIT_TOKEN"] = token
    folder = folders[0] if folders[0].is_dir() else None
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True, env=environment, cwd=folder)
    try:
        assert server.stdout is not None
        line = next((line for line in server.stdout if "http://" in line), None)
        assert line is not None, "the server printed no address"
        yield line.split()[-1]
    finally:
        assert server.poll() is None, f"the server ended by itself with {server.returncode}"
        server.terminate()
        server.communicate(timeout=20)


class Visit:
    """A browser tab that records its requests and errors."""

    def __init__(self, context: Any, base: str) -> None:
        self.base = base.rstrip("/")
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("dialog", self._dismiss)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._said)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def go(self, path: str, wanted: str) -> None:
        self.page.goto(self.base + path)
        self.page.wait_for_selector(wanted)

    def until(self, condition: str) -> None:
        """Wait for a JavaScript condition."""
        self.page.wait_for_function(condition)

    def at(self, part: str) -> None:
        """Wait until the address has `part`: it changes only after the tab is drawn."""
        self.page.wait_for_function("part => location.href.includes(part)", arg=part)

    def texts(self, selector: str) -> list[str]:
        return [str(text) for text in self.page.locator(selector).all_inner_texts()]

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    @property
    def place(self) -> str:
        return str(self.page.url).removeprefix(self.base)

    def elsewhere(self) -> list[str]:
        """Return the requests to other servers."""
        host = self.base.split("//")[1].split("/")[0]
        return [url for url in self.requests if not url.startswith(("data:", "blob:")) and url.split("/")[2] != host]


def browser() -> Any:
    """Return headless Chromium, or skip the test."""
    if CHROMIUM is None:
        pytest.skip(REASON)
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    return sync_api.sync_playwright()
