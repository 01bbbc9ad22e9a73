"""The tab *Completions* in a real browser: two completions side by side, conversations, and the table of all."""

from __future__ import annotations

import pytest

from tests.page.browsing import Visit
from tests.page.recorded import ACTS

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
    visit.page.get_by_text("Long completions are shortened.").wait_for()


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
    visit.page.locator(".pane.left input[type=range]").evaluate(
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
    visit.at("rows=")


def test_the_roles_of_a_prompt_are_kept_apart(visit: Visit) -> None:
    visit.go("/run/sweep/marked/completions", PANES)
    assert visit.texts(".prompts tbody .k-text") == ["What is $x^2$?"]
    assert visit.texts(".roles .role") == ["system", "user"]
    assert visit.texts(".roles pre") == ["Be $brief$.", "What is $x^2$?"]


def test_arrows_stay_in_the_epoch(visit: Visit) -> None:
    visit.go("/run/first/completions?left=1.0.0.0", PANES)
    places = []
    for _ in range(17):
        places.append(visit.text(".pane.left .places span"))
        before = visit.place
        visit.page.keyboard.press("ArrowRight")
        visit.until(f"location.pathname + location.search !== {before!r}")
        visit.until(f"document.querySelector('.pane.left .places span').textContent !== {places[-1]!r}")
    assert places == [f"{place} of 16" for place in [*range(1, 17), 1]]
    assert visit.text(".pane.left h3") == "epoch 1 · step 1"
    visit.page.locator(".pane.left").get_by_label("Previous completion").click()
    visit.until("document.querySelector('.pane.left .places span').textContent === '1 of 16'")


def test_ids_are_folded(visit: Visit) -> None:
    visit.go("/run/first/completions?left=1.0.3.1", PANES)
    ids = visit.page.locator(".pane.left details.ids")
    assert ids.locator(".mono").first.is_hidden()
    ids.locator("summary").click()
    assert ids.locator(".mono").first.inner_text() == "1.0.3.1"


def test_left_and_right_are_pressed_and_undone(visit: Visit) -> None:
    visit.go("/run/first/completions?left=1.0.0.0&right=1.0.11.1", PANES)
    row = visit.page.locator(".main tr[data-key='1.0.11.2']")
    left, right = row.get_by_role("button", name="left"), row.get_by_role("button", name="right")
    assert (left.get_attribute("aria-pressed"), right.get_attribute("aria-pressed")) == ("false", "false")
    right.click()
    visit.page.wait_for_selector(".main tr[data-key='1.0.11.2'] button.on")
    assert right.get_attribute("aria-pressed") == "true"
    left.click()
    visit.until("location.search.includes('left=1.0.11.2')")
    visit.page.go_back()
    visit.until("location.search.includes('left=1.0.0.0') && location.search.includes('right=1.0.11.2')")
    visit.until("document.querySelector('.pane.left h3')?.textContent === 'epoch 1 · step 1'")
    visit.page.go_back()
    visit.until("location.search.includes('right=1.0.11.1')")


def test_whole_texts_unfold_in_the_list(visit: Visit) -> None:
    visit.go("/run/sweep/marked/completions", ".main tr[data-key='1.0.1.0']")
    heads = [head.strip(" ↓↑") for head in visit.texts(".main .grid th")]
    assert heads[heads.index("Total") + 1] == "Text"
    row = visit.page.locator(".main tr[data-key='1.0.1.0']")
    row.focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".main tr.detail pre")
    assert "39. **Step** 39" in visit.text(".main tr.detail pre")
    assert row.get_by_label("Whole text").get_attribute("aria-expanded") == "true"
    visit.until("location.search.includes('open=1.0.1.0')")
    visit.page.locator(".main tr[data-key='1.0.1.3']").click()
    visit.until("document.querySelectorAll('.main tr.detail').length === 2")
    visit.go(visit.place, ".main tr.detail pre")
    row.get_by_label("Whole text").click()
    visit.until("document.querySelectorAll('.main tr.detail').length === 1")


def test_differences_are_marked_only_in_similar_texts(visit: Visit) -> None:
    visit.go("/run/sweep/marked/completions?left=1.0.0.0&right=1.0.0.1", ".pane mark")
    assert visit.text(".pane.left mark").startswith("7}")
    visit.go("/run/sweep/marked/completions?left=1.0.0.0&right=1.0.0.3", PANES)
    visit.page.get_by_text("These completions have little in common").first.wait_for()
    assert visit.page.locator(".pane mark").count() == 0


def test_panes_scroll_together(visit: Visit) -> None:
    visit.go("/run/sweep/marked/completions?left=1.0.0.0&right=1.0.0.1", PANES)
    visit.page.locator(".pane.left pre.text").evaluate("text => text.scrollTo(0, text.scrollHeight)")
    visit.until(
        "(text => text.scrollTop > 0 && text.scrollHeight - text.clientHeight - text.scrollTop < 2)"
        "(document.querySelector('.pane.right pre.text'))"
    )
    visit.page.locator(".pane.right pre.text").evaluate("text => text.scrollTo(0, 0)")
    visit.until("document.querySelector('.pane.left pre.text').scrollTop === 0")


def test_texts_are_rendered_on_demand(visit: Visit) -> None:
    visit.go("/run/sweep/marked/completions?left=1.0.0.0&right=1.0.0.1", PANES)
    views = visit.page.get_by_role("group", name="Show completions as plain text or rendered")
    assert views.get_by_text("Raw").get_attribute("aria-pressed") == "true"
    views.get_by_text("Rendered").click()
    visit.page.wait_for_selector(".pane.left .rendered math mfrac")
    visit.until("location.search.includes('view=rendered')")
    assert visit.page.evaluate("document.querySelector('.pane math').namespaceURI").endswith("/Math/MathML")
    assert visit.page.locator(".pane.left .rendered ol li").count() == 39
    assert visit.page.locator(".prompt .roles math msup").count() == 1
    assert visit.page.locator(".pane a, .pane img").count() == 0
    assert "click (javascript:window.acted=1) image: cat (http://evil.example/cat.png)" in visit.text(".pane.left")
    assert '"x": 8' in visit.text(".pane.right .json")
    visit.page.keyboard.press("r")
    visit.page.wait_for_selector(".pane > pre.text")
    visit.page.keyboard.press("r")
    visit.page.wait_for_selector(".pane.left .rendered math mfrac")
    visit.page.locator(".main tr[data-key='1.0.0.2']").click()
    visit.page.wait_for_selector(".main tr.detail .json")
    assert visit.text(".main tr.detail .json").splitlines()[:2] == ["{", '  "answer": [']
    visit.page.go_back()
    visit.until("document.querySelector('.pane > pre.text') && !document.querySelector('.main .rendered')")


def test_conversations_are_rendered(visit: Visit) -> None:
    visit.go("/run/sweep/tools/completions?left=1.0.0.0&right=1.0.0.3&view=rendered", ".transcript .turn .rendered")
    assert visit.texts(".transcript .turn .read .rendered")[0] == "It is 18."
    assert ACTS in visit.texts(".transcript .turn .read .rendered")[1]
    assert visit.page.locator(".transcript a, .transcript img, .transcript script").count() == 0


def test_an_advantage_is_explained(visit: Visit) -> None:
    visit.go("/run/first/completions?left=1.0.0.0&right=1.0.11.1", ".why .equation")
    assert visit.texts(".both > :nth-child(2) .steps th") == [
        "form",
        "answer",
        "total",
        "− mean of the group (4)",
        "difference",
        "÷ spread of the group",
        "advantage",
    ]
    terms = visit.texts(".both > :nth-child(2) .steps .number")
    advantage = visit.text(".pane.right .score span:nth-of-type(1) i")
    assert terms[-1] == advantage
    assert visit.text(".both > :nth-child(2) .equation").splitlines()[0].endswith(f"= {advantage}")
    assert visit.texts(".ends span")[1] == "4 in the group"


def test_a_dot_is_compared_on_the_other_side(visit: Visit) -> None:
    visit.go("/run/first/completions?left=1.0.0.0&right=1.0.11.1", ".siblings .dot")
    right = visit.page.locator(".both > :nth-child(2) .dot")
    assert right.count() == 4
    assert right.nth(1).get_attribute("aria-current") == "true"
    right.nth(2).click()
    visit.until("location.search.includes('left=1.0.11.2')")
    visit.until("document.querySelector('.pane.left h3').textContent === 'epoch 3 · step 12'")
    visit.until("document.querySelectorAll('.both > :nth-child(1) .dot')[2]?.ariaCurrent === 'true'")
    visit.page.locator(".advantages select").select_option("form")
    visit.until("location.search.includes('group=form')")
    visit.until("document.querySelector('.ends span').textContent === '0.000'")
    visit.page.go_back()
    visit.until("location.search.includes('left=1.0.0.0')")


def test_the_phrase_of_an_alert_is_highlighted(visit: Visit) -> None:
    visit.go("/run/certain/suspicious?observations=1", ".alert")
    alert = visit.page.locator(".alert", has_text="spreads, and completions with it")
    alert.locator(".evidence a[href*=mark]").first.click()
    visit.page.wait_for_selector(".marked b")
    visit.until("CSS.highlights.get('rewardkit-phrase')?.size > 0")
    marked = visit.page.evaluate("[...CSS.highlights.get('rewardkit-phrase')].map(range => range.toString())")
    assert {text.casefold() for text in marked} == {visit.text(".marked b").strip("“”…").casefold()}
    visit.page.get_by_text("Stop highlighting").click()
    visit.until("!CSS.highlights.has('rewardkit-phrase') && !location.search.includes('mark=')")


def test_a_click_moves_the_highlight_without_new_rows(visit: Visit) -> None:
    received: list[str] = []
    visit.page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(str(frame))))
    visit.go("/run/first/completions?left=1.0.0.0&right=1.0.11.1", PANES)
    row = ".main tr[data-key='1.0.11.2']"
    visit.page.wait_for_selector(row)
    visit.page.wait_for_timeout(500)
    received.clear()
    visit.page.locator(row).get_by_role("button", name="right").click()
    visit.page.wait_for_selector(f"{row}.selected button.on")
    visit.until("document.querySelector('.pane.right .mono')?.textContent === '1.0.11.2'")
    visit.page.keyboard.press("ArrowLeft")
    visit.until("location.search.includes('left=') && !location.search.includes('left=1.0.0.0')")
    visit.until("document.querySelectorAll('.main tr.selected').length > 0")
    assert received
    assert not [frame for frame in received if '"cells"' in frame]
