"""Thinking: the text that a model writes before its answer, and the visible text after the thinking.

``visible_text("<think>17?</think>18")`` is ``"18"``. A pair of marks opens and closes a part of a completion:
``Marks("<think>", "</think>")``, ``Marks("[THINK]", "[/THINK]")``, ``Marks("<start_thinking>", "<end_thinking>")``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.visibility import SQUARE_TOKEN, TOKEN_IN_ANGLES, spoken_text

Tag = str | tuple[str, str]
"""A tag as users write it: ``"think"``, ``"[THINK]"``, or both marks, ``("<start>", "<end>")``."""

# "think" and "my_plan"; with a space or a bracket in its name, a tag would be a different mark.
_NAME = re.compile(r"[^<>/\s\[\](){}|]+")
# "[THINK]", as Magistral writes it.
_SQUARE = re.compile(r"\[/?([^<>/\s\[\](){}|]+)\]")
# A mark must contain a punctuation character: a bare word would also occur in ordinary text.
_BRACKET = re.compile(r"[^\w\s]")
# The number of candidates that are tried one by one from the end, where most texts have the mark. A text with thousands
# of "<" is searched once, with the pattern.
_FEW = 50
_MOST_ANGLES = 20
"""The maximum number of ``<`` to try one by one. For a text with more, which is code or markup, one pattern is
faster."""

_OPENING, _CLOSING = 1, 2


class Marks(NamedTuple):
    """The opening and closing marks of a part of a completion."""

    opening: str
    closing: str

    @classmethod
    def of(cls, tag: object, subject: str) -> Marks:
        """Return the marks for `tag`: a name (``answer``, ``<answer>``, ``[ANSWER]``) or a pair of marks.

        Raises:
            RewardDefinitionError: `tag` is neither. The message begins with `subject`.
        """
        if isinstance(tag, str):
            name = tag.strip("<>/")
            if _NAME.fullmatch(name):
                return cls(f"<{name}>", f"</{name}>")
            if square := _SQUARE.fullmatch(tag):
                return cls(f"[{square[1]}]", f"[/{square[1]}]")
        elif isinstance(tag, (tuple, list)) and len(tag) == 2 and all(map(_is_mark, tag)) and tag[0] != tag[1]:
            return cls(*tag)
        raise RewardDefinitionError(
            f'{subject} must be one word ("answer", "[ANSWER]") or a pair with the opening and '
            f'closing marks (("<start_answer>", "<end_answer>")), got {shorten(tag)}'
        )

    @property
    def name(self) -> str:
        """The name between the brackets of an XML-like tag, or the opening mark of any other tag."""
        name = self.opening[1:-1]
        return name if self == (f"<{name}>", f"</{name}>") else self.opening

    @property
    def written(self) -> Tag:
        """The shortest way to write the tag: ``"answer"``, ``"[ANSWER]"``, or both marks."""
        square = self.opening[:1] == "[" and self.closing == f"[/{self.opening[1:]}"
        return self.name if square or self.name != self.opening else (self.opening, self.closing)


def _is_mark(mark: object) -> bool:
    return isinstance(mark, str) and mark.strip() == mark and _BRACKET.search(mark) is not None


@final
@dataclass(frozen=True)
class Thinking:
    """The blocks that count as thinking. Call an instance with a completion to get the visible text after the thinking.

    The call returns None for a text longer than `MAX_CHARACTERS`.
    """

    blocks: tuple[Marks, ...]

    @classmethod
    def of(cls, thinking: str | Iterable[Tag] | None) -> Thinking:
        """Return an instance for the tags that a user passed: one tag, several tags, or None for the default."""
        if thinking is None:
            return THINKING
        if not isinstance(thinking, str) and not isinstance(thinking, Iterable):
            raise RewardDefinitionError(f'thinking must be a list of tags, such as ["plan"], got {shorten(thinking)}')
        tags = [thinking] if isinstance(thinking, str) else list(thinking)
        if len(tags) == 2 and all(isinstance(tag, str) and _is_mark(tag) for tag in tags):
            names = [tag.strip("<>/[]") for tag in tags if isinstance(tag, str)]
            raise RewardDefinitionError(
                f"thinking={tuple(tags)!r} may mean one block or two. Write thinking=[{tuple(tags)!r}] for the "
                f"opening and closing marks of one block, or thinking={names!r} for two tags"
            )
        blocks = tuple(dict.fromkeys(Marks.of(tag, "thinking: a tag") for tag in tags))
        marks = [mark for block in blocks for mark in block]
        if len(set(marks)) < len(marks):
            raise RewardDefinitionError(f"thinking: two tags share a mark, got {shorten(tags)}. Remove one of them")
        return cls(blocks)

    def __call__(self, text: str) -> str | None:
        return self.visible(text) if len(text) <= MAX_CHARACTERS else None

    def named_in(self, text: str) -> bool:
        """Return whether `text` contains a thinking mark, or the end of one, as the pattern ``</?think>`` does."""
        return any(f"{block.name}>" in text for block in self.blocks)

    def without(self, marks: Marks) -> Thinking:
        """Return a copy without the block `marks`, for an extractor that reads that block."""
        return Thinking(tuple(block for block in self.blocks if block != marks)) if marks in self.blocks else self

    def visible(self, text: str, marks: Iterable[tuple[int, str]] | None = None) -> str:
        """Return the text that the user of the model sees: everything after the thinking.

        If the thinking never ends, nothing after its opening mark is visible. A block at the end of the text comes
        after the answer, so the text before it is visible. A closing mark without an opening mark ends thinking that
        began in the prompt.

        Args:
            marks: the result of ``self.marks(text)``, if it is already known.
        """
        text = spoken_text(text)
        stop, inside = len(text), False
        for start, mark in self.marks(text) if marks is None else marks:
            if mark in self._openings:
                stop, inside = start, False
            elif inside:
                return ""
            else:
                answer = text[start + len(mark) : stop]
                if answer.strip():
                    return answer
                inside = True
        return "" if inside else text[:stop]

    def marks(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield all marks in `text`, from right to left, as (position, mark). The rightmost mark usually decides."""
        first, any_mark, end = self._first, self._any_mark, len(text)
        for _ in range(_FEW if first else 0):
            end = text.rfind(first, 0, end)
            if end < 0:
                return
            if match := any_mark.match(text, end):
                yield end, match[0]
        yield from reversed([(match.start(), match[0]) for match in any_mark.finditer(text, 0, end)])

    def plain_visible(self, text: str) -> str | None:
        """Return the result of `visible` for a plain text, which nearly all texts are, or None for any other text.

        In a plain text, thinking is closed once, before all visible text, or never. No chat-template token follows, so
        the whole text is the model's own turn. This method takes half as long as searching for marks and turns
        separately.
        """
        pattern = self._token_or_mark
        if pattern is None:
            return None
        start, at = 0, len(text)
        end = at
        for _ in range(_MOST_ANGLES):
            at = text.rfind("<", 0, at)
            if at < 0:
                visible_part = text[start:]
                plain = not SQUARE_TOKEN.search(visible_part) and (not start or visible_part.strip())
                return visible_part[: end - start] if plain else None
            if match := pattern.match(text, at):
                group = match.lastindex
                if group == _OPENING:
                    end = end if start else at
                elif group == _CLOSING and not start and end == len(text):
                    start = match.end()
                else:
                    return None
        return None

    @cached_property
    def closings(self) -> tuple[str, ...]:
        return tuple(block.closing for block in self.blocks)

    @cached_property
    def openings(self) -> tuple[str, ...]:
        return tuple(block.opening for block in self.blocks)

    @cached_property
    def _openings(self) -> frozenset[str]:
        return frozenset(self.openings)

    @cached_property
    def _all(self) -> tuple[str, ...]:
        return tuple(mark for block in self.blocks for mark in block)

    @cached_property
    def _first(self) -> str:
        """The first character of all marks, which can be found fast, or "" if the marks begin differently."""
        characters = {mark[0] for mark in self._all}
        return characters.pop() if len(characters) == 1 else ""

    @cached_property
    def _any_mark(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self._all, key=len, reverse=True))) or "(?!)")

    @cached_property
    def _token_or_mark(self) -> re.Pattern[str] | None:
        """A pattern for a chat-template token, an opening mark (group `_OPENING`), or a closing mark (`_CLOSING`).

        None if some marks do not begin with ``<``, or if one mark is the beginning of another.
        """
        if self._first != "<" or any(
            mark.startswith(other_mark) for mark in self._all for other_mark in self._all if other_mark != mark
        ):
            return None
        groups = ("|".join(re.escape(mark[1:]) for mark in marks) for marks in (self.openings, self.closings))
        return re.compile(f"<(?:{TOKEN_IN_ANGLES}|{'|'.join(map('({})'.format, groups))})")

    def __reduce__(self) -> tuple[type[Thinking], tuple[tuple[Marks, ...]]]:
        return Thinking, (self.blocks,)

    def __repr__(self) -> str:
        return repr([block.written for block in self.blocks])


THINKING = Thinking(tuple(Marks(f"<{name}>", f"</{name}>") for name in ("think", "thinking", "reasoning", "thought")))
"""The blocks that count as thinking by default."""


@final
@dataclass(frozen=True)
class OpenedThinking:
    """A function that returns the text after thinking that began in the prompt, or None if the thinking never ends."""

    thinking: Thinking

    def __call__(self, text: str) -> str | None:
        if len(text) > MAX_CHARACTERS or not any(closing in text for closing in self.thinking.closings):
            return None
        return self.thinking.visible(self.thinking.blocks[0].opening + text)


def visible_text(text: str) -> str:
    """Return the text that the user of the model sees, after thinking in the default blocks."""
    return THINKING.visible(text)
