"""What OpenRLHF hands over as a query: prompt and completion in one text."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any, final

from rewardkit.core.errors import shorten

_PROMPTS = 1_024
"""Prompts that are remembered as the tokenizer gives them back: those of the completions of one step."""


@final
class Queries:
    """Cuts the prompt off a query: ``Queries(None).completion("2+2=4", "2+2=")`` is ``"4"``.

    OpenRLHF encodes the prompt and decodes prompt and completion together, so a query begins with the prompt as the
    tokenizer gives it back.

    Args:
        tokenizer: of the model; None if only texts of special tokens are known.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer: Any = tokenizer if callable(getattr(tokenizer, "decode", None)) else None
        self._lock = threading.Lock()
        self._decoded = lru_cache(_PROMPTS)(self._decode)

    def completion(self, query: str, prompt: str) -> str | None:
        """Return what the model wrote; None if the query does not begin with the prompt."""
        if query.startswith(prompt):
            return query[len(prompt) :]
        if self._tokenizer is not None:
            with self._lock:  # tokenizers are not thread-safe
                decoded = self._decoded(prompt)
            if query.startswith(decoded):
                return query[len(decoded) :]
        return None

    def why(self, query: str, prompt: str) -> str:
        """Return why the completion of a query is not known."""
        fix = "" if self._tokenizer is not None else ", and pass special_tokens=tokenizer"
        return (
            f"the query {shorten(query)} does not begin with the prompt {shorten(prompt)}: OpenRLHF cut the prompt to "
            "fit, or the tokenizer does not give it back as it was, so no one knows where the completion begins. Drop "
            f"prompts that are longer than --data.max_len minus --rollout.max_new_tokens{fix}"
        )

    def _decode(self, prompt: str) -> str:
        ids = self._tokenizer(text=prompt, add_special_tokens=False)["input_ids"]
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))
