"""The functions of `ported`, each with rows, completions and the totals that plain Python gives at the end."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rewardkit as rk
from tests.entry_points import ported


@dataclass(frozen=True)
class Case:
    """One reward.

    Attributes:
        name: of its variable in `ported`.
        reward: the same in this process.
        rows: the columns of each row, with its prompt.
        completions: one for each row, in the form that TRL passes.
        totals: what they score at the end of training.
    """

    name: str
    reward: Any
    rows: tuple[dict[str, Any], ...]
    completions: tuple[Any, ...]
    totals: tuple[float, ...]

    @property
    def columns(self) -> dict[str, Any]:
        return {name: [row[name] for row in self.rows] for name in self.rows[0] if name != "prompt"}

    @property
    def prompts(self) -> list[Any]:
        return [row["prompt"] for row in self.rows]

    def written(self, folder: Path, *, completions: bool = True, times: int = 1) -> tuple[str, Path]:
        """Write the functions and the rows as files; return the target and the path of the rows."""
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(ported.__file__, folder / "ported_rewards.py")
        rows = [
            {**row, "completion": completion} if completions else row
            for row, completion in zip(self.rows, self.completions, strict=True)
        ]
        data = folder / "rows.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows * times))
        return f"{folder}/ported_rewards.py:{self.name}", data


def _said(role: str, *texts: str) -> list[list[dict[str, str]]]:
    return [[{"role": role, "content": text}] for text in texts]


def _numbers(count: int, prompt: Any) -> dict[str, Any]:
    return {"prompt": prompt, "numbers": [count, 7], "target": 10 * count, "hint": "yes" if count == 1 else None}


_ASKED = _said("user", "Cite the source: Lyell", "Cite the source: Hutton")
DELAYED = Case(
    "delayed",
    ported.delayed,
    tuple({"prompt": prompt, "sources": source} for prompt, source in zip(_ASKED, ("Lyell", "Hutton"), strict=True)),
    tuple(_said("assistant", "Lyell says so", "no one")),
    (1.0, 0.06),
)
WEIGHTED = Case(
    "both", ported.both, ({"prompt": "Write."}, {"prompt": "Draw."}), ("abba", "c"), (2.0 + 0.0, 1.0 - 0.75)
)
HOSTED = Case(
    "hosted",
    ported.hosted,
    (_numbers(1, "Use 1 and 7."), _numbers(2, "Use 2 and 7.")),
    ("1 + 7", "7"),
    (2.0 + 0.1 + 0.6, 0.2 + 0.6 + 0.1),
)
CASES = [DELAYED, WEIGHTED, HOSTED]
START, LATER = rk.Progress(1, 10), rk.Progress(5, 10)
