"""``rk.remote``: a reward that a reward server computes, with the served reward's terms."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import os
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Rows
from rewardkit.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, Fault, Outcome
from rewardkit.errors import (
    MissingExtraError,
    RewardBug,
    RewardDefinitionError,
    RewardFailure,
    RunStopped,
    shorten,
    shorten_line,
)
from rewardkit.progress.bounds import Bounds
from rewardkit.tree.algebra import weighted_sum_of
from rewardkit.tree.binding import Binding
from rewardkit.tree.parameters import Parameter, Scope
from rewardkit.tree.results import Raised
from rewardkit.tree.reward import Calls, Evaluation, NodeSpec, Reward, Steps
from rewardkit.workers.background import in_background
from rewardkit.workers.backoff import Backoff

if TYPE_CHECKING:
    import httpx


# The connection to a reward server: requests with retries, in this process's background event loop.


TOKEN = "REWARDKIT_TOKEN"
"""The environment variable that contains the token."""
LARGEST = 64
"""The maximum number of rows per request. The limit is arbitrary, but small enough that the server's workers share a
batch."""
_AT_ONCE = 16
"""The maximum number of concurrent requests per event loop. The limit is arbitrary: more requests would only wait on
the server."""
# Seconds. Arbitrary: a busy server answers soon, and a restart takes seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
# Statuses to retry: a timeout, too early, too many requests, or a server or proxy that is restarting.
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
# Statuses that every later request would also get: no token, forbidden, or a wrong address.
_STOPS = (401, 403, 404, 405)
_SHARE = 0.9
"""The share of the remaining time that the server gets. The rest is for the server's reply, which contains the rows
that have a score."""


class Refused(Exception):
    """The server refused this request because of an invalid row or too many rows, but may accept part of it."""


@final
@dataclass(frozen=True)
class Server:
    """A reward server's address, and the time limit for the server's answers.

    Attributes:
        url: the address without a path, such as ``http://host:8000``.
        deadline: the time limit per row for all attempts combined, in seconds.
    """

    url: str
    deadline: float = 120.0

    @property
    def headers(self) -> dict[str, str]:
        """The request headers. The token is read for each request, so that it is never pickled.

        Raises:
            RunStopped: the token contains characters that are not allowed in a header.
        """
        token = os.environ.get(TOKEN, "").strip()
        if not (token.isascii() and token.isprintable()):
            raise RunStopped(f"{TOKEN} may contain only printable ASCII characters. Set it to the server's token")
        return {"Authorization": f"Bearer {token}"} if token else {}

    def describe(self) -> str:
        """Return the key that identifies the reward, which does not depend on the address."""
        return "Server"


async def rows_scored(
    server: Server, reward: str, rows: Sequence[Mapping[str, Any]], more: Mapping[str, Any], size: int = 1
) -> list[dict[str, Any] | RewardFailure]:
    """Return each row's scores, or the reason why the row does not have scores.

    Args:
        reward: the fingerprint that the served reward must have.
        more: the other entries in each request: progress and num_generations.
        size: the size of groups that must stay together.

    Raises:
        RunStopped: the server refuses every request (an invalid token, a different service), or it serves a different
            reward.
    """
    until = time.monotonic() + server.deadline
    step = max(1, LARGEST // size) * size
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    part_scores = await asyncio.gather(*[_part_scored(server, reward, part, more, size, until) for part in parts])
    return [score for part in part_scores for score in part]


async def _part_scored(
    server: Server,
    reward: str,
    rows: Sequence[Mapping[str, Any]],
    more: Mapping[str, Any],
    size: int,
    until: float,
) -> Sequence[dict[str, Any] | RewardFailure]:
    try:
        reply = await answer(server, "POST", "/score", {"rows": rows, **more}, until)
        scores, served = list(reply["rows"]), reply["reward"]
    except RunStopped:
        raise
    except RewardFailure as error:
        return [error] * len(rows)
    except Refused as error:
        if len(rows) <= size:
            return [RewardFailure(str(error))] * len(rows)
        middle = len(rows) // size // 2 * size
        halves = [rows[:middle], rows[middle:]]
        half_scores = await asyncio.gather(*[_part_scored(server, reward, half, more, size, until) for half in halves])
        return [score for half in half_scores for score in half]
    except (KeyError, TypeError):
        return [RewardFailure(f"{server.url} returned a response that does not contain scores")] * len(rows)
    if served != reward:
        raise RunStopped(
            f"{server.url} serves a different reward than when rk.remote was called: {served}, not {reward}. Serve the "
            "previous reward again, or call rk.remote again and start a new training run"
        )
    if len(scores) != len(rows):
        return [RewardFailure(f"{server.url} returned {len(scores)} scores for {len(rows)} rows")] * len(rows)
    return scores


async def answer(server: Server, method: str, path: str, content: Mapping[str, Any] | None, until: float) -> Any:
    """Return the server's JSON answer to a request; retry until the time `until` (`time.monotonic`).

    Raises:
        RunStopped: the server refuses every request.
        Refused: the server refuses this request.
        RewardFailure: there was no answer in time, or the answer is not JSON.
    """
    import httpx

    client, slots = _client(httpx)
    backoff, last = Backoff(_FIRST_PAUSE, _LONGEST_PAUSE, until - time.monotonic()), "no answer"
    while backoff.left:
        retry_after = 0.0
        try:
            async with slots:
                # A timeout of 0 would fail at once.
                seconds_left = max(0.1, backoff.left)
                body = None if content is None else _body({**content, "deadline": _SHARE * seconds_left})
                response = await client.request(
                    method, server.url + path, content=body, headers=server.headers, timeout=seconds_left
                )
        except httpx.InvalidURL as error:
            raise RunStopped(f"{server.url} is not an address: {error}") from None
        except httpx.HTTPError as error:
            last = f"{type(error).__name__}: {error}".rstrip(": ")
        else:
            if response.status_code == httpx.codes.OK:
                return _json(server, response)
            last = f"status {response.status_code}: {shorten_line(response.text, 300)}"
            if response.status_code in _STOPS:
                raise RunStopped(f"{server.url}{path} rejects the request with {last}{_advice(response.status_code)}")
            if response.status_code not in _AGAIN:
                raise Refused(f"{server.url}{path} rejects the request with {last}")
            retry_after = _seconds(response.headers.get("retry-after", ""))
        await asyncio.sleep(backoff.pause(retry_after))
    raise RewardFailure(f"{server.url} did not answer within {server.deadline:g} s. The last attempt: {last}")


def _body(content: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(content).encode()  # ASCII, so half a surrogate pair also passes
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"a row cannot be sent as JSON: {error}") from None


def _json(server: Server, response: httpx.Response) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError):
        raise RewardFailure(f"{server.url} did not return JSON: {shorten_line(response.text, 300)}") from None


def _advice(status: int) -> str:
    if status in (401, 403):
        return f". Set {TOKEN} to the server's token"
    return ". Pass the address of `rewardkit serve` without a path"


def _seconds(header: str) -> float:
    return float(header) if header.isdigit() else 0.0


_clients: weakref.WeakKeyDictionary[Any, tuple[int, httpx.AsyncClient, asyncio.Semaphore]] = weakref.WeakKeyDictionary()
"""Event loop -> process id, HTTP client, and request slots. A forked process needs new loops and connections."""


def _client(httpx: Any) -> tuple[httpx.AsyncClient, asyncio.Semaphore]:
    loop = asyncio.get_running_loop()
    process, client, slots = _clients.get(loop, (0, None, None))
    if process != os.getpid() or client is None or slots is None:
        # 30 seconds: less than the 75 for which the server keeps a connection open.
        limits = httpx.Limits(max_connections=_AT_ONCE, max_keepalive_connections=_AT_ONCE, keepalive_expiry=30.0)
        client, slots = httpx.AsyncClient(limits=limits, trust_env=False), asyncio.Semaphore(_AT_ONCE)
        _clients[loop] = os.getpid(), client, slots
    return client, slots


def check_installed() -> None:
    """Raise MissingExtraError if httpx is not installed."""
    try:
        import httpx  # noqa: F401
    except ImportError as error:
        raise MissingExtraError.of("rk.remote", "remote") from error


_RAW = "raw"
"""The part of a term that contains the component's raw value."""
_ERRORED, _FAILED = "errored/", "failed/"
"""Prefixes for parts of the total that mark, for each term, the rows in which its component has a bug or failed."""


@final
@dataclass(frozen=True)
class Ask:
    """A function that sends a batch's rows to `server`, which must serve the reward with the fingerprint `reward`."""

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
        requests, start = [], 0
        for size, run in itertools.groupby(sizes):  # groups of the same size share requests
            stop = start + size * len(list(run))
            part = rows_scored(self.server, self.reward, sent[start:stop], {**more, "num_generations": size}, size)
            requests.append(part)
            start = stop
        return [score for part in await asyncio.gather(*requests) for score in part]


def _row(batch: Batch, row: int) -> dict[str, Any]:
    """Return a row in a batch as JSON values."""
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
    """Return `value` as JSON values.

    NaN and infinities, which the server accepts, are unchanged; other objects become text.
    """
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
        terms: the names of the served reward's terms.
        identity: the served reward's fingerprint.
    """

    server: Server
    terms: tuple[str, ...]
    identity: str
    limits: Bounds
    together: Scope
    scheduled: bool
    deterministic: bool

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(
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
        row_indices = np.flatnonzero(rows).tolist()
        binding = self._binding
        (scores,) = yield Calls(self, binding.function, [(batch, row_indices)], [None], binding, quiet=True)
        column = Column.empty(batch.size)
        if isinstance(scores, Raised):
            if isinstance(scores.error, RunStopped):
                raise scores.error
            scores = [RewardFailure(str(scores.error))] * len(row_indices)
        faults: list[Fault] = []
        for row, score in zip(row_indices, scores, strict=True):
            faults += self._fill(column, row, score, evaluation)
        evaluation.faulted(faults)
        return column

    def _fill(self, column: Column, row: int, score: Any, evaluation: Evaluation) -> list[Fault]:
        """Write a row's scores to `column`, and return the row's faults."""
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
            raise RewardBug(f"the served reward has a bug: it failed on row {row} of the batch: {reasons}")
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
        """Return the key that identifies the reward, without the address."""
        return f"Remote({self.identity!r})"

    def __repr__(self) -> str:
        return f"remote({self.server.url!r})"


@final
@dataclass(frozen=True)
class RemoteTerm(Reward):
    """A term of a served reward."""

    remote: Remote
    term: str

    @cached_property
    def facts(self) -> NodeSpec:
        scope = self.remote.together
        return NodeSpec(
            name=self.term,
            bounds=(-math.inf, math.inf),
            children=(self.remote,),
            sees=scope,
            together=scope,
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (remote_column,) = yield [(self.remote, rows)]
        absent = np.full(len(rows), np.nan)
        values = remote_column.parts.get(f"terms/{self.term}", absent)
        column = Column.empty(len(rows))
        scored = rows & ~np.isnan(values)
        column.values[scored], column.codes[scored] = values[scored], SCORED
        column.codes[rows & ~scored] = ABSTAINED
        # A bug on the server also counts as one here: it scores the lowest bound, and stops the run if frequent.
        column.codes[rows & ~np.isnan(remote_column.parts.get(f"{_ERRORED}{self.term}", absent))] = ERRORED
        lost = rows & (remote_column.codes == FAILED)
        named = np.zeros_like(lost)
        for part, values in remote_column.parts.items():
            if part.startswith(_FAILED):
                named |= ~np.isnan(values)
        term_failed = ~np.isnan(remote_column.parts.get(f"{_FAILED}{self.term}", absent))
        column.codes[lost & (term_failed | ~named)] = FAILED
        for row in np.flatnonzero(rows).tolist():
            notes = json.loads(remote_column.notes.get(row, "{}"))
            if note := notes.get(self.term) or notes.get(""):
                column.notes[row] = note
        raw = remote_column.parts.get(f"components/{self.term}")
        if raw is not None:
            column.parts[_RAW] = np.where(rows, raw, np.nan)
        return column

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def describe(self) -> str:
        """Return the key that identifies the term."""
        return f"RemoteTerm({self.remote.describe()}, {self.term!r})"

    def __repr__(self) -> str:
        return f"{self.remote!r}[{self.term!r}]"


# Arbitrary defaults: twice the server's own deadline for a row, and enough time for a server that starts together
# with the trainer.
def remote(url: str, *, deadline: float = 120.0, wait: float = 30.0) -> Reward:
    """Return the reward that `rewardkit serve` provides at a URL: ``rk.to_trl(rk.remote("http://host:8000"))``.

    The remote reward has the same terms as the served reward, with the same names and values, so totals are the same as
    if the served reward ran locally. A component's raw value is the part ``raw`` of its term. Components that are only
    monitored stay on the server. Rows are sent in requests of up to 64 rows, with several requests at a time. After a
    lost connection, a server restart, or a full queue, a request is retried until the deadline. After the deadline, its
    rows fail and do not provide a learning signal. The token is read from the environment variable REWARDKIT_TOKEN.

    Args:
        url: the address without a path.
        deadline: the time limit per row for all attempts combined, in seconds.
        wait: the seconds to wait for the server during this call, which requests the terms from the server.

    Raises:
        RewardDefinitionError: no reward server responds at `url`.
        RunStopped: the server rejects the token.
        MissingExtraError: the extra ``remote`` is not installed.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise RewardDefinitionError(f"remote expects an address such as 'http://host:8000', got {shorten(url)}")
    if not deadline > 0:
        raise RewardDefinitionError(f"deadline= must be a number of seconds greater than 0, got {shorten(deadline)}")
    check_installed()
    server = Server(url.rstrip("/"), float(deadline))
    try:
        description = in_background(answer(server, "GET", "/reward", None, time.monotonic() + wait)).result()
    except RunStopped:
        raise
    except (RewardFailure, Refused) as error:
        raise RewardDefinitionError(
            f"remote: {error}. Start the server first: rewardkit serve reward.py:reward"
        ) from None
    try:
        served = Remote(
            server,
            tuple(description["terms"]),
            description["fingerprint"],
            (_bound(description["bounds"][0], -math.inf), _bound(description["bounds"][1], math.inf)),
            description["together"],
            description["scheduled"],
            description["deterministic"],
        )
    except (KeyError, TypeError, ValueError):
        raise RewardDefinitionError(
            f"remote: {server.url} is not a reward server: it returned {shorten(description)}"
        ) from None
    return weighted_sum_of([(1.0, RemoteTerm(served, term)) for term in served.terms])


def _bound(bound: float | None, infinite: float) -> float:
    return infinite if bound is None else float(bound)
