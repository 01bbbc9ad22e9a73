"""Pools: separate actors in a cluster for a reward's slow functions.

::

    pools = Pools.start(load, sizes_of(reward, cpus=64, gpus=0))
    tree = pools.sending(load())  # its judges, sandboxes, and computer algebra now run in the pools

Only function calls are sent to the pools. The tree itself is evaluated in the process that has the rows. As usual, if a
gate is closed, no judge is called behind it, and equal rows are scored once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, final

from rewardkit.errors import DataError, RewardFailure
from rewardkit.tree.algebra import changed
from rewardkit.tree.evaluation.calls import Pending
from rewardkit.tree.leaf import rebound
from rewardkit.tree.results import Raised
from rewardkit.tree.reward import Calls, Reward, bindings
from rewardkit.workers import worker

# Send calls to a pool of actors, many in one message: ``Line(name, actors, 64, 2).sent(0, ("4", "2+2"), {})``.


class _Call(NamedTuple):
    place: int
    values: tuple[Any, ...]
    named: dict[str, Any]
    future: Future[Any]


@final
class Line:
    """The queue of calls from one process to one pool.

    Args:
        name: the pool's name.
        actors: the actors, each with a method ``results(place, calls)``.
        together: the maximum number of calls in one message.
        ahead: the maximum number of unanswered messages from this process to one actor.
    """

    def __init__(self, name: str, actors: Sequence[Any], together: int, ahead: int) -> None:
        self._name = name
        self._actors = actors
        self._together = together
        self._waiting = [0] * len(actors)
        self._lock = threading.Lock()
        self._room = threading.Semaphore(ahead * len(actors))
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        threading.Thread(target=self._send, name=f"rewardkit pool {name}", daemon=True).start()

    def sent(self, index: int, values: tuple[Any, ...], named: dict[str, Any]) -> Future[Any]:
        """Add one call to the queue, and return its future."""
        future: Future[Any] = Future()
        self._calls.put(_Call(index, values, named, future))
        return future

    def _send(self) -> None:
        deferred: _Call | None = None
        while True:
            calls = [deferred or self._calls.get()]
            deferred = None
            self._room.acquire()
            while len(calls) < self._together and deferred is None:
                try:
                    next_call = self._calls.get_nowait()
                except Empty:
                    break
                if next_call.place == calls[0].place:
                    calls.append(next_call)
                else:
                    deferred = next_call
            live_calls = [call for call in calls if call.future.set_running_or_notify_cancel()]
            if live_calls:
                self._dispatch(live_calls)
            else:
                self._room.release()

    def _dispatch(self, calls: list[_Call]) -> None:
        with self._lock:
            actor_index = self._waiting.index(min(self._waiting))
            self._waiting[actor_index] += 1
        try:
            reply = self._actors[actor_index].results.remote(
                calls[0].place, [(call.values, call.named) for call in calls]
            )
            reply.future().add_done_callback(lambda future: self._answered(actor_index, calls, future))
        except Exception as error:  # the arguments cannot be sent
            self._settle(actor_index, calls, [Raised(error)] * len(calls))

    def _answered(self, actor_index: int, calls: list[_Call], future: Future[Any]) -> None:
        error = future.exception()
        if error is None:
            self._settle(actor_index, calls, future.result())
            return
        reason = f"the pool {self._name!r} did not answer: {str(error).splitlines()[0]}"
        self._settle(actor_index, calls, [Raised(RewardFailure(reason))] * len(calls))

    def _settle(self, actor_index: int, calls: list[_Call], results: list[Any]) -> None:
        with self._lock:
            self._waiting[actor_index] -= 1
        self._room.release()
        for call, result in zip(calls, results, strict=True):
            call.future.set_result(result)


Load = Callable[[], Reward]
"""A function that returns the reward in any process in the cluster."""

_START_SECONDS = 300.0
"""The number of seconds to wait for the pools' actors. The limit is arbitrary, but long because a cluster that starts
machines for the pools needs minutes."""


@dataclass(frozen=True)
class _Kind:
    """The resources for one actor in a pool.

    Attributes:
        cpus, gpus: the resources that the actor reserves.
        together: the maximum number of calls in one message.
        at_once: the number of messages that the actor handles concurrently.
        most: the maximum number of actors, or None for no limit.
    """

    cpus: float
    together: int
    at_once: int
    gpus: float = 0.0
    most: int | None = None


# Arbitrary numbers: cheap calls share a message, while a sandbox takes one call at a time.
_KINDS: Mapping[str, _Kind] = {
    "mathematics": _Kind(cpus=1.0, together=64, at_once=2),
    "sandboxes": _Kind(cpus=1.0, together=1, at_once=1),
    # One process for the whole cluster, so that its limits, breaker, budget and cache apply to all judges together.
    "judges": _Kind(cpus=0.0, together=64, at_once=256, most=1),
    "models": _Kind(cpus=1.0, gpus=1.0, together=64, at_once=4),
}


def sizes_of(reward: Reward, cpus: int, gpus: int, pool_sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the number of actors for each pool that `reward` needs. Pools for computation share the cores.

    Args:
        pool_sizes: the sizes that the user chose.

    Raises:
        DataError: `pool_sizes` names a pool that the reward does not need.
    """
    needed = {name for name in _pools(reward) if name}
    chosen = dict(pool_sizes or {})
    for name in chosen:
        if name not in needed:
            available = ", ".join(sorted(needed)) or "none"
            raise DataError(f"the reward does not use the pool {name!r}. Pools that it uses: {available}")
        if (most := _KINDS[name].most) is not None and chosen[name] > most:
            raise DataError(
                f"the pool {name!r} must have only one actor, which enforces the endpoint's limits. "
                "Remove it from --pools"
            )
    share = max(1, cpus // (1 + sum(_KINDS[name].cpus > 0 for name in needed)))
    default_sizes = {
        name: _KINDS[name].most or (gpus if _KINDS[name].gpus and gpus else share) for name in sorted(needed)
    }
    return default_sizes | chosen


def _pools(reward: Reward) -> list[str]:
    """Return the pool for each function in `reward`, or "" for a function that does not run in a pool."""
    names = [getattr(binding.function, "pool", "") if binding.trusted else "" for _, binding in bindings(reward)]
    return [name if name in _KINDS else "" for name in names]


@final
@dataclass(frozen=True)
class Pools:
    """The running pools. They are picklable, so that every actor that evaluates the tree can send calls.

    Attributes:
        actors: pool -> the actors in the pool.
    """

    actors: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def start(cls, load: Load, sizes: Mapping[str, int], share: float = 1.0, *, gpus: bool = False) -> Pools:
        """Start the pools, and wait until their actors have loaded the reward.

        Args:
            load: a function that returns the reward in another process.
            sizes: pool -> the number of actors in the pool.
            share: the fraction of a core that an actor reserves for each core that it needs.
            gpus: whether the cluster has GPUs for reward models.

        Raises:
            DataError: the cluster does not have enough resources for the pools.
        """
        import ray

        actors: dict[str, list[Any]] = {}
        for name, size in sizes.items():
            kind = _KINDS[name]
            options = {"num_cpus": share * kind.cpus, "num_gpus": kind.gpus * gpus, "max_concurrency": kind.at_once}
            actor_class = ray.remote(Worker).options(**options, max_restarts=-1, max_task_retries=-1)
            actors[name] = [actor_class.remote(load) for _ in range(size)]
        ready_calls = [actor.ready.remote() for pool in actors.values() for actor in pool]
        try:
            ray.get(ready_calls, timeout=_START_SECONDS)
        except ray.exceptions.GetTimeoutError:
            summary = ", ".join(f"{name}={size}" for name, size in sizes.items())
            raise DataError(
                f"the cluster did not have enough room for the pools ({summary}) within {_START_SECONDS:.0f} s. "
                "Pass smaller pools with --pools"
            ) from None
        return cls(actors)

    def sending(self, reward: Reward) -> Reward:
        """Return a copy of `reward` that sends calls of its slow functions to the pools."""
        if not self.actors:
            return reward
        lines = {
            name: Line(name, actors, _KINDS[name].together, _KINDS[name].at_once + 1)
            for name, actors in self.actors.items()
        }
        indices = {node: number for number, (node, _) in enumerate(bindings(reward))}
        pools = _pools(reward)

        def own(node: Reward) -> Reward:
            index = indices.get(node)
            if index is None or not pools[index]:
                return node
            return rebound(node, function=_Elsewhere(index, lines[pools[index]]), timeout=None)

        pooled_reward: Reward = changed(reward, own)
        return pooled_reward


@final
@dataclass(frozen=True)
class _Elsewhere:
    """A function that runs in a pool. `place` is the index of its reward in the tree's bindings."""

    place: int
    line: Line = field(compare=False)
    waits = True

    def __call__(self, *values: Any, **named: Any) -> Future[Any]:
        return self.line.sent(self.place, values, named)


@final
class Worker:
    """An actor in a pool. It runs the calls of all rewards in the tree that use the pool."""

    def __init__(self, load: Load) -> None:
        worker.MAX_PROCESSES = 1  # an actor reserves only one core
        self._functions = bindings(load())

    def ready(self) -> None:
        """Return after the reward has been loaded."""

    def results(self, index: int, calls: Sequence[tuple[tuple[Any, ...], dict[str, Any]]]) -> list[Any]:
        """Run several calls of one function, as a scorer would. An exception becomes a `Raised`."""
        node, binding = self._functions[index]
        rows: list[int | None] = [None] * len(calls)
        pending = Pending(Calls(node, _Spread(binding.function), calls, rows, binding), node.name)
        wait(pending.futures)
        return [_portable(result) for result in pending.made().results]


@final
@dataclass(frozen=True)
class _Spread:
    """An adapter that calls a function with a tuple of positional arguments and a mapping of keyword arguments."""

    function: Callable[..., Any]

    def __call__(self, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return self.function(*values, **named)


def _portable(result: Any) -> Any:
    """Return `result` in a picklable form. If an exception cannot be pickled, keep only its message."""
    import pickle

    if type(result) is not Raised:
        return result
    try:
        pickle.loads(pickle.dumps(result))
    except Exception:
        return Raised(RewardFailure(f"{type(result.error).__name__}: {result.error}"), result.rows)
    return result


def actors_left(cpus: int, sizes: Mapping[str, int]) -> int:
    """Return the number of actors that evaluate trees, one for each core that the pools do not use."""
    return max(1, cpus - sum(size for name, size in sizes.items() if _KINDS[name].cpus))
