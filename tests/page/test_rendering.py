"""Markdown, mathematics and JSON become a tree of harmless elements that shows all of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

pytest.importorskip("markdown_it")
from rewardkit.page.escapes import escape
from rewardkit.page.rendering import LONGEST, Node, formula, pretty_json, rendered
from tests.page.recorded import HOSTILE

MARKUP = [
    *("*", "**", "_", "`", "```", "~~", "> ", "- ", "1. ", "# ", "    ", "\n", "\n\n", "|", "|-|-|\n", "&lt;", "&#0;"),
    *("[", "](", ")", "![", "]: ", '"', "<", ">", "<!--", "<b onclick=x>", "javascript:", "\\", "\\begin{align}"),
    *("$", "$$", "\\(", "\\)", "\\[", "\\]", "{", "}", "^", "_{", "\\frac", "\\sqrt{", "\\text{", "\\href{", "&"),
]
HARMLESS = re.compile(
    "p|ul|ol|li|blockquote|strong|em|s|table|thead|tbody|tr|th|td|hr|br|code|pre|div|span|math|mrow|mi|mn|mo|ms|mtext|"
    "mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mmultiscripts|mprescripts|mtable|mtr|mtd|"
    "mstyle|menclose|none"
)
texts = st.lists(st.sampled_from([*MARKUP, "qxz"]), max_size=40).map("".join)


def elements(nodes: list[Node]) -> Iterator[tuple[str, dict[str, str]]]:
    for node in nodes:
        if not isinstance(node, str):
            yield node[0], dict(node[1])
            yield from elements(node[2])


def shown(nodes: list[Node]) -> str:
    return "".join(node if isinstance(node, str) else shown(node[2]) for node in nodes)


def tags(text: str) -> list[str]:
    return [tag for tag, _ in elements(rendered(text))]


@given(texts)
def test_only_harmless_elements_come_out(text: str) -> None:
    for tag, attributes in elements(rendered(text)):
        assert HARMLESS.fullmatch(tag)
        assert not {"href", "src", "style", "id"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)


@given(texts)
def test_no_word_is_lost(text: str) -> None:
    assert shown(rendered(text)).count("qxz") >= text.count("qxz")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    nodes = rendered(escape(text[:LONGEST]))
    assert not {"script", "img", "a", "svg", "iframe", "style"} & {tag for tag, _ in elements(nodes)}
    json.dumps(nodes)


def test_blocks_and_words() -> None:
    assert rendered("## A\n**b** `c`") == [
        ("div", {"class": "heading h2"}, ["A"]),
        ("p", {}, [("strong", {}, ["b"]), " ", ("code", {}, ["c"])]),
    ]
    assert tags("- a\n- b") == ["ul", "li", "li"]
    assert tags("|a|b|\n|-|-|\n|1|2|")[:3] == ["table", "thead", "tr"]


def test_addresses_are_shown_and_not_linked() -> None:
    assert shown(rendered("[here](javascript:act())")) == "here (javascript:act())"
    assert shown(rendered('![cat](http://evil/x.png "a title")')) == "image: cat (http://evil/x.png a title)"


@pytest.mark.parametrize("text", ["$x^2$", r"\(x^2\)", "$$x^2$$", r"\[ x^2 \]", "\\[\nx\n- 5 = 2\n\\]", "a\n$$\nx\n$$"])
def test_mathematics_becomes_mathml(text: str) -> None:
    assert "math" in tags(text)


@pytest.mark.parametrize("text", ["it costs $5 and $10", "$5-$10", "$ x $", r"\\(x)", "`$x$`", "$x"])
def test_prices_and_code_are_no_mathematics(text: str) -> None:
    assert "math" not in tags(text)


def test_the_lines_of_a_formula_are_no_list() -> None:
    nodes = rendered("so\n\\[\na\n- 5\n= c\n\\]\nis")
    assert [node[0] for node in nodes if not isinstance(node, str)] == ["p", "div", "p"]


@pytest.mark.parametrize(
    "latex", [r"\frac", "{" * 3_000, r"\newcommand{\a}{\a\a}\a", r"\def\a{b}\a", r"x \phantom{y}", "x" * 5_000]
)
def test_what_is_no_formula_stays_text(latex: str) -> None:
    assert formula(latex) is None
    assert shown(rendered(f"${latex}$")).count(latex[:3]) >= 1


def test_formulas_have_no_links_and_no_colors() -> None:
    for latex in (r"\href{javascript:alert(1)}{x}", r"\color{red}{x}", r"\hspace{99999999em}x", r"\class{a}{x}"):
        found = formula(latex)
        assert found is None or all(
            not {"href", "class", "mathcolor"} & set(attributes) and len(attributes.get("width", "")) < 10
            for _, attributes in elements([found])
        )


def test_json_is_indented_as_a_whole_and_in_code() -> None:
    assert pretty_json(' {"a": [1]} ') == '{\n  "a": [\n    1\n  ]\n}'
    assert pretty_json("[1") is None
    assert pretty_json("42") is None
    assert shown(rendered('```json\n{"a":1}\n```')) == 'json{\n  "a": 1\n}'


@pytest.mark.parametrize("piece", ["> ", "- ", "[", "![", "*a_", "$a ", "\\(", "$$\n", "|a", "<", "`", "```\n"])
def test_long_texts_are_shown_whole(piece: str) -> None:
    text = piece * (LONGEST // len(piece) - 3) + "qxz"
    assert "qxz" in shown(rendered(text))
    assert shown(rendered(text + "x" * LONGEST)).endswith("x")
