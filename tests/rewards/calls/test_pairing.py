"""Pairings: the same whichever way they are found."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.rewards import tool_calls as pairing
from rewardkit.rewards.tool_calls import Rules, paired, read_gold_calls
from tests.record.conversations import asks

CALL = st.tuples(
    st.sampled_from(["f", "g"]), st.fixed_dictionaries({}, optional={"a": st.integers(0, 2), "b": st.integers(0, 1)})
)
CALLS = st.lists(CALL, max_size=4)


def gold(calls: Any) -> Any:
    return read_gold_calls([{"name": name, "arguments": arguments} for name, arguments in calls]).rounds[0]


def turns(*lists: Any) -> Any:
    return [turn.calls for turn in rk.Trajectory.of([asks(*calls) for calls in lists if calls]).turns]


@settings(max_examples=200)
@given(CALLS, st.lists(CALLS, max_size=3), st.sampled_from(["exact", "partial", "names"]))
def test_order_can_only_cost(wanted: Any, made: Any, credit: Any) -> None:
    kept = paired(gold(wanted), turns(*made), Rules(credit, True))
    free = paired(gold(wanted), turns(*made), Rules(credit, False))
    assert kept.worth <= free.worth + 1e-9
    for found in (kept, free):
        assert 0 <= found.worth <= found.calls <= min(len(wanted), sum(map(len, made)))
        assert len(found.missed) >= len(wanted) - found.calls
        assert set(found.missed) <= set(range(len(wanted)))
    if sum(bool(calls) for calls in made) == 1:  # the calls of one turn have no order
        assert kept.worth == pytest.approx(free.worth)


@given(CALLS, st.lists(CALLS, max_size=3))
def test_partial_credit_is_between_exact_and_names(wanted: Any, made: Any) -> None:
    for kept in (True, False):
        exact, partial, names = (
            paired(gold(wanted), turns(*made), Rules(credit, kept)).worth for credit in ("exact", "partial", "names")
        )
        assert exact <= partial + 1e-9
        assert partial <= names + 1e-9


def test_a_crowded_turn_counts_in_the_order_in_which_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [("f", {"a": 2}), ("f", {"a": 1})]
    assert paired(gold(made[::-1]), turns(made), Rules("exact", True)).worth == 2.0
    monkeypatch.setattr(pairing, "_MOST_PAIRS", 3)
    assert paired(gold(made[::-1]), turns(made), Rules("exact", True)).worth == 1.0
    assert paired(gold(made), turns(made), Rules("exact", True)).worth == 2.0


def test_rules_pickle() -> None:
    rules = Rules("partial", True, (("a", max),))
    assert pickle.loads(pickle.dumps(rules)) == rules
