"""Laws of trajectories: hackable rewards of agents are found by the law that names the fault, sound ones are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.laws import of_family
from rewardkit.testing import check_reward

OF_AGENTS = of_family("agents")
COLORS = ("red", "blue", "green")
NUMBERS = ("18", "7", "42")
Messages = list[dict[str, Any]]


def opened(color: str, number: str, answer: str | None = None) -> Messages:
    call = {"type": "function", "function": {"name": "open", "arguments": {"color": color, "how": "gently"}}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "open", "content": number},
        {"role": "assistant", "content": answer or f"It is {number}."},
    ]


EXAMPLES = [
    {
        "prompt": [{"role": "user", "content": f"What is in the {color} drawer?"}],
        "answer": number,
        "calls": json.dumps([{"name": "open", "arguments": {"color": color, "how": "gently"}}]),
    }
    for color, number in zip(COLORS, NUMBERS, strict=True)
]
GIVEN: dict[str, Any] = {
    "examples": EXAMPLES,
    "good": [[opened(color, number)] for color, number in zip(COLORS, NUMBERS, strict=True)],
    "bad": [[opened(color, number, "It is 99.")] for color, number in zip(COLORS, NUMBERS, strict=True)],
}


def said(completion: str, answer: str) -> float:
    return float(answer in completion.replace(".", " ").split())


@rk.reward
def pays_calls(completion: str, trajectory: rk.Trajectory, answer: str) -> float:
    """Half for the answer, half for calls."""
    return 0.5 * said(completion, answer) + 0.5 * min(1.0, 0.25 * len(trajectory.calls))


@rk.reward
def all_gold_calls(trajectory: rk.Trajectory, calls: list[dict[str, Any]]) -> float:
    """All gold calls are among the calls."""
    return float(
        all(
            any(one.name == gold["name"] and one.has(**gold["arguments"]) for one in trajectory.calls) for gold in calls
        )
    )


@rk.reward
def some_tool_said_it(messages: list[dict[str, Any]], answer: str) -> float:
    """The answer was found."""
    return float(
        any(answer in str(message.get("content")).split() for message in messages if message["role"] == "tool")
    )


@rk.reward
def names_only(trajectory: rk.Trajectory, calls: list[dict[str, Any]]) -> float:
    """The right tools were called."""
    return float([call.name for call in trajectory.calls] == [call["name"] for call in calls])


@rk.reward
def any_message(messages: list[dict[str, Any]], answer: str) -> float:
    """The answer is in the conversation."""
    return float(any(answer in str(message.get("content")).replace(".", " ").split() for message in messages))


@rk.reward
def no_result_is_an_error(trajectory: rk.Trajectory, calls: list[dict[str, Any]]) -> float:
    """Nothing went wrong, and nothing was called that should not be."""
    known = [(call["name"], call["arguments"]) for call in calls]
    return float(
        all(call.ok is not False and (call.name, dict(call.arguments or {})) in known for call in trajectory.calls)
    )


@rk.reward
def share_of_good_calls(trajectory: rk.Trajectory, calls: list[dict[str, Any]]) -> float:
    """The share of the calls that were wanted."""
    made = trajectory.calls
    return sum(any(call.has(**gold["arguments"]) for gold in calls) for call in made) / max(1, len(made))


@rk.reward
def turns_add_up(completion: str, trajectory: rk.Trajectory, answer: str) -> float:
    """Right answers after thorough work."""
    return 0.7 * said(completion, answer) + 0.3 * min(1.0, len(trajectory.turns) / 10)


exact = rk.number("answer")
matched = rk.tool_calls("calls")


@rk.reward
def half_without_a_call(completion: str, trajectory: rk.Trajectory, answer: str) -> float:
    """A right answer counts half if nothing was looked up."""
    right = rk.score(exact, [completion], answer=[answer]).total[0]
    return float(right) * (1.0 if any(call.ok for call in trajectory.calls) else 0.5)


def broken(reward: Any, **changed: Any) -> set[str]:
    given = {**GIVEN, **changed}
    report = check_reward(reward, **given, laws=[*OF_AGENTS, "exploits"], budget=60, isolate=False)
    return {finding.law for finding in report.findings}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reward", "law"),
    [
        (pays_calls, "calls_are_not_paid"),
        (all_gold_calls, "spraying_calls_costs"),
        (some_tool_said_it, "results_are_not_answers"),
        (names_only, "calls_are_not_paid"),
        (any_message, "results_are_not_answers"),
        (no_result_is_an_error, "idle_policy_earns_nothing"),
        (turns_add_up, "idle_turns_are_not_paid"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_hackable_rewards_are_found(reward: rk.Reward, law: str) -> None:
    assert law in broken(reward)


@pytest.mark.slow
@pytest.mark.parametrize(
    "reward",
    [exact, matched, 0.5 * exact + 0.5 * matched, half_without_a_call, rk.gate(rk.agents.finished(), exact)],
    ids=repr,
)
def test_sound_rewards_are_not_blamed(reward: rk.Reward) -> None:
    assert broken(reward) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "reward",
    [
        rk.agents.tool_success("open"),
        exact + rk.agents.tool_errors(each=-0.1),
        rk.tool_calls("calls", arguments="partial"),
        rk.tool_calls("calls", order="kept"),
        exact * 0.8 + 0.2 * rk.agents.calls_between(0, 2),
        rk.gate(rk.agents.no_claim_without_call({"open": ["opened"]}), exact),
        rk.per_turn(exact, reduce="last"),
        rk.per_turn(exact, reduce="progress"),
    ],
    ids=repr,
)
def test_own_rewards_keep_the_laws(reward: rk.Reward) -> None:
    assert broken(reward) == set()


def test_surplus_calls_for_free_are_found() -> None:
    with pytest.warns(rk.errors.RewardKitWarning, match="calls that are not in the gold answer cost nothing"):
        rk.to_trl(rk.tool_calls("calls", extra="allow"))
    assert {"spraying_calls_costs", "exploits"} <= broken(rk.tool_calls("calls", extra="allow"))


@pytest.mark.slow
def test_calls_divided_by_themselves_are_found() -> None:
    two = [
        {
            **row,
            "calls": json.dumps(
                [{"name": "open", "arguments": {"color": color, "how": how}} for how in ("gently", "at once")]
            ),
        }
        for row, color in zip(EXAMPLES, COLORS, strict=True)
    ]
    good = []
    for color, number in zip(COLORS, NUMBERS, strict=True):
        first, second = opened(color, number), opened(color, number)
        second[0]["tool_calls"][0]["function"]["arguments"]["how"] = "at once"
        good.append([[*first[:2], *second]])
    found = broken(share_of_good_calls, examples=two, good=good, bad=())
    assert "missing_calls_cost" in found
    assert broken(matched, examples=two, good=good, bad=()) == set()


@pytest.mark.slow
def test_a_sum_is_not_blamed_for_its_parts() -> None:
    """`rk.agents.finished()` pays a policy that does nothing, and the calls beside it do not."""
    report = check_reward(rk.agents.finished() + 2 * matched, **GIVEN, laws=OF_AGENTS, budget=60)
    assert not report.findings, report


def test_parallel_calls_have_no_order() -> None:
    @rk.reward
    def first_call(trajectory: rk.Trajectory, calls: list[dict[str, Any]]) -> float:
        """The first call is the first gold call."""
        return float(bool(trajectory.calls) and trajectory.calls[0].has(**calls[0]["arguments"]))

    calls = [{"name": "open", "arguments": {"color": color}} for color in COLORS[:2]]
    both = [
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call} for call in calls]},
        *({"role": "tool", "name": "open", "content": number} for number in NUMBERS[:2]),
        {"role": "assistant", "content": "18 and 7"},
    ]
    given: dict[str, Any] = {"examples": [{"calls": json.dumps(calls)}], "good": [[both]]}
    report = check_reward(first_call, **given, laws=["parallel_order_indifferent"], isolate=False)
    assert [one.law for one in report.findings] == ["parallel_order_indifferent"]
    assert check_reward(matched, **given, laws=["parallel_order_indifferent"], isolate=False).ok


def test_forms_of_calls_do_not_matter() -> None:
    @rk.reward
    def as_written(messages: list[dict[str, Any]], calls: list[dict[str, Any]]) -> float:
        """The calls are those that were wanted."""
        made = [call["function"] for message in messages for call in message.get("tool_calls", ())]
        return float(json.dumps([one["arguments"] for one in made]) == json.dumps([one["arguments"] for one in calls]))

    assert "call_forms_indifferent" in broken(as_written)


def written(calls: list[dict[str, Any]]) -> str:
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)


WRITTEN = [
    [{"name": "open", "arguments": {"color": color, "how": "gently"}}, {"name": "look", "arguments": {"at": number}}]
    for color, number in zip(COLORS, NUMBERS, strict=True)
]
IN_TEXT: dict[str, Any] = {
    "examples": [{"calls": json.dumps(calls)} for calls in WRITTEN],
    "good": list(map(written, WRITTEN)),
    "bad": ["I cannot do that."] * len(WRITTEN),
}


@pytest.mark.slow
def test_calls_that_are_written_as_text_are_judged_as_those_of_messages_are() -> None:
    report = check_reward(rk.tool_calls("calls"), **IN_TEXT, isolate=False)
    assert not report.findings
    held = {result.law for result in report.results if result.outcome == "held"}
    assert held >= {
        "calls_are_not_paid",
        "spraying_calls_costs",
        "claims_need_calls",
        "missing_calls_cost",
        "idle_policy_earns_nothing",
        "parallel_order_indifferent",
        "call_forms_indifferent",
    }
    free = check_reward(rk.tool_calls("calls", extra="allow"), **IN_TEXT, laws=OF_AGENTS, isolate=False)
    assert "spraying_calls_costs" in {one.law for one in free.findings}

    @rk.reward
    def any_gold_call(trajectory: rk.Trajectory, calls: list[dict[str, Any]]) -> float:
        """One of the gold calls was made."""
        made = trajectory.with_text_calls().calls
        return float(any(one.name == gold["name"] and one.has(**gold["arguments"]) for one in made for gold in calls))

    found = check_reward(any_gold_call, **IN_TEXT, laws=OF_AGENTS, isolate=False)
    assert {"spraying_calls_costs", "missing_calls_cost"} <= {one.law for one in found.findings}


def test_a_reward_that_looks_for_calls_in_the_text_alone_keeps_its_text() -> None:
    @rk.reward
    def as_text(completion: str, trajectory: rk.Trajectory, calls: str) -> float:
        """The calls are in the text, and no message has one."""
        return float(completion == written(json.loads(calls)) and not trajectory.calls)

    report = check_reward(as_text, **IN_TEXT, laws=OF_AGENTS, isolate=False)
    assert not report.findings


def test_without_calls_the_laws_are_skipped() -> None:
    report = check_reward(rk.exact("answer"), examples=[{"answer": "42"}], good=["42"], laws=OF_AGENTS)
    assert {result.outcome for result in report.results} == {"skipped"}


def test_shares_that_do_not_sum_are_errors_at_once() -> None:
    @rk.reward
    def halves(trajectory: rk.Trajectory) -> rk.Score:
        return rk.Score(1.0, turns=[0.5] * len(trajectory.turns))

    with pytest.raises(rk.errors.RewardBug, match="shares must sum"):
        rk.score(halves, [opened("red", "18") + opened("red", "18")])
