"""A worker process, which loads the reward and scores the batches that the server sends.

A reward that only computes scores one batch after another; a reward that waits scores many batches at a time. `main`
communicates with the server through a socket. Messages are pickled tuples: the server sends (number, rows, progress,
num_generations), and the worker answers with (number, scores), or with (number, text) if there are no scores and the
text is the reason. In that case, if the batch has several rows, the server sends them again, one by one. The worker
exits when the server is gone.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import socket
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

from rewardkit.errors import (
    BindingError,
    CoercionError,
    RewardBug,
    RewardFailure,
    RewardKitError,
    RunStopped,
)
from rewardkit.online.breaker import Limits
from rewardkit.online.rows import Row, unscored
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.progress.progress import Progress
from rewardkit.scoring.processes import one_reward
from rewardkit.tree.reward import bindings
from rewardkit.workers.frames import receive, send

COMPUTING, WAITING = 1, 32
"""The number of batches that a worker scores at a time, for a reward that only computes and for a reward that waits for
something. The numbers are arbitrary: Python computes one batch at a time, and waiting batches use only memory."""
OFFERS = TrainerInputs(
    "the reward server",
    step=True,
    groups=True,
    ids=True,
    instead="A request is not a training batch.",
)


@final
@dataclass(frozen=True)
class Described:
    """The description of a reward that a worker sends after it has loaded the reward.

    Attributes:
        together: the unit of rows that must be scored together: ``"sample"`` or ``"group"``.
        waits: whether the reward waits for something during scoring.
        deterministic: whether equal rows get equal scores.
        bounds: the lowest and the highest total.
    """

    fingerprint: str
    expression: str
    terms: tuple[str, ...]
    components: tuple[str, ...]
    together: str
    scheduled: bool
    waits: bool
    deterministic: bool
    bounds: tuple[float, float]


@final
@dataclass(frozen=True)
class Setup:
    """The settings that a worker needs to load its reward."""

    target: str
    special_tokens: tuple[str, ...] = ()
    record: str | None = None
    path: tuple[str, ...] = ()


def scorer_of(setup: Setup) -> RowScorer:
    """Return a worker's scorer. Failures never stop the scorer, because trainers have their own limits."""
    return RowScorer(
        one_reward(setup.target),
        OFFERS,
        special_tokens=setup.special_tokens,
        record=setup.record,
        limits=Limits(max_failure_rate=1.0, max_error_rate=1.0),
    )


def describe_reward(scorer: RowScorer) -> Described:
    """Return the description of the scorer's reward."""
    inner_scorer = scorer.scorer
    return Described(
        inner_scorer.reward.fingerprint,
        repr(inner_scorer.reward),
        tuple(inner_scorer.terms),
        tuple(inner_scorer.components),
        inner_scorer.together,
        inner_scorer.scheduled,
        inner_scorer.waits,
        all(binding.deterministic for _, binding in bindings(inner_scorer.reward)),
        inner_scorer.reward.bounds,
    )


def main(worker_socket: socket.socket) -> None:
    """Run the worker: score batches until the server closes the socket, and then end this process."""
    with worker_socket:
        _serve(worker_socket)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads may still run a reward that no one waits for


def _serve(worker_socket: socket.socket) -> None:
    setup: Setup = pickle.loads(receive(worker_socket))
    sys.path[:0] = [folder for folder in setup.path if folder not in sys.path]
    try:
        scorer = scorer_of(setup)
        hello: Any = describe_reward(scorer)
    except RewardKitError as error:
        with contextlib.suppress(OSError):  # the other workers have already reported it
            send(worker_socket, pickle.dumps(str(error)))
        return
    with contextlib.suppress(OSError):  # the server is gone, which is noticed below
        send(worker_socket, pickle.dumps(hello))
    gc.collect()
    gc.freeze()  # exempt loaded objects from garbage collection, which would cause long pauses
    writing = threading.Lock()
    threads = ThreadPoolExecutor(WAITING if hello.waits else COMPUTING)
    process = os.getpid()

    def answer(message: bytes) -> None:
        try:
            number, rows, progress, num_generations = pickle.loads(message)
            scores = _scores(scorer, rows, progress, num_generations)
            if os.getpid() != process:
                os._exit(0)  # a reward has forked, and the copy must not answer as well
            reply = pickle.dumps((number, scores), pickle.HIGHEST_PROTOCOL)
            with writing:
                send(worker_socket, reply)
        except BaseException:  # a reward has closed the socket, and the server would wait forever for the answer
            os._exit(1)

    try:
        while True:
            threads.submit(answer, receive(worker_socket))
    except (EOFError, OSError):
        scorer.flush()


def _scores(scorer: RowScorer, rows: Sequence[Row], progress: Progress | None, num_generations: int | None) -> Any:
    try:
        step = None if progress is None else progress.step
        return scorer.score(rows, progress=progress, num_generations=num_generations, step=step)
    except RunStopped as error:
        inner_scorer = scorer.scorer
        reason = f"the reward cannot score anything: {error}"
        return [unscored(tuple(inner_scorer.terms), tuple(inner_scorer.components), reason)] * len(rows)
    except (BindingError, CoercionError, RewardBug, RewardFailure) as error:  # concerns a whole group
        return str(error)
    except BaseException as error:  # no exception may lose the rows
        return f"the reward could not be run: {type(error).__name__}: {error}"
