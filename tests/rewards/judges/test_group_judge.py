"""All completions of a prompt are ranked in one request, in a shuffled order and with identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.judges.group_judge import identifiers
from tests.rewards.judges.server import JudgeServer, Request, endpoint, failure, says, verdict

SHOWN = re.compile(r"^([0-9a-f]{6,}):\n<completion-[0-9a-f]{16}>\n(.*?)\n</completion-", re.MULTILINE | re.DOTALL)


def by_length(request: Request) -> dict[str, Any]:
    """The longest one is the best."""
    shown = SHOWN.findall(request.messages[-1]["content"])
    return {"reason": "length", "ranking": [identifier for identifier, text in sorted(shown, key=lambda s: -len(s[1]))]}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(verdict(by_length)) as running:
        yield running


def judge(server: JudgeServer, rubric: str = "Which is best?", **options: Any) -> rk.Reward:
    return rk.judge(rubric, model=endpoint(server.base_url, options, "m"), compare="group", **options)


def test_each_group_is_one_request_and_ranks_give_scores(server: JudgeServer) -> None:
    table = rk.score(judge(server), ["a", "ccc", "bb", "x", "xx"], prompts=["p"] * 3 + ["q"] * 2)
    assert table.total.tolist() == [0.0, 1.0, 0.5, 0.0, 1.0]
    assert len(server.requests) == 2
    assert re.fullmatch(r"1 of 3 \([0-9a-f]{6}\): length", table.notes["judge"][1])


def test_equal_completions_are_ranked_once(server: JudgeServer) -> None:
    assert rk.score(judge(server), ["a", "bb", "a", "ccc"]).total.tolist() == [0.0, 0.5, 0.0, 1.0]
    assert rk.score(judge(server), ["a", "a"]).total.tolist() == [0.5, 0.5]
    assert len(server.requests) == 1


def test_the_order_in_which_completions_come_changes_nothing(server: JudgeServer) -> None:
    texts = ["a", "bb", "ccc", "dddd"]
    rk.score(judge(server), texts)
    rk.score(judge(server), texts[::-1])
    first, second = (request.messages for request in server.requests)
    assert first == second


@given(st.lists(st.text(), min_size=2, max_size=20, unique=True), st.randoms(), st.integers(0, 3))
def test_identifiers_are_drawn_from_the_texts(texts: list[str], random: Any, shuffle: int) -> None:
    found = identifiers(texts, shuffle)
    assert sorted(found.values()) == sorted(texts)
    random.shuffle(texts)
    again = identifiers(texts, shuffle)
    assert (list(again), again) == (list(found), found)


def test_another_shuffle_is_another_order() -> None:
    texts = [str(number) for number in range(12)]
    assert list(identifiers(texts, 0).values()) != list(identifiers(texts, 1).values()) != texts


@pytest.mark.parametrize("wrong", [[], ["a"], [1, 2, 3], "abc"])
def test_an_invalid_ranking_fails_the_group(server: JudgeServer, wrong: Any) -> None:
    server.answer = verdict({"reason": "", "ranking": wrong})
    table = rk.score(judge(server), ["a", "bb", "ccc"])
    assert set(table.outcomes["judge"]) == {"failed"}
    assert len(server.requests) == 8  # each alone too, and once more what was wrong


def test_a_missing_identifier_is_asked_for_once(server: JudgeServer) -> None:
    def partial(request: Request) -> dict[str, Any]:
        found = by_length(request)
        return {**found, "ranking": found["ranking"][:2]}

    server.plan(verdict(partial))
    server.answer = verdict(lambda request: by_length(server.requests[0]))
    assert rk.score(judge(server), ["a", "bb", "ccc"]).total.tolist() == [0.0, 0.5, 1.0]
    assert "missing: " in server.requests[1].messages[-1]["content"]


def test_one_group_that_fails_leaves_the_others_alone(server: JudgeServer) -> None:
    server.answer = lambda request: (says("no") if "wrong" in request.text else verdict(by_length))(request)
    table = rk.score(judge(server), ["a", "wrong", "x", "xx"], prompts=["p", "p", "q", "q"])
    assert table.outcomes["judge"].tolist() == ["failed"] * 2 + ["scored"] * 2


POISON = {"refused": failure(400, "filtered"), "nonsense": says("I cannot judge this.")}


@pytest.mark.parametrize("poison", POISON.values(), ids=POISON)
def test_a_completion_without_a_verdict_fails_alone(server: JudgeServer, poison: Any, tmp_path: Path) -> None:
    rk.score(judge(server), ["before", "it"])
    server.answer = lambda request: (poison if "wrong" in request.text else verdict(by_length))(request)
    texts = ["a", "wrong", "ccc", "bb", "wrong too", "wrong"]
    cache = str(tmp_path / "judged.sqlite")
    table = rk.score(judge(server, cache=cache), texts)
    np.testing.assert_array_equal(table.total, [0.0, np.nan, 1.0, 0.5, np.nan, np.nan])
    assert table.notes["judge"][2].startswith("1 of 3 (")
    assert "judge 'm'" in table.notes["judge"][1]
    shown = [len(SHOWN.findall(request.messages[1]["content"])) for request in server.requests[1:]]
    assert sorted(set(shown)) == [1, 3, 5]  # each alone, the others together, at first all
    server.down()
    replayed = rk.score(judge(server, cache=rk.Cache(cache, replay=True)), texts)
    np.testing.assert_array_equal(replayed.total, table.total)


def test_a_group_that_gets_no_verdict_while_each_does_fails(server: JudgeServer) -> None:
    def at_most_one(request: Request) -> Any:
        return (failure(400, "too long") if len(SHOWN.findall(request.text)) > 1 else verdict(by_length))(request)

    server.plan(verdict(by_length))
    server.answer = at_most_one
    table = rk.score(judge(server), ["a", "b", "x", "xx"], prompts=["p", "p", "q", "q"])
    assert table.outcomes["judge"].tolist().count("failed") == 2
    assert sum("too long" in note for note in table.notes["judge"]) == 2


def test_columns_and_prompt_are_those_of_the_group(server: JudgeServer) -> None:
    reward = judge(server, "Which answers {prompt} like {style}?", reference="gold")
    rk.score(reward, ["a", "bb"], prompts=["P?", "P?"], style=["Bach", "Bach"], gold=["g", "g"])
    said = server.requests[0].messages[-1]["content"]
    assert said.startswith("Which answers P? like Bach?\n\nTo rank:")
    assert "\ng\n</reference-" in said


def test_a_group_shares_the_characters_that_are_shown(server: JudgeServer) -> None:
    rk.score(judge(server, max_characters=1000), ["a" * 5000, "b" * 5000])
    assert server.requests[0].text.count("4,500 characters are left out") == 2
