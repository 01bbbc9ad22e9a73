"""rewardkit and LLaMA-Factory: the `rewardkit serve` endpoint from which LLaMA-Factory's PPO requests rewards."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, final

from rewardkit.batch.batch import RESERVED
from rewardkit.batch.messages import content_text
from rewardkit.errors import RewardDefinitionError, RewardKitError, shorten
from rewardkit.online.rows import Row
from rewardkit.scoring.conversations import split_row
from rewardkit.scoring.files import rows_of
from rewardkit.serve.dialects import Answer, BadRequest, Dialect, Score, list_at

# Find the row of a data file by its prompt, which is part of the text that LLaMA-Factory sends.


@final
class Prompts:
    """The rows in a data file, indexed by the user's text in the prompt.

    Args:
        rows: rows with a "prompt": a string, or a list of messages with exactly one user message and otherwise only
            system messages.
        separator: the text that the chat template puts between the user's text and the response.

    Raises:
        RewardDefinitionError: a row has no such prompt, or two rows with the same prompt differ.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], separator: str) -> None:
        self._separator = separator
        self._rows: dict[str, dict[str, Any]] = {}
        for row in rows:
            prompt = _user_text(row.get("prompt"))
            cells = {name: cell for name, cell in row.items() if name not in RESERVED}
            if not prompt:
                raise RewardDefinitionError(
                    "each data row needs a 'prompt' column with text, or with messages of which only one is from the "
                    f"user, got {shorten(dict(row))}"
                )
            if self._rows.setdefault(prompt, cells) != cells:
                raise RewardDefinitionError(
                    f"the prompt {shorten(prompt)} occurs in two different rows, but completions are matched to rows "
                    "by prompt. Remove one of the rows"
                )
        self._sizes = sorted({len(prompt) for prompt in self._rows}, reverse=True)

    def row(self, text: str) -> Row | None:
        """Return the row for a text, or None if no prompt in the data ends immediately before the first separator.

        The policy's output comes after the first separator, so it cannot affect which row is found.
        """
        before, separator, completion = text.partition(self._separator)
        prompt = next((before[-size:] for size in self._sizes if before[-size:] in self._rows), None)
        return Row(completion, prompt, self._rows[prompt]) if separator and prompt is not None else None


def _user_text(prompt: Any) -> str:
    """Return the user's text in a prompt, or "" if the messages are not one user message and system messages."""
    if isinstance(prompt, str):
        return prompt
    messages = (
        [message for message in prompt if message.get("role") != "system"] if isinstance(prompt, (list, tuple)) else []
    )
    return content_text(messages[0].get("content")) if len(messages) == 1 and messages[0].get("role") == "user" else ""


# The path to which LLaMA-Factory's PPO posts: ``reward_model_type: api`` and
# ``reward_model: http://host:8000/llamafactory``.


DATA, SEPARATOR = "REWARDKIT_LLAMAFACTORY_DATA", "REWARDKIT_LLAMAFACTORY_SEPARATOR"
PATIENCE = 600.0
"""The number of seconds for which a failed row is retried. LLaMA-Factory waits forever and cannot continue without a
score."""
_LOG = logging.getLogger("rewardkit.serve")


async def score_texts(payload: Any, score: Score) -> Answer:
    """Score completions for LLaMA-Factory."""
    texts = list_at(payload, "messages")
    try:
        rows = [_prompt_store().row(text) if isinstance(text, str) else None for text in texts]
    except (RewardKitError, OSError) as error:
        raise _bad_request(str(error)) from None
    missing = next((text for text, row in zip(texts, rows, strict=True) if row is None), None)
    if missing is not None:
        raise _bad_request(
            f"no prompt in {os.environ[DATA]} ends before the first {os.environ[SEPARATOR]!r} in "
            f"{shorten(missing)}. Fix {SEPARATOR}, or add the row to the data"
        )
    scores = await score([row for row in rows if row is not None], patience=PATIENCE)
    unscored = next((row_score for row_score in scores if not row_score.scored), None)
    if unscored is not None:
        return Answer({"error": f"a completion has no score: {unscored.why}"}, 503)
    return Answer({"scores": [row_score.total for row_score in scores]})


@cache
def _prompt_store() -> Prompts:
    missing = [name for name in (DATA, SEPARATOR) if not os.environ.get(name)]
    if missing:
        raise RewardDefinitionError(f"set the environment variable {missing[0]} before you run `rewardkit serve`")
    rows = [split_row(row) for _, row in rows_of(Path(os.environ[DATA]))]
    return Prompts(rows, os.environ[SEPARATOR].replace("\\n", "\n"))


def _bad_request(reason: str) -> BadRequest:
    """Log the reason and return it as an error. LLaMA-Factory itself shows only ``KeyError: 'scores'``."""
    _LOG.error("/llamafactory: %s", reason)
    return BadRequest(reason)


dialect: Dialect = {"/llamafactory": score_texts}
