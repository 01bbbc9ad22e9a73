"""Access: how an endpoint is reached: ``Access("http://localhost:8000/v1", concurrency=16)``."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from rewardkit.core.errors import shorten


@dataclass(frozen=True)
class Access:
    """How an endpoint is reached, and how hard.

    Attributes:
        base_url: where; None: OpenAI, or what ``OPENAI_BASE_URL`` says.
        key: the name of the environment variable that holds the key, which stays there.
        concurrency: requests at one time.
    """

    base_url: str | None = None
    key: str = "OPENAI_API_KEY"
    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


def problem_of(base_url: str) -> str:
    """Why an address is of no use; empty where it is."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is none
        usable = False
    if not usable:
        return f"base_url has the form http://host:port/v1, got {shorten(base_url.rpartition('@')[2], 80)}"
    return "base_url cannot hold a name or password: set the key in the environment" if parts.username else ""
