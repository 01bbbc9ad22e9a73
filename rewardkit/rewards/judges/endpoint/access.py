"""A model and its address: ``rk.Endpoint("qwen", base_url="http://localhost:8000/v1", concurrency=16)``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final
from urllib.parse import urlsplit

from rewardkit.errors import RewardDefinitionError, shorten


@dataclass(frozen=True)
class Access:
    """The settings shared by all requests to one server.

    Attributes:
        base_url: the server's address; None for ``OPENAI_BASE_URL`` or, if it is not set, OpenAI.
        key: the name of the environment variable that holds the API key. The key itself is never stored.
        concurrency: the maximum number of concurrent requests.
        requests_per_minute: the account's request limit; None for no limit.
        tokens_per_minute: the account's token limit; None for no limit.
    """

    base_url: str | None = None
    key: str = "OPENAI_API_KEY"
    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@final
@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible endpoint, with the settings for requests.

    ``rk.judge(rubric, model=rk.Endpoint("qwen", base_url="http://localhost:8000/v1", temperature=None))``

    Attributes:
        model: the model's name at the endpoint.
        base_url: the address, such as ``http://localhost:8000/v1``. The default is ``OPENAI_BASE_URL`` or, if it is not
            set, OpenAI.
        key: the name of the environment variable that holds the API key. The key itself is never stored.
        deadline: seconds for one call, including retries. One attempt can use at most two thirds of this time.
        batch_deadline: seconds for all calls in one batch.
        concurrency: the maximum number of concurrent calls.
        requests_per_minute: your account's request limit, or None for no limit.
        tokens_per_minute: your account's token limit, or None for no limit. Each call counts as its prompt tokens plus
            `max_tokens`.
        temperature: the sampling temperature. With None, or if the model rejects this temperature, the endpoint's
            default is used.
        max_tokens: the maximum length of a response in tokens, including reasoning, or None for the endpoint's limit.
        options: additional request options, such as ``{"reasoning_effort": "low"}``.
        structured: if True, request JSON that follows a schema if the endpoint supports this. The response is checked
            in either case.

    Raises:
        RewardDefinitionError: an option is invalid.
    """

    model: str
    base_url: str | None = None
    key: str = "OPENAI_API_KEY"
    # Arbitrary: most verdicts take seconds, and an endpoint that is down for longer than ten minutes needs a person.
    deadline: float = 30.0
    batch_deadline: float = 600.0
    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    temperature: float | None = 0.0
    # A verdict with its reason takes a few hundred tokens. The limit bounds the cost of a judge that never stops.
    max_tokens: int | None = 1024
    options: Mapping[str, Any] | None = field(default=None, compare=False)
    structured: bool = True
    sampling: str = field(default="", init=False, repr=False)
    """The sampling settings and `options` as JSON."""

    def __post_init__(self) -> None:
        _text("model", self.model)
        _text("key", self.key)
        if self.base_url is not None:
            problem = problem_of(_text("base_url", self.base_url))
            if problem:
                raise RewardDefinitionError(f"rk.Endpoint: {problem}")
            object.__setattr__(self, "base_url", self.base_url.strip())
        for option in ("deadline", "batch_deadline"):
            _number(option, getattr(self, option))
        for option in ("requests_per_minute", "tokens_per_minute"):
            if getattr(self, option) is not None:
                _number(option, getattr(self, option))
        if isinstance(self.concurrency, bool) or not isinstance(self.concurrency, int) or self.concurrency < 1:
            raise RewardDefinitionError(
                f"rk.Endpoint: concurrency must be a whole number of at least 1, got {shorten(self.concurrency)}"
            )
        try:
            settings = {"temperature": self.temperature, "max_tokens": self.max_tokens} | dict(self.options or {})
            named = {str(name): value for name, value in settings.items() if value is not None}
            object.__setattr__(self, "sampling", json.dumps(named, sort_keys=True, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise RewardDefinitionError(
                f"rk.Endpoint: options= must be valid as JSON, got {shorten(self.options)}: {error}"
            ) from None

    @property
    def access(self) -> Access:
        """The settings shared by all requests to the same server."""
        return Access(self.base_url, self.key, self.concurrency, self.requests_per_minute, self.tokens_per_minute)


def _text(option: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RewardDefinitionError(f"rk.Endpoint: {option} must be a non-empty string, got {shorten(value)}")
    return value


def _number(option: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise RewardDefinitionError(f"rk.Endpoint: {option} must be a number greater than 0, got {shorten(value)}")


def problem_of(base_url: str) -> str:
    """Return an error message for an invalid `base_url`; an empty string if it is valid."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # the port is invalid
        usable = False
    if not usable:
        return f"base_url must have the form http://host:port/v1, got {shorten(base_url.rpartition('@')[2], 80)}"
    return "base_url must not contain a user name or password. Set the key in the environment" if parts.username else ""
