"""Random reward trees over completions that say what each leaf does, and a naive reading of what they must score.

A completion is six characters, one per leaf: a digit is scored (``"9"`` is 1.0), ``-`` abstains, ``x`` fails,
``!`` is a bug. ``expected`` computes one row of one node straight from the design pages, with no batches, masks or
sharing, so that the scorer can be compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

import rewardkit as rk
from rewardkit.aggregators.combined import Combination
from rewardkit.aggregators.failover import Fallback
from rewardkit.aggregators.gated import HardGate, SoftGate
from rewardkit.aggregators.means import WeightedMean
from rewardkit.aggregators.monitored import Monitor
from rewardkit.aggregators.routed import Route
from rewardkit.core.algebra import Clipped, Named, WeightedSum, leaves, wanted
from rewardkit.core.leaf import Leaf
from rewardkit.core.progress import Weight, weight_now

LEAVES = 6
MARKS = "0369-x!"
"""What a completion may say at each place."""


def read(completion: str, place: int) -> float | None:
    mark = completion[place]
    if mark == "-":
        return None
    if mark == "x":
        raise rk.RewardFailure("the judge is down")
    if mark == "!":
        raise ValueError("a bug")
    return int(mark) / 9


@rk.reward
def accuracy(completion: str) -> float | None:
    return read(completion, 0)


@rk.reward
def style(completion: str) -> float | None:
    return read(completion, 1)


@rk.reward
def form(completion: str) -> float | None:
    return read(completion, 2)


@rk.reward(bounds=(-1.0, 1.0))
def length(completion: str) -> float | None:
    value = read(completion, 3)
    return None if value is None else 2.0 * value - 1.0


@rk.reward(expensive=True)
async def judge(completion: str) -> float | None:
    return read(completion, 4)


@rk.reward(on_failure=0.5)
def forgiving(completion: str) -> float | None:
    return read(completion, 5)


@rk.reward(scope="group")
def rank(completion: list[str]) -> list[float | None]:
    """The share of the group whose first mark is no higher."""
    return [sum(other[0] <= one[0] for other in completion) / len(completion) for one in completion]


PLACES: dict[Leaf, int] = {accuracy: 0, style: 1, form: 2, length: 3, judge: 4, forgiving: 5}

weights: st.SearchStrategy[Weight] = st.one_of(
    st.sampled_from([1.0, 0.5, -0.25, 2.0, 0.0]),
    st.sampled_from([rk.schedules.linear(0.0, 1.0), rk.schedules.linear(1.0, 0.0, end=0.5)]),
)
positive_weights: st.SearchStrategy[Weight] = st.one_of(
    st.sampled_from([1.0, 0.5, 3.0, 0.0]), st.just(rk.schedules.linear(0.0, 1.0))
)
progresses = st.one_of(st.none(), st.sampled_from([0, 5, 10]).map(lambda step: rk.Progress(step, 10)))


def named(reward: rk.Reward) -> rk.Reward:
    """Under a name that no other reward has."""
    return reward.named(f"named_{reward.fingerprint}")


def _mean(items: list[tuple[Weight, rk.Reward]]) -> rk.Reward:
    """Their weighted mean; sums whose negative weights would count as the mean's are named, and so one item each."""
    try:
        return rk.weighted_mean(items)
    except rk.RewardDefinitionError:
        return rk.weighted_mean([(weight, named(reward)) for weight, reward in items])


def _gates(inner: st.SearchStrategy[rk.Reward]) -> st.SearchStrategy[rk.Reward]:
    hard = st.builds(
        lambda when, then, threshold, otherwise: rk.gate(
            when, then, threshold=min(threshold, max(0.0, when.bounds[1])), otherwise=otherwise
        ),
        inner.filter(lambda reward: reward.bounds[1] >= 0.0),
        inner,
        st.sampled_from([0.0, 1 / 3, 0.5, 1.0]),
        st.sampled_from([0.0, -0.5]),
    )
    soft = st.builds(
        lambda when, then, otherwise: rk.gate(when.clip(0, 1), then, otherwise=otherwise, soft=True),
        inner,
        inner,
        st.sampled_from([0.0, 0.25]),
    )
    return st.one_of(hard, soft)


def _grown(inner: st.SearchStrategy[rk.Reward]) -> st.SearchStrategy[rk.Reward]:
    several = st.lists(inner, min_size=1, max_size=3)
    pairs = st.lists(st.tuples(weights, inner), min_size=1, max_size=3)
    combine = st.sampled_from([rk.product, rk.minimum, rk.maximum])
    return st.one_of(
        pairs.map(rk.weighted_sum),
        st.lists(st.tuples(positive_weights, inner), min_size=1, max_size=3).map(_mean),
        _gates(inner),
        st.builds(lambda operation, rewards: operation(*rewards), combine, several),
        st.builds(lambda reward: reward.clip(0.2, 0.7), inner),
        st.builds(named, inner),
        st.builds(rk.monitor, inner),
        st.builds(lambda math, code: rk.route({"math": math, "code": code}, by="task"), inner, inner),
        st.builds(lambda math, default: rk.route({"math": math}, by="task", default=default), inner, inner),
        st.builds(rk.fallback, inner, inner),
        # The same part in two places, seen through two conditions.
        st.builds(lambda when, part: rk.gate(when, part, threshold=0.5) + part, st.just(accuracy), inner),
        st.builds(lambda part: rk.gate(style, part, threshold=0.5) + rk.gate(form, part, threshold=0.5), inner),
    )


def trees(*, groups: bool = False, max_leaves: int = 8) -> st.SearchStrategy[rk.Reward]:
    """Trees of everything; with `groups` also of rewards that see a whole group."""
    chosen: list[rk.Reward] = [*PLACES, *([rank] if groups else [])]
    return st.recursive(st.sampled_from(chosen), _grown, max_leaves=max_leaves)


def has(reward: rk.Reward, kind: type[rk.Reward]) -> bool:
    return isinstance(reward, kind) or any(has(child, kind) for child in reward.children)


def couples_groups(reward: rk.Reward) -> bool:
    """Whether a row's score may depend on others of its group."""
    return has(reward, Fallback) or any(isinstance(leaf, Leaf) and leaf.scope == "group" for leaf in leaves(reward))


@dataclass(frozen=True)
class Rows:
    """Completions with their groups: rows of one group stand together and share prompt and task."""

    completions: tuple[str, ...]
    groups: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.completions)

    def batch(self, progress: rk.Progress | None = None) -> rk.Batch:
        return rk.Batch(
            list(self.completions),
            prompts=[f"prompt {group}" for group in self.groups],
            columns={"task": [task_of(group) for group in self.groups]},
            progress=progress,
        )

    def take(self, rows: list[int]) -> Rows:
        return Rows(tuple(self.completions[row] for row in rows), tuple(self.groups[row] for row in rows))


def task_of(group: int) -> str:
    return "math" if group % 2 == 0 else "code"


@st.composite
def rows(draw: Callable[[st.SearchStrategy[object]], object], *, single: bool = False) -> Rows:
    """A few rows, some of them alike; with `single` each is a group of its own."""
    completion = st.text(alphabet=MARKS, min_size=LEAVES, max_size=LEAVES)
    pool = draw(st.lists(completion, min_size=1, max_size=5))
    assert isinstance(pool, list)
    sizes = draw(st.lists(st.just(1) if single else st.integers(1, 3), min_size=1, max_size=5))
    assert isinstance(sizes, list)
    groups = tuple(group for group, size in enumerate(sizes) for _ in range(size))
    return Rows(tuple(str(draw(st.sampled_from(pool))) for _ in groups), groups)


Scored = tuple[str, float]
"""An outcome's first letters and the value that counts, NaN for none."""

NOTHING: Scored = ("abstained", math.nan)
FAILED: Scored = ("failed", math.nan)


def expected(reward: rk.Reward, completion: str, task: str, progress: rk.Progress | None) -> Scored:
    """What `reward` gives one completion in a group of its own, bugs scoring the lowest bound."""

    def of(child: rk.Reward) -> Scored:
        return expected(child, completion, task, progress)

    if isinstance(reward, Leaf):
        return _of_leaf(reward, completion)
    if isinstance(reward, (WeightedSum, WeightedMean)):
        return _of_weighted(
            reward, [(weight_now(weight, progress), weight, child) for weight, child in reward.items], of
        )
    if isinstance(reward, (HardGate, SoftGate)):
        return _of_gate(reward, of, progress)
    if isinstance(reward, Route):
        chosen = dict(reward.branches).get(task, reward.default)
        assert chosen is not None
        return of(chosen)
    if isinstance(reward, Fallback):
        first = of(reward.first)
        return of(reward.second) if first[0] == "failed" and math.isnan(first[1]) else first
    if isinstance(reward, Monitor):
        return NOTHING
    if isinstance(reward, Named):
        return of(reward.reward)
    if isinstance(reward, Clipped):
        return _united([of(reward.reward)], lambda values: min(max(values[0], reward.low), reward.high))
    assert isinstance(reward, Combination)
    operations: dict[str, Callable[[list[float]], float]] = {"product": math.prod, "minimum": min, "maximum": max}
    return _united([of(child) for child in reward.rewards], operations[reward.operation])


def _of_leaf(leaf: Leaf, completion: str) -> Scored:
    if leaf.scope == "group":
        return "scored", 1.0
    mark = completion[PLACES[leaf]]
    if mark == "-":
        return NOTHING
    if mark == "x":
        return "failed", leaf.on_failure if isinstance(leaf.on_failure, float) else math.nan
    if mark == "!":
        return "errored", leaf.bounds[0]
    low, high = leaf.bounds
    return "scored", low + (high - low) * int(mark) / 9


def _united(children: list[Scored], combine: Callable[[list[float]], float]) -> Scored:
    """Failed where one failed, else `combine` over what has a number."""
    if any(outcome == "failed" and math.isnan(value) for outcome, value in children):
        return FAILED
    values = [value for _, value in children if not math.isnan(value)]
    return ("scored", combine(values)) if values else NOTHING


def _of_weighted(
    reward: WeightedSum | WeightedMean,
    items: list[tuple[float, Weight, rk.Reward]],
    of: Callable[[rk.Reward], Scored],
) -> Scored:
    live = [(now, of(child)) for now, _, child in items if now != 0.0]
    if not live:
        seen = [of(child) for now, weight, child in items if wanted(weight, now, child)]
        counts = isinstance(reward, WeightedSum) and any(not math.isnan(value) for _, value in seen)
        return ("scored", 0.0) if counts else NOTHING
    if any(outcome == "failed" and math.isnan(value) for _, (outcome, value) in live):
        return FAILED
    numbers = [(now, value) for now, (_, value) in live if not math.isnan(value)]
    if not numbers:
        return NOTHING
    total = sum(now * value for now, value in numbers)
    return "scored", total / sum(now for now, _ in numbers) if isinstance(reward, WeightedMean) else total


def _of_gate(gate: HardGate | SoftGate, of: Callable[[rk.Reward], Scored], progress: rk.Progress | None) -> Scored:
    outcome, value = of(gate.when)
    if outcome == "failed" and math.isnan(value):
        return FAILED
    if isinstance(gate, HardGate):
        opened = outcome == "abstained" or value >= weight_now(gate.threshold, progress) - 1e-9
        return of(gate.then) if opened else ("scored", gate.otherwise)
    opening = 1.0 if outcome == "abstained" else value
    if opening == 0.0:
        return "scored", gate.otherwise
    return _united([of(gate.then)], lambda values: opening * values[0] + (1.0 - opening) * gate.otherwise)
