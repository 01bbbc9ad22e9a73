"""The report document: the same blocks as text, Markdown and a page; foreign text stays text in each of them."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from rewardkit.report.document import (
    LIMIT,
    WIDTH,
    Bar,
    Block,
    Card,
    Cell,
    Code,
    Document,
    Facts,
    Fold,
    Mark,
    Name,
    Paragraph,
    Part,
    Quote,
    Table,
    Verdict,
)

HOSTILE = st.one_of(
    st.sampled_from(
        (
            "```\n# heading\n@everyone see #1 and https://example.com",
            "</details></div><script>alert(1)</script><img src=x onerror=alert(1)>",
            "| a | [x](javascript:alert(1)) |\n::error::stop",
            "\x1b[2J\x1b]52;c;aGk=\x07 \u202egnp.exe \ud800",
        )
    ),
    st.text(alphabet="`~@#<>|\\ \nab:/[]()-*_\u202e\x1b", max_size=30),
)


def every_block(text: str) -> list[Block]:
    """One block of each kind, with `text` at each place that can hold it."""
    cells: list[Cell] = [Name(text), Mark(text, "broken"), Bar([("right", 2), ("wrong", 1)]), text]
    facts = Facts([(text, text), ("quote", Quote(text)), ("list", Quote([text]))])
    return [
        Verdict(text, "held"),
        Paragraph(text),
        Paragraph(text, "soft"),
        Paragraph(text, "note"),
        Table([cells], [text] * 4, left=2),
        Table([cells]),
        Facts([(text, text)]),
        Part(text, [Part(text, [Card(text, [facts, Fold(text, [Code(text)])])]), Code(text)]),
    ]


@given(HOSTILE)
def test_no_control_character_reaches_a_terminal(text: str) -> None:
    shown = Document(text, every_block(text)).text()
    assert all(line.isprintable() for line in shown.split("\n"))


@given(HOSTILE)
def test_a_page_has_no_foreign_elements(text: str) -> None:
    found: set[str] = set()

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.add(tag)
            assert not {name for name, _ in attrs} & {"src", "style", "onerror", "href"}

    page = Document(text, every_block(text)).html()
    Tags().feed(page)
    page.encode()
    assert not found & {"script", "img", "a", "iframe", "link"}
    assert page.count("<section") == page.count("</section>") == 1
    assert page.count("<details") == page.count("</details>") == 1


@given(HOSTILE)
def test_markdown_mentions_and_links_nothing(text: str) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    shown = Document(text, every_block(f"{text}.")).markdown()
    tokens = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(shown)
    flat = [child for token in tokens for child in (token.children or [token])]
    assert not {token.type for token in flat} & {"link_open", "image"}
    code = ("fence", "code_inline", "code_block")
    outside = "".join(token.content for token in flat if token.type not in code)
    assert not any(mark in outside for mark in ("@e", "#1", "://"))
    markup = "".join(token.content for token in flat if token.type.startswith("html"))
    assert "<script" not in markup
    assert "<img" not in markup
    assert sum(token.type == "heading_open" for token in tokens) == 2


def test_text_is_wrapped_with_its_indent_and_quotes_are_not() -> None:
    long = "word " * 60
    blocks: list[Block] = [
        Part("A part", [Paragraph(long), Card("1. a card", [Facts([("name", long), ("quote", Quote("x" * 250))])])])
    ]
    lines = Document("", blocks).text().splitlines()
    assert lines[0] == "A part"
    assert all(line.startswith("  ") for line in lines[1:] if line)
    wrapped, quote = lines[:-1], lines[-1]
    assert max(map(len, wrapped)) <= WIDTH
    assert quote == f"     quote  {'x' * 250!r}"
    assert sum(line.startswith(" " * 12 + "word") for line in wrapped) >= 2


def test_a_comment_says_that_it_is_cut_and_keeps_whole_cards() -> None:
    cards = [Card(f"row {number}", [Code("é" * 1_000)]) for number in range(100)]
    shown = Document("", cards).markdown()
    assert LIMIT - 3_000 < len(shown.encode()) <= LIMIT
    assert shown.count("<details>") == shown.count("</details>") > 10
    assert shown.rstrip().endswith("too long for a comment.")


def test_parts_in_parts_have_smaller_headings_and_links_lead_to_them() -> None:
    blocks: list[Block] = [Table([[Name("inner", "a b")]]), Part("outer", [Part("inner", [], "a b")])]
    page = Document("title", blocks).html()
    assert "<h1>title</h1>" in page
    assert "<h2>outer</h2>" in page
    assert '<div id="a-b"><h3>inner</h3>' in page
    assert '<a href="#a-b">inner</a>' in page
    assert Document("", blocks).markdown().splitlines()[-3:] == ["### outer", "", "#### inner"]
    assert Document("", []).markdown() == Document("", []).text() == ""
