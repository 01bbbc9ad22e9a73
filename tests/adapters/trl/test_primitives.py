"""Every primitive in one real GRPO run: the trainer passes everything that they need."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.trl import tiny

SCHEMA = {"type": "object", "required": ["a"]}
PRIMITIVES = {
    "tags": rk.tags("think", "answer"),
    "fenced": rk.fenced("python"),
    "regex": rk.regex("[a-h ]+"),
    "starts_with": rk.contains(start=["a", "b"]),
    "ends_with": rk.contains(end=["a", "b"]),
    "contains_all": rk.contains(all=["a", "b"], partial=True),
    "contains_none": rk.contains(none="h"),
    "no_refusal": rk.contains(none=rk.REFUSALS),
    "choice": rk.choice("letter", options="abcdefgh"),
    "language": rk.language("en"),
    "script": rk.language(script="en"),
    "number": rk.number("answer", credit="linear"),
    "exact": rk.exact("letter"),
    "similarity": rk.similarity("letter"),
    "token_f1": rk.token_f1("letter"),
    "rouge_l": rk.rouge_l("letter"),
    "bleu": rk.bleu("letter"),
    "chrf": rk.chrf("letter"),
    "set_match": rk.set_match("letter"),
    "sequence_match": rk.sequence_match("letter"),
    "milestones": rk.milestones("a", "b"),
    "json_valid": rk.json_valid(),
    "json_schema": rk.json_schema(SCHEMA),
    "json_match": rk.json_match("document"),
    "length_between": rk.length.between(1, 3),
    "overlong_penalty": rk.length.overlong(4, 2),
    "cosine_length": rk.length.cosine(rk.exact("letter"), 4),
    "kimi_length": rk.length.kimi(rk.exact("letter")),
    "token_budget": rk.length.budget(rk.exact("letter"), 4),
    "reasoning_steps": rk.reasoning_steps(),
    "repetition_penalty": rk.repetition_penalty(ngram=1),
    "math_equal": rk.math_equal("answer"),
    "code_runs": rk.code_runs(unsafe=True),
}


@pytest.mark.slow
def test_all_primitives_train_together(tmp_path: Path) -> None:
    functions = rk.to_trl(rk.weighted_sum([reward.named(name) for name, reward in PRIMITIVES.items()]))
    trainer = tiny.trainer(tmp_path, functions, callbacks=[functions.callback()], max_steps=2)
    rows = len(trainer.train_dataset)
    trainer.train_dataset = trainer.train_dataset.add_column("letter", list("abcdefgh") * (rows // 8))
    trainer.train_dataset = trainer.train_dataset.add_column("document", ['{"a": 1}'] * rows)
    trainer.train()
    (last,) = (entry for entry in trainer.state.log_history[-2:] if "reward" in entry)
    for name in PRIMITIVES:
        assert math.isfinite(last[f"components/{name}"]), name
    total = sum(last[f"rewards/{name}/mean"] for name in PRIMITIVES)
    assert last["reward"] == pytest.approx(total, abs=1e-5)
    assert last["components/length_between"] > 0.0
    assert last["components/regex"] > 0.0
    assert last["components/tags"] == 0.0
