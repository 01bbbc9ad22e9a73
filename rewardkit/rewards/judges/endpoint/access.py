"""The address and the limits of an endpoint: ``Access("http://localhost:8000/v1", concurrency=16)``."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from rewardkit.errors import shorten


@dataclass(frozen=True)
class Access:
    """The address and the limits of an endpoint.

    Attributes:
        base_url: its address; None for ``OPENAI_BASE_URL``, or OpenAI.
        key: the name of the environment variable that holds the key. The key itself is never stored.
        concurrency: the number of requests at a time.
        requests_per_minute: the limit of the account; None for no limit.
        tokens_per_minute: the limit of the account; None for no limit.
    """

    base_url: str | None = None
    key: str = "OPENAI_API_KEY"
    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


def problem_of(base_url: str) -> str:
    """Return why an address is invalid; empty if it is valid."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # an invalid port
        usable = False
    if not usable:
        return f"base_url must have the form http://host:port/v1, got {shorten(base_url.rpartition('@')[2], 80)}"
    return "base_url must not contain a user name or password. Set the key in the environment" if parts.username else ""
