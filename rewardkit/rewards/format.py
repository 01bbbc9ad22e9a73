"""Format: ``rk.tags("think", "answer")`` gives 1.0 to ``<think>6*7</think><answer>42</answer>``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.text.extraction import as_extractor, whole
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.marks import fenced_blocks
from rewardkit.text.thinking import Marks, Tag
from rewardkit.text.visibility import has_visible_character, spoken_text, visible_between
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

Anchored = bool | Literal["start"]

_ZERO_WIDTH = re.compile("[\u200b-\u200d\u2060\ufeff]")
"""Invisible characters that tokenizers and editors leave between words. They are allowed between tags. Other invisible
characters, such as NUL or a lone surrogate, may hide text and break code that expects only white space between tags."""

_SAME_LANGUAGE = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "ts": "typescript",
    "sh": "bash",
    "shell": "bash",
    "yml": "yaml",
}


@dataclass(frozen=True)
class Tags:
    """A check that each tag occurs once in order, is closed, and has visible content, with no text outside tags."""

    pairs: tuple[Marks, ...]
    partial: bool
    prefilled: bool
    anchored: Anchored

    @property
    def opened_by_prompt(self) -> Marks | None:
        """The marks of the tag that the prompt opens; None if it opens none."""
        return self.pairs[0] if self.prefilled else None

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """All opening and closing marks in the required order."""
        return tuple(mark for pair in self.pairs for mark in pair)

    @cached_property
    def first(self) -> str:
        """The first character of all marks; empty if the marks start differently."""
        characters = {mark[0] for mark in self.marks}
        return characters.pop() if len(characters) == 1 else ""

    @cached_property
    def any_mark(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self.marks, key=len, reverse=True))))

    def __call__(self, completion: str) -> float | Score:
        if len(completion) > MAX_CHARACTERS:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        text = completion if completion.endswith(self.marks[-1]) else spoken_text(completion)
        if self.prefilled:
            text = self.marks[0] + text
        return 1.0 if self.first and self._in_order(text) else self._judged(text)

    def _in_order(self, text: str) -> bool:
        """Return whether a quick check finds all tags in order, with no other "<" between them."""
        first = self.first
        position = 0
        for opening, closing in self.pairs:
            start = text.find(first, position)
            if start != position and (start < 0 or (self.anchored and not text[position:start].isspace())):
                return False
            body = start + len(opening)
            end = text.find(first, body)
            if not (text.startswith(opening, start) and text.startswith(closing, end) and end > body):
                return False
            if not "!" <= text[body] <= "~" and not visible_between(text, body, end):
                return False
            position = end + len(closing)
        if position == len(text):
            return True
        return text.find(first, position) < 0 and not (self.anchored is True and text[position:].strip())

    def _judged(self, text: str) -> float | Score:
        """Return the score from a check of each tag, with the errors in the note."""
        starts: dict[str, list[int]] = {mark: [] for mark in self.marks}
        for match in self.any_mark.finditer(text):
            starts[match.group()].append(match.start())
        right_count = 0
        problems: list[str] = []
        outside: list[tuple[int, int]] = []
        position = 0
        for pair in self.pairs:
            opening, closing = pair
            problem = self._problem(text, starts, pair, position)
            if problem:
                problems.append(problem)
                continue
            right_count += 1
            outside.append((position, starts[opening][0]))
            position = starts[closing][0] + len(closing)
        if self.anchored is True:
            outside.append((position, len(text)))
        if problems:
            return Score(right_count / len(self.pairs) if self.partial else 0.0, "; ".join(problems))
        stray = (_ZERO_WIDTH.sub("", text[start:end]).strip() for start, end in outside if self.anchored)
        stray_text = next(filter(None, stray), "")
        if not stray_text:
            return 1.0
        note = f"text outside the tags: {shorten(stray_text, 40)}"
        return Score(right_count / (right_count + 1) if self.partial else 0.0, note)

    def _problem(self, text: str, starts: dict[str, list[int]], pair: Marks, position: int) -> str:
        opening, closing = pair
        is_first = pair is self.pairs[0]
        openings, closings = len(starts[opening]), len(starts[closing])
        if openings == 0 and closings == 1 and is_first and not self.prefilled:
            return f"{opening} is missing. If the prompt ends with it, pass prefilled={pair.written!r}"
        if is_first and self.prefilled and openings > 1 and not text[len(opening) : starts[opening][1]].strip():
            return f"{opening} is already in the prompt (prefilled={pair.written!r}), and the completion repeats it"
        if openings != 1 or closings != 1:
            counts = ((opening, openings), (closing, closings))
            return ", ".join(
                f"{mark} is missing" if count == 0 else f"{mark} occurs {count} times"
                for mark, count in counts
                if count != 1
            )
        start, end = starts[opening][0], starts[closing][0]
        if start < position or end < start:
            return f"{opening} is out of order"
        if not visible_between(text, start + len(opening), end):
            return f"{opening} is empty"
        inside = next((mark for mark in self.marks for offset in starts[mark] if start < offset < end), "")
        return f"{inside} is inside {opening}" if inside else ""


def tags(*names: Tag, partial: bool = False, prefilled: Tag | None = None, anchored: Anchored = True) -> Reward:
    """Score 1.0 if each tag occurs exactly once in this order, is closed, and has visible content, else 0.0.

    ``rk.tags("think", "answer")`` gives 1.0 to ``"<think>6*7</think>\\n<answer>42</answer>"``, and 0.0 with a note if
    there is a second ``<answer>``, an empty one, or text outside the tags.

    Args:
        names: the tags, in order: each is one word without brackets, ``"[ANSWER]"`` for ``[ANSWER]...[/ANSWER]``, or a
            pair of opening and closing marks, such as ``("<start_working_out>", "<end_working_out>")``.
        partial: if True, each correct tag adds 1/len(names) to the score. Text outside the tags counts as one more
            incorrect tag.
        prefilled: the first tag, if the prompt already ends with its opening mark, as in chat templates for reasoning
            models.
        anchored: True: only white space may come before, between, or after the tags. ``"start"``: text may follow the
            last tag (``<think>...</think> The answer is 42.``). False: text may be anywhere.

    Returns:
        A reward in [0, 1]. Runs in linear time. A completion with more than 200,000 characters scores 0.0.

    Raises:
        RewardDefinitionError: there are no names, a name is invalid or repeated, or `prefilled` is not the first name.
    """
    if not names:
        raise RewardDefinitionError('tags: pass at least one name, as in rk.tags("think", "answer")')
    for name in names:
        if isinstance(name, (list, tuple)) and all(isinstance(part, str) and part.isidentifier() for part in name):
            raise RewardDefinitionError("tags: pass the names as separate arguments. For a list, write rk.tags(*names)")
    pairs = tuple(Marks.of(name, "tags: a name") for name in names)
    if len({mark for pair in pairs for mark in pair}) < 2 * len(pairs):
        raise RewardDefinitionError(f"tags: all names and marks must be different, got {shorten(names)}")
    if prefilled is not None and Marks.of(prefilled, "tags: prefilled") != pairs[0]:
        raise RewardDefinitionError(
            f"tags: only the first tag can be prefilled, {names[0]!r}, not {shorten(prefilled)}"
        )
    if type(partial) is not bool:
        raise RewardDefinitionError(f"tags: partial must be True or False, got {shorten(partial)}")
    if type(anchored) is not bool and anchored != "start":
        raise RewardDefinitionError(f'tags: anchored must be True, False, or "start", got {shorten(anchored)}')
    written_tags = [pair.written for pair in pairs]
    call_text = expression(
        "tags",
        *written_tags,
        partial=(partial, False),
        prefilled=(prefilled and written_tags[0], None),
        anchored=(anchored, True),
    )
    return primitive(Tags(pairs, partial, prefilled is not None, anchored), "tags", call_text)


@dataclass(frozen=True)
class FencedBlock:
    """A check for a closed fenced block in a given language, with visible content."""

    language: str
    single: bool

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        blocks = fenced_blocks(text)
        bodies = [body for info_string, body in blocks if _language(info_string) == self.language]
        if not bodies:
            other = f", but one of {shorten(blocks[-1][0], 40)}" if blocks else ""
            return Score(0.0, f"no closed ```{self.language} block{other}")
        if self.single and len(blocks) > 1:
            return Score(0.0, f"{len(blocks)} fenced blocks, but only one is allowed")
        return 1.0 if has_visible_character(bodies[-1]) else Score(0.0, f"the ```{self.language} block is empty")


def _language(info_string: str) -> str:
    """Return the language from a fence's info string: ``_language('py title="a.py"')`` is ``"python"``."""
    word = re.split(r"[\s{},:]", info_string.strip("{} ").removeprefix("."), maxsplit=1)[0]
    return _SAME_LANGUAGE.get(word, word)


def fenced(language: str = "", *, single: bool = False, extract: Extractor | Any = None) -> Reward:
    """Score 1.0 if the visible text has a closed, non-empty fenced block in this language, else 0.0.

    ``rk.fenced("python")`` gives 1.0 to "So:\\n```python\\nprint(42)\\n```", and 0.0 if the fence is not closed.

    Args:
        language: the first word after the opening fence, in any case; ``""`` for a fence without a language. Aliases
            match: py and python3 match python, and js, ts, sh, shell (for bash), and yml also work.
        single: if True, no other fenced block is allowed.
        extract: finds the text to search, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: `language` is more than one word.
    """
    if not isinstance(language, str) or language.split() not in ([], [language]) or "`" in language:
        raise RewardDefinitionError(f'fenced: the language must be one word, such as "python", got {shorten(language)}')
    where = as_extractor(extract, whole())
    name = _SAME_LANGUAGE.get(language.lower(), language.lower())
    call_text = expression("fenced", name, single=(single, False), extract=(extract and where, None))
    text = Parameter("text", "completion", view=where)
    return primitive(FencedBlock(name, bool(single)), "fenced", call_text, text)
