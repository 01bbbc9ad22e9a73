"""The learning signal of a model's samples: draws by enumeration, gates, components, costs."""

from __future__ import annotations

import json
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.analyze.readiness import Calls, drawn, multiplicities, signal_of

TOTALS = st.lists(st.sampled_from([0.0, 0.5, 1.0, float("nan")]), min_size=2, max_size=7)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [([1, 0, 1], [1, 2]), ([0.3, 0.1 + 0.2], [2]), ([np.nan, 2], [1]), ([np.nan], []), ([0, 5e-5, 1], [2, 1])],
)
def test_multiplicities(totals: list[float], expected: list[int]) -> None:
    assert multiplicities(np.array(totals, dtype=np.float64)) == expected


@given(TOTALS, st.integers(1, 7))
def test_a_draw_is_the_mean_over_all_draws(totals: list[float], num_generations: int) -> None:
    groups = [np.array(group) for group in combinations(totals, min(num_generations, len(totals)))]
    varies = [len(set(group[~np.isnan(group)].tolist())) > 1 for group in groups]
    effective = [(~np.isnan(group)).mean() if varied else 0.0 for group, varied in zip(groups, varies, strict=True)]
    found = drawn(np.array(totals), num_generations)
    assert found.varies == pytest.approx(np.mean(varies))
    assert found.effective == pytest.approx(np.mean(effective))


@given(TOTALS)
def test_more_generations_vary_more(totals: list[float]) -> None:
    chances = [drawn(np.array(totals), number).varies for number in range(1, 9)]
    assert all(one <= other + 1e-12 for one, other in pairwise(chances))
    assert chances[0] == pytest.approx(0.0)


def test_many_samples_do_not_overflow() -> None:
    assert drawn(np.array([1.0] + [0.0] * 4999), 8).varies == pytest.approx(8 / 5000)


@rk.reward
def right(completion: str, answer: str) -> float:
    return float(completion == answer)


@rk.reward
def brief(completion: str) -> float:
    return float(len(completion) == 1)


TEXTS = ["a", "b", "a", "b", "b", "b", "a", "a"]
GROUPS = np.array([0, 1, 0, 1, 0, 1, 2, 2])


def table() -> rk.ScoreTable:
    return rk.score(0.5 * brief + right, TEXTS, answer=["a"] * 8)


def test_signal_of_three_prompts_in_any_order() -> None:
    found = signal_of(table(), GROUPS)
    assert (found.completions, found.groups, found.samples, found.lone) == (8, 3, (2, 3), 0)
    assert found.silent == pytest.approx(2 / 3)
    assert found.silent_at_lowest == found.silent_at_highest == pytest.approx(1 / 3)
    assert found.varying == found.effective_batch == pytest.approx(1 / 3)
    assert found.few_distinct == 1.0
    assert found.advantage_shares == {"brief": 0.0, "right": pytest.approx(1.0)}
    by_name = {one.name: one for one in found.components}
    assert (by_name["brief"].varies, by_name["brief"].deviation, by_name["brief"].mean) == (0.0, 0.0, 1.0)
    assert by_name["right"].varies == pytest.approx(1 / 3)
    assert by_name["right"].deviation == pytest.approx(np.std([1, 1, 0], ddof=1) / 3)
    assert by_name["right"].outcomes == {"scored": 1.0}
    assert any("66.7% of the groups all completions score the same" in warning for warning in found.warnings)
    assert any("'brief' is constant within every group" in warning for warning in found.warnings)


def test_other_sizes_of_groups_are_expected_from_the_samples() -> None:
    assert signal_of(table(), GROUPS, num_generations=2).varying == pytest.approx((2 / 3) / 3)
    larger = signal_of(table(), GROUPS, num_generations=3)
    assert larger.extrapolated == pytest.approx(1 / 3)
    assert larger.varying == pytest.approx(1 / 3)
    assert "at least 33.3%" in str(larger)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), min_size=8, max_size=16))
def test_the_order_of_the_rows_does_not_matter(rows: list[tuple[int, str]]) -> None:
    def found(some: list[tuple[int, str]]) -> dict[str, object]:
        scored = rk.score(0.5 * brief + right, [text for _, text in some], answer=["a"] * len(some))
        result: dict[str, object] = json.loads(
            json.dumps(signal_of(scored, np.array([group for group, _ in some])).to_dict()),
            parse_float=lambda number: round(float(number), 9),
        )
        return result

    if any(sum(group == other for other, _ in rows) > 1 for group in range(4)):
        assert found(rows) == found(sorted(rows))


def test_gates_from_rows_or_from_the_table() -> None:
    scored = rk.score(rk.gate(right, brief), TEXTS, answer=["a"] * 8)
    (gate,) = signal_of(scored, GROUPS).gates
    assert (gate.name, gate.pass_rate, gate.starved, gate.saturated) == ("right_gate", 0.5, None, None)
    assert not any("teaches nothing" in warning for warning in signal_of(scored, GROUPS).warnings)  # the gate varies
    opened = scored["right"] == 1.0
    known = signal_of(scored, GROUPS, gates={"right_gate": (opened, ~opened)})
    assert (known.gates[0].pass_rate, known.gates[0].starved, known.gates[0].saturated) == pytest.approx(
        (0.5, 1 / 3, 1 / 3)
    )
    assert any("in 33.3% of the groups no completion passes" in warning for warning in known.warnings)


def test_costs() -> None:
    found = signal_of(
        table(), GROUPS, calls={"right": 4, "brief": 8}, completions_in_run=1000, price_per_call={"right": 0.01}
    )
    assert found.calls == (Calls("right", 0.5, 500.0, 5.0), Calls("brief", 1.0, 1000.0, None))
    assert signal_of(table(), GROUPS, calls={"right": 4}, price_per_call=1.0).calls == (
        Calls("right", 0.5, None, None),
    )


def test_unscorable_rows_have_no_signal() -> None:
    @rk.reward
    def down(completion: str) -> float:
        if completion == "b":
            raise rk.RewardFailure("the service does not answer")
        return 1.0

    found = signal_of(rk.score(down, TEXTS), GROUPS)
    assert found.unscorable == 0.5
    assert found.silent == 1.0
    assert (found.components[0].outcomes, found.components[0].mean) == ({"scored": 0.5, "failed": 0.5}, 1.0)
    assert "50.0% of the completions are unscorable" in found.warnings[0]
    json.dumps(found.to_dict(), allow_nan=False)


def test_unusable_samples_are_refused() -> None:
    with pytest.raises(rk.errors.BindingError, match="only one completion"):
        signal_of(table(), np.arange(8))
    with pytest.raises(rk.errors.BindingError, match="groups has 2 values for 8 rows"):
        signal_of(table(), np.zeros(2, dtype=np.int64))
    with pytest.raises(rk.RewardDefinitionError, match="at least 2"):
        signal_of(table(), GROUPS, num_generations=1)


def test_prompts_with_one_sample_are_left_out_and_reported() -> None:
    found = signal_of(table(), np.array([0, 1, 0, 1, 0, 1, 2, 3]))
    assert (found.groups, found.lone) == (2, 2)
    assert any("2 prompts have only one sample" in warning for warning in found.warnings)
