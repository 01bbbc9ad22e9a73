r"""Where the answer stands in a completion: ``FinalAnswer()(r"So it is \boxed{4}.")`` is ``4``."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import final

from rewardkit.core.extraction import After, Tag, TextExtractor

_TAG = Tag("answer")
_MARKED = After("####")
_BOX_PARTS = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_SAID = re.compile(r"\banswer\b[*\s]*(?:is\b|:)[\s:*]*", re.IGNORECASE)
_FORMULA = re.compile(r"(?<!\\)\$\$?((?:[^$\\]|\\.)+)\$\$?|\\\(((?:[^\\]|\\[^()])+)\\\)|\\\[((?:[^\\]|\\[^\[\]])+)\\\]")
_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"))
_CLOSING_WORDS = "i hope it is correct"


@final
@dataclass(frozen=True)
class FinalAnswer(TextExtractor):
    r"""The answer where one is marked, else where the text says so, else the formula of the last line.

    Marked is ``<answer>``, ``\boxed{}``, or ``####``, in this order; said is "answer is ..." or "answer: ...". Several
    different boxes are a list, ``4, 5``: whoever boxes two numbers has not answered with one of them.
    """

    def find(self, answer: str) -> str | None:
        if "<answer>" in answer or "</answer>" in answer:
            body = _TAG.find(answer)
            return _boxed(body) if body and _has_box(body) else body
        if _has_box(answer):
            return _boxed(answer)
        if "####" in answer:
            return _MARKED.find(answer)
        return _said(_without_closing_words(answer.rstrip()))

    def __repr__(self) -> str:
        return "final_answer()"


def _without_closing_words(text: str) -> str:
    """As models answer after the prompt of Minerva: "The final answer is $5$. I hope it is correct."."""
    bare = text.rstrip(".")
    if bare[-len(_CLOSING_WORDS) :].lower() != _CLOSING_WORDS:
        return text
    return bare[: -len(_CLOSING_WORDS)].rstrip(" .\n")


def _has_box(text: str) -> bool:
    return "\\boxed" in text or "\\fbox" in text


def _boxed(text: str) -> str | None:
    """The contents of the outermost boxes, each once; None if one is never closed or has no braces."""
    contents: dict[str, str] = {}
    depth = start = 0
    for part in _BOX_PARTS.finditer(text):
        if depth == 0:
            if len(part[0]) > 2:
                depth, start = 1, part.end()
            continue
        if part[0].endswith("{") and part[0] != "\\{":
            depth += 1
        elif part[0] == "}":
            depth -= 1
            if depth == 0:
                content = text[start : part.start()].strip()
                contents.setdefault("".join(content.split()), content)
    return None if depth else ", ".join(contents.values()) or None


def _said(text: str) -> str | None:
    said = next(iter(deque(_SAID.finditer(text), maxlen=1)), None)
    line = _first_line(text[said.end() :]) if said else _last_line(text)
    formulas = _FORMULA.findall(line)
    if said or not formulas:
        return line
    return "".join(formulas[0]) if len(formulas) == 1 else None


def _first_line(text: str) -> str:
    """The first line; a displayed formula counts as one."""
    for opening, closing in _DISPLAYS:
        end = text.find(closing, len(opening))
        if text.startswith(opening) and end >= 0:
            return text[len(opening) : end] + text[end + len(closing) :].partition("\n")[0]
    return text.partition("\n")[0]


def _last_line(text: str) -> str:
    for opening, closing in _DISPLAYS:
        ending = text.rstrip(".")
        start = ending.rfind(opening, 0, -len(closing))
        if ending.endswith(closing) and start >= 0:
            return ending[start:]
    return text.rpartition("\n")[2]
