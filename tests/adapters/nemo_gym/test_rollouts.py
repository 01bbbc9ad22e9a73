"""Rollouts become rows: messages with calls and results, columns, tokens, and whether they were cut."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.serve.dialects import BadRequest
from rewardkit_adapters.nemo_gym import row_of


def said(text: str, **more: Any) -> dict[str, Any]:
    """Return an item as a model server writes it."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part], **more}


def rollout(output: list[Any], given: Any = "2+2?", **more: Any) -> dict[str, Any]:
    return {"responses_create_params": {"input": given}, "response": {"output": output}, **more}


def test_a_text_is_a_prompt_of_the_user() -> None:
    row = row_of(rollout([said("4")]))
    assert row.prompt == [{"role": "user", "content": "2+2?"}]
    assert rk.score(rk.exact("answer"), [row.completion], answer=["4"]).total.tolist() == [1.0]
    assert (row.completion_ids, row.cut) == (None, None)


def test_messages_and_instructions_are_the_prompt() -> None:
    given = [{"role": "developer", "content": "Be brief."}, {"role": "user", "type": "message", "content": "2+2?"}]
    request = rollout([said("4")], given)
    request["responses_create_params"]["instructions"] = "Calculate."
    assert [message["role"] for message in row_of(request).prompt] == ["system", "developer", "user"]


def test_calls_and_results_are_one_trajectory() -> None:
    output = [
        {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "I look it up."}]},
        {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Ulm"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "cold"},
        said("It is cold."),
    ]
    trajectory = rk.Trajectory.of(row_of(rollout(output)).completion)
    assert [(call.name, call.has(city="Ulm")) for call in trajectory.calls] == [("weather", True)]
    assert trajectory.answer == "It is cold."


@pytest.mark.parametrize("output", [[], [{"type": "reasoning", "summary": []}]], ids=["nothing", "only thoughts"])
def test_a_response_without_an_answer_is_empty(output: list[Any]) -> None:
    assert rk.score(rk.exact("answer"), [row_of(rollout(output)).completion], answer=["4"]).total.tolist() == [0.0]


def test_unknown_items_hide_no_answer() -> None:
    output = [{"type": "mcp_list_tools", "tools": []}, said("4")]
    assert rk.score(rk.exact("answer"), [row_of(rollout(output)).completion], answer=["4"]).total.tolist() == [1.0]


def test_fields_are_columns() -> None:
    request = rollout(
        [said("4")],
        answer="4",
        verifier_metadata={"level": 2, "answer": "not this one", "prompt": "a name with a meaning of its own"},
        completion="too",
        _ng_task_index=3,
    )
    request["responses_create_params"]["tools"] = [{"name": "weather"}]
    assert row_of(request).columns == {
        "tools": [{"name": "weather"}],
        "level": 2,
        "answer": "4",
        "verifier_metadata": request["verifier_metadata"],
    }
    assert row_of(request).runs_calls
    assert not row_of(rollout([said("4")])).runs_calls


def test_tokens_are_those_of_all_turns_and_stay_out_of_the_messages() -> None:
    tokens = {"prompt_token_ids": [1], "generation_token_ids": [2, 3], "generation_log_probs": [-0.1, -0.2]}
    call = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}", **tokens}
    row = row_of(rollout([call, {"type": "function_call_output", "call_id": "c1", "output": ""}, said("4", **tokens)]))
    assert row.completion_ids == [2, 3, 2, 3]
    assert "token_ids" not in str(row.completion)


@pytest.mark.parametrize(
    ("details", "cut"), [(None, False), ({"reason": "max_output_tokens"}, True), ({"reason": "content_filter"}, False)]
)
def test_it_is_known_whether_it_was_cut(details: Any, cut: bool) -> None:
    request = rollout([said("4")])
    request["response"]["incomplete_details"] = details
    assert row_of(request).cut is cut


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ([], "'responses_create_params' is not an object"),
        ({"responses_create_params": {}}, "'response' is not an object"),
        ({"responses_create_params": {}, "response": {}}, "expected an object with the list 'output'"),
        (rollout(["4"]), "lists of items from OpenAI's Responses API"),
        (rollout([], 4), "lists of items from OpenAI's Responses API"),
    ],
)
def test_what_is_no_rollout_is_refused(request_: Any, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        row_of(request_)
