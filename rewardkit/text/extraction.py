r"""Extractors find a part of a completion: ``rk.extract.tag("answer")("<answer>42</answer>")`` is ``"42"``.

An extractor is a frozen, hashable, picklable callable: text -> ``str`` or None. A batch runs equal extractors once per
distinct text and shares the result (``batch.view``). All extractors except `raw` read only the visible answer, never
the thinking. They run in time linear in the length of the text, and never raise an exception.

Thinking is a block ``<think>``, ``<thinking>``, ``<reasoning>``, or ``<thought>`` before the answer. For other marks,
pass ``thinking=``: a tag, or a list of tags. A tag is a name (``"plan"``, ``"[PLAN]"``) or a pair of marks::

    rk.extract.tag("SOLUTION", thinking=[("<start_working_out>", "<end_working_out>")])


===================================  ==========================================================================
``rk.extract.answer()``              the default: `tag`, else `boxed`, else `after`, else the visible text
``rk.extract.tag("answer")``         body of the only ``<answer>...</answer>``; ``tag("[ANSWER]")`` and pairs also work
``rk.extract.boxed()``               content of the last ``\boxed{...}``
``rk.extract.after("####")``         rest of the line after the last ``####``
``rk.extract.fenced("json")``        body of the last fenced block of that language
``rk.extract.json("total")``         a value inside the completion's JSON
``rk.extract.whole()``               the visible text as it is
``rk.extract.raw()``                 the whole completion, including thinking: for checks of form, not of answers
``rk.extract.prefilled()``           the answer after ``</think>``, if the prompt ends with ``<think>``
``rk.extract.document()``            the text with the JSON: ``<answer>``, a fenced block, or the visible text
===================================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from rewardkit.errors import RewardDefinitionError, RewardTypeError, hashable, near_miss, shorten
from rewardkit.text.extractors import (
    After,
    Answer,
    Boxed,
    CustomExtractor,
    Document,
    Extractor,
    Fenced,
    JsonValue,
    Prefilled,
    Raw,
    Tagged,
    TextExtractor,
    Whole,
)
from rewardkit.text.json_text import json_parser
from rewardkit.text.thinking import Marks, Tag, Thinking

if not TYPE_CHECKING:  # type checkers would take any name for an extractor

    def __getattr__(name: str) -> Any:
        extractors = [
            function
            for function, value in globals().items()
            if isinstance(value, FunctionType)
            and value.__module__ == __name__
            and not function.startswith(("_", "as_"))
        ]
        hint = near_miss(name, extractors) or f" Extractors: {', '.join(extractors)}"
        raise AttributeError(f"rk.extract has no {name!r}.{hint}", name=None)


Thoughts = str | Iterable[Tag] | None


def as_extractor(value: object, default: Extractor) -> Extractor:
    """Return `value` as an extractor. None becomes `default`, and a function is wrapped.

    Raises:
        RewardTypeError: `value` is neither an extractor nor a function.
    """
    if value is None:
        return default
    if isinstance(value, Extractor):
        return value
    if getattr(value, "__module__", None) == __name__ and callable(value):
        name = getattr(value, "__name__", "?")
        raise RewardTypeError(f"rk.extract.{name} is not an extractor yet. Call it: rk.extract.{name}(...)")
    if isinstance(value, type) or not callable(value) or hasattr(value, "facts") or not hashable(value):
        raise RewardTypeError(
            "extract= and gold= must be an extractor such as rk.extract.tag('answer'), or a hashable function from str "
            f"to str or None, got {shorten(value)} ({type(value).__name__})"
        )
    return CustomExtractor(value)


def _named(name: str, subject: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise RewardDefinitionError(f"{subject} must be a non-empty string, got {shorten(name)}")
    return name


def answer(*, thinking: Thoughts = None) -> Extractor:
    """Find the final answer: the ``<answer>`` tag, else the last box, else the ``####`` line, else the visible text.

    Args:
        thinking: the tags around the thinking, as described in the module docstring. Answers in the thinking are
            ignored.
    """
    return Answer(thinking=Thinking.of(thinking))


def tag(name: Tag, *, thinking: Thoughts = None) -> Extractor:
    """Find the body of ``<name>...</name>``. The result is None unless there is exactly one such block.

    Args:
        name: one word, ``"[ANSWER]"`` for ``[ANSWER]...[/ANSWER]``, or any pair of marks:
            ``("<start_answer>", "<end_answer>")``. To find the thinking, pass the name of a thinking tag.
        thinking: the tags around the thinking.
    """
    marks = Marks.of(name, "tag: name")
    return Tagged(marks, thinking=Thinking.of(thinking).without(marks))


def boxed(*, thinking: Thoughts = None) -> Extractor:
    r"""Find the content of the last ``\boxed{...}`` with balanced braces."""
    return Boxed(thinking=Thinking.of(thinking))


def after(marker: str, *, thinking: Thoughts = None) -> Extractor:
    """Find the first non-empty line after the last `marker`: ``after("####")("#### 72")`` is ``"72"``."""
    return After(_named(marker, "after: marker"), thinking=Thinking.of(thinking))


def fenced(language: str = "", *, thinking: Thoughts = None) -> Extractor:
    """Find the body of the last closed fenced block in `language` (``""`` for a block without a language)."""
    if not isinstance(language, str) or language.split() not in ([], [language]):
        raise RewardDefinitionError(f'fenced: language must be one word or "", got {shorten(language)}')
    return Fenced(language, thinking=Thinking.of(thinking))


def whole(*, thinking: Thoughts = None) -> Extractor:
    """Return the visible text, without surrounding whitespace."""
    return Whole(thinking=Thinking.of(thinking))


def raw() -> Extractor:
    """Return the whole completion, including thinking. Use it only to check form, never to find the answer."""
    return Raw()


def prefilled(where: Extractor | None = None) -> Extractor:
    """Search only the text after ``</think>``, for prompts that end with ``<think>``.

    A completion that is cut off before ``</think>`` is all thinking, so the result is None.

    Args:
        where: the extractor that searches the text after the thinking, `answer` by default. If the prompt ends with a
            tag other than ``<think>``, name that tag in this extractor: ``prefilled(tag("ANSWER", thinking="THINK"))``.
    """
    inner = as_extractor(where, Answer())
    if not isinstance(inner, TextExtractor):
        raise RewardTypeError(f"prefilled: {inner!r} does not read the visible text. Pass another extractor")
    if not inner.thinking.blocks:
        raise RewardDefinitionError(
            f"prefilled: {inner!r} does not specify a thinking tag. Name the tag: thinking='think'"
        )
    return Prefilled(inner)


def document(*, thinking: Thoughts = None) -> Extractor:
    """Find the text with the JSON: ``<answer>``, else the last fenced block, else the visible text.

    The result is None if another document begins after that block or tag, with or without a fence.
    """
    return Document(thinking=Thinking.of(thinking))


def json(*path: str | int, where: Extractor | None = None) -> Extractor:
    """Find a value inside the completion's JSON, as text: ``json("total")('{"total": 12.5}')`` is ``"12.5"``.

    Args:
        path: object keys and array positions, outermost first.
        where: the extractor that finds the JSON, `document` by default. The JSON is parsed once per batch for all
            rewards.

    Raises:
        RewardDefinitionError: a step in `path` is neither a key nor a position.
        MissingExtraError: the extra ``json`` is not installed.
    """
    for step in path:
        if isinstance(step, bool) or not isinstance(step, (str, int)):
            raise RewardDefinitionError(f"json: path must be keys (str) and positions (int), got {shorten(step)}")
    json_parser("rk.extract.json")
    return JsonValue(path, as_extractor(where, Document()))
