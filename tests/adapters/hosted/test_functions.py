"""to_hosted: plain functions as source text that ask a server until there is a score, and never invent one."""

from __future__ import annotations

import ast
import base64
import inspect
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit_adapters.hosted import identifiers

REWARD = 0.75 * rk.number("answer") + 0.25 * rk.length.between(1, 9, unit="characters").named("not too long")
EXAMPLE = {"answer": "42", "prompt": "6*7?", "completion": "42"}


def row(total: float | None = 0.75, *reasons: str, **terms: float | None) -> dict[str, Any]:
    return {"total": total, "terms": terms or {"number": total}, "reasons": list(reasons), "unparsable": False}


@dataclass
class Stand:
    """A server that answers what is planned, one request after the other; the last answer stays."""

    plan: list[tuple[int, Any, dict[str, str]]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    url: str = ""

    def answers(self, *plan: Any) -> None:
        self.requests.clear()
        self.plan = [one if isinstance(one, tuple) else (200, {"rows": [one]}, {}) for one in plan]


@pytest.fixture
def server() -> Iterator[Stand]:
    stand = Stand()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            stand.requests.append((self.path, dict(self.headers), json.loads(body)))
            status, content, headers = stand.plan.pop(0) if len(stand.plan) > 1 else stand.plan[0]
            if status == 0:
                self.connection.close()
                return
            text = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(text))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        stand.url = f"http://127.0.0.1:{running.server_port}"
        yield stand
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that a function waits, which pass at once."""
    found: list[float] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        found.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.delenv("REWARDKIT_TOKEN", raising=False)
    return found


def one(server: Stand, **options: Any) -> Callable[[Any, Any, Any], float]:
    (function,) = rk.to_hosted(REWARD, url=server.url, **options).functions
    return function


def test_it_asks_for_one_row(server: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers(row(0.5))
    function = one(server)
    monkeypatch.setenv("REWARDKIT_TOKEN", "secret")
    assert function("6*7?", "It is 42 \ud800", EXAMPLE) == 0.5
    ((path, headers, content),) = server.requests
    assert path == "/score"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Content-Type"] == "application/json"
    asked = {"completion": "It is 42 \ud800", "prompt": "6*7?", "columns": {"answer": "42"}}
    assert content == {"rows": [asked]}


def test_a_token_may_be_given_or_absent(server: Stand) -> None:
    server.answers(row())
    one(server)("", "42", EXAMPLE)
    one(server, token="it's")("", "42", None)
    assert "Authorization" not in server.requests[0][1]
    assert server.requests[1][1]["Authorization"] == "Bearer it's"
    assert server.requests[1][2]["rows"][0]["columns"] == {}


def test_terms_are_functions_of_their_own(server: Stand) -> None:
    server.answers(row(0.75, **{"number": 0.75, "not too long": None}))
    hosted = rk.to_hosted(REWARD, url=server.url + "/", outputs="terms")
    assert [function.__name__ for function in hosted.functions] == ["number", "not_too_long"]
    assert [function("", "42", EXAMPLE) for function in hosted.functions] == [0.75, 0.0]
    server.answers(row(None, "judge: down"))
    with pytest.raises(RuntimeError, match="judge: down"):
        hosted.functions[1]("", "42", EXAMPLE)


@pytest.mark.parametrize(
    "first",
    [
        row(None, "judge: no answer within 30 s"),
        (429, "full", {"Retry-After": "7"}),
        (503, {"error": "starting"}, {}),
        (500, "", {}),
        (502, "<html>", {"Retry-After": "soon"}),
        (0, "", {}),
        (200, "<html>", {}),
        (200, {"rows": []}, {}),
        (200, "[]", {}),
        (200, '{"rows": [{"total"', {"Content-Length": "99"}),
    ],
    ids=str,
)
def test_it_asks_again(server: Stand, first: Any, slept: list[float]) -> None:
    server.answers(first, first, row(0.25))
    assert one(server)("", "42", EXAMPLE) == 0.25
    assert slept == ([7.0, 7.0] if "Retry-After" in str(first) and "7" in str(first) else [1.0, 2.0])
    assert len({json.dumps(content) for _, _, content in server.requests}) == 1


def test_after_its_deadline_it_raises_and_says_why(server: Stand, slept: list[float]) -> None:
    server.answers(row(None, "judge: down", "judge: still down"))
    with pytest.raises(RuntimeError, match=r"no score from http.*/score within 60 s.*judge: down; judge: still down"):
        one(server, deadline=60)("", "42", EXAMPLE)
    assert slept == [1.0, 2.0, 4.0, 8.0, 16.0]
    gone = rk.to_hosted(REWARD, url="http://127.0.0.1:9", deadline=2).functions[0]
    with pytest.raises(RuntimeError, match=r"within 2 s.*URLError"):
        gone("", "42", EXAMPLE)


@pytest.mark.parametrize("status", [400, 401, 404, 405, 413, 422])
def test_what_every_try_would_meet_raises_at_once(server: Stand, status: int, slept: list[float]) -> None:
    server.answers((status, "pass a token", {}))
    with pytest.raises(RuntimeError, match=f"rejects the request with status {status}: pass a token"):
        one(server)("", "42", EXAMPLE)
    server.answers(row(None))
    with pytest.raises(RuntimeError, match="every component of the reward abstained"):
        one(server)("", "42", EXAMPLE)
    assert slept == []


def test_the_source_is_one_plain_function(server: Stand) -> None:
    hosted = rk.to_hosted(REWARD, url=server.url, outputs="terms")
    for function, text in zip(hosted.functions, hosted.texts, strict=True):
        assert inspect.getsource(function) == text
        assert inspect.isfunction(function)
        assert list(inspect.signature(function).parameters) == ["prompt", "completion", "example"]
        assert function.__closure__ is None
        assert function.__defaults__ is None
        (definition,) = ast.parse(text).body
        assert isinstance(definition, ast.FunctionDef)
        assert definition.decorator_list == []
        assert not [node for node in ast.walk(definition) if isinstance(node, (ast.Lambda, ast.Global, ast.Nonlocal))]
        assert not [node for node in definition.body[9:] if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert hosted.source == "\n\n".join(hosted.texts)
    server.answers(row(0.5, number=0.5, **{"not too long": 0.0}))
    there: dict[str, Any] = {"__builtins__": __builtins__}
    exec(base64.b64decode(base64.b64encode(hosted.texts[0].encode())), there)  # as a service does
    assert there["number"]("", "42", EXAMPLE) == 0.5


def test_names_become_identifiers() -> None:
    assert identifiers(["a", "not too long", "not-too-long", "2x", "class", "größe"]) == {
        "a": "a",
        "not too long": "not_too_long",
        "not-too-long": "not_too_long_2",
        "2x": "term_2x",
        "class": "term_class",
        "größe": "größe",
    }


def test_what_a_service_cannot_run_is_refused() -> None:
    url = "https://rewards.example.com"
    with pytest.raises(rk.RewardDefinitionError, match="compares completions"):
        rk.to_hosted(rk.rank_in_group(REWARD), url=url)
    with pytest.raises(rk.RewardDefinitionError, match="follows training progress"):
        rk.to_hosted(rk.schedules.linear(0.0, 1.0) * REWARD, url=url)
    for options, message in (
        ({"url": "rewards.example.com"}, "url= must be an address"),
        ({"url": "https://a/b?c=d"}, "url= must be an address"),
        ({"deadline": 0}, "deadline= must be a number"),
        ({"outputs": "all"}, "outputs= must be 'total' or 'terms'"),
        ({"name": "my reward"}, "name= must be a valid function name"),
    ):
        given: dict[str, Any] = {"url": url, **options}
        with pytest.raises(rk.RewardDefinitionError, match=message):
            rk.to_hosted(REWARD, **given)


def test_examples_are_tried_as_texts() -> None:
    url = "https://rewards.example.com"
    seen = []

    @rk.reward
    def looks(completion: str, answer: float, tags: list[str]) -> float:
        seen.append((answer, tags))
        return 0.0

    rk.to_hosted(looks, url=url, examples=[{"answer": 42, "tags": ["a", "b"], "prompt": "6*7?"}])
    assert seen == [(42.0, ["a", "b"])] * 2
    with pytest.raises(rk.errors.BindingError, match="column 'answer'"):
        rk.to_hosted(REWARD, url=url, examples=[{"solution": "42"}])


def test_it_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_reward.py").write_text("import rewardkit as rk\n\nreward = rk.number('answer')\n")
    target = f"{tmp_path / 'my_reward.py'}:reward"
    assert main(["export", target, "--to", "hosted", "--out", str(tmp_path / "out")]) == 0
    assert "RewardFunctionsConfig(functions=functions)" in capsys.readouterr().out
    assert "rk.to_hosted(reward" in (tmp_path / "out" / "rewards_hosted.py").read_text()


def test_it_does_not_wait_for_a_gold_that_cannot_be_read(server: Stand, slept: list[float]) -> None:
    server.answers(row(None, "number: column 'answer': 'N/A' cannot be parsed") | {"unparsable": True})
    with pytest.raises(RuntimeError, match="'N/A' cannot be parsed"):
        one(server)("", "42", EXAMPLE)
    assert slept == []
