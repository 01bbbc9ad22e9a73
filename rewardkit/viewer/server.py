"""The server of the page: ``serve([Path("runs")])`` opens the browser and returns when it is stopped."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

from rewardkit.core.errors import MissingExtraError, RewardKitError
from rewardkit.viewer.guard import LOOPBACK, Guard, is_loopback
from rewardkit.viewer.library import Library

PORT = 8765


def serve(
    folders: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    browser: bool = True,
    told: Callable[[str], None] = print,
) -> None:
    """Shows the runs below `folders` until it is interrupted.

    Args:
        host: the address to listen on; one that other machines reach needs a token, which is made up if none is given.
        port: a free one is taken where this one is not; 0 takes any.
        browser: open one.
        told: is given the lines that a person should read.

    Raises:
        MissingExtraError: the extra ``view`` is not installed.
        RewardKitError: nothing can listen on `host`.
    """
    # NiceGUI would keep its own files in the folder that it is started from.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(tempfile.gettempdir()) / f"rewardkit-view-{os.getpid()}"))
    try:
        import uvicorn
        from fastapi import FastAPI
        from nicegui import ui

        from rewardkit.viewer.pages.routes import add_pages
        from rewardkit.viewer.watcher import Watcher
    except ImportError as error:
        raise MissingExtraError.of("the page of recorded runs", "view") from error

    token = token or None  # one that is empty would keep nobody out
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    listening = _listening(host, port)
    library = Library(folders)
    watcher = Watcher(library)
    page = add_pages(library, watcher)
    app = FastAPI(openapi_url=None)
    ui.run_with(
        app,
        root=page,
        title="rewardkit",
        dark=None,
        tailwind=False,
        gzip_middleware_factory=None,
        message_history_length=50,
        show_welcome_message=False,
        binding_refresh_interval=None,
    )
    hosts = {*LOOPBACK, host, socket.gethostname(), socket.getfqdn()} if not is_loopback(host) else LOOPBACK
    guarded = Guard(app, hosts={*hosts, host}, addresses=not is_loopback(host), token=token)
    config = uvicorn.Config(
        guarded, log_level="warning", access_log=False, timeout_graceful_shutdown=1, server_header=False
    )
    server = uvicorn.Server(config)

    address = _address(host, listening.getsockname()[1], token)
    told(f"Recorded runs of {', '.join(map(str, folders))}: {address}")
    if not library.names():
        told(
            "There are none yet: they appear by themselves. Runs are recorded by rk.to_trl(reward, record='runs/name')."
        )
    told("Stop with Ctrl-C.")
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        watcher.end()
        listening.close()


def _listening(host: str, port: int) -> socket.socket:
    """A socket on the port, or on a free one where that is taken."""
    try:
        family, _, _, _, where = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError) as error:
        raise RewardKitError(f"--host {host!r} is no address of this machine: {error}") from None
    for candidate in (where, (where[0], 0, *where[2:])):
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind(candidate)
            opened.listen(128)
        except OSError as error:
            opened.close()
            failed = error
        else:
            return opened
    raise RewardKitError(f"nothing can listen on {host}: {failed.strerror or failed}")


def _address(host: str, port: int, token: str | None) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
