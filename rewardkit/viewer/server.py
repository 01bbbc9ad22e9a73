"""The web server: ``serve([Path("runs")])`` opens the browser and returns when you stop it."""

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


def serve(
    folders: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    browser: bool = True,
    told: Callable[[str], None] = print,
) -> None:
    """Show the runs in `folders` until interrupted.

    Args:
        folders: folders that contain recorded runs, or single runs.
        host: the address to listen on. If other machines can reach it and `token` is None, a token is generated.
        port: the port to listen on. If it is taken, or 0, a free port is used.
        token: the secret that visitors need.
        browser: whether to open a browser.
        told: called with each line for the user.

    Raises:
        MissingExtraError: the extra ``view`` is not installed.
        RewardKitError: the server cannot listen on `host`.
    """
    # Otherwise NiceGUI creates files in the current folder.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(tempfile.gettempdir()) / f"rewardkit-view-{os.getpid()}"))
    try:
        import uvicorn
        from fastapi import FastAPI
        from nicegui import ui

        from rewardkit.viewer.pages.routes import add_pages
        from rewardkit.viewer.watcher import Watcher
    except ImportError as error:
        raise MissingExtraError.of("the web page for recorded runs", "view") from error

    token = token or None  # an empty token would not protect anything
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
            "There are no runs yet. They appear here as soon as a training records one: "
            "rk.to_trl(reward, record='runs/name')."
        )
    told("Press Ctrl-C to stop.")
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
    """Return a socket on the port, or on a free port if it is taken."""
    try:
        family, _, _, _, where = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError) as error:
        raise RewardKitError(
            f"--host {host!r} is not an address of this machine: {error}. Use 127.0.0.1 or 0.0.0.0."
        ) from None
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
    raise RewardKitError(f"cannot listen on --host {host!r}: {failed.strerror or failed}. Use 127.0.0.1 or 0.0.0.0.")


def _address(host: str, port: int, token: str | None) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
