"""A limit for the cost of judges: ``rk.Budget(money=20, prices={"gpt-5-mini": (0.25, 2.0)}, then="fall_back")``.

You get a warning at 80 %. When the budget is spent, the run stops, samples are skipped, or ``rk.fallback`` takes over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final
from uuid import uuid4

from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.core.processes.shared_file import checked_path, require_apsw

Then = Literal["stop", "skip", "fall_back"]

_MILLION = 1_000_000


@final
@dataclass(frozen=True)
class Budget:
    """The most that all judges with this budget may spend together: ``rk.Budget(calls=10_000, then="skip")``.

    A call is a request that may cost money: it was answered, or it was sent and then lost in a timeout or a reset. A
    request that got an error status (400, 429, 500) or no connection is not a call. Calls are counted before they are
    sent, so their limit is exact. Tokens and money are known only afterwards, so calls that are under way when the
    limit is reached can exceed it.

    Attributes:
        calls: the number of calls, including retries and repairs; None for no limit.
        tokens: the tokens of prompts and verdicts together, as the endpoint counts them; None for no limit.
        money: in the currency of `prices`; None for no limit.
        prices: model -> (price per million prompt tokens, price per million completion tokens).
        then: ``"stop"`` stops the run; ``"skip"`` fails the samples that could not be judged, so they do not train;
            ``"fall_back"`` fails them, too, so that an ``rk.fallback`` around the judge takes over.
        warn_at: the share of a limit, above 0 and up to 1, at which you get one warning.
        ledger: an SQLite file with what was spent, shared by the ranks of a machine and by runs that resume. By default
            each process counts for itself, from 0.

    Raises:
        MissingExtraError: the extra ``judge`` is not installed.
        RewardDefinitionError: there is no limit, a limit is not above 0, or a price is invalid.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    prices: Mapping[str, tuple[float, float]] | tuple[tuple[str, tuple[float, float]], ...] = ()
    then: Then = "stop"
    warn_at: float = 0.8
    ledger: str | None = None
    number: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False)
    """Distinguishes budgets with equal limits: judges share a budget only if they were given the same object."""

    def __post_init__(self) -> None:
        limits = {"calls": self.calls, "tokens": self.tokens, "money": self.money}
        for name, limit in limits.items():
            if limit is not None and not (_is_number(limit) and limit > 0):
                raise RewardDefinitionError(f"rk.Budget: {name} must be a number above 0, got {shorten(limit)}")
        if all(limit is None for limit in limits.values()):
            raise RewardDefinitionError("rk.Budget has no limit. Pass calls=, tokens= or money=")
        if self.then not in ("stop", "skip", "fall_back"):
            raise RewardDefinitionError(
                f"rk.Budget: then must be 'stop', 'skip' or 'fall_back', got {shorten(self.then)}"
            )
        if not (_is_number(self.warn_at) and 0 < self.warn_at <= 1):
            raise RewardDefinitionError(
                f"rk.Budget: warn_at must be above 0 and at most 1, got {shorten(self.warn_at)}"
            )
        object.__setattr__(self, "prices", _price_list(self.prices))
        if self.money is not None and not self.prices:
            raise RewardDefinitionError(
                "rk.Budget: money= needs prices. Pass prices={model: (per million prompt tokens, per million "
                "completion tokens)}"
            )
        if self.ledger is not None:
            object.__setattr__(self, "ledger", checked_path(self.ledger, "rk.Budget: ledger", "judge"))
        require_apsw("rk.Budget", "judge")

    def check(self, model: str) -> None:
        """Raise RewardDefinitionError if money is limited and `model` has no price."""
        known = dict(self.prices)
        if self.money is not None and model not in known:
            raise RewardDefinitionError(
                f"rk.Budget limits money, but prices= has no {model!r}, only {', '.join(map(repr, known))}."
                f"{near_miss(model, known)}"
            )

    def describe(self) -> str:
        """Return the options, for the fingerprint."""
        return repr(self)

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of one call; 0.0 if `model` has no price."""
        prompt, completion = dict(self.prices).get(model, (0.0, 0.0))
        return (prompt * prompt_tokens + completion * completion_tokens) / _MILLION


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _price_list(prices: Any) -> tuple[tuple[str, tuple[float, float]], ...]:
    """Return `prices`, sorted so that equal budgets compare equal."""
    try:
        listed = sorted((str(model), (float(pair[0]), float(pair[1]))) for model, pair in dict(prices).items())
        sound = all(math.isfinite(price) and price >= 0 for _, pair in listed for price in pair)
        sound = sound and all(len(pair) == 2 for pair in dict(prices).values())
    except (TypeError, ValueError, KeyError, IndexError):
        sound = False
    if not sound:
        raise RewardDefinitionError(
            "rk.Budget: prices must be {model: (per million prompt tokens, per million completion tokens)}, "
            f"got {shorten(prices)}"
        )
    return tuple(listed)
