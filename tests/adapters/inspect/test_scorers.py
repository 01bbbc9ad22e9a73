"""from_inspect: the scorer gets the row as a state, and its score becomes a score, a part, a note, or none."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit_adapters.inspect.scorers import _solver
from tests.adapters.inspect.stand_in import STORE, Score, TaskState, install, sandbox


@pytest.fixture(autouse=True)
def _inspect_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    _solver.cache_clear()


def returning(value: Any, **fields: Any) -> Any:
    async def fixed(state: TaskState, target: Any) -> Any:
        return Score(value, **fields) if fields or value is not None else None

    return fixed


def registered(scorer: Any, name: str, **given: Any) -> Any:
    scorer.__registry_info__ = SimpleNamespace(name=name)
    scorer.__registry_params__ = given
    return scorer


def seen_by(completion: Any, prompt: Any = "2+2?", **columns: Any) -> TaskState:
    """Return the state that a scorer gets."""
    states = []

    async def look(state: TaskState, target: Any) -> Score:
        state.target = target
        states.append(state)
        return Score(1.0)

    given: dict[str, Any] = {name: [cell] for name, cell in ({"target": "4"} | columns).items()}
    rk.score(rk.from_inspect(look), [completion], prompts=[prompt], **given)
    return states[0]


def test_the_scorer_gets_the_row_as_a_state() -> None:
    state = seen_by("It is 4.", level=3, id="a", epoch=2, target=["4", 4.5], metadata={"topic": "sums"})
    assert (state.input, state.sample_id, state.epoch, state.completed) == ("2+2?", "a", 2, True)
    assert [(one.role, one.content, one.source) for one in state.messages] == [
        ("user", "2+2?", "input"),
        ("assistant", "It is 4.", "generate"),
    ]
    assert state.output.completion == "It is 4."
    assert list(state.target) == ["4", "4.5"]
    assert state.metadata == {"level": 3, "topic": "sums", "target": ["4", 4.5]}


def test_metadata_may_be_text_and_target_an_array() -> None:
    assert seen_by("4", metadata='{"topic": "sums"}').metadata["topic"] == "sums"
    assert seen_by("4", metadata="none").metadata == {"target": "4"}
    assert list(seen_by("4", target=np.array([1, 2])).target) == ["1", "2"]


def test_conversations_keep_calls_results_images_and_thinking() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:AA"}}
    prompt = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": [picture, "What is it?"]}]
    completion = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "function": {"name": "add", "arguments": '{"x": 1}'}},
                {"function": {"name": "add", "arguments": "{x"}},
                {"id": "c3", "name": "add", "arguments": [1]},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "add", "content": "no", "is_error": True},
        {"role": "assistant", "content": "A cat.", "reasoning_content": "Fur."},
    ]
    state = seen_by(completion, prompt)
    system, user, asked, result, said = state.messages
    assert (system.role, system.content) == ("system", "Be brief.")
    assert user.content == [{"type": "image", "image": "data:AA"}, {"type": "text", "text": "What is it?"}]
    assert [(call.id, call.function, call.arguments) for call in asked.tool_calls] == [
        ("c1", "add", {"x": 1}),
        ("call_1", "add", {}),
        ("c3", "add", {}),
    ]
    assert [call.parse_error for call in asked.tool_calls] == [None, "{x", "the arguments are not an object: [1]"]
    assert (result.function, result.error) == ("add", ("unknown", "no"))
    assert said.content == [{"type": "reasoning", "reasoning": "Fur."}, {"type": "text", "text": "A cat."}]
    assert state.output.completion == "A cat."
    assert state.input == [system, user]


def test_choices_are_marked_by_the_solver() -> None:
    choices = ["x", "y", "z"]
    assert seen_by("ANSWER: B", target="B", choices=choices).choices == ["B"]
    assert seen_by("ANSWER: A, C", target="A", choices=choices).choices == []
    assert seen_by("ANSWER: A, C", target=["A", "C"], choices=choices).choices == ["A", "C"]
    assert seen_by("ANSWER: A, C", target="A,C", choices=choices).choices == ["A", "C"]
    assert seen_by("4", choices=None).choices is None


def test_each_completion_has_its_own_store() -> None:
    async def counts(state: TaskState, target: Any) -> Score:
        STORE.get()["n"] = STORE.get().get("n", 0) + 1
        return Score(state.store["n"])

    assert rk.score(rk.from_inspect(counts), list("abc"), target=["4"] * 3).total.tolist() == [1.0] * 3


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (0.25, 0.25), (3, 3.0), ("Yes", 1.0), ("false", 0.0)],
)
def test_values_count_as_in_the_metrics_of_inspect(value: Any, number: float) -> None:
    assert rk.score(rk.from_inspect(returning(value)), ["4"], target=["4"]).total.tolist() == [number]


def test_the_numbers_of_a_dict_are_parts_and_one_counts() -> None:
    scorer = returning({"strict": "C", "words": 12, "said": "text", "none": None, "unscored": math.nan})
    table = rk.score(rk.from_inspect(scorer, value="strict"), ["4"], target=["4"])
    assert table.total.tolist() == [1.0]
    assert {name: values.tolist() for name, values in table.parts["fixed"].items()} == {
        "strict": [1.0],
        "words": [12.0],
    }
    by_function: Callable[[Any], float] = lambda value: value["words"] / 24  # noqa: E731
    assert rk.score(rk.from_inspect(scorer, value=by_function), ["4"], target=["4"]).total.tolist() == [0.5]
    assert rk.score(rk.from_inspect(returning([0.5, "C"]), value=1), ["4"], target=["4"]).total.tolist() == [1.0]
    assert rk.score(rk.from_inspect(returning({"one": 0.5})), ["4"], target=["4"]).total.tolist() == [0.5]


def test_what_has_no_number_is_an_error_that_says_what_to_do() -> None:
    for scorer, value, message in (
        (returning({"a": 1, "b": 2}), None, r"keys \['a', 'b'\], but none of them is selected(.|\n)*Pass value='a'"),
        (returning({"a": 1}), "b", "but not 'b'"),
        (returning([1, 2]), 5, r"indices \[0, 1\], but not 5"),
        (returning({}), None, "none of them is selected"),
        (returning("B"), None, r"value 'B'(.|\n)*Pass a function"),
        (returning("C"), "a", "value='a' selects nothing"),
    ):
        with pytest.raises(rk.errors.RewardBug, match=message):
            rk.score(rk.from_inspect(scorer, value=value), ["4"], target=["4"])
    letters = rk.from_inspect(returning("B"), value={"A": 1.0, "B": 0.25}.get)
    assert rk.score(letters, ["4"], target=["4"]).total.tolist() == [0.25]


def test_unscored_abstains_and_what_could_not_be_scored_fails() -> None:
    for scorer, outcome, note in (
        (returning(math.nan), "abstained", "unscored"),
        (returning(math.nan, reason="refusal"), "abstained", "refusal"),
        (returning(None), "abstained", "the scorer returned no score"),
        (returning({"a": None}), "abstained", "unscored"),
        (returning(math.nan, reason="grader_failed", explanation="no grade"), "failed", "grader_failed; no grade"),
        (returning(math.nan, metadata={"unscored_reason": "scoring_failed"}), "failed", "scoring_failed"),
        (raising(ConnectionError("refused")), "failed", "ConnectionError: refused"),
        (raising(ValueError("x"), TimeoutError("slow")), "failed", "ValueError: x"),
    ):
        (name,) = (table := rk.score(rk.from_inspect(scorer), ["4"], target=["4"])).outcomes
        assert (str(table.outcomes[name][0]), table.notes[name][0]) == (outcome, note)
    table = rk.score(rk.from_inspect(returning(1.0)), ["4", "5"], target=["4", None])
    assert (table.total[0], str(table.outcomes["fixed"][1])) == (1.0, "abstained")


def raising(error: Exception, cause: Exception | None = None) -> Any:
    async def broken(state: TaskState, target: Any) -> Score:
        raise error from cause

    return broken


def test_answer_and_explanation_are_the_note() -> None:
    def note(**fields: Any) -> str:
        table = rk.score(rk.from_inspect(returning(1.0, **fields)), ["It is 4."], target=["4"])
        return table.notes["fixed"][0]

    assert note(answer="4", explanation="equal") == "answer: '4'; equal"
    assert note(answer="It is 4.\n", explanation="It is 4.") == ""
    assert note(answer="", reason="invalid_response_format") == "invalid_response_format"


def test_a_scorer_that_raises_is_an_error_or_scores_a_number() -> None:
    with pytest.raises(rk.errors.RewardBug, match=r"raised KeyError: 'level'(.|\n)*test_scorers.py"):
        rk.score(rk.from_inspect(raising(KeyError("level"))), ["4"], target=["4"])
    table = rk.score(rk.from_inspect(raising(KeyError("level")), on_error=0), ["4"], target=["4"])
    assert (table.total.tolist(), str(table.outcomes["broken"][0])) == ([0.0], "errored")


class PrerequisiteError(Exception):
    pass


def test_what_every_sample_would_meet_stops_the_run() -> None:
    for error, message in (
        (ValueError("No model specified (and no variable)"), r"No model specified.*INSPECT_EVAL_MODEL"),
        (PrerequisiteError("[bold]ERROR[/bold]: no key"), "stops the run: ERROR: no key"),
    ):
        with pytest.raises(rk.RunStopped, match=message):
            rk.score(rk.from_inspect(raising(error)), ["4"], target=["4"])

    async def runs(state: TaskState, target: Any) -> Score:
        try:
            sandbox()
        except OSError:
            return Score("I")
        return Score("C")

    async def falls(state: TaskState, target: Any) -> Score:
        sandbox()
        return Score("C")

    for scorer in (runs, falls):
        with pytest.raises(rk.RunStopped, match="needs a sample's sandbox"):
            rk.score(rk.from_inspect(scorer), ["4"], target=["4"])


def test_names_expressions_and_columns() -> None:
    scorer = registered(returning("C"), "inspect_ai/match", numeric=True)
    reward = rk.from_inspect(scorer)
    assert (reward.name, repr(reward)) == ("match", "from_inspect(match(numeric=True))")
    other = rk.from_inspect(scorer, "other", target="answer", value=None)
    assert (other.name, repr(other)) == ("other", "from_inspect(match(numeric=True), name='other', target='answer')")
    assert rk.score(other, ["4"], answer=["4"]).total.tolist() == [1.0]
    assert rk.score(reward.with_columns(target="answer"), ["4"], answer=["4"]).total.tolist() == [1.0]
    assert rk.score(rk.from_inspect(scorer, target=None), ["4"]).total.tolist() == [1.0]
    with pytest.raises(rk.errors.BindingError, match="needs the column 'target'"):
        rk.score(reward, ["4"], answer=["4"])


def test_a_reward_pickles_although_scorers_are_inner_functions() -> None:
    reward = 0.5 * rk.from_inspect(registered(returning("P"), "made/half", k=1)) + rk.from_inspect(returning("C"))
    again = pickle.loads(pickle.dumps(reward))
    assert repr(again) == repr(reward)
    assert again.fingerprint == reward.fingerprint
    assert rk.score(again, ["4"], target=["4"]).total.tolist() == [1.25]
    changed = rk.from_inspect(registered(returning("P"), "made/half", k=2))
    assert changed.fingerprint != rk.from_inspect(registered(returning("P"), "made/half", k=1)).fingerprint


def test_what_is_no_scorer_is_refused() -> None:
    def match() -> Any:
        return returning("C")

    with pytest.raises(
        rk.errors.RewardTypeError,
        match=r"It is a function that creates scorers. Pass its result: "
        r"rk.from_inspect\(match\(\)\)",
    ):
        rk.from_inspect(registered(match, "inspect_ai/match"))
    with pytest.raises(rk.errors.RewardTypeError, match="A scorer is async def"):
        rk.from_inspect(len)
    with pytest.raises(rk.errors.RewardTypeError, match="expected a scorer from inspect_ai, got 'match'"):
        rk.from_inspect("match")  # type: ignore[arg-type]
    with pytest.raises(rk.RewardDefinitionError, match="on_error must be"):
        rk.from_inspect(returning("C"), on_error="low")  # type: ignore[arg-type]
