"""Select training data: ``select(Scored.of(saved("scored.parquet")), Keep(most=1), Path("sft.jsonl")).text()``.

The data is read twice: for an index of prompts and scores, then for the rows that are needed. Rows that wait for the
other row of their pair do so in a temporary file.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.batch import Numbers
from rewardkit.core.errors import DataError
from rewardkit.data.files import Row
from rewardkit.replay.selection.files import written
from rewardkit.replay.selection.layouts import Layout
from rewardkit.replay.selection.report import ALIKE, EQUAL, LOW, NARROW, SINGLE, UNSCORED, Selection
from rewardkit.replay.selection.rules import ROUNDING, Keep, Pairs, Rule
from rewardkit.replay.selection.scored import Index, Scored

_ROWS = 4096


def select(scored: Scored, rule: Rule, out: Path | None = None) -> Selection:
    """Write what `rule` selects, and say how much it is.

    Args:
        scored: the data.
        rule: `Keep` writes rows with ``prompt``, ``completion`` and ``score``, in the order of the data; `Pairs` writes
            ``prompt``, ``chosen`` and ``rejected``, prompt by prompt.
        out: .jsonl, .csv or .parquet; None to only count.

    Raises:
        DataError: the data cannot be read, `out` cannot be written, or there is nothing to write.
    """
    return _keep(scored, rule, out) if isinstance(rule, Keep) else _pair(scored, rule, out)


def _keep(scored: Scored, rule: Keep, out: Path | None) -> Selection:
    index = scored.index()
    kept = rule.rows(index.groups, index.scores)
    there = len(np.unique(index.groups[~np.isnan(index.scores)]))
    chosen = len(np.unique(index.groups[kept]))
    found = Selection(
        rule,
        index,
        number=int(kept.sum()),
        prompts=chosen,
        means={"kept": float(index.scores[kept].mean()) if kept.any() else np.nan},
        without={UNSCORED: index.prompts - there, LOW: there - chosen},
    )
    if out is not None:
        _check_any(found)
        layout = Layout.of_kept(scored, chat=index.chat)
        with written(out, layout) as add:
            for _, row in _rows(scored, kept):
                add(layout.row(row))
    return found


def _pair(scored: Scored, rule: Pairs, out: Path | None) -> Selection:
    index = scored.index()
    without: Counter[str] = Counter()
    needed = np.zeros(len(index.groups), dtype=np.bool_)
    sums, number, prompts = np.zeros(2), 0, 0
    for pairs in _paired(index, rule, without):
        prompts += 1
        for sides in map(list, pairs):
            needed[sides] = True
            sums += index.scores[sides]
            number += 1
    means = sums / number if number else np.full(2, np.nan)
    found = Selection(rule, index, number, prompts, {"chosen": means[0], "rejected": means[1]}, without)
    if out is not None:
        _check_any(found)
        layout = Layout.of_pairs(scored, chat=index.chat)
        with written(out, layout) as add, tempfile.TemporaryFile() as file:
            places = _set_aside(scored, needed, file)
            for pairs in _paired(index, rule, Counter()):
                for chosen, rejected in pairs:
                    add(layout.row(_row(file, places[chosen]), _row(file, places[rejected])))
    return found


def _paired(index: Index, rule: Pairs, without: Counter[str]) -> Iterator[Iterator[tuple[int, int]]]:
    """Yield the pairs of each prompt that has one, as rows; count in `without` why the others have none."""
    rows = np.flatnonzero(~np.isnan(index.scores))
    rows = rows[np.argsort(index.groups[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(index.groups[rows], prepend=-1))
    without[UNSCORED] += index.prompts - len(starts)
    stops = np.append(starts[1:], len(rows))[: len(starts)]
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        group = rows[start:stop].tolist()
        scores, texts = index.scores[group].tolist(), index.texts[group].tolist()
        if next(rule.of(scores, texts), None) is not None:
            yield ((group[chosen], group[rejected]) for chosen, rejected in rule.of(scores, texts))
        else:
            without[_why_none(scores, rule)] += 1


def _why_none(scores: list[float], rule: Pairs) -> str:
    difference = max(scores) - min(scores)
    if len(scores) == 1:
        return SINGLE
    if difference <= ROUNDING:
        return EQUAL
    return ALIKE if rule.wide(difference) else NARROW


def _check_any(found: Selection) -> None:
    if not found.number:
        raise DataError(f"there is nothing to write. {found.text()}")


def _rows(scored: Scored, needed: NDArray[np.bool_]) -> Iterator[tuple[int, Row]]:
    """Yield the needed rows with their numbers, in order."""
    start = 0
    for chunk in scored.saved.chunks(_ROWS):
        there = np.flatnonzero(needed[start : start + len(chunk)]).tolist()
        if there:
            rows = chunk.rows()
            yield from ((start + at, rows[at]) for at in there)
        start += len(chunk)


def _set_aside(scored: Scored, needed: NDArray[np.bool_], file: IO[bytes]) -> Numbers:
    """Write the needed rows to a file; return (n,) their places in it."""
    places = np.zeros(len(needed), dtype=np.int64)
    for number, row in _rows(scored, needed):
        places[number] = file.tell()
        pickle.dump(row, file, pickle.HIGHEST_PROTOCOL)
    return places


def _row(file: IO[bytes], place: Any) -> Row:
    file.seek(place)
    row: Row = pickle.load(file)
    return row
