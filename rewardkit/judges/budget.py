"""What a judge may cost: ``rk.Budget(money=20, prices={"gpt-5-mini": (0.25, 2.0)}, then="fall_back")``.

A warning at 80 %; when it is spent the run stops, the samples are skipped, or ``rk.fallback`` takes over.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar, final
from uuid import uuid4

from rewardkit.core.errors import RewardDefinitionError, RewardFailure, RunStopped, near_miss, shorten
from rewardkit.judges.metering import tally
from rewardkit.judges.shared_file import IN_MEMORY, SharedFile, checked_path, require_apsw, shared

Then = Literal["stop", "skip", "fall_back"]
_T = TypeVar("_T")

_MILLION = 1_000_000
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
@dataclass(frozen=True)
class Budget:
    """The most that all judges given it may spend together: ``rk.Budget(calls=10_000, then="skip")``.

    Calls are counted before they are made, so their limit is exact; tokens and money are known only afterwards, so the
    calls under way when the limit is met still count and go past it.

    Attributes:
        calls: requests; None: any number.
        tokens: of prompts and verdicts together, as the endpoint counts them.
        money: in the currency of `prices`.
        prices: model -> (per million prompt tokens, per million completion tokens).
        then: "stop" ends the run; "skip" fails the samples that could not be judged (they teach nothing); "fall_back"
            fails them too, for the ``rk.fallback`` around the judge to take over.
        warn_at: the share of a limit at which to warn, once.
        ledger: an SQLite file that keeps what was spent, shared by the ranks of a machine and by the run that
            resumes. None: every process counts for itself, from 0.

    Raises:
        MissingExtraError: the extra ``judge`` is not installed.
        RewardDefinitionError: no limit at all, one that is not above 0, or a price that is none.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    prices: Mapping[str, tuple[float, float]] | tuple[tuple[str, tuple[float, float]], ...] = ()
    then: Then = "stop"
    warn_at: float = 0.8
    ledger: str | None = None
    number: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False)
    """Tells budgets with equal limits apart: judges share one where they are given the same."""

    def __post_init__(self) -> None:
        limits = {"calls": self.calls, "tokens": self.tokens, "money": self.money}
        for name, limit in limits.items():
            if limit is not None and not (_is_number(limit) and limit > 0):
                raise RewardDefinitionError(f"rk.Budget: {name} is a number above 0, got {shorten(limit)}")
        if all(limit is None for limit in limits.values()):
            raise RewardDefinitionError("rk.Budget: name a limit: calls=, tokens= or money=")
        if self.then not in ("stop", "skip", "fall_back"):
            raise RewardDefinitionError(f"rk.Budget: then is 'stop', 'skip' or 'fall_back', got {shorten(self.then)}")
        if not (_is_number(self.warn_at) and 0 < self.warn_at <= 1):
            raise RewardDefinitionError(f"rk.Budget: warn_at is above 0, at most 1, got {shorten(self.warn_at)}")
        object.__setattr__(self, "prices", _price_list(self.prices))
        if self.money is not None and not self.prices:
            raise RewardDefinitionError(
                "rk.Budget: money= needs prices={model: (per million prompt tokens, per million completion tokens)}"
            )
        if self.ledger is not None:
            object.__setattr__(self, "ledger", checked_path(self.ledger, "rk.Budget: ledger"))
        require_apsw("rk.Budget")

    def check(self, model: str) -> None:
        """Raises a RewardDefinitionError where money is limited and `model` has no price."""
        known = dict(self.prices)
        if self.money is not None and model not in known:
            raise RewardDefinitionError(
                f"rk.Budget limits money, but prices= has no {model!r}; it has {', '.join(map(repr, known))}."
                f"{near_miss(model, known)}"
            )

    def describe(self) -> str:
        """The options, for the fingerprint."""
        return repr(self)

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """What one call costs; 0.0 where `model` has no price."""
        prompt, completion = dict(self.prices).get(model, (0.0, 0.0))
        return (prompt * prompt_tokens + completion * completion_tokens) / _MILLION


@final
class Spending:
    """What has been spent of a budget: ``allow()`` before a call, ``charge(...)`` after it. Threads may share it."""

    def __init__(self, budget: Budget, file: SharedFile) -> None:
        self.budget = budget
        self._file = file
        self._warned: set[str] = set()
        self._warning = threading.Lock()
        self._owed: list[tuple[int, float]] = []

    def allow(self) -> None:
        """Counts one call that is about to be made.

        Raises:
            RunStopped: the budget is spent, and ``then="stop"``.
            RewardFailure: it is spent, and the sample is to be skipped or left to the fallback.
        """
        limits = [math.inf if limit is None else limit for limit in self._limits.values()]
        if self._rows(_ADMIT, limits):
            self._warn()
            return
        spent = self.figures()
        name = next(name for name, limit in self._limits.items() if limit is not None and spent[name] >= limit)
        said = f"the judge's budget is spent: {_of(name, spent[name], self._limits[name])}"
        if self.budget.then == "stop":
            raise RunStopped(f"{said}. Raise it in rk.Budget, or go on without: then='skip', then='fall_back'")
        raise RewardFailure(said)

    def give_back(self) -> None:
        """Counts one call less: it was not made."""
        with suppress(RewardFailure):
            self._rows(_ADD, (-1, 0, 0.0))

    def charge(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """Counts what a call took, and returns its price; what a locked ledger does not take is added to the next."""
        money = self.budget.price(model, prompt_tokens, completion_tokens)
        with self._warning:
            owed, self._owed = [*self._owed, (prompt_tokens + completion_tokens, money)], []
        try:
            self._rows(_ADD, (0, sum(tokens for tokens, _ in owed), sum(price for _, price in owed)))
            self._warn()
        except RewardFailure as error:
            _log.warning("%s", error)
            with self._warning:
                self._owed += owed
        return money

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
            raise RewardFailure(f"the judge's budget in {where} cannot be counted now: {error}") from error

    @property
    def _limits(self) -> dict[str, float | None]:
        return {"calls": self.budget.calls, "tokens": self.budget.tokens, "money": self.budget.money}

    def _warn(self) -> None:
        spent = self.figures()
        for name, limit in self._limits.items():
            if limit is None or spent[name] < self.budget.warn_at * limit:
                continue
            with self._warning:
                if name in self._warned:
                    continue
                self._warned.add(name)
            _log.warning("the judge's budget is nearly spent: %s", _of(name, spent[name], limit))


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
        """Counts a request that is about to go out, if there is anything left to pay it with."""
        try:
            await self._in_its_place(lambda: spending_of(self.budget).allow())
        except RewardFailure:
            tally().failures["budget"] += 1
            raise

    async def give_back(self) -> None:
        """Takes back what was counted of a request that could not go out."""
        await self._in_its_place(lambda: spending_of(self.budget).give_back())

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


def _of(name: str, spent: float, limit: float | None) -> str:
    digits = ",.4g" if name == "money" else ","
    return f"{spent:{digits}} of {limit:{digits}} {name}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _price_list(prices: Any) -> tuple[tuple[str, tuple[float, float]], ...]:
    """`prices` in one order, so that equal budgets are equal."""
    try:
        listed = sorted((str(model), (float(pair[0]), float(pair[1]))) for model, pair in dict(prices).items())
        sound = all(math.isfinite(price) and price >= 0 for _, pair in listed for price in pair)
        sound = sound and all(len(pair) == 2 for pair in dict(prices).values())
    except (TypeError, ValueError, KeyError, IndexError):
        sound = False
    if not sound:
        raise RewardDefinitionError(
            "rk.Budget: prices is {model: (per million prompt tokens, per million completion tokens)}, "
            f"got {shorten(prices)}"
        )
    return tuple(listed)
