"""A transport for the ``openai`` client: ``httpx2.AsyncClient(transport=Guarded(10**6, connections=64))``.

The transport uses aiohttp, because the default transport becomes slow with many connections. It reads at most
`most_bytes` of a response, counted after decompression. It does not follow redirects, and it ignores proxies in the
environment.
"""

from __future__ import annotations

import zlib
from typing import Any

import aiohttp
import httpx2

# Arbitrary: the number of bytes read at a time.
_PIECE = 1 << 16
_OF_THE_CONNECTION = (b"host", b"content-length", b"connection", b"accept-encoding")
_ANY_ZLIB = 47
"""The `wbits` value with which zlib automatically detects the gzip or zlib format."""


class TooLarge(Exception):
    """A server's response is larger than allowed."""


class Guarded(httpx2.AsyncBaseTransport):
    """An HTTP transport that sends requests with aiohttp and reads at most `most_bytes` of each response."""

    def __init__(self, most_bytes: int, connections: int) -> None:
        self._most = most_bytes
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        content = await request.aread()
        # Headers.items() would search for a common encoding every time.
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in request.headers.raw
            if name.lower() not in _OF_THE_CONNECTION
        }
        headers["Accept-Encoding"] = "gzip, deflate"
        try:
            async with self._opened().request(
                request.method, str(request.url), headers=headers, data=content, allow_redirects=False
            ) as response:
                body = await self._read(response)
                response_headers = [
                    (name, value)
                    for name, value in response.raw_headers
                    if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
                ]
                return httpx2.Response(response.status, headers=response_headers, content=body, request=request)
        except aiohttp.ClientConnectorError as error:
            raise httpx2.ConnectError(f"{type(error).__name__}: {error}") from error
        except (aiohttp.ClientError, zlib.error, OSError) as error:
            raise httpx2.NetworkError(
                f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            ) from error

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                timeout=aiohttp.ClientTimeout(total=None),  # the caller enforces a deadline
                auto_decompress=False,
                trust_env=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise httpx2.DecodingError(f"the response is compressed with {encoding[:40]!r}, which was not requested")
        decompressor: Any = None if encoding in ("", "identity") else zlib.decompressobj(_ANY_ZLIB)
        body = bytearray()
        async for piece in response.content.iter_chunked(_PIECE):
            body += piece if decompressor is None else decompressor.decompress(piece, self._most + 1 - len(body))
            if len(body) > self._most:
                raise TooLarge(f"the answer is larger than {self._most:,} bytes")
        if decompressor is not None and not decompressor.eof:
            raise httpx2.DecodingError("the compressed response is truncated")
        return bytes(body)
