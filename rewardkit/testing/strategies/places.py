r"""Places: marks with which an extractor finds an answer, and wrong marks.

``rk.extract.boxed()`` finds ``42`` in ``\boxed{42}`` and ``So \boxed{42}.``, but not in ``\boxed{42``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rewardkit.core.text.extractors import (
    After,
    Answer,
    Boxed,
    Document,
    Fenced,
    Json,
    JsonValue,
    Prefilled,
    Raw,
    Tagged,
    Whole,
)
from rewardkit.core.text.json_text import Parsed


@dataclass(frozen=True)
class Form:
    """A way to mark an answer: ``start + write(answer) + end``.

    Attributes:
        start: the text before it.
        end: the text after it.
        mark: the part of `start` or `end` that marks the answer; empty if nothing marks it.
        write: writes the answer between them.
    """

    start: str = ""
    end: str = ""
    mark: str = ""
    write: Callable[[str], str] = str

    def around(self, answer: str) -> str:
        return f"{self.start}{self.write(answer)}{self.end}"

    def unmarked(self, answer: str) -> list[str]:
        """Return texts with a missing mark."""
        if not self.mark:
            return []
        inside = self.write(answer)
        bare = [f"{self.start}{inside}"] if self.end.strip() else []
        bare += [f"{inside}{self.end}", inside]
        return list(dict.fromkeys(text for text in bare if text != self.around(answer)))


_BARE = Form()
_ANSWER = Form("<answer>", "</answer>", "<answer>")
_BOX = Form("\\boxed{", "}", "\\boxed")
_HASHES = Form("#### ", "", "####")


def forms_for(view: Any, known: Sequence[str] = ()) -> list[Form]:
    """Return the ways to mark an answer for an extractor, the simplest first.

    Args:
        view: an extractor of ``rk.extract``, a user's function, or None for the completion's text.
        known: tags and marks in the reward's code.
    """
    if isinstance(view, Json):
        return forms_for(view.where, known)
    if isinstance(view, JsonValue):
        inside = partial(_nested, view.path)
        return [Form(form.start, form.end, form.mark, inside) for form in forms_for(view.where, known)]
    if isinstance(view, Prefilled):
        inner = forms_for(view.where, known)
        closing = view.where.thinking.closings[0]
        return [Form(f"6*7{closing}{form.start}", form.end, closing, form.write) for form in inner]
    if isinstance(view, Tagged):
        return [Form(*view.marks, view.marks.opening)]
    if isinstance(view, After):
        return [Form(f"{view.marker} ", "", view.marker)]
    if isinstance(view, Boxed):
        return [_BOX, Form("So \\boxed{", "}.", "\\boxed")]
    if isinstance(view, Fenced):
        return [Form(f"```{view.language}\n", "\n```", "```")]
    if isinstance(view, Answer):
        return [_BARE, _ANSWER, _BOX, _HASHES]
    if isinstance(view, Document):
        return [_BARE, _ANSWER, Form("```json\n", "\n```"), Form("Here it is:\n```json\n", "\n```", "```")]
    if view is None or isinstance(view, (Raw, Whole)):
        return [_BARE]
    name = type(view).__name__
    if name in ("FinalAnswer", "FinalChoice", "FinalNumber", "FinalText"):
        return [_BARE, _ANSWER, _BOX, _HASHES, Form("The answer is ", ".")]
    if name == "Program":
        return [Form("```python\n", "\n```"), _BARE, Form("<answer>\n", "\n</answer>", "<answer>")]
    return [_ANSWER, _BOX, _HASHES, _BARE, *map(guessed, known)]


def guessed(text: str) -> Form:
    """Guess what a text in a reward's code marks: a tag marks its body, anything else the text after it."""
    if text.startswith("<") and text.endswith(">"):
        return Form(text, f"</{text[1:]}", text)
    return Form(text if text.endswith((" ", "\n")) else f"{text} ", "", text)


def shown_to(view: Any, text: str) -> Any:
    """Return what an extractor finds in a completion: text, a parsed value, or None. Does not raise."""
    try:
        found: Any = text if view is None else view(text)
    except Exception:
        return None
    return None if isinstance(found, Parsed) and found.error else found


def finds(view: Any, text: str, answer: str) -> bool:
    """Whether an extractor finds exactly `answer` in a completion."""
    found = shown_to(view, text)
    if isinstance(found, Parsed):
        try:
            return json.dumps(found.value) == json.dumps(json.loads(answer))
        except ValueError:
            return False
    return isinstance(found, str) and found.strip() == answer.strip()


def _nested(path: tuple[str | int, ...], answer: str) -> str:
    """Return a JSON document with `answer` at `path`."""
    try:
        value = json.loads(answer)
    except ValueError:
        value = answer
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [*([None] * max(step, 0)), value]
    return json.dumps(value, ensure_ascii=False)
