"""The laws of the preflight: what was not tried is said."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rewardkit.tree.conversion import tree_of

datasets = pytest.importorskip("datasets")

from rewardkit_adapters.runner.preflight.checks import laws  # noqa: E402
from rewardkit_adapters.runner.preflight.findings import (  # noqa: E402
    Finding,
    Table,
)

ROWS = {"prompt": ["6*7?", "3+4?"], "answer": ["42", "7"]}


def words(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Quadratic in letters."""
    return [
        float(gold in re.findall(r"(\w+)\s*(?:==|;|$)", one)) for one, gold in zip(completions, answer, strict=True)
    ]


def found(budget: float) -> list[Finding]:
    tree = tree_of(words, "test")
    table = Table(datasets.Dataset.from_dict(ROWS), tree, "training", 100)
    return [one for one in laws(words, tree, table, {}, None, budget, 0) if one.where == "law time_linear"]


@pytest.mark.slow
def test_a_slow_reward_is_an_error_and_too_little_time_a_warning() -> None:
    (late,) = found(0.02)
    assert late.kind == "warning"
    assert "preflight.budget" in late.remedy
    (slow,) = found(60.0)
    assert slow.kind == "error"
    assert all("..." not in row for row in slow.rows)
