"""Laws of environments: the same calls get the same score, harmless calls do no harm, and an outage gives no score.

These laws run if ``Declarations(environment=Shop)`` names the environment in which a policy acts.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from rewardkit.batch.batch import Batch
from rewardkit.batch.environments import journals, tools_of
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import Outcome
from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Variant, finding, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, result_in_row
from rewardkit.check.variants.episodes.actions import judged_actions
from rewardkit.check.variants.episodes.messages import Made, inserted, known_results, messages_of, repeatable_calls
from rewardkit.check.variants.episodes.stage import Stage, least_arguments

_WHERE = "no environment was given. Pass declarations=Declarations(environment=Shop)"
_DEEPEST = 12
"""The depth to which an environment's state is read. Arbitrary: states are a few levels deep, but objects may refer
to themselves."""


def _needs_environment(subject: RewardUnderTest) -> None:
    """Raise `Skip` if no correct completions were given, or no environment to run them in."""
    needs_good(subject)
    if subject.stage.environment is None:
        raise Skip(_WHERE)


@law(
    advice="Judge the final state, not the number or order of the calls",
    skip="no tried call left the environment unchanged",
    applies=_needs_environment,
    per=judged_actions,
)
def no_op_tolerated(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """A policy looks around before it acts, so a harmless call must not make a correct episode worthless.

    A call that raised no error and left the environment unchanged is inserted before each correct completion. The
    episode must score higher than doing nothing.
    """
    idle = Trial([{"role": "assistant", "content": "I could not find it."}], right.example)
    for call in _harmless_calls(subject, right.example) if Trajectory.of(right.completion).calls else ():
        yield None
        (nothing,) = subject.see([idle])
        if nothing.scored and nothing.value < right.value:
            before = inserted([], [call], known_results(right.completion))
            message = (
                f"with the harmless call {call[0]} before it, a correct episode scores {{score}}, which is not "
                "more than doing nothing scores"
            )
            yield Variant(Trial([*before, *messages_of(right.completion)], right.example), message, "more", idle)


def _harmless_calls(subject: RewardUnderTest, example: int) -> Iterator[Made]:
    """Yield calls that change and raise nothing: one per tool, with minimal arguments or those of a correct call."""
    row = {**subject.examples[example].shown}
    right = [
        call
        for completion in subject.examples[example].good
        for call in repeatable_calls(Trajectory.of(completion).calls)
    ]
    right_arguments: dict[str, Mapping[str, Any]] = dict(right)
    for name, signature in subject.stage.names().items():
        for arguments in ({}, least_arguments(signature), right_arguments.get(name)):
            if arguments is None:
                continue
            if _is_harmless(subject.stage.make(row), name, arguments):
                yield name, arguments
                break


def _is_harmless(environment: Any, name: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a call raises nothing, leaves the state unchanged, and returns the same result a second time."""
    results = []
    for _ in range(2):
        before = _state(environment)
        try:
            results.append(str(getattr(environment, name)(**copy.deepcopy(dict(arguments)))))
        except Exception:
            return False
        if before is None or _state(environment) != before:
            return False
    return results[0] == results[1] and not results[0].startswith("<coroutine")


def _state(environment: Any) -> str | None:
    """Return an environment's state as text, or None if part of the state cannot be read."""
    try:
        attributes = {name: value for name, value in vars(environment).items() if not name.startswith("_rewardkit")}
        return "".join(_written(attributes, 0))
    except (_Hidden, RecursionError):
        return None


class _Hidden(Exception):
    """Raised for a value whose state cannot be read."""


def _written(value: Any, depth: int) -> Iterator[str]:
    """Yield the pieces of `value` as text, including everything inside it."""
    if depth > _DEEPEST:
        raise _Hidden
    if isinstance(value, Mapping):
        yield "{"
        for key, item in value.items():
            yield f"{key!r}: "
            yield from _written(item, depth + 1)
        yield "}"
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield type(value).__name__
        for item in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
            yield from _written(item, depth + 1)
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        yield type(value).__name__
        yield from _written(vars(value), depth + 1)
    elif object.__repr__(value) == repr(value):
        raise _Hidden
    else:
        yield repr(value)


@law(
    advice="Reset everything in reset(), including the last episode's state and the random numbers",
    skip="no correct completion is scored",
    applies=_needs_environment,
)
def replay_is_deterministic(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """Trainers reuse an environment after ``reset``, so leftovers from one episode must not affect the next.

    The same calls run before and after another episode in one environment. The results and the score must be the same.
    """
    rights = judged_actions(subject)
    for right in rights:
        row = subject.examples[right.example].shown
        episodes = [
            (other_right.completion, subject.examples[other_right.example].shown)
            for other_right in rights
            if other_right is not right
        ]
        episodes.append((right.completion, row))
        for other, other_row in episodes[:3]:
            yield None
            environment = subject.stage.make(row)
            first, _ = subject.stage.played(right.completion, row, environment)
            before = _scored(subject, right.example, first, environment)
            environment.reset(**copy.deepcopy(dict(other_row)))
            subject.stage.played(other, other_row, environment)
            environment.reset(**copy.deepcopy(dict(row)))
            again, _ = subject.stage.played(right.completion, row, environment)
            after = _scored(subject, right.example, again, environment)
            trial = Trial(again, right.example)
            if again != first:
                message = "after another episode and reset(), the same calls have other results"
                yield finding(subject, trial, after, message)
            elif not after.same(before):
                earned = f"{after.value:.6g} instead of {before.value:.6g}"
                message = f"after another episode and reset(), the same calls score {earned}"
                yield finding(subject, trial, after, message)


def _scored(subject: RewardUnderTest, example: int, messages: Any, environment: Any) -> Any:
    row = subject.examples[example]
    batch = Batch(
        [messages],
        prompts=None if row.prompt is None else [row.prompt],
        columns={name: [value] for name, value in row.columns.items()},
        context={"environments": [environment]},
        rollouts=RolloutInfo(**journals([environment])),
    )
    return result_in_row(subject.scorer.score(batch, strict=False), 0)


@law(
    advice="Do not catch ConnectionError and TimeoutError in the environment or in the reward. Do not "
    "turn them into a score",
    applies=_needs_environment,
)
def outage_is_failed(subject: RewardUnderTest) -> Iterator[Finding]:
    """An environment that does not respond is not evidence about the policy, so the row must not give a learning
    signal.

    A tool or ``reset`` raises a ConnectionError. The row must then fail and have no score.
    """
    kind = subject.stage.environment
    if not isinstance(kind, type):
        raise Skip("environment= is not a class, so no outage can be simulated in it")
    for right in judged_actions(subject)[:1]:
        calls = Trajectory.of(right.completion).calls
        names = [call.name for call in calls[:1] if call.name in dict(tools_of(kind))]
        for name in [*names, "reset"]:
            stage = Stage(_down(kind, name), subject.stage.tools)
            row = subject.examples[right.example].shown
            environment = stage.make(row)
            messages, _ = stage.played(right.completion, row, environment)
            score = _scored(subject, right.example, messages, environment)
            if score.outcome is not Outcome.FAILED:
                trial = Trial(messages, right.example)
                message = f"with a ConnectionError in {name}, the row's outcome is {score.outcome} instead of failed"
                yield finding(subject, trial, score, message)


def _down(kind: type, name: str) -> type:
    """Return a subclass of `kind` in which the method `name` raises a ConnectionError."""
    original = getattr(kind, name)

    def down(self: Any, *args: Any, **arguments: Any) -> Any:
        raise ConnectionError("the environment is down")

    down.__name__, down.__doc__ = name, original.__doc__
    return type(kind.__name__, (kind,), {name: down, "__module__": kind.__module__})
