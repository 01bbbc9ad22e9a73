"""The path that LLaMA-Factory's PPO posts to: ``reward_model_type: api`` and ``reward_model: http://host:8000/llamafactory``.

LLaMA-Factory sends the text of the prompt with its template and the response, without a boundary or a column. The rows
of a data file are found by their prompt: set the variables REWARDKIT_LLAMAFACTORY_DATA (a file with "prompt" and
columns) and REWARDKIT_LLAMAFACTORY_SEPARATOR (what the template puts between the user's text and the response).
"""

from __future__ import annotations

import logging
import os
from functools import cache
from pathlib import Path
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, RewardKitError, shorten
from rewardkit.data.conversations import split_row
from rewardkit.data.files import rows_of
from rewardkit.server.dialects import Answer, BadRequest, Dialect, Score, list_at
from rewardkit_llamafactory.prompts import Prompts

DATA, SEPARATOR = "REWARDKIT_LLAMAFACTORY_DATA", "REWARDKIT_LLAMAFACTORY_SEPARATOR"
PATIENCE = 600.0
"""Seconds in which a failed row is scored again: LLaMA-Factory waits for ever, and cannot go on without a score."""
_LOG = logging.getLogger("rewardkit.server")


async def scored(payload: Any, score: Score) -> Answer:
    """Score texts for LLaMA-Factory."""
    texts = list_at(payload, "messages")
    try:
        rows = [_known().row(text) if isinstance(text, str) else None for text in texts]
    except (RewardKitError, OSError) as error:
        raise _refused(str(error)) from None
    missing = next((text for text, row in zip(texts, rows, strict=True) if row is None), None)
    if missing is not None:
        raise _refused(
            f"no prompt of {os.environ[DATA]} ends before the first {os.environ[SEPARATOR]!r} in {shorten(missing)}. "
            f"Fix {SEPARATOR}, or add the row to the data"
        )
    found = await score([row for row in rows if row is not None], patience=PATIENCE)
    lost = next((one for one in found if not one.scored), None)
    if lost is not None:
        return Answer({"error": f"a completion has no score: {lost.why}"}, 503)
    return Answer({"scores": [one.total for one in found]})


@cache
def _known() -> Prompts:
    missing = [name for name in (DATA, SEPARATOR) if not os.environ.get(name)]
    if missing:
        raise RewardDefinitionError(f"set the variable {missing[0]} before `rewardkit serve`")
    rows = [split_row(row) for _, row in rows_of(Path(os.environ[DATA]))]
    return Prompts(rows, os.environ[SEPARATOR].replace("\\n", "\n"))


def _refused(why: str) -> BadRequest:
    """Return the error of a request, and log it: LLaMA-Factory shows only ``KeyError: 'scores'``."""
    _LOG.error("/llamafactory: %s", why)
    return BadRequest(why)


dialect: Dialect = {"/llamafactory": scored}
