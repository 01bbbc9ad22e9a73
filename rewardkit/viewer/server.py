"""The web server: ``serve([Path("runs")])`` opens the browser and returns when you stop it."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING
from urllib.parse import quote

from rewardkit.core.errors import MissingExtraError, RewardKitError
from rewardkit.core.processes.addresses import is_loopback
from rewardkit.viewer.guard import LOOPBACK, Guard, leading_to
from rewardkit.viewer.library import Library

if TYPE_CHECKING:
    import uvicorn

    from rewardkit.viewer.trials import Trials
    from rewardkit.viewer.watcher import Watcher

_ADVICE = "Use 127.0.0.1, or 0.0.0.0 to let other machines connect."


def serve(
    folders: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    browser: bool = True,
    trials: Trials | None = None,
    labels: Path | None = None,
    discreet: bool = False,
    told: Callable[[str], None] = print,
) -> None:
    """Show the runs in `folders` until interrupted.

    Args:
        folders: folders that contain recorded runs, or single runs.
        host: the address to listen on. If other machines can reach it and `token` is None, a token is generated.
        port: the port to listen on. If it is taken, or 0, a free port is used.
        token: the secret that visitors need.
        browser: whether to open a browser.
        trials: a reward to try on the runs that are opened.
        labels: the file in which to keep labels of completions; without it, the page writes nothing.
        discreet: whether to keep the token out of the browser's command line, which other users can see.
        told: called with each line for the user.

    Raises:
        MissingExtraError: the extra ``view`` is not installed.
        RewardKitError: the server cannot listen on `host`, or `labels` is not a file for labels.
    """
    # Otherwise NiceGUI creates files in the current folder.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(gettempdir()) / f"rewardkit-view-{os.getpid()}"))
    try:
        import uvicorn

        from rewardkit.viewer.label_file import LabelFile
        from rewardkit.viewer.pages.routes import make_app
        from rewardkit.viewer.watcher import Watcher
    except ImportError as error:
        raise MissingExtraError.of("the web page for recorded runs", "view") from error

    label_file = None if labels is None else LabelFile(labels)
    token = token or None  # an empty token would not protect anything
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    listening = _listening(host, port)
    library = Library(folders)
    watcher = Watcher(library, trials, label_file)
    guard = Guard(make_app(library, watcher), hosts=_hosts(host), addresses=not is_loopback(host), token=token)
    config = uvicorn.Config(
        guard, log_level="warning", access_log=False, timeout_graceful_shutdown=1, server_header=False
    )
    address = _address(host, listening.getsockname()[1], token)
    _announce(library, folders, address, told)
    threading.Thread(target=watcher.prepare, name="rewardkit-prepare", daemon=True).start()
    with ExitStack() as kept:
        if browser:
            opened = _detour(address, kept.enter_context(TemporaryDirectory())) if discreet and token else address
            threading.Timer(0.5, webbrowser.open, [opened]).start()
        _run(uvicorn.Server(config), listening, watcher)


def _run(server: uvicorn.Server, listening: socket.socket, watcher: Watcher) -> None:
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        watcher.end()
        listening.close()


def _announce(library: Library, folders: Sequence[Path], address: str, told: Callable[[str], None]) -> None:
    told(f"Showing the runs in {', '.join(map(str, folders))}: {address}")
    if not library.names():
        told(
            "There are no runs yet. They appear here as soon as a training records one: "
            "rk.to_trl(reward, record='runs/name')."
        )
    told("Press Ctrl-C to stop.")


def _detour(address: str, folder: str) -> str:
    """Return the address of a local file, which only this user can read, that leads to `address`."""
    file = Path(folder) / "view.html"
    file.write_text(leading_to(address), encoding="utf-8")
    return file.as_uri()


def _hosts(host: str) -> set[str]:
    """Return the names that a Host header may have."""
    names = set() if is_loopback(host) else {socket.gethostname(), socket.getfqdn()}
    return {*LOOPBACK, host, *names}


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket on the port, or on a free port if it is taken."""
    try:
        family, _, _, _, where = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError) as error:
        raise RewardKitError(f"--host {host!r} is not an address of this machine: {error}. {_ADVICE}") from None
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
    raise RewardKitError(f"cannot listen on --host {host!r}: {failed.strerror or failed}. {_ADVICE}")


def _address(host: str, port: int, token: str | None) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")
