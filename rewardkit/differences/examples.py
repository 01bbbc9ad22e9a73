"""The completions that a change affects most, with their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rewardkit.batch.messages import completion_text
from rewardkit.differences.components import ComponentChange
from rewardkit.differences.differences import Differences, floats_of
from rewardkit.differences.sections import Example
from rewardkit.differences.side import differ
from rewardkit.record.cells import as_json
from rewardkit.scoring.sources import Saved

_READ = 2_048
_CANDIDATES = 4
"""How many rows are read for each example that is shown, since equal completions are shown once."""


def examples_of(found: Differences, data: Saved, sources: Mapping[str, str], most: int) -> tuple[Example, ...]:
    """Return up to `most` completions: flipped advantages first, then by the size of the change."""
    rows = _order(found)[: _CANDIDATES * most].tolist()
    texts = dict(_read(data, sources, rows, sorted({*found.before.columns, *found.after.columns})))
    shown: dict[tuple[str, str], Example] = {}
    for row in rows:
        prompt, completion, columns = texts[row]
        if len(shown) < most:
            shown.setdefault((prompt, completion), _example(found, row, prompt, completion, columns))
    return tuple(shown.values())


def _order(found: Differences) -> np.typing.NDArray[np.int64]:
    """Return the affected rows, the most affected first; rows with equal changes in their order."""
    changes = np.nan_to_num(np.abs(found.after.total - found.before.total), nan=0.0)
    affected = found.changed | found.failing | found.recovered
    known = found.gradients
    if known is None:
        keys = [changes]
    else:
        turned = known.turned & affected
        keys = [changes, np.abs(known.after - known.before), turned, known.flipped & affected]
    order = np.lexsort([np.arange(len(changes)), *(-key.astype(np.float64) for key in keys), ~affected])
    return order[: int(affected.sum())]


def _read(
    data: Saved, sources: Mapping[str, str], rows: Sequence[int], names: Sequence[str]
) -> Iterator[tuple[int, tuple[str, str, dict[str, str]]]]:
    wanted, start = set(rows), 0
    for chunk in data.chunks(_READ):
        for row in range(start, start + len(chunk)) if wanted else ():
            if row in wanted:
                yield row, _texts(chunk.part(row - start, row - start + 1), data, sources, names)
        start += len(chunk)


def _texts(one: Any, data: Saved, sources: Mapping[str, str], names: Sequence[str]) -> tuple[str, str, dict[str, str]]:
    def cell(name: str) -> Any:
        theirs = sources.get(name, name)
        return one.column(theirs)[0] if theirs in data.kinds else None

    columns = {name: _text(cell(name)) for name in names if cell(name) is not None}
    return _text(cell("prompt")), _text(cell("completion")), columns


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return completion_text(value, 0)
    except Exception:  # neither text nor messages: a number, a list, an image
        return as_json(value)


def _example(found: Differences, row: int, prompt: str, completion: str, columns: Mapping[str, str]) -> Example:
    before, after, known = found.before, found.after, found.gradients
    components = {
        one.after or one.before or "": values
        for one in found.components[:-1]
        if (values := _values(found, one, row)) is not None
    }
    return Example(
        row,
        prompt,
        completion,
        columns,
        (floats_of(before.total, row), floats_of(after.total, row)),
        None if known is None else (float(known.before[row]), float(known.after[row])),
        components,
        _kind(found, row),
    )


def _values(found: Differences, one: ComponentChange, row: int) -> tuple[float | None, float | None] | None:
    """Return the values of a component in a row before and after; None if they are the same."""
    old = None if one.before is None else found.before.components[one.before][row : row + 1]
    new = None if one.after is None else found.after.components[one.after][row : row + 1]
    if old is not None and new is not None and not differ(old, new)[0]:
        return None
    return (None if old is None else floats_of(old, 0), None if new is None else floats_of(new, 0))


def _kind(found: Differences, row: int) -> str:
    if found.failing[row]:
        return "no longer scored"
    if found.recovered[row]:
        return "newly scored"
    known = found.gradients
    if known is not None and known.flipped[row]:
        return "flip"
    if known is not None and known.turned[row]:
        if known.after[row] > 0 and known.before[row] <= 0:
            return "newly rewarded"
        if known.after[row] < 0 and known.before[row] >= 0:
            return "newly penalized"
    return "changed"
