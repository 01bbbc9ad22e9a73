"""Rollouts of verl without a model: its own reward workers, agent loops and replay buffers around given completions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.trainers.stubs import stub

stub("hydra")

from omegaconf import OmegaConf  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics, AgentLoopOutput, AgentLoopWorker  # noqa: E402
from verl.experimental.reward_loop.reward_loop import RewardLoopWorker  # noqa: E402
from verl.trainer.ppo.reward import load_reward_manager  # noqa: E402
from verl.trainer.ppo.v1 import agent_loop_tq, replay_buffer  # noqa: E402

PROMPT = [{"role": "user", "content": "6 * 7?"}]
FUNCTION: Mapping[str, Any] = {"source": "register", "name": "naive"}


class Characters:
    """A tokenizer whose tokens are characters, as far as a reward manager uses one."""

    eos_token_id = 0

    def decode(self, ids: torch.Tensor, skip_special_tokens: bool = False) -> str:
        assert skip_special_tokens
        return "".join(map(chr, ids.tolist()))


def configuration(tmp_path: Path, file: str, manager: Mapping[str, Any] = FUNCTION, **trainer: Any) -> Any:
    """Return the settings of verl for a file of rewards, as far as rewards and rollouts read them."""
    (tmp_path / "my_rewards.py").write_text(file)
    path = None if manager["source"] == "importlib" else str(tmp_path / "my_rewards.py")
    return OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": {"path": path, "name": "compute_score"},
                "reward_manager": manager,
                "reward_model": {"enable": False},
                "num_workers": 1,
            },
            "actor_rollout_ref": {
                "rollout": {
                    "n": 4, "val_kwargs": {"n": 1, "top_p": 1.0, "top_k": -1, "temperature": 0}, "temperature": 1.0,
                    "top_p": 1.0, "top_k": -1, "calculate_log_probs": False, "agent": {"default_agent_loop": "given"},
                },
                "actor": {"optim": {"total_training_steps": 10}},
            },
            "trainer": {"use_v1": True, "v1": {"trainer_mode": "sync"}, "total_training_steps": None, **trainer},
        }
    )  # fmt: skip


class RewardWorker(RewardLoopWorker):
    """verl's reward worker, without a tokenizer from disk."""

    def _init_reward_fn(self) -> None:
        self.reward_manager = load_reward_manager(
            self.config, Characters(), reward_router_address=None, reward_model_tokenizer=None
        )


def worker_of(config: Any) -> Any:
    """Return a reward worker in this process, for this event loop."""
    worker = RewardWorker(config)
    worker.reward_manager.loop = asyncio.get_running_loop()
    return worker


def handle(worker: Any) -> Any:
    """Return what verl's agent loops call: the handle of a worker in this process."""
    return SimpleNamespace(compute_score=SimpleNamespace(remote=worker.compute_score))


def sample(completion: str, gold: str, prompt: str = "?", **fields: Any) -> DataProto:
    """Return one sample as verl's batch path hands it to reward workers."""
    prompts, ids = ([[ord(letter) for letter in text]] for text in (prompt, completion))
    mask = torch.ones(1, len(prompts[0]) + len(ids[0]), dtype=torch.long)
    tensors = {
        "prompts": torch.tensor(prompts, dtype=torch.long),
        "responses": torch.tensor(ids, dtype=torch.long),
        "attention_mask": mask,
    }
    given = {"data_source": "made", "reward_model": {"ground_truth": gold}, "extra_info": {"index": 0}, **fields}
    arrays = {}
    for name, cell in given.items():
        arrays[name] = np.empty(1, dtype=object)
        arrays[name][0] = cell
    return DataProto(batch=TensorDict(tensors, [1]), non_tensor_batch=arrays)


class Queue:
    """A transfer queue in this process: partition -> key -> tag, and the fields of trajectories."""

    def __init__(self) -> None:
        self.tags: dict[str, dict[str, dict[str, Any]]] = {}
        self.fields: dict[str, Any] = {}

    def kv_put(self, key: str, partition_id: str, tag: Mapping[str, Any]) -> None:
        self.tags.setdefault(partition_id, {}).setdefault(key, {}).update(tag)

    async def async_kv_put(self, key: str, partition_id: str, tag: Mapping[str, Any]) -> None:
        self.kv_put(key, partition_id, tag)

    async def async_kv_batch_put(
        self, keys: Sequence[str], fields: Any, tags: Sequence[Mapping[str, Any]], partition_id: str
    ) -> None:
        for place, (key, tag) in enumerate(zip(keys, tags, strict=True)):
            self.kv_put(key, partition_id, tag)
            self.fields[key] = fields[place]

    def kv_list(self) -> dict[str, dict[str, dict[str, Any]]]:
        return {partition: {key: dict(tag) for key, tag in tags.items()} for partition, tags in self.tags.items()}

    def kv_clear(self, keys: Sequence[str], partition_id: str) -> None:
        for key in keys:
            self.tags[partition_id].pop(key, None)

    def trajectories(self, partition: str = "train") -> list[str]:
        return [key for key, tag in self.tags.get(partition, {}).items() if not tag.get("is_prompt")]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    """Return the queue that verl's agent loops and replay buffers use."""
    made = Queue()
    for module in (agent_loop_tq, replay_buffer):
        monkeypatch.setattr(module, "tq", made)
    return made


class Given:
    """Makes the output of an agent loop from a given completion."""

    def __init__(self, config: Any, reward_workers: Sequence[Any], completions: Mapping[str, Sequence[str]]) -> None:
        self.config, self.rollout_config = config, config.actor_rollout_ref.rollout
        self.tokenizer, self.processor, self.distillation_enabled = Characters(), None, False
        self.mm_processor_kwargs: dict[str, Any] = {}
        self.reward_loop_worker_handles = reward_workers
        self.completions = completions

    def output(self, uid: str, number: int, step: int) -> AgentLoopOutput:
        ids = [ord(letter) for letter in self.completions[uid][number]]
        return AgentLoopOutput(
            prompt_ids=[63],
            response_ids=ids,
            response_mask=[1] * len(ids),
            num_turns=2,
            metrics=AgentLoopMetrics(),
            extra_fields={"min_global_steps": step - 1, "max_global_steps": step - 1},
        )


class Loops(Given, agent_loop_tq.AgentLoopWorkerTQ.__ray_metadata__.modified_class):
    """verl's agent loops; the completions of a prompt are given instead of generated."""

    async def _run_agent_loop(
        self, sampling_params: Any, trajectory: Any, *, trace: bool = True, agent_name: str = "", **kwargs: Any
    ) -> Any:
        output = self.output(kwargs["uid"], kwargs["session_id"], trajectory["step"])
        return await self._agent_loop_postprocess(output, trajectory["validate"], **kwargs)

    async def prompt(self, uid: str, gold: str, step: int = 1, *, validate: bool = False, **fields: Any) -> None:
        """Roll out one prompt, as verl does."""
        given = {
            "uid": uid,
            "raw_prompt": PROMPT,
            "data_source": "made",
            "reward_model": {"ground_truth": gold},
            "extra_info": {"index": 3},
            "index": 3,
            "global_steps": step,
            **fields,
        }
        partition = "val" if validate else "train"
        tag = {"is_prompt": True, "status": "pending", "global_steps": step}
        agent_loop_tq.tq.kv_put(key=uid, partition_id=partition, tag=tag)
        trajectory = {"step": step, "sample_index": 3, "rollout_n": 0, "validate": validate}
        await self._run_prompt(given, {}, trajectory)


class OldLoops(Given, AgentLoopWorker):
    """The agent loops of verl's old trainer, up to the score."""

    async def _run_agent_loop(self, sampling_params: Any, trajectory: Any, **kwargs: Any) -> Any:
        kwargs.pop("trace"), kwargs.pop("agent_name")
        await self._compute_score([self.output(kwargs["uid"], kwargs["session_id"], 1)], kwargs)


def buffer(*, asynchronous: bool = False, refill: Any = None) -> Any:
    """Return verl's replay buffer."""
    kind = replay_buffer.ReplayBufferAsync if asynchronous else replay_buffer.ReplayBuffer
    nothing = OmegaConf.create({})
    mode = "colocate_async" if asynchronous else "sync"
    return kind(mode, nothing, None, "drop", nothing, poll_interval=0.05, refill_fn=refill)
