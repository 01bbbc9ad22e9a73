r"""Extractors: find something in a completion. ``rk.extract.tag("answer")("<answer>42</answer>")`` is ``"42"``.

An extractor is a frozen, hashable, picklable callable: text -> ``str`` or None. A batch runs equal extractors
once per distinct text and shares the result (``batch.view``). All except `raw` read only the visible answer, never the
thinking. They take time linear in the text, and no text makes them raise.

===================================  =========================================================
``rk.extract.answer()``              the default: `tag`, else `boxed`, else `after`, else the visible text
``rk.extract.tag("answer")``         body of the only ``<answer>...</answer>``
``rk.extract.boxed()``               content of the last ``\boxed{...}``
``rk.extract.after("####")``         rest of the line after the last ``####``
``rk.extract.fenced("json")``        body of the last fenced block of that language
``rk.extract.json("total")``         a value inside the completion's JSON
``rk.extract.whole()``               the visible text as it is
``rk.extract.raw()``                 the whole completion with its thinking: to check form, never answers
``rk.extract.prefilled()``           the answer after ``</think>``, if the prompt ends with ``<think>``
``rk.extract.document()``            the text with the JSON: ``<answer>``, a fenced block, or the visible text
===================================  =========================================================
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from json import dumps as to_json
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, hashable, shorten
from rewardkit.core.text.json_text import MAX_CHARACTERS, NO_JSON, Parsed, parse_json
from rewardkit.core.text.marks import behind_hashes, fenced_blocks, last_box
from rewardkit.core.text.visibility import spoken_text, visible_text


def readable_text(text: str) -> str | None:
    """Return the visible text, or None if the text is longer than primitives read."""
    return visible_text(text) if len(text) <= MAX_CHARACTERS else None


class Extractor(ABC):
    """Finds something in a completion; call it with a text.

    It searches the result of its `source`, which all extractors of a batch share: one visible text per completion, one
    parse for all fields of a document.
    """

    @property
    @abstractmethod
    def source(self) -> Callable[[str], Any]:
        """A function from the text of the completion to what `derive` searches."""

    @abstractmethod
    def derive(self, seen: Any) -> str | None:
        """Return what it finds in the result of `source`, or None."""

    @final
    def __call__(self, text: str) -> str | None:
        return self.derive(self.source(text))


class TextExtractor(Extractor):
    """Finds something in the visible text."""

    @abstractmethod
    def find(self, answer: str) -> str | None:
        """Return what it finds in the visible text `answer`, or None."""

    @final
    @property
    def source(self) -> Callable[[str], str | None]:
        return readable_text

    @final
    def derive(self, seen: str | None) -> str | None:
        found = None if seen is None else self.find(seen)
        return None if found is None else found.strip()


@final
@dataclass(frozen=True)
class Whole(TextExtractor):
    def find(self, answer: str) -> str | None:
        return answer

    def __repr__(self) -> str:
        return "whole()"


@final
@dataclass(frozen=True)
class Raw(Extractor):
    @property
    def source(self) -> Callable[[str], str | None]:
        return _capped_text

    def derive(self, seen: str | None) -> str | None:
        return seen

    def __repr__(self) -> str:
        return "raw()"


def _capped_text(text: str) -> str | None:
    return spoken_text(text).strip() if len(text) <= MAX_CHARACTERS else None


@final
@dataclass(frozen=True)
class Tag(TextExtractor):
    name: str

    def find(self, answer: str) -> str | None:
        opening, closing = f"<{self.name}>", f"</{self.name}>"
        end = answer.find(closing)
        start = answer.rfind(opening, 0, max(end, 0))  # an earlier one without an end only mentions the tag
        # With a second tag, the answer is ambiguous: return none, so that a policy cannot give two answers.
        if start < 0 or answer.find(closing, end + 1) >= 0 or answer.find(opening, end) >= 0:
            return None
        return answer[start + len(opening) : end]

    def __repr__(self) -> str:
        return f"tag({self.name!r})"


_ANSWER = Tag("answer")


@final
@dataclass(frozen=True)
class Boxed(TextExtractor):
    def find(self, answer: str) -> str | None:
        return last_box(answer)

    def __repr__(self) -> str:
        return "boxed()"


@final
@dataclass(frozen=True)
class After(TextExtractor):
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
class Fenced(TextExtractor):
    language: str

    def find(self, answer: str) -> str | None:
        blocks = fenced_blocks(answer)
        return next((body for name, body in reversed(blocks) if name == self.language.lower()), None)

    def __repr__(self) -> str:
        return f"fenced({self.language!r})"


@final
@dataclass(frozen=True)
class Answer(TextExtractor):
    """Find the first of these: a tag, a box, ``####``; else return the whole text."""

    def find(self, answer: str) -> str | None:
        if "<answer>" in answer or "</answer>" in answer:
            body = _ANSWER.find(answer)
            return Boxed().find(body) if body and "\\boxed{" in body else body
        if "\\boxed{" in answer:
            return Boxed().find(answer)
        if "####" in answer:
            return behind_hashes(answer)
        return answer

    def __repr__(self) -> str:
        return "answer()"


@final
@dataclass(frozen=True)
class Document(TextExtractor):
    """Find the JSON: in ``<answer>``, else in the last fenced block, else in the whole visible text."""

    def find(self, answer: str) -> str | None:
        body = _ANSWER.find(answer)
        if body is None and ("<answer>" in answer or "</answer>" in answer):
            return None
        return _unfenced(answer if body is None else body)

    def __repr__(self) -> str:
        return "document()"


def _unfenced(text: str) -> str:
    if "```" not in text and "~~~" not in text:
        return text
    blocks = [body for language, body in fenced_blocks(text) if language in ("", "json")]
    return blocks[-1] if blocks else text


@final
@dataclass(frozen=True)
class Own(TextExtractor):
    """A user's function: visible text -> ``str`` or None."""

    function: Callable[[str], str | None]

    def find(self, answer: str) -> str | None:
        found = self.function(answer)
        if found is not None and not isinstance(found, str):
            raise RewardTypeError(f"the extractor {self!r} returned {shorten(found)}. Return a str or None")
        return found

    def __repr__(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))


@final
@dataclass(frozen=True)
class Json:
    """Parse what `where` finds: ``Json(Whole())('{"a": 1}').value == {"a": 1}``."""

    where: Extractor

    @property
    def source(self) -> Extractor:
        return self.where

    def derive(self, found: str | None) -> Parsed:
        return NO_JSON if found is None else parse_json(found)

    def __call__(self, text: str) -> Parsed:
        return self.derive(self.source(text))


@final
@dataclass(frozen=True)
class JsonValue(Extractor):
    """A value inside a JSON document, as text."""

    path: tuple[str | int, ...]
    where: Extractor

    @property
    def source(self) -> Json:
        return Json(self.where)

    def derive(self, seen: Parsed) -> str | None:
        value = seen.value
        for step in self.path:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
                value = value[step]
            else:
                return None
        if type(value) in (str, int, float):
            return str(value)
        return None if value is None else to_json(value)

    def __repr__(self) -> str:
        return f"json({', '.join(map(repr, self.path))})"


@final
@dataclass(frozen=True)
class Prefilled(Extractor):
    """Search after ``</think>``, for prompts that end with ``<think>``."""

    where: TextExtractor

    @property
    def source(self) -> Callable[[str], str | None]:
        return _behind_thinking

    def derive(self, seen: str | None) -> str | None:
        return self.where.derive(seen)

    def __repr__(self) -> str:
        return f"prefilled({self.where!r})"


def _behind_thinking(text: str) -> str | None:
    return readable_text(text) if "</think>" in text else None


def as_extractor(value: object, default: Extractor) -> Extractor:
    """Return `value` as an extractor: None is `default`, a function is wrapped; else raise a RewardTypeError."""
    if value is None:
        return default
    if isinstance(value, Extractor):
        return value
    if getattr(value, "__module__", None) == __name__ and callable(value):
        name = getattr(value, "__name__", "?")
        raise RewardTypeError(f"rk.extract.{name} is not an extractor yet. Call it: rk.extract.{name}(...)")
    if isinstance(value, type) or not callable(value) or hasattr(value, "facts") or not hashable(value):
        raise RewardTypeError(
            "extract= and gold= take an extractor such as rk.extract.tag('answer'), or a hashable function from str "
            f"to str or None, got {shorten(value)} ({type(value).__name__})"
        )
    return Own(value)


def _named(name: str, what: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise RewardDefinitionError(f"{what} must be a non-empty string, got {shorten(name)}")
    return name


def answer() -> Extractor:
    """Find the final answer: the ``<answer>`` tag, else the last box, else after ``####``, else the visible text."""
    return Answer()


def tag(name: str) -> Extractor:
    """Find the body of the only ``<name>...</name>``; None if it is missing or there are two."""
    bare = _named(name, "tag: name").strip("<>/")
    if not re.fullmatch(r"[^<>/\s]+", bare):
        raise RewardDefinitionError(f"tag: name must be one word without brackets, got {shorten(name)}")
    return Tag(bare)


def boxed() -> Extractor:
    r"""Find the content of the last ``\boxed{...}``, braces balanced."""
    return Boxed()


def after(marker: str) -> Extractor:
    """Find the first non-empty line after the last `marker`: ``after("####")("#### 72")`` is ``"72"``."""
    return After(_named(marker, "after: marker"))


def fenced(language: str = "") -> Extractor:
    """Find the body of the last closed fenced block of `language` (``""`` for no language)."""
    if not isinstance(language, str) or language.split() not in ([], [language]):
        raise RewardDefinitionError(f'fenced: language must be one word or "", got {shorten(language)}')
    return Fenced(language)


def whole() -> Extractor:
    """Return the visible text, without surrounding white space."""
    return Whole()


def raw() -> Extractor:
    """Return the whole completion with its thinking: for rewards that check form, never for the answer."""
    return Raw()


def prefilled(where: Extractor | None = None) -> Extractor:
    """Search only after ``</think>``: for prompts that end with ``<think>``, so that a cut-off text is all thinking.

    Args:
        where: searches the text after ``</think>``; `answer` by default.
    """
    inner = as_extractor(where, Answer())
    if not isinstance(inner, TextExtractor):
        raise RewardTypeError(f"prefilled: {inner!r} does not read the visible text. Pass another extractor")
    return Prefilled(inner)


def document() -> Extractor:
    """Find the text with the JSON: ``<answer>``, else the last fenced block, else the visible text."""
    return Document()


def json(*path: str | int, where: Extractor | None = None) -> Extractor:
    """Find a value inside the completion's JSON, as text: ``json("total")('{"total": 12.5}')`` is ``"12.5"``.

    Args:
        path: keys of objects and positions of arrays, from the outside in.
        where: finds the JSON; `document` by default. It is parsed once per batch for all rewards.
    """
    for step in path:
        if isinstance(step, bool) or not isinstance(step, (str, int)):
            raise RewardDefinitionError(f"json: path must be keys (str) and positions (int), got {shorten(step)}")
    return JsonValue(path, as_extractor(where, Document()))
