"""Hypothesis strategies: completions, columns, and groups for testing rewards.

A test draws completions that are generated for its reward::

    from hypothesis import given
    from rewardkit.testing import strategies

    reward = rk.tags("think", "answer")

    @given(strategies.completions(reward))
    def test_stays_in_bounds(completion):
        assert 0.0 <= rk.score(reward, [completion]).total[0] <= 1.0

    @given(strategies.completions(reward, kind="nearly valid"))
    def test_one_violation_costs_something(completion):
        assert rk.score(reward, [completion]).total[0] < 1.0

Failures shrink to readable completions, such as ``<think>0</think><answer>0``.
"""

from __future__ import annotations

from rewardkit.errors import MissingExtraError

try:
    import hypothesis  # noqa: F401
except ImportError:
    raise MissingExtraError.of("rewardkit.testing.strategies", "testing") from None

from rewardkit.check.variants.strategies.completions import completions as completions, tagged as tagged
from rewardkit.check.variants.strategies.contents import columns as columns, rows as rows
from rewardkit.check.variants.strategies.documents import json_documents as json_documents, json_values as json_values
from rewardkit.check.variants.strategies.edits import edit_distance as edit_distance, edited as edited, edits as edits
from rewardkit.check.variants.strategies.episodes import (
    Episode as Episode,
    conversations as conversations,
    episodes as episodes,
    groups as groups,
    trajectories as trajectories,
)
from rewardkit.check.variants.strategies.texts import (
    bodies as bodies,
    wild_texts as wild_texts,
    wrong_answers as wrong_answers,
)
