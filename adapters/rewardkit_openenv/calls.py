"""Calls of rubrics: a completion is played as one step, or as the steps of an episode, and the last score counts."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar, final
from weakref import WeakKeyDictionary

from rewardkit.core.batch.journals import Watch
from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardFailure, shorten
from rewardkit.core.tree.fingerprints import described, source
from rewardkit_openenv.trees import has_state, nodes

_OUTAGES = {"RateLimitError", "InternalServerError", "APIConnectionError", "TransportError"}
"""Classes of exceptions of LLM clients that the completion does not cause."""
_LOCKS: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
_ASYNC_LOCKS: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()
_MAKING = threading.Lock()
_PLAIN = (str, int, float, type(None))

Lock = TypeVar("Lock", threading.Lock, asyncio.Lock)

Step = tuple[Any, Any]
"""An action, and the observation that it led to."""


def finished_step(completion: str, example: dict[str, Any]) -> Step:
    """Return the step of a completion where the user says nothing else: its text, and the end of an episode."""
    return completion, SimpleNamespace(**{"done": True, "reward": None, "metadata": dict(example), **example})


@final
@dataclass(frozen=True)
class Play:
    """How a rubric is called for a completion.

    Attributes:
        root: the rubric that is reset before each completion.
        rubric: the one that scores: the root, or one inside.
        step: returns the step of a completion, or a list of steps.
        reset: prepares the root for a completion; its further arguments are bound by name.
        names: the arguments of `step`, and the further ones of `reset`.
        text: describes the rubric, for the fingerprint.
    """

    root: Any
    rubric: Any
    step: Callable[..., Any]
    reset: Callable[..., Any] | None
    names: tuple[tuple[str, ...], tuple[str, ...]]
    text: str = field(compare=False)

    @property
    def remembers(self) -> bool:
        """Whether the score of a completion may depend on what was called before, so that none may be in between."""
        return self.reset is not None or has_state(self.root)

    def steps(self, given: Mapping[str, Any]) -> Iterator[Step]:
        """Reset the rubrics, and yield the steps of one completion."""
        for node in nodes(self.root):  # OpenEnv's containers do not pass it on
            node.reset()
        of_step, of_reset = ({name: given[name] for name in names if name in given} for names in self.names)
        if self.reset is not None:
            self.reset(self.root, **of_reset)
        played = self.step(**of_step)
        for one in _listed(played):
            for node in nodes(self.rubric):
                node.last_score = None
            yield one

    def score(self, result: Any) -> Any:
        """Return the result of the last step, with the scores of the rubrics inside as parts."""
        inside = {path: node.last_score for path, node in self.rubric.named_rubrics()}
        parts = {path: float(score) for path, score in inside.items() if _is_number(score)}
        return Score(float(result), parts=parts) if parts and _is_number(result) else result

    def describe(self) -> str:
        """Return the text for the fingerprint."""
        return f"Play({self.text}, {described(self.step)}, {described(self.reset)})"


def _listed(played: Any) -> list[Step]:
    steps = played if isinstance(played, list) else [played]
    if not steps or not all(isinstance(one, tuple) and len(one) == 2 for one in steps):
        raise TypeError(
            f"step returned {shorten(played)} ({type(played).__name__}). Return an action and an observation, or a "
            "list of such pairs"
        )
    return steps


def _is_number(score: Any) -> bool:
    return isinstance(score, (int, float)) and math.isfinite(score)


@final
@dataclass(frozen=True)
class RubricCall:
    """Call a rubric for one completion after another."""

    play: Play

    def __call__(self, **given: Any) -> Any:
        with _lock(_LOCKS, self.play.root, threading.Lock), failing():
            result = None
            for action, observation in self.play.steps(given):
                result = _driven(self.play.rubric(action, observation))
            return self.play.score(result)


@final
@dataclass(frozen=True)
class AsyncRubricCall:
    """Await a rubric, for several completions at a time if it remembers nothing."""

    play: Play

    async def __call__(self, **given: Any) -> Any:
        if not self.play.remembers:
            return await self._result(given)
        async with _lock(_ASYNC_LOCKS, self.play.root, asyncio.Lock):
            return self.play.score(await self._result(given))

    async def _result(self, given: Mapping[str, Any]) -> Any:
        with failing():
            result = None
            for action, observation in self.play.steps(given):
                result = self.play.rubric(action, observation)
                if inspect.isawaitable(result):
                    result = await result
            return result


def _lock(locks: WeakKeyDictionary[Any, Lock], root: Any, make: Callable[[], Lock]) -> Lock:
    with _MAKING:
        return locks.setdefault(root, make())


def _driven(result: Any) -> Any:
    """Return the result of a coroutine that waits for nothing, as containers return them inside an event loop."""
    if not inspect.iscoroutine(result):
        return result
    try:
        result.send(None)
    except StopIteration as done:
        return done.value
    result.close()
    raise TypeError("forward is not async, but returned a coroutine that waits. Write it as `async def forward`")


@contextmanager
def failing() -> Iterator[None]:
    """Raise a `RewardFailure` where something outside does not answer: the completion is not to blame."""
    try:
        yield
    except Exception as error:
        if Watch().is_outage(error) or any(kind.__name__ in _OUTAGES for kind in type(error).__mro__):
            raise RewardFailure(f"{type(error).__name__}: {error}") from error
        raise


def text_of(rubric: Any) -> str:
    """Return the classes, the code and the settings of a tree of rubrics, without what they remember."""
    return "; ".join(
        f"{type(node).__qualname__}({settings_of(node)}) {source(type(node).forward)}" for node in nodes(rubric)
    )


def settings_of(rubric: Any) -> dict[str, Any]:
    """Return the plain attributes of a rubric."""
    held = {name: value for name, value in vars(rubric).items() if name != "last_score"}
    return {name: value for name, value in held.items() if isinstance(value, _PLAIN)}
