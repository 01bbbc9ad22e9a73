"""Regressions: a JSON Lines file with known exploits, written by `rewardkit check --regressions`.

``load("exploits.jsonl")`` returns the cases in the file. A case contains a completion, the columns of its example, and
correct completions, which must score higher.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import RewardKitError, shorten


@dataclass(frozen=True)
class Regression:
    """A completion that scored too high.

    Attributes:
        completion: the completion.
        good: correct completions for the same example; each must score higher than `completion`.
        prompt: the example's prompt.
        columns: the example's columns.
        why: the check's finding.
        lossless: whether JSON can represent the prompt and columns; if not, they only identify the example.
    """

    completion: Any
    good: tuple[Any, ...]
    prompt: Any
    columns: dict[str, Any]
    why: str
    lossless: bool = True


def load(path: str | Path) -> list[Regression]:
    """Return the cases in a file, or an empty list if the file does not exist.

    Raises:
        RewardKitError: a line cannot be read.
    """
    file = Path(path)
    if not file.exists():
        return []
    cases = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            good, prompt, columns = tuple(row["good"]), row.get("prompt"), dict(row["columns"])
            cases.append(Regression(row["completion"], good, prompt, columns, row["why"], row.get("lossless", True)))
        except (ValueError, KeyError, TypeError) as error:
            raise RewardKitError(
                f"{file}, line {number}: not a regression case ({error!r}): {shorten(line)}. Delete the line"
            ) from None
    return cases
