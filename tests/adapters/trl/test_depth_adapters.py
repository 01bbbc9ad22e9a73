"""Models wrapped by LoRA or by a compiler: training and evaluation are still distinguished."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import advantages, watched
from tests.adapters.trl.test_training import Recorder, early, echo, generations

REWARD = (
    rk.curriculum(
        [rk.Stage("form", early, until=rk.schedules.when_reached("early", level=1.0, window=9)), rk.Stage("rest", echo)]
    )
    + rk.schedules.linear(0.0, 1.0) * echo
    + 0.2 * rk.rank_in_group(early)
)
OPTIONS: dict[str, Any] = {
    "eval_rows": 4,
    "eval_strategy": "steps",
    "eval_steps": 2,
    "max_steps": 4,
    "num_generations_eval": 2,
}


def assert_told_apart(out: Path, **parts: Any) -> Any:
    recorder = Recorder()
    functions = rk.to_trl(REWARD + recorder.reward())
    trainer = tiny.trainer(out, functions, given=parts, **OPTIONS)
    seen = watched(trainer)
    trainer.train()
    modes = [batch["others"]["progress"].training for batch in recorder.batches]
    assert modes == [True, True, False, True, True, False]
    for generation, batch, training in zip(seen, recorder.batches, modes, strict=True):
        assert generation.training == training
        size = 4 if training else 2
        groups = [slice(start, start + size) for start in range(0, 8, size)]
        prompts = batch["others"]["prompts"]
        parts_of = [
            rk.score(
                REWARD,
                batch["completions"][group],
                prompts=prompts[group],
                progress=batch["others"]["progress"],
            ).total
            for group in groups
        ]
        np.testing.assert_allclose(generation.advantages, advantages(np.concatenate(parts_of), size), atol=1e-3)
    assert [entry["stage/curriculum"] for entry in generations(trainer)] == [1.0] * 4
    assert [entry["eval_stage/curriculum"] for entry in generations(trainer, "eval_")] == [2.0] * 2
    assert [entry["weights/echo"] for entry in generations(trainer)] == [0.0, 0.25, 0.5, 0.75]
    return trainer


@pytest.mark.slow
def test_lora(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", lora_dropout=0.1)
    trainer = assert_told_apart(tmp_path, peft_config=config)
    assert isinstance(trainer.model, peft.PeftModel)
    assert {name for name, weight in trainer.model.named_parameters() if weight.requires_grad}


@pytest.mark.slow
def test_a_model_that_comes_with_its_adapter(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    trainer = assert_told_apart(tmp_path, model=peft.get_peft_model(tiny.model(), config))
    assert isinstance(trainer.model, peft.PeftModel)


@pytest.mark.slow
def test_the_trainer_prepares_a_wrapper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with data parallelism: the trainer runs a wrapper, and reads the mode from the model inside."""
    import torch
    from accelerate import Accelerator

    class Wrapper(torch.nn.Module):
        def __init__(self, module: Any) -> None:
            super().__init__()
            self.module = module

        def forward(self, *arguments: Any, **keywords: Any) -> Any:
            return self.module(*arguments, **keywords)

    prepare, unwrap = Accelerator.prepare_model, Accelerator.unwrap_model

    def prepared(self: Any, model: Any, *arguments: Any, **keywords: Any) -> Any:
        return Wrapper(prepare(self, model, *arguments, **keywords))

    def unwrapped(self: Any, model: Any, *arguments: Any, **keywords: Any) -> Any:
        return unwrap(self, model.module if isinstance(model, Wrapper) else model, *arguments, **keywords)

    monkeypatch.setattr(Accelerator, "prepare_model", prepared)
    monkeypatch.setattr(Accelerator, "unwrap_model", unwrapped)
    trainer = assert_told_apart(tmp_path)
    assert isinstance(trainer.model_wrapped, Wrapper)
    assert trainer.model is not trainer.model_wrapped
