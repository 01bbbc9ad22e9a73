"""The web server: ``serve([Path("runs")])`` opens the browser and returns when you stop the server."""

from __future__ import annotations

import hashlib
import hmac
import html
import ipaddress
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from rewardkit.errors import MissingExtraError, RewardKitError
from rewardkit.page.library import Library
from rewardkit.workers.addresses import is_loopback

if TYPE_CHECKING:
    import uvicorn

    from rewardkit.page.trials import Trials
    from rewardkit.page.watcher import Watcher


# Access control: reject requests that name another host, come from another site, or lack the token.


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_METHODS = {"GET", "HEAD", "POST"}
_COOKIE = "rewardkit_view"
_FIXED = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """An ASGI app that checks requests before it passes them to `app`.

    Args:
        hosts: the names that are allowed in the Host header.
        addresses: whether to also allow IP addresses in the Host header.
        token: the secret that visitors need. The first request contains the token in the URL, and later requests
            contain it in a cookie.
    """

    def __init__(self, app: App, *, hosts: Iterable[str], addresses: bool = False, token: str | None = None) -> None:
        self.app = app
        self._hosts = {host.strip("[]").lower() for host in hosts}
        self._addresses = addresses
        self._token = token
        self._cookie = None if token is None else hashlib.sha256(f"rewardkit view {token}".encode()).hexdigest()
        self._cookie_name = f"{_COOKIE}_{str(self._cookie)[:8]}"  # browsers share cookies between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is not None:
            await _refuse(scope, receive, send, *refused)
            return
        if self._token is not None:
            if scope["type"] == "http" and scope["method"] == "GET" and self._is_right(_token_in(scope)):
                await self._welcome(scope, send)
                return
            if not self._has_cookie(headers) and not self._is_right(_bearer(headers)):
                text = "This page needs a token. Open the address that `rewardkit view` printed.\n"
                await _refuse(scope, receive, send, 401, text)
                return
        # Drop forwarding headers: NiceGUI would write a path prefix from them into the page.
        trusted_headers = [
            (name, value) for name, value in scope["headers"] if not name.lower().startswith(b"x-forwarded-")
        ]
        scope = {**scope, "headers": trusted_headers}
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, _Sender(send, headers["host"]))

    def _refused(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if sum(name.lower() == b"host" for name, _ in scope["headers"]) != 1 or not self._allows(_name(host)):
            return (
                # Misdirected Request: another site may resolve its own name to this machine's IP address (DNS
                # rebinding).
                421,
                "Unknown host. Open the address that `rewardkit view` printed.\n",
            )
        if scope["type"] == "http" and scope["method"] not in _METHODS:
            return 405, "Method not allowed.\n"
        origin = headers.get("origin")
        if origin is not None and _location(origin) != host.lower():
            return 403, "Requests from other sites are not allowed.\n"
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
        if site in ("cross-site", "same-site") and mode != "navigate":
            return 403, "Other sites may not load this page.\n"
        return None

    def _allows(self, name: str | None) -> bool:
        if name is None:
            return False
        if name in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._addresses

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie_name)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), str(self._cookie).encode())

    def _is_right(self, candidate: str) -> bool:
        return bool(candidate) and hmac.compare_digest(candidate.encode(), str(self._token).encode())

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Redirect to the URL without the token, so that the token does not appear in histories and logs.

        The redirect uses an HTML page, because browsers send the cookie only if the next request comes from this site.
        """
        rest = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "token"]
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        # "//host" would redirect to another host.
        to = f"/{path.lstrip('/')}" + (f"?{urlencode(rest)}" if rest else "")
        cookie = f"{self._cookie_name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
        await _send_text(send, 200, leading_to(to), "html", {"set-cookie": cookie})


def leading_to(url: str) -> str:
    """Return an HTML page that redirects to `url` and stays out of the browser's history."""
    refresh = f'<meta http-equiv="refresh" content="0;url={html.escape(url)}">'
    return f'<!doctype html><html lang="en">{refresh}<title>rewardkit</title></html>'


class _Sender:
    """A wrapper for `send` that adds the security headers and the nonce that the page's own scripts need to run."""

    def __init__(self, send: Send, host: str) -> None:
        self._send = send
        self._host = host
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = dict(message["headers"]).get(b"content-type", b"")
            if not kind.startswith(b"text/html"):
                await self._send({**message, "headers": _headers(message["headers"], self._host, None)})
                return
            self._start = message
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._start)
        else:
            await self._send(message)

    async def _send_page(self, start: Message) -> None:
        # 144 bits, more than the 128 bits that the Content Security Policy standard asks for.
        nonce = secrets.token_urlsafe(18)
        # Recorded texts are in the page as JSON with "<" escaped as "&lt;", so these are the page's own scripts.
        body = self._body.replace(b"<script", f'<script nonce="{nonce}"'.encode())
        headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        await self._send({**start, "headers": _headers(headers, self._host, nonce)})
        await self._send({"type": "http.response.body", "body": body})


def _headers(headers: Iterable[tuple[bytes, bytes]], host: str, nonce: str | None) -> list[tuple[bytes, bytes]]:
    added = {**_FIXED, "content-security-policy": _policy(host, nonce)}
    unchanged = [(name, value) for name, value in headers if name.decode("latin-1").lower() not in added]
    return [*unchanged, *((name.encode(), value.encode("latin-1")) for name, value in added.items())]


def _policy(host: str, nonce: str | None) -> str:
    """Return a content security policy that allows only this server, and only scripts with the nonce.

    NiceGUI compiles templates, which requires 'unsafe-eval'.
    """
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'self'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        f"font-src 'self' data:; connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; object-src 'none'"
    )


def _token_in(scope: Scope) -> str:
    return str(dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", ""))


def _bearer(headers: Mapping[str, str]) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ")


def _name(host: str) -> str | None:
    """Return the name in a Host header, without the port."""
    if any(character in host for character in "/@\\ \t#?;,'\""):
        return None
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _location(origin: str) -> str | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        # Policy violation.
        await send({"type": "websocket.close", "code": 1008})
        return
    await _send_text(send, status, text)


async def _send_text(
    send: Send, status: int, text: str, kind: str = "plain", more: Mapping[str, str] = MappingProxyType({})
) -> None:
    sent = {"content-type": f"text/{kind}; charset=utf-8", "cache-control": "no-store", **_FIXED, **more}
    headers = [(name.encode(), value.encode("latin-1")) for name, value in sent.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


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
    output: Callable[[str], None] = print,
) -> None:
    """Show the runs in `folders` until interrupted.

    Args:
        folders: folders that contain recorded runs, or the folders of single runs.
        host: the address to listen on. If other machines can reach it and `token` is None, a token is generated.
        port: the port to listen on. If it is 0 or already in use, a free port is used.
        token: the secret that visitors need.
        browser: whether to open a browser.
        trials: a reward to test on the runs that are opened.
        labels: the file in which to store completion labels. Without it, the page does not write anything.
        discreet: whether to keep the token out of the browser's command line, which other users can see.
        output: a function that is called with each line for the user.

    Raises:
        MissingExtraError: the extra ``view`` is not installed.
        RewardKitError: the server cannot listen on `host`, or `labels` is not a label file.
    """
    # Without this, NiceGUI would create files in the current folder.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(gettempdir()) / f"rewardkit-view-{os.getpid()}"))
    try:
        import uvicorn

        from rewardkit.page.label_file import LabelFile
        from rewardkit.page.tabs.routes import make_app
        from rewardkit.page.watcher import Watcher
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
    _announce(library, folders, address, output)
    threading.Thread(target=watcher.prepare, name="rewardkit-prepare", daemon=True).start()
    with ExitStack() as stack:
        if browser:
            opened = _detour(address, stack.enter_context(TemporaryDirectory())) if discreet and token else address
            # Arbitrary delay: the server is already listening, so an early request only waits.
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


def _announce(library: Library, folders: Sequence[Path], address: str, output: Callable[[str], None]) -> None:
    output(f"Showing the runs in {', '.join(map(str, folders))}: {address}")
    if not library.names():
        output(
            "There are no runs yet. A run appears here as soon as training "
            "records it: rk.to_trl(reward, record='runs/name')."
        )
    output("Press Ctrl-C to stop.")


def _detour(address: str, folder: str) -> str:
    """Return the URL of a local file that only this user can read and that redirects to `address`."""
    file = Path(folder) / "view.html"
    file.write_text(leading_to(address), encoding="utf-8")
    return file.as_uri()


def _hosts(host: str) -> set[str]:
    """Return the names that are allowed in a Host header."""
    names = set() if is_loopback(host) else {socket.gethostname(), socket.getfqdn()}
    return {*LOOPBACK, host, *names}


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on `port`; if the port is in use, on a free port."""
    try:
        family, _, _, _, socket_address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError) as error:
        raise RewardKitError(f"--host {host!r} is not an address of this machine: {error}. {_ADVICE}") from None
    for candidate in (socket_address, (socket_address[0], 0, *socket_address[2:])):
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind(candidate)
            # The usual backlog: few people look at a page.
            opened.listen(128)
        except OSError as error:
            opened.close()
            failed = error
        else:
            return opened
    raise RewardKitError(f"cannot listen on --host {host!r}: {failed.strerror or failed}. {_ADVICE}")


def _address(host: str, port: int, token: str | None) -> str:
    display_host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    display_host = f"[{display_host}]" if ":" in display_host else display_host
    return f"http://{display_host}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")
