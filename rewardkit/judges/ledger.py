"""Counts what is spent of a budget: ``spending_of(budget).allow()`` before a call, ``charge(...)`` after it."""

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
from rewardkit.core.processes.shared_file import IN_MEMORY, SharedFile, shared
from rewardkit.judges.budget import Budget
from rewardkit.judges.endpoint.failures import NoTime
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
    """What is spent of a budget: ``allow()`` before a call, ``charge(...)`` after it. Thread-safe."""

    def __init__(self, budget: Budget, file: SharedFile) -> None:
        self.budget = budget
        self._file = file
        self._warned: set[str] = set()
        self._lock = threading.Lock()
        self._owed: list[tuple[int, int, float]] = []
        self._under_way = 0

    def allow(self) -> None:
        """Count one call before it is sent; `give_back`, `charge` or `keep` must follow.

        Raises:
            RunStopped: the budget is spent, and ``then="stop"``.
            RewardFailure: the budget is spent, and the sample fails.
            NoTime: calls under way may spend the rest, or the ledger is locked.
        """
        limits = [math.inf if limit is None else limit for limit in self._limits.values()]
        while not self._rows(_ADMIT, limits):
            spent = self.figures()
            for name, limit in self._limits.items():
                if limit is None or spent[name] < limit:  # in all limits, if a call was given back meanwhile
                    continue
                if name == "calls" and spent[name] - self._under_way < limit:
                    raise NoTime(f"the last of {limit:,} calls in the budget are under way")
                raise self._refusal(f"the budget of the judge is spent: {_of(name, spent[name], limit)}")
        with self._lock:
            self._under_way += 1
        self._warn()

    def _refusal(self, said: str) -> RewardFailure:
        if self.budget.then == "stop":
            return RunStopped(
                f"{said}. Raise the limit in rk.Budget, or continue without the judge: then='skip' or then='fall_back'"
            )
        return RewardFailure(said)

    def give_back(self) -> None:
        """Take back a call that costs nothing."""
        self._add(-1, 0, 0.0)
        self.keep()

    def charge(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """Count the tokens of a call, and return its price."""
        money = self.budget.price(model, prompt_tokens, completion_tokens)
        self._add(0, prompt_tokens + completion_tokens, money)
        self.keep()
        self._warn()
        return money

    def keep(self) -> None:
        """Keep a call counted although its tokens are unknown."""
        with self._lock:
            self._under_way -= 1

    def _add(self, calls: int, tokens: int, money: float) -> None:
        """Add to what was spent. If the ledger is locked, it is added with the next call."""
        with self._lock:
            owed, self._owed = [*self._owed, (calls, tokens, money)], []
        try:
            self._rows(_ADD, [sum(column) for column in zip(*owed, strict=True)])
        except NoTime as error:
            _log.warning("%s", error)
            with self._lock:
                self._owed += owed

    def figures(self) -> dict[str, float]:
        """Return the ``calls``, ``tokens`` and ``money`` spent so far."""
        rows = self._rows(_SPENT)
        return dict(zip(("calls", "tokens", "money"), rows[0] if rows else (0, 0, 0.0), strict=True))

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        import apsw

        try:
            return self._file.rows(statement, values)
        except apsw.Error as error:
            where = self.budget.ledger or "memory"
            raise NoTime(f"the budget of the judge in {where} cannot be counted now: {error}") from error

    @property
    def _limits(self) -> dict[str, float | None]:
        return {"calls": self.budget.calls, "tokens": self.budget.tokens, "money": self.budget.money}

    def _warn(self) -> None:
        try:
            spent = self.figures()
        except NoTime:  # the next call will warn
            return
        for name, limit in self._limits.items():
            if limit is None or spent[name] < self.budget.warn_at * limit:
                continue
            with self._lock:
                if name in self._warned:
                    continue
                self._warned.add(name)
            how = "spent" if spent[name] >= limit else "nearly spent"
            _log.warning("the budget of the judge is %s: %s", how, _of(name, spent[name], limit))


def spending_of(budget: Budget) -> Spending:
    """Return what this process has spent of `budget`, or what all processes have, if there is a ledger.

    Raises:
        RunStopped: the ledger cannot be opened.
    """
    with _opening:
        return _opened(budget, os.getpid())


@final
@dataclass(frozen=True)
class Account:
    """Counts each request of a budget. Waiting for the file of a ledger does not block the event loop."""

    budget: Budget

    async def admit(self) -> None:
        """Count a request before it is sent; raises the errors of ``Spending.allow``."""
        try:
            await self._unblocking(lambda: spending_of(self.budget).allow())
        except RewardFailure:
            tally().failures["budget"] += 1
            raise

    async def give_back(self) -> None:
        """Take back a request that costs nothing."""
        await self._unblocking(lambda: spending_of(self.budget).give_back())

    def keep(self) -> None:
        """Keep a request counted that was sent and lost."""
        spending_of(self.budget).keep()

    async def charge(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Count the tokens and the price of the request."""
        paid = (model, prompt_tokens, completion_tokens)
        tally().cost += await self._unblocking(lambda: spending_of(self.budget).charge(*paid))

    async def _unblocking(self, work: Callable[[], _T]) -> _T:
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
