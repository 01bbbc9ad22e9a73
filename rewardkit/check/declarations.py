"""Declarations: what the author promises about a reward, in addition to examples.

``Declarations(rankings=[["", "<answer>41</answer>", "<answer>42</answer>"]], invariant_to=["whitespace"])``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rewardkit.errors import RewardDefinitionError, shorten

_INVARIANCES = ("whitespace", "unicode", "case")


@dataclass(frozen=True)
class Declarations:
    """The author's declarations about a reward, which `check_reward` uses in addition to examples.

    ::

        check_reward(
            reward,
            examples=[{"answer": "42"}],
            good=["<answer>42</answer>"],
            declarations=Declarations(distractors=["97"], invariant_to=["whitespace"]),
        )

    In a reward file, write each declaration as a constant in capitals: ``INVARIANT_TO = ["whitespace"]`` for all
    rewards in the file, or ``CLOSENESS_INVARIANT_TO`` for the reward `closeness`.

    Attributes:
        is_correct: (text, row) -> whether a completion is correct. If this function is given, the search also tries
            completions that contain the gold answer.
        distractors: answers that are incorrect for every example. `check_reward` raises an error if one of them may
            equal a gold answer.
        rankings: lists of completions for the first example, in which no completion is worse than the one before it.
            ``(number, [...])`` is a list for the example with this number.
        invariant_to: the kinds of edits that must not change a score: ``"whitespace"``, ``"unicode"``, ``"case"``.
        margin: the minimum amount by which each good completion must score above each bad one.
        other_rewards: other rewards that the trainer adds to this one. A reward that judges only part of the answer is
            not at fault for accepting an incorrect completion if the sum distinguishes that completion from a correct
            one.
        environment: an environment class, or a function that creates an environment, as for TRL's
            ``environment_factory``. Each completion's tool calls run in a fresh environment, which is reset with the
            row, and the real results replace those in the completion. Required for ``rk.agents.final_state`` and
            ``rk.agents.environment_reward``.
        tools: functions that completions can call. They run in the same way. Without `environment` and `tools`, the
            results written in the completion are used.
        noop_examples: the indices of the examples for which calling no tool is correct.
        seconds_per_completion: the number of seconds that one completion may take before the reward counts as hanging.

    Raises:
        RewardDefinitionError: `invariant_to` has an unknown name, or a list is given as a string.
    """

    is_correct: Callable[[str, Mapping[str, Any]], bool] | None = None
    distractors: Sequence[str] = ()
    rankings: Sequence[Any] = ()
    invariant_to: Sequence[str] = ()
    margin: float = 0.0
    other_rewards: Sequence[Any] = ()
    environment: Callable[[], Any] | None = None
    tools: Sequence[Callable[..., Any]] = ()
    noop_examples: Sequence[int] = ()
    seconds_per_completion: float = 8.0

    def __post_init__(self) -> None:
        for name in ("distractors", "rankings", "invariant_to"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise RewardDefinitionError(f"{name}= must be a list, got {shorten(value)}. Put it in brackets")
        unknown = sorted(set(self.invariant_to) - set(_INVARIANCES))
        if unknown:
            raise RewardDefinitionError(f"unknown invariant_to={unknown}. Use {', '.join(map(repr, _INVARIANCES))}")
        for name in ("distractors", "invariant_to", "other_rewards", "noop_examples"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "rankings", tuple(map(_ranking, self.rankings)))


NAMES = tuple(field.name for field in fields(Declarations))


def with_declarations(constants: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a module's constants to `check_reward` options. Declarations are collected in one `Declarations`."""
    declared = {name: value for name, value in constants.items() if name in NAMES}
    others = {name: value for name, value in constants.items() if name not in NAMES}
    return {**others, "declarations": Declarations(**declared)} if declared else others


def _ranking(ranking: Sequence[Any]) -> tuple[int, tuple[Any, ...]]:
    """Parse a ranking: ``["bad", "better", "best"]`` is for the first example, ``(2, [...])`` for the third."""
    if len(ranking) == 2 and isinstance(ranking[0], int) and not isinstance(ranking[1], str):
        return ranking[0], tuple(ranking[1])
    return 0, tuple(ranking)
