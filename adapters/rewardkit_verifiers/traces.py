"""Traces of verifiers 0.4 as rows: what the policy wrote, its prompt, and the data of its task as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rewardkit.online.rows import Row

_SETTINGS = (
    "prompt",
    "system_prompt",
    "image",
    "workdir",
    "agent_user",
    "skills",
    "network_allow",
    "network_block",
    "artifacts",
    "artifact_max_bytes",
    "timeout",
    "resources",
)
"""The fields of every task's data that say how to run it, not what it is."""


def row_of(data: Any, trace: Any) -> Row:
    """Return the row of a finished trace.

    The completion has the messages of the last branch from the policy's first one on, with tool calls and results, so
    that it can be read as a trajectory.

    Args:
        data: the data of the task; its fields are the columns.
    """
    branches = trace.branches
    nodes: Sequence[Any] = branches[-1].nodes if branches else []
    first = next((place for place, node in enumerate(nodes) if node.sampled), len(nodes))
    wrote = [node for node in nodes[first:] if node.sampled or node.message.role != "assistant"]
    ids = [token for node in wrote for token, sampled in zip(node.token_ids, node.mask, strict=True) if sampled]
    return Row(
        _messages(node.message for node in wrote),
        _prompt(data.prompt, nodes[:first]),
        {name: cell for name, cell in data.model_dump().items() if name not in _SETTINGS},
        ids or None,
        bool(trace.is_truncated),
        runs_calls=True,  # its endpoint reads the calls
    )


def _prompt(asked: Any, nodes: Sequence[Any]) -> Any:
    """Return the prompt of the task; where the user opens the conversation, the messages before the policy's first."""
    if isinstance(asked, str):
        return asked
    return _messages(asked if asked is not None else (node.message for node in nodes))


def _messages(messages: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {"content": "", **message.model_dump(exclude_none=True, exclude={"provider_state"})} for message in messages
    ]
