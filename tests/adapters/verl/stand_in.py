"""A stand-in for verl's reward manager, and for the samples that verl hands over."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import rewardkit as rk

BASE = "verl.experimental.reward_loop.reward_manager.base"


class RewardManagerBase:
    """What verl's base class does."""

    def __init__(self, config: Any, tokenizer: Any, compute_score: Any) -> None:
        self.config, self.tokenizer, self.compute_score = config, tokenizer, compute_score


def install(patch: Any) -> None:
    """Make verl importable, as far as a manager needs it."""
    parts = BASE.split(".")
    for end in range(1, len(parts) + 1):
        module: Any = ModuleType(".".join(parts[:end]))
        module.__path__ = []
        patch.setitem(sys.modules, module.__name__, module)
    sys.modules[BASE].__dict__["RewardManagerBase"] = RewardManagerBase


class Tokenizer:
    """A tokenizer whose tokens are characters; 0 ends a text."""

    eos_token_id = 0

    def decode(self, ids: np.ndarray[Any, Any], skip_special_tokens: bool = False) -> str:
        assert skip_special_tokens
        return "".join(chr(one) for one in ids.tolist() if one)


class Flags(np.ndarray[Any, Any]):
    """An attention mask, with what of torch a manager uses."""

    def bool(self) -> Any:
        return np.asarray(self, dtype=np.bool_)


class Sample:
    """One row of verl's batch: padded tensors, and other fields."""

    def __init__(self, completion: str, prompt: str = "?", *, pad: int = 3, **fields: Any) -> None:
        ids, prompts = ([ord(letter) for letter in text] for text in (completion, prompt))
        self.batch = {
            "prompts": np.array([7] * pad + prompts),
            "responses": np.array(ids + [7] * pad),
            "attention_mask": np.array([0] * pad + [1] * (len(prompts) + len(ids)) + [0] * pad).view(Flags),
        }
        self.non_tensor_batch = {"data_source": "made", "extra_info": {"index": 3}, **fields}

    def __getitem__(self, key: Any) -> Sample:
        return self


def recorded(run: Path, count: int) -> Any:
    """Return the scores in the record as soon as there are so many."""
    until = time.monotonic() + 20.0
    while time.monotonic() < until:
        if run.exists() and len(scores := rk.open_run(run).scores().df()) >= count:
            return scores
        time.sleep(0.05)
    raise TimeoutError


CONFIG: Mapping[str, Any] = {
    "trainer": {"use_v1": True, "v1": {"trainer_mode": "sync"}, "total_training_steps": None},
    "actor_rollout_ref": {"rollout": {"response_length": 6}, "actor": {"optim": {"total_training_steps": 10}}},
    "reward": {"reward_model": {"enable": False}, "custom_reward_function": {"path": None}},
}


def run_single(manager: Any, sample: Sample) -> dict[str, Any]:
    """Return what verl gets for one sample."""
    found: dict[str, Any] = asyncio.run(manager.run_single(sample))
    return found
