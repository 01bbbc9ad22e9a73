"""The list of prompts in a real browser: its columns, names that mean two things, the keyboard, tabs that stay."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rewardkit.record.recorder import Recorder
from tests.page.browsing import Visit
from tests.page.recorded import record

pytestmark = pytest.mark.slow
PANES = ".pane pre.text"
ROWS = ".prompts tbody tr[data-key]"


@pytest.fixture(scope="module")
def gold(folder: Path) -> str:
    """A run whose data has a column with the name of a component."""
    with Recorder(folder / "gold", patience=math.inf) as recorder:
        for step in (1, 2, 3):
            answers = [str(10 + row // 4) for row in range(12)]
            columns = {"answer": answers, "level": ["hard"] * 4 + ["easy"] * 8}
            recorder.record(record(step, epoch=step / 1.0, columns=columns))
    return "/run/gold/completions"


def count(visit: Visit, number: int) -> None:
    visit.until(f"document.querySelectorAll('{ROWS}').length === {number}")


def test_a_column_does_not_hide_the_component_of_its_name(visit: Visit, gold: str) -> None:
    visit.go(gold + "?q=form%3E0.9+answer%3C0.13", PANES)
    count(visit, 1)
    assert "answer is a component and a column of the data" in visit.text(".prompts .complaint")
    search = visit.page.locator("input[data-search]")
    search.fill("answer=12")
    visit.until(f"document.querySelector('{ROWS} .k-text').innerText === 'What is prompt number 2?'")
    count(visit, 1)
    search.fill("column.answer<12")
    count(visit, 2)
    visit.page.wait_for_selector(".prompts .complaint", state="hidden")
    search.fill("component.answer<0.13")
    count(visit, 1)


def test_columns_are_chosen_sorted_and_kept_in_the_address(visit: Visit, gold: str) -> None:
    visit.go(gold, PANES)
    visit.page.get_by_text("Columns", exact=True).click()
    for name in ("answer", "Seen in these epochs"):
        visit.page.locator(".menu label", has_text=name).click()
    visit.page.locator(".menu label", has_text="Number of epochs").click()
    visit.page.wait_for_selector(".prompts th:has-text('Seen in')")
    visit.page.wait_for_selector(".prompts th:has-text('Epochs')", state="detached")
    visit.until("location.search.includes('columns=')")
    visit.page.keyboard.press("Escape")
    visit.page.wait_for_selector(".menu .options", state="hidden")
    heads = [head.strip(" ↑↓") for head in visit.texts(".prompts th")]
    assert heads == ["#", "Prompt", "Seen in", "N", "Mean", "answer"]
    visit.page.locator(".prompts th button", has_text="answer").click()
    visit.page.locator(".prompts th button", has_text="answer").click()
    visit.until(f"document.querySelector('{ROWS}:first-child td:last-child').innerText === '12'")
    assert visit.texts(f"{ROWS}:first-child td.k-value") == ["1–3", "12"]
    visit.go(visit.place, PANES)
    assert visit.texts(f"{ROWS}:first-child td.k-value") == ["1–3", "12"]
    assert "in epochs 1–3" in visit.text(".prompt .head")


def test_search_shows_the_hidden_list_and_typing_is_no_command(visit: Visit, gold: str) -> None:
    visit.go(gold, PANES)
    visit.page.keyboard.press("b")
    visit.page.wait_for_selector(".prompts", state="hidden")
    visit.until("location.search.includes('prompts=no')")
    visit.page.keyboard.type("/bdns0 3")
    visit.page.wait_for_selector(".prompts", state="visible")
    visit.until("!location.search.includes('prompts=no')")
    visit.until("location.search.includes('q=')")
    assert visit.page.locator("input[data-search]").input_value() == "bdns0 3"
    visit.at("/run/gold/completions")
    assert visit.page.locator("body.dark").count() == 0
    assert visit.page.locator(".prompts").is_visible()


def test_no_shortcut_acts_with_a_modifier_or_behind_the_help(visit: Visit, gold: str) -> None:
    visit.go(gold, PANES)
    for key in ("Control+b", "Alt+b", "Meta+b", "Control+d"):
        visit.page.keyboard.press(key)
    visit.page.locator("input[type=range]").first.focus()
    visit.page.keyboard.press("b")
    visit.page.locator("h1, .brand").first.focus()
    visit.page.keyboard.press("?")
    visit.page.wait_for_selector(".help")
    visit.page.keyboard.press("b")
    visit.page.keyboard.press("1")
    visit.page.keyboard.press("Escape")
    visit.until("!document.querySelector('[role=dialog]')")
    visit.page.keyboard.press("j")
    visit.until("document.querySelectorAll('.prompts tr')[2].classList.contains('selected')")
    assert visit.page.locator(".prompts").is_visible()
    assert visit.page.locator("body.dark").count() == 0


def test_rows_open_with_the_keyboard(visit: Visit, gold: str) -> None:
    visit.go(gold, PANES)
    visit.page.locator(ROWS).nth(2).focus()
    visit.page.keyboard.press("Enter")
    visit.until("document.querySelector('.prompt h3').textContent.startsWith('Prompt 2')")
    outline = visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_tabs_keep_their_state(visit: Visit, gold: str) -> None:
    visit.go(gold + "?q=level%3Deasy", PANES)
    visit.page.locator(ROWS).nth(1).click()
    visit.until("document.querySelector('.prompt h3').textContent.startsWith('Prompt 2')")
    second = visit.page.locator(ROWS).nth(1).get_attribute("data-key")
    visit.at(f"q=level%3Deasy&prompt={second}")
    place = visit.place
    visit.page.keyboard.press("3")
    visit.page.wait_for_selector(".rates")
    visit.page.locator("nav a", has_text="Completions").click()
    visit.page.wait_for_selector(PANES)
    visit.at(place)
    visit.page.keyboard.press("1")
    visit.page.wait_for_selector(".plot")
    visit.page.keyboard.press("2")
    visit.page.wait_for_selector(PANES)
    visit.at(place)


def test_the_selected_prompt_is_in_view(visit: Visit, gold: str) -> None:
    visit.page.set_viewport_size({"width": 1366, "height": 300})
    visit.go(gold, PANES)
    last = visit.page.locator(ROWS).last.get_attribute("data-key")
    visit.go(f"{gold}?prompt={last}", PANES)
    visit.until("document.querySelector('.prompts .scroll').scrollTop > 0")


def test_the_choices_of_columns_line_up(visit: Visit, gold: str) -> None:
    visit.go(gold, PANES)
    visit.page.locator(".menu > button").click()
    boxes = visit.page.locator(".menu .options input").evaluate_all("boxes => boxes.map(one => one.offsetLeft)")
    assert len(boxes) > 5
    assert len(set(boxes)) == 1
