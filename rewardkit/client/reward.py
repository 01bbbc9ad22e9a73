"""rk.remote: a reward that a server scores, with the terms of the served reward."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.client.connection import Refused, Server, answer, check_installed, rows_scored
from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, Fault, Outcome
from rewardkit.core.errors import RewardBug, RewardDefinitionError, RewardFailure, RunStopped, shorten
from rewardkit.core.processes.background import in_background
from rewardkit.core.progress.bounds import Bounds
from rewardkit.core.tree.algebra import weighted_sum_of
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.parameters import Parameter, Scope
from rewardkit.core.tree.results import Raised
from rewardkit.core.tree.reward import Calls, Evaluation, Facts, Reward, Steps

_RAW = "raw"
"""The part of a term that holds the component's raw value."""
_ERRORED, _FAILED = "errored/", "failed/"
"""Before the name of a term: the part of the total that marks rows on which its component has a bug."""


@final
@dataclass(frozen=True)
class Ask:
    """Sends rows of a batch to the server that serves a reward with this fingerprint."""

    server: Server
    reward: str
    groups: bool

    async def __call__(self, batch: Batch, rows: Sequence[int]) -> list[dict[str, Any] | RewardFailure]:
        more: dict[str, Any] = {}
        if batch.progress is not None and batch.progress.max_steps:
            more["progress"] = {"step": batch.progress.step, "max_steps": batch.progress.max_steps}
        sent = [_row(batch, row) for row in rows]
        if not self.groups:
            return await rows_scored(self.server, self.reward, sent, more)
        sizes = np.unique(batch.groups[rows], return_counts=True)[1].tolist()
        asked, start = [], 0
        for size, run in itertools.groupby(sizes):  # groups of one size share requests
            stop = start + size * len(list(run))
            part = rows_scored(self.server, self.reward, sent[start:stop], {**more, "num_generations": size}, size)
            asked.append(part)
            start = stop
        return [one for part in await asyncio.gather(*asked) for one in part]


def _row(batch: Batch, row: int) -> dict[str, Any]:
    """Return one row as JSON."""
    sent: dict[str, Any] = {"completion": _plain(batch.completions[row])}
    if batch.prompts is not None:
        sent["prompt"] = _plain(batch.prompts[row])
    if batch.columns:
        sent["columns"] = {name: _plain(values[row]) for name, values in batch.columns.items()}
    if batch.completion_ids is not None:
        sent["completion_ids"] = [int(token) for token in batch.completion_ids[row]]
    if batch.rollouts.cut is not None:
        sent["cut"] = bool(batch.rollouts.cut[row])
    if batch.rollouts.runs_calls:
        sent["runs_calls"] = True
    return sent


def _plain(value: Any) -> Any:
    """Return what JSON can carry, and NaN and infinities, which the server reads; other objects as their text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(cell) for name, cell in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(cell) for cell in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


@final
@dataclass(frozen=True)
class Remote(Reward):
    """The total of a served reward.

    Attributes:
        terms: the names of its terms.
        identity: the fingerprint of the served reward.
    """

    server: Server
    terms: tuple[str, ...]
    identity: str
    limits: Bounds
    together: Scope
    scheduled: bool
    deterministic: bool

    @cached_property
    def facts(self) -> Facts:
        return Facts(
            name="remote",
            bounds=self.limits,
            logged=False,
            sees=self.together,
            together=self.together,
            binding=self._binding,
        )

    @cached_property
    def _binding(self) -> Binding:
        parameters = (Parameter("progress", "progress"),) if self.scheduled else ()
        return Binding(
            Ask(self.server, self.identity, self.together == "group"),
            parameters,
            self.together,
            self.deterministic,
            trusted=True,
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        batch = evaluation.batch
        where = np.flatnonzero(rows).tolist()
        binding = self._binding
        (found,) = yield Calls(self, binding.function, [(batch, where)], [None], binding, quiet=True)
        column = Column.empty(batch.size)
        if isinstance(found, Raised):
            if isinstance(found.error, RunStopped):
                raise found.error
            found = [RewardFailure(str(found.error))] * len(where)
        faults: list[Fault] = []
        for row, score in zip(where, found, strict=True):
            faults += self._fill(column, row, score, evaluation)
        evaluation.faulted(faults)
        return column

    def _fill(self, column: Column, row: int, score: Any, evaluation: Evaluation) -> list[Fault]:
        """Write the scores of one row into the column; return its faults."""
        if isinstance(score, RewardFailure):
            column.codes[row] = FAILED
            column.notes[row] = json.dumps({"": str(score)})
            return [Fault("", row, Outcome.FAILED, str(score))]
        reasons = "; ".join(score["reasons"])
        column.notes[row] = json.dumps(score["notes"])
        if score["total"] is None:
            failed = [name for name, outcome in score["outcomes"].items() if outcome == Outcome.FAILED]
            column.codes[row] = FAILED if failed else ABSTAINED
            terms = [name for name in failed if name in self.terms]
            self._mark(column, row, terms, _FAILED)
            name = terms[0] if len(terms) == 1 else ""
            reason = reasons.removeprefix(f"{name}: ")
            return [Fault(name, row, Outcome.FAILED, reason, unparsable=score["unparsable"])] if failed else []
        column.values[row], column.codes[row] = score["total"], SCORED
        for kind, values in (("terms", score["terms"]), ("components", score["components"])):
            for name, value in values.items():
                if value is not None:
                    part = column.parts.setdefault(f"{kind}/{name}", np.full(len(column.values), np.nan))
                    part[row] = value
        errored = [name for name, outcome in score["outcomes"].items() if outcome == Outcome.ERRORED]
        if errored and evaluation.strict:
            raise RewardBug(f"the served reward has a bug, on row {row} of the batch: {reasons}")
        # A bug in a component without a term, such as the condition of a gate, counts for all terms.
        terms = [name for name in errored if name in self.terms] or (list(self.terms) if errored else [])
        self._mark(column, row, terms, _ERRORED)
        return [Fault(name, row, Outcome.ERRORED, reasons.removeprefix(f"{name}: ")) for name in errored]

    def _mark(self, column: Column, row: int, terms: Sequence[str], kind: str) -> None:
        for term in terms:
            column.parts.setdefault(f"{kind}{term}", np.full(len(column.values), np.nan))[row] = 1.0

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def describe(self) -> str:
        """Return what identifies the reward: not where it is served."""
        return f"Remote({self.identity!r})"

    def __repr__(self) -> str:
        return f"remote({self.server.url!r})"


@final
@dataclass(frozen=True)
class RemoteTerm(Reward):
    """One term of a served reward."""

    remote: Remote
    term: str

    @cached_property
    def facts(self) -> Facts:
        scope = self.remote.together
        return Facts(
            name=self.term,
            bounds=(-math.inf, math.inf),
            children=(self.remote,),
            sees=scope,
            together=scope,
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (whole,) = yield [(self.remote, rows)]
        absent = np.full(len(rows), np.nan)
        values = whole.parts.get(f"terms/{self.term}", absent)
        column = Column.empty(len(rows))
        scored = rows & ~np.isnan(values)
        column.values[scored], column.codes[scored] = values[scored], SCORED
        column.codes[rows & ~scored] = ABSTAINED
        # A bug counts as one here, too: it scores the lowest bound, and stops the run if it is frequent.
        column.codes[rows & ~np.isnan(whole.parts.get(f"{_ERRORED}{self.term}", absent))] = ERRORED
        lost = rows & (whole.codes == FAILED)
        named = np.zeros_like(lost)
        for part, values in whole.parts.items():
            if part.startswith(_FAILED):
                named |= ~np.isnan(values)
        own = ~np.isnan(whole.parts.get(f"{_FAILED}{self.term}", absent))
        column.codes[lost & (own | ~named)] = FAILED
        for row in np.flatnonzero(rows).tolist():
            notes = json.loads(whole.notes.get(row, "{}"))
            if note := notes.get(self.term) or notes.get(""):
                column.notes[row] = note
        raw = whole.parts.get(f"components/{self.term}")
        if raw is not None:
            column.parts[_RAW] = np.where(rows, raw, np.nan)
        return column

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def describe(self) -> str:
        """Return what identifies the term."""
        return f"RemoteTerm({self.remote.describe()}, {self.term!r})"

    def __repr__(self) -> str:
        return f"{self.remote!r}[{self.term!r}]"


def remote(url: str, *, deadline: float = 120.0, wait: float = 30.0) -> Reward:
    """Return the reward that `rewardkit serve` serves at an address: ``rk.to_trl(rk.remote("http://host:8000"))``.

    It has the terms of the served reward, with their names and values, so totals are the same as if it ran here. The
    raw value of a component is the part ``raw`` of its term; components that are only monitored stay on the server.
    Rows are sent in requests of up to 64, several at a time. A lost connection, a restart or a full queue is tried
    again until the deadline; then the row has failed and gets no learning signal. The token is read from the
    environment variable REWARDKIT_TOKEN.

    Args:
        url: the address, without a path.
        deadline: seconds for a row, all tries together.
        wait: seconds to wait for the server now, to learn its terms.

    Raises:
        RewardDefinitionError: there is no server, or it serves something else.
        RunStopped: the server refuses the token.
        MissingExtraError: the extra ``remote`` is not installed.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise RewardDefinitionError(f"remote takes an address such as 'http://host:8000', got {shorten(url)}")
    if not deadline > 0:
        raise RewardDefinitionError(f"deadline= is a number of seconds above 0, got {shorten(deadline)}")
    check_installed()
    server = Server(url.rstrip("/"), float(deadline))
    try:
        said = in_background(answer(server, "GET", "/reward", None, time.monotonic() + wait)).result()
    except RunStopped:
        raise
    except (RewardFailure, Refused) as error:
        raise RewardDefinitionError(
            f"remote: {error}. Start the server first: rewardkit serve reward.py:reward"
        ) from None
    try:
        served = Remote(
            server,
            tuple(said["terms"]),
            said["fingerprint"],
            (_bound(said["bounds"][0], -math.inf), _bound(said["bounds"][1], math.inf)),
            said["together"],
            said["scheduled"],
            said["deterministic"],
        )
    except (KeyError, TypeError, ValueError):
        raise RewardDefinitionError(f"remote: {server.url} is no reward server: it answers {shorten(said)}") from None
    return weighted_sum_of([(1.0, RemoteTerm(served, term)) for term in served.terms])


def _bound(said: float | None, infinite: float) -> float:
    return infinite if said is None else float(said)
