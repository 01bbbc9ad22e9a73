"""The web application around a dispatcher: paths, request limits, tokens, errors, and logs.

``application(Options("reward.py:reward"))`` is an ASGI application; `serve` runs it.
"""

from __future__ import annotations

import asyncio
import gc
import hmac
import json
import logging
import math
import re
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json, to_json

from rewardkit import __version__
from rewardkit.errors import MissingExtraError, RewardKitError, shorten
from rewardkit.online.rows import Row, RowScore
from rewardkit.progress.progress import Progress
from rewardkit.serve.dialects import Answer, BadRequest, Dialect, Handler, Score
from rewardkit.serve.dispatcher import Busy, Dispatcher
from rewardkit.serve.metrics import CONTENT_TYPE, Metrics
from rewardkit.serve.worker import Setup as Setup
from rewardkit.workers.backoff import Backoff

try:
    import uvicorn
    from fastapi import FastAPI, Request, Response
    from fastapi.routing import APIRoute
    from starlette.requests import ClientDisconnect
except ImportError as missing:
    raise MissingExtraError.of("the reward server", "serve") from missing

# Our own dialect, ``POST /score``: rows with columns in, totals, terms, components, outcomes and notes out.


MOST_ROWS = 4_096
"""The maximum number of rows per request. The limit is arbitrary: clients send batches, and large requests delay
others."""

MOST_STEPS = 1 << 53
"""The highest step, because a float cannot represent every larger integer exactly."""

_STRICT = ConfigDict(extra="forbid", strict=True)


class RowIn(BaseModel):
    """One completion with its prompt and its columns."""

    model_config = _STRICT
    completion: str | list[dict[str, Any]] = Field(
        description="the policy's text, without the prompt: a string, or a list of messages"
    )
    prompt: str | list[dict[str, Any]] | None = Field(None, description="a string, or a list of messages")
    columns: dict[str, Any] = Field(default_factory=dict, description="the cells in the dataset row")
    completion_ids: list[int] | None = Field(None, description="the completion's token ids")
    cut: bool | None = Field(None, description="whether the completion reached the token limit")
    runs_calls: bool = Field(
        False, description="whether the trainer runs the calls in messages, so that text contains no calls"
    )


class ProgressIn(BaseModel):
    """The training progress, for rewards with schedules."""

    model_config = _STRICT
    step: int = Field(ge=0, le=MOST_STEPS)
    max_steps: int = Field(ge=1, le=MOST_STEPS)


class ScoreRequest(BaseModel):
    """Rows to score."""

    model_config = _STRICT
    rows: list[RowIn] = Field(max_length=MOST_ROWS)
    num_generations: int | None = Field(
        None, ge=1, description="the group size, for rewards that compare completions: the rows must be whole groups"
    )
    progress: ProgressIn | None = Field(None, description="if omitted, schedules have their end value")
    deadline: float | None = Field(None, gt=0, description="the time limit in seconds, at most the server's")


class RowOut(BaseModel):
    """The scores for one row; all terms and components are always present."""

    total: float | None = Field(description="null if the row has no score")
    terms: dict[str, float | None] = Field(description="the shares that sum to the total")
    components: dict[str, float | None] = Field(description="the raw scores")
    outcomes: dict[str, str] = Field(description="scored, abstained, failed, errored, or skipped, by component")
    notes: dict[str, str] = Field(description="the components' notes on their scores")
    reasons: list[str] = Field(description="the reasons why components failed or errored")
    unparsable: bool = Field(description="there is no score because a gold answer cannot be read, so do not retry")


class ScoreReply(BaseModel):
    """The scores, in the order of the rows."""

    rows: list[RowOut]
    reward: str = Field(description="the fingerprint of the reward")


class ScoreAPI:
    """The handler of ``/score``."""

    def __init__(self) -> None:
        self.fingerprint = ""

    async def __call__(self, payload: Any, score: Score) -> Answer:
        try:
            request = ScoreRequest.model_validate(payload)
        except ValidationError as error:
            raise BadRequest(problems_text(error)) from None
        rows = [Row(**dict(row)) for row in request.rows]
        if request.num_generations is not None and len(rows) % request.num_generations:
            raise BadRequest(
                f"num_generations is {request.num_generations}, but the {len(rows)} rows are not whole "
                "groups of that size"
            )
        progress = None
        if request.progress is not None:
            progress = Progress(request.progress.step, request.progress.max_steps)
        scores = await score(rows, progress=progress, generations=request.num_generations, deadline=request.deadline)
        return Answer({"rows": list(map(score_fields, scores)), "reward": self.fingerprint})


def score_fields(score: RowScore) -> dict[str, Any]:
    """Return a row's scores as the JSON object for the reply."""
    return {name: getattr(score, name) for name in RowOut.model_fields}


def problems_text(error: ValidationError) -> str:
    """Return a request's first five problems as one string, each with its location."""
    errors: Sequence[Any] = error.errors(include_url=False, include_input=False)
    lines = [f"{'.'.join(map(str, detail['loc'])) or 'the body'}: {detail['msg']}" for detail in errors[:5]]
    more = f"; and {len(errors) - 5} more" if len(errors) > 5 else ""
    return "; ".join(lines) + more


# Run the server: ``serve(Options(Setup("reward.py:reward")), host="127.0.0.1", port=8000)``.


_CLOSE_SECONDS = 30
"""The seconds during which a stopping server still answers accepted requests: the default time that Kubernetes waits
before it kills a container."""
_KEEP_ALIVE_SECONDS = 75
"""The seconds that idle connections are kept open: longer than load balancers usually keep them, so that load balancers
never use a connection that the server is closing."""
_BACKLOG = 4_096
"""The length of the queue for new connections. The number is arbitrary: a trainer may open thousands of connections at
once. On Linux, the maximum is net.core.somaxconn."""


def serve(
    options: Options,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    access_log: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Run the server until a signal (SIGTERM, Ctrl-C) stops it, after it has answered all accepted requests.

    Args:
        port: the port; 0 selects a free port.
        announce: a function that is called with the server's address when the server is ready for requests.

    Raises:
        RewardDefinitionError: the reward cannot be loaded or served.
        RewardKitError: the port cannot be used.
    """
    app = application(options)
    _log_to_stderr(access_log)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise RewardKitError(f"cannot listen on {host} port {port}: {error}. Pass another --host or --port") from None
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_CLOSE_SECONDS,
        server_header=False,
        ws="none",
        lifespan="on",
    )
    name = f"[{host}]" if ":" in host else host

    def started() -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
        gc.collect()
        gc.freeze()  # exempt loaded objects from garbage collection, which would cause long pauses
        announce(f"http://{name}:{listening.getsockname()[1]}")

    app.state.started = started
    with listening:
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except SystemExit:
            refusal = getattr(app.state, "refusal", None)
            raise refusal or RewardKitError("the server did not start. Read the server's log") from None
    if (refusal := getattr(app.state, "refusal", None)) is not None:
        raise refusal


def _log_to_stderr(access_log: bool) -> None:
    """Write the server's log to stderr: one JSON object per request, and plain text for everything else."""
    plain = logging.StreamHandler(sys.stderr)
    plain.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    lines = logging.StreamHandler(sys.stderr)
    for name, handler, level in (
        ("rewardkit.access", lines, logging.INFO if access_log else logging.WARNING),
        ("rewardkit.serve", plain, logging.INFO),
        ("uvicorn.error", plain, logging.CRITICAL),  # a reward that cannot be served is reported without a traceback
    ):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


_ACCESS = logging.getLogger("rewardkit.access")
_JSON = "application/json"
OPEN = ("/healthz", "/readyz")
"""Paths that do not require a token."""
_HUNG_UP = 499
"""The status that is logged if a client closes the connection, as in nginx."""
# Seconds. Arbitrary: short for a judge that failed by accident, long for one that is down.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0


@final
@dataclass(frozen=True)
class Options:
    """The settings of a server.

    Attributes:
        setup: the reward, and the settings for reading completions.
        workers: the number of worker processes.
        queue: the maximum number of rows that are waiting or being scored. A request that exceeds it gets status 429.
        deadline: the time limit for one row, in seconds.
        max_body: the maximum request size in bytes. A larger request gets status 413.
        body_seconds: the time limit for receiving a request, in seconds. A slower request gets status 408.
        token: the token that requests must send (``Authorization: Bearer <token>``); None if a token is not required.
        dialects: the trainers' request formats that the server accepts in addition to ``/score``.
    """

    setup: Setup
    workers: int = 2
    # Arbitrary: a few batches of a large trainer may wait; bodies of many long conversations are some megabytes.
    queue: int = 20_000
    deadline: float = 60.0
    max_body: int = 32 << 20
    body_seconds: float = 30.0
    token: str | None = None
    dialects: Sequence[Dialect] = field(default_factory=tuple)


class Refused(Exception):
    """A request that gets a 4xx status.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def application(options: Options) -> FastAPI:
    """Return the web application. The workers start with the application's lifespan."""
    meters = Metrics()
    dispatcher = Dispatcher(options.setup, options.workers, options.queue, options.deadline, meters)
    native = ScoreAPI()

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
        description="Scores completions with one reward. The total of a row without a score is null, never 0.",
        lifespan=lifespan,
    )
    app.state.started = lambda: None
    request_handler = _RequestHandler(options, dispatcher, meters)
    schema = ScoreRequest.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = schema.pop("$defs")
    body = {"content": {_JSON: {"schema": schema}}}

    async def score(request: Request) -> Response:
        """Score rows: completions with prompts and columns."""
        return await request_handler.answered(request, native)

    app.post("/score", response_model=ScoreReply, openapi_extra={"requestBody": body})(score)

    @app.get("/reward")
    async def reward() -> Response:
        """Return the description of the served reward: its fingerprint, terms, components, and bounds."""
        assert dispatcher.described is not None
        description = asdict(dispatcher.described)
        description["bounds"] = [bound if math.isfinite(bound) else None for bound in description["bounds"]]
        return _json(Answer(description))

    @app.get("/healthz")
    async def healthz() -> Response:
        """Return status 200 while the server is running."""
        return _json(Answer({"status": "ok"}))

    @app.get("/readyz")
    async def readyz() -> Response:
        """Return status 200 while a worker can score rows; otherwise, 503."""
        return _json(Answer({"ready": dispatcher.ready}, 200 if dispatcher.ready else 503))

    @app.get("/metrics")
    async def metrics() -> Response:
        """Return the server's metrics in Prometheus's text format."""
        return Response(meters.page(), media_type=CONTENT_TYPE)

    for dialect in options.dialects:
        for address, handler in dialect.items():
            method, _, path = address.rpartition(" ")
            path_parameters = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in _named(path)
            ]
            extra = {"parameters": path_parameters} if path_parameters else None
            app.add_api_route(
                path, _endpoint(request_handler, handler), methods=[method or "POST"], openapi_extra=extra
            )
    paths = sorted(route.path for route in app.routes if isinstance(route, APIRoute))

    def openapi() -> dict[str, Any]:
        document = FastAPI.openapi(app)
        document["components"]["schemas"].update(parts)
        return document

    app.openapi = openapi  # type: ignore[method-assign]

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def unknown(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        complaint = "no path" if status == 404 else f"no {request.method} of"
        return _json(
            Answer({"error": f"there is {complaint} {request.url.path[:200]}. Paths: {', '.join(paths)}"}, status)
        )

    app.add_middleware(AccessMiddleware, token=options.token, meters=meters)
    return app


def _named(path: str) -> list[str]:
    """Return the parameter names in a path: ``["run"]`` for ``/runs/{run}``."""
    return re.findall(r"{(\w+)", path)


def _endpoint(request_handler: _RequestHandler, handler: Handler) -> Any:
    async def endpoint(request: Request) -> Response:
        return await request_handler.answered(request, handler)

    endpoint.__doc__ = handler.__doc__
    return endpoint


@final
@dataclass(frozen=True)
class _RequestHandler:
    """A handler that reads a request, gets scores from the dispatcher, and writes the answer."""

    options: Options
    dispatcher: Dispatcher
    meters: Metrics

    async def answered(self, request: Request, handler: Handler) -> Response:
        """Return the handler's answer. An error becomes an HTTP status and one sentence."""
        try:
            payload = None if request.method == "GET" else _parsed(await self._body(request))
            return _json(await handler(payload, self.score))
        except BadRequest as error:
            return _json(Answer({"error": str(error)}, error.status))
        except Refused as error:
            return _json(Answer({"error": str(error)}, error.status, {"Connection": "close"}))
        except ClientDisconnect:
            return _json(Answer({"error": "the client disconnected before it had sent the body"}, _HUNG_UP))
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
        """Return the scores for `rows`; see `rewardkit.serve.dialects.Score`."""
        described = self.dispatcher.described
        assert described is not None
        if described.together == "group" and generations is None:
            raise BadRequest(
                "this reward compares the completions for each prompt, so rows must come as whole groups: POST /score "
                "with num_generations"
            )
        if len(rows) > self.options.queue:
            raise BadRequest(
                f"{len(rows):,} rows exceed the queue size, {self.options.queue:,}: send fewer rows at once"
            )
        backoff = Backoff(_FIRST_PAUSE, _LONGEST_PAUSE, patience)
        scores = await self.dispatcher.score(rows, progress=progress, generations=generations, deadline=deadline)
        while generations is None and backoff.left:
            missing = [index for index, row_score in enumerate(scores) if row_score.failed]
            if not missing:
                break
            await asyncio.sleep(backoff.pause())
            again = await self.dispatcher.score(
                [rows[index] for index in missing], progress=progress, deadline=deadline
            )
            for index, row_score in zip(missing, again, strict=True):
                scores[index] = row_score
        self.meters.answered(scores)
        return scores

    async def _body(self, request: Request) -> bytes:
        most, body, size = self.options.max_body, bytearray(), 0
        try:
            async with _timeout(self.options.body_seconds):
                async for part in request.stream():
                    size += len(part)
                    if size <= most:
                        body += part  # read the excess as well: a client that is still sending reads no answer
        except asyncio.TimeoutError:
            raise Refused(408, f"the body did not arrive within {self.options.body_seconds:g} s") from None
        if size > most:
            raise Refused(413, f"the body has {size:,} bytes, but at most {most:,} are accepted. Send fewer rows")
        return bytes(body)


@asynccontextmanager
async def _timeout(seconds: float) -> AsyncIterator[None]:
    """Raise ``asyncio.TimeoutError`` after `seconds`, like ``asyncio.timeout``, which Python 3.10 lacks."""
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
            return json.loads(body)  # unlike from_json, it accepts half of a surrogate pair
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
class AccessMiddleware:
    """The outermost middleware, which checks the token, counts requests, and writes the access log."""

    def __init__(self, app: Any, *, token: str | None, meters: Metrics) -> None:
        self._app = app
        self._token = None if token is None else token.encode()
        self._meters = meters

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start_time, status = time.perf_counter(), 500

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
            seconds = time.perf_counter() - start_time
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
        authorization = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = authorization.partition(b" ")
        return hmac.compare_digest(token.strip(), self._token) and scheme.lower() == b"bearer"
