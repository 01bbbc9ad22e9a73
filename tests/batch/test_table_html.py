"""Tables for a notebook: escaped, cut with the whole text on demand, and without scripts."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.table import render_html

HEADER = ["", "completion", "number", "total", "note"]
TAGS = {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "span", "pre", "br"}


class Page(HTMLParser):
    """What a browser makes of a table: its tags, its attributes and the text of each cell."""

    def __init__(self, shown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.cells: list[str] = []
        self.opened: list[str] = []
        self.feed(shown)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag in ("td", "th"):
            self.cells.append("")
        if tag == "pre":
            self.opened.append("")

    def handle_data(self, data: str) -> None:
        if self.tags[-1] == "pre":
            self.opened[-1] += data
        elif self.cells:
            self.cells[-1] += data


def page(completion: str, note: str = "", *, left: int = 0) -> Page:
    return Page(render_html(HEADER, [["0", completion, "failed", "unscorable", note]], left=left))


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=())), st.text())
def test_no_text_becomes_markup(completion: str, note: str) -> None:
    shown = render_html([*HEADER[:2], note, *HEADER[3:]], [["0", completion, "1", "1", note]], left=0)
    found = Page(shown)
    assert set(found.tags) <= TAGS
    assert found.attributes <= {"class"}
    assert found.tags.count("td") == len(HEADER)
    shown.encode()
    assert not {unicodedata.category(one) for one in shown.replace("\n", "")} & {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def test_hostile_text_is_only_text() -> None:
    hostile = "<script>alert(1)</script></pre></details></td></table><img src=x onerror=alert(2)>\x1b[2J\u202e"
    found = page(hostile, hostile * 3)
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert found.cells[len(HEADER) + 1].startswith("<script>alert(1)</script></pre>")
    assert "\\x1b[2J\\u202e" in found.opened[0]


def test_a_long_note_is_cut_and_whole_on_demand() -> None:
    note = "close: " + "the unit is not part of the gold answer, " * 20 + "the end"
    found = page("42", note)
    assert found.tags.count("details") == found.tags.count("summary") == 1
    assert found.cells[-1] == f"{note[:160]}..."
    assert found.opened == [note]


def test_short_text_is_whole_with_its_lines() -> None:
    found = page("<think>\nsix sevens\n</think>\n42")
    assert "details" not in found.tags
    assert found.tags.count("br") == 3
    assert found.cells[len(HEADER) + 1] == "<think>six sevens</think>42"


def test_text_of_many_lines_is_opened_with_its_lines() -> None:
    found = page("a\nb\nc\nd\ne\nf")
    assert found.cells[len(HEADER) + 1] == "abcd..."
    assert found.opened == ["a\nb\nc\nd\ne\nf"]


def test_a_huge_text_stays_small() -> None:
    shown = render_html(HEADER, [["0", "x" * 10**6, "1", "1", ""]], left=0)
    assert len(shown) < 10_000
    assert "... (1,000,000 characters)" in shown


def test_rows_that_are_not_shown_are_counted() -> None:
    assert "... and 1,234 more rows" in page("a", left=1234).cells[-1]


def test_a_score_table_shows_each_note_on_its_own_line() -> None:
    @rk.reward(bounds=(0, 1))
    def close(completion: str) -> rk.Score:
        return rk.Score(0.5, note="off by 2")

    shown = rk.score(rk.number("answer") + close, ["no idea"], answer=["42"])._repr_html_()
    assert "<br>close: off by 2" in shown
    assert '<td class="total">0.5</td>' in shown
    assert 'class="bad"' not in shown
