"""A case of a set: a reward function with its examples, and the proof of its fault if it has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A reward function as its author would check it.

    Attributes:
        name: of the case, once in its set.
        reward: a function in TRL's form, or of one completion.
        examples: two to four rows.
        good: a right completion of each row.
        bad: an ordinary wrong completion of each row.
        fault: what goes wrong and when; empty for a sound one.
        proof: raises AssertionError if the fault is not there.
        source: where the fault was reported, if it was.
    """

    name: str
    reward: Callable[..., Any]
    examples: Sequence[dict[str, Any]]
    good: Sequence[Any]
    bad: Sequence[Any]
    fault: str = ""
    proof: Callable[[], None] | None = None
    source: str = ""
