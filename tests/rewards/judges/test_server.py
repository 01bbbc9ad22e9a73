"""The scripted server sends what its script says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from tests.rewards.judges.server import (
    Answer,
    JudgeServer,
    content_type,
    cut,
    drip,
    failure,
    gzip_bomb,
    huge,
    limited,
    no_quota,
    no_schema,
    redirect,
    reset,
    says,
    silent,
    slowly,
    sometimes,
    unauthorized,
    verdict,
)

openai = pytest.importorskip("openai")
SCHEMA: Any = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}}


def asked(server: JudgeServer, text: str = "How good?", timeout: float = 5.0, **more: Any) -> str:
    """Return what the real client returns for one answer."""

    async def ask() -> str:
        client = openai.AsyncOpenAI(base_url=server.base_url, api_key="x", max_retries=0, timeout=timeout)
        async with client:
            messages: Any = [{"role": "user", "content": text}]
            done = await client.chat.completions.create(model="m", messages=messages, **more)
            return str(done.choices[0].message.content)

    return asyncio.run(ask())


def test_a_verdict_is_fenced_and_bare_where_a_schema_is_asked_for() -> None:
    with JudgeServer(verdict(7, "clear")) as server:
        assert json.loads(asked(server, response_format=SCHEMA)) == {"reason": "clear", "score": 7}
        assert asked(server).startswith("```json\n")
    assert [request.wants_schema for request in server.requests] == [True, False]
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == "Bearer x"


def test_a_verdict_may_be_computed_from_the_request() -> None:
    with JudgeServer(verdict(lambda request: len(request.text))) as server:
        assert json.loads(asked(server, "four", response_format=SCHEMA))["score"] == 4


def test_not_a_number_and_other_text_go_out_as_they_are() -> None:
    with JudgeServer(verdict(float("nan"))) as server:
        server.plan(says("I would rather not."))
        assert asked(server) == "I would rather not."
        assert "NaN" in asked(server)


@pytest.mark.parametrize(
    ("answer", "raised", "said"),
    [
        (failure(500), "InternalServerError", "it broke"),
        (limited(3600), "RateLimitError", "Rate limit"),
        (no_quota(), "RateLimitError", "current quota"),
        (unauthorized(), "AuthenticationError", "Incorrect API key"),
        (reset(), "APIConnectionError", None),
        (cut(), "APIConnectionError", None),
        (silent(5.0), "APITimeoutError", None),
    ],
)
def test_a_failure_reaches_the_client(answer: Answer, raised: str, said: str | None) -> None:
    with JudgeServer(verdict(7)) as server:
        server.plan(answer)
        with pytest.raises(openai.OpenAIError, match=said) as caught:
            asked(server, timeout=0.5)
        assert raised in {kind.__name__ for kind in type(caught.value).__mro__}
        assert "7" in asked(server)


def test_structured_output_may_be_refused() -> None:
    with JudgeServer(no_schema(then=verdict(3))) as server:
        with pytest.raises(openai.BadRequestError, match="response_format"):
            asked(server, response_format=SCHEMA)
        assert "3" in asked(server)


def test_planned_answers_come_first_and_in_order() -> None:
    with JudgeServer(says("usual")) as server:
        server.plan(says("first"), says("second"))
        assert [asked(server) for _ in range(3)] == ["first", "second", "usual"]


def raw(server: JudgeServer, **more: Any) -> tuple[int, dict[str, str], int]:
    async def fetched() -> tuple[int, dict[str, str], int]:
        async with aiohttp.ClientSession() as session:
            sent = session.post(f"{server.base_url}/chat/completions", json={}, allow_redirects=False, **more)
            async with sent as reply:
                size = sum([len(piece) async for piece in reply.content.iter_any()])
                return reply.status, {name.lower(): value for name, value in reply.headers.items()}, size

    return asyncio.run(fetched())


def test_bodies_that_are_too_large_or_of_the_wrong_kind() -> None:
    with JudgeServer(verdict(1)) as server:
        server.plan(gzip_bomb(8), huge(4), redirect("http://elsewhere/"), content_type("text/html"), limited(12))
        status, headers, size = raw(server)
        assert int(headers["content-length"]) < 100_000
        assert size > 8 << 20
        assert raw(server)[2] > 4 << 20
        status, headers, size = raw(server)
        assert (status, headers["location"]) == (307, "http://elsewhere/")
        assert raw(server)[1]["content-type"] == "text/html"
        assert raw(server)[1]["retry-after"] == "12"


def test_a_dripping_answer_is_never_silent_for_long() -> None:
    with JudgeServer(drip(0.001, then=says("slow"))) as server:
        assert asked(server) == "slow"


def test_down_and_up_again_on_the_same_port() -> None:
    with JudgeServer(says("here")) as server:
        port = server.port
        server.down()
        with pytest.raises(openai.APIConnectionError):
            asked(server)
        server.up()
        assert asked(server) == "here"
        assert server.port == port


def test_it_counts_requests_under_way() -> None:
    with JudgeServer(slowly(says("done"), mean=0.2, spread=0.0)) as server:

        async def ask() -> None:
            async with aiohttp.ClientSession() as session:

                async def one() -> None:
                    async with session.post(f"{server.base_url}/chat/completions", json={}) as reply:
                        await reply.read()

                await asyncio.gather(*(one() for _ in range(5)))

        asyncio.run(ask())
        assert server.most_at_once == 5
        assert server.connections == 5


def test_a_share_of_the_answers_is_drawn_the_same_each_time() -> None:
    def drawn() -> list[str]:
        answer = sometimes(0.3, says("rare"), says("usual"), seed=1)
        with JudgeServer(answer) as server:
            return [asked(server) for _ in range(10)]

    assert drawn() == drawn()
    assert set(drawn()) == {"rare", "usual"}
