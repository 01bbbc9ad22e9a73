"""Evidence, the data of a run as plain arrays, and Alert, a pattern found in it.

``Evidence(steps=steps, prompts=prompts, totals=totals)`` is enough; each further array allows more kinds of alerts.
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
"""All n texts, or a function that returns the texts of the given rows, because only a sample is read."""
Cells = Callable[[Integers], Sequence[Mapping[str, Any]]] | Sequence[Mapping[str, Any]]
"""The example columns of all n rows, each row as column -> cell, or a function that returns them for the given rows."""

LOST_SIGNAL = frozenset({"ceiling", "floor", "dead", "no_variance"})
"""Kinds of alerts for rewards that no longer teach anything."""
OBSERVATIONS = LOST_SIGNAL | {"phrase", "diversity", "length", "jump", "gate", "calls", "repeated", "unfinished"}
"""Kinds that are as common in honest learning as in reward hacking. They only describe a run and have no strength."""


@dataclass(frozen=True)
class Evidence:
    """The data of a run. A row is one completion. The order of rows is arbitrary, but the same in all (n,) arrays.

    `rewardkit.page.alerts.read_evidence` builds an Evidence from a recorded run.

    Attributes:
        steps: (n,) the training step.
        prompts: (n,) the prompt, as an integer or a string. Completions for one prompt in one step form a group.
        totals: (n,) the totals, NaN if a completion is unscorable.
        components: component name -> the raw scores, (n,), NaN if there is no score.
        training: (n,) False for rows from an evaluation, None if all rows are from training.
        advantages: (n,) the trainer's advantages, NaN if unknown. If any is unknown, totals are compared instead.
        lengths: (n,) the lengths in tokens or characters, NaN if unknown.
        maximum_length: the length at which completions are cut off, in the unit of `lengths`. If it is None (unknown),
            no completion counts as cut off.
        outcomes: component -> the outcomes, (n,): ``"scored"``, ``"failed"``, ``"errored"``...
        completions: the completions as text, or a function that returns them for row indices.
        prompt_texts: the text of each row's prompt, or a function that returns the texts.
        columns: the example columns of each row, as column -> cell, or a function that returns them.
        reads: the data that each component reads: example columns, ``"prompt"``, ``"example"``.
        bounds: the lowest and highest score of each component, infinite if there is no bound.
        monitored: components that are recorded but not rewarded (`rk.monitor`): the ground truths for proxies.
        gates: the steps (t,) and pass rates (t,) for each gate.
        calls: (n,) the number of tool calls in each completion, NaN if unknown.
        repeated_calls: (n,) the number of calls that repeat an earlier call in the same completion.
        unfinished: (n,) 1 if a completion ended without an answer, else 0.
        foreign: totals (n,) with the completion's own gold answer and with gold answers for other prompts, as scored by
            `PermutedGolds`. NaN means that a completion was not scored again.
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
    """A suspicious pattern or an observation, with its steps, strength, and example rows. Not a verdict.

    Attributes:
        kind: ``"proxy"``, ``"phrase"``, ... (docs/suspicious.md lists them).
        title: one line. It may quote a completion, so escape it before you display it.
        text: the observation, with numbers.
        strength: 0 to 1, the weakest of this kind's ramps (see docs/suspicious.md), 0 for observations
            (`is_observation`).
        steps: the first and last step of the pattern.
        component: the component, or None for the total.
        rows: completions to review, as indices into the arrays of the Evidence, with the most telling first.
        numbers: the numbers quoted in the text, for tables and plots.
        phrase: the words that the completions have in common, if the pattern is a phrase.
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
        """Whether this alert only describes the run: it is as common in healthy runs as in hacked ones."""
        return self.kind in OBSERVATIONS


def ramp(value: float | Floats, low: float, high: float) -> Any:
    """Map `value` linearly from 0 at `low` to 1 at `high`, clipped to that range; NaN becomes 0."""
    return np.clip(np.nan_to_num((np.asarray(value, dtype=np.float64) - low) / (high - low), posinf=1.0), 0.0, 1.0)


def weakest(*ramps: Any) -> Any:
    """Return the elementwise minimum of the ramps: an alert is only as strong as its weakest evidence."""
    return np.minimum.reduce(np.broadcast_arrays(*ramps))
