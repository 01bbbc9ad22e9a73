"""Failures of requests: temporary failures, for which a retry may help, and refusals by the endpoint."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
# OpenAI's wording. Gateways pass it on, often without the fields `param` and `code`, after names of exceptions
# ("OpenAIException - "). Elsewhere in a message, it may be quoted from a completion.
_UNSUPPORTED = re.compile(r"[\"']?(?:[\w.]+(?::| -) )*Unsupported (?:parameter|value): \W*(\w+)")


class Passing(Exception):
    """A temporary failure, after which a retry may help. ``retry_after`` is the requested delay in seconds."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Outage(Passing):
    """The endpoint did not respond, or its response is invalid."""


class Limited(Passing):
    """The endpoint is up but requires a lower request rate."""


class NoTime(Passing):
    """The request was not sent because its deadline would pass first."""


class Refused(Exception):
    """The endpoint is up but refuses this request.

    ``unpaid`` means that the account has no quota or credit left. ``location`` is a redirect's target. ``parameter`` is
    the request parameter that the model does not support, either at all or with this value.
    """

    def __init__(
        self, message: str, status: int, *, unpaid: bool = False, location: str = "", parameter: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.unpaid = unpaid
        self.location = location
        self.parameter = parameter


def failure_of(error: Any, reason: str) -> Outage | Limited | Refused:
    """Return the failure for an error status: the client's exception `error` with the endpoint's message `reason`."""
    status, headers = error.status_code, error.response.headers
    message = f"{status}: {reason}"
    # If the quota is spent, OpenAI returns 429 with one of these codes; other providers return 402, Payment Required.
    unpaid = status == 402 or str(error.code) in _QUOTA or str(error.type) in _QUOTA
    if status == 429 and not unpaid:
        return Limited(message, retry_after(headers))
    location = headers.get("location", "") if 300 <= status < 400 else ""
    # Timeout, conflict, too early, server error, or an unreadable success: all of them may be temporary.
    if status in (408, 409, 425) or status >= 500 or (status < 400 and not location):
        return Outage(message, retry_after(headers))
    if str(error.code) in ("unsupported_parameter", "unsupported_value"):
        parameter = str(error.param)
    else:
        named = _UNSUPPORTED.match(reason)
        parameter = named[1] if named else ""
    return Refused(message, status, unpaid=unpaid, location=location, parameter=parameter)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the delay in seconds that a server requests, as a number or a date; None if there is no such header."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        header = headers.get(name, "").strip()
        # At most nine digits: more would be centuries.
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", header, re.ASCII):
            return float(header) * unit
        if header and unit == 1.0:
            try:
                return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
            except (TypeError, ValueError, OverflowError):
                return None
    return None
