"""Why an endpoint refuses a request, judged by how it answers other requests of the same judge.

If the endpoint does not support schemas, it is asked without one from then on. If it refuses the key, the quota or an
option, the run stops. If it answers other requests, the content of this one is the cause: too long, or filtered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewardkit.core.errors import NoVerdict, RunStopped, shorten
from rewardkit.judges.endpoint.failures import Refused
from rewardkit.judges.endpoint.replies import Reply
from rewardkit.judges.endpoint.request import Sender
from rewardkit.judges.ledger import Account
from rewardkit.judges.usage import tally

_REFUSALS_IN_A_ROW = 8
"""After this many refusals, a harmless request checks if the endpoint answers anything."""

_HARMLESS = ({"role": "user", "content": "Answer with the word yes."},)


class Standing:
    """What an endpoint accepts from one judge, whose requests differ only in their messages."""

    def __init__(self, sender: Sender) -> None:
        self.stopped: RunStopped | None = None
        self._sender = sender
        self._takes_schema: bool | None = None  # None: unknown
        self._refusals: int | None = None  # since its last answer; None: it never answered

    async def reply(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        """Return the reply to `body`, which is sent without a schema if the endpoint does not support schemas.

        Raises:
            NoVerdict: the endpoint refuses this request.
            RunStopped: the endpoint refuses all requests.
            Passing, EndpointDown: see ``Sender.sent``.
        """
        by_schema = "response_format" in body and self._takes_schema is not False
        if not by_schema:
            body = _plain(body)
        try:
            reply = await self._answered(body, until, account)
        except Refused as refused:
            if not by_schema or self._takes_schema or refused.status not in (400, 422):
                raise await self._judged(refused, body, until, account) from None
            reply = await self.reply(_plain(body), until, account)
            self._takes_schema = False
            return reply
        if by_schema:
            self._takes_schema = True
        return reply

    async def _answered(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        reply = await self._sender.sent(body, until, account)
        self._refusals = 0
        return reply

    async def _judged(
        self, refused: Refused, body: Mapping[str, Any], until: float, account: Account | None
    ) -> NoVerdict | RunStopped:
        """Return the error for a refusal: it concerns only this sample, or the whole run."""
        whom = self._sender.whom(body)
        if refused.status == 401 or refused.unpaid:
            self.stopped = RunStopped(f"{whom} refuses every request with {refused}. Fix the key or the quota")
            return self.stopped
        said = str(refused)
        if refused.location:
            said += f" (it redirects to {shorten(refused.location, 80)}; pass that as base_url)"
        if await self._takes_others(body, until, account):
            tally().failures["refused"] += 1
            return NoVerdict(f"{whom} refuses this request with {said}")
        remedy = "Fix model=, base_url= or options="
        if refused.status == 404:
            remedy += "; base_url is the part before /chat/completions, usually http://host:port/v1"
        self.stopped = RunStopped(f"{whom} refuses all requests with {said}. {remedy}")
        return self.stopped

    async def _takes_others(self, body: Mapping[str, Any], until: float, account: Account | None) -> bool:
        """Return True if the endpoint answers other requests of this judge."""
        if self._refusals is not None and self._refusals < _REFUSALS_IN_A_ROW:
            self._refusals += 1
            return True
        try:
            await self._answered({**_plain(body), "messages": _HARMLESS}, until, account)
        except Refused:
            return False
        return True


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request without the schema of the verdict."""
    return {name: value for name, value in body.items() if name != "response_format"}
