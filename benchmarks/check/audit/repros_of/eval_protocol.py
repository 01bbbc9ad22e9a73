"""Faults of eval-protocol's reward functions (eval_protocol/rewards)."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from repros_outcome import unfinished

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no download when litellm is imported
THEOREM = "theorem two (a b : Nat) : a + b = b + a"
PROOF = "theorem two (a b : Nat) : a + b = b + a := Nat.add_comm a b"


def _score(path: str, text: str, **arguments: Any) -> Any:
    """Score a completion; `path` is ``module.function``."""
    module, function = path.split(".")
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": text}]
    return getattr(import_module(f"eval_protocol.rewards.{module}"), function)(messages=messages, **arguments).score


def _accuracy(text: str, gold: str) -> Any:
    return _score("accuracy.accuracy_reward", text, ground_truth=[{"role": "assistant", "content": gold}])


def accuracy_reward_part() -> None:
    """A part of the right answer earns 1, down to one letter."""
    assert _accuracy("a", "apple") == 1.0


def accuracy_reward_no() -> None:
    """Any text with the letters "no" earns 1 where the right answer is "no"."""
    assert _accuracy("I know", "no") == 1.0


def accuracy_reward_pi() -> None:
    """Every number that begins with 314 earns what 3.14 earns."""
    assert _accuracy("314000", "3.14") == 1.0


def accuracy_reward_comma() -> None:
    """A number ends at its thousands comma: 1,135 is refused for 1135 and earns 1 for 1."""
    assert _accuracy("The answer is 1,135", "1135") == 0.0
    assert _accuracy("The answer is 1,135", "1") == 1.0


def math_reward_time() -> None:
    """A number of 50,000 digits takes over 20 s: the pattern takes quadratic time."""
    assert unfinished(lambda: _score("math.math_reward", "1" * 50000, ground_truth="42"), 20)


def reasoning_steps_reward_first_bullet() -> None:
    """Three bullet points earn 2/3: a bullet at the very start is not counted."""
    assert round(_score("reasoning_steps.reasoning_steps_reward", "- a\n- b\n- c"), 2) == 0.67
    assert _score("reasoning_steps.reasoning_steps_reward", "\n- a\n- b\n- c") == 1.0


def reasoning_steps_reward_time() -> None:
    """Line breaks take quadratic time: 50,000 take over 20 s."""
    text = "a" + "\n" * 50000 + "a"
    assert unfinished(lambda: _score("reasoning_steps.reasoning_steps_reward", text), 20)


def diversity_reward_above_one() -> None:
    """A single word earns 2.2, more than any diverse text."""
    assert round(_score("repetition.diversity_reward", "a"), 2) == 2.2
    assert _score("repetition.diversity_reward", "a quick brown fox jumps") == 1.0


def tag_count_reward_other_tags() -> None:
    """An opening tag that only begins with the right name counts."""
    text = "<thinking></think><answers></answer>"
    tags = {"required_tags": ["think", "answer"], "score_per_tag": 0.5}
    assert _score("tag_count.tag_count_reward", text, **tags) == 1.0


def language_consistency_reward_content_words() -> None:
    """English without its most common words earns 0."""
    path = "language_consistency.language_consistency_reward"
    assert _score(path, "Water boils quickly.", ground_truth="", target_language="en") == 0.0


def json_schema_reward_integer() -> None:
    """An integer is refused where the schema asks for an integer."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert _score("json_schema.json_schema_reward", '{"a": 1}', expected_schema=schema) == 0.0


def lean_prover_reward_nonsense() -> None:
    """Five nonsense tactics earn 0.9 and a right proof 0.5: Lean never runs."""
    proof = {"ground_truth": PROOF, "statement": THEOREM}
    assert _score("lean_prover.lean_prover_reward", "theorem t : " + "exact banana " * 5, **proof) == 0.9
    assert _score("lean_prover.lean_prover_reward", f"{THEOREM} := by omega", **proof) == 0.5


def deepseek_prover_v2_reward_nonsense() -> None:
    """Five nonsense tactics earn 0.9 and a right proof 0.5: Lean never runs."""
    proof = {"ground_truth": PROOF, "statement": THEOREM}
    assert _score("lean_prover.deepseek_prover_v2_reward", "theorem t : " + "exact banana " * 5, **proof) == 0.9
    assert _score("lean_prover.deepseek_prover_v2_reward", f"{THEOREM} := by omega", **proof) == 0.5
