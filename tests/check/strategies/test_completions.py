"""Completions: valid ones are paid in full, those with one violation are not, and none makes a reward raise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings, strategies as st
from hypothesis.errors import NoSuchExample

import rewardkit as rk
from rewardkit.check.variants import strategies
from rewardkit.check.variants.strategies.completions import from_good
from rewardkit.errors import BindingError, RewardDefinitionError
from rewardkit.tree.reward import Reward
from tests.rewards.schema.cases import FLAT, Invoice

quick = settings(database=None, suppress_health_check=[HealthCheck.too_slow])
x = rk.extract


@dataclass(frozen=True)
class Case:
    """A reward, and a row of its data."""

    name: str
    reward: Reward
    row: dict[str, Any]


def case(name: str, reward: Reward, **row: Any) -> Case:
    return Case(name, reward, row)


FORM = rk.tags("think", "answer")
CASES = [
    case("tags", FORM),
    case("one tag", rk.tags("answer")),
    case("tags, partial", rk.tags("a", "b", "c", partial=True)),
    case("tags, prefilled", rk.tags("think", "answer", prefilled="think")),
    case("tags, text behind", rk.tags("think", anchored="start")),
    case("tags, text anywhere", rk.tags("think", "answer", anchored=False)),
    case("pattern", rk.regex(r"\d+ EUR")),
    case("pattern with thinking", rk.regex(r"(?s)<think>.+</think>\s*\d+")),
    case("pattern somewhere", rk.regex(r"^Answer: [A-D]$", match="search")),
    case("fence", rk.fenced("python")),
    case("single fence", rk.fenced("json", single=True)),
    case("fence without language", rk.fenced()),
    case("schema", rk.json_schema(FLAT)),
    case("schema of a model", rk.json_schema(Invoice)),
    case("schema in a tag", rk.json_schema(FLAT, extract=x.tag("out"))),
    case("schema in a box", rk.json_schema(FLAT, extract=x.boxed())),
    case("null", rk.json_schema({"type": "null"})),
    case("json", rk.json_valid()),
    case("json object in a fence", rk.json_valid(kind="object", extract=x.fenced("json"))),
    case("start", rk.contains(start=["Yes", "No"])),
    case("end", rk.contains(end="done.", ignore_case=True)),
    case("words", rk.contains(all=["hypothesis", "evidence"])),
    case("no words", rk.contains(none="obviously")),
    case("no refusal", rk.contains(none=rk.REFUSALS)),
    case("length", rk.length.between(2, 4, unit="words")),
    case("language", rk.language("ru")),
    case("script", rk.language(script="Cyrillic")),
    case("steps", rk.milestones("sort", "merge")),
    case("number", rk.number("answer"), answer="42"),
    case("number in a box", rk.number("answer", extract=x.boxed()), answer=42.5),
    case("number of GSM8K", rk.number("answer", gold=x.after("####")), answer="so 6*7\n#### 42"),
    case("number in JSON", rk.number("answer", extract=x.json("total")), answer=12.5),
    case("exact", rk.exact("answer", extract=x.tag("final")), answer="Paris"),
    case("choice", rk.choice("answer"), answer="B"),
    case("set", rk.set_match("answer"), answer=["red", "green", "blue"]),
    case("sequence", rk.sequence_match("answer"), answer="[1, 2, 3]"),
    case("f1", rk.token_f1("answer"), answer="the red fox"),
    case("json match", rk.json_match("gold"), gold={"sku": "a-7", "qty": 31}),
    case("gate", 0.2 * FORM + rk.gate(when=FORM, then=0.8 * rk.number("answer")), answer="42"),
    case("gate, schema", rk.gate(when=FORM, then=rk.json_schema(FLAT))),
    case("gate, JSON behind", rk.gate(when=rk.tags("think", anchored="start"), then=rk.json_schema(FLAT))),
    case("gate, box", rk.gate(when=rk.tags("think", "sum"), then=rk.exact("gold", extract=x.boxed())), gold="Paris"),
    case("route", rk.route({"a": rk.exact("answer")}, by="task"), answer="Paris", task="a"),
]
each_case = pytest.mark.parametrize("one", CASES, ids=lambda one: one.name.replace(" ", "_"))


def value(one: Case, completion: str) -> float:
    columns: Any = {name: [cell] for name, cell in one.row.items()}
    return float(rk.score(one.reward, [completion], **columns).total[0])


@each_case
def test_valid_ones_are_paid_in_full(one: Case) -> None:
    @quick
    @given(strategies.completions(one.reward, examples=[one.row], kind="valid"))
    def check(completion: str) -> None:
        assert value(one, completion) == pytest.approx(1.0)

    check()


@each_case
def test_one_violation_costs_something(one: Case) -> None:
    @quick
    @given(strategies.completions(one.reward, examples=[one.row], kind="nearly valid"))
    def check(completion: str) -> None:
        assert value(one, completion) < 1.0 - 1e-9

    check()


@each_case
def test_wild_ones_never_raise(one: Case) -> None:
    @quick
    @given(strategies.completions(one.reward, examples=[one.row], kind="wild"))
    def check(completion: str) -> None:
        assert np.isfinite(value(one, completion))

    check()


@pytest.mark.slow
def test_the_smallest_violation_is_short() -> None:
    nearly = strategies.completions(FORM, kind="nearly valid")
    smallest = find(nearly, lambda text: rk.score(FORM, [text]).total[0] == 0.0)
    assert len(smallest) <= 40
    any_kind = find(strategies.completions(FORM), lambda text: rk.score(FORM, [text]).total[0] == 1.0)
    assert any_kind == "<think>0</think><answer>0</answer>"


def test_without_examples_answers_are_of_the_right_kind() -> None:
    @quick
    @given(strategies.completions(rk.gate(when=FORM, then=rk.number("answer")), kind="valid"))
    def check(completion: str) -> None:
        assert re.fullmatch(r"-?\d+(\.\d+)?", x.tag("answer")(completion) or "")

    check()


def in_tags(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    found = [re.search(r"<answer>(.*?)</answer>", completion, re.DOTALL) for completion in completions]
    return [float(match is not None and match.group(1) == gold) for match, gold in zip(found, answer, strict=True)]


def test_a_trainers_function_is_looked_through() -> None:
    rows = [{"prompt": "6*7?", "answer": "42"}]
    assert (
        find(
            strategies.completions(in_tags, examples=rows, kind="valid"), lambda text: in_tags([text], ["42"]) == [1.0]
        )
        == "<answer>42</answer>"
    )
    good = ["So: <answer>42</answer>"]
    nearly = strategies.completions(in_tags, examples=rows, good=good, kind="nearly valid")
    assert find(nearly, lambda text: text.startswith("So: ") and in_tags([text], ["42"]) == [0.0])


def test_good_completions_are_among_the_valid_ones() -> None:
    drawn = strategies.completions(FORM, good=["<think>own</think><answer>9</answer>"], kind="valid")
    assert find(drawn, lambda text: "own" in text) == "<think>own</think><answer>9</answer>"


def test_what_cannot_be_made_is_said() -> None:
    with pytest.raises(RewardDefinitionError, match="valid, nearly valid, wild"):
        strategies.completions(FORM, kind="invalid")  # type: ignore[arg-type]
    with pytest.raises(BindingError):
        strategies.completions(FORM, examples=["42"])  # type: ignore[list-item]


@pytest.mark.slow
def test_kinds_are_mixed_by_default() -> None:
    drawn = strategies.completions(FORM)
    assert find(drawn, lambda text: len(text) > 1_000)
    assert find(drawn, lambda text: "\ud800" in text) == "\ud800"


@pytest.mark.slow
def test_a_route_takes_any_branch() -> None:
    tasks = rk.route({"json": rk.json_schema(FLAT), "math": rk.exact("answer")}, by="task")
    drawn = strategies.completions(tasks, examples=[{"task": "math", "answer": "Paris"}], kind="valid")
    assert find(drawn, lambda text: "Paris" in text) == "Paris"
    assert find(drawn, lambda text: "sku" in text).startswith("{")


def test_a_penalty_is_not_asked_for() -> None:
    reward = FORM + rk.penalty(rk.contains(all="obviously"))
    drawn = strategies.completions(reward, kind="valid")
    assert find(drawn, lambda _: True) == "<think>0</think><answer>0</answer>"


def test_strategies_are_hypothesis_strategies() -> None:
    assert isinstance(strategies.completions(FORM), st.SearchStrategy)


def test_a_wrong_completion_is_never_the_right_one() -> None:
    right = "<answer>42</answer><answer>42</answer>"  # swapping its two blocks changes nothing
    wrong = from_good([right], {"answer": "42"}).wrong
    with pytest.raises(NoSuchExample):
        find(wrong, lambda text: text == right)
