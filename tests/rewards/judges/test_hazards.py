"""Whatever an endpoint does, a sample is judged or fails with a reason; it never scores 0 for it."""

from __future__ import annotations

import math
import re
import signal
import threading
import time
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.rewards.judges.endpoint import client as breaker, client as sending
from rewardkit.rewards.judges.endpoint.failures import retry_after
from tests.rewards.judges.server import (
    Answer,
    JudgeServer,
    Reply,
    Request,
    content_type,
    cut,
    drip,
    endpoint,
    failure,
    gzip_bomb,
    huge,
    limited,
    no_quota,
    redirect,
    reset,
    says,
    silent,
    sometimes,
    unauthorized,
    verdict,
)

PASSING = {
    "429 without a wait": limited(),
    "429 with a short wait": limited(retry_after=0.01),
    "429 with a date": limited(retry_after="Thu, 01 Jan 2026 00:00:00 GMT"),
    "429 with nonsense": limited(retry_after="soon"),
    "500": failure(500),
    "503": failure(503),
    "529": failure(529),
    "408": failure(408),
    "409": failure(409),
    "reset": reset(),
    "cut": cut(),
    "wrong content type": content_type("text/html"),
    "no completion": content_type("application/json", '{"error": null}'),
    "no JSON": content_type("application/json", "{"),
    "empty": content_type("application/json", ""),
    "a list": content_type("application/json", "[]"),
    "too large": huge(8),
    "nested without end": content_type("application/json", "[" * 100_000),
    "no charset": content_type("text/plain; charset=hex", "{}"),
    "304": lambda request: Reply(b"", 304),
    "no content": content_type("application/json", '{"choices": [{"message": {"refusal": "no"}}]}'),
    "off scale": verdict(11),
    "prose": says("seven of ten"),
    "cut at max_tokens": says('{"reason": "because', finish="length"),
}
LASTING = {
    **{name: answer for name, answer in PASSING.items() if "wait" not in name},
    "429 for an hour": limited(retry_after=3600),
    "gzip bomb": gzip_bomb(16),
    "drip": drip(0.2),
    "silent": silent(30),
    "not a number": says('{"reason": "", "score": NaN}'),
    "two verdicts": says('```json\n{"reason": "", "score": 1}\n```\n```json\n{"reason": "", "score": 9}\n```'),
}
FINAL = {
    "401": unauthorized(),
    "no quota": no_quota(),
    "402": failure(402, "Insufficient Balance"),
    "400": failure(400, "unknown parameter 'temperature'"),
    "403": failure(403),
    "404": failure(404, "the model `m` does not exist"),
    "redirect": redirect("http://127.0.0.1:9/v1/chat/completions"),
}


def judge(server: JudgeServer, **options: Any) -> rk.Reward:
    return rk.judge("Good?", model=endpoint(server.base_url, options), **options)


@pytest.mark.parametrize("hazard", PASSING.values(), ids=PASSING)
def test_passing_hazards_cost_no_sample(hazard: Answer) -> None:
    with JudgeServer(verdict(7)) as server:
        server.plan(hazard)
        assert rk.score(judge(server), ["a"]).total.tolist() == [0.7]
        assert len(server.requests) == 2


@pytest.mark.parametrize("hazard", LASTING.values(), ids=LASTING)
def test_lasting_hazards_are_failures_and_never_scores(hazard: Answer) -> None:
    with JudgeServer(hazard) as server:
        table = rk.score(judge(server, deadline=0.5), ["a", "b"])
        assert table.outcomes["judge"].tolist() == ["failed", "failed"]
        assert all(map(math.isnan, table.total))
        assert all(note.startswith("judge 'm' ") for note in table.notes["judge"])
        assert table.measured["judge_failures/judge"] == 2.0


@pytest.mark.parametrize("hazard", FINAL.values(), ids=FINAL)
def test_hazards_that_affect_every_sample_stop_the_run(hazard: Answer) -> None:
    with JudgeServer(hazard) as server:
        for policy in ("unscorable", 0.5):
            with pytest.raises(rk.RewardFailure, match=r"reward 'judge' stops the run: judge 'm' at http.*rejects"):
                rk.score(judge(server, on_failure=policy), ["a"])


def test_a_stop_spares_those_that_wait_for_their_turn() -> None:
    with JudgeServer(unauthorized()) as server:
        with pytest.raises(rk.RewardFailure, match="401"):
            rk.score(judge(server, concurrency=2), [str(number) for number in range(50)])
        assert len(server.requests) <= 4
        server.answer = verdict(7)  # the key was mended
        assert rk.score(judge(server, concurrency=2), ["a"]).total.tolist() == [0.7]


def test_a_sample_that_is_refused_fails_alone() -> None:
    def too_long(request: Request) -> Reply:
        long = "word word word" in request.text
        return (failure(400, "maximum context length is 8 tokens") if long else verdict(7))(request)

    with JudgeServer(too_long) as server:
        table = rk.score(judge(server, concurrency=1), ["word word word", "word"])
        assert table.outcomes["judge"].tolist() == ["failed", "scored"]
        assert "maximum context length" in table.notes["judge"][0]


@pytest.mark.parametrize("status", [429, 503])
def test_a_refusal_while_the_endpoint_is_busy_does_not_stop_the_run(status: int) -> None:
    with JudgeServer(verdict(7)) as server:
        server.plan(failure(400, "filtered"), failure(400, "filtered"), failure(status))
        assert rk.score(judge(server, concurrency=1), ["a"]).total.tolist() == [0.7]


def test_an_endpoint_that_refuses_everything_from_now_on_stops_the_run() -> None:
    with JudgeServer(verdict(7)) as server:
        reward = judge(server, concurrency=1)
        assert rk.score(reward, ["a"]).total.tolist() == [0.7]
        server.answer = failure(404, "the model was withdrawn")
        with pytest.raises(rk.RewardFailure, match=r"withdrawn.*/chat/completions"):
            rk.score(reward, [str(number) for number in range(20)])


def test_judges_of_one_model_are_refused_each_for_itself() -> None:
    def picky(request: Request) -> Reply:
        return (failure(400, "unknown parameter 'bad'") if "bad" in request.body else verdict(7))(request)

    with JudgeServer(picky) as server:
        assert rk.score(judge(server), ["a"]).total.tolist() == [0.7]
        with pytest.raises(rk.RewardFailure, match=r"stops the run.*unknown parameter"):
            rk.score(judge(server, options={"bad": 1}), ["a"])
        assert rk.score(judge(server), ["b"]).total.tolist() == [0.7]


def test_a_schema_that_is_refused_is_left_out_for_its_judge_alone() -> None:
    def picky(request: Request) -> Reply:
        ranks = request.wants_schema and "ranking" in str(request.body["response_format"])
        return (failure(400, "schema too complex") if ranks else verdict(ranked))(request)

    def ranked(request: Request) -> object:
        identifiers = re.findall(r"^([0-9a-f]{6,}):$", request.text, re.MULTILINE)
        return {"reason": "", "ranking": identifiers} if identifiers else 7

    with JudgeServer(picky) as server:
        assert rk.score(judge(server), ["a"]).total.tolist() == [0.7]
        assert sorted(rk.score(judge(server, compare="group"), ["a", "b"], prompts=["p", "p"]).total) == [0.0, 1.0]
        rk.score(judge(server), ["b"])
        assert [request.wants_schema for request in server.requests] == [True, True, False, True]


@pytest.mark.slow
def test_a_limit_per_minute_costs_time_and_no_sample() -> None:
    with JudgeServer(verdict(7)) as server:
        table = rk.score(judge(server, requests_per_minute=60, deadline=2.0), [str(number) for number in range(10)])
        assert table.total.tolist() == [0.7] * 10  # six at once, the last one waits for longer than its deadline


def test_odd_headers_and_parts_are_read() -> None:
    body = (
        '{"choices": [{"message": {"content": [{"type": "text", "text": "{\\"reason\\": \\"\\", \\"score\\": 7}"}]}}]}'
    )
    odd = Reply(body.encode(), headers={"content-type": "application/json", "x-region": "Zürich"})
    with JudgeServer(lambda request: odd) as server:
        assert rk.score(judge(server), ["a"]).total.tolist() == [0.7]


def test_an_invalid_key_or_address_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer(verdict(7)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "secret\n")  # as files end
        assert rk.score(judge(server), ["a"]).total.tolist() == [0.7]
        monkeypatch.setenv("OPENAI_API_KEY", "schlüssel")
        with pytest.raises(rk.RewardFailure, match="OPENAI_API_KEY contains characters"):
            rk.score(judge(server), ["a"])
    for address in ("localhost:1/v1", "ftp://x/v1", "http://", "http://127.0.0.1:99999/v1", "http://me:hidden@x/v1"):
        with pytest.raises(rk.RewardDefinitionError, match="base_url") as raised:
            rk.judge("Good?", model=rk.Endpoint("m", address))
        assert "hidden" not in str(raised.value)


def test_a_tenth_of_429_and_500_costs_no_sample() -> None:
    troubled = sometimes(0.1, sometimes(0.5, limited(), failure(500), seed=1), verdict(7), seed=2)
    with JudgeServer(troubled) as server:
        table = rk.score(judge(server), [str(number) for number in range(200)])
        assert table.total.tolist() == [0.7] * 200
        assert table.measured["judge_retries/judge"] == len(server.requests) - 200 > 5


@pytest.mark.slow
def test_a_connection_that_hangs_is_given_up_in_time_for_another() -> None:
    with JudgeServer(verdict(7)) as server:
        server.plan(silent(60))
        assert rk.score(judge(server, deadline=3.0), ["a"]).total.tolist() == [0.7]


@pytest.mark.slow
def test_a_burst_of_500_is_sat_out() -> None:
    with JudgeServer(verdict(7)) as server:
        server.plan(*[failure(500)] * 60)
        table = rk.score(judge(server, concurrency=16), [str(number) for number in range(32)])
        assert table.total.tolist() == [0.7] * 32


@pytest.mark.slow
def test_an_endpoint_that_is_down_fails_its_batch_and_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "_SECONDS_TO_OPEN", 0.0)
    monkeypatch.setattr(sending, "_PAUSE", 0.1)
    with JudgeServer(verdict(7)) as server:
        reward = judge(server, deadline=2.0)
        texts = [str(number) for number in range(100)]
        patient = judge(server, deadline=60.0)  # a busy machine needs more than 2 s for 100 answers
        assert rk.score(patient, texts).total.tolist() == [0.7] * 100
        server.down()
        table = rk.score(reward, texts)
        assert set(table.outcomes["judge"]) == {"failed"}
        assert table.measured["judge_failures_down/judge"] > 50
        server.up()
        for _ in range(200):
            table = rk.score(patient, texts)
            if set(table.outcomes["judge"]) == {"scored"}:
                break
            time.sleep(0.05)
        assert table.total.tolist() == [0.7] * 100


@pytest.mark.slow
def test_a_batch_waits_for_a_probe_no_longer_than_for_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "_SECONDS_TO_OPEN", 0.0)
    monkeypatch.setattr(sending, "_PAUSE", 1.0)
    monkeypatch.setattr(breaker, "LONGEST_PAUSE", 1.0)
    with JudgeServer(silent(30)) as server:
        texts = [str(number) for number in range(20)]
        rk.score(judge(server, deadline=1.0), texts)
        time.sleep(1.2)
        patient = judge(server, deadline=60.0)
        sent = len(server.requests)
        started = time.monotonic()
        assert set(rk.score(patient, texts).outcomes["judge"]) == {"failed"}
        assert time.monotonic() - started < 20.0  # an attempt may take 40 s
        assert len(server.requests) > sent


def test_a_batch_has_a_deadline_of_its_own() -> None:
    with JudgeServer(silent(30)) as server:
        table = rk.score(judge(server, batch_deadline=0.2, concurrency=1), ["a", "b", "c"])
        assert table.notes["judge"] == ["no result within 0.2 s"] * 3


def test_no_more_requests_at_one_time_than_allowed() -> None:
    with JudgeServer(silent(0.01, verdict(7))) as server:
        rk.score(judge(server, concurrency=3), [str(number) for number in range(30)])
        assert server.most_at_once == 3


def test_a_redirect_is_not_followed_and_no_proxy_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with JudgeServer(verdict(10)) as other, JudgeServer(redirect(f"{other.base_url}/chat/completions")) as server:
        with pytest.raises(rk.RewardFailure, match=f"redirects to '{other.base_url}"):
            rk.score(judge(server), ["a"])
        assert not other.requests
        assert rk.score(judge(other), ["a"]).total.tolist() == [1.0]


def test_the_key_is_in_no_message(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("OPENAI_API_KEY", "open sesame")
    hazard = failure(400, "the key 'open sesame' or sk-abcdef0123456789 is bad", headers="x")
    with JudgeServer(hazard) as server:
        with pytest.raises(rk.RewardFailure) as raised:
            rk.score(judge(server), ["a"])
        assert server.requests[0].headers["authorization"] == "Bearer open sesame"
        server.answer = content_type(
            "application/json", '{"error": "the key open sesame or sk-abcdef0123456789 is bad"}'
        )
        [note] = rk.score(judge(server, deadline=0.2), ["a"]).notes["judge"]
    for said in (str(raised.value), caplog.text, note):
        assert "sesame" not in said
        assert "abcdef0123456789" not in said


def test_ctrl_c_ends_a_batch_and_leaves_the_next_one_whole() -> None:
    def interrupting(request: Request) -> Reply:
        signal.pthread_kill(main.ident or 0, signal.SIGINT)
        return Reply(delay=30)

    main = threading.main_thread()
    with JudgeServer(verdict(7)) as server:
        server.plan(interrupting)
        with pytest.raises(KeyboardInterrupt):
            rk.score(judge(server, concurrency=1), ["a", "b", "c"])
        assert len(server.requests) == 1
        assert rk.score(judge(server, concurrency=1), ["a", "b", "c"]).total.tolist() == [0.7] * 3


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
