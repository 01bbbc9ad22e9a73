"""Who may speak to the page: nothing passes that names another host, comes from another page or lacks the token.

``Guard(app, hosts={"localhost"}, token=None)`` wraps the whole server, the websocket too. A page of another site that
a browser shows at the same time can reach this port; the Host header (DNS rebinding) and the Origin tell it apart.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

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


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """An ASGI app around the real one.

    Args:
        hosts: names that a Host header may have; addresses pass where `addresses` is true.
        token: what a visitor must know; it comes once in the address and then as a cookie.
    """

    def __init__(self, app: App, *, hosts: Iterable[str], addresses: bool = False, token: str | None = None) -> None:
        self.app = app
        self._hosts = {host.strip("[]").lower() for host in hosts}
        self._addresses = addresses
        self._token = token
        self._cookie = None if token is None else hashlib.sha256(f"rewardkit view {token}".encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is not None:
            await _refuse(scope, receive, send, *refused)
            return
        if self._token is not None and not self._has_cookie(headers):
            if not self._knows(scope, headers):
                said = "This page needs its token: open the address that `rewardkit view` printed.\n"
                await _refuse(scope, receive, send, 401, said)
                return
            if scope["type"] == "http" and scope["method"] == "GET" and "authorization" not in headers:
                await self._welcome(scope, send)
                return
        # NiceGUI would write the prefix that a proxy names into the page.
        kept = [(name, value) for name, value in scope["headers"] if not name.lower().startswith(b"x-forwarded-")]
        scope = {**scope, "headers": kept}
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, _Sender(send, headers["host"]))

    def _refused(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if sum(name.lower() == b"host" for name, _ in scope["headers"]) != 1 or not self._may(_name(host)):
            return 421, "This server does not answer for the host that was asked for.\n"
        if scope["type"] == "http" and scope["method"] not in _METHODS:
            return 405, "Only reading is possible here.\n"
        origin = headers.get("origin")
        if origin is not None and _location(origin) != host.lower():
            return 403, "Another page may not speak to this one.\n"
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
        if site in ("cross-site", "same-site") and mode != "navigate":
            return 403, "Another page may not load this one.\n"
        return None

    def _may(self, name: str | None) -> bool:
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
            cookie = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), str(self._cookie).encode())

    def _knows(self, scope: Scope, headers: dict[str, str]) -> bool:
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        given = headers.get("authorization", "").removeprefix("Bearer ") or given
        return bool(given) and hmac.compare_digest(given.encode(), str(self._token).encode())

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Takes the token out of the address, where histories and logs would keep it."""
        rest = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "token"]
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        # "//host" would lead elsewhere.
        to = f"/{path.lstrip('/')}" + (f"?{urlencode(rest)}" if rest else "")
        cookie = f"{_COOKIE}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
        headers = [
            (b"location", to.encode("latin-1")),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


class _Sender:
    """Adds the headers, and to the page the nonce without which no script in it runs."""

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
        nonce = secrets.token_urlsafe(18)
        # What is shown stands in the page as JSON in which "<" is written "&lt;": these are the page's own scripts.
        body = self._body.replace(b"<script", f'<script nonce="{nonce}"'.encode())
        headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        await self._send({**start, "headers": _headers(headers, self._host, nonce)})
        await self._send({"type": "http.response.body", "body": body})


def _headers(given: Iterable[tuple[bytes, bytes]], host: str, nonce: str | None) -> list[tuple[bytes, bytes]]:
    added = {**_FIXED, "content-security-policy": _policy(host, nonce)}
    kept = [(name, value) for name, value in given if name.decode("latin-1").lower() not in added]
    return [*kept, *((name.encode(), value.encode("latin-1")) for name, value in added.items())]


def _policy(host: str, nonce: str | None) -> str:
    """Nothing from elsewhere, no script without the nonce; NiceGUI compiles its own templates ('unsafe-eval')."""
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'self'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        f"font-src 'self' data:; connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; object-src 'none'"
    )


def _name(host: str) -> str | None:
    """The name in a Host header, without the port."""
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


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, said: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    headers += [(name.encode(), value.encode()) for name, value in _FIXED.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": said.encode()})
