"""A stand-in for SandboxFusion: real HTTP, and programs that run as its source says.

What it shares with ``sandbox/server/sandbox_api.py`` and ``sandbox/runners/base.py`` of bytedance/SandboxFusion: the
fields of requests and answers, a file in a folder of its own, the statuses, the timeout, output that is read once after
the end (at most 1 MB, and text that is not UTF-8 becomes a message), and a pipe that is not emptied while it runs.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], "tuple[int, bytes]"]


class Fusion:
    """A running stand-in; `answer` may be replaced to misbehave."""

    def __init__(self) -> None:
        self.answer: Answer = honest
        self.requests: list[dict[str, Any]] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.url = ""


def honest(request: dict[str, Any]) -> tuple[int, bytes]:
    """Run the code, and answer as the service does."""
    if request.get("language") != "python" or not isinstance(request.get("code"), str):
        return 422, b'{"detail": "language"}'
    run = asyncio.run(_ran(request))
    ended_well = run["status"] == "Finished" and run["return_code"] == 0
    answer = {
        "status": "SandboxError" if run["status"] == "Error" else "Success" if ended_well else "Failed",
        "message": "",
        "compile_result": None,
        "run_result": run,
        "executor_pod_name": None,
        "files": {},
    }
    return 200, json.dumps(answer).encode()


async def _ran(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tmp.py")
        with open(path, "w") as file:
            file.write(request["code"])
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            path,
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write((request.get("stdin") or "").encode())
        process.stdin.close()
        status: str = "Finished"
        try:
            await asyncio.wait_for(process.wait(), timeout=request.get("run_timeout", 10))
        except asyncio.TimeoutError:
            status = "TimeLimitExceeded"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
        return {
            "status": status,
            "execution_time": 0.1,
            "return_code": process.returncode if status == "Finished" else None,
            "stdout": await _read(process.stdout),
            "stderr": await _read(process.stderr),
        }


async def _read(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None
    output = b""
    with suppress(asyncio.TimeoutError):
        output = await asyncio.wait_for(stream.read(1024 * 1024), timeout=0.1)
    try:
        return output.decode()
    except UnicodeDecodeError as error:
        return f"[DecodeError] {error}"


@contextmanager
def running() -> Iterator[Fusion]:
    """Yield a stand-in that listens on a port of its own."""
    fusion = Fusion()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path != "/run_code":
                self._send(404, b'{"detail":"Not Found"}')
                return
            request = json.loads(body)
            with fusion.lock:
                fusion.requests.append(request)
                fusion.at_once += 1
                fusion.most_at_once = max(fusion.most_at_once, fusion.at_once)
            try:
                answer = fusion.answer(request)
            finally:
                with fusion.lock:  # before the client has the answer, and sends the next request
                    fusion.at_once -= 1
            self._send(*answer)

        def _send(self, status: int, body: bytes) -> None:
            with suppress(OSError):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fusion.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fusion
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
