"""verl's own reward manager and advantages with `rk.to_verl`: the same totals, and failed rows are left out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.trainers.reward import agrees, expected, rows
from tests.trainers.stubs import stub

stub("hydra", "transfer_queue")

from omegaconf import OmegaConf  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.ppo.reward import load_reward_manager  # noqa: E402

_FILE = """
import rewardkit as rk
from tests.trainers.reward import reward

compute_score = rk.to_verl(reward, gold="answer")
"""


class Characters:
    """A tokenizer whose tokens are characters, as far as a reward manager uses one."""

    def decode(self, ids: torch.Tensor, skip_special_tokens: bool = False) -> str:
        assert skip_special_tokens
        return "".join(map(chr, ids.tolist()))


def manager(tmp_path: Path) -> Any:
    (tmp_path / "my_rewards.py").write_text(_FILE)
    config = OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": {"path": str(tmp_path / "my_rewards.py"), "name": "compute_score"},
                "reward_manager": {"source": "register", "name": "naive"},
                "num_workers": 1,
            }
        }
    )
    return load_reward_manager(config, Characters())


def sample(completion: str, gold: str) -> DataProto:
    ids = torch.tensor([[ord(letter) for letter in completion]], dtype=torch.long)
    mask = torch.ones(1, 1 + ids.shape[1], dtype=torch.long)
    batch = TensorDict({"prompts": mask[:, :1], "responses": ids, "attention_mask": mask}, [1])
    other = {"data_source": ["made"], "reward_model": [{"ground_truth": gold}], "extra_info": [{"index": 0}]}
    arrays = {}
    for name, cells in other.items():
        arrays[name] = np.empty(1, dtype=object)
        arrays[name][:] = cells
    return DataProto(batch=batch, non_tensor_batch=arrays)


def test_totals_are_those_of_score(tmp_path: Path) -> None:
    given = rows()

    async def scored() -> list[Any]:
        own = manager(tmp_path)
        own.loop = asyncio.get_running_loop()
        return await asyncio.gather(*[own.run_single(sample(*row)) for row in given], return_exceptions=True)

    found = asyncio.run(scored())
    totals = [None if isinstance(one, Exception) else one["reward_score"] for one in found]
    wrong = [
        place for place, (own, total) in enumerate(zip(totals, expected(given), strict=True)) if not agrees(own, total)
    ]
    assert wrong == [], [(given[place], totals[place], found[place]) for place in wrong[:3]]
    assert 100 < totals.count(None) < 2_000
    keys = {frozenset(one["reward_extra_info"]) for one in found if not isinstance(one, Exception)}
    assert len(keys) == 1
