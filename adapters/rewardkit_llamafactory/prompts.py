"""The rows of a data file, found by their prompt in a text that LLaMA-Factory sends.

``Prompts([{"prompt": "2+2?", "answer": "4"}], "<|end|>").row("<|user|>2+2?<|end|>It is 4.")`` has the completion
``It is 4.`` and the column "answer".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

from rewardkit.core.batch.batch import RESERVED
from rewardkit.core.batch.messages import content_text
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.online.rows import Row


@final
class Prompts:
    """Rows by the text of the user in their prompt.

    Args:
        rows: with a "prompt": a text, or messages with one of the user at their end.
        separator: what the template puts between that text and the response.

    Raises:
        RewardDefinitionError: a row has no such prompt, or two with the same prompt differ.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], separator: str) -> None:
        self._separator = separator
        self._rows: dict[str, dict[str, Any]] = {}
        for row in rows:
            prompt = _asked(row.get("prompt"))
            cells = {name: cell for name, cell in row.items() if name not in RESERVED}
            if not prompt:
                raise RewardDefinitionError(
                    "each row of the data needs the column 'prompt', a text or messages with only one of the user, got "
                    f"{shorten(dict(row))}"
                )
            if self._rows.setdefault(prompt, cells) != cells:
                raise RewardDefinitionError(
                    f"the prompt {shorten(prompt)} has two rows that differ, and only the prompt tells which one is "
                    "meant. Remove one of them"
                )
        self._sizes = sorted({len(prompt) for prompt in self._rows}, reverse=True)

    def row(self, text: str) -> Row | None:
        """Return the row of a text; None if no prompt of the data is before the first separator.

        What the policy writes comes after it, so it cannot change the row.
        """
        before, found, completion = text.partition(self._separator)
        prompt = next((before[-size:] for size in self._sizes if before[-size:] in self._rows), None)
        return Row(completion, prompt, self._rows[prompt]) if found and prompt is not None else None


def _asked(prompt: Any) -> str:
    """Return the text of the user; empty if there is none, or several."""
    if isinstance(prompt, str):
        return prompt
    said = [one for one in prompt if one.get("role") != "system"] if isinstance(prompt, (list, tuple)) else []
    return content_text(said[0].get("content")) if len(said) == 1 and said[0].get("role") == "user" else ""
