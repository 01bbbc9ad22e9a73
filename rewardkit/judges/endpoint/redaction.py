"""Removes the key from what an endpoint returns: ``Redaction("open").message("not open")``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANY_KEY = re.compile(r"\b(?:sk|pk|key|hf|gsk)[-_][\w.*-]{6,}")
_LEAST_KEY = 12
"""The shortest key that is removed from verdicts; a shorter one might be an ordinary word."""


@dataclass(frozen=True)
class Redaction:
    """Removes one key from texts."""

    key: str

    def message(self, text: str) -> str:
        """Return the `text` of an error without this key and anything that looks like a key."""
        return _ANY_KEY.sub("***", text.replace(self.key, "***") if self.key else text)

    def written(self, text: str) -> str:
        """Return the `text` of a judge without this key; nothing else changes."""
        return text.replace(self.key, "***") if len(self.key) >= _LEAST_KEY else text
