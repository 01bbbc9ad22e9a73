"""Turns and calls: how many, how they went, how it ended."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.check.variants import strategies
from rewardkit.check.variants.wild_texts import TEXTS
from tests.record.conversations import OPENED, PENDING, asks, result, says

Message = dict[str, Any]

ERROR = "{'error': 'stuck'}"
WRITTEN = '<tool_call>\n{"name": "open", "arguments": {}}\n</tool_call>'
TEXT: Any = "a"
LIST: Any = ["a"]
ONE: Any = 1
REWARDS = [
    rk.agents.turns_between(1, 3, margin=2),
    rk.agents.calls_between(0, 2, margin=1),
    rk.agents.calls_between(1, math.inf, tool="open"),
    rk.agents.tool_success("open", "pay", partial=True),
    rk.agents.tool_errors(each=-0.1, free=1),
    rk.agents.tool_errors(form="xml"),
    rk.agents.calls_between(0, 2, form="messages"),
    rk.agents.finished(),
]


def scored(reward: rk.Reward, completion: Any, **options: Any) -> tuple[float, str]:
    table = rk.score(reward, [completion], **options)
    (notes,) = table.notes.values()
    return float(table.total[0]), notes[0]


def of_turns(count: int) -> list[Message]:
    return [says("x")] * count


def of_calls(count: int, tool: str = "open") -> list[Message]:
    return [asks(*[(tool, {})] * count), *[result(tool, "1")] * count, says("x")]


@pytest.mark.parametrize(
    ("reward", "completion", "score", "note"),
    [
        (rk.agents.turns_between(1, 4), of_turns(1), 1.0, ""),
        (rk.agents.turns_between(1, 4), of_turns(4), 1.0, ""),
        (rk.agents.turns_between(1, 4), of_turns(5), 0.0, "5 turns, expected 1 to 4"),
        (rk.agents.turns_between(1, 4), [], 0.0, "0 turns, expected 1 to 4"),
        (rk.agents.turns_between(1, 4), "text", 1.0, ""),
        (rk.agents.turns_between(1, 4, margin=2), of_turns(5), 0.5, "5 turns, expected 1 to 4"),
        (rk.agents.turns_between(1, 4, margin=2), of_turns(6), 0.0, "6 turns, expected 1 to 4"),
        (rk.agents.turns_between(3, math.inf, margin=3), of_turns(1), 1 / 3, "1 turns, expected 3 to inf"),
        (rk.agents.turns_between(0, 0), [], 1.0, ""),
        (rk.agents.calls_between(0, 3, margin=2), of_calls(4), 0.5, "4 calls, expected 0 to 3"),
        (rk.agents.calls_between(1, 3), "text", 0.0, "0 calls, expected 1 to 3"),
        (rk.agents.calls_between(0, 3, tool="pay"), of_calls(9), 1.0, ""),
        (rk.agents.calls_between(1, 1, tool="pay"), of_calls(2, "pay"), 0.0, "2 calls of pay, expected 1 to 1"),
        (rk.agents.calls_between(0, 1), PENDING, 0.0, "2 calls, expected 0 to 1"),
        (rk.agents.calls_between(0, 0), [asks(("open", "[1]"))], 0.0, "1 calls, expected 0 to 0"),
        (rk.agents.calls_between(1, 1), WRITTEN, 1.0, ""),
        (rk.agents.calls_between(1, 1, form="hermes"), [says(WRITTEN)], 1.0, ""),
        (rk.agents.calls_between(1, 1, form="messages"), WRITTEN, 0.0, "0 calls, expected 1 to 1"),
        (rk.agents.calls_between(0, 1), f"{WRITTEN}\n<tool_call>", 0.0, "2 calls, expected 0 to 1"),
        (rk.agents.tool_success("open"), OPENED, 1.0, ""),
        (rk.agents.tool_success("open"), PENDING, 0.0, "no successful call to open"),
        (rk.agents.tool_success("open", "pay"), OPENED, 0.0, "no successful call to pay"),
        (rk.agents.tool_success("open", "pay", partial=True), OPENED, 0.5, "no successful call to pay"),
        (rk.agents.tool_success("open", "open", partial=True), OPENED, 1.0, ""),
        (rk.agents.tool_success("open"), [asks(("open", {}))], 0.0, "no successful call to open"),
        (rk.agents.tool_success("open"), [*PENDING[:2], *OPENED], 1.0, ""),
        (rk.agents.tool_errors(), OPENED, 0.0, ""),
        (rk.agents.tool_errors(), WRITTEN, 0.0, ""),
        (rk.agents.tool_errors(), f"{WRITTEN}\n<tool_call>", -0.1, None),
        (rk.agents.tool_errors(form="messages"), "<tool_call>", 0.0, ""),
        (rk.agents.tool_errors(), PENDING, -0.1, "1 errors, first open(color=\"red\"): 'stuck'"),
        (rk.agents.tool_errors(free=1), PENDING, 0.0, ""),
        (rk.agents.tool_errors(), [asks(("open", "[1]"))], -0.1,
         "1 errors, first open(the arguments are [1], not an object): "
         "'the arguments are [1], not an object'"),
        (rk.agents.tool_errors(each=-0.2, most=-0.3), [asks(*[("f", "[1]")] * 9)], -0.3, None),
        (rk.agents.finished(), OPENED, 1.0, ""),
        (rk.agents.finished(), "text", 1.0, ""),
        (rk.agents.finished(), OPENED[:2], 0.0, "no answer after the last result"),
        (rk.agents.finished(), OPENED[:1], 0.0, "its last calls got no result"),
        (rk.agents.finished(), [], 0.0, "no turn"),
    ],
)  # fmt: skip
def test_scores(reward: rk.Reward, completion: Any, score: float, note: str | None) -> None:
    found = scored(reward, completion)
    assert found[0] == pytest.approx(score)
    assert note is None or found[1] == note


def test_finished_knows_which_completions_were_cut() -> None:
    batch = rk.Batch([OPENED, OPENED, "text"], rollouts=RolloutInfo(cut=[True, False, True]))
    table = rk.Scorer(rk.agents.finished()).score(batch)
    assert table.total.tolist() == [0.0, 1.0, 0.0]
    assert table.notes["finished"] == ["it reached the token limit", "", "it reached the token limit"]


def test_an_answer_beside_a_waiting_call_is_paid_only_without_the_gate() -> None:
    completion = [asks(("open", {}), text="<answer>42</answer>")]
    exact = rk.exact("gold", extract=rk.extract.tag("answer"))
    assert rk.score(exact, [completion], gold=["42"]).total.tolist() == [1.0]
    assert rk.score(rk.gate(rk.agents.finished(), exact), [completion], gold=["42"]).total.tolist() == [0.0]


@given(st.integers(0, 9), st.integers(0, 5), st.integers(0, 5), st.floats(0, 4))
def test_it_falls_with_the_distance(count: int, low: int, width: int, margin: float) -> None:
    reward = rk.agents.turns_between(low, low + width, margin=margin)
    values = [scored(reward, of_turns(number))[0] for number in range(12)]
    inside = values[low : low + width + 1]
    assert set(inside) == {1.0}
    assert values[:low] == sorted(values[:low])
    assert values[low + width :] == sorted(values[low + width :], reverse=True)


@given(strategies.trajectories(), st.data())
def test_ranges_forms_and_pickles(messages: list[Message], data: st.DataObject) -> None:
    _, other = data.draw(strategies.edited(messages, "arguments", "ids", "parallel order"))
    for reward in REWARDS:
        low, high = reward.bounds
        value, _ = scored(reward, messages)
        assert low <= value <= high
        assert scored(pickle.loads(pickle.dumps(reward)), other)[0] == value


@given(strategies.trajectories(), st.data())
def test_nothing_dilutes_an_error_and_nothing_undoes_a_success(messages: list[Message], data: st.DataObject) -> None:
    _, more = data.draw(strategies.edited(messages, "further calls"))
    errors = rk.agents.tool_errors(each=-0.01, most=-1.0)
    assert scored(errors, more)[0] <= scored(errors, messages)[0]
    success = rk.agents.tool_success("open", "search", partial=True)
    assert scored(success, more)[0] == scored(success, messages)[0]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_texts(text: str) -> None:
    completion = [asks((text, {text: text}), (text, text)), result(text, text), says(text)]
    for reward in REWARDS:
        value, note = scored(reward, completion)
        assert math.isfinite(value)
        assert len(note) < 1_000


def test_notes_are_short_whatever_the_policy_writes() -> None:
    completion = [asks(("f" * 9_000, {"a": "x" * 100_000})), result("f" * 9_000, "{'error': '" + "y" * 9_000 + "'}")]
    assert len(scored(rk.agents.tool_errors(), completion)[1]) < 600


def test_errors_of_a_broken_environment_are_not_counted() -> None:
    batch = rk.Batch([PENDING, PENDING], rollouts=RolloutInfo(broken={0: "down"}))
    table = rk.Scorer(rk.agents.tool_errors()).score(batch)
    assert [str(outcome) for outcome in table.outcomes["tool_errors"]] == ["failed", "scored"]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: rk.agents.turns_between(3, 2), "0 <= low <= high, got low 3 and high 2"),
        (lambda: rk.agents.turns_between(-1, 2), "0 <= low <= high"),
        (lambda: rk.agents.turns_between(0, 2, margin=-1), "margin must be a distance"),
        (lambda: rk.agents.turns_between(TEXT, 2), "turns_between: low"),
        (lambda: rk.agents.turns_between(0, math.nan), "turns_between: high"),
        (lambda: rk.agents.calls_between(math.inf, math.inf), "calls_between: low"),
        (lambda: rk.agents.calls_between(0, 2, tool=""), "tool must be the name of a tool"),
        (lambda: rk.agents.calls_between(0, 2, form="hermse"), "calls_between: form must be one of .* Did you mean"),  # type: ignore[arg-type]
        (lambda: rk.agents.tool_errors(form=1), "tool_errors: form must be one of"),  # type: ignore[arg-type]
        (lambda: rk.agents.calls_between(0, 2, tool=LIST), "tool must be the name of a tool"),
        (lambda: rk.agents.tool_success(), "the name of at least one tool"),
        (lambda: rk.agents.tool_success("a", ""), "the name of at least one tool"),
        (lambda: rk.agents.tool_success(LIST), "the name of at least one tool"),
        (lambda: rk.agents.tool_success("a", partial=ONE), "partial must be True or False"),
        (lambda: rk.agents.tool_errors(each=0.1), "most <= each < 0"),
        (lambda: rk.agents.tool_errors(each=-0.6), "most <= each < 0"),
        (lambda: rk.agents.tool_errors(each=0.0), "most <= each < 0"),
        (lambda: rk.agents.tool_errors(free=-1), "free must be a number of errors"),
    ],
)
def test_arguments_are_checked(make: Any, problem: str) -> None:
    with pytest.raises(rk.RewardKitError, match=problem):
        make()


def test_they_are_shown_as_they_were_written() -> None:
    assert list(map(repr, REWARDS)) == [
        "agents.turns_between(1, 3, margin=2)",
        "agents.calls_between(0, 2, margin=1)",
        "agents.calls_between(1, inf, tool='open')",
        "agents.tool_success('open', 'pay', partial=True)",
        "agents.tool_errors(free=1)",
        "agents.tool_errors(form='xml')",
        "agents.calls_between(0, 2, form='messages')",
        "agents.finished()",
    ]
