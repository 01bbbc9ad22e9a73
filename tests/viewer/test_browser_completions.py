"""The tab *Completions* in a real browser: two completions side by side, conversations, and the table of all."""

from __future__ import annotations

import pytest

from tests.viewer.browsing import Visit
from tests.viewer.recorded import ACTS

pytestmark = pytest.mark.slow
PANES = ".pane pre.text"


def test_conversations_are_aligned_by_turn(visit: Visit) -> None:
    visit.go("/run/sweep/tools/completions?left=1.0.0.0&right=1.0.5.1", ".transcript .turn")
    assert visit.texts(".roles .message .role") == ["system", "user"]
    assert visit.texts(".transcript .turn .head .role") == ["turn 1 · assistant"] * 2 + ["turn 2 · assistant"] * 2
    assert visit.texts(".transcript .asked code") == ['open(color="red")', 'open(color="green")']
    assert visit.texts(".transcript .asked .badge") == ["ok", "ok"]
    assert visit.texts(".transcript .top-of-side .badge") == ["answered", "answered"]
    assert visit.texts(".transcript .turn .read pre") == ["It is 18.", "It is 7."]
    assert visit.texts(".transcript mark") == ["18", "7"]
    assert visit.texts(".transcript .share .value") == ["+0.750", "-0.500", "+0.250", "+0.500"]
    fold = visit.page.locator(".transcript details").first
    assert visit.text(".transcript details .line") == "In the drawer:"
    assert fold.locator("pre").is_hidden()
    fold.locator("summary").click()
    assert fold.locator("pre").is_visible()
    assert "thing 9" in fold.locator("pre").inner_text()
    assert "The first 4,000 of 1,188,904 characters." in fold.inner_text()
    assert len(visit.page.content()) < 300_000
    visit.page.get_by_text("Long texts are cut.").wait_for()


def test_conversations_are_escaped_and_found(visit: Visit) -> None:
    visit.go("/run/sweep/tools/completions?left=1.0.0.2&right=1.0.0.3", ".transcript .turn")
    assert visit.texts(".transcript .top-of-side .badge") == ["pending", "answered"]
    assert visit.texts(".transcript .asked .badge") == ["error", "ok", "no result"]
    assert ACTS in visit.texts(".transcript .turn .read pre")
    assert visit.page.locator(".transcript a, .transcript img, .transcript script").count() == 0
    visit.page.locator(".table-head input").fill("stop=pending calls>1 tool:open errors>0 turns>=2")
    visit.until("document.querySelectorAll('.card .grid tr[data-key^=\"1.0.\"]').length === 6")
    visit.page.locator("input[data-search]").fill("calls>2")
    visit.page.get_by_text("No prompt matches.").wait_for()


def test_the_best_of_the_newest_epoch_is_compared(visit: Visit) -> None:
    visit.go("/run/first/completions", PANES)
    assert visit.texts(".pane h3") == ["epoch 1 · step 4", "epoch 3 · step 12"]
    assert "best of the newest" in visit.text(".pane.right")
    assert "4" in visit.text(".pane.left mark")
    assert visit.texts(".scores .component") == ["form", "answer"]
    visit.page.locator(".pane input[type=range]").evaluate(
        "slider => { slider.value = 1; slider.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    visit.until("document.querySelector('.pane.left h3').textContent.startsWith('epoch 2')")
    visit.until("location.search.includes('left=')")
    here = visit.place
    visit.page.keyboard.press("ArrowRight")
    visit.until(
        "document.querySelector('.pane.left h3').textContent !== 'epoch 2 · step 8' || location.href.includes('left=')"
    )
    visit.until(f"location.pathname + location.search !== {here!r}")
    visit.page.keyboard.press("Shift+ArrowLeft")
    visit.until("location.search.includes('right=')")
    visit.page.wait_for_timeout(300)
    place, panes = visit.place, visit.texts(".pane h3")
    visit.go(place, PANES)
    assert visit.texts(".pane h3") == panes
    visit.page.keyboard.press("n")
    visit.until("document.querySelector('.pane.right').innerText.includes('best of the newest')")
    visit.page.keyboard.press("s")
    visit.until("document.querySelector('.pane.left h3').textContent === 'epoch 3 · step 12'")
    visit.page.go_back()
    visit.until("document.querySelector('.pane.left h3')?.textContent === 'epoch 1 · step 4'")


def test_all_completions_of_a_prompt(visit: Visit) -> None:
    visit.go("/run/first/completions", PANES)
    table = ".main .grid tbody tr[data-key]"
    visit.page.wait_for_selector(table)
    assert visit.text(".table-head .soft") == "48"
    heads = visit.texts(".main .grid th")
    assert {"Total", "Advantage", "form", "answer", "Length"} <= {head.strip(" ↓↑") for head in heads}
    visit.page.locator(".table-head input").fill("answer<0.2")
    visit.until("document.querySelector('.table-head .soft').textContent.includes('of 48')")
    visit.page.locator(".table-head input").fill('"step 5 says"')
    visit.until("document.querySelector('.main .grid tbody').innerText.includes('Step 5 says')")
    visit.until("!document.querySelector('.main .grid tbody').innerText.includes('Step 1 says')")
    assert visit.text(".table-head .soft") == "4 of 48"
    visit.page.locator(table).first.get_by_text("right", exact=True).click()
    visit.until("document.querySelector('.pane.right h3').textContent.includes('step 5')")
    assert "rows=" in visit.place
