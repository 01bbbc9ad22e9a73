"""LLaMA-Factory's own client and template with `rewardkit serve`."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
import torch

from tests.serve.served import serving
from tests.trainers.stubs import stub

stub("accelerate_", "av", "fire", "gradio", "librosa", "omegaconf", "sse_starlette", "tyro", "modelscope", "torchaudio")

from llamafactory.data.template import TEMPLATES  # noqa: E402


def client() -> Callable[[str, list[str]], torch.Tensor]:
    """Load the client alone: its package wants an older TRL."""
    path = Path(str(metadata.distribution("llamafactory").locate_file("llamafactory/train/ppo/ppo_utils.py")))
    spec = importlib.util.spec_from_file_location("llamafactory.train.ppo.ppo_utils", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[str, list[str]], torch.Tensor] = module.get_rewards_from_server
    return found


@pytest.mark.parametrize("template", ["qwen", "llama3", "gemma"])
def test_its_client_gets_the_scores(template: str, tmp_path: Path) -> None:
    [asked] = TEMPLATES[template].format_user.apply(content="2*21?", idx="0")
    separator = asked.partition("2*21?")[2]
    (tmp_path / "data.jsonl").write_text(json.dumps({"prompt": "2*21?", "answer": "42"}))
    texts = [f"{asked}{response}<|im_end|>" for response in ("42", "41")]
    environment = {
        "REWARDKIT_LLAMAFACTORY_DATA": str(tmp_path / "data.jsonl"),
        "REWARDKIT_LLAMAFACTORY_SEPARATOR": separator.replace("\n", "\\n"),
        "REWARDKIT_TOKEN": "",
    }
    with serving("reward", "--special-token", "<|im_end|>", **environment) as running:
        found = client()(f"{running.url}/llamafactory", texts)
        with pytest.raises(KeyError, match="scores"):  # any error ends the training
            client()(f"{running.url}/llamafactory", ["something else"])
    assert found.tolist() == torch.Tensor([0.75 + 0.25 / 3, 0.25 / 3]).tolist()
