"""Results: checks that turn a reward function's return values and errors into scores.

``0.5``, ``True``, ``numpy.float32(0.5)`` and ``rk.Score(0.5, note="half")`` are scores. ``"0.5"``, ``[0.5]``, NaN, and
2.0 from a reward with bounds (0, 1) are errors. ``None`` means that the reward abstains, if the annotation allows it.
Scores are never clipped, and an exception never becomes a score of 0.
"""

from __future__ import annotations

import asyncio
import math
import re
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Floats
from rewardkit.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, Fault, Outcome, Score
from rewardkit.errors import SHOWN_CHARACTERS, MissingExtraError, RewardBug, RewardFailure, RunStopped, shorten
from rewardkit.progress.bounds import TOLERANCE, Bounds
from rewardkit.workers.signals import from_operator

Policy = Literal["unscorable", "raise"] | float
"""The policy for a failed sample: give it no learning signal, stop the run, or use a number as its score."""

ON_ERROR_REMEDY = "Fix the function. To score such rows instead of stopping, pass on_error=<number>"
"""Advice for a bug in a function whose wrapper has the argument ``on_error``."""

LARGEST = float(np.finfo(np.float32).max)
"""The largest float32. Trainers compute in float32, in which larger numbers are infinite."""

_TIMEOUTS = (TimeoutError, FutureTimeout, asyncio.TimeoutError)  # the same class from Python 3.11 on
_OUTAGE = re.compile(
    r"(?i)connect|transporterror|networkerror|ratelimit|unavailable|overloaded|gaierror|urlerror|rpcerror|maxretry"
    r"|readtimeout|^timeout$"
)
"""The class names of errors that mean that a service did not respond. They are only used to choose the advice in a
message. Other timeouts are not included, because a completion may cause a ``subprocess.TimeoutExpired``."""
_STOPS = (RunStopped, MissingExtraError)
"""Errors that would also occur for every later sample."""
_HERE = str(Path(__file__).resolve().parents[1])
_NUMBERS = {float, int, bool}


@dataclass(frozen=True, slots=True)
class Raised:
    """The result of a call that raised an exception.

    Attributes:
        rows: the number of rows in the call.
    """

    error: BaseException
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Abstention:
    """The result for a row to which the reward does not apply, with the reason."""

    note: str


@dataclass(frozen=True, slots=True)
class Unparsable:
    """The result for a row whose gold cell cannot be read, with the reason. No policy gives it a score."""

    reason: str


class InvalidReturn(Exception):
    """A reward function returned something that is not a score, or could not read its input.

    The message describes the problem.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(frozen=True)
class ReturnPolicy:
    """The allowed results of a reward function, and the handling of failures and bugs.

    Attributes:
        name: the name of the component.
        bounds: the lowest and the highest score.
        may_abstain: whether the function may return None.
        on_failure: the policy for scores that could not be computed.
        on_error: the policy for bugs in the function. None: while `strict`, a bug raises an exception; later, its row
            gets the lowest bound.
        remedy: advice on fixing a bug, for its error message.
        outages: exceptions, in addition to `RewardFailure` and timeouts, that mean that the score could not be
            computed.
    """

    name: str
    bounds: Bounds = (0.0, 1.0)
    may_abstain: bool = False
    on_failure: Policy = "unscorable"
    on_error: Literal["raise"] | float | None = None
    remedy: str = field(default="Fix the function", compare=False)
    outages: tuple[type[BaseException], ...] = ()

    def stand_in(self, strict: bool) -> float | None:
        """Return the score for a row in which the function had a bug, or None if the error must be raised."""
        if isinstance(self.on_error, (int, float)):
            return float(self.on_error)
        if self.on_error == "raise" or strict or not math.isfinite(self.bounds[0]):
            return None
        return self.bounds[0]


@dataclass(slots=True)
class Results:
    """The checked results of m calls.

    Values and codes have the shape (m,). Notes, parts, turns, and faults are keyed by position. ``complete`` is True if
    all calls were scored.
    """

    values: Floats
    codes: NDArray[np.int8]
    notes: dict[int, str] = field(default_factory=dict)
    parts: dict[int, dict[str, float]] = field(default_factory=dict)
    turns: dict[int, tuple[float, ...]] = field(default_factory=dict)
    faults: dict[int, Fault] = field(default_factory=dict)
    complete: bool = False


Context = Callable[[int, int], str]
"""A function: (position, rows in the call) -> a description of the row, its completion, and its arguments."""

Turns = Callable[[int], "int | None"]
"""A function: position -> the number of turns in the completion, or None if unknown."""


def ordinary_results(raw: Sequence[Any], bounds: Bounds) -> Results | None:
    """Return the results if all are plain numbers (or Scores with plain numbers) within bounds; otherwise, None."""
    notes: dict[int, str] = {}
    kinds = set(map(type, raw))
    if Score in kinds:
        scores = [(position, result) for position, result in enumerate(raw) if type(result) is Score]
        if any(score.parts or len(score.turns) for _, score in scores):
            return None
        notes = {position: str(score.note) for position, score in scores if score.note}
        raw = [result.value if type(result) is Score else result for result in raw]
        kinds = set(map(type, raw))
    if not raw or not kinds <= _NUMBERS:
        return None
    try:
        values = np.array(raw, dtype=np.float64)
    except OverflowError:
        return None
    lowest, highest = np.minimum.reduce(values), np.maximum.reduce(values)
    # A comparison with NaN is False, so NaN is not ordinary.
    within = max(bounds[0] - TOLERANCE, -LARGEST) <= lowest and highest <= min(bounds[1] + TOLERANCE, LARGEST)
    return Results(values, np.zeros(len(raw), dtype=np.int8), notes, complete=True) if within else None


def check_results(
    raw: Sequence[Any], contract: ReturnPolicy, strict: bool, context: Context, turns: Turns = lambda position: None
) -> Results:
    """Turn `raw` results into numbers with outcomes, as defined by `contract`.

    Args:
        raw: the results of m calls; `Raised` for calls that raised an exception.
        contract: the return policy, with the component's name in the tree.
        strict: raise an exception if the function has a bug.
        context: describes the row at a position, for error messages.
        turns: returns the number of turns at a position, or None if unknown.

    Raises:
        RewardBug: the function has a bug, and `strict` is True or the lower bound is not finite.
        RewardFailure: a score cannot be computed, and the policy is "raise".
    """
    errors = [result.error for result in raw if isinstance(result, Raised)]
    stop = next((error for error in errors if isinstance(error, _STOPS)), None)
    if stop is not None:  # fail all rows: the run stops anyway
        raw = [result if isinstance(result, (Abstention, Unparsable)) else Raised(stop) for result in raw]
    results = Results(np.full(len(raw), np.nan), np.full(len(raw), SCORED, dtype=np.int8))
    outages: tuple[type[BaseException], ...] = (RewardFailure, *_STOPS, *_TIMEOUTS, *contract.outages)
    for position, result in enumerate(raw):
        rows = result.rows if isinstance(result, Raised) else 1
        try:
            if isinstance(result, Raised):
                raise result.error
            _take(result, position, contract, results, turns)
        except outages as error:
            _fail(error, position, rows, contract, results, context)
        except BaseException as error:
            if from_operator(error):
                raise
            _err(error, position, rows, contract, strict, results, context)
    return results


def _take(result: Any, position: int, contract: ReturnPolicy, results: Results, turns: Turns) -> None:
    if isinstance(result, Abstention):
        results.codes[position] = ABSTAINED
        results.notes[position] = result.note
        return
    if isinstance(result, Unparsable):
        results.codes[position], results.notes[position] = FAILED, result.reason
        results.faults[position] = Fault(contract.name, position, Outcome.FAILED, result.reason, unparsable=True)
        return
    if result is None:
        if not contract.may_abstain:
            raise InvalidReturn(
                "returned None. Add the missing return. If the function should abstain, annotate `-> float | None`"
            )
        results.codes[position] = ABSTAINED
        return
    if isinstance(result, Score):
        if result.note:
            results.notes[position] = str(result.note)
        if result.parts:
            results.parts[position] = {str(name): as_number(part) for name, part in result.parts.items()}
        if result.value is None and contract.may_abstain:
            results.codes[position] = ABSTAINED
            return
        if len(result.turns):
            results.turns[position] = shares_of_turns(result, turns(position))
        result = result.value
    value = as_number(result)
    low, high = contract.bounds
    if not math.isfinite(value):
        raise InvalidReturn(f"returned {value}, which is not a finite number")
    if abs(value) > LARGEST:
        raise InvalidReturn(
            f"returned {value:g}, which is too large for float32, the number type of trainers. Scale down the score"
        )
    if not low - TOLERANCE <= value <= high + TOLERANCE:
        end, limit = ("lowest", "-math.inf") if value < low else ("highest", "math.inf")
        pasted = f"{limit}, {_code(high)}" if value < low else f"{_code(low)}, {limit}"
        raise InvalidReturn(
            f"returned {value:g}, outside its bounds ({low:g}, {high:g}). Declare the {end} value that it can "
            f"return, or {limit} if there is no limit: @rk.reward(bounds=({pasted}))"
        )
    results.values[position] = value


def _code(bound: float) -> str:
    """Return a bound as Python code."""
    return repr(bound) if math.isfinite(bound) else f"{'-' if bound < 0 else ''}math.inf"


def shares_of_turns(score: Score, turns: int | None) -> tuple[float, ...]:
    """Return a score's shares per turn; raise InvalidReturn unless each turn has a share and they sum to the value."""
    if turns is not None and len(score.turns) != turns:
        raise InvalidReturn(f"returned {len(score.turns)} shares for {turns} turns. Return one share for each turn")
    shares = tuple(map(as_number, score.turns))
    total, value = math.fsum(shares), as_number(score.value)
    if not all(map(math.isfinite, shares)) or abs(total - value) > TOLERANCE * max(1.0, abs(value), *map(abs, shares)):
        raise InvalidReturn(
            f"returned the value {value:.6g} with turns={shorten(list(shares))}, whose sum is {total:.6g}. The turns' "
            "shares must sum to the value"
        )
    return shares


def as_number(value: Any) -> float:
    """Return a Python, numpy, or tensor scalar as a float; raise InvalidReturn for any other value."""
    if isinstance(value, (Real, Decimal, np.bool_)):
        try:
            return float(value)
        except (OverflowError, ValueError):
            return math.inf
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return as_number(value.item())
    remedy = "Return a number, or rk.Score(number, note=..., parts={...})."
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Real):
        remedy = "Return only its first item. Put the other items into rk.Score(score, note=..., parts={...})."
    raise InvalidReturn(f"returned {shorten(value)} ({type(value).__name__}), not a number or an rk.Score", remedy)


def _fail(
    error: BaseException, position: int, rows: int, contract: ReturnPolicy, results: Results, context: Context
) -> None:
    reason, policy = str(error) or type(error).__name__, contract.on_failure
    stops = isinstance(error, _STOPS)
    if stops:
        reason, policy = f"reward {contract.name!r} stops the run: {reason}", "unscorable"
    if policy == "raise":
        where = context(position, rows)
        raise RewardFailure(f"reward {contract.name!r} could not be computed: {reason}\n{where}") from error
    results.values[position] = math.nan if policy == "unscorable" else float(policy)
    results.codes[position] = FAILED
    results.notes[position] = reason
    results.faults[position] = Fault(contract.name, position, Outcome.FAILED, reason, stops=stops)


def _err(
    error: BaseException,
    position: int,
    rows: int,
    contract: ReturnPolicy,
    strict: bool,
    results: Results,
    context: Context,
) -> None:
    # Without a line of the user's code, its traceback is of no use.
    is_traceless = isinstance(error, InvalidReturn) and not (error.remedy and _line(error))
    reason = str(error) if isinstance(error, InvalidReturn) else f"raised {type(error).__name__}: {_error_text(error)}"
    value = contract.stand_in(strict)
    if value is None:
        remedy = (isinstance(error, InvalidReturn) and error.remedy) or _outage_remedy(error) or contract.remedy
        if isinstance(error, ImportError):
            remedy = "Install the package, or fix the import"
        message = f"reward {contract.name!r} {reason}{_line(error)}\n{context(position, rows)}\n{remedy}"
        raise RewardBug(message) from (None if is_traceless else error)
    results.values[position] = value
    results.codes[position] = ERRORED
    results.notes[position] = reason
    trace = "" if is_traceless else "".join(traceback.format_exception(error))
    results.faults[position] = Fault(contract.name, position, Outcome.ERRORED, reason, trace)


def _outage_remedy(error: BaseException) -> str:
    """Return advice if `error` or its cause means that a service did not respond; otherwise, ""."""
    visited: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in visited:  # an error may be its own cause
        if remedy := _remedy_of_outage(cause):
            return remedy
        visited.add(id(cause))
        cause = cause.__cause__
    return ""


def _remedy_of_outage(error: BaseException) -> str:
    kinds = [kind for kind in type(error).__mro__ if _OUTAGE.search(kind.__name__)]
    if kinds or _status(error) in (408, 429) or _status(error) >= 500:
        kind = kinds[-1] if kinds else type(error)
        name = (
            kind.__qualname__
            if kind.__module__ in ("builtins", "__main__")
            else f"{kind.__module__}.{kind.__qualname__}"
        )
        return (
            "If a service did not answer, its rows must not be scored. Catch "
            f'the error: except {name} as error: raise rk.RewardFailure("the service did not answer") from error'
        )
    return ""


def _status(error: BaseException) -> int:
    """Return the HTTP status of an error from an HTTP library, or 0 if it has none."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status"):
            status = getattr(holder, name, None)
            if isinstance(status, int):
                return status
    return 0


def _line(error: BaseException) -> str:
    """Return the line in the user's code that raised the exception, in parentheses."""
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [frame for frame in frames if not frame.filename.startswith((_HERE, "<"))]
    return f" ({user_frames[-1].filename}, line {user_frames[-1].lineno})" if user_frames else ""


def _error_text(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception as broken:
        return f"(its message raises {type(broken).__name__})"
    return (
        message
        if len(message) <= SHOWN_CHARACTERS
        else f"{message[:SHOWN_CHARACTERS]}... ({len(message):,} characters)"
    )


def unpacked(returned: Any, size: int) -> list[Any]:
    """Return the `size` results of a group or batch function; all are `Raised` if it did not return such a list."""
    if isinstance(returned, Raised):
        return [replace(returned, rows=size)] * size
    if hasattr(returned, "tolist"):
        returned = returned.tolist()
    if not isinstance(returned, (list, tuple)):
        message = f"returned {shorten(returned)} ({type(returned).__name__}), not a list of {size} scores"
        return [Raised(InvalidReturn(message), size)] * size
    if len(returned) != size:
        message = f"returned {len(returned)} scores for {size} completions. Return one score per completion"
        return [Raised(InvalidReturn(message), size)] * size
    return list(returned)
