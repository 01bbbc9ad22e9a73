"""The web application around a dispatcher: paths, limits of requests, tokens, errors, logs.

``application(Options("reward.py:reward"))`` is an ASGI application; `serve` runs it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, final

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json, to_json
from starlette.requests import ClientDisconnect

from rewardkit import __version__
from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row, RowScore
from rewardkit.server.dialects import Answer, BadRequest, Dialect, Handler
from rewardkit.server.dispatcher import Busy, Dispatcher
from rewardkit.server.meters import CONTENT_TYPE, Meters
from rewardkit.server.native import Native, ScoreReply, ScoreRequest
from rewardkit.server.worker import Setup as Setup

_ACCESS = logging.getLogger("rewardkit.access")
_JSON = "application/json"
OPEN = ("/healthz", "/readyz")
"""Paths that need no token."""
_HUNG_UP = 499
"""What nginx logs for it, too."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0


@final
@dataclass(frozen=True)
class Options:
    """How a reward is served.

    Attributes:
        setup: the reward, and how completions are read.
        workers: processes that score.
        queue: the most rows that wait or are scored; a request beyond that is answered by 429.
        deadline: seconds for one row.
        max_body: bytes of one request; a larger one is answered by 413.
        body_seconds: a request that has not arrived by then is answered by 408.
        token: that requests must send: ``Authorization: Bearer <token>``; None for none.
        dialects: the trainers that are answered besides ``/score``.
    """

    setup: Setup
    workers: int = 2
    queue: int = 20_000
    deadline: float = 60.0
    max_body: int = 32 << 20
    body_seconds: float = 30.0
    token: str | None = None
    dialects: Sequence[Dialect] = field(default_factory=tuple)


class Refused(Exception):
    """A request that is answered by a 4xx status.

    Attributes:
        status: of HTTP.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def application(options: Options) -> FastAPI:
    """Return the application; the workers start with its lifespan."""
    meters = Meters()
    dispatcher = Dispatcher(options.setup, options.workers, options.queue, options.deadline, meters)
    native = Native()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            described = await dispatcher.start()
        except RewardKitError as error:
            app.state.refusal = error
            raise
        native.fingerprint = described.fingerprint
        meters.watch(lambda: dispatcher.taken, lambda: dispatcher.ready_workers)
        app.state.started()
        yield
        await dispatcher.close()

    app = FastAPI(
        title="rewardkit",
        version=__version__,
        description="Scores completions with one reward. A row without a score has the total null, never 0.",
        lifespan=lifespan,
    )
    app.state.started = lambda: None
    desk = _Desk(options, dispatcher, meters)
    schema = ScoreRequest.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = schema.pop("$defs")
    body = {"content": {_JSON: {"schema": schema}}}

    async def score(request: Request) -> Response:
        """Score rows: completions with prompts and columns."""
        return await desk.answered(request, native)

    app.post("/score", response_model=ScoreReply, openapi_extra={"requestBody": body})(score)

    @app.get("/reward")
    async def reward() -> Response:
        """Return what is served: its fingerprint, terms, components and bounds."""
        assert dispatcher.described is not None
        said = asdict(dispatcher.described)
        said["bounds"] = [bound if math.isfinite(bound) else None for bound in said["bounds"]]
        return _json(Answer(said))

    @app.get("/healthz")
    async def healthz() -> Response:
        """Answer 200 while the server runs."""
        return _json(Answer({"status": "ok"}))

    @app.get("/readyz")
    async def readyz() -> Response:
        """Answer 200 while a worker can score, else 503."""
        return _json(Answer({"ready": dispatcher.ready}, 200 if dispatcher.ready else 503))

    @app.get("/metrics")
    async def metrics() -> Response:
        """Return the meters in Prometheus' text format."""
        return Response(meters.page(), media_type=CONTENT_TYPE)

    for dialect in options.dialects:
        for address, handler in dialect.items():
            method, _, path = address.rpartition(" ")
            given = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in _named(path)
            ]
            extra = {"parameters": given} if given else None
            app.add_api_route(path, _endpoint(desk, handler), methods=[method or "POST"], openapi_extra=extra)
    paths = sorted(route.path for route in app.routes if isinstance(route, APIRoute))

    def openapi() -> dict[str, Any]:
        made = FastAPI.openapi(app)
        made["components"]["schemas"].update(parts)
        return made

    app.openapi = openapi  # type: ignore[method-assign]

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def unknown(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        what = "no path" if status == 404 else f"no {request.method} of"
        return _json(Answer({"error": f"there is {what} {request.url.path[:200]}. Paths: {', '.join(paths)}"}, status))

    app.add_middleware(Front, token=options.token, meters=meters)
    return app


def _named(path: str) -> list[str]:
    """Return the names in a path: ``["run"]`` of ``/runs/{run}``."""
    return re.findall(r"{(\w+)", path)


def _endpoint(desk: _Desk, handler: Handler) -> Any:
    async def endpoint(request: Request) -> Response:
        return await desk.answered(request, handler)

    endpoint.__doc__ = handler.__doc__
    return endpoint


@final
@dataclass(frozen=True)
class _Desk:
    """Reads requests, asks the dispatcher, writes answers."""

    options: Options
    dispatcher: Dispatcher
    meters: Meters

    async def answered(self, request: Request, handler: Handler) -> Response:
        """Return the answer of a handler; each problem has its status and a sentence."""
        try:
            payload = None if request.method == "GET" else _parsed(await self._body(request))
            return _json(await handler(payload, self.score))
        except BadRequest as error:
            return _json(Answer({"error": str(error)}, error.status))
        except Refused as error:
            return _json(Answer({"error": str(error)}, error.status, {"Connection": "close"}))
        except ClientDisconnect:
            return _json(Answer({"error": "the client hung up before it had sent the body"}, _HUNG_UP))
        except Busy as error:
            status = 429 if self.dispatcher.ready else 503
            return _json(Answer({"error": str(error)}, status, {"Retry-After": "1"}))

    async def score(
        self,
        rows: Sequence[Row],
        *,
        progress: Progress | None = None,
        generations: int | None = None,
        deadline: float | None = None,
        patience: float = 0.0,
    ) -> list[RowScore]:
        """Return the scores of `rows`; see `rewardkit.server.dialects.Score`."""
        described = self.dispatcher.described
        assert described is not None
        if described.together == "group" and generations is None:
            raise BadRequest(
                "this reward compares the completions of a prompt, so rows must come as whole groups: POST /score with "
                "num_generations"
            )
        if len(rows) > self.options.queue:
            raise BadRequest(
                f"{len(rows):,} rows are more than the queue holds, {self.options.queue:,}: send fewer at once"
            )
        end, pause = time.monotonic() + patience, _FIRST_PAUSE
        scores = await self.dispatcher.score(rows, progress=progress, generations=generations, deadline=deadline)
        while generations is None and time.monotonic() + pause < end:
            missing = [place for place, one in enumerate(scores) if one.failed]
            if not missing:
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            again = await self.dispatcher.score(
                [rows[place] for place in missing], progress=progress, deadline=deadline
            )
            for place, one in zip(missing, again, strict=True):
                scores[place] = one
        self.meters.answered(scores)
        return scores

    async def _body(self, request: Request) -> bytes:
        most, held, size = self.options.max_body, bytearray(), 0
        try:
            async with _timeout(self.options.body_seconds):
                async for part in request.stream():
                    size += len(part)
                    if size <= most:
                        held += part  # what is too much is read, too: a client that is still sending reads no answer
        except asyncio.TimeoutError:
            raise Refused(408, f"the body did not arrive within {self.options.body_seconds:g} s") from None
        if size > most:
            raise Refused(413, f"the body has {size:,} bytes, and at most {most:,} are read. Send fewer rows")
        return bytes(held)


@asynccontextmanager
async def _timeout(seconds: float) -> AsyncIterator[None]:
    """``asyncio.timeout``, which Python 3.10 lacks."""
    task = asyncio.current_task()
    assert task is not None
    expired = False

    def expire() -> None:
        nonlocal expired
        expired = True
        task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, expire)
    try:
        yield
    except asyncio.CancelledError:
        if expired:
            raise asyncio.TimeoutError from None
        raise
    finally:
        timer.cancel()


def _parsed(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError as error:
        try:
            return json.loads(body)  # it also reads half of a surrogate pair
        except (ValueError, RecursionError):
            raise Refused(
                400, f"the body is not JSON: {error}. It begins with {shorten(body[:60].decode(errors='replace'))}"
            ) from None


def _json(answer: Answer) -> Response:
    try:
        content = to_json(answer.content, inf_nan_mode="constants")
    except ValueError:  # half of a surrogate pair in a note
        content = json.dumps(answer.content, default=_plain).encode()
    return Response(content, answer.status, dict(answer.headers), _JSON)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


@final
class Front:
    """The first that sees a request: it asks for the token, counts, and writes the access log."""

    def __init__(self, app: Any, *, token: str | None, meters: Meters) -> None:
        self._app = app
        self._token = None if token is None else token.encode()
        self._meters = meters

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def watched(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if self._allowed(scope):
                await self._app(scope, receive, watched)
            else:
                error = "this server needs a token: send the header Authorization: Bearer <token>"
                refused = _json(Answer({"error": error}, 401, {"WWW-Authenticate": "Bearer"}))
                await refused(scope, receive, watched)
        finally:
            seconds = time.perf_counter() - began
            route = scope.get("route")
            path = getattr(route, "path", "other")
            self._meters.requests.labels(path, str(status)).inc()
            self._meters.seconds.labels(path).observe(seconds)
            if _ACCESS.isEnabledFor(logging.INFO):
                client = scope.get("client") or ("", 0)
                line = {"time": round(time.time(), 3), "client": client[0], "method": scope["method"],
                        "path": scope["path"][:200], "status": status, "ms": round(1e3 * seconds, 1)}  # fmt: skip
                _ACCESS.info("%s", json.dumps(line))

    def _allowed(self, scope: Any) -> bool:
        if self._token is None or scope["path"] in OPEN:
            return True
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = given.partition(b" ")
        return hmac.compare_digest(token.strip(), self._token) and scheme.lower() == b"bearer"
