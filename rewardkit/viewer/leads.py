"""From a recorded run to what `rewardkit.analysis.suspicious` looks at, and the leads that it finds.

``leads_of("runs/x")[0].title`` is what the page shows first.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rewardkit.analysis.suspicious import Evidence, Lead, suspicious
from rewardkit.store.run import open_run
from rewardkit.viewer.scores import OUTCOMES, Integers, Scores
from rewardkit.viewer.watcher import Watched

AGAIN = 60.0
"""Seconds after which the leads of a run that goes on are looked for anew."""


def leads_of(path: str | os.PathLike[str]) -> list[Lead]:
    """The leads of a recorded run, strongest first: what the page's tab *Suspicious* shows.

    ``[lead.title for lead in leads_of("runs/x") if lead.strength >= 0.5]``. The ``rows`` of a lead are those of
    `read_evidence`, which has the texts.

    Args:
        path: the run's folder, or an address that fsspec knows.

    Raises:
        NotARun: there is no recorded run.
    """
    return suspicious(read_evidence(path))


def read_evidence(path: str | os.PathLike[str]) -> Evidence:
    """All that is known of a recorded run, as `suspicious` takes it.

    ``evidence.completions(np.array(lead.rows))`` are the texts that a lead speaks of; `dataclasses.replace` changes
    what it says (another ``seed``, a component that is ``monitored``).

    Args:
        path: the run's folder, or an address that fsspec knows.

    Raises:
        NotARun: there is no recorded run.
    """
    watched = Watched(os.fspath(path), Path(path), open_run(path))
    watched.load(first=True)
    return evidence_of(watched)


class Search:
    """The leads of one run, looked for when they are asked for."""

    def __init__(self) -> None:
        self.leads: list[Lead] = []
        self.scores: Scores | None = None
        self._number = -1
        self._found = 0.0

    def fresh(self, watched: Watched) -> bool:
        """Whether there is no need to look again."""
        return self._number == watched.number or (self._number >= 0 and time.monotonic() - self._found < AGAIN)

    def look(self, watched: Watched) -> None:
        """Takes seconds; for a thread."""
        number, scores = watched.number, watched.scores
        self.leads = suspicious(evidence_of(watched))
        self.scores, self._number, self._found = scores, number, time.monotonic()


def evidence_of(watched: Watched) -> Evidence:
    """All that is known of a run as plain arrays."""
    scores = watched.scores
    names = np.array([*OUTCOMES, ""])
    bounds, monitored = _declared(watched)
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
        bounds={name: bound for name, bound in bounds.items() if name in scores.components},
        monitored=frozenset(monitored & set(scores.components)),
        gates={
            name: (steps.astype(np.int64), rates) for name, (steps, rates) in watched.metrics.named("gates/").items()
        },
    )


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


def _declared(watched: Watched) -> tuple[dict[str, tuple[float, float]], set[str]]:
    """The bounds of the components, and those that only watch."""
    bounds: dict[str, tuple[float, float]] = {}
    monitored: set[str] = set()
    for version in watched.versions:
        for one in json.loads(version["components"]):
            low, high = one["bounds"]
            bounds[one["name"]] = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
            if "monitor" in str(one.get("kind", "")).lower():
                monitored.add(one["name"])
    return bounds, monitored


def _limit(watched: Watched) -> float | None:
    """The tokens at which the trainer cuts a completion, where it told and lengths are in tokens."""
    if watched.scores.length_unit != "tokens":
        return None
    told = watched.metrics.training.get("limit/tokens")
    return None if told is None else float(told[1][-1])
