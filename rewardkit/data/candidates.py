"""Candidates: what in a module counts as a reward, and why something that looks like one is left out.

A candidate is

- a rewardkit reward, also one made by ``@rk.reward``,
- a function with an argument ``completions``, anywhere in its signature: a TRL reward function,
- a function with an argument ``completion`` or ``messages``, which scores one completion,
- a list of these.

Candidates whose names start with ``_``, that another module defines, or that return text are left out, and so are those
missing from ``__all__``, if there is one. Every other function is a helper, and rewardkit's own functions are neither.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from rewardkit.core.tree.conversion import is_plain
from rewardkit.core.tree.reward import Reward
from rewardkit.core.tree.trl_function import takes_one_completion

Kind = Literal["reward", "TRL function", "function of one completion", "list of rewards", ""]

WHAT = (
    "A candidate is a Reward, a function with an argument `completions` (as for TRL) or `completion` (one at a time), "
    "or a list of these"
)
"""What a candidate is, in one sentence."""

_NUMBERS = re.compile(r"\b(?:float|int|bool|Score|Any|object|number|Number|Real|Decimal|ndarray|Tensor)\b")
_CONTAINERS = re.compile(r"(?:typing\.)?(?:list|tuple|dict|set|frozenset|Mapping|Iterator|Iterable)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A variable of a module that is or may be a reward.

    Attributes:
        name: of the variable.
        value: the reward, function or list.
        kind: what it is.
        left_out: why it is not checked; empty if it is.
    """

    name: str
    value: Any
    kind: Kind
    left_out: str = ""

    @property
    def certain(self) -> bool:
        """Whether it is a reward beyond doubt: a function of one completion may be a helper that nobody decorated."""
        return self.kind != "function of one completion"


def candidates(module: ModuleType) -> list[Candidate]:
    """Return the candidates of a module, in the order of their definition."""
    listed = getattr(module, "__all__", None)
    names = list(vars(module)) if listed is None else [*listed, *(name for name in vars(module) if name not in listed)]
    found: list[Candidate] = []
    for name in names:
        value = getattr(module, name, None)
        kind = "" if name.startswith("__") else kind_of(value)
        if kind:
            first = next((one.name for one in found if one.value is value and not one.left_out), "")
            found.append(Candidate(name, value, kind, _left_out(name, value, kind, module, first)))
    return found


def kind_of(value: Any) -> Kind:
    """Return what kind of reward a value is; an empty text if it is none."""
    if isinstance(value, Reward):
        return "reward"
    if isinstance(value, (list, tuple)):
        return "list of rewards" if value and all(map(kind_of, value)) else ""
    if not is_plain(value):
        return ""
    return kind_of_function(value)


def kind_of_function(function: Callable[..., Any]) -> Kind:
    """Return what kind of reward a function is, by the names of its arguments."""
    if str(getattr(function, "__module__", "")).partition(".")[0] == "rewardkit":
        return ""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ""
    if "completions" in parameters:
        return "TRL function"
    return "function of one completion" if takes_one_completion(function) else ""


def _left_out(name: str, value: Any, kind: Kind, module: ModuleType, first: str) -> str:
    """Return why a candidate is not checked, or an empty text."""
    listed = getattr(module, "__all__", None)
    if listed is not None and name not in listed:
        return "not in __all__"
    if first:
        return f"the same as {first}"
    if listed is not None:
        return ""
    if name.startswith("_"):
        return "its name starts with _"
    home = getattr(value, "__module__", module.__name__)
    if inspect.isroutine(value) and home != module.__name__:
        return f"imported from {home}"
    return _returns_text(value, kind)


def _returns_text(value: Any, kind: Kind) -> str:
    """Return what a function returns instead of scores, if its annotation says so."""
    if "function" not in kind:
        return ""
    annotations = getattr(value, "__annotations__", {})
    if not isinstance(annotations, Mapping) or "return" not in annotations:
        return ""
    said = annotations["return"]
    text = said if isinstance(said, str) else "None" if said is None else inspect.formatannotation(said)
    text = text.strip("\"'")
    scores = "scores" if kind == "TRL function" else "a score"
    if not _NUMBERS.search(text) and text not in ("list", "typing.List", "List"):
        return f"it returns {text}, not {scores}"
    if kind == "function of one completion" and _CONTAINERS.match(text):
        return f"it returns {text}, not {scores}"
    return ""
