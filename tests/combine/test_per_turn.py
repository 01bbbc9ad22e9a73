"""Per-turn rewards: the number, and the share of each turn in it."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.check.variants import strategies
from rewardkit.combine.per_turn import Reduction
from tests.record.conversations import OPENED, asks, result, says

Message = dict[str, Any]
Values = list[float | None]

REDUCTIONS = [
    Reduction("progress"),
    Reduction("progress", 0.9),
    Reduction("lowest"),
    Reduction("last"),
    Reduction("mean"),
    Reduction("sum", turns=5),
    Reduction("sum", turns=50),
]
AVERAGE: Any = "average"
MEN: Any = "men"
ALL: Any = "all"
VALUES = st.lists(st.none() | st.floats(-1e3, 1e3), max_size=8)


def turns(values: Sequence[Any]) -> list[Message]:
    """A completion whose turns say their values: 0.5, none, fail or bug."""
    return [says("none" if value is None else str(value)) for value in values]


@rk.reward(bounds=(-1e3, 1e3))
def said(completion: str) -> float | None:
    """What the last turn says; the empty state abstains."""
    if completion in ("none", ""):
        return None
    if completion == "fail":
        raise rk.RewardFailure("the judge is down")
    return float(completion)


@rk.reward
def share(completion: str) -> rk.Score:
    return rk.Score(float(completion or 0), f"said {completion}")


def make(reduction: Reduction, reward: Any = said, **options: Any) -> rk.Reward:
    if reduction.reduce == "sum":
        options["turns"] = reduction.turns
    return rk.per_turn(reward, reduce=reduction.reduce, discount=reduction.discount, **options)


def scored(reward: rk.Reward, completion: Any, **columns: Any) -> tuple[float, list[float], str]:
    """The number, the shares and the outcome."""
    table = rk.score(reward, [completion], **columns)
    (name,) = (name for name in table.components if name.endswith("per_turn"))
    return float(table.total[0]), table.turns[name][0].tolist(), str(table.outcomes[name][0])


def by_hand(reduction: Reduction, values: Values) -> float | None:
    known = [(place + 1, value) for place, value in enumerate(values) if value is not None]
    if not known:
        return None
    numbers = [value for _, value in known]
    return {
        "progress": lambda: reduction.discount ** known[-1][0] * numbers[-1],
        "lowest": lambda: min(numbers),
        "last": lambda: numbers[-1],
        "mean": lambda: math.fsum(numbers) / len(numbers),
        "sum": lambda: math.fsum(numbers[: reduction.turns]),
    }[reduction.reduce]()


@pytest.mark.parametrize(
    ("reduction", "number", "shares"),
    [
        (Reduction("progress"), 1.0, [0.2, 0.4, 0.4]),
        (Reduction("progress", 0.5), 0.125, [0.1, 0.05, -0.025]),
        (Reduction("lowest"), 0.2, [0.2, 0.0, 0.0]),
        (Reduction("last"), 1.0, [0.0, 0.0, 1.0]),
        (Reduction("mean"), 0.6, [0.2 / 3, 0.2, 1 / 3]),
        (Reduction("sum", turns=3), 1.8, [0.2, 0.6, 1.0]),
        (Reduction("sum", turns=2), 0.8, [0.2, 0.6, 0.0]),
    ],
)
def test_the_numbers_of_the_docs(reduction: Reduction, number: float, shares: list[float]) -> None:
    found = scored(make(reduction), turns([0.2, 0.6, 1.0]))
    assert found[0] == pytest.approx(number)
    assert found[1] == pytest.approx(shares)


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
@given(VALUES)
def test_the_shares_sum_to_the_value(reduction: Reduction, values: Values) -> None:
    number, shares, outcome = scored(make(reduction), turns(values))
    expected = by_hand(reduction, values)
    if not values:
        assert (number, shares, outcome) == (0.0, [], "scored")
    elif expected is None:
        assert (shares, outcome) == ([], "abstained")
        assert math.isnan(number)
    else:
        assert number == pytest.approx(expected, abs=1e-9, rel=1e-9)
        assert math.fsum(shares) == pytest.approx(number, abs=1e-9)
        assert len(shares) == len(values)
        assert all(share == 0.0 for share, value in zip(shares, values, strict=True) if value is None)


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
@given(values=VALUES)
def test_a_column_of_numbers_gives_the_same(reduction: Reduction, values: Values) -> None:
    by_reward = scored(make(reduction), turns(values))
    by_column = scored(make(reduction, "values"), turns(values), values=[values])
    np.testing.assert_allclose(by_column[0], by_reward[0], atol=1e-12)
    assert by_column[1:] == by_reward[1:]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1), st.floats(0.1, 1.0))
def test_progress_pays_what_the_last_state_is_worth_whatever_the_way(
    values: list[float], start: float, discount: float
) -> None:
    reduction = Reduction("progress", discount)
    shares = reduction.shares(values, start)
    assert shares is not None
    assert math.fsum(shares) == pytest.approx(discount ** len(values) * values[-1] - start)
    before = [start, *values]
    assert shares == pytest.approx(
        [discount ** (t + 1) * before[t + 1] - discount**t * before[t] for t in range(len(values))]
    )


def test_progress_starts_from_the_empty_state() -> None:
    @rk.reward
    def length(completion: str, trajectory: rk.Trajectory) -> float:
        return 0.5 + len(trajectory.turns) / 10

    assert scored(rk.per_turn(length, reduce="progress"), turns([1, 1, 1]))[0] == pytest.approx(0.3)


def test_the_first_of_equally_low_turns_has_the_share() -> None:
    assert scored(make(Reduction("lowest")), turns([1, 0.5, 0.5]))[1] == [0.0, 0.5, 0.0]
    assert scored(make(Reduction("lowest")), turns([0, 0]))[1] == [0.0, 0.0]


def test_turns_or_prefixes() -> None:
    seen: list[tuple[str, int, str]] = []

    @rk.reward
    def watching(trajectory: rk.Trajectory, completion: str) -> float:
        seen.append((completion, len(trajectory.calls), trajectory.stop))
        return 0.5

    rk.score(rk.per_turn(watching, reduce="mean"), [OPENED])
    assert seen == [("", 1, "silent"), ("It is 18.", 0, "answered")]
    seen.clear()
    rk.score(rk.per_turn(watching, reduce="mean", score_of="prefixes"), [OPENED])
    assert seen == [("", 1, "silent"), ("It is 18.", 1, "answered")]
    seen.clear()
    rk.score(rk.per_turn(watching, reduce="progress"), [OPENED])
    assert seen == [("", 0, "silent"), ("", 1, "silent"), ("It is 18.", 1, "answered")]


def test_text_is_one_turn() -> None:
    for reduction in REDUCTIONS:
        number, shares, _ = scored(make(reduction), "0.5")
        assert number == pytest.approx(0.5 * reduction.discount)
        assert shares == [number]


def test_no_turn_is_0_with_a_note() -> None:
    for completion in ([], [{"role": "user", "content": "?"}]):
        table = rk.score(make(Reduction("mean")), [completion])
        assert (table.total.tolist(), table.notes["said_per_turn"]) == ([0.0], ["no turn"])


def test_one_failed_turn_fails_the_row() -> None:
    for reduction in REDUCTIONS:
        table = rk.score(make(reduction), [turns([0.5, "fail"]), turns([0.5])])
        assert [str(outcome) for outcome in table.outcomes["said_per_turn"]] == ["failed", "scored"]
        assert table.turns["said_per_turn"][0].tolist() == []
        assert [fault.row for fault in table.faults] == [0]


def test_a_bug_raises_first_and_later_counts_as_the_lowest_value() -> None:
    with pytest.raises(rk.errors.RewardBug, match="could not convert"):
        rk.score(make(Reduction("mean")), [turns([0.5, "bug"])])
    batch = rk.Batch([turns([1, "bug"]), turns([1])])
    table = rk.Scorer(make(Reduction("mean"), share)).score(batch, strict=False)
    assert [str(outcome) for outcome in table.outcomes["share_per_turn"]] == ["errored", "scored"]
    assert table.total.tolist() == [0.5, 1.0]


def test_the_note_is_that_of_the_worst_turn() -> None:
    table = rk.score(make(Reduction("mean"), share), [turns([1, 0.25, 0.5])])
    assert table.notes["share_per_turn"] == ["turn 2: said 0.25"]


def test_columns_and_prompts_reach_the_turns() -> None:
    @rk.reward
    def right(completion: str, prompt: str, answer: int) -> float:
        return float(completion == f"{prompt}{answer}")

    table = rk.score(
        rk.per_turn(right, reduce="mean"),
        [turns(["a1", "b2"]), turns(["b2", "b2", "b1"])],
        prompts=["a", "b"],
        answer=["1", "2"],
    )
    assert table.total.tolist() == pytest.approx([0.5, 2 / 3])


@given(st.lists(strategies.trajectories(), min_size=1, max_size=4))
def test_rows_do_not_mix(group: list[list[Message]]) -> None:
    reward = (
        rk.per_turn(rk.agents.calls_between(0, 1, margin=3), reduce="mean", score_of="prefixes") + rk.agents.finished()
    )
    together = rk.score(reward, group)
    for row, completion in enumerate(group):
        alone = rk.score(reward, [completion])
        assert together.total[row] == pytest.approx(alone.total[0])
        for name in together.components:
            assert together.turns[name][row].tolist() == alone.turns[name][0].tolist()


@settings(max_examples=20)
@given(strategies.trajectories(), st.sampled_from(REDUCTIONS))
def test_a_whole_tree_may_be_scored_per_turn(messages: list[Message], reduction: Reduction) -> None:
    tree = (
        0.5 * rk.agents.finished()
        + rk.gate(rk.agents.finished(), rk.length.between(1, 5, unit="words"))
        - 0.1 * rk.agents.turns_between(0, 1)
    )
    reward = make(reduction, tree)
    table = rk.score(reward, [messages])
    low, high = reward.bounds
    assert low - 1e-9 <= table.total[0] <= high + 1e-9
    (name,) = table.components
    assert math.fsum(table.turns[name][0]) == pytest.approx(table.total[0])


def test_per_turn_inside_per_turn() -> None:
    inner = rk.per_turn(share, reduce="lowest")
    states = rk.per_turn(inner, reduce="progress")
    assert scored(states, turns([0.75, 0.5, 1]))[:2] == (0.5, [0.75, -0.25, 0.0])


def test_the_weight_counts_for_the_term() -> None:
    table = rk.score(0.5 * make(Reduction("last"), share), [turns([0.2, 1])])
    assert table.total.tolist() == [0.5]
    assert table.turns["share_per_turn"][0].sum() * 0.5 == table.terms["share_per_turn"][0]


def test_a_broken_environment_fails_the_row() -> None:
    batch = rk.Batch([turns([1]), turns([1])], rollouts=RolloutInfo(broken={0: "down"}))
    table = rk.Scorer(make(Reduction("mean"), share) + make(Reduction("last"), "values").named("column")).score(
        rk.Batch([turns([1])] * 2, columns={"values": [[1], [1]]}, rollouts=batch.rollouts)
    )
    for outcomes in table.outcomes.values():
        assert [str(outcome) for outcome in outcomes] == ["failed", "scored"]
    assert [str(total) for total in table.total] == ["nan", "2.0"]


def test_a_cut_trajectory_is_cut_in_its_last_state_alone() -> None:
    batch = rk.Batch([turns(["a", "b"])], rollouts=RolloutInfo(cut=[True]))
    table = rk.Scorer(rk.per_turn(rk.agents.finished(), reduce="mean", score_of="prefixes")).score(batch)
    assert table.turns["finished_per_turn"][0].tolist() == [0.5, 0.0]


def test_a_cut_turn_is_cut_by_itself_too() -> None:
    batch = rk.Batch([turns(["a", "b"])], rollouts=RolloutInfo(cut=[True]))
    table = rk.Scorer(rk.per_turn(rk.agents.finished(), reduce="mean")).score(batch)
    assert table.turns["finished_per_turn"][0].tolist() == [0.5, 0.0]


@pytest.mark.parametrize(
    ("reduce", "options", "warned"),
    [
        ("mean", {}, True),
        ("sum", {"turns": 3}, True),
        ("lowest", {}, False),
        ("last", {}, False),
        ("progress", {}, False),
    ],
)
def test_pay_for_easy_turns_is_reported(reduce: Any, options: Any, warned: bool) -> None:
    traps = rk.Scorer(rk.per_turn(share, reduce=reduce, **options)).traps()
    assert any("gains from additional turns" in trap for trap in traps) is warned
    penalty = rk.per_turn(said.clip(-1.0, 0.0), reduce=reduce, **options)
    assert not any("additional turns" in trap for trap in rk.Scorer(penalty).traps())


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ([0.5], "has 1 numbers for 2 turns"),
        ([0.5] * 3, "has 3 numbers for 2 turns"),
        ([], "has 0 numbers for 2 turns"),
        ("[0.5]", "has 1 numbers for 2 turns"),
        (["x", 1], "values"),
        (7, "values"),
    ],
)
def test_a_column_must_have_one_number_for_each_turn(column: Any, problem: str) -> None:
    with pytest.raises(rk.errors.CoercionError, match=problem):
        rk.score(rk.per_turn("values", reduce="mean"), [turns([1, 1])], values=[column])


def test_a_column_may_be_json_text_and_may_be_missing() -> None:
    reward = rk.per_turn("values", reduce="mean")
    table = rk.score(reward, [turns([1, 1])] * 2, values=["[0.5, null]", None])
    assert [str(outcome) for outcome in table.outcomes["per_turn"]] == ["scored", "abstained"]
    assert table.total.tolist()[0] == 0.5


@rk.reward(scope="group")
def relative(completion: list[str]) -> list[float]:
    return [0.0] * len(completion)


@rk.reward
def tokens(completion_ids: list[int]) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("make_reward", "problem"),
    [
        (lambda: rk.per_turn(share, reduce=AVERAGE), "reduce must be one of"),
        (lambda: rk.per_turn(share, reduce=MEN), "Did you mean 'mean'"),
        (lambda: rk.per_turn(share, reduce="last", score_of=ALL), 'score_of must be "turns" or "prefixes"'),
        (lambda: rk.per_turn(share, reduce="progress", score_of="turns"), "so it needs prefixes"),
        (lambda: rk.per_turn(share, reduce="last", discount=0.9), "discount=0.9 applies only"),
        (lambda: rk.per_turn(share, reduce="progress", discount=0.0), "discount must be greater than 0"),
        (lambda: rk.per_turn(share, reduce="progress", discount=1.1), "discount must be greater than 0"),
        (lambda: rk.per_turn(share, reduce="sum"), "needs turns="),
        (lambda: rk.per_turn(share, reduce="mean", turns=2), "turns= applies only"),
        (lambda: rk.per_turn(share, reduce="sum", turns=0), "at least 1"),
        (lambda: rk.per_turn(share, reduce="sum", turns=True), "at least 1"),
        (lambda: rk.per_turn(relative, reduce="mean"), "compares completions with each other"),
        (lambda: rk.per_turn(rk.rank_in_group(share), reduce="mean"), "compares completions with each other"),
        (lambda: rk.per_turn(tokens, reduce="mean"), "reads token ids"),
        (lambda: rk.per_turn(rk.agents.environment_reward(), reduce="mean"), "reads the environment"),
        (
            lambda: rk.per_turn(rk.agents.finished() + rk.agents.final_state(lambda environment: True), reduce="mean"),
            "environment",
        ),
    ],
)
def test_options_are_checked(make_reward: Any, problem: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=problem):
        make_reward()
    with pytest.raises(TypeError):
        rk.per_turn(share)  # type: ignore[call-arg]


def test_it_is_shown_and_pickled() -> None:
    rewards = {
        rk.per_turn(rk.agents.finished(), reduce="progress"): "per_turn(agents.finished(), reduce='progress')",
        rk.per_turn(
            rk.agents.finished(), reduce="progress", discount=0.9
        ): "per_turn(agents.finished(), reduce='progress', discount=0.9)",
        rk.per_turn(rk.agents.finished(), reduce="sum", turns=3, score_of="prefixes"): (
            "per_turn(agents.finished(), reduce='sum', score_of='prefixes', turns=3)"
        ),
        rk.per_turn("values", reduce="last"): "per_turn('values', reduce='last')",
    }
    for reward, shown in rewards.items():
        assert repr(reward) == shown
        again = pickle.loads(pickle.dumps(reward))
        assert (again == reward, hash(again), repr(again)) == (True, hash(reward), shown)


def test_own_shares_must_be_one_for_each_turn() -> None:
    @rk.reward
    def own(trajectory: rk.Trajectory) -> rk.Score:
        return rk.Score(1.0, turns=[0.25, 0.75])

    assert rk.score(own, [turns([1, 1])]).turns["own"][0].tolist() == [0.25, 0.75]
    with pytest.raises(rk.errors.RewardBug, match="2 shares for 1 turns"):
        rk.score(own, [turns([1])])


def test_four_hundred_turns() -> None:
    many = [message for number in range(400) for message in (asks(("f", {"n": number})), result("f", "ok"))]
    reward = rk.per_turn(rk.agents.tool_success("f"), reduce="progress")
    number, shares, _ = scored(reward, many)
    assert (number, len(shares), shares[0]) == (1.0, 400, 1.0)
