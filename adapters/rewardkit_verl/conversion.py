"""from_verl: use a custom reward function of verl as a Reward.

``rk.from_verl(compute_score)`` can be weighted, gated, checked and logged like any other reward. The function gets what
verl passes: ``data_source``, ``solution_str``, ``ground_truth`` and ``extra_info``.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.score import Score
from rewardkit.core.errors import BindingError, RewardTypeError, hashable, shorten
from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.binding import Binding, is_async, name_of
from rewardkit.core.tree.leaf import Leaf
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.results import Abstention, Contract, Nonsense
from rewardkit.core.tree.reward import Reward, checked_name

_OWN = ("data_source", "solution_str", "ground_truth", "extra_info")
"""The arguments that verl passes."""


@final
@dataclass(frozen=True)
class Call:
    """Call the function for one completion and convert its result."""

    function: Callable[..., Any]

    def check(self, batch: Batch, name: str) -> None:
        """Raise a BindingError if no column has the gold answer."""
        if not {"reward_model", "ground_truth"} & set(batch.columns):
            raise BindingError(
                f"reward {name!r} is a function of verl, which reads the gold answer from the column reward_model "
                "({'ground_truth': ...}) or ground_truth, but the data has neither. Columns: "
                f"{', '.join(batch.columns) or 'none'}. Rename the column of the gold answer to ground_truth"
            )

    def __call__(self, solution: str, columns: Mapping[str, Any]) -> Any:
        given = arguments(solution, columns)
        return given if isinstance(given, Abstention) else read(self.function(**given))


@final
@dataclass(frozen=True)
class AsyncCall:
    """`Call` for an async function."""

    call: Call

    def check(self, batch: Batch, name: str) -> None:
        """Raise a BindingError if no column has the gold answer."""
        self.call.check(batch, name)

    async def __call__(self, solution: str, columns: Mapping[str, Any]) -> Any:
        given = arguments(solution, columns)
        return given if isinstance(given, Abstention) else read(await self.call.function(**given))


def arguments(solution: str, columns: Mapping[str, Any]) -> dict[str, Any] | Abstention:
    """Return the arguments as verl passes them; an abstention where the row has no gold answer."""
    model = columns.get("reward_model")
    if isinstance(model, str):  # kept as JSON text, so that Arrow does not change it
        try:
            model = json.loads(model)
        except (ValueError, RecursionError):
            model = None
    held = model if isinstance(model, Mapping) and "ground_truth" in model else columns
    gold = held.get("ground_truth")
    if gold is None:
        return Abstention("there is no ground_truth")
    extra = columns.get("extra_info")
    return {
        "data_source": columns.get("data_source") or "",
        "solution_str": solution,
        "ground_truth": gold,
        "extra_info": dict(extra) if isinstance(extra, Mapping) else {},
    }


def read(returned: Any) -> Any:
    """Convert a result, a number or a dict with "score", to a Score: its numbers are parts, its texts the note."""
    if not isinstance(returned, Mapping):
        return returned
    if "score" not in returned:
        raise Nonsense(f"returned {shorten(dict(returned))}, a dict without the key 'score', which verl needs")
    parts, said = {}, []
    for name, value in returned.items():
        if name == "score" or value is None:
            continue
        if isinstance(value, Real) and math.isfinite(value):
            parts[str(name)] = float(value)
        else:
            said.append(f"{name}: {shorten(value, 60)}")
    return Score(returned["score"], "; ".join(said), parts)


def from_verl(function: Callable[..., Any], name: str | None = None) -> Reward:
    """Turn a custom reward function of verl into a Reward: ``0.8 * rk.from_verl(compute_score) + form``.

    ``rk.from_verl(gsm8k.compute_score)`` gives 1.0 to ``#### 4`` if the column "ground_truth" is ``4``.

    The gold answer is the ``ground_truth`` in the column "reward_model", as in verl's data files (a dict or JSON text),
    or the column "ground_truth"; where it is None, the reward abstains. "data_source" and "extra_info" are columns,
    too. The function gets a copy of ``extra_info``. Set further arguments (``reward_kwargs``) with
    ``functools.partial``.

    Args:
        function: ``compute_score(data_source, solution_str, ground_truth, extra_info)``, or a function with some of
            these arguments, such as ``compute_score(solution_str, ground_truth)``; may be async. It returns a number,
            or a dict with "score", whose other numbers become parts and whose texts become the note. An exception is
            an error, never a 0.0.
        name: the name of the component; by default the function's name.

    Raises:
        RewardTypeError: `function` is not such a function.
        BindingError: while scoring: the data has neither "reward_model" nor "ground_truth".
    """
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function):
        raise RewardTypeError(
            f"from_verl: expected a reward function of verl, got {shorten(function)} ({type(function).__name__})"
        )
    label = checked_name(name if name is not None else name_of(function))
    if not hashable(function):
        raise RewardTypeError(f"from_verl: {label} is not hashable, which a reward must be. Pass a function")
    taking = function if (names := _taken(function, label)) is None else Some(function, names)
    call = Call(taking)
    binding = Binding(
        AsyncCall(call) if is_async(function) else call,
        (Parameter("solution", "completion"), Parameter("columns", "example")),
    )
    return Leaf(binding, Contract(label, (-math.inf, math.inf)), f"from_verl({label})")


@final
@dataclass(frozen=True)
class Some:
    """Call a function that takes some of verl's arguments."""

    function: Callable[..., Any]
    names: frozenset[str]

    def __call__(self, **given: Any) -> Any:
        return self.function(**{name: value for name, value in given.items() if name in self.names})


def _taken(function: Callable[..., Any], label: str) -> frozenset[str] | None:
    """Return which of verl's arguments the function takes; None for all."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise RewardTypeError(
            f"from_verl: cannot read the signature of {label} ({error}). Wrap it in a function"
        ) from None
    if "solution_str" not in parameters:
        hint = " Wrap a function for TRL with rk.from_trl." if "completions" in parameters else ""
        raise RewardTypeError(
            f"from_verl: {label} has no argument solution_str, so it is not a reward function of verl.{hint}"
        )
    given = function.keywords if isinstance(function, functools.partial) else {}
    needed = [
        one.name
        for one in parameters.values()
        if one.default is one.empty
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        and one.name not in (*_OWN, *given)
    ]
    if needed:
        raise RewardTypeError(
            f"from_verl: {label} needs {', '.join(needed)}, which verl takes from reward_kwargs. Pass "
            f"functools.partial({label}, {needed[0]}=...)"
        )
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return None
    names = frozenset(name for name in _OWN if name in parameters)
    return None if len(names) == len(_OWN) else names
