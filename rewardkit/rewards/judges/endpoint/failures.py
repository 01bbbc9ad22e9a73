"""The ways in which a request can fail: for now, for this request only, or without a verdict."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


class Passing(Exception):
    """A failure after which another attempt makes sense; ``retry_after``: seconds that the endpoint asked to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Outage(Passing):
    """The endpoint did not answer, or not in a valid way."""


class Limited(Passing):
    """The endpoint is up, and asks for fewer requests."""


class NoTime(Passing):
    """Nothing was sent, because the deadline would pass first."""


class Refused(Exception):
    """The endpoint is up, but refuses this request; `location` is where it redirects to."""

    def __init__(self, message: str, status: int, *, unpaid: bool = False, location: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.unpaid = unpaid
        self.location = location


def failure_of(error: Any, reason: str) -> Outage | Limited | Refused:
    """Return the failure for an error status: `error` as the client raises it, `reason` the message of the endpoint."""
    status, headers = error.status_code, error.response.headers
    message = f"{status}: {reason}"
    # OpenAI says 429 with a code if the quota is spent; others say 402, Payment Required.
    unpaid = status == 402 or str(error.code) in _QUOTA or str(error.type) in _QUOTA
    if status == 429 and not unpaid:
        return Limited(message, retry_after(headers))
    location = headers.get("location", "") if 300 <= status < 400 else ""
    # Timeout, conflict, too early, a fault of the server, or a success that cannot be read: all may pass.
    if status in (408, 409, 425) or status >= 500 or (status < 400 and not location):
        return Outage(message, retry_after(headers))
    return Refused(message, status, unpaid=unpaid, location=location)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, from a number or a date; None if it does not."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        header = headers.get(name, "").strip()
        # Nine digits: more would be centuries.
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", header, re.ASCII):
            return float(header) * unit
        if header and unit == 1.0:
            try:
                return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
            except (TypeError, ValueError, OverflowError):
                return None
    return None
