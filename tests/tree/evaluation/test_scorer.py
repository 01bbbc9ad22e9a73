"""Scorer: gates, schedules that follow components, faults, and the table that comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward
from tests.counting import Counting, counted


def test_gate_pass_rates_count_the_rows_that_reach_the_gate() -> None:
    outer, _ = counted("outer", lambda completion: float("o" in completion))
    inner, _ = counted("inner", lambda completion: float("i" in completion))
    part, _ = counted("part")
    table = rk.score(rk.gate(outer, rk.gate(inner, part)), ["oi", "o", "i", ""])
    assert table.gates == {"outer_gate": 0.5, "inner_gate": 0.5}


def test_an_unscorable_row_keeps_only_the_values_of_scored_components() -> None:
    fine, _ = counted("fine")

    @rk.reward
    def down(completion: str) -> float:
        if completion == "bad":
            raise rk.RewardFailure("down")
        return 0.5

    table = rk.score(fine + down, ["good", "bad"])
    assert table.total[0] == 1.0
    assert np.isnan([table.total[1], table.terms["fine"][1], table.terms["down"][1], table["down"][1]]).all()
    assert table["fine"].tolist() == [0.5, 0.5]
    assert table.faults[0].row == 1


def test_missing_columns_are_found_before_anything_is_evaluated() -> None:
    part, calls = counted("part")
    with pytest.raises(rk.errors.BindingError, match="'answer'"):
        rk.score(part + rk.exact("answer"), ["a"])
    assert not calls


def test_timings_are_kept_by_component() -> None:
    part, _ = counted("part")
    table = rk.score(part + rk.tags("a"), ["x"])
    assert set(table.timings) == {"part", "tags"}
    assert all(seconds >= 0.0 for seconds in table.timings.values())


def test_reward_and_completions_are_positional_so_that_columns_may_have_their_names() -> None:
    @rk.reward
    def close(reward: float, completions: float) -> float:
        return reward * completions

    assert rk.score(close, ["a"], reward=["0.5"], completions=["1"]).total.tolist() == [0.5]


REACHED = rk.schedules.when_reached("part", level=0.5, window=1)
START = rk.Progress(0, 10)


def test_a_followed_reward_is_scored_on_all_rows_behind_a_closed_gate() -> None:
    part, calls = counted("part", lambda completion: 0.25 * len(completion))
    condition, _ = counted("condition", lambda completion: float("o" in completion))
    table = rk.score(rk.gate(condition, part) + REACHED * condition, ["o", "xx", "xxx"], progress=START)
    assert table["part"].tolist() == [0.25, 0.5, 0.75]
    assert table.terms["part"].tolist() == [0.25, 0.0, 0.0]
    assert table.total.tolist() == [0.25, 0.0, 0.0]
    assert set(calls.values()) == {1}


def test_a_followed_reward_is_scored_at_weight_zero_even_if_it_is_expensive() -> None:
    part = rk.reward(name="part", expensive=True)(lambda completion: 0.75)
    other, _ = counted("other")
    fading = rk.schedules.linear(0.0, 1.0)
    for tree in (other * REACHED + 0.0 * part, other * REACHED + fading * part, other * REACHED + rk.monitor(part)):
        assert rk.score(tree, ["a"], progress=START)["part"].tolist() == [0.75]
    assert rk.score(other + fading * part, ["a"], progress=START).outcomes["part"].tolist() == ["skipped"]


def test_a_followed_reward_is_not_scored_in_other_routes() -> None:
    @rk.reward
    def part(completion: str, answer: float) -> float:
        return answer

    other, _ = counted("other")
    tree = rk.route({"math": rk.gate(other, part, threshold=0.9), "code": other}, by="task") + REACHED * other
    table = rk.score(tree, ["a", "b"], task=["math", "code"], answer=["0.5", "no number"], progress=START)
    assert table.outcomes["part"].tolist() == ["scored", "abstained"]
    assert table["part"][0] == 0.5


def test_a_followed_reward_behind_a_closed_gate_is_not_scored_in_other_routes() -> None:
    @rk.reward
    def part(completion: str, answer: float) -> float:
        return answer

    other, _ = counted("other")
    shut, _ = counted("shut", lambda completion: 0.0)
    tree = rk.gate(shut, rk.route({"math": part, "code": other}, by="task")) + REACHED * other
    columns = {"task": ["math", "code", "unknown"], "answer": ["0.5", "no number", "no number"]}
    table = rk.score(tree, ["a", "b", "c"], progress=START, **columns)  # type: ignore[arg-type]
    np.testing.assert_array_equal(table["part"], [0.5, np.nan, np.nan])


def test_a_followed_reward_in_several_routes_is_scored_in_all_of_them() -> None:
    part, _ = counted("part")
    shut, _ = counted("shut", lambda completion: 0.0)
    gated = rk.gate(shut, part)
    tree = rk.route({"math": gated, "code": gated + shut}, by="task") + REACHED * shut
    table = rk.score(tree, ["a", "b"], task=["math", "code"], progress=START)
    assert table["part"].tolist() == [0.5, 0.5]


def test_a_followed_reward_may_fail_where_it_does_not_count() -> None:
    @rk.reward
    def part(completion: str) -> float:
        raise rk.RewardFailure("down")

    shut, _ = counted("shut", lambda completion: 0.0)
    table = rk.score(rk.gate(shut, part) + REACHED * shut, ["a"], progress=START)
    assert table.total.tolist() == [0.0]
    assert table.outcomes["part"].tolist() == ["failed"]
    assert [fault.component for fault in table.faults] == ["part"]


HOSTILE = [
    "", "\x00", "\ud800", "\udfff\ud800", "\x1b[2J", "\u202e", "a" * 1_000_000, "<answer>" * 20_000,
    "\\boxed{" * 20_000,
    "[" * 100_000, "{" * 1_000 + "}" * 1_000, "```json\n" * 10_000, "####" * 20_000, "<think>" * 20_000, "\n" * 500_000,
    "9" * 100_000, "<answer>" + "9" * 5_000 + "</answer>", "1e999", "<answer>1e999</answer>", "<answer>NaN</answer>",
    "<answer>-0</answer>", "<answer>\ud800</answer>", "\u0661\u0662", "1," * 50_000, "." * 100_000, "\u2028" * 1_000,
    '{"a": 1' + "0" * 5_000 + "}", '{"a": "\ud800"}', "<answer>{}</answer>" * 2, "-" * 100_000, "1" + ",111" * 1_000,
]  # fmt: skip
PRIMITIVES = [
    rk.tags("think", "answer"),
    rk.tags("answer", partial=True, anchored=False).named("loose"),
    rk.tags("think", "answer", prefilled="think").named("prefilled"),
    rk.exact("answer"),
    rk.exact("answer", extract=rk.extract.fenced("json"), ignore_case=True).named("fenced"),
    rk.number("answer"),
    rk.number("answer", credit="exponential", thousands=True, percent=True, relative=0.1).named("near"),
    rk.number("answer", credit="linear", extract=rk.extract.whole(), tolerance=1).named("linear"),
    rk.json_schema({"type": "object", "properties": {"a": {"type": "number"}}}),
]


@pytest.mark.parametrize("reward", PRIMITIVES, ids=lambda reward: reward.name)
def test_hostile_completions_do_not_raise_or_affect_other_rows(reward: Reward) -> None:
    neighbor = "<think>6*7</think><answer>42</answer>"
    completions = [neighbor, *HOSTILE, neighbor]
    table = rk.score(reward, completions, answer=["42"] * len(completions))
    assert table.outcomes[reward.name].tolist() == ["scored"] * len(completions)
    assert table.total[0] == table.total[-1] == rk.score(reward, [neighbor], answer=["42"]).total[0]
    assert repr(table)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=60))
def test_no_text_makes_a_primitive_raise(text: str) -> None:
    for wrapped in (text, f"<answer>{text}</answer>", f"\\boxed{{{text}}}", f"#### {text}", f"```json\n{text}\n```"):
        table = rk.score(rk.weighted_sum(PRIMITIVES), [wrapped], answer=[42])
        assert np.isfinite(table.total).all()


def test_measurements_are_in_the_table_by_component() -> None:
    counting = rk.reward(name="counting")(Counting())
    opens = rk.contains(all="a").named("opens")
    tree = rk.gate(opens, counting) + rk.gate(rk.contains(all="b").named("other"), counting) + opens
    table = rk.score(tree, ["a", "b", "ab", "c"])
    assert table.measured == {"calls/counting": 3.0}
    assert rk.score(tree, ["c"]).measured == {}
    assert rk.score(counting.named("renamed") + opens, ["a"]).measured == {"calls/renamed": 1.0}
    assert Scorer(tree).measures
    assert not Scorer(opens).measures
