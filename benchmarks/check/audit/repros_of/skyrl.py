"""Faults of skyrl-agent's verifiers and of the environments in SkyRL's examples and integrations."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from repros_outcome import raised, unfinished
from subjects import skyrl

SUBJECTS = list(skyrl.subjects())  # loads everything
coder1 = import_module("skyrl_agent.tasks.verifiers.coder1")
bird_reward = import_module("bird_reward")
DOUBLE = json.dumps({"functional": "assert double(3) == 6"})


def _geometry(action: str, gold: str = "42") -> Any:
    extras = {"reward_spec": {"ground_truth": gold}, "max_turns": 1}
    return import_module("skyrl_geometry3k.env").Geometry3kEnv(env_config={}, extras=extras).step(action)["reward"]


def coder1_exit() -> None:
    """A program that ends before the tests run passes them."""
    assert coder1.compute_score("```python\nexit()\n```", DOUBLE, {})["score"] == 1.0


def bird_reward_time() -> None:
    """An open block of SQL with 5,000 spaces takes over 20 s: the pattern takes cubic time."""
    text = "```sql\n" + " " * 5000
    assert unfinished(lambda: bird_reward.compute_score("bird", text, "SELECT 1", {"db_path": ":memory:"}), 20)


def geometry3k_hang() -> None:
    """A tower of powers is computed, without a time limit."""
    assert unfinished(lambda: _geometry(r"\boxed{9**9**9**9}", r"\frac{1}{3}"), 20)


def geometry3k_arguments() -> None:
    """A tool call whose arguments are a text raises an exception."""
    call = '<tool_call>{"name": "calc_score", "arguments": "42"}</tool_call>'
    assert raised(lambda: _geometry(call)) == "AttributeError"
