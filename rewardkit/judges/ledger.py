"""What has been spent of a budget, by all who share it: ``spending_of(budget).allow()`` before a call."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, final

from rewardkit.core.errors import RewardFailure, RunStopped
from rewardkit.judges.budget import Budget
from rewardkit.judges.endpoint.failures import NoTime
from rewardkit.judges.shared_file import IN_MEMORY, SharedFile, shared
from rewardkit.judges.usage import tally

_T = TypeVar("_T")

_TABLE = "spent (one INTEGER PRIMARY KEY, calls INTEGER, tokens INTEGER, money REAL)"
_SPENT = "SELECT calls, tokens, money FROM spent"
_ADD = (
    "INSERT INTO spent VALUES (1, ?1, ?2, ?3) ON CONFLICT DO UPDATE "
    "SET calls = calls + ?1, tokens = tokens + ?2, money = money + ?3"
)
_ADMIT = (
    "INSERT INTO spent VALUES (1, 1, 0, 0.0) ON CONFLICT DO UPDATE SET calls = calls + 1 "
    "WHERE calls < ?1 AND tokens < ?2 AND money < ?3 RETURNING calls"
)

_log = logging.getLogger("rewardkit.judges")


@final
class Spending:
    """What has been spent of a budget: ``allow()`` before a call, ``charge(...)`` after it. Threads may share it."""

    def __init__(self, budget: Budget, file: SharedFile) -> None:
        self.budget = budget
        self._file = file
        self._warned: set[str] = set()
        self._lock = threading.Lock()
        self._owed: list[tuple[int, int, float]] = []
        self._under_way = 0

    def allow(self) -> None:
        """Counts one call that is about to be made.

        `give_back`, `charge` or `keep` says what became of it.

        Raises:
            RunStopped: the budget is spent, and ``then="stop"``.
            RewardFailure: it is spent, and the sample is to be skipped or left to the fallback.
            NoTime: calls under way may spend the rest, or the ledger is locked.
        """
        limits = [math.inf if limit is None else limit for limit in self._limits.values()]
        while not self._rows(_ADMIT, limits):
            spent = self.figures()
            for name, limit in self._limits.items():
                if limit is None or spent[name] < limit:  # of all, where a call was given back in between
                    continue
                if name == "calls" and spent[name] - self._under_way < limit:
                    raise NoTime(f"the last of {limit:,} calls in the budget are under way")
                raise self._refusal(f"the judge's budget is spent: {_of(name, spent[name], limit)}")
        with self._lock:
            self._under_way += 1
        self._warn()

    def _refusal(self, said: str) -> RewardFailure:
        if self.budget.then == "stop":
            return RunStopped(f"{said}. Raise it in rk.Budget, or go on without: then='skip', then='fall_back'")
        return RewardFailure(said)

    def give_back(self) -> None:
        """Counts one call less: it costs nothing."""
        self._add(-1, 0, 0.0)
        self.keep()

    def charge(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """Counts what a call took, and returns its price."""
        money = self.budget.price(model, prompt_tokens, completion_tokens)
        self._add(0, prompt_tokens + completion_tokens, money)
        self.keep()
        self._warn()
        return money

    def keep(self) -> None:
        """Leaves a call counted: nobody knows what it took."""
        with self._lock:
            self._under_way -= 1

    def _add(self, calls: int, tokens: int, money: float) -> None:
        """Adds to what was spent; what a locked ledger does not take is added with the next."""
        with self._lock:
            owed, self._owed = [*self._owed, (calls, tokens, money)], []
        try:
            self._rows(_ADD, [sum(column) for column in zip(*owed, strict=True)])
        except NoTime as error:
            _log.warning("%s", error)
            with self._lock:
                self._owed += owed

    def figures(self) -> dict[str, float]:
        """``calls``, ``tokens`` and ``money`` spent so far."""
        rows = self._rows(_SPENT)
        return dict(zip(("calls", "tokens", "money"), rows[0] if rows else (0, 0, 0.0), strict=True))

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        import apsw

        try:
            return self._file.rows(statement, values)
        except apsw.Error as error:
            where = self.budget.ledger or "memory"
            raise NoTime(f"the judge's budget in {where} cannot be counted now: {error}") from error

    @property
    def _limits(self) -> dict[str, float | None]:
        return {"calls": self.budget.calls, "tokens": self.budget.tokens, "money": self.budget.money}

    def _warn(self) -> None:
        try:
            spent = self.figures()
        except NoTime:  # the next call sees it
            return
        for name, limit in self._limits.items():
            if limit is None or spent[name] < self.budget.warn_at * limit:
                continue
            with self._lock:
                if name in self._warned:
                    continue
                self._warned.add(name)
            how = "spent" if spent[name] >= limit else "nearly spent"
            _log.warning("the judge's budget is %s: %s", how, _of(name, spent[name], limit))


def spending_of(budget: Budget) -> Spending:
    """What this process has spent of `budget`; with a ledger, what all have.

    Raises:
        RunStopped: the ledger cannot be opened.
    """
    with _opening:
        return _opened(budget, os.getpid())


@final
@dataclass(frozen=True)
class Account:
    """What each request is counted and charged to, beside the event loop where it may wait for a file."""

    budget: Budget

    async def admit(self) -> None:
        """Counts a request that is about to go out; raises what ``Spending.allow`` does."""
        try:
            await self._in_its_place(lambda: spending_of(self.budget).allow())
        except RewardFailure:
            tally().failures["budget"] += 1
            raise

    async def give_back(self) -> None:
        """Takes back what was counted of a request that costs nothing."""
        await self._in_its_place(lambda: spending_of(self.budget).give_back())

    def keep(self) -> None:
        """Leaves a request counted that was sent and lost."""
        spending_of(self.budget).keep()

    async def charge(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Counts what the request took."""
        paid = (model, prompt_tokens, completion_tokens)
        tally().cost += await self._in_its_place(lambda: spending_of(self.budget).charge(*paid))

    async def _in_its_place(self, work: Callable[[], _T]) -> _T:
        return work() if self.budget.ledger is None else await asyncio.to_thread(work)


_opening = threading.Lock()


@cache
def _opened(budget: Budget, process: int) -> Spending:
    if budget.ledger is None:
        return Spending(budget, SharedFile(IN_MEMORY, _TABLE))
    return Spending(budget, shared(budget.ledger, _TABLE))


def _of(name: str, spent: float, limit: float) -> str:
    digits = ",.4g" if name == "money" else ","
    return f"{spent:{digits}} of {limit:{digits}} {name}"
