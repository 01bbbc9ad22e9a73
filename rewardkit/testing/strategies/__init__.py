"""Hypothesis strategies: completions, columns and groups to test rewards with.

A test draws completions made for its reward::

    from hypothesis import given
    from rewardkit.testing import strategies

    reward = rk.tags("think", "answer")

    @given(strategies.completions(reward))
    def test_stays_in_bounds(completion):
        assert 0.0 <= rk.score(reward, [completion]).total[0] <= 1.0

    @given(strategies.completions(reward, kind="nearly valid"))
    def test_one_violation_costs_something(completion):
        assert rk.score(reward, [completion]).total[0] < 1.0

Failures shrink to something readable: ``<think>0</think><answer>0``.
"""

from __future__ import annotations

from rewardkit.core.errors import MissingExtraError

try:
    import hypothesis  # noqa: F401
except ImportError:
    raise MissingExtraError.of("rewardkit.testing.strategies", "testing") from None

from rewardkit.testing.strategies.columns import columns as columns, rows as rows
from rewardkit.testing.strategies.completions import completions as completions
from rewardkit.testing.strategies.conversations import conversations as conversations
from rewardkit.testing.strategies.documents import json_documents as json_documents, json_values as json_values
from rewardkit.testing.strategies.edits import edit_distance as edit_distance, edits as edits
from rewardkit.testing.strategies.episodes import Episode as Episode, episodes as episodes
from rewardkit.testing.strategies.groups import groups as groups
from rewardkit.testing.strategies.tags import tagged as tagged
from rewardkit.testing.strategies.texts import (
    bodies as bodies,
    wild_texts as wild_texts,
    wrong_answers as wrong_answers,
)
from rewardkit.testing.strategies.trajectories import trajectories as trajectories
from rewardkit.testing.strategies.trajectory_edits import edited as edited
