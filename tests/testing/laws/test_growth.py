"""Laws of growth: time and memory in proportion to the length."""

from __future__ import annotations

import math
import re
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.testing.laws.growth import _SIZES, _too_steep
from rewardkit.testing.laws.long_texts import families_of
from tests.testing.rewards import assert_held, assert_skipped, broken, number, shown, subject, tagged_number, tree

CATASTROPHE = re.compile(r"^<answer>((\w+\s?)+)</answer>$")


def catastrophic(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Nested repetition: the time doubles with every letter."""
    found = [CATASTROPHE.match(text if len(text) < 60 else "") for text in completions]
    return [float(gold in match.group(1)) if match else 0.0 for match, gold in zip(found, answer, strict=True)]


def lazy(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """One lazy group is quadratic on hostile text, and not worth an alarm."""
    found = [re.search(r"<answer>(.*?)</answer>", text) for text in completions]
    return [float(match.group(1) == gold) if match else 0.0 for match, gold in zip(found, answer, strict=True)]


def matrix(completions: list[str], **kwargs: Any) -> list[float]:
    """A table of all pairs of characters, as in a distance of edits."""
    scores = []
    for text in completions:
        size = min(len(text), 8_000)
        table = [bytearray(size) for _ in range(size)]
        scores.append(float(len(table) > 5))
    return scores


def series(exponent: float, last: float) -> list[tuple[int, float]]:
    return [(size, last * (size / 8_000) ** exponent) for size in (2_000, 4_000, 8_000)]


@pytest.mark.parametrize("reward", [number, tagged_number], ids=shown)
def test_linear_rewards_hold(reward: Any) -> None:
    assert_held(reward, "time_linear", "memory_bounded", budget=600.0)


@pytest.mark.slow
@pytest.mark.parametrize("reward", [tree, lazy], ids=shown)
def test_trees_and_single_lazy_groups_hold(reward: Any) -> None:
    assert_held(reward, "time_linear", "memory_bounded", budget=600.0)


def test_time_that_explodes() -> None:
    (found,) = broken(catastrophic, "time_linear")
    assert "grows like n^" in found.why
    assert "50,000 characters would take more than" in found.why
    assert len(found.completion) <= 120
    assert "takes minutes" in found.matters


def test_memory_that_explodes() -> None:
    (found,) = broken(matrix, "memory_bounded")
    assert re.search(r"8,000 take [\d.]+ MB: 50,000 would take [\d,]+ MB", found.why)
    assert len(found.completion) < 9_000


def test_slow_whatever_the_length() -> None:
    def judge(completions: list[str], **kwargs: Any) -> list[float]:
        time.sleep(0.06 * len(completions))
        return [0.5 for _ in completions]

    assert_skipped(judge, "time_linear", "at any length", examples=[{}], good=["a"], bad=[])


@given(st.floats(0.5, 2.0), st.floats(0.02, 0.2))
def test_up_to_quadratic_growth_of_little_is_no_alarm(exponent: float, last: float) -> None:
    assert _too_steep(series(min(exponent, 1.4), last)) == ""


@given(st.floats(2.5, 6.0), st.floats(0.15, 5.0))
def test_steep_growth_of_much_is(exponent: float, last: float) -> None:
    said = _too_steep(series(exponent, last))
    assert f"n^{exponent:.1f}" in said
    assert _too_steep(series(exponent, 0.001)) == ""


def test_families_grow_in_proportion() -> None:
    families = dict(families_of(subject(lazy)))
    assert "'<answer>' * n" in families
    assert any("in the place of the answer" in name for name in families)
    for name, grown in families.items():
        sizes = [len(grown(size)) for size in (1_000, 4_000)]
        assert math.isclose(sizes[1] - sizes[0], 3_000, rel_tol=0.3 if "counted up" in name else 0.02), name
    assert list(_SIZES) == sorted(_SIZES)
