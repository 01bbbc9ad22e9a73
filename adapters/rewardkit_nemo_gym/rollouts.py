"""Rollouts of NeMo Gym as rows: what the policy wrote, the messages before it, and the fields of the task.

``row_of({"responses_create_params": {"input": "2+2?"}, "response": {"output": [...]}, "answer": "4"})``
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit.core.batch.batch import RESERVED
from rewardkit.data.conversations import messages_of
from rewardkit.online.rows import Row
from rewardkit.server.dialects import BadRequest, list_at

REQUEST, RESPONSE = "responses_create_params", "response"
_METADATA = "verifier_metadata"
_OF_CALLS = ("id", "status", "prompt_token_ids", "generation_token_ids", "generation_log_probs")
"""What an item has from the call of the model, which is no part of what was written."""
_NO_COLUMNS = {REQUEST, RESPONSE, *RESERVED}
_CUT = "max_output_tokens"


def row_of(rollout: Any) -> Row:
    """Return the row of a rollout, the body of a request to ``/verify``.

    The columns are the fields beside the request and the response, the entries of ``verifier_metadata``, and the
    "tools" of the request; without names that mean something else to a reward, such as "prompt".

    Raises:
        BadRequest: it has no request or no response.
    """
    asked, response = (_object_at(rollout, name) for name in (REQUEST, RESPONSE))
    output = list_at(response, "output")
    ids = [token for item in output for token in _field(item, "generation_token_ids") or ()]
    return Row(
        _messages(output) or [{"role": "assistant", "content": ""}],
        _prompt(asked),
        _columns(rollout, asked),
        ids or None,
        _was_cut(response),
        runs_calls=bool(asked.get("tools")),
    )


def _prompt(asked: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given, system = asked.get("input"), asked.get("instructions")
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else _messages(given or ())
    return [{"role": "system", "content": system}, *messages] if isinstance(system, str) else list(messages)


def _messages(items: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return items of the Responses API as chat messages."""
    if not isinstance(items, Sequence) or not all(isinstance(item, Mapping) for item in items):
        raise BadRequest("expected input and output to be lists of the items of OpenAI's Responses API")
    own = [{name: value for name, value in item.items() if name not in _left_out(item)} for item in items]
    found = messages_of(own)
    return [item for item in own if "role" in item] if found is None else list(found)


def _left_out(item: Mapping[str, Any]) -> Sequence[str]:
    is_call = str(item.get("type", "")).endswith("_call")  # the id of a call that ran at the provider is its only one
    return _OF_CALLS[1:] if is_call else _OF_CALLS


def _columns(rollout: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    metadata = rollout.get(_METADATA)
    tools = {"tools": asked["tools"]} if asked.get("tools") else {}
    cells = {**tools, **(metadata if isinstance(metadata, Mapping) else {}), **rollout}
    return {name: cell for name, cell in cells.items() if name not in _NO_COLUMNS and name[:1] != "_"}


def _was_cut(response: Mapping[str, Any]) -> bool | None:
    if "incomplete_details" not in response:
        return None
    return bool(_field(response["incomplete_details"], "reason") == _CUT)


def _object_at(payload: Any, name: str) -> Mapping[str, Any]:
    value = _field(payload, name)
    if not isinstance(value, Mapping):
        raise BadRequest(
            f"expected a rollout of NeMo Gym, an object with {REQUEST!r} and {RESPONSE!r}; {name!r} is none"
        )
    return value


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
