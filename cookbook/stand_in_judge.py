"""Shared code of the recipes with a judge: a real endpoint if it is named, else a local stand-in.

The stand-in implements OpenAI's chat completions and judges by a rule of three lines, so that recipes run without a
network and print the same every time. It shows how to use a judge, not how well one judges.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Rule = Callable[[str], Mapping[str, Any]]
"""From what a judge is asked about one sample to its verdict."""

SHOWN = re.compile(r"(?:(\w+):\n)?<completion-(\w+)>\n(.*?)\n</completion-\2>", re.DOTALL)


class Endpoint:
    """The endpoint of a judge; ``asked`` counts the requests to a stand-in."""

    def __init__(self, model: str, base_url: str | None) -> None:
        self.model = model
        self.base_url = base_url
        self.asked = 0


def options(description: str | None, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse ``--model`` and ``--base-url`` of a real judge."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--model", help="a model to judge with, such as gpt-5-mini; without it a stand-in judges")
    parser.add_argument("--base-url", help="its endpoint, such as http://localhost:8000/v1; OpenAI by default")
    return parser.parse_args(arguments)


def completions(asked: str) -> list[tuple[str, str]]:
    """Return (identifier, text) of the completions to judge; a single one has no identifier."""
    return [(identifier, text) for identifier, _, text in SHOWN.findall(asked)]


@contextmanager
def endpoint(chosen: argparse.Namespace, rule: Rule) -> Iterator[Endpoint]:
    """Yield the endpoint that was `chosen`, or a stand-in that judges by `rule`."""
    if chosen.model:
        yield Endpoint(chosen.model, chosen.base_url)
        return
    found = Endpoint("stand-in", None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(rule, found))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


def _handler(rule: Rule, found: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            found.asked += 1
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            verdict = json.dumps(rule(request["messages"][-1]["content"]))
            message = {"role": "assistant", "content": verdict}
            body = json.dumps(
                {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": request["model"],
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 300, "completion_tokens": 30, "total_tokens": 330},
                }
            ).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            return

    return Handler
