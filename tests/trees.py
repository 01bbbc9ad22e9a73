"""Random reward trees over completions that control each leaf, and a naive implementation of the expected scores.

A completion is six characters, one per leaf: a digit is a score (``"9"`` is 1.0), ``-`` abstains, ``x`` fails, ``!`` is
a bug. ``expected`` computes one row of one node directly from the design, without batches, masks or sharing, so that
tests can compare the scorer with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hypothesis import strategies as st

import rewardkit as rk
from rewardkit.combine.combination import Combination, Lexicographic
from rewardkit.combine.curriculum import Curriculum, Stage
from rewardkit.combine.fallback import Fallback
from rewardkit.combine.gate import HardGate, SoftGate
from rewardkit.combine.means import Mean
from rewardkit.combine.monitor import Monitor
from rewardkit.combine.normalization import RankInGroup
from rewardkit.combine.penalty import Penalty
from rewardkit.combine.route import Route
from rewardkit.progress.schedule import Weight, weight_now
from rewardkit.tree.algebra import Clipped, Named, WeightedSum, must_evaluate
from rewardkit.tree.leaf import Leaf

LEAVES = 6
MARKS = "0369-x!"
"""The characters that may occur at each position of a completion."""


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
    """Return the share of the group whose first mark is not higher."""
    return [sum(other[0] <= one[0] for other in completion) / len(completion) for one in completion]


PLACES: dict[rk.Reward, int] = {accuracy: 0, style: 1, form: 2, length: 3, judge: 4, forgiving: 5}

weights: st.SearchStrategy[Weight] = st.one_of(
    st.sampled_from([1.0, 0.5, -0.25, 2.0, 0.0]),
    st.sampled_from([rk.schedules.linear(0.0, 1.0), rk.schedules.linear(1.0, 0.0, end=0.5)]),
)
positive_weights: st.SearchStrategy[Weight] = st.one_of(
    st.sampled_from([1.0, 0.5, 3.0, 0.0]), st.just(rk.schedules.linear(0.0, 1.0))
)
progresses = st.one_of(st.none(), st.sampled_from([0, 5, 10]).map(lambda step: rk.Progress(step, 10)))


def named(reward: rk.Reward) -> rk.Reward:
    """Give the reward a unique name."""
    return reward.named(f"named_{reward.fingerprint}")


def _mean(items: list[tuple[Weight, rk.Reward]]) -> rk.Reward:
    """Return the weighted mean; name the items if a sum's negative weights would otherwise count as the mean's."""
    try:
        return rk.mean(items)
    except rk.RewardDefinitionError:
        return rk.mean([(weight, named(reward)) for weight, reward in items])


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


def _power_mean(mean: Callable[..., rk.Reward], items: list[tuple[Weight, rk.Reward]]) -> rk.Reward:
    """Return the mean; clip items that may be negative, and sums, which would otherwise be flattened."""
    return mean(
        [
            (weight, reward.clip() if reward.bounds[0] < 0.0 or isinstance(reward, WeightedSum) else reward)
            for weight, reward in items
        ]
    )


def _curriculum(rewards: list[rk.Reward], overs: list[float]) -> rk.Reward:
    """Make stages that end at 0.3 and 0.6 of training, abruptly or gradually."""
    timed = zip(("first", "second"), rewards, (0.3, 0.6), overs, strict=False)
    stages = [Stage(name, reward, until=until, over=over) for name, reward, until, over in timed]
    return rk.curriculum([*stages[: len(rewards) - 1], Stage("last", rewards[-1])])


def _new(inner: st.SearchStrategy[rk.Reward]) -> st.SearchStrategy[rk.Reward]:
    """Make power means, lexicographic orders, penalties, ranks and curricula."""
    two = st.lists(inner, min_size=2, max_size=3)
    means = st.sampled_from([partial(rk.mean, kind="geometric"), partial(rk.mean, kind="harmonic")])
    overs = st.lists(st.sampled_from([0, 0.4]), min_size=2, max_size=2)
    return st.one_of(
        st.builds(_power_mean, means, st.lists(st.tuples(positive_weights, inner), min_size=1, max_size=3)),
        st.builds(lambda rewards, levels: rk.lexicographic(rewards, levels=levels), two, st.sampled_from([1, 4])),
        inner.filter(lambda reward: reward.bounds[0] < reward.bounds[1]).map(rk.penalty),
        st.builds(rk.rank_in_group, inner),
        st.builds(_curriculum, st.lists(inner, min_size=1, max_size=3), overs),
    )


def _grown(inner: st.SearchStrategy[rk.Reward]) -> st.SearchStrategy[rk.Reward]:
    several = st.lists(inner, min_size=1, max_size=3)
    pairs = st.lists(st.tuples(weights, inner), min_size=1, max_size=3)
    combine = st.sampled_from([rk.product, rk.minimum, rk.maximum])
    return st.one_of(
        _new(inner),
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
        # The same part in two places, behind different conditions.
        st.builds(lambda when, part: rk.gate(when, part, threshold=0.5) + part, st.just(accuracy), inner),
        st.builds(lambda part: rk.gate(style, part, threshold=0.5) + rk.gate(form, part, threshold=0.5), inner),
    )


def trees(*, groups: bool = False, max_leaves: int = 8) -> st.SearchStrategy[rk.Reward]:
    """Generate trees of every kind of node; with `groups`, also of rewards that see a whole group."""
    chosen: list[rk.Reward] = [*PLACES, *([rank] if groups else [])]
    return st.recursive(st.sampled_from(chosen), _grown, max_leaves=max_leaves)


def couples_groups(reward: rk.Reward) -> bool:
    """Whether a row's score may depend on other rows of its group."""
    return reward.facts.together == "group" or any(map(couples_groups, reward.children))


@dataclass(frozen=True)
class Rows:
    """Completions with their groups: rows of one group are adjacent and share prompt and task."""

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
    """Generate a few rows, some of them equal; with `single`, each row is its own group."""
    completion = st.text(alphabet=MARKS, min_size=LEAVES, max_size=LEAVES)
    pool = draw(st.lists(completion, min_size=1, max_size=5))
    assert isinstance(pool, list)
    sizes = draw(st.lists(st.just(1) if single else st.integers(1, 3), min_size=1, max_size=5))
    assert isinstance(sizes, list)
    groups = tuple(group for group, size in enumerate(sizes) for _ in range(size))
    return Rows(tuple(str(draw(st.sampled_from(pool))) for _ in groups), groups)


Scored = tuple[str, float]
"""The outcome and the value that counts; NaN if there is none."""

NOTHING: Scored = ("abstained", math.nan)
FAILED: Scored = ("failed", math.nan)


def failed(scored: Scored) -> bool:
    """Whether it failed without a substitute value (`on_failure`)."""
    return scored[0] == "failed" and math.isnan(scored[1])


def expected(reward: rk.Reward, completion: str, task: str, progress: rk.Progress | None) -> Scored:
    """Return the score of one completion that is its own group; bugs score the lowest bound."""

    def of(child: rk.Reward) -> Scored:
        return expected(child, completion, task, progress)

    if isinstance(reward, Leaf):
        return _of_leaf(reward, completion)
    if isinstance(reward, WeightedSum) or (isinstance(reward, Mean) and reward.kind == "arithmetic"):
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
        return of(reward.second) if failed(first) else first
    if isinstance(reward, Monitor):
        return NOTHING
    if isinstance(reward, Named):
        return of(reward.reward)
    if isinstance(reward, Clipped):
        return _combined([of(reward.reward)], lambda values: min(max(values[0], reward.low), reward.high))
    if isinstance(reward, RankInGroup):  # alone in its group
        return FAILED if failed(of(reward.reward)) else NOTHING
    if isinstance(reward, Penalty):
        low, high = reward.reward.bounds
        return _combined([of(reward.reward)], lambda values: reward.size * (values[0] - high) / (high - low))
    if isinstance(reward, Curriculum):
        return _of_curriculum(reward, of, progress)
    if isinstance(reward, Mean):
        return _of_power_mean(reward, of, progress)
    if isinstance(reward, Lexicographic):
        return _of_lexicographic(reward, of)
    assert isinstance(reward, Combination)
    operations: dict[str, Callable[[list[float]], float]] = {"product": math.prod, "minimum": min, "maximum": max}
    return _combined([of(child) for child in reward.rewards], operations[reward.operation])


def _of_leaf(leaf: Leaf, completion: str) -> Scored:
    if leaf.binding.scope == "group":
        return "scored", 1.0
    mark = completion[PLACES[leaf]]
    if mark == "-":
        return NOTHING
    if mark == "x":
        return "failed", leaf.contract.on_failure if isinstance(leaf.contract.on_failure, float) else math.nan
    if mark == "!":
        return "errored", leaf.bounds[0]
    low, high = leaf.bounds
    return "scored", low + (high - low) * int(mark) / 9


def _combined(children: list[Scored], combine: Callable[[list[float]], float]) -> Scored:
    """Return failed if any child failed, else `combine` over the children that have a number."""
    if any(map(failed, children)):
        return FAILED
    values = [value for _, value in children if not math.isnan(value)]
    return ("scored", combine(values)) if values else NOTHING


def _of_weighted(
    reward: WeightedSum | Mean,
    items: list[tuple[float, Weight, rk.Reward]],
    of: Callable[[rk.Reward], Scored],
) -> Scored:
    live = [(now, of(child)) for now, _, child in items if now != 0.0]
    if not live:
        seen = [of(child) for now, weight, child in items if must_evaluate(weight, now, child)]
        counts = isinstance(reward, WeightedSum) and any(not math.isnan(value) for _, value in seen)
        return ("scored", 0.0) if counts else NOTHING
    if any(failed(scored) for _, scored in live):
        return FAILED
    numbers = [(now, value) for now, (_, value) in live if not math.isnan(value)]
    if not numbers:
        return NOTHING
    total = sum(now * value for now, value in numbers)
    return "scored", total / sum(now for now, _ in numbers) if isinstance(reward, Mean) else total


def _of_gate(gate: HardGate | SoftGate, of: Callable[[rk.Reward], Scored], progress: rk.Progress | None) -> Scored:
    outcome, value = of(gate.when)
    if failed((outcome, value)):
        return FAILED
    if isinstance(gate, HardGate):
        opened = outcome == "abstained" or value >= weight_now(gate.threshold, progress) - 1e-9
        return of(gate.then) if opened else ("scored", gate.otherwise)
    opening = 1.0 if outcome == "abstained" else value
    if opening == 0.0:
        return "scored", gate.otherwise
    return _combined([of(gate.then)], lambda values: opening * values[0] + (1.0 - opening) * gate.otherwise)


def _of_curriculum(reward: Curriculum, of: Callable[[rk.Reward], Scored], progress: rk.Progress | None) -> Scored:
    """Weight each stage by how much of it is active: earlier stages have passed, and it has not."""
    left, live = 1.0, []
    for stage in reward.stages:
        passed = 0.0 if stage.until is None else 1.0
        if progress is not None and stage.until is not None:
            done = progress.step / progress.max_steps - stage.until
            passed = min(max(done / stage.over, 0.0), 1.0) if stage.over else float(done >= 0.0)
        if left * (1.0 - passed):
            live.append((left * (1.0 - passed), of(stage.reward)))
        left *= passed
    if any(failed(scored) for _, scored in live):
        return FAILED
    numbers = [weight * value for weight, (_, value) in live if not math.isnan(value)]
    return ("scored", sum(numbers)) if numbers else NOTHING


def _of_power_mean(reward: Mean, of: Callable[[rk.Reward], Scored], progress: rk.Progress | None) -> Scored:
    live = [(weight_now(weight, progress), of(child)) for weight, child in reward.items if weight_now(weight, progress)]
    numbers = [(weight, value) for weight, (_, value) in live if not math.isnan(value)]

    def mean(values: list[float]) -> float:
        total = sum(weight for weight, _ in numbers)
        if 0.0 in values:
            return 0.0
        if reward.kind == "harmonic":
            return total / sum(weight / value for weight, value in numbers)
        return math.exp(sum(weight * math.log(value) for weight, value in numbers) / total)

    return _combined([scored for _, scored in live], mean)


def _of_lexicographic(reward: Lexicographic, of: Callable[[rk.Reward], Scored]) -> Scored:
    """Add up digits between 0 and `levels`; only the last one has a fraction."""
    children = [of(child) for child in reward.rewards]
    total = 0.0
    for place, (child, (_, value)) in enumerate(zip(reward.rewards, children, strict=True), 1):
        low, high = child.bounds
        digit = 0.0 if math.isnan(value) or low == high else reward.levels * (value - low) / (high - low)
        total += (digit if place == len(children) else math.floor(digit + 1e-9)) / (reward.levels + 1) ** place
    highest = sum(reward.levels / (reward.levels + 1) ** place for place in range(1, len(children) + 1))
    return _combined(children, lambda values: total / highest)
