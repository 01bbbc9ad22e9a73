"""Laws of environments, and the probes of tool policies that others use: each fault is found in a small environment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, Literal

import pytest

import rewardkit as rk
from rewardkit.check.declarations import with_declarations
from rewardkit.check.laws import of_family
from rewardkit.testing import Declarations, check_reward, play

ITEMS = ("tea", "rice", "salt")


class Shop:
    """A shop with a stock, in which one item has to be sold."""

    def __init__(self) -> None:
        self.sold: list[str] = []

    def reset(self, **row: Any) -> None:
        self.sold = []

    def stock(self) -> str:
        """List what there is."""
        return ", ".join(ITEMS)

    def sell(self, item: str) -> str:
        """Sell an item.

        Args:
            item: its name.
        """
        if item not in ITEMS:
            raise ValueError("no such item")
        self.sold.append(item)
        return f"sold {item}"


def sold_alone(environment: Any, item: str) -> bool:
    """Exactly this item was sold."""
    return list(environment.sold) == [item]


def rows(name: str = "item") -> dict[str, Any]:
    return {
        "examples": [{"prompt": [{"role": "user", "content": f"Sell {item}."}], name: item} for item in ITEMS],
        "good": [[{"calls": [("sell", {"item": item})], "answer": "Done, it is sold."}] for item in ITEMS],
        "bad": [[{"calls": [("sell", {"item": other})], "answer": "Sold."}] for other in ("rice", "salt", "tea")],
    }


def report(reward: Any, environment: Any, **changed: Any) -> Any:
    given = {**rows(), **with_declarations({**changed, "environment": environment})}
    return check_reward(reward, **given, budget=60, isolate=False, components=False)


def found(reward: Any, environment: Any, **changed: Any) -> set[str]:
    return {finding.law for finding in report(reward, environment, **changed).findings}


SOLD = rk.agents.final_state(sold_alone)


@pytest.mark.slow
def test_a_sound_environment_keeps_all_laws() -> None:
    seen = report(SOLD, Shop)
    assert seen.ok, seen
    held = {result.law for result in seen.results if result.outcome == "held"}
    assert {law.name for law in of_family("environments")} <= held
    assert {"calls_are_not_paid", "idle_policy_earns_nothing", "claims_need_calls", "spraying_calls_costs"} <= held


@pytest.mark.slow
def test_t4_an_episode_leaves_something_behind() -> None:
    class Forgetful(Shop):
        def reset(self, **row: Any) -> None:
            """Forget to empty the list."""

    assert "replay_is_deterministic" in found(SOLD, Forgetful)


def test_t5_a_policy_that_never_answers() -> None:
    @rk.reward
    def open_end(trajectory: rk.Trajectory) -> float:
        """The longer it works, the better, as long as it has not answered."""
        return 0.5 if trajectory.finished else min(1.0, 0.3 * len(trajectory.calls))

    laws = found(open_end, Shop)
    assert "calls_are_not_paid" in laws or "prefix_below_whole" in laws or "gold_gets_the_maximum" in laws


def nothing_wrong(environment: Any, item: str) -> bool:
    return all(one == item for one in environment.sold)


@pytest.mark.slow
def test_t6_a_policy_that_does_nothing() -> None:
    assert "idle_policy_earns_nothing" in found(rk.agents.final_state(nothing_wrong), Shop)


@pytest.mark.slow
def test_t6_a_policy_that_does_nothing_where_nothing_has_to_be_done() -> None:
    assert "idle_policy_earns_nothing" not in found(rk.agents.final_state(nothing_wrong), Shop, noop_examples=[0, 1, 2])


@pytest.mark.slow
def test_t6_a_tool_that_does_everything() -> None:
    class Eager(Shop):
        def sell_all(self) -> str:
            """Sell everything."""
            self.sold += ITEMS
            return "sold all"

    def was_sold(environment: Any, item: str) -> bool:
        return item in environment.sold

    assert {"spraying_calls_costs", "idle_policy_earns_nothing"} <= found(rk.agents.final_state(was_sold), Eager)


@pytest.mark.slow
def test_t7_a_harmless_call_first() -> None:
    class Strict(Shop):
        def __init__(self) -> None:
            super().__init__()
            self._looked = False

        def reset(self, **row: Any) -> None:
            super().reset()
            self._first = ""

        def stock(self) -> str:
            """List what there is."""
            return ", ".join(ITEMS)

    @rk.reward
    def first_message(trajectory: rk.Trajectory, item: str) -> float:
        """The first call sells the item."""
        return float(bool(trajectory.calls) and trajectory.calls[0].has(item=item))

    assert "no_op_tolerated" in found(first_message, Strict)
    assert "no_op_tolerated" not in found(SOLD, Strict)


class Quiz:
    """A question whose answer is told after a wrong one, and that takes another."""

    def reset(self, item: str, **row: Any) -> None:
        self.item = item
        self.right = False

    def guess(self, item: str) -> str:
        """Guess the item.

        Args:
            item: the guess.
        """
        self.right = item == self.item
        return "right" if self.right else f"wrong, it is {self.item}"


def test_t8_an_answer_that_was_revealed() -> None:
    good = [[{"calls": [("guess", {"item": item})], "answer": "Done."}] for item in ITEMS]
    bad = [[{"calls": [("guess", {"item": "wood"})], "answer": "Done."}] for _ in ITEMS]
    seen = report(rk.agents.final_state(lambda environment: environment.right), Quiz, good=good, bad=bad)
    assert any("revealed" in finding.why for finding in seen.findings), seen


def test_o1_a_fixed_choice() -> None:
    class Desk:
        def reset(self, **row: Any) -> None:
            self.decision = ""

        def decide(self, decision: Literal["approve", "refuse"]) -> str:
            """Decide on a request.

            Args:
                decision: what to do.
            """
            self.decision = decision
            return "noted"

    def decided(environment: Any, item: str) -> float:
        return 1.0 if environment.decision == "approve" or environment.decision == item else 0.0

    examples = [{"prompt": f"Request {number}", "item": item} for number, item in enumerate(("approve", "refuse"))]
    good = [[{"calls": [("decide", {"decision": item})], "answer": "Done."}] for item in ("approve", "refuse")]
    bad = [[{"calls": [], "answer": "I do not know."}]] * 2
    seen = report(rk.agents.final_state(decided), Desk, examples=examples, good=good, bad=bad)
    assert "idle_policy_earns_nothing" in {finding.law for finding in seen.findings}, seen


def test_o2_a_self_reported_field() -> None:
    class Exam:
        def reset(self, **row: Any) -> None:
            self.score = 0.0

        def submit(self, item: str, confidence: float) -> str:
            """Submit an answer.

            Args:
                item: the answer.
                confidence: how sure you are, 0 to 1.
            """
            self.item, self.score = item, confidence
            return "submitted"

    def graded(environment: Any, item: str) -> float:
        own = getattr(environment, "item", "")
        return max(float(own == item) * 0.9, float(environment.score))

    good = [[{"calls": [("submit", {"item": item, "confidence": 0.9})], "answer": "Done."}] for item in ITEMS]
    bad = [[{"calls": [("submit", {"item": "wood", "confidence": 0.1})], "answer": "Done."}] for _ in ITEMS]
    seen = report(rk.agents.final_state(graded), Exam, good=good, bad=bad)
    assert any(finding.family == "self_report" for finding in seen.findings), seen


@pytest.mark.slow
def test_an_outage_that_becomes_a_score_is_found() -> None:
    def careless(environments: Any, completions: Any, **row: Any) -> list[float]:
        return [float(bool(one.sold)) for one in environments]

    assert "outage_is_failed" not in found(SOLD, Shop)
    assert "outage_is_failed" not in found(rk.from_trl(careless), Shop)  # rewardkit fails the row itself


def test_without_an_environment_the_laws_are_skipped() -> None:
    given = rows()
    seen = check_reward(rk.exact("item"), **given, laws=of_family("environments"))
    assert {result.outcome for result in seen.results} == {"skipped"}
    assert "environment=Shop" in seen.results[0].reason


@pytest.mark.slow
def test_findings_can_be_reproduced() -> None:
    seen = report(rk.agents.final_state(nothing_wrong), Shop)
    (finding,) = [one for one in seen.findings if one.law == "idle_policy_earns_nothing"]
    assert "from rewardkit.testing import play; messages, environment = play(Shop, " in finding.reproduce
    messages, environment = play(Shop, finding.completion, {"item": "tea"})
    table = rk.score(rk.agents.final_state(nothing_wrong), [messages], environments=[environment], item=["tea"])
    assert table.total[0] == finding.score


def test_tools_give_real_results() -> None:
    calls: list[str] = []

    def look(item: str) -> str:
        """Look for an item."""
        calls.append(item)
        return f"{item} is there"

    @rk.reward
    def looked(trajectory: rk.Trajectory, item: str) -> float:
        """The item was looked for, and nothing else."""
        return float([call.result.text for call in trajectory.calls if call.result] == [f"{item} is there"])

    given: dict[str, Any] = {
        "examples": [{"item": item} for item in ITEMS],
        "good": [[{"calls": [("look", {"item": item})], "answer": "Yes."}] for item in ITEMS],
    }
    seen = check_reward(
        looked, **given, declarations=Declarations(tools=[look]), laws=of_family("agents"), isolate=False
    )
    assert seen.ok, seen
    assert set(ITEMS) <= set(calls)


@pytest.mark.parametrize("environment", ["Shop", 3, int])
def test_what_cannot_be_an_environment_is_refused(environment: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="environment="):
        check_reward(SOLD, **rows(), declarations=Declarations(environment=environment))


@pytest.mark.slow
def test_functions_that_make_environments_are_taken() -> None:
    def make() -> Iterator[Any] | Any:
        return Shop()

    assert report(SOLD, make).ok


class Engine:
    """State of an environment in an object without a repr of its own."""

    def __init__(self) -> None:
        self.sold: list[str] = []


class Remote:
    """An environment that holds its state in an engine."""

    def reset(self, **row: Any) -> None:
        self.engine = Engine()

    def sell(self, item: str) -> str:
        """Sell an item.

        Args:
            item: its name.
        """
        self.engine.sold.append(item)
        return "sold"


@pytest.mark.slow
def test_state_in_an_object_is_seen() -> None:
    def sold_it(environment: Any, item: str) -> bool:
        return bool(environment.engine.sold == [item])

    seen = report(rk.agents.final_state(sold_it), Remote)
    assert "no_op_tolerated" not in {finding.law for finding in seen.findings}, seen


@pytest.mark.slow
def test_the_way_an_agent_words_its_end_does_not_matter() -> None:
    good = [[{"calls": [("sell", {"item": item})], "answer": "Done. \n"}] for item in ITEMS]
    assert report(SOLD, Shop, good=good).ok


@pytest.mark.slow
def test_tools_that_need_the_main_thread_are_no_fault_of_the_reward() -> None:
    seen = report(SOLD, Shop)
    assert next(result for result in seen.results if result.law == "thread_safe").outcome == "skipped"


@pytest.mark.slow
def test_gold_calls_in_a_column_count_with_an_environment_too() -> None:
    rows_with_calls = rows()
    for row, item in zip(rows_with_calls["examples"], ITEMS, strict=True):
        row["calls"] = f'[{{"name": "sell", "arguments": {{"item": "{item}"}}}}]'

    @rk.reward
    def all_among(trajectory: rk.Trajectory, calls: list[dict[str, Any]]) -> float:
        """All gold calls were made."""
        return float(all(any(one.has(**gold["arguments"]) for one in trajectory.calls) for gold in calls))

    assert "spraying_calls_costs" in found(all_among, Shop, **rows_with_calls)


class BrokenShop(Shop):
    """A shop whose seller has a bug."""

    def sell(self, item: str) -> str:
        """Sell an item.

        Args:
            item: its name.
        """
        return self.till[item]  # type: ignore[attr-defined,no-any-return]


@rk.reward
def anything_sold(trajectory: rk.Trajectory) -> float:
    return float(any(call.name == "sell" and call.ok for call in trajectory.calls))


@pytest.mark.slow
def test_a_tool_that_fails_in_a_right_completion_is_told() -> None:
    seen = report(rk.agents.finished(), BrokenShop)
    assert any("good, example 0: the call to 'sell' fails:" in said and "till" in said for said in seen.remarks)
    assert not any("good, example" in said for said in report(rk.agents.finished(), Shop).remarks)


class Dying(Shop):
    """A shop whose seller ends the process."""

    def sell(self, item: str) -> str:
        """Sell an item.

        Args:
            item: its name.
        """
        os._exit(3)


class Hanging(Shop):
    """A shop whose `sell` never returns."""

    def sell(self, item: str) -> str:
        """Sell an item.

        Args:
            item: its name.
        """
        time.sleep(1_000)
        return item


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Dying, Hanging])
def test_a_tool_that_hangs_or_ends_the_process_leaves_the_report(kind: type) -> None:
    declared = Declarations(environment=kind, seconds_per_completion=1)
    seen = check_reward(rk.agents.finished(), **rows(), declarations=declared, laws=["total"], budget=4)
    assert seen.results


@pytest.mark.slow
def test_a_misspelled_tool_is_told() -> None:
    good = [[{"calls": [("sel", {"item": item})], "answer": "Done."}] for item in ITEMS]
    seen = report(rk.agents.finished(), Shop, good=good)
    assert any("there is no tool 'sel', only sell, stock. Did you mean 'sell'?" in said for said in seen.remarks)


@pytest.mark.slow
@pytest.mark.parametrize("soft", [False, True])
def test_what_a_gate_never_lets_earn_is_found(soft: bool) -> None:
    dead = rk.gate(rk.agents.finished(), 0.5 * SOLD + 0.5 * rk.agents.tool_success("sel"), soft=soft)
    (finding,) = [one for one in report(dead, Shop).findings if one.law == "gold_gets_the_maximum"]
    assert finding.component == "tool_success"
    assert "the gate before it hides this" in finding.why
    alive = rk.gate(rk.agents.finished(), 0.5 * SOLD + 0.5 * rk.agents.tool_success("sell"), soft=soft)
    assert "gold_gets_the_maximum" not in found(alive, Shop)


@pytest.mark.slow
def test_findings_import_what_they_name() -> None:
    seen = report(anything_sold, Shop)
    finding = next(one for one in seen.findings if one.environment)
    scope: dict[str, Any] = {}
    *imports, _ = finding.reproduce.rsplit("; ", 1)
    exec("; ".join(imports), scope)
    assert scope["messages"][0]["role"] == "assistant"
    assert scope["environment"].sold
