"""Prepares a recorded run for `rewardkit.analysis.suspicious`, and returns the leads.

``leads_of("runs/x")[0].title`` is the first lead on the page.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.analysis.foreign_golds import ForeignScores
from rewardkit.analysis.suspicious import Evidence, Lead, suspicious
from rewardkit.core.tree.conversion import RewardLike
from rewardkit.store.run import open_run
from rewardkit.viewer.rescoring import rescored
from rewardkit.viewer.scores import OUTCOMES, Floats, Integers, Scores
from rewardkit.viewer.watcher import Watched

AGAIN = 60.0
"""Seconds between two searches for leads in a running run."""


def leads_of(path: str | os.PathLike[str], *, reward: RewardLike | None = None) -> list[Lead]:
    """Return the leads of a recorded run, strongest first, as the *Suspicious* tab shows them.

    ``[lead.title for lead in leads_of("runs/x") if lead.strength >= 0.5]``. The ``rows`` of a lead index the result of
    `read_evidence`, which also has the texts.

    Args:
        path: the run's folder, or a URL that fsspec supports.
        reward: score a sample again with the gold answers of other prompts; see `read_evidence`.

    Raises:
        NotARun: there is no recorded run at `path`.
        RewardKitError: the reward cannot score the completions of this run.
    """
    return suspicious(read_evidence(path, reward=reward))


def read_evidence(path: str | os.PathLike[str], *, reward: RewardLike | None = None) -> Evidence:
    """Read a recorded run as the input of `suspicious`.

    ``evidence.completions(np.array(lead.rows))`` returns the texts that a lead refers to. Change the input with
    `dataclasses.replace`, for example its ``seed`` or the ``monitored`` components.

    Args:
        path: the run's folder, or a URL that fsspec supports.
        reward: the reward of the run, if it was recorded without a radar: at most about 4,000 completions, whole groups
            spread evenly over the steps, are scored again with the gold answers of other prompts. This runs the
            reward's code; judges, tested programs and functions that wait are left out. By default no code runs.

    Raises:
        NotARun: there is no recorded run at `path`.
        RewardKitError: the reward cannot score the completions of this run.
    """
    return evidence_of(watched_run(path), reward)


def watched_run(path: str | os.PathLike[str]) -> Watched:
    """Read a recorded run into memory, once.

    Raises:
        NotARun: there is no recorded run at `path`.
    """
    watched = Watched(os.fspath(path), Path(path), open_run(path))
    watched.load(first=True)
    return watched


class Search:
    """Searches one run for leads and keeps the result."""

    def __init__(self) -> None:
        self.leads: list[Lead] = []
        self.scores: Scores | None = None
        self._number = -1
        self._found = 0.0
        self._lock = threading.Lock()

    def is_fresh(self, watched: Watched) -> bool:
        """Return whether the result is recent enough."""
        return self._number == watched.number or (self._number >= 0 and time.monotonic() - self._found < AGAIN)

    def run(self, watched: Watched) -> None:
        """Search for leads, unless another page has just done so. Takes seconds, so call it in a thread."""
        with self._lock:
            if self.is_fresh(watched):
                return
            number, scores = watched.number, watched.scores
            self.leads = suspicious(evidence_of(watched))
            self.scores, self._number, self._found = scores, number, time.monotonic()


def evidence_of(watched: Watched, reward: RewardLike | None = None) -> Evidence:
    """Return a run in memory as the input of `suspicious`; see `read_evidence`."""
    scores = watched.scores
    names = np.array([*OUTCOMES, ""])
    declared = {one["name"]: one for version in watched.versions for one in json.loads(version["components"])}
    return Evidence(
        steps=scores.step,
        prompts=scores.prompt,
        totals=scores.total,
        components=scores.components,
        training=scores.training,
        advantages=None if np.isnan(scores.advantage).all() else scores.advantage,
        lengths=scores.length if scores.length_known else None,
        maximum_length=_limit(watched),
        outcomes={name: names[codes] for name, codes in scores.outcomes.items()},
        completions=_texts(watched, scores),
        prompt_texts=_prompts(watched, scores),
        columns=_columns(watched, scores),
        reads={name: one.get("reads", ()) for name, one in declared.items() if name in scores.components},
        bounds={name: _bounds(one) for name, one in declared.items() if name in scores.components},
        monitored=frozenset(name for name, one in declared.items() if _is_monitored(one) and name in scores.components),
        calls=scores.calls if scores.has_turns else None,
        repeated_calls=scores.repeated if scores.has_turns else None,
        unfinished=_unfinished(scores) if scores.has_turns else None,
        foreign=_foreign(scores) if reward is None else rescored(watched, reward),
        gates={
            name: (steps.astype(np.int64), rates) for name, (steps, rates) in watched.metrics.named("gates/").items()
        },
    )


def _unfinished(scores: Scores) -> Floats:
    return np.where(np.isnan(scores.turns), np.nan, (scores.stop != "answered").astype(np.float64))


def _foreign(scores: Scores) -> ForeignScores | None:
    """Return what the radar recorded for the newest version of the reward: other versions paid for other things."""
    known = np.flatnonzero(~np.isnan(scores.foreign_total))
    if not known.size:
        return None
    other = scores.version != scores.version[known[-1]]
    found = scores.foreign_own, scores.foreign_total, scores.foreign_form
    return ForeignScores(*(np.where(other, np.nan, one) for one in found))


def _texts(watched: Watched, scores: Scores) -> Callable[[Integers], Sequence[str]]:
    def read(rows: Integers) -> Sequence[str]:
        keys = [getattr(scores, name)[rows].tolist() for name in ("attempt", "rank", "part", "row")]
        query = (
            "select k.n, c.completion from (select unnest(?) a, unnest(?) r, unnest(?) p, unnest(?) w, unnest(?) n) k "
            "join completions c on c.attempt = k.a and c.rank = k.r and c.part = k.p and c.row = k.w"
        )
        found = [""] * len(rows)
        for place, text in watched.run.sql(query, [*keys, list(range(len(rows)))]).fetchall():
            found[place] = text or ""
        return found

    return read


def _prompts(watched: Watched, scores: Scores) -> Callable[[Integers], Sequence[str]]:
    texts = watched.prompts.texts

    def read(rows: Integers) -> Sequence[str]:
        return [texts[code] if code < len(texts) else "" for code in scores.prompt[rows].tolist()]

    return read


def _columns(watched: Watched, scores: Scores) -> Callable[[Integers], Sequence[Mapping[str, Any]]]:
    texts, read = watched.prompts.columns, dict[int, Mapping[str, Any]]()

    def cells(code: int) -> Mapping[str, Any]:
        if code not in read:
            read[code] = json.loads(texts[code]) if code < len(texts) and texts[code] else {}
        return read[code]

    return lambda rows: [cells(code) for code in scores.prompt[rows].tolist()]


def _is_monitored(component: Mapping[str, Any]) -> bool:
    return "monitor" in str(component.get("kind", "")).lower()


def _bounds(component: Mapping[str, Any]) -> tuple[float, float]:
    low, high = component["bounds"]
    return -np.inf if low is None else float(low), np.inf if high is None else float(high)


def _limit(watched: Watched) -> float | None:
    """Return the trainer's limit in tokens, if it was recorded and lengths are in tokens."""
    if watched.scores.length_unit != "tokens":
        return None
    limit = watched.metrics.training.get("limit/tokens")
    return None if limit is None else float(limit[1][-1])
