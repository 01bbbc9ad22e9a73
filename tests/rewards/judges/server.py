"""A scripted chat-completions server with real sockets and all kinds of failures.

    with JudgeServer(verdict(7, "clear")) as server:          # server.base_url is what a client is given
        server.plan(limited(retry_after=3600), *[failure(500)] * 3, reset())   # the next requests, in this order
        ...
        server.requests, server.most_at_once, server.connections

An answer is a function from the request to the bytes of the response. Connections are kept alive, as in HTTP/1.1.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import rewardkit as rk

RESET = struct.pack("ii", 1, 0)  # what SO_LINGER is given so that closing sends a reset
PIECE = 1 << 16


@dataclass
class Request:
    """One request; `at` is the clock of the server in seconds."""

    path: str
    headers: dict[str, str]
    content: bytes
    at: float

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.content or b"{}"))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", []))

    @property
    def text(self) -> str:
        """The text of all messages."""
        return "\n".join(str(message.get("content")) for message in self.messages)

    @property
    def wants_schema(self) -> bool:
        return "response_format" in self.body


@dataclass(frozen=True)
class Reply:
    """A response after `delay` seconds, complete or broken."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None  # so many bytes of the body, then the connection closes
    reset: bool = False  # nothing but a reset
    drip: float | None = None  # seconds before each byte of the body


Answer = Callable[[Request], Reply]
Given = Any  # what a verdict holds: a score, an object, a text, or a function from the request to one of these


def says(text: str, finish: str = "stop") -> Answer:
    """A completion of the model with this text."""
    return lambda request: Reply(_completion(request, text, finish))


def verdict(given: Given, reason: str = "because") -> Answer:
    """``verdict(7)`` is ``{"reason": ..., "score": 7}``: bare if a schema was requested, else fenced."""

    def answer(request: Request) -> Reply:
        held = given(request) if callable(given) else given
        if isinstance(held, (int, float)) and not isinstance(held, bool):
            held = {"reason": reason, "score": held}
        text = held if isinstance(held, str) else json.dumps(held)
        return Reply(_completion(request, text if request.wants_schema else f"```json\n{text}\n```"))

    return answer


def failure(status: int, message: str = "it broke", code: str | None = None, **headers: str) -> Answer:
    """Return an error in the OpenAI format; headers are written with ``_`` for ``-``."""
    error = {"error": {"message": message, "type": code or "error", "code": code, "param": None}}
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Reply(json.dumps(error).encode(), status, sent)


def limited(retry_after: float | str | None = None) -> Answer:
    """Return a 429 with the seconds after which to try again."""
    headers = {} if retry_after is None else {"retry_after": str(retry_after)}
    return failure(429, "Rate limit reached", "rate_limit_exceeded", **headers)


def unauthorized() -> Answer:
    return failure(401, "Incorrect API key provided: sk-...cret", "invalid_api_key")


def no_quota() -> Answer:
    return failure(429, "You exceeded your current quota, check your plan", "insufficient_quota")


def no_schema(then: Answer) -> Answer:
    """A server that refuses structured output with a 400 and answers plain requests."""
    refused = failure(400, "'response_format' of type 'json_schema' is not supported with this model", "invalid_value")
    return lambda request: refused(request) if request.wants_schema else then(request)


def reasoning_model(then: Answer) -> Answer:
    """OpenAI's answers for its reasoning models, which refuse `max_tokens` and every other temperature than 1."""

    def answer(request: Request) -> Reply:
        if "max_tokens" in request.body:
            message = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            return _unsupported("parameter", "max_tokens", message)
        if (temperature := request.body.get("temperature", 1)) != 1:
            message = f"'temperature' does not support {temperature:g} with this model. "
            message += "Only the default (1) value is supported."
            return _unsupported("value", "temperature", message)
        return then(request)

    return answer


def _unsupported(kind: str, parameter: str, message: str) -> Reply:
    error = {
        "message": f"Unsupported {kind}: {message}",
        "type": "invalid_request_error",
        "param": parameter,
        "code": f"unsupported_{kind}",
    }
    return Reply(json.dumps({"error": error}, indent=2).encode(), 400)


def reset() -> Answer:
    return lambda request: Reply(reset=True)


def cut(after: int = 40) -> Answer:
    """Half a verdict: the connection closes after some bytes of the body."""
    return lambda request: Reply(_completion(request, "x" * 1000), cut=after)


def drip(seconds: float, then: Answer | None = None) -> Answer:
    """A byte at a time: no single read is slow."""
    return lambda request: _with(then(request) if then else Reply(_completion(request, "x" * 1000)), drip=seconds)


def silent(seconds: float, then: Answer | None = None) -> Answer:
    """No answer for some seconds."""
    return lambda request: _with(then(request) if then else Reply(_completion(request, "late")), delay=seconds)


def redirect(to: str, status: int = 307) -> Answer:
    return lambda request: Reply(b"", status, {"location": to})


def gzip_bomb(megabytes: int) -> Answer:
    """Return a compressed verdict that expands to so many megabytes of spaces."""
    return lambda request: Reply(_bomb(megabytes), headers={"content-encoding": "gzip"})


def huge(megabytes: int) -> Answer:
    """The same, not compressed."""
    return lambda request: Reply(_completion(request, " " * (megabytes << 20)))


def content_type(named: str, body: str = "<html>502 Bad Gateway</html>", status: int = 200) -> Answer:
    return lambda request: Reply(body.encode(), status, {"content-type": named})


def slowly(answer: Answer, mean: float = 0.1, spread: float = 0.03, seed: int = 0) -> Answer:
    """Wait before each answer, normally distributed and never below zero."""
    drawn = random.Random(seed)
    return lambda request: _with(answer(request), delay=max(0.0, drawn.gauss(mean, spread)))


def sometimes(share: float, rare: Answer, usual: Answer, seed: int = 0) -> Answer:
    """Answer a random share of the requests with `rare`."""
    drawn = random.Random(seed)
    return lambda request: (rare if drawn.random() < share else usual)(request)


class JudgeServer:
    """Serves on loopback in its own thread, inside a ``with`` block."""

    def __init__(self, answer: Answer, host: str = "127.0.0.1", port: int = 0) -> None:
        self.answer = answer
        self.host = host
        self.port = port
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.connections = 0
        self._planned: deque[Answer] = deque()
        self._at_once = 0
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="judge server")

    @property
    def base_url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    def plan(self, *answers: Answer) -> None:
        """Set the answers of the next requests, in this order; later ones get `answer`."""
        self._planned.extend(answers)

    def down(self) -> None:
        """Connections are refused, and those that are open are closed."""
        self._run(self._stop())

    def up(self) -> None:
        """Serve again on the same port."""
        self._run(self._start())

    def __enter__(self) -> JudgeServer:
        self._thread.start()
        self.up()
        return self

    def __exit__(self, *raised: object) -> None:
        self.down()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        serving = list(self._open)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            del self._open[task]
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read and answer one request; return True if the connection stays open."""
        request = await _read(reader)
        self.requests.append(request)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            answer = self._planned.popleft() if self._planned else self.answer
            reply = answer(request)
            if reply.delay:
                await asyncio.sleep(reply.delay)
        finally:
            self._at_once -= 1
        return await _write(writer, reply)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        content = b"".join([piece async for piece in _chunks(reader)])
    else:
        content = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(first.split(" ")[1], headers, content, time.monotonic())


async def _chunks(reader: asyncio.StreamReader) -> Any:
    while True:
        size = int(await reader.readuntil(b"\r\n"), 16)
        piece = await reader.readexactly(size + 2)
        if not size:
            return
        yield piece[:-2]


async def _write(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    if reply.reset:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        return False
    headers = {"content-type": "application/json", "content-length": str(len(reply.body)), **reply.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode())
    body = reply.body if reply.cut is None else reply.body[: reply.cut]
    step = PIECE if reply.drip is None else 1
    for start in range(0, len(body), step):
        if reply.drip is not None:
            await asyncio.sleep(reply.drip)
        writer.write(body[start : start + step])
        await writer.drain()
    if reply.cut is not None:
        writer.close()
        await writer.wait_closed()
    return reply.cut is None


def _completion(request: Request, text: str, finish: str = "stop") -> bytes:
    spoken = {"role": "assistant", "content": text}
    prompt = len(request.content) // 4
    generated = max(1, len(text) // 4)
    return json.dumps(
        {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.body.get("model", "scripted"),
            "choices": [{"index": 0, "message": spoken, "finish_reason": finish, "logprobs": None}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": prompt + generated},
        }
    ).encode()


@cache
def _bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    opening, closing = _completion(Request("", {}, b"{}", 0.0), "@").split(b"@")
    pieces = [packer.compress(opening)]
    pieces += [packer.compress(b" " * (1 << 20)) for _ in range(megabytes)]
    pieces += [packer.compress(closing), packer.flush()]
    return b"".join(pieces)


def _with(reply: Reply, *, delay: float | None = None, drip: float | None = None) -> Reply:
    return Reply(
        reply.body,
        reply.status,
        reply.headers,
        reply.delay if delay is None else delay,
        reply.cut,
        reply.reset,
        reply.drip if drip is None else drip,
    )


def endpoint(base_url: str, options: dict[str, Any], model: str = "m") -> rk.Endpoint:
    """Return an endpoint with those of the `options` that are its own; they are removed from `options`."""
    names = [part.name for part in fields(rk.Endpoint) if part.init and part.name in options]
    given = {"model": model, "base_url": base_url, **{name: options.pop(name) for name in names}}
    return rk.Endpoint(**given)
