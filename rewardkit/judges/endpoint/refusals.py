"""Refusals: whose fault it is that an endpoint refuses a request, from what it did with others of the same judge.

An endpoint that takes no schema is asked without one from then on. One that refuses for the key, the quota or an option
stops the run; one that answers others refused what this request shows: it is too long, or caught in a filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewardkit.core.errors import RunStopped, shorten
from rewardkit.judges.endpoint.failures import NoVerdict, Refused
from rewardkit.judges.endpoint.replies import Reply
from rewardkit.judges.endpoint.request import Sender
from rewardkit.judges.ledger import Account
from rewardkit.judges.usage import tally

_REFUSALS_IN_A_ROW = 8
"""After which the endpoint is asked again whether it answers anything at all."""

_HARMLESS = ({"role": "user", "content": "Answer with the word yes."},)


class Standing:
    """How one judge stands with an endpoint: its requests differ in their messages alone."""

    def __init__(self, sender: Sender) -> None:
        self.stopped: RunStopped | None = None
        self._sender = sender
        self._takes_schema: bool | None = None  # None: not known yet
        self._refusals: int | None = None  # since it last answered; None: it never did

    async def reply(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        """The reply to `body`, asked without a schema where the endpoint takes none.

        Raises:
            NoVerdict: it refuses this request.
            RunStopped: it refuses every one.
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
        """What a refusal means: for this sample, or for the run."""
        whom = self._sender.whom(body)
        if refused.status == 401 or refused.unpaid:
            self.stopped = RunStopped(f"{whom} refuses every request with {refused}. Mend the key or the quota")
            return self.stopped
        said = str(refused)
        if refused.location:
            said += f" (it redirects to {shorten(refused.location, 80)}; give that as base_url)"
        if await self._takes_others(body, until, account):
            tally().failures["refused"] += 1
            return NoVerdict(f"{whom} refuses this request with {said}")
        mend = "Mend model=, base_url= or options="
        if refused.status == 404:
            mend += "; base_url is what stands before /chat/completions: usually http://host:port/v1"
        self.stopped = RunStopped(f"{whom} refuses requests with {said}. {mend}")
        return self.stopped

    async def _takes_others(self, body: Mapping[str, Any], until: float, account: Account | None) -> bool:
        """Whether the endpoint answers this judge at all."""
        if self._refusals is not None and self._refusals < _REFUSALS_IN_A_ROW:
            self._refusals += 1
            return True
        try:
            await self._answered({**_plain(body), "messages": _HARMLESS}, until, account)
        except Refused:
            return False
        return True


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request without a schema for the verdict."""
    return {name: value for name, value in body.items() if name != "response_format"}
