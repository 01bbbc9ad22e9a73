"""The list of runs, two runs prompt by prompt, and a reward that is tried, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.browsing import Visit, serving
from tests.page.recorded import ordinary

pytestmark = pytest.mark.slow
PANES = ".compared .pane pre.text"
PANES_OF_ONE = ".pane pre.text"


def test_runs_are_grouped_sorted_and_opened_by_keys(visit: Visit) -> None:
    visit.go("/", "tr[data-key=first] .k-spark svg")
    visit.until("document.querySelector('.badge.bad') && !document.body.innerText.includes('reading')")
    heads = visit.texts("h2.section")
    assert heads[-1] == "Without components"
    assert "answer, form" in heads
    label = visit.page.locator("tr[data-key=first] .k-spark svg").get_attribute("aria-label")
    assert label is not None
    assert label.startswith("Total of 12 steps: first")
    first = "document.querySelector('tr[data-key]').dataset.key"
    assert visit.page.evaluate(first) == "certain"
    visit.page.locator("th button", has_text="Completions").first.click()
    visit.until("document.querySelector('th[aria-sort=descending]') !== null")
    visit.until("location.search === '?sort=completions&down=1'")
    visit.page.locator("th button", has_text="Completions").first.click()
    visit.until(f"{first} !== 'certain'")
    visit.page.locator("th button", has_text="answer").first.click()
    visit.until("document.querySelector('th[aria-sort=descending]')?.textContent.startsWith('answer')")
    visit.page.keyboard.press("Tab")  # focus is visible if the last thing used was the keyboard
    visit.page.locator("tr[data-key=first]").focus()
    assert visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    visit.page.keyboard.press("Enter")
    visit.until("location.pathname === '/run/first/graphs'")


def test_nothing_vanishes_from_the_list_of_runs_on_a_narrow_screen(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 800, "height": 900})
    visit.go("/", "tr[data-key=first] .k-spark svg")
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 800
    cards = "[...document.querySelectorAll('.card.scroll')]"
    assert visit.page.evaluate(f"{cards}.every(one => one.scrollWidth <= one.clientWidth)")
    cell = "document.querySelector('tr[data-key=first] td[data-label=answer]')"
    assert visit.page.evaluate(f"{cell}.offsetWidth > 0 && getComputedStyle({cell}, '::before').content") == '"answer"'


def test_two_selected_runs_are_compared_prompt_by_prompt(visit: Visit) -> None:
    visit.go("/", "tr[data-key='sweep/second'] .badge.finished")
    for name in ("sweep/second", "first"):
        visit.page.locator(f"tr[data-key='{name}'] input").click()
        visit.until(f"document.querySelector(\"tr[data-key='{name}'] input\").checked")
    visit.page.get_by_text("Compare prompts").click()
    visit.page.wait_for_selector(PANES)
    visit.until("location.href.endsWith('/run/sweep/second/compare?with=first')")
    # Both runs end with an epoch: steps 5 and 6 of the one, 9 to 12 of the other, whose scores rise with the steps.
    assert visit.text(".verdict .said").startswith("first is better on 3 of 3 prompts, worse on 0, equal on 0.")
    assert "so few prompts" in visit.text(".verdict .said")
    assert visit.texts(".summary tbody td:first-child") == ["Total", "form", "answer"]
    assert visit.texts(".summary tr.selected td:nth-child(6)") == ["3"]
    assert visit.texts(".compared .chips").pop(0).split() == ["All", "3", "Won", "3", "Lost", "0", "Equal", "0"]
    assert visit.texts(".pane h3") == ["sweep/second", "first"]
    assert "step" in visit.text(".pane.left mark.gone") or visit.page.locator(".pane.left mark.gone").count()
    visit.page.locator(".summary tbody tr", has_text="form").click()
    visit.until("document.querySelector('.verdict')?.innerText.includes('equal on 3')")
    visit.until("location.search.includes('of=form')")
    visit.page.go_back()
    visit.until("document.querySelector('.verdict')?.innerText.includes('equal on 0')")


def test_prompts_of_two_runs_are_filtered_and_shown(visit: Visit) -> None:
    visit.go("/run/first/compare?with=sweep%2Fsecond&of=answer", PANES)
    rows = ".compared .prompts tbody tr[data-key]"
    differences = [float(text) for text in visit.texts(f"{rows} td:last-child")]
    assert differences == sorted(differences, reverse=True)
    assert max(differences) < 0
    search = visit.page.locator("input[data-search]")
    for words, count in (("level=hard", 1), ("difference>0", 0), ("result=lost number", 3), ("number 2", 1), ("", 3)):
        search.fill(words)
        visit.until(f"document.querySelectorAll('{rows}').length === {count}")
    search.fill("nothing<1")
    visit.until("document.querySelector('.prompts .complaint').innerText.includes('no column')")
    search.fill("")
    visit.until(f"document.querySelectorAll('{rows}').length === 3")
    before = visit.text(".prompt pre")
    visit.page.locator(rows).nth(1).focus()
    visit.page.keyboard.press("Enter")
    visit.until(f"document.querySelector('.prompt pre')?.textContent !== {before!r}")
    shown = visit.text(".pane.right pre")
    visit.page.locator(".pane.right .chips button[aria-pressed=false]").first.click()
    visit.until(f"document.querySelector('.pane.right pre')?.textContent !== {shown!r}")
    visit.until("location.search.includes('right=')")
    left = visit.text(".pane.left pre")
    visit.page.keyboard.press("ArrowRight")
    visit.until(f"document.querySelector('.pane.left pre')?.textContent !== {left!r}")
    visit.until("location.search.includes('left=')")
    place, texts = visit.place, visit.texts(".pane pre")
    visit.go(place, PANES)
    assert visit.texts(".pane pre") == texts
    visit.page.keyboard.press("s")
    visit.until("location.pathname === '/run/sweep/second/compare'")
    shown = "[...document.querySelectorAll('.pane pre')].map(one => one.innerText)"
    visit.until(f"JSON.stringify({shown}) === JSON.stringify({texts[::-1]!r})")


def test_windows_of_one_run_are_compared(visit: Visit) -> None:
    visit.go("/run/first/compare", ".empty h2")
    visit.page.locator("select[aria-label='Run to compare with']").select_option("first")
    visit.page.wait_for_selector(PANES)
    visit.until("['a=first', 'b=last'].every(one => location.search.slice(1).split('&').includes(one))")
    assert visit.text(".verdict .said").startswith("The right side is better on 3 of 3 prompts")
    visit.page.locator("select[aria-label^=Completions]").nth(1).select_option("steps")
    field = visit.page.locator(".bar-of-tools input.field")
    field.wait_for()
    field.fill("1-4")
    visit.until("document.querySelector('.verdict')?.innerText.includes('equal on 3')")
    visit.until("location.search.includes('b=1-4')")
    visit.go("/run/first/compare?with=nowhere", ".empty h2")
    assert "no run 'nowhere'" in visit.text(".empty")


def test_conversations_of_two_windows_and_hostile_texts(visit: Visit) -> None:
    visit.go("/run/sweep/tools/compare?with=sweep%2Ftools&a=first&b=last", ".transcript .turn")
    assert visit.texts(".roles .message .role") == ["system", "user"]
    visit.go("/run/hostile/compare?with=hostile&a=first&b=last", ".compared .pane")
    visit.page.wait_for_timeout(500)
    assert visit.page.locator("script[src*=evil], iframe, .page img, .page svg").count() == 0
    assert "<script>window.acted=1</script>" in visit.text(".prompt")


NEW = """
import rewardkit as rk

@rk.reward(bounds=(-2.0, 1.0))
def last_digit(completion: str) -> float:
    {body}
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server of two runs on which a reward is tried, and the file of the reward."""
    path = tmp_path_factory.mktemp("tried")
    ordinary(path / "first")
    ordinary(path / "second", 6)
    file = path / "new.py"
    file.write_text(NEW.format(body="return -float(completion.split()[4]) / 10"))
    with serving(path, options=("--reward", f"{file}:last_digit")) as address:
        yield address, file


@pytest.fixture
def trying(chromium: Any, tried: tuple[str, Path]) -> Iterator[Visit]:
    context = chromium.new_context(viewport={"width": 1366, "height": 768})
    visit = Visit(context, tried[0])
    yield visit
    context.close()
    assert visit.elsewhere() == []
    assert visit.errors == []


def test_a_reward_is_tried_beside_the_recorded_one(trying: Visit, tried: tuple[str, Path]) -> None:
    visit, prompts = trying, ".prompts tbody tr[data-key]"
    visit.go("/run/first/completions?right=1.0.11.2", PANES_OF_ONE)
    visit.until("document.querySelector('.trial')?.innerText.includes('144 completions')")
    # The recorded totals of the first prompt: 1.0, 1.5, 1.5, 1.0; the new ones fall with the number of the completion.
    assert "sign flips" in visit.text(".trial")
    heads = [head.strip(" ↓↑") for head in visit.texts(".main .grid th")]
    assert heads[3:5] == ["New", "Flip"]
    visit.until("document.querySelector('.pane.right .tried')?.innerText.includes('-0.200')")
    assert "sign flips: + → −" in visit.text(".pane.right .tried")
    assert [head.strip(" ↓↑") for head in visit.texts(".prompts th")] == ["#", "Prompt", "Mean", "New", "Flips"]
    assert float(visit.texts(f"{prompts} td:nth-child(4)")[0]) == -0.15
    visit.page.locator(".main .table-head input").fill("flip new>-0.1")
    visit.until("document.querySelector('.table-head .soft').textContent.includes('of 48')")
    rows = visit.texts(".main .grid tbody tr[data-key] .badge")
    assert rows
    assert set(rows) == {"− → +"}
    visit.page.locator(".prompts input[data-search]").fill("new<-0.5")
    visit.until(f"document.querySelectorAll('{prompts}').length === 2")
    visit.page.locator(".prompts input[data-search]").fill("flip")
    visit.until(f"document.querySelectorAll('{prompts}').length === 3")

    tried[1].write_text(NEW.format(body="return 1 / 0"))
    visit.until("document.querySelector('.trial')?.innerText.includes('144 failed')")
    # The badge of the sign flip is there until the pane is drawn again, so the failure is known by its title.
    visit.until("document.querySelector('.pane.right .tried .badge.bad[title*=ZeroDivisionError]') !== null")
    tried[1].write_text(NEW.format(body="return nothing +"))
    visit.until("document.querySelector('.trial .problem')?.innerText.includes('SyntaxError')")
    assert visit.texts(".pane h3") != []
    tried[1].write_text(NEW.format(body="return float('right' in completion)"))
    visit.until("document.querySelector('.trial')?.innerText.includes('144 completions · 0 sign flips')")


def test_two_runs_are_compared_by_the_reward_that_is_tried(trying: Visit, tried: tuple[str, Path]) -> None:
    tried[1].write_text(NEW.format(body="return float('right' in completion)"))
    trying.go("/run/first/compare?with=second&of=/new", PANES)
    trying.until("document.querySelector('.trial')?.innerText.includes('144 completions · 0 sign flips')")
    trying.until("document.querySelectorAll('.summary tbody tr').length === 4")
    trying.until("document.querySelector('.verdict')?.innerText.includes('equal on 3')")
    assert trying.texts(".summary tbody td:first-child") == ["Total", "New total", "form", "answer"]
    trying.until("[...document.querySelectorAll('.pane .tried b')].every(one => one.textContent === '1.000')")
