"""Every error a user can meet, and the two habits all their messages share.

A message says what happened, where (component, column, row), shows the offending value cut short,
and says what to do: ``shorten`` does the cutting, ``near_miss`` the hint.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Iterable

SHOWN_CHARACTERS = 200


class RewardKitError(Exception):
    """The root of all errors rewardkit raises on purpose."""


class RewardDefinitionError(RewardKitError):
    """A reward, a schedule or a tree was put together wrongly; raised when it is made or compiled."""


class RewardTypeError(RewardDefinitionError, TypeError):
    """Something that is no reward stands where a reward is due (or the reverse)."""


class BindingError(RewardKitError):
    """A reward asks for an argument or a column that the batch cannot give."""


class CoercionError(RewardKitError):
    """A value of a column does not fit the type that the reward's annotation asks for."""


class RewardFailure(RewardKitError):
    """Scoring had to stop: policy ``"raise"``, a reward's own bug, an unknown route, or too many faults."""


class RunStopped(RewardFailure):
    """A failure that no later sample would be spared (a wrong key, an exhausted quota): it stops the run.

    It passes whatever ``on_failure`` says.
    """


class MissingExtraError(RewardKitError, ImportError):
    """An optional dependency is not installed; the message holds the install command."""

    @classmethod
    def of(cls, feature: str, extra: str) -> MissingExtraError:
        return cls(f"{feature} needs an optional part of rewardkit: pip install 'rewardkit-sdk[{extra}]'")


class RewardKitWarning(UserWarning):
    """Something in a reward will probably not do what its author wants; training can go on."""


def warn(message: str) -> None:
    """Warns of a reward that will probably not do what its author wants."""
    # The frame that would be named is the trainer's or a thread's, never the user's.
    warnings.warn(message, RewardKitWarning, stacklevel=2)


def worth_reporting(count: int) -> bool:
    """Whether the `count`-th of many similar events is reported: the 1st, the 10th, the 100th, ..."""
    return str(count).strip("0") == "1"


def shorten(value: object, limit: int = SHOWN_CHARACTERS) -> str:
    """``repr(value)`` cut to `limit` characters, saying how much is missing; never raises."""
    if isinstance(value, str) and len(value) > limit:
        return f"{value[:limit]!r}... ({len(value):,} characters)"
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def shorten_line(text: str, limit: int = 400) -> str:
    """`text` on one line, its middle left out where it is long."""
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} ... {text[-limit // 4 :]}"


def hashable(value: object) -> bool:
    """Whether `value` can be told from others by its hash, as every part of a reward must be."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_factory(value: object) -> bool:
    """Whether `value` is one of our own functions that make rewards, not a reward function."""
    room = str(getattr(value, "__module__", "")).split(".")[:2]
    rooms = (["primitives"], ["judges"], ["aggregators"])
    return inspect.isfunction(value) and room[0] == "rewardkit" and room[1:] in rooms


def near_miss(name: object, known: Iterable[str]) -> str:
    """`` Did you mean 'answer'?`` where one of `known` is close to `name` or begins it, else the empty string."""
    there = list(known)
    begins = [one for one in there if str(name).startswith(f"{one}_")]  # exact_match: exact
    close = list(dict.fromkeys([*begins, *difflib.get_close_matches(str(name), there, n=2, cutoff=0.6)]))[:2]
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
