"""A reward model next to our list in real runs: both are added up, and unscorable samples are reported."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.batch.column import Floats

pytest.importorskip("trl")
import torch
from transformers import LlamaConfig, LlamaForSequenceClassification

from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import Generation, advantages, gdpo_advantages, gdpo_parts, watched
from tests.adapters.trl.test_training import Recorder, counted, early, echo, generations, judged

BESIDE = "ignore:.*also has reward functions"
REWARD = 0.7 * early + 0.3 * echo + 0.5 * counted
MODEL = "judge"


def reward_model(name: str = f"company/{MODEL}", seed: int = 1) -> Any:
    """Random weights that distinguish texts."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=2 + len(tiny.LETTERS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
        num_labels=1,
        initializer_range=0.5,
        name_or_path=name,
    )
    return LlamaForSequenceClassification(config).eval()


def judgments(model: Any, batch: dict[str, Any]) -> Floats:
    """Return (n,) the scores of the model for prompts and completions."""
    texts = [prompt + text for prompt, text in zip(batch["others"]["prompts"], batch["completions"], strict=True)]
    inputs = tiny.tokenizer()(
        text=texts, return_tensors="pt", padding=True, padding_side="right", add_special_tokens=False
    )
    with torch.inference_mode():
        return np.array(model(**inputs).logits[:, 0].tolist())


def run(out: Path, functions: Any, **options: Any) -> tuple[Any, list[Generation]]:
    classes = [tiny.tokenizer() if isinstance(function, torch.nn.Module) else None for function in functions]
    trainer = tiny.trainer(
        out,
        functions,
        given={"reward_processing_classes": classes},
        reward_weights=functions.reward_weights,
        **options,
    )
    seen = watched(trainer)
    trainer.train()
    return trainer, seen


@pytest.mark.filterwarnings(BESIDE)
@pytest.mark.parametrize("columns", ["terms", "components"])
def test_totals_are_ours_and_the_models(tmp_path: Path, columns: str) -> None:
    recorder, model = Recorder(), reward_model()
    beside = [model]
    functions = rk.to_trl(REWARD + recorder.reward(), outputs=columns) + beside  # type: ignore[arg-type]
    trainer, seen = run(tmp_path, functions)
    for generation, table, batch, entry in zip(
        seen, recorder.tables(REWARD), recorder.batches, generations(trainer), strict=True
    ):
        theirs = judgments(model, batch)
        assert theirs.std() > 0.05
        np.testing.assert_allclose(generation.columns[MODEL], theirs, atol=1e-5)
        assert generation.held[MODEL] == 1.0
        np.testing.assert_allclose(generation.advantages, advantages(table.total + theirs, 4), atol=1e-3)
        assert entry["reward"] == pytest.approx(np.mean(table.total + theirs), abs=1e-5)
        for name in table.components:
            assert entry[f"components/{name}"] == pytest.approx(np.nanmean(table[name]))


@pytest.mark.filterwarnings(BESIDE)
def test_scheduled_weights_leave_the_models_alone(tmp_path: Path) -> None:
    reward = rk.schedules.linear(0.0, 1.0) * early + 0.5 * echo
    recorder, model = Recorder(), reward_model()
    beside = [model]
    functions = rk.to_trl(reward + recorder.reward(), outputs="components") + beside
    _, seen = run(tmp_path, functions, max_steps=4)
    for step, (generation, table, batch) in enumerate(
        zip(seen, recorder.tables(reward), recorder.batches, strict=True)
    ):
        assert generation.held == {"early": step / 4, "echo": 0.5, "recorder": 0.0, MODEL: 1.0}
        total = table.total + judgments(model, batch)
        np.testing.assert_allclose(generation.advantages, advantages(total, 4), atol=1e-3)


@pytest.mark.filterwarnings(BESIDE)
def test_gdpo_normalizes_the_model_as_one_more(tmp_path: Path) -> None:
    recorder, model = Recorder(), reward_model()
    beside = [model]
    functions = rk.to_trl(REWARD + recorder.reward(), outputs="components") + beside
    _, seen = run(tmp_path, functions, multi_objective_aggregation="normalize_then_sum")
    weights = {"early": 0.7, "echo": 0.3, "counted": 0.5, MODEL: 1.0}
    for generation, table, batch in zip(seen, recorder.tables(REWARD), recorder.batches, strict=True):
        columns = {name: table[name] for name in table.components} | {MODEL: judgments(model, batch)}
        np.testing.assert_allclose(generation.advantages, gdpo_advantages(gdpo_parts(columns, weights, 4)), atol=2e-3)


@pytest.mark.parametrize("columns", ["terms", "components"])
def test_a_sample_that_we_cannot_score_keeps_the_models_signal_and_the_run_says_so_once(
    tmp_path: Path, columns: str
) -> None:
    reward = judged + 0.5 * echo
    recorder, model = Recorder(), reward_model()
    beside = [model]
    functions = (
        rk.to_trl(reward + recorder.reward(), outputs=columns, limits=rk.Limits(max_failure_rate=1.0)) + beside  # type: ignore[arg-type]
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rk.errors.RewardKitWarning)
        _, seen = run(tmp_path, functions)
    said = [str(warning.message) for warning in caught if issubclass(warning.category, rk.errors.RewardKitWarning)]
    assert len(said) == 1
    assert "also has reward functions" in said[0]
    lost_at_all = 0
    for generation, table, batch in zip(seen, recorder.tables(reward), recorder.batches, strict=True):
        lost = np.isnan(table.total)
        lost_at_all += int(lost.sum())
        assert np.isnan(generation.columns["echo"][lost]).all()
        total = np.nan_to_num(table.total) + judgments(model, batch)
        np.testing.assert_allclose(generation.advantages, advantages(total, 4), atol=1e-3)
        assert (generation.advantages[lost] != 0.0).all()
    assert lost_at_all > 0


def test_our_list_alone_gives_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", rk.errors.RewardKitWarning)
        trainer = tiny.trainer(tmp_path, rk.to_trl(REWARD), max_steps=2)
        trainer.train()
    assert trainer.state.global_step == 2


@pytest.mark.filterwarnings(BESIDE)
def test_several_models_before_and_after_our_list(tmp_path: Path) -> None:
    recorder, first, last = Recorder(), reward_model("company/first"), reward_model("company/last", seed=2)
    before, behind = [first], [last]
    functions = before + rk.to_trl(REWARD + recorder.reward(), outputs="components") + behind
    assert functions.reward_weights == [1.0, 0.7, 0.3, 0.5, 0.0, 1.0]
    _, seen = run(tmp_path, functions)
    for generation, table, batch in zip(seen, recorder.tables(REWARD), recorder.batches, strict=True):
        assert list(generation.held) == ["first", "early", "echo", "counted", "recorder", "last"]
        total = table.total + judgments(first, batch) + judgments(last, batch)
        np.testing.assert_allclose(generation.advantages, advantages(total, 4), atol=1e-3)
