r"""Extractors: find something in a completion. ``rk.extract.tag("answer")("<answer>42</answer>")`` is ``"42"``.

An extractor is a frozen, hashable, picklable callable: text -> ``str`` or None. A batch runs equal extractors
once per distinct text and shares the result (``batch.view``). All of them read only the visible answer, never the
thinking, take time linear in the text, and never raise on any text.

===================================  =========================================================
``rk.extract.answer()``              the default: `tag`, else `boxed`, else `after`, else the visible text
``rk.extract.tag("answer")``         body of the only ``<answer>...</answer>``
``rk.extract.boxed()``               content of the last ``\boxed{...}``
``rk.extract.after("####")``         rest of the line after the last ``####``
``rk.extract.fenced("json")``        body of the last fenced block of that language
``rk.extract.whole()``               the visible text as it is
``rk.extract.document()``            where JSON stands: ``<answer>``, else a fenced block, else the visible text
===================================  =========================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.core.json_text import MAX_CHARACTERS, NO_JSON, Parsed, parse_json

_THINKING = ("<think>", "</think>")


def visible_text(text: str) -> str:
    """What the user of the model would see: everything after the thinking.

    ``visible_text("<think>17?</think>18")`` is ``"18"``; thinking that never ends leaves nothing.
    """
    opening, closing = _THINKING
    end = text.rfind(closing)
    answer = text[end + len(closing) :] if end >= 0 else text
    start = answer.find(opening)
    return answer if start < 0 else answer[:start]


class Extractor(ABC):
    """Finds something in a completion; call it with a text."""

    @abstractmethod
    def find(self, answer: str) -> str | None:
        """What it looks for in the visible text `answer`, or None."""

    @final
    def __call__(self, text: str) -> str | None:
        if len(text) > MAX_CHARACTERS:
            return None
        found = self.find(visible_text(text))
        return None if found is None else found.strip()


@final
@dataclass(frozen=True)
class Whole(Extractor):
    def find(self, answer: str) -> str | None:
        return answer

    def __repr__(self) -> str:
        return "whole()"


@final
@dataclass(frozen=True)
class Tag(Extractor):
    name: str

    def find(self, answer: str) -> str | None:
        opening, closing = f"<{self.name}>", f"</{self.name}>"
        start, end = answer.find(opening), answer.rfind(closing)
        # A second tag makes it unclear which one is the answer: no answer, rather than the best of two.
        if start < 0 or end < start or answer.count(opening) != 1 or answer.count(closing) != 1:
            return None
        return answer[start + len(opening) : end]

    def __repr__(self) -> str:
        return f"tag({self.name!r})"


@final
@dataclass(frozen=True)
class Boxed(Extractor):
    def find(self, answer: str) -> str | None:
        opening = "\\boxed{"
        start = answer.rfind(opening)
        if start < 0:
            return None
        start += len(opening)
        depth = 1
        position = start
        while position < len(answer):
            character = answer[position]
            if character == "\\":
                position += 1
            elif character == "{":
                depth += 1
            elif character == "}":
                depth -= 1
                if depth == 0:
                    return answer[start:position]
            position += 1
        return None

    def __repr__(self) -> str:
        return "boxed()"


@final
@dataclass(frozen=True)
class After(Extractor):
    marker: str

    def find(self, answer: str) -> str | None:
        start = answer.rfind(self.marker)
        if start < 0:
            return None
        return answer[start + len(self.marker) :].strip().partition("\n")[0]

    def __repr__(self) -> str:
        return f"after({self.marker!r})"


@final
@dataclass(frozen=True)
class Fenced(Extractor):
    language: str

    def find(self, answer: str) -> str | None:
        blocks = fenced_blocks(answer)
        return next((body for name, body in reversed(blocks) if name == self.language.lower()), None)

    def __repr__(self) -> str:
        return f"fenced({self.language!r})"


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """The closed fenced blocks of `text` in order: (language in lower case, body)."""
    blocks = []
    language: str | None = None
    body: list[str] = []
    for line in text.splitlines():
        mark = line.strip()
        if not mark.startswith("```"):
            body.append(line)
        elif language is None:
            language, body = mark[3:].strip().lower(), []
        elif mark == "```":
            blocks.append((language, "\n".join(body)))
            language = None
        else:
            body.append(line)
    return blocks


@final
@dataclass(frozen=True)
class Answer(Extractor):
    """The first strategy that finds something: tag, boxed, after, whole."""

    def find(self, answer: str) -> str | None:
        if "<answer>" in answer or "</answer>" in answer:
            return Tag("answer").find(answer)
        if "\\boxed{" in answer:
            return Boxed().find(answer)
        if "####" in answer:
            return After("####").find(answer)
        return answer

    def __repr__(self) -> str:
        return "answer()"


@final
@dataclass(frozen=True)
class Document(Extractor):
    """Where JSON stands: in ``<answer>``, else in the last fenced block, else the visible text as a whole."""

    def find(self, answer: str) -> str | None:
        if "<answer>" in answer or "</answer>" in answer:
            body = Tag("answer").find(answer)
            return None if body is None else _unfenced(body)
        return _unfenced(answer)

    def __repr__(self) -> str:
        return "document()"


def _unfenced(text: str) -> str:
    if "```" not in text:
        return text
    blocks = [body for language, body in fenced_blocks(text) if language in ("", "json")]
    return blocks[-1] if blocks else text


@final
@dataclass(frozen=True)
class Own(Extractor):
    """A user's function: visible text -> ``str`` or None."""

    function: Callable[[str], str | None]

    def find(self, answer: str) -> str | None:
        found = self.function(answer)
        if found is not None and not isinstance(found, str):
            raise RewardTypeError(f"the extractor {self!r} must return str or None, got {shorten(found)}")
        return found

    def __repr__(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))


def as_extractor(value: object, default: Extractor) -> Extractor:
    """None is `default`, a function becomes an extractor, anything else but an Extractor is a TypeError."""
    if value is None:
        return default
    if isinstance(value, Extractor):
        return value
    if isinstance(value, type) or not callable(value) or hasattr(value, "evaluate"):
        raise RewardTypeError(
            f"extract= takes an extractor such as rk.extract.tag('answer') or a function text -> str | None, "
            f"got {shorten(value)} ({type(value).__name__})"
        )
    return Own(value)


def _named(name: str, what: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise RewardDefinitionError(f"{what} must be a non-empty string, got {shorten(name)}")
    return name


def answer() -> Extractor:
    """The final answer: ``<answer>`` tag, else last boxed, else after ``####``, else the visible text."""
    return Answer()


def tag(name: str) -> Extractor:
    """Body of the only ``<name>...</name>``; None when it is missing or stands there twice."""
    return Tag(_named(name, "the tag's name").strip("<>/"))


def boxed() -> Extractor:
    r"""Content of the last ``\boxed{...}``, braces balanced."""
    return Boxed()


def after(marker: str) -> Extractor:
    """The first non-empty line after the last `marker`: ``after("####")("#### 72")`` is ``"72"``."""
    return After(_named(marker, "the marker"))


def fenced(language: str = "") -> Extractor:
    """Body of the last closed fenced block of `language` (``""``: without a language)."""
    if not isinstance(language, str):
        raise RewardDefinitionError(f"the language of a fenced block is a string, got {shorten(language)}")
    return Fenced(language)


def whole() -> Extractor:
    """The visible text as it is, without surrounding white space."""
    return Whole()


def document() -> Extractor:
    """Where JSON stands: ``<answer>``, else the last fenced block, else the visible text."""
    return Document()


@final
@dataclass(frozen=True)
class Json:
    """Parses what `where` finds: ``Json(whole())('{"a": 1}').value == {"a": 1}``."""

    where: Extractor

    def __call__(self, text: str) -> Parsed:
        found = self.where(text)
        return NO_JSON if found is None else parse_json(found)
