"""The SDK of the hosted guide with `rk.to_hosted` and a real server: the totals of `rk.score`, no invented score."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from tests.serve.served import Served, serving
from tests.trainers import reward as rewards
from tests.trainers.reward import agrees, expected, reward, rows
from tests.trainers.stubs import stub

stub("deprecation", "google", "predibase_api", "progress_table")

from predibase.config import RewardFunction, RewardFunctionsConfig  # noqa: E402

TOKEN = "for the tests"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("reward", "--no-access-log", file=rewards.__file__, REWARDKIT_TOKEN=TOKEN) as running:
        yield running


def shipped(url: str, **options: Any) -> dict[str, Any]:
    """Return the functions as the SDK makes them from the text that it sends."""
    hosted = rk.to_hosted(reward, url=url, **options)
    config = RewardFunctionsConfig(functions=list(hosted.functions))
    for function in hosted.functions:
        assert RewardFunction.from_callable(function).source in hosted.texts
    return {name: one.function for name, one in config.functions.items()}


def asked(function: Any, given: list[tuple[str, str]]) -> list[float | None]:
    def score(row: tuple[str, str]) -> float | None:
        text, gold = row
        try:
            found: float = function("2+2?", text, {"answer": gold, "prompt": "2+2?"})
        except RuntimeError:
            return None
        return found

    with ThreadPoolExecutor(16) as threads:
        return list(threads.map(score, given))


def test_totals_are_those_of_score(server: Served) -> None:
    given = rows()
    (function,) = shipped(server.url, token=TOKEN, deadline=1).values()
    found = asked(function, given)
    totals = expected(given)
    wrong = [place for place, (own, total) in enumerate(zip(found, totals, strict=True)) if not agrees(own, total)]
    assert wrong == [], [(given[place], found[place]) for place in wrong[:3]]
    assert 100 < found.count(None) < 2_000


def test_terms_add_up(server: Served) -> None:
    given = rows()[:500]
    functions = shipped(server.url, token=TOKEN, deadline=1, outputs="terms")
    found = np.array([asked(function, given) for function in functions.values()], dtype=np.float64)
    np.testing.assert_allclose(found.sum(axis=0), expected(given), rtol=1e-12)


def test_without_the_token_it_raises(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    (function,) = shipped(server.url).values()
    monkeypatch.delenv("REWARDKIT_TOKEN", raising=False)
    with pytest.raises(RuntimeError, match="status 401"):
        function("2+2?", "4", {"answer": "4"})
    monkeypatch.setenv("REWARDKIT_TOKEN", TOKEN)
    assert function("2+2?", "4", {"answer": "4"}) == rk.score(reward, ["4"], answer=["4"]).total[0]


def test_a_server_that_starts_later_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (function,) = shipped(f"http://127.0.0.1:{port}", token=TOKEN, deadline=60).values()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(function, "2+2?", "4", {"answer": "4"})
        with serving("reward", "--no-access-log", file=rewards.__file__, port=port, REWARDKIT_TOKEN=TOKEN):
            assert waiting.result(60) == rk.score(reward, ["4"], answer=["4"]).total[0]


def test_what_the_service_refuses_is_not_made() -> None:
    with pytest.raises(ValueError, match="expected 3"):
        RewardFunction.from_callable(lambda completion, answer: 0.0)
    with pytest.raises(ValueError, match="function"):
        RewardFunction.from_callable(rk.number("answer"))
