"""Labels for a run's completions: ``Labels(file, watched).texts`` is "good", "bad", "exploit", or "none" per row.

`examples_of` and `regressions_of` convert labels to input files for ``rewardkit check``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from rewardkit.page.label_file import OWN, VERDICT, Label, LabelFile, Line
from rewardkit.page.scores import Scores
from rewardkit.record.queries import text_or_messages, whole_rows
from rewardkit.record.run import Run
from rewardkit.record.schema import Key
from rewardkit.scoring.regressions import Regression

NONE = "none"
"""The search term for completions without a label."""


class Recorded(Protocol):
    """A run in memory whose completions are labeled."""

    @property
    def name(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def run(self) -> Run: ...
    @property
    def scores(self) -> Scores: ...


class Labels:
    """One run's labels."""

    def __init__(self, file: LabelFile, watched: Recorded) -> None:
        self.file = file
        self.watched = watched
        self._cached: tuple[int, str, dict[Key, Label]] = (-1, "", {})
        self._rows: tuple[int, int, dict[int, Label]] = (-1, -1, {})

    def of(self, key: Key) -> Label | None:
        """Return a completion's label, or None if it does not have a label."""
        return self._labels().get(key)

    def __len__(self) -> int:
        return len(self._labels())

    @property
    def by_row(self) -> dict[int, Label]:
        """The labels by row in the scores."""
        numbers = self.file.number, self.watched.number
        if self._rows[:2] != numbers:
            labels = self._labels()
            keys = np.array(list(labels), dtype=np.int64).reshape(-1, 4)
            rows = self.watched.scores.index.places(keys).tolist()
            self._rows = *numbers, {row: label for row, label in zip(rows, labels.values(), strict=True) if row >= 0}
        return self._rows[2]

    @property
    def texts(self) -> list[str]:
        """Each completion's label (n,), for searches."""
        texts = [NONE] * len(self.watched.scores)
        for row, label in self.by_row.items():
            texts[row] = label.label
        return texts

    def put(self, row: int, label: Label | None) -> None:
        """Label a completion, or remove its label if `label` is None.

        Raises:
            RewardKitError: the file cannot be written.
        """
        watched, key = self.watched, self.watched.scores.key(row)
        if label is None:
            self.file.remove(self._run, key)
        else:
            facts, columns = facts_of(watched, row), columns_of(watched, row)
            self.file.put(Line.of(self._run, key, label, facts, columns))

    def lines(self) -> list[Line]:
        """Return the lines for this run's labels, in file order."""
        return [line for line in self.file.lines if line.run == self._run]

    @property
    def _run(self) -> str:
        return str(self.watched.run.info["id"])

    def _labels(self) -> dict[Key, Label]:
        number, run, labels = self._cached
        if (number, run) != (self.file.number, self._run):
            number, labels = self.file.number, self.file.of(self._run)
            self._cached = number, self._run, labels
        return labels


def facts_of(watched: Recorded, row: int) -> dict[str, Any]:
    """Return the information to save with a completion's label: prompt, step, version, total, and components."""
    scores = watched.scores
    total = float(scores.total[row])
    components = {name: float(values[row]) for name, values in scores.components.items()}
    return {
        "run_name": watched.name,
        "prompt_id": scores.prompt_ids[scores.prompt[row]],
        "step": int(scores.step[row]),
        "version": scores.versions[scores.version[row]],
        "total": None if np.isnan(total) else total,
        "components": {name: value for name, value in components.items() if not np.isnan(value)},
    }


def columns_of(watched: Recorded, row: int) -> dict[str, Any]:
    """Return the full prompt, the completion, and the data's columns."""
    (record,) = whole_rows(watched.run, [watched.scores.key(row)])
    return {
        **json.loads(record["columns"] or "{}"),
        **{name: text_or_messages(record, name) for name in ("prompt", "completion")},
    }


def calibration_data_of(lines: Iterable[Line]) -> str:
    """Return the labels as JSON Lines for `calibrate` and ``rewardkit check --data``."""
    return _jsonl(line.record for line in lines)


def examples_of(lines: Iterable[Line]) -> str:
    """Return one example per prompt, with its good and bad completions, for ``rewardkit check --examples``."""
    return _jsonl(
        {**group.columns, "good": group.of("good"), "bad": group.of("bad", "exploit")} for group in _groups(lines)
    )


def regressions_of(lines: Iterable[Line]) -> tuple[str, int]:
    """Return the exploits for ``rewardkit check --regressions``, and the number of excluded exploits.

    An exploit is excluded if its prompt does not have a good completion.
    """
    cases, lacking = [], 0
    for group in _groups(lines):
        good, exploits = tuple(group.of("good")), group.of("exploit")
        columns = dict(group.columns)
        prompt = columns.pop("prompt", None)
        if good:
            cases += [Regression(exploit, good, prompt, columns, "labeled as an exploit") for exploit in exploits]
        else:
            lacking += len(exploits)
    return _jsonl(map(asdict, cases)), lacking


@dataclass(frozen=True)
class _Group:
    """The distinct labeled completions for one prompt."""

    columns: dict[str, Any]
    labeled: dict[str, list[Any]]

    def of(self, *labels: str) -> list[Any]:
        return [completion for label in labels for completion in self.labeled.get(label, ())]


def _groups(lines: Iterable[Line]) -> Iterable[_Group]:
    groups: dict[str, _Group] = {}
    for line in lines:
        columns = {name: value for name, value in line.record.items() if name not in ("completion", VERDICT, OWN)}
        group = groups.setdefault(json.dumps(columns, sort_keys=True), _Group(columns, {}))
        same = group.labeled.setdefault(line.label.label, [])
        if line.record["completion"] not in same:
            same.append(line.record["completion"])
    return groups.values()


def _jsonl(records: Iterable[Any]) -> str:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
