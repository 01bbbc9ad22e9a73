"""Expressions: findings that can be pasted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.check.findings import expression_of, imports_of
from tests.check.rewards import naive, number

TEXTS = st.tuples(st.text(max_size=20), st.text(min_size=1, max_size=5), st.integers(0, 300), st.text(max_size=20))


@given(TEXTS)
def test_an_expression_is_the_text(parts: tuple[str, str, int, str]) -> None:
    before, piece, count, after = parts
    text = before + piece * count + after
    assert eval(expression_of(text)) == text
    messages = [{"role": "assistant", "content": text}]
    assert eval(expression_of(messages)) == messages


def test_a_long_completion_is_short_and_whole() -> None:
    text = "\u2039" + "0" * 50_000 + "!"
    assert expression_of(text) == "'\u2039' + '0' * 50_000 + '!'"
    assert len(expression_of("<answer>" + "a b " * 10_000 + "</answer>")) < 60


@pytest.mark.parametrize(
    ("reward", "imports"),
    [
        (naive, "from tests.check.rewards import naive as reward"),
        (rk.from_trl(naive), "from tests.check.rewards import naive as reward"),
        (
            [naive],
            "from tests.check.rewards import naive; reward = [naive]",
        ),
        (0.25 * number, ""),
        ([naive, lambda completions, **kwargs: [0.0]], ""),
        ([], ""),
    ],
    ids=["function", "leaf", "list", "tree", "lambda", "empty"],
)
def test_the_import_of_a_reward_is_known_or_left_out(reward: Any, imports: str) -> None:
    assert imports_of(reward) == imports
    if imports:
        exec(imports, {})
