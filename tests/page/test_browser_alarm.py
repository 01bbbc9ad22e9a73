"""A run with a strong alert says so on every tab, and its completions become cases for the check of the reward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewardkit.page.addresses import TABS
from tests.page.browsing import Visit, serving

pytestmark = pytest.mark.slow
RUN = "/run/sweep/gamed"
ALARM = ".alarm:not([hidden])"


def test_every_tab_of_a_run_with_a_strong_alert_says_so_until_it_is_dismissed(visit: Visit) -> None:
    visit.go(f"{RUN}/graphs", ALARM)
    assert "even with another prompt's gold answer" in visit.text(ALARM)
    for key, title in enumerate(list(TABS.values())[1:], start=2):
        visit.page.keyboard.press(str(key))
        visit.page.wait_for_selector(f".tabs .here:text-is('{title}')")
        visit.page.wait_for_selector(ALARM)
        visit.page.wait_for_load_state("networkidle")
    visit.page.locator(ALARM).get_by_text("See the alert").click()
    # The address changes only after the tab is drawn.
    visit.until(f"location.pathname.startsWith('{RUN}/suspicious')")
    visit.page.wait_for_selector(".alert")
    visit.page.locator(ALARM).get_by_text("Dismiss").click()
    visit.page.wait_for_selector(ALARM, state="detached")
    visit.page.reload()
    visit.page.wait_for_selector(".alert")
    assert visit.page.locator(ALARM).count() == 0
    assert "--labels labels.jsonl" in visit.text(".alert .command")


def test_a_run_without_a_strong_alert_says_nothing(visit: Visit) -> None:
    visit.go("/run/still/suspicious", ".alerts .alert, .alerts .empty h2")  # the search is done
    assert visit.page.locator(ALARM).count() == 0


def test_a_completion_of_an_alert_becomes_a_case_for_the_check(chromium: Any, folder: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    with serving(folder, options=("--labels", str(labels))) as address:
        context = chromium.new_context(viewport={"width": 1366, "height": 768})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        window = Visit(context, address)
        window.go(f"{RUN}/suspicious", ".alert .checks button")
        assert window.page.locator(".alert .command").count() == 0
        window.page.locator(".alert .checks button.exploit").first.click()
        window.page.wait_for_selector(".alert .command")
        [line] = map(json.loads, labels.read_text().splitlines())
        assert line["is_good"] is False
        assert line["completion"].startswith("all of them")
        assert line["rewardkit"]["label"] == "exploit"
        assert "even with another prompt's gold answer" in line["rewardkit"]["note"]
        window.page.locator(".command").get_by_text("Copy").click()
        window.page.wait_for_selector("text=Copied")
        command = window.page.evaluate("navigator.clipboard.readText()")
        assert command == f"rewardkit check FILE.py:REWARD --data {labels.resolve()} --label is_good"
        window.page.locator(".alert .checks button.exploit.on").click()
        window.page.wait_for_selector(".alert .command", state="detached")
        assert labels.read_text() == ""
        assert window.errors == []
        context.close()
