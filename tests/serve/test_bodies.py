"""A request whose body does not arrive is answered, without a running worker."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from rewardkit.serve.app import Options, application
from rewardkit.serve.worker import Setup


def answered(*parts: bytes, **options: Any) -> tuple[int, str]:
    """Send parts of a body and then nothing more; return the status and the error."""
    app = application(Options(Setup("nothing.py:reward"), **options))
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.01 if waiting else 60)
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": "/score", "raw_path": b"/score",
        "query_string": b"", "headers": [(b"content-type", b"application/json")], "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2), "scheme": "http",
    }  # fmt: skip
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 30))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], json.loads(body)["error"]


def test_a_body_that_stops_halfway_is_answered_in_time() -> None:
    status, error = answered(b'{"rows": [', body_seconds=0.2)
    assert status == 408
    assert error == "the body did not arrive within 0.2 s"


def test_a_slow_body_has_one_limit_for_all_of_its_parts() -> None:
    assert answered(*[b" "] * 1_000, body_seconds=0.2)[0] == 408
