"""Evidence: what a run leaves for the search for leads, as plain arrays; and Lead, what the search gives back.

``Evidence(steps=steps, prompts=prompts, totals=totals)`` is enough; every further array lets more kinds be looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.column import Floats, Rows
from rewardkit.core.errors import RewardKitError, near_miss, shorten
from rewardkit.core.progress.bounds import Bounds

Integers = NDArray[np.int64]
Texts = Callable[[Integers], Sequence[str]] | Sequence[str]
"""All n texts, or a function from row indices to the texts of those rows: only a sample is ever asked for."""

FACT = 0.5
"""The most that a lead is worth which says what costs signal (a component at its ceiling), not what looks gamed."""


class EvidenceError(RewardKitError, ValueError):
    """The parts of an `Evidence` do not fit each other."""


@dataclass(frozen=True)
class Evidence:
    """A row is one completion. All (n,) arrays are in the same, any, order.

    `rewardkit.viewer.leads.read_evidence` makes it of a recorded run.

    Attributes:
        steps: (n,) the training step.
        prompts: (n,) which prompt: integers or strings. Completions of one prompt in one step are a group.
        totals: (n,) NaN where a completion is unscorable.
        components: raw scores, each (n,), NaN where there is none.
        training: (n,) False for rows of an evaluation; None: all are training.
        advantages: (n,) what the trainer made of the totals, where it is known; otherwise totals are compared.
        lengths: (n,) tokens or characters; NaN where unknown.
        maximum_length: where completions are cut off, in the unit of `lengths`; None: nobody knows, and no
            completion is taken for one that was cut off.
        outcomes: per component (n,) ``"scored"``, ``"failed"``, ``"errored"``...
        completions: the texts, or what gives them for row indices.
        prompt_texts: the prompt of each row, in the same way.
        bounds: lowest and highest score per component; infinite where there is none.
        monitored: components that are watched and earn nothing: the truths that a proxy is held against.
        gates: per gate its steps (t,) and pass rates (t,).
        seed: of the samples.
    """

    steps: Integers
    prompts: NDArray[Any]
    totals: Floats
    components: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))
    training: Rows | None = None
    advantages: Floats | None = None
    lengths: Floats | None = None
    maximum_length: float | None = None
    outcomes: Mapping[str, NDArray[Any]] = field(default_factory=lambda: MappingProxyType({}))
    completions: Texts | None = None
    prompt_texts: Texts | None = None
    bounds: Mapping[str, Bounds] = field(default_factory=lambda: MappingProxyType({}))
    monitored: frozenset[str] = frozenset()
    gates: Mapping[str, tuple[Integers, Floats]] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0

    def __post_init__(self) -> None:
        size = len(self.steps)
        named: dict[str, Any] = {"prompts": self.prompts, "totals": self.totals, "training": self.training}
        named |= {"advantages": self.advantages, "lengths": self.lengths}
        named |= {f"components[{name!r}]": values for name, values in self.components.items()}
        named |= {f"outcomes[{name!r}]": values for name, values in self.outcomes.items()}
        for texts in ("completions", "prompt_texts"):
            given = getattr(self, texts)
            named[texts] = None if callable(given) else given
        for name, values in named.items():
            if values is not None and len(values) != size:
                raise EvidenceError(f"{name} has {len(values)} rows, steps has {size}; give one value per completion.")
        for name in sorted(self.monitored - set(self.components)):
            raise EvidenceError(
                f"monitored names {shorten(name)}, but components has no such scores.{near_miss(name, self.components)}"
            )
        for name, (steps, rates) in self.gates.items():
            if len(steps) != len(rates):
                raise EvidenceError(f"gates[{name!r}] has {len(steps)} steps and {len(rates)} rates; give as many.")


@dataclass(frozen=True)
class Lead:
    """Something worth a look: where, how strong, and the rows that show it. Never a verdict.

    Attributes:
        kind: ``"proxy"``, ``"phrase"``, ... (docs/suspicious.md lists them).
        title: one line. It may hold words of a completion: escape it like one.
        text: what was seen, with numbers.
        strength: 0 to 1, the weakest of the kind's ramps; docs/suspicious.md has them.
        steps: the first and the last step that it is about.
        component: which one, or None for the total.
        rows: indices into the arrays of the Evidence: completions to look at, the most telling first.
        numbers: what the text says, for tables and plots.
    """

    kind: str
    title: str
    text: str
    strength: float
    steps: tuple[int, int]
    component: str | None = None
    rows: tuple[int, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


def ramp(value: float | Floats, low: float, high: float) -> Any:
    """0 up to `low`, 1 from `high` on, a straight line between; NaN is 0."""
    return np.clip(np.nan_to_num((np.asarray(value, dtype=np.float64) - low) / (high - low), posinf=1.0), 0.0, 1.0)


def weakest(*ramps: Any) -> Any:
    """A lead is as strong as the weakest of what speaks for it."""
    return np.minimum.reduce(np.broadcast_arrays(*ramps))
