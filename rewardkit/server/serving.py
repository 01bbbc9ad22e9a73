"""Run the server: ``serve(Options(Setup("reward.py:reward")), host="127.0.0.1", port=8000)``."""

from __future__ import annotations

import gc
import logging
import socket
import sys
from collections.abc import Callable

from rewardkit.core.errors import MissingExtraError, RewardKitError

try:
    import uvicorn

    from rewardkit.server.app import Options as Options, Setup as Setup, application
except ImportError as missing:
    raise MissingExtraError.of("the reward server", "serve") from missing

_CLOSE_SECONDS = 30
"""How long a server that is asked to stop still answers what it took."""
_KEEP_ALIVE_SECONDS = 75
"""Longer than the usual balancers keep a connection, so that they never use one that is being closed."""
_BACKLOG = 4_096


def serve(
    options: Options,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    access_log: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve until a signal asks to stop (SIGTERM, Ctrl-C); what was taken by then is answered first.

    Args:
        port: 0 takes a free one.
        announce: called with the address, once requests are answered.

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
        gc.freeze()  # what is loaded now stays, so that a collection of garbage takes no long pause
        announce(f"http://{name}:{listening.getsockname()[1]}")

    app.state.started = started
    with listening:
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except SystemExit:
            refusal = getattr(app.state, "refusal", None)
            raise refusal or RewardKitError("the server did not start; see the log") from None
    if (refusal := getattr(app.state, "refusal", None)) is not None:
        raise refusal


def _log_to_stderr(access_log: bool) -> None:
    """Write the log lines of the server to stderr: one JSON object for each request, texts for the rest."""
    plain = logging.StreamHandler(sys.stderr)
    plain.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    lines = logging.StreamHandler(sys.stderr)
    for name, handler, level in (
        ("rewardkit.access", lines, logging.INFO if access_log else logging.WARNING),
        ("rewardkit.server", plain, logging.INFO),
        ("uvicorn.error", plain, logging.CRITICAL),  # a refused reward is reported without a traceback
    ):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
