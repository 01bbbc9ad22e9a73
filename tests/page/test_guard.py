"""Access control."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import pytest

from rewardkit.page.server import LOOPBACK, Guard
from rewardkit.workers.addresses import is_loopback

TOKEN = "the right one"


async def page(scope: Any, receive: Any, send: Any) -> None:
    """The wrapped app. Returns the headers that reached it."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    kind = b"text/html" if scope["path"].startswith("/page") else b"text/javascript"
    body = b"<script>ours</script>" + b",".join(name for name, _ in scope["headers"])
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def asked(
    path: str = "/page", headers: dict[str, str] | None = None, method: str = "GET", **options: Any
) -> httpx.Response:
    guard = Guard(page, **{"hosts": LOOPBACK, **options})

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=guard)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8765") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(ask())


def socket(headers: dict[str, str], **options: Any) -> str:
    """Return the first message that a websocket gets."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "path": "/_nicegui_ws/socket.io/",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(Guard(page, **{"hosts": LOOPBACK, **options})(scope, receive, send))
    return str(sent[0]["type"])


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST:8765"])
def test_local_hosts_are_allowed(host: str) -> None:
    assert asked(headers={"host": host}).status_code == 200
    assert socket({"host": host}) == "websocket.accept"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "",
        "192.168.0.7",
        "[",
        "a b",
    ],
)
def test_other_hosts_are_rejected(host: str) -> None:
    assert asked(headers={"host": host}).status_code == 421
    assert socket({"host": host}) == "websocket.close"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1234", "file://", "http://["])
def test_other_origins_are_rejected(origin: str) -> None:
    headers = {"host": "localhost:8765", "origin": origin}
    assert asked(headers=headers).status_code == 403
    assert socket(headers) == "websocket.close"


def test_the_page_itself_is_allowed() -> None:
    headers = {"host": "localhost:8765", "origin": "http://localhost:8765"}
    assert asked(headers=headers).status_code == 200
    assert socket(headers) == "websocket.accept"


def test_other_sites_cannot_load_the_page() -> None:
    assert asked(headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}).status_code == 403
    assert asked(headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200


def test_only_read_methods_are_allowed() -> None:
    assert asked(method="DELETE").status_code == 405


def test_the_token_is_needed_once() -> None:
    options: dict[str, Any] = {"hosts": LOOPBACK, "token": TOKEN}
    assert asked(**options).status_code == 401
    assert asked("/page?token=wrong", **options).status_code == 401
    assert socket({"host": "localhost"}, token=TOKEN) == "websocket.close"
    welcome = asked(f"/page?a=b&token={TOKEN}", **options)
    assert welcome.status_code == 200
    assert 'content="0;url=/page?a=b"' in welcome.text
    assert TOKEN not in welcome.text
    cookie = welcome.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    cookie = cookie.split(";")[0]
    assert asked(headers={"cookie": cookie}, **options).status_code == 200
    again = asked(f"/page?token={TOKEN}", headers={"cookie": cookie}, **options)
    assert 'content="0;url=/page"' in again.text
    assert asked(headers={"cookie": cookie[:-1] + "x"}, **options).status_code == 401
    assert asked(headers={"authorization": f"Bearer {TOKEN}"}, **options).status_code == 200
    assert socket({"host": "localhost", "cookie": cookie}, token=TOKEN) == "websocket.accept"


def test_an_empty_token_is_rejected() -> None:
    options: dict[str, Any] = {"hosts": LOOPBACK, "token": ""}
    assert asked(**options).status_code == 401
    assert asked("/page?token=", **options).status_code == 401
    assert asked(headers={"authorization": "Bearer "}, **options).status_code == 401


def test_the_redirect_stays_on_this_host() -> None:
    welcome = asked(f"http://localhost:8765//evil.example/?token={TOKEN}", token=TOKEN)
    assert 'content="0;url=/evil.example/"' in welcome.text
    welcome = asked(f'http://localhost:8765/%22%3E%3Cscript%3E?token={TOKEN}&a="><script>', token=TOKEN)
    assert "<script" not in welcome.text


def test_pages_with_different_tokens_keep_their_cookies() -> None:
    names = {asked(f"/?token={token}", token=token).headers["set-cookie"].split("=")[0] for token in ("one", "two")}
    assert len(names) == 2


def test_ip_addresses_pass_if_allowed() -> None:
    assert asked(headers={"host": "192.168.0.7:8765"}, addresses=True).status_code == 200
    assert asked(headers={"host": "evil.example"}, addresses=True).status_code == 421


def test_scripts_need_the_nonce_of_the_response() -> None:
    first, second = asked(), asked()
    policy = first.headers["content-security-policy"]
    nonce = re.search(r"'nonce-([^']+)'", policy)
    assert nonce is not None
    assert f'<script nonce="{nonce[1]}">' in first.text
    assert "script-src 'self' 'nonce-" in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]
    assert nonce[1] not in second.headers["content-security-policy"]
    assert int(first.headers["content-length"]) == len(first.content)


def test_every_response_has_the_headers() -> None:
    for path in ("/page", "/script.js"):
        found = asked(path)
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in found.headers["content-security-policy"]
    assert asked("/script.js").text.startswith("<script>")


def test_proxy_headers_are_dropped() -> None:
    assert "x-forwarded" not in asked(headers={"x-forwarded-prefix": "<script>"}).text


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("127.0.0.9", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("example.org", False),
    ],
)
def test_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
