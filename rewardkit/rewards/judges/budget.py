"""Limits on the cost of judges: ``rk.Budget(calls=10_000, on_exhausted="fall_back")``.

You get a warning when 80% is spent. When the budget is exhausted, the run stops, samples are skipped, or
``rk.fallback`` takes over.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar, final
from uuid import uuid4

from rewardkit.errors import RewardDefinitionError, RewardFailure, RunStopped, near_miss, shorten
from rewardkit.rewards.judges.endpoint.failures import NoTime
from rewardkit.rewards.judges.usage import tally
from rewardkit.workers.shared_file import IN_MEMORY, SharedFile, checked_path, require_apsw, shared

OnExhausted = Literal["stop", "skip", "fall_back"]

# Providers state prices per million tokens.
_MILLION = 1_000_000


@final
@dataclass(frozen=True)
class Budget:
    """A limit on the total spending of all judges that share it: ``rk.Budget(calls=10_000, on_exhausted="skip")``.

    A call is a request that may cost money: either it received a reply, or the reply was lost because of a timeout or a
    connection reset. A request that received an error status (400, 429, 500) or could not connect is not a call. Calls
    are counted before they are sent, so the limit on calls is exact. Tokens and money are known only after the reply,
    so calls that are in flight when the limit is reached can exceed it.

    Attributes:
        calls: the maximum number of calls, including retries and repairs, or None for no limit.
        tokens: the maximum total of prompt and verdict tokens, as counted by the endpoint, or None for no limit.
        money: the maximum cost, in the currency of `prices`, or None for no limit.
        prices: a map from each model to a pair: (price per million prompt tokens, price per million completion tokens).
        on_exhausted: ``"stop"`` stops the run. With ``"skip"``, samples that could not be judged fail, so they are not
            used for training. With ``"fall_back"``, they also fail, so that an ``rk.fallback`` around the judge takes
            over.
        warn_at: the fraction of a limit, greater than 0 and at most 1, at which you get one warning.
        store: an SQLite file with the amounts spent, shared by all ranks on a machine and by resumed runs. By default,
            each process counts separately, starting at 0.

    Raises:
        MissingExtraError: the extra ``judge`` is not installed.
        RewardDefinitionError: there is no limit, a limit is not greater than 0, or a price is invalid.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    prices: Mapping[str, tuple[float, float]] | tuple[tuple[str, tuple[float, float]], ...] = ()
    on_exhausted: OnExhausted = "stop"
    # Arbitrary: early enough to leave time to act.
    warn_at: float = 0.8
    store: str | None = None
    number: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False)
    """An identifier that distinguishes budgets with equal limits. Judges share a budget only if they use the same
    object."""

    def __post_init__(self) -> None:
        limits = {"calls": self.calls, "tokens": self.tokens, "money": self.money}
        for name, limit in limits.items():
            if limit is not None and not (_is_number(limit) and limit > 0):
                raise RewardDefinitionError(f"rk.Budget: {name} must be a number greater than 0, got {shorten(limit)}")
        if all(limit is None for limit in limits.values()):
            raise RewardDefinitionError("rk.Budget has no limit. Pass calls=, tokens=, or money=")
        if self.on_exhausted not in ("stop", "skip", "fall_back"):
            raise RewardDefinitionError(
                f"rk.Budget: on_exhausted must be 'stop', 'skip', or 'fall_back', got {shorten(self.on_exhausted)}"
            )
        if not (_is_number(self.warn_at) and 0 < self.warn_at <= 1):
            raise RewardDefinitionError(
                f"rk.Budget: warn_at must be greater than 0 and at most 1, got {shorten(self.warn_at)}"
            )
        object.__setattr__(self, "prices", _price_list(self.prices))
        if self.money is not None and not self.prices:
            raise RewardDefinitionError(
                "rk.Budget: money= needs prices. Pass prices={model: (per million prompt tokens, per million "
                "completion tokens)}"
            )
        if self.store is not None:
            object.__setattr__(self, "store", checked_path(self.store, "rk.Budget", "store", "judge"))
        require_apsw("rk.Budget", "judge")

    def check(self, model: str) -> None:
        """Raise a RewardDefinitionError if there is a money limit and `model` has no price."""
        prices = dict(self.prices)
        if self.money is not None and model not in prices:
            raise RewardDefinitionError(
                f"rk.Budget limits money, but prices= does not contain {model!r}, only {', '.join(map(repr, prices))}."
                f"{near_miss(model, prices)}"
            )

    def describe(self) -> str:
        """Return the options, for the fingerprint."""
        return repr(self)

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of a call with these token counts; 0.0 if `model` has no price."""
        prompt, completion = dict(self.prices).get(model, (0.0, 0.0))
        return (prompt * prompt_tokens + completion * completion_tokens) / _MILLION


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _price_list(prices: Any) -> tuple[tuple[str, tuple[float, float]], ...]:
    """Check `prices` and return them as sorted tuples, so that equal budgets compare equal."""
    try:
        listed = sorted((str(model), (float(pair[0]), float(pair[1]))) for model, pair in dict(prices).items())
        is_valid = all(math.isfinite(price) and price >= 0 for _, pair in listed for price in pair)
        is_valid = is_valid and all(len(pair) == 2 for pair in dict(prices).values())
    except (TypeError, ValueError, KeyError, IndexError):
        is_valid = False
    if not is_valid:
        raise RewardDefinitionError(
            "rk.Budget: prices must be {model: (per million prompt tokens, per million completion tokens)}, "
            f"got {shorten(prices)}"
        )
    return tuple(listed)


# Track the spending of a budget: ``spending_of(budget).allow()`` before a call, ``charge(...)`` after it.


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

_log = logging.getLogger("rewardkit.rewards.judges")


@final
class Spending:
    """The amounts spent from a budget. Call ``allow()`` before a request and ``charge(...)`` after it. Thread-safe."""

    def __init__(self, budget: Budget, file: SharedFile) -> None:
        self.budget = budget
        self._file = file
        self._warned: set[str] = set()
        self._lock = threading.Lock()
        self._owed: list[tuple[int, int, float]] = []
        self._under_way = 0

    def allow(self) -> None:
        """Count one request before it is sent. Afterward, call `give_back`, `charge`, or `keep`.

        Raises:
            RunStopped: the budget is exhausted, and `on_exhausted` is ``"stop"``.
            RewardFailure: the budget is exhausted, and `on_exhausted` is ``"skip"`` or ``"fall_back"``.
            NoTime: calls in flight may exhaust the budget, or the store is locked.
        """
        limits = [math.inf if limit is None else limit for limit in self._limits.values()]
        while not self._rows(_ADMIT, limits):
            spent = self.figures()
            for name, limit in self._limits.items():
                if limit is None or spent[name] < limit:  # true for all limits if a call was just given back
                    continue
                if name == "calls" and spent[name] - self._under_way < limit:
                    raise NoTime(f"the last of {limit:,} calls in the budget are under way")
                raise self._refusal(f"the budget of the judge is spent: {_of(name, spent[name], limit)}")
        with self._lock:
            self._under_way += 1
        self._warn()

    def _refusal(self, reason: str) -> RewardFailure:
        if self.budget.on_exhausted == "stop":
            return RunStopped(
                f"{reason}. Raise the limit in rk.Budget, or continue without the judge: on_exhausted='skip' or "
                "on_exhausted='fall_back'"
            )
        return RewardFailure(reason)

    def give_back(self) -> None:
        """Remove a call that cost nothing from the count."""
        self._add(-1, 0, 0.0)
        self.keep()

    def charge(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """Add a call's tokens and price to the amounts spent, and return the price."""
        money = self.budget.price(model, prompt_tokens, completion_tokens)
        self._add(0, prompt_tokens + completion_tokens, money)
        self.keep()
        self._warn()
        return money

    def keep(self) -> None:
        """Keep a call in the count although its tokens are unknown."""
        with self._lock:
            self._under_way -= 1

    def _add(self, calls: int, tokens: int, money: float) -> None:
        """Add to the amounts spent. If the store is locked, keep the amounts in memory until the next call."""
        with self._lock:
            owed, self._owed = [*self._owed, (calls, tokens, money)], []
        try:
            self._rows(_ADD, [sum(column) for column in zip(*owed, strict=True)])
        except NoTime as error:
            _log.warning("%s", error)
            with self._lock:
                self._owed += owed

    def figures(self) -> dict[str, float]:
        """Return the ``calls``, ``tokens``, and ``money`` spent so far."""
        rows = self._rows(_SPENT)
        return dict(zip(("calls", "tokens", "money"), rows[0] if rows else (0, 0, 0.0), strict=True))

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        import apsw

        try:
            return self._file.rows(statement, values)
        except apsw.Error as error:
            location = self.budget.store or "memory"
            raise NoTime(f"the budget of the judge in {location} cannot be counted now: {error}") from error

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
            level = "spent" if spent[name] >= limit else "nearly spent"
            _log.warning("the budget of the judge is %s: %s", level, _of(name, spent[name], limit))


def spending_of(budget: Budget) -> Spending:
    """Return the spending from `budget` in this process or, if there is a store, in all processes.

    Raises:
        RunStopped: the store cannot be opened.
    """
    with _opening:
        return _opened(budget, os.getpid())


@final
@dataclass(frozen=True)
class Account:
    """An asynchronous view of a budget's spending. Waiting for the store file does not block the event loop."""

    budget: Budget

    async def admit(self) -> None:
        """Count a request before it is sent; raise the same errors as ``Spending.allow``."""
        try:
            await self._unblocking(lambda: spending_of(self.budget).allow())
        except RewardFailure:
            tally().failures["budget"] += 1
            raise

    async def give_back(self) -> None:
        """Remove a request that cost nothing from the count."""
        await self._unblocking(lambda: spending_of(self.budget).give_back())

    def keep(self) -> None:
        """Keep a request in the count if its reply was lost."""
        spending_of(self.budget).keep()

    async def charge(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Add a request's tokens and price to the amounts spent."""
        usage = (model, prompt_tokens, completion_tokens)
        tally().cost += await self._unblocking(lambda: spending_of(self.budget).charge(*usage))

    async def _unblocking(self, work: Callable[[], _T]) -> _T:
        return work() if self.budget.store is None else await asyncio.to_thread(work)


_opening = threading.Lock()


@cache
def _opened(budget: Budget, process: int) -> Spending:
    if budget.store is None:
        return Spending(budget, SharedFile(IN_MEMORY, _TABLE))
    return Spending(budget, shared(budget.store, _TABLE))


def _of(name: str, spent: float, limit: float) -> str:
    digits = ",.4g" if name == "money" else ","
    return f"{spent:{digits}} of {limit:{digits}} {name}"
