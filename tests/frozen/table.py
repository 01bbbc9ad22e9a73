"""The frozen table: what every primitive and every composition scores, as one JSON file that a diff can show.

After an intended change of scores, list it in CHANGELOG.md and run ``python -m tests.frozen.table``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rewardkit as rk
from rewardkit.rewards.sandbox.isolation import chosen
from tests.frozen import compositions, ordinary
from tests.hostile.rewards import REWARDS
from tests.hostile.texts import TEXTS

FILE = Path(__file__).with_name("scores.json")
_STEPS = (None, 0, 5, 10)
_OUTCOMES = "safek"  # scored, abstained, failed, errored, skipped


def primitives() -> Iterator[tuple[str, list[str]]]:
    """A primitive with a text of its scores over the hostile and the ordinary completions."""
    hostile = {name: make() for name, make in TEXTS.items()}
    for name, case in REWARDS.items():
        reward = case.make()
        programs = reward.name.startswith("code_")
        if programs and not _sandboxed():
            continue
        few = {text: hostile[text] for text in list(hostile)[::20]}
        formed = {text: case.form(made) for text, made in (few if programs else hostile).items()}
        completions = {"": case.right, " ": case.wrong, **formed, **ordinary.TEXTS}
        yield f"primitive: {name}", _scores(reward, list(completions.values()), case.columns)


def compositions_() -> Iterator[tuple[str, list[str]]]:
    """A composition at a step of training, with its total, its terms and its components."""
    rows = compositions.rows()
    for name, make in compositions.COMPOSITIONS.items():
        for step in _STEPS:
            progress = None if step is None else rk.Progress(step, 10)
            table = rk.Scorer(make()).score(rows.batch(progress), strict=False)
            yield f"composition: {name}, step {step}, total", _shown(table.total)
            for number, values in enumerate(table.terms.values()):
                yield f"composition: {name}, step {step}, term {number}", _shown(values)
            for number, column in enumerate(table.components.values()):
                yield f"composition: {name}, step {step}, component {number}", _with_outcomes(column)


def table() -> dict[str, str]:
    """Name -> scores, those in a row that are the same counted: ``0*12 1 0.5``."""
    return {name: packed(values) for make in (primitives, compositions_) for name, values in make()}


def _scores(reward: rk.Reward, completions: list[Any], columns: object) -> list[str]:
    found: list[str] = []
    assert isinstance(columns, dict)
    for start in range(0, len(completions), 64):  # each is a group by itself
        part = completions[start : start + 64]
        texts = [one if isinstance(one, str) else "" for one in part]
        ids = [[ord(character) for character in text[:5_000]] for text in texts]
        batch = rk.Batch(
            part,
            prompts=[f"prompt {row}" for row in range(len(part))],
            completion_ids=ids,
            columns={name: [value] * len(part) for name, value in columns.items()},
        )
        scored = rk.Scorer(reward).score(batch, strict=False)
        found += _with_outcomes(next(iter(scored.components.values())))
    return found


def _with_outcomes(column: object) -> list[str]:
    values, codes = column.values, column.codes  # type: ignore[attr-defined]
    marks = ["" if code == 0 else _OUTCOMES[code] for code in codes]
    return [mark + ("" if value == "nan" else value) for mark, value in zip(marks, _shown(values), strict=True)]


def _shown(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[str]:
    return [f"{value + 0.0:.10g}" for value in np.round(values, 10).tolist()]


def packed(values: list[str]) -> str:
    packed: list[list[object]] = []
    for value in values:
        if packed and packed[-1][0] == value:
            packed[-1][1] = int(str(packed[-1][1])) + 1
        else:
            packed.append([value, 1])
    return " ".join(f"{value}*{count}" if count != 1 else str(value) for value, count in packed)


def _sandboxed() -> bool:
    try:
        chosen(packages=False, unsafe=False)
    except rk.RewardFailure:
        return False
    return True


if __name__ == "__main__":
    FILE.write_text(json.dumps(table(), indent=0, ensure_ascii=False) + "\n")
