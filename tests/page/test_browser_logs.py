"""The reward logs and the versions of the reward in a real browser."""

from __future__ import annotations

import pytest

from tests.page.browsing import Visit
from tests.page.recorded import ACTS

pytestmark = pytest.mark.slow
RATES = ".rates tbody tr"
NOTED = ".noted tbody tr[data-key]"
PANES = ".pane pre.text"


def test_the_log_is_searched(visit: Visit) -> None:
    visit.go("/run/first/logs", RATES)
    visit.until("document.body.innerText.includes('24 lines')")
    visit.page.locator("input.field").fill("hello step 7")
    visit.until("document.body.innerText.includes('of 1 line,')")
    visit.page.locator("input.field").fill("")
    visit.page.locator("select").nth(1).select_option("error")
    visit.until("document.body.innerText.includes('12 lines')")
    visit.page.locator("td.k-text", has_text="ValueError").first.click()
    visit.page.wait_for_selector("tr.detail")
    assert "Traceback: line 3" in visit.text("tr.detail pre")
    visit.page.locator("a", has_text="completion").last.click()
    visit.page.wait_for_selector(PANES)
    visit.until("!location.search.includes('level=error')")
    visit.page.go_back()
    visit.until("document.body.innerText.includes('12 lines')")


def test_lines_have_their_epoch_and_may_be_of_some_steps(visit: Visit) -> None:
    visit.go("/run/first/logs?steps=4-5", RATES)
    visit.until("document.body.innerText.includes('4 lines')")
    lines = ".card:last-child .grid"
    assert visit.texts(f"{lines} th")[:2] == ["Step", "Epoch"]
    assert visit.texts(f"{lines} tbody td:nth-child(1)") == ["5", "5", "4", "4"]
    assert visit.texts(f"{lines} tbody td:nth-child(2)") == ["2", "2", "1", "1"]
    visit.page.get_by_text("steps 4 to 5").click()
    visit.until("document.body.innerText.includes('24 lines')")
    visit.go("/run/hostile/logs", RATES)
    visit.until("document.body.innerText.includes('24 lines')")
    assert "Epoch" not in visit.texts(f"{lines} th")


def test_failures_are_counted_with_errors_and_latency(visit: Visit) -> None:
    visit.go("/run/first/logs", RATES)
    head = visit.texts(".rates th")
    answer = dict(zip(head, visit.texts(".rates tbody tr:nth-child(2) td"), strict=True))
    assert (answer["Component"], answer["Completions"]) == ("answer", "144")
    assert (answer["Errors"].strip(), answer["Failures"].strip()) == ("6 · 4.17%", "6 · 4.17%")
    assert (answer["Median"], answer["p95"], answer["Slowest"]) == ("10 ms", "2.5 s", "2.5 s")
    form = dict(zip(head, visit.texts(".rates tbody tr:nth-child(1) td"), strict=True))
    assert (form["Errors"].strip(), form["Median"]) == ("0", "1 ms")


def test_a_kind_of_notes_leads_to_its_completions(visit: Visit) -> None:
    visit.go("/run/first/logs", ".notes tbody tr[data-key]")
    assert visit.page.locator(".noted").is_hidden()
    row = visit.page.locator(".notes tbody tr[data-key]")
    assert row.count() == 1
    assert visit.texts(".notes tbody td.k-text, .notes tbody td.k-bar") == ["expected #, found #", "12 · 8.33%"]
    row.press("Enter")
    visit.page.wait_for_selector(NOTED)
    visit.at("note=expected")
    assert visit.texts(f"{NOTED} td.k-text")[0] == "expected 7, found 8"
    place = visit.place
    visit.go(place, NOTED)
    visit.page.locator(f"{NOTED} a").nth(1).click()
    visit.page.wait_for_selector(PANES)
    visit.at("left=1.0.10.1")
    visit.page.go_back()
    visit.page.wait_for_selector(NOTED)
    visit.page.locator(".noted button").click()
    visit.page.wait_for_selector(".noted", state="hidden")
    visit.until("!location.search.includes('note')")


def test_versions_show_what_changed(visit: Visit) -> None:
    visit.go("/run/first/versions", ".lines tr.gone")
    assert visit.texts("tbody tr[data-key] td:last-child") == ["reward.py +2 −2", "the first version"]
    assert visit.texts(".lines tr.gone .code") == ["TOLERANCE = 0.02", "    # strict"]
    assert visit.texts(".lines mark.new") == ["05"]
    assert visit.page.locator(".lines tr.folded").count() == 0
    visit.page.locator("tr[data-key^=aaaa]").press("Enter")
    visit.until("!document.querySelector('.lines tr.gone')")
    visit.until("location.search.includes('version=aaaa')")
    visit.until("document.querySelectorAll('.lines tr').length === 13")
    visit.page.locator(".versions select").select_option("b" * 16)
    visit.until("document.querySelector('.lines tr.new .code')?.innerText === 'TOLERANCE = 0.02'")
    visit.at("b" * 16)
    place = visit.place
    visit.go(place, ".lines tr.new")
    assert visit.texts(".lines tr.gone .code")[0] == "TOLERANCE = 0.05"
    visit.page.go_back()
    visit.page.keyboard.press("3")
    visit.page.wait_for_selector(RATES)
    visit.page.keyboard.press("7")
    visit.page.wait_for_selector(".lines")


def test_hostile_sources_are_shown_as_text(visit: Visit) -> None:
    visit.go("/run/hostile/versions", ".lines")
    assert ACTS in visit.texts(".lines .code")
    assert visit.page.locator(".page script, .page img, .page iframe").count() == 0
    assert "\\u202e" in visit.page.evaluate("document.body.innerText")


def test_prompts_have_their_length_in_tokens(visit: Visit) -> None:
    visit.go("/run/first/completions?columns=tokens&q=tokens%3E5", PANES)
    visit.until("document.querySelectorAll('.prompts tbody tr[data-key]').length === 2")
    assert visit.texts(".prompts tbody td:last-child") == ["6", "7"]
    assert "6 tokens" in visit.text(".prompt .head")
