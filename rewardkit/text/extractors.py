"""The extractor classes behind the functions in `rewardkit.text.extraction`.

``Boxed()(r"So \\boxed{42}.")`` is ``"42"``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from json import dumps as to_json
from typing import Any, ClassVar, final

from rewardkit.errors import RewardTypeError, shorten
from rewardkit.text.final_answer import marked, next_turn, without_stray_tag
from rewardkit.text.json_text import MAX_CHARACTERS, NO_JSON, Parsed, parse_json
from rewardkit.text.marks import fenced_blocks, fenced_parts, last_box
from rewardkit.text.thinking import THINKING, Marks, OpenedThinking, Thinking
from rewardkit.text.visibility import own_turn, spoken_text


class Extractor(ABC):
    """A function that finds a part of a completion. Call it with a text.

    An extractor searches the result of its `source`. All extractors in a batch share these results, so that the visible
    text is computed once per completion, and a document is parsed once for all its fields.
    """

    @property
    @abstractmethod
    def source(self) -> Callable[[str], Any]:
        """The function that converts a completion's text to the content that `derive` searches."""

    @abstractmethod
    def derive(self, content: Any) -> str | None:
        """Return the match in `content`, the result of `source`, or None if there is none."""

    @final
    def __call__(self, text: str) -> str | None:
        return self.derive(self.source(text))


@final
@dataclass(frozen=True)
class OwnTurn:
    """A function that returns the visible text of the model's own turn. A made-up turn may also contain thinking."""

    thinking: Thinking

    def __call__(self, text: str) -> str | None:
        if len(text) > MAX_CHARACTERS:
            return None
        if (visible_part := self.thinking.plain_visible(text)) is not None:
            return visible_part
        closings, marks = self.thinking.closings, list(self.thinking.marks(text))
        end = min((start + len(mark) for start, mark in marks if mark in closings), default=0)
        turn_text = own_turn(text[end:])
        openings = (
            [turn_text.find(opening) for opening in self.thinking.openings if opening in turn_text] if end else []
        )
        if openings and (turn := next_turn(turn_text[: min(openings)])) is not None:
            turn_text = turn_text[:turn]
        return (
            self.thinking.visible(text, marks)
            if end + len(turn_text) == len(text)
            else self.thinking.visible(text[:end] + turn_text)
        )


@dataclass(frozen=True)
class TextExtractor(Extractor):
    """An extractor that searches the visible text: after the thinking, up to the end of the model's own turn."""

    thinking: Thinking = field(default=THINKING, kw_only=True)

    reads_all: ClassVar[bool] = False
    """True if made-up turns are also read, because rewards for quality or form must not skip text."""

    @abstractmethod
    def find(self, answer: str) -> str | None:
        """Return the match in the visible text `answer`, or None if there is none."""

    @final
    @property
    def source(self) -> Callable[[str], str | None]:
        return self.thinking if self.reads_all else OwnTurn(self.thinking)

    @final
    def written(self, name: str, *arguments: object, usual: Thinking = THINKING) -> str:
        """Return the call that creates this extractor, as source code."""
        argument_texts = [repr(argument) for argument in arguments]
        argument_texts += [f"thinking={self.thinking!r}"] if self.thinking != usual else []
        return f"{name}({', '.join(argument_texts)})"

    @final
    def derive(self, content: str | None) -> str | None:
        match = None if content is None else self.find(content)
        return None if match is None else match.strip()


@final
@dataclass(frozen=True)
class Whole(TextExtractor):
    reads_all: ClassVar[bool] = True

    def find(self, answer: str) -> str | None:
        return answer

    def __repr__(self) -> str:
        return self.written("whole")


@final
@dataclass(frozen=True)
class Raw(Extractor):
    @property
    def source(self) -> Callable[[str], str | None]:
        return _capped_text

    def derive(self, content: str | None) -> str | None:
        return content

    def __repr__(self) -> str:
        return "raw()"


def _capped_text(text: str) -> str | None:
    return spoken_text(text).strip() if len(text) <= MAX_CHARACTERS else None


@final
@dataclass(frozen=True)
class Tagged(TextExtractor):
    """An extractor for the body of the only block with these marks."""

    marks: Marks

    def find(self, answer: str) -> str | None:
        opening, closing = self.marks
        end = answer.find(closing)
        start = answer.rfind(opening, 0, max(end, 0))  # an earlier unclosed mark only mentions the tag
        # With a second tag, the answer is ambiguous: return none, so that a policy cannot give two answers.
        if start < 0 or answer.find(closing, end + 1) >= 0 or answer.find(opening, end) >= 0:
            return None
        return answer[start + len(opening) : end]

    def __repr__(self) -> str:
        return self.written("tag", self.marks.written, usual=THINKING.without(self.marks))


ANSWER = Tagged(Marks("<answer>", "</answer>"))


@final
@dataclass(frozen=True)
class Boxed(TextExtractor):
    def find(self, answer: str) -> str | None:
        return last_box(answer)

    def __repr__(self) -> str:
        return self.written("boxed")


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
        return self.written("after", self.marker)


@final
@dataclass(frozen=True)
class Fenced(TextExtractor):
    language: str

    def find(self, answer: str) -> str | None:
        blocks = fenced_blocks(answer)
        return next((body for name, body in reversed(blocks) if name == self.language.lower()), None)

    def __repr__(self) -> str:
        return self.written("fenced", self.language)


@final
@dataclass(frozen=True)
class Answer(TextExtractor):
    """An extractor for the answer in a tag, in a box, or after ``####``, or for the whole text if it has no marks."""

    def find(self, answer: str) -> str | None:
        mark = marked(answer)
        return without_stray_tag(answer) if mark is None else mark.text

    def __repr__(self) -> str:
        return self.written("answer")


@final
@dataclass(frozen=True)
class Document(TextExtractor):
    """An extractor for the JSON: in ``<answer>``, else in the last fenced block, else in the whole visible text.

    The result is None if another document begins after the JSON. Otherwise, a policy could write two documents and get
    the score of the better one.
    """

    def find(self, answer: str) -> str | None:
        if "<" not in answer:
            return _unfenced(answer)
        # The rules are those of `ANSWER`, with each tag searched for once.
        opening, closing = ANSWER.marks
        start, end = answer.rfind(opening), answer.find(closing)
        if start < 0 and end < 0:
            return _unfenced(answer)
        after = answer[end + len(closing) :]
        if not 0 <= start < end or closing in after or (after.strip() and _DOCUMENT.search(answer, end)):
            return None
        return _unfenced(answer[start + len(opening) : end])

    def __repr__(self) -> str:
        return self.written("document")


def _unfenced(text: str) -> str | None:
    if ("`" not in text or "```" not in text) and ("~" not in text or "~~~" not in text):
        return text
    blocks, after, cut_off = fenced_parts(text)
    documents = [body for language, body in blocks if language[:4] in ("", "json") or _is_object(body)]
    if not documents:
        return text
    # Only the last document counts, even if it was cut off or is outside a fence.
    return None if cut_off.strip() or _DOCUMENT.search(_behind(text, documents[-1], after)) else documents[-1]


def _behind(text: str, body: str, after: str) -> str:
    """Return the text after the fenced block `body` in `text`, or `after` if the block is not found."""
    # The block may be indented or quoted in `text`, but its body is not.
    text, body = (_INDENT.sub("", part) for part in (text, body))
    start = text.rfind(f"\n{body}\n")
    return after if start < 0 else text[start + len(body) + 2 :].partition("\n")[2]


# Spaces and the ">" of quotations, as in "> {".
_INDENT = re.compile(r"^[> \t]+", re.MULTILINE)
_DOCUMENT = re.compile(
    r"""
      ^[>|*\ \t-]{0,20}\{                                          # a line that starts with an object
    | ^[>|*\ \t-]{0,20}\[\s{0,20}(?:[\[{"']|\]|-?\d[\d.]{0,20},)   # or an array: [2, [], but no footnote [1]
    | \{\s{0,40}(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|\u201c[^\u201d\n]{0,200}\u201d)\s?:  # Actually: {"a": 2}
    | \{\s{0,40}[A-Za-z_]\w{0,60}\s?:\s                            # {a: 2}, but no {x:.2f}
    | (?<![\w)\]])\[[^\[\]{}"\n]{0,100}"[^"\n]{0,200}"\s?[,\]]     # Final: [2, "y"], but no row["sku"]
    | ^[>\ \t]{0,20}(?:```|~~~)`{0,20}~{0,20}\s?(?:ya?ml|toml|xml|json)   # another language for documents
    """,
    re.MULTILINE | re.VERBOSE,
)
"""The beginning of a document, on a separate line or within a line."""


def _is_object(body: str) -> bool:
    body = body.strip()
    return body[:1] == "{" and body[-1:] == "}"


@final
@dataclass(frozen=True)
class CustomExtractor(TextExtractor):
    """An extractor that calls a user's function: visible text -> ``str`` or None."""

    reads_all: ClassVar[bool] = True

    function: Callable[[str], str | None]

    def find(self, answer: str) -> str | None:
        extracted = self.function(answer)
        if extracted is not None and not isinstance(extracted, str):
            raise RewardTypeError(f"the extractor {self!r} returned {shorten(extracted)}. Return a str or None")
        return extracted

    def __repr__(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))


@final
@dataclass(frozen=True)
class Json:
    """A parser for the text that `where` finds: ``Json(Whole())('{"a": 1}').value == {"a": 1}``."""

    where: Extractor

    @property
    def source(self) -> Extractor:
        return self.where

    def derive(self, content: str | None) -> Parsed:
        return NO_JSON if content is None else parse_json(content)

    def __call__(self, text: str) -> Parsed:
        return self.derive(self.source(text))


@final
@dataclass(frozen=True)
class JsonValue(Extractor):
    """An extractor for a value inside a JSON document, as text."""

    path: tuple[str | int, ...]
    where: Extractor

    @property
    def source(self) -> Json:
        return Json(self.where)

    def derive(self, content: Parsed) -> str | None:
        value = content.value
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
    """An extractor that searches only after ``</think>``, for prompts that end with ``<think>``."""

    where: TextExtractor

    @property
    def source(self) -> Callable[[str], str | None]:
        return OpenedThinking(self.where.thinking)

    def derive(self, content: str | None) -> str | None:
        return self.where.derive(content)

    def for_prompt(self, marks: Marks) -> Prefilled:
        """Return the extractor for prompts that end with the opening of `marks`."""
        takes_thinking = isinstance(self.where, (Tagged, Boxed, After, Fenced, Whole, Document))
        return Prefilled(replace(self.where if takes_thinking else Answer(), thinking=Thinking((marks,))))

    def __repr__(self) -> str:
        return f"prefilled({self.where!r})"
