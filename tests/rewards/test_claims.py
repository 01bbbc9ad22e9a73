"""Claims without a call that worked."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.check.variants import strategies
from rewardkit.check.variants.wild_texts import TEXTS
from tests.record.conversations import asks, result, says

REWARD = rk.agents.no_claim_without_call({"book": ["booked", "reserved"], "pay": "paid in full"})


def value(answer: str, *calls: str, text: str = "ok") -> float:
    messages: list[Any] = [message for name in calls for message in (asks((name, {})), result(name, text))]
    return float(rk.score(REWARD, [[*messages, says(answer)]]).total[0])


@pytest.mark.parametrize(
    "answer",
    [
        "Your table is booked.",
        "BOOKED!",
        "your table is **booked**",
        "I have reserved it, it is paid in full.",
        "boo\u200bked",
        "It is paid\n  in   full.",
        "I could not wait: it is booked.",
        "There was no problem, so I booked it.",
        "Not that one. It is booked.",
        "<think>not booked</think>It is booked.",
    ],
)
def test_a_claim_without_a_call(answer: str) -> None:
    assert value(answer) == 0.0
    assert value(answer, "look") == 0.0
    assert value(answer, "book", text="{'error': 'full'}") == 0.0
    assert value(answer, "book", "pay") == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I could not get it booked.",
        "It is not booked yet.",
        "Nothing was reserved.",
        "I wasn't able to have it booked",
        "Is it booked?",
        "Once it is booked, I will tell you.",
        "It is overbooked.",
        "The bookedness is paid, in full.",
        "<think>It is booked.</think>Sorry.",
    ],
)
def test_no_claim(answer: str) -> None:
    assert value(answer) == 1.0


def test_the_note_says_what_was_claimed() -> None:
    table = rk.score(REWARD, [[says("It is Booked.")]])
    assert table.notes["no_claim_without_call"] == ["claims 'booked', but no call to book succeeded"]


def test_only_the_answer_claims() -> None:
    assert rk.score(REWARD, [[says("It is booked."), asks(("look", {}))]]).total.tolist() == [1.0]  # unfinished
    assert rk.score(REWARD, [[says("It is booked."), says("Sorry, I was wrong.")]]).total.tolist() == [1.0]
    assert rk.score(REWARD, [[asks(("look", {})), result("look", "It is booked."), says("?")]]).total.tolist() == [1.0]


def test_a_call_without_a_result_proves_nothing() -> None:
    completion = [asks(("book", {}), ("look", {})), result("look", "1"), says("It is booked.")]
    assert rk.score(REWARD, [completion]).total.tolist() == [0.0]


def test_alone_it_pays_silence_and_says_so() -> None:
    assert any("rewards a policy for saying nothing" in trap for trap in rk.Scorer(REWARD).traps())
    beside = rk.exact("answer") + 0.2 * REWARD
    assert not any("saying nothing" in trap for trap in rk.Scorer(beside).traps())
    assert not any("saying nothing" in trap for trap in rk.Scorer(rk.gate(REWARD, rk.exact("answer"))).traps())


@given(strategies.trajectories(), st.data())
def test_it_is_0_or_1_and_forms_do_not_matter(messages: Any, data: st.DataObject) -> None:
    claiming = rk.agents.no_claim_without_call({"open": ["0", "so"], "search": "is"})
    _, other = data.draw(strategies.edited(messages, "arguments", "ids", "parallel order"))
    found = rk.score(claiming, [messages, other]).total
    assert found[0] in (0.0, 1.0)
    assert found[0] == found[1]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_texts(text: str) -> None:
    assert value(text) in (0.0, 1.0)
    assert value(f"{text} booked {text}", text or "x") in (0.0, 1.0)


def test_a_long_answer_is_read() -> None:
    assert value("booked not " * 20_000) == 0.0
    assert value("not " * 50_000 + "booked") == 1.0


@pytest.mark.parametrize(
    "claims",
    [
        {},
        [],
        "booked",
        None,
        {"book": []},
        {"book": [""]},
        {"book": ["\u200b"]},
        {"": ["x"]},
        {1: ["x"]},
        {"book": [1]},
        {"book": 7},
    ],
)
def test_arguments_are_checked(claims: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="no_claim_without_call: pass"):
        rk.agents.no_claim_without_call(claims)


def test_phrases_are_texts_and_no_patterns() -> None:
    reward = rk.agents.no_claim_without_call({"f": ["a.c", "(done)", "€5"]})
    assert rk.score(reward, [says("abc done 5")]).total.tolist() == [1.0]
    for text in ("It is a.c now", "it is (done)", "I paid €5."):
        assert rk.score(reward, [says(text)]).total.tolist() == [0.0]


def test_it_is_shown_and_pickled() -> None:
    rk.score(REWARD, ["It is booked."])
    again = pickle.loads(pickle.dumps(REWARD))
    assert (
        repr(again)
        == repr(REWARD)
        == "agents.no_claim_without_call({'book': ['booked', 'reserved'], 'pay': ['paid in full']})"
    )
    assert rk.score(again, ["It is booked."]).total.tolist() == [0.0]
