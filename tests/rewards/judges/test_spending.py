"""Budgets: calls are counted exactly, tokens and money as they are reported, with a warning at 80 %."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import RunStopped
from rewardkit.rewards.judges.budget import Budget, spending_of
from rewardkit.rewards.judges.endpoint.failures import NoTime
from rewardkit.tree.fingerprints import fingerprint

apsw = pytest.importorskip("apsw")
PRICES = {"small": (0.25, 2.0), "large": (2.5, 10.0)}


def test_calls_are_counted_to_the_last() -> None:
    spending = spending_of(Budget(calls=3))
    for _ in range(3):
        spending.allow()
    with pytest.raises(NoTime, match="last of 3 calls in the budget are under way"):
        spending.allow()
    for _ in range(3):
        spending.keep()
    with pytest.raises(RunStopped, match="3 of 3 calls"):
        spending.allow()
    assert spending.figures() == {"calls": 3, "tokens": 0, "money": 0.0}


def test_money_is_that_of_the_price_table() -> None:
    spending = spending_of(Budget(money=1.0, prices=PRICES))
    spending.allow()
    assert spending.charge("small", 1_000_000, 100_000) == pytest.approx(0.45)
    spending.allow()
    assert spending.charge("large", 200_000, 10_000) == pytest.approx(0.6)
    with pytest.raises(RunStopped, match=r"1\.05 of 1 money"):
        spending.allow()


def test_tokens_of_both_sides_count() -> None:
    spending = spending_of(Budget(tokens=100))
    spending.allow()
    assert spending.charge("unknown", 60, 40) == 0.0
    with pytest.raises(RunStopped, match="100 of 100 tokens"):
        spending.allow()


@pytest.mark.parametrize("on_exhausted", ["skip", "fall_back"])
def test_samples_that_are_skipped_or_left_to_the_fallback_fail_alone(on_exhausted: Any) -> None:
    spending = spending_of(Budget(calls=1, on_exhausted=on_exhausted))
    spending.allow()
    spending.keep()
    with pytest.raises(rk.RewardFailure, match="is spent") as caught:
        spending.allow()
    assert not isinstance(caught.value, RunStopped)


def test_it_warns_once_at_four_fifths(caplog: pytest.LogCaptureFixture) -> None:
    spending = spending_of(Budget(calls=10))
    for _ in range(7):
        spending.allow()
    assert not caplog.records
    for _ in range(3):
        spending.allow()
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ["8 of 10 calls"]


def test_budgets_with_equal_limits_are_not_shared() -> None:
    first, second = Budget(calls=1), Budget(calls=1)
    for budget in (first, second):
        spending_of(budget).allow()
        spending_of(budget).keep()
    with pytest.raises(RunStopped):
        spending_of(first).allow()
    assert fingerprint(first) == fingerprint(second)
    assert pickle.loads(pickle.dumps(first)) == first
    assert len({first, pickle.loads(pickle.dumps(first)), second}) == 2


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20), st.integers(1, 10**7))
def test_no_call_is_allowed_once_the_limit_is_met(calls: list[tuple[int, int]], limit: int) -> None:
    spending = spending_of(Budget(tokens=limit))
    spent = 0
    for prompt, completion in calls:
        if spent >= limit:
            with pytest.raises(rk.RewardFailure):
                spending.allow()
        else:
            spending.allow()
            spending.charge("m", prompt, completion)
            spent += prompt + completion
    assert spending.figures()["tokens"] == spent


def test_threads_spend_no_call_too_many() -> None:
    spending = spending_of(Budget(calls=100))
    allowed: list[int] = []

    def spend(thread: int) -> None:
        for _ in range(50):
            try:
                spending.allow()
            except RunStopped:
                return
            except NoTime:  # another thread has the last one
                continue
            spending.keep()
            allowed.append(thread)

    threads = [threading.Thread(target=spend, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(allowed) == 100


SPEND = """
import sys
from rewardkit.errors import RunStopped
from rewardkit.rewards.judges.budget import Budget
from rewardkit.rewards.judges.budget import spending_of
spending = spending_of(Budget(calls=150, store=sys.argv[1]))
allowed = 0
try:
    for _ in range(100):
        spending.allow()
        spending.keep()
        allowed += 1
except RunStopped:
    pass
print(allowed)
"""


def test_ranks_and_resumed_runs_share_a_store(tmp_path: Path) -> None:
    store = str(tmp_path / "spent.sqlite")
    ranks = [
        subprocess.Popen([sys.executable, "-c", SPEND, store], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert sum(int(rank.communicate()[0]) for rank in ranks) == 150
    resumed = spending_of(Budget(calls=160, store=store))
    assert resumed.figures()["calls"] == 150


def test_calls_that_cannot_be_counted_are_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.workers.shared_file.PATIENCE", 20)
    spending = spending_of(Budget(calls=160, store=str(tmp_path / "spent.sqlite")))
    spending.allow()
    other = apsw.Connection(str(tmp_path / "spent.sqlite"))
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(NoTime, match="cannot be counted"):
        spending.allow()
    other.execute("ROLLBACK")
    other.close()
    spending.allow()


def test_costs_that_a_locked_store_rejects_are_charged_with_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("rewardkit.workers.shared_file.PATIENCE", 20)
    budget = Budget(tokens=1000, store=str(tmp_path / "spent.sqlite"))
    spending = spending_of(budget)
    spending.allow()
    other = apsw.Connection(budget.store)
    other.execute("BEGIN EXCLUSIVE")
    spending.charge("m", 100, 10)
    spending.give_back()
    assert "cannot be counted now" in caplog.text
    other.close()
    spending.charge("m", 5, 0)
    assert spending.figures() == {"calls": 0, "tokens": 115, "money": 0.0}


def test_calls_come_back_while_others_are_refused() -> None:
    spending = spending_of(Budget(calls=1))
    errors: list[BaseException] = []

    def spend() -> None:
        for _ in range(300):
            try:
                spending.allow()
                spending.give_back()
            except NoTime:
                pass
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert spending.figures()["calls"] == 0


def test_a_budget_that_is_spent_is_not_called_nearly_spent(caplog: pytest.LogCaptureFixture) -> None:
    spending_of(Budget(calls=1)).allow()
    assert [record.getMessage() for record in caplog.records] == ["the budget of the judge is spent: 1 of 1 calls"]
