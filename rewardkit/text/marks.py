r"""Find Markdown fences and LaTeX boxes in a text.

``fenced_blocks("~~~json\n{}\n~~~")`` is ``[("json", "{}")]``, and ``boxes(r"\boxed{41} or \boxed 42")`` is
``["41", "42"]``. All functions run in time linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BOX_TOKEN = re.compile(
    r"\\\\?(?:boxed|fbox)\s{0,9}(?:\{|(?P<bare>-?[0-9]+(?:[.,][0-9]+)*|(?<=\s)[A-Za-z](?![A-Za-z])))|\\.|[{}]",
    re.DOTALL,
)
"""The start of a LaTeX box (also with doubled backslashes, as in JSON), an escaped character, or a brace."""

_FENCE = re.compile(r"([ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
"""A fence, possibly at the start of a list item, and its info string, which contains the language."""

_LANGUAGE = re.compile(r"[{.]*[^\s{},:]+")
"""The language in an info string: ``python title="a.py"``, ``{.python}`` (Pandoc), ``python:a.py``, ``python,x``."""

# "-\boxed{5}": a minus sign before the box, not the hyphen of "x-\boxed{5}".
_SIGNED = re.compile(r"(?<![\w)\]}])[-\u2212]\Z")
_BLANK = re.compile(
    r"(?:[\s.\u2026?_~]|\\(?:[,;:! ]|q?quad|l?dots|[hv]?phantom\s?\{[^{}]*\}|[hv]space\s?\{[^{}]*\}|"
    r"underline\s?\{\s*\})"
    r"|(?:\\text\s?\{\s?)?(?:your |the |final ){0,2}answer\s?\}?)*",
    re.IGNORECASE,
)
"""The content of a box that is only a placeholder for the answer, such as "your answer"."""


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """Return the closed fenced blocks in `text`, in order, as (language in lower case, body)."""
    return fenced_parts(text)[0]


def fenced_parts(text: str) -> tuple[list[tuple[str, str]], str, str]:
    """Return the closed fenced blocks in `text`, the text after them, and the content of an open fence in that text.

    The rules are CommonMark's (https://spec.commonmark.org, "Fenced code blocks"), except that a fence may have any
    indentation: models write lists whose code is not aligned with the list's text.
    """
    blocks = []
    language: str | None = None
    fence, indent = "", 0
    body: list[str] = []
    after: list[str] = []
    for line in text.split("\n"):  # splitlines would also cut at U+2028, which a JSON string may contain
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        info = match["info"].strip() if match else ""
        if language is None and match and ("`" not in match["fence"] or "`" not in info):
            language_match = _LANGUAGE.match(info)
            language, fence, indent = (
                language_match[0].strip("{.").lower() if language_match else "",
                match["fence"],
                _columns(match[1]),
            )
            after, body = body, []
        elif language is not None and match and _closes(match, fence, indent):
            blocks.append((language, "\n".join(body)))
            language, body = None, []
        else:
            body.append(_unindented(line, indent) if language is not None and indent else line)
    if language is None:
        return blocks, "\n".join(body), ""
    return blocks, "\n".join(after), "\n".join(body)


def _closes(match: re.Match[str], fence: str, indent: int) -> bool:
    """Return whether a line closes `fence`. A fence in a docstring is indented further, as part of the code."""
    alone = not match["info"].strip() and not match[1].strip()
    return alone and match["fence"].startswith(fence) and _columns(match[1]) <= indent + 3


def _columns(lead: str) -> int:
    return len(lead.expandtabs(4))


def _unindented(line: str, columns: int) -> str:
    """Return `line` with up to `columns` columns of leading whitespace removed."""
    code = line.lstrip(" \t")
    return line[: len(line) - len(code)].expandtabs(4)[columns:] + code


def last_box(text: str) -> str | None:
    """Return the content of the last nonempty box, or None if there is none or if a box is not closed."""
    contents = boxes(text)
    return contents[-1] if contents else None


def boxes(text: str) -> list[str] | None:
    """Return the contents of the outermost nonempty boxes, including a minus sign before a box.

    A box that only contains another box has the content of the inner box. The result is None if a box is not closed:
    the text was cut off in the last box, which is the one that counts.
    """
    outer_boxes = boxes_in(text)
    return None if outer_boxes is None else [box.content for box in outer_boxes]


class Box(NamedTuple):
    """A box at ``text[start:end]``, which includes a minus sign before the box."""

    start: int
    end: int
    content: str


def boxes_in(text: str) -> list[Box] | None:
    """Return the outermost nonempty boxes, or None if a box is not closed."""
    outer_boxes = []
    open_braces: list[
        tuple[int, int, bool]
    ] = []  # open braces and boxes: (start, start of the content, whether it is a box)
    inner: tuple[int, int, tuple[int, int]] | None = None  # (start, end, span of the content) of the last closed box
    for token in _BOX_TOKEN.finditer(text):
        mark = token[0]
        if token["bare"] and not open_braces:
            start = _signed(text, token.start())
            outer_boxes.append(_box(text, start, token.end(), *token.span("bare")))
        elif mark[-1] == "{" and mark != "\\{" and (open_braces or len(mark) > 2):
            open_braces.append((token.start(), token.end(), len(mark) > 2))
        elif mark == "}" and open_braces:
            start, content, is_box = open_braces.pop()
            if not is_box:
                continue
            span = (content, token.start())
            if inner and inner[0] > start and not (text[content : inner[0]] + text[inner[1] : token.start()]).strip():
                span = inner[2]
            inner = (start, token.end(), span)
            if not open_braces and not _BLANK.fullmatch(text, *span):
                outer_boxes.append(_box(text, _signed(text, start), token.end(), *span))
    return None if open_braces else outer_boxes


def _signed(text: str, start: int) -> int:
    return start - bool(_SIGNED.search(text, max(0, start - 2), start))


def _box(text: str, start: int, end: int, content: int, closed: int) -> Box:
    sign = "-" if text[start] in "-\u2212" else ""
    escaped = text.startswith("\\\\", start + len(sign))
    return Box(start, end, sign + (text[content:closed].replace("\\\\", "\\") if escaped else text[content:closed]))
