"""What adapts while the tiny model learns: which prompts rest, how weights follow the shares, and what is reported."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from benchmarks.learning.pool import distinct
from benchmarks.learning.report import report_on
from benchmarks.learning.sampling import Awake, Rests
from benchmarks.learning.weights import FLOOR, Following

OUTCOMES = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=30)
SHARES = st.floats(-0.5, 1.5)


def drawn_at(rests: Rests, steps: int, without_variance: frozenset[int]) -> dict[int, list[int]]:
    """Return prompt -> the steps at which it came up, two prompts a step."""
    found: dict[int, list[int]] = {}
    for step in range(steps):
        for prompt in rests.draw(2):
            found.setdefault(prompt, []).append(step)
            rests.tell(prompt, varied=prompt not in without_variance)
    return found


def test_a_prompt_without_variance_rests_twice_as_long_each_time_and_comes_back() -> None:
    found = drawn_at(Rests(6, first=4, seed=0), 60, frozenset({0}))
    gaps = [later - earlier for earlier, later in zip(found[0], found[0][1:], strict=False)]
    assert gaps[:3] == [5, 9, 17]
    assert all(len(found[prompt]) > 2 * len(found[0]) for prompt in range(1, 6))


def test_variance_ends_a_row_of_rests() -> None:
    rests = Rests(3, first=4, seed=0)
    for varied in (False, False, True, False):
        while 0 not in rests.draw(1):
            pass
        rests.tell(0, varied=varied)
        last = rests.step
    while 0 not in rests.draw(1):
        rests.tell(1, varied=True)
    assert rests.step - last == 4 + 1


def test_if_all_rest_those_that_wake_next_come_up() -> None:
    found = drawn_at(Rests(6, first=64, seed=0), 6, frozenset(range(6)))
    assert {prompt: len(steps) for prompt, steps in found.items()} == dict.fromkeys(range(6), 2)


@given(st.integers(0, 1000), st.integers(0, 6).flatmap(lambda passes: st.just(5 * passes)))
def test_without_rests_every_prompt_comes_up_once_a_pass(seed: int, steps: int) -> None:
    found = drawn_at(Rests(10, first=16, seed=seed), steps, frozenset())
    assert all(len(times) == steps // 5 for times in found.values())


@given(OUTCOMES)
def test_a_draw_has_as_many_different_prompts_as_asked_for(outcomes: list[list[bool]]) -> None:
    rests = Rests(4, first=2, seed=0)
    for outcome in outcomes:
        chosen = rests.draw(3)
        assert len(set(chosen)) == 3
        for prompt, varied in zip(chosen, outcome, strict=True):
            rests.tell(prompt, varied=varied)


def test_the_sampler_repeats_each_prompt_and_draws_only_when_asked() -> None:
    rests = Rests(6, first=4, seed=0)
    sampler = Awake(rests, steps=5, prompts_per_step=2, generations=3)
    rows = iter(sampler)
    first = [next(rows) for _ in range(6)]
    assert rests.step == 1
    assert first == [prompt for prompt in dict.fromkeys(first) for _ in range(3)]
    assert len(first + list(rows)) == len(sampler) == 30


def test_a_component_that_stops_deciding_gives_way_and_gets_its_weight_back() -> None:
    following = Following({"form": 0.3, "exact": 0.7}, half_life=2.0)
    for _ in range(5):
        assert following.update({"form": 0.3, "exact": 0.7}) == pytest.approx({"form": 0.3, "exact": 0.7})
    for _ in range(40):
        gone = following.update({"form": 0.0, "exact": 1.0})
    assert gone == pytest.approx({"form": 0.03 / 0.73, "exact": 0.7 / 0.73})
    for _ in range(40):
        # Its share is as small as its weight has become.
        back = following.update({"form": following.weights["form"], "exact": following.weights["exact"]})
    assert back == pytest.approx({"form": 0.3, "exact": 0.7})


def test_what_has_never_decided_anything_keeps_its_weight() -> None:
    following = Following({"form": 0.5, "exact": 0.5})
    for _ in range(50):
        assert following.update({"form": 1.0, "exact": 0.0}) == {"form": 0.5, "exact": 0.5}


def test_without_shares_the_weights_stay() -> None:
    following = Following({"form": 0.3, "exact": 0.7}, half_life=1.0)
    following.update({"form": 0.3, "exact": 0.7})
    moved = following.update({"form": 0.1, "exact": 0.9})
    assert moved["form"] < 0.3
    assert following.update({}) == moved


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), max_size=40))
def test_the_sum_of_the_weights_is_constant_and_each_is_bounded(steps: list[tuple[float, float, float]]) -> None:
    start = {"form": 0.3, "fields": 0.3, "exact": 0.4}
    following = Following(start)
    for shares in steps:
        weights = following.update(dict(zip(start, shares, strict=True)))
        assert sum(weights.values()) == pytest.approx(1.0)
        for name, weight in weights.items():
            assert FLOOR * start[name] - 1e-9 <= weight <= start[name] / FLOOR + 1e-9


def test_the_pool_has_each_prompt_once_with_its_own_gold() -> None:
    columns = {"prompt": ["a", "b", "a", "c", "d"], "gold": ["1", "2", "1", "3", "4"]}
    assert distinct(columns, 3) == {"prompt": ["a", "b", "c"], "gold": ["1", "2", "3"]}


def test_the_table_of_a_pool_compares_seed_by_seed() -> None:
    def record(arm: str, seed: int, held_out: list[float]) -> dict[str, object]:
        followed = {"frac_reward_zero_std": [0.0, 0.5]}
        after = {"exact": 1.0}
        return {
            "task": "pool-orders",
            "arm": arm,
            "seed": seed,
            "held_out": held_out,
            "after": after,
            "followed": followed,
        }

    gains = {0: 0.1, 1: 0.1, 2: 0.4}
    records = [record("plain", seed, [0.0, 0.2 * seed]) for seed in gains]
    records += [record("rests", seed, [gain, 0.2 * seed + gain]) for seed, gain in gains.items()]
    row = report_on(records, "pool-orders").splitlines()[-1].split(" | ")
    assert row[0] == "| rests"
    assert row[1] == "3"
    assert row[3].startswith("+0.200 ± ")
    assert row[8] == "0.250 ± 0.000"
