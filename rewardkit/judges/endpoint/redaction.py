"""Redaction: what an endpoint says without the key, which some repeat: ``Redaction("open").message("not open")``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANY_KEY = re.compile(r"\b(?:sk|pk|key|hf|gsk)[-_][\w.*-]{6,}")
_LEAST_KEY = 12
"""Characters of a key that is looked for in what a judge wrote: no verdict holds it by chance."""


@dataclass(frozen=True)
class Redaction:
    """Takes one key out of texts."""

    key: str

    def message(self, text: str) -> str:
        """`text` of an error, without this key and whatever looks like one."""
        return _ANY_KEY.sub("***", text.replace(self.key, "***") if self.key else text)

    def written(self, text: str) -> str:
        """`text` of a judge, changed in nothing else."""
        return text.replace(self.key, "***") if len(self.key) >= _LEAST_KEY else text
