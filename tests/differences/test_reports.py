"""The reports of a comparison: hostile completions and names stay text, and everything fits."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.differences.differences import Differences
from rewardkit.report.document import LIMIT, plain

HOSTILE = (
    "```\n# heading\n@everyone see #1 and https://example.com\n",
    "````` @admin `",
    "</details></details><script>alert(1)</script><img src=x onerror=alert(1)>",
    "| a | b |\n|---|---|\n| @someone | [x](javascript:alert(1)) |",
    "::error::stop\n::set-output name=x::y",
    "\x1b[2J\x1b]52;c;aGk=\x07 \u202egnp.exe",
    "~~~\n<!-- -->\n> @team",
    "\ud800 lone",
)


@rk.reward
def never(completion: str) -> float:
    return 0.0


@rk.reward
def by_length(completion: str) -> float:
    return len(completion) / (1.0 + len(completion))


def differences(texts: list[str], **more: Any) -> Differences:
    rows = [{"prompt": texts[0], "completion": text, "gold": text} for text in texts]
    return rk.diff(more.get("old", never.named("a")), more.get("new", by_length.named("b")), rows, examples=50)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)


def outside_of_code(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, content) of everything in Markdown that is not code."""
    markdown_it = pytest.importorskip("markdown_it")
    for token in markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        for one in token.children or [token]:
            if one.type not in ("fence", "code_inline", "code_block"):
                yield one.type, one.content


hostile = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.text(alphabet="`~@#<>|\\ \nab:/[]()-*_", max_size=40)),
    min_size=2,
    max_size=5,
)


@given(hostile)
def test_in_a_comment_completions_are_code_and_nothing_else(texts: list[str]) -> None:
    marked = [f"{text} MARK" for text in texts]
    found = differences(marked, new=by_length.named("b"))
    kinds = list(outside_of_code(found.markdown()))
    assert not [content for _, content in kinds if "MARK" in content]
    assert {content for kind, content in kinds if kind.startswith("html") and "summary" not in content} <= {
        "</details>\n",
        "</details>",
        "",
    }
    assert not {kind for kind, _ in kinds} & {"link_open", "image"}
    headings = {kinds[place + 1][1] for place, (kind, _) in enumerate(kinds) if kind == "heading_open"}
    assert headings <= {"Components", "Advantages within groups", "The largest changes"}


@given(st.text(alphabet="`~@#<>|\\ ab:/[]()-*_!.1", max_size=40))
def test_plain_text_is_no_markup(text: str) -> None:
    kinds = {kind for kind, _ in outside_of_code(f"**{plain(text + '.')}**")}
    assert kinds <= {
        "paragraph_open",
        "paragraph_close",
        "strong_open",
        "strong_close",
        "text",
        "text_special",
        "inline",
        "softbreak",
    }
    assert not any(name in plain("@someone #12 https://x.y") for name in ("@s", "#1", "://"))


@given(hostile)
def test_on_the_page_completions_are_text(texts: list[str]) -> None:
    tags = _Tags()
    tags.feed(differences(texts).html())
    assert tags.tags <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "code", "section", "table", "thead",
        "tbody", "tr", "th", "td", "div", "dl", "dt", "dd", "pre", "span",
    }  # fmt: skip


@given(hostile)
def test_on_a_terminal_no_control_character_is_left(texts: list[str]) -> None:
    text = differences(texts).text()
    assert all(line.isprintable() for line in text.split("\n"))


def test_a_comment_fits_and_shows_what_fits() -> None:
    found = differences([f"{number} " + "`é\u202e" * 4_000 for number in range(60)])
    comment = found.markdown()
    assert len(comment.encode()) <= LIMIT
    assert comment.count("<details>") == comment.count("</details>") > 5


def test_a_report_names_both_rewards_and_the_data() -> None:
    for text in (differences(["a", "b"]).text(), differences(["a", "b"]).markdown(), differences(["a", "b"]).html()):
        assert "the data" in text
