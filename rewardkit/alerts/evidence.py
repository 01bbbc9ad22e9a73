"""Evidence, which is a run's data as plain arrays, and Alert, which is a pattern found in the data.

``Evidence(steps=steps, prompts=prompts, totals=totals)`` is enough. Each additional array allows more kinds of alerts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.analyze.permuted_golds import ForeignScores
from rewardkit.batch.column import Floats, Rows
from rewardkit.errors import EvidenceError, near_miss, shorten
from rewardkit.progress.bounds import Bounds

Integers = NDArray[np.int64]
Texts = Callable[[Integers], Sequence[str]] | Sequence[str]
"""All n texts, or a function that returns the texts for given rows, because only a sample is read."""
Cells = Callable[[Integers], Sequence[Mapping[str, Any]]] | Sequence[Mapping[str, Any]]
"""The dataset columns for all n rows (each row as column -> cell), or a function that returns them for given rows."""

LOST_SIGNAL = frozenset({"ceiling", "floor", "dead", "no_variance"})
"""Kinds of alerts for rewards that no longer provide a learning signal."""
OBSERVATIONS = LOST_SIGNAL | {"phrase", "diversity", "length", "jump", "gate", "calls", "repeated", "unfinished"}
"""Kinds that are as common in healthy runs as in runs with reward hacking. They only describe a run and do not have a
strength."""


@dataclass(frozen=True)
class Evidence:
    """A run's data. A row is one completion. The row order is arbitrary, but it is the same in all (n,) arrays.

    `rewardkit.page.alerts.read_evidence` builds an Evidence from a recorded run.

    Attributes:
        steps: (n,) the training step.
        prompts: (n,) the prompt, as an integer or a string. Completions for the same prompt in the same step form a
            group.
        totals: (n,) the totals, or NaN if a completion is unscorable.
        components: component name -> the raw scores (n,), or NaN if there is no score.
        training: (n,) False for rows from an evaluation, or None if all rows are from training.
        advantages: (n,) the trainer's advantages, or NaN if unknown. If any advantage is unknown, totals are compared
            instead.
        lengths: (n,) the lengths in tokens or characters, or NaN if unknown.
        maximum_length: the length at which completions are cut off, in the same unit as `lengths`. If it is None
            (unknown), no completion is considered cut off.
        outcomes: component -> the outcomes (n,): ``"scored"``, ``"failed"``, ``"errored"``, and so on.
        completions: the completions as text, or a function that returns them for given rows.
        prompt_texts: each row's prompt as text, or a function that returns the prompts for given rows.
        columns: each row's dataset columns, as column -> cell, or a function that returns them for given rows.
        reads: the data that each component reads: dataset columns, ``"prompt"``, or ``"example"``.
        bounds: each component's lowest and highest score, or infinity if there is no bound.
        monitored: components that are recorded but not rewarded (`rk.monitor`), which are the ground truth for proxies.
        gates: each gate's steps (t,) and pass rates (t,).
        calls: (n,) the number of tool calls in each completion, or NaN if unknown.
        repeated_calls: (n,) the number of calls that repeat an earlier call in the same completion.
        unfinished: (n,) 1 if a completion ended without an answer, or 0 if it did not.
        foreign: totals (n,) with the completion's own gold answer and with gold answers for other prompts, as scored by
            `PermutedGolds`. NaN means that a completion was not rescored.
        seed: the random seed for drawing samples.
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
    columns: Cells | None = None
    reads: Mapping[str, Collection[str]] = field(default_factory=lambda: MappingProxyType({}))
    bounds: Mapping[str, Bounds] = field(default_factory=lambda: MappingProxyType({}))
    monitored: frozenset[str] = frozenset()
    gates: Mapping[str, tuple[Integers, Floats]] = field(default_factory=lambda: MappingProxyType({}))
    calls: Floats | None = None
    repeated_calls: Floats | None = None
    unfinished: Floats | None = None
    foreign: ForeignScores | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        size = len(self.steps)
        named: dict[str, Any] = {"prompts": self.prompts, "totals": self.totals, "training": self.training}
        named |= {"advantages": self.advantages, "lengths": self.lengths}
        named |= {"calls": self.calls, "repeated_calls": self.repeated_calls, "unfinished": self.unfinished}
        named |= {} if self.foreign is None else {f"foreign.{name}": v for name, v in self.foreign._asdict().items()}
        named |= {f"components[{name!r}]": values for name, values in self.components.items()}
        named |= {f"outcomes[{name!r}]": values for name, values in self.outcomes.items()}
        for texts in ("completions", "prompt_texts", "columns"):
            source = getattr(self, texts)
            named[texts] = None if callable(source) else source
        for name, values in named.items():
            if values is not None and len(values) != size:
                raise EvidenceError(
                    f"{name} has {len(values)} rows, but steps has {size}. Pass one value per completion"
                )
        for name in sorted(self.monitored - set(self.components)):
            raise EvidenceError(
                f"monitored names {shorten(name)}, but components has no such "
                f"component.{near_miss(name, self.components)} Pass its scores in components"
            )
        for name, (steps, rates) in self.gates.items():
            if len(steps) != len(rates):
                raise EvidenceError(
                    f"gates[{name!r}] has {len(steps)} steps and {len(rates)} rates. Pass one rate per step"
                )


@dataclass(frozen=True)
class Alert:
    """A suspicious pattern or an observation, with its steps, strength, and example rows. It is not a verdict.

    Attributes:
        kind: ``"proxy"``, ``"phrase"``, ... (docs/suspicious.md lists them).
        title: a one-line summary. It may quote a completion, so escape it before you display it.
        text: the observation, with numbers.
        strength: 0 to 1, the weakest of this kind's ramps (see docs/suspicious.md), or 0 for observations
            (`is_observation`).
        steps: the first and last step of the pattern.
        component: the component, or None for the total.
        rows: completions to review, as indices into the Evidence arrays, with the most informative first.
        numbers: the numbers quoted in the text, for tables and plots.
        phrase: if the pattern is a phrase, the words that the completions have in common.
    """

    kind: str
    title: str
    text: str
    strength: float
    steps: tuple[int, int]
    component: str | None = None
    rows: tuple[int, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    phrase: str = ""

    @property
    def is_observation(self) -> bool:
        """Whether this alert only describes the run. Such alerts are as common in healthy runs as in hacked runs."""
        return self.kind in OBSERVATIONS


def ramp(value: float | Floats, low: float, high: float) -> Any:
    """Map `value` linearly to a number from 0 (at `low` or below) to 1 (at `high` or above); NaN becomes 0."""
    return np.clip(np.nan_to_num((np.asarray(value, dtype=np.float64) - low) / (high - low), posinf=1.0), 0.0, 1.0)


def weakest(*ramps: Any) -> Any:
    """Return the elementwise minimum of the ramps, because an alert is only as strong as its weakest evidence."""
    return np.minimum.reduce(np.broadcast_arrays(*ramps))
