"""Token budgets: LCPO's rewards, with a fixed budget and with one per row."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


@rk.reward
def is_right(completion: str) -> float | None:
    if "down" in completion:
        raise rk.RewardFailure("down")
    return None if "skip" in completion else float("right" in completion)


def value(reward: rk.Reward, completion: str, tokens: int, **columns: Any) -> float:
    return float(rk.score(reward, [completion], completion_ids=[[1] * tokens], **columns).total[0])


@pytest.mark.parametrize(
    ("form", "completion", "tokens", "score"),
    [
        ("exact", "right", 1_000, 1.0), ("exact", "right", 2_000, 0.7), ("exact", "right", 0, 0.7),
        ("exact", "wrong", 1_000, 0.0), ("exact", "wrong", 2_000, -0.3), ("exact", "wrong", 0, -0.3),
        ("max", "right", 1_000, 0.5), ("max", "right", 2_000, 0.2), ("max", "right", 0, 0.8),
        ("max", "right", 9_000, 0.0), ("max", "wrong", 1_000, 0.0), ("max", "wrong", 0, 0.0),
        ("max", "wrong", 9_000, 0.0),
    ],
)  # fmt: skip
def test_the_examples(form: Any, completion: str, tokens: int, score: float) -> None:
    assert value(rk.length.budget(is_right, 1_000, form=form), completion, tokens) == pytest.approx(score)


counts = st.integers(0, 3_000)
budgets = st.integers(1, 3_000)
alphas = st.sampled_from([0.0003, 0.001, 0.01])


@given(counts, budgets, st.booleans(), alphas, st.sampled_from([0.25, 0.5, 1.0]))
def test_the_scores_are_those_of_the_papers_equations(
    length: int, budget: int, right: bool, alpha: float, delta: float
) -> None:
    text = "right" if right else "wrong"
    exact = rk.length.budget(is_right, budget, alpha=alpha)
    most = rk.length.budget(is_right, column="budget", form="max", alpha=alpha, delta=delta)
    assert value(exact, text, length) == pytest.approx(right - alpha * abs(budget - length))
    expected = right * min(1.0, max(0.0, alpha * (budget - length) + delta))
    assert value(most, text, length, budget=[budget]) == pytest.approx(expected)


@given(counts, counts, budgets, alphas)
def test_nearer_is_better_and_a_wrong_answer_within_the_maximum_is_never_paid(
    one: int, other: int, budget: int, alpha: float
) -> None:
    exact, most = (rk.length.budget(is_right, budget, form=form, alpha=alpha) for form in ("exact", "max"))
    near, far = sorted((one, other), key=lambda length: abs(length - budget))
    assert value(exact, "right", near) >= value(exact, "right", far)
    assert value(most, "right", min(one, other)) >= value(most, "right", max(one, other)) >= 0.0
    assert value(most, "wrong", one) == 0.0
    assert value(exact, "wrong", one) <= 0.0


def test_a_budget_per_row() -> None:
    reward = rk.length.budget(is_right, column="budget")
    ids = [[1] * 100] * 5
    table = rk.score(reward, ["right"] * 5, completion_ids=ids, budget=[100, "1100", 100.0, None, 2_100])
    assert table.total[[0, 1, 2, 4]].tolist() == pytest.approx([1.0, 0.7, 1.0, 0.4])
    assert table.outcomes["length_budget"][3] is rk.Outcome.ABSTAINED
    assert table["tokens_over_budget"][[0, 1, 4]].tolist() == [0.0, -1_000.0, -2_000.0]
    for cell in (0, -5, "many", float("inf"), [100], True):
        with pytest.raises(rk.errors.CoercionError, match="column 'budget', row 1"):
            rk.score(reward, ["right"] * 2, completion_ids=ids[:2], budget=[100, cell])


def test_words_and_characters() -> None:
    words = rk.length.budget(is_right, 4, unit="words", alpha=0.1)
    assert rk.score(words, ["right so it is", "right"]).total.tolist() == pytest.approx([1.0, 0.7])
    characters = rk.length.budget(is_right, 5, unit="characters", form="max", alpha=0.1)
    assert rk.score(characters, ["right", "right\u200b..."]).total.tolist() == pytest.approx([0.5, 0.2])


def test_it_follows_what_says_right() -> None:
    table = rk.score(rk.length.budget(is_right, 1, unit="words"), ["right", "skip", "down"])
    assert [str(outcome) for outcome in table.outcomes["length_budget"]] == ["scored", "abstained", "failed"]


def test_options_are_checked_and_printed() -> None:
    for arguments in (
        {}, {"budget": 5, "column": "a"}, {"column": ""}, {"budget": 0}, {"budget": float("inf")}, {"budget": "5"},
        {"budget": 5, "form": "least"}, {"budget": 5, "alpha": 0}, {"budget": 5, "delta": 1.5},
        {"budget": 5, "delta": 0}, {"budget": 5, "threshold": 2.0}, {"budget": 5, "unit": "lines"},
    ):  # fmt: skip
        with pytest.raises(rk.RewardDefinitionError):
            rk.length.budget(is_right, **arguments)
    with pytest.raises(rk.RewardDefinitionError):
        rk.length.budget(5, 5)  # type: ignore[arg-type]
    with pytest.raises(rk.errors.BindingError, match="completion_ids"):
        rk.score(rk.length.budget(is_right, 5), ["right"])
    reward = rk.length.budget(rk.exact("a"), column="budget", form="max", alpha=0.001)
    assert repr(reward) == "length.budget(exact('a'), column='budget', form='max', alpha=0.001)"
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert rk.length.budget(is_right, 5) == rk.length.budget(is_right, 5.0)
    assert reward.bounds == (0.0, 1.0)
