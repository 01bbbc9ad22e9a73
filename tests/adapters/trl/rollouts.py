"""TRL's asynchronous rollout worker with random completions instead of vLLM; all other code is its own.

It is in a separate module because the spawned process of the worker imports it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import queue
import random
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from datasets import Dataset
from trl.experimental.async_grpo import async_rollout_worker as trl_worker
from trl.experimental.async_grpo.async_rollout_worker import AsyncRolloutWorker, RolloutGroup, _AsyncRolloutLoop

import rewardkit as rk
from tests.adapters.trl import tiny

GENERATIONS = 4
"""Completions of a prompt."""


class RandomLoop(_AsyncRolloutLoop):  # type: ignore[misc]
    """Random letters instead of vLLM."""

    async def _run_loops(self, stop_event: Any) -> None:
        tasks = [
            asyncio.create_task(self._generate_loop(stop_event=stop_event)),
            asyncio.create_task(self._score_loop(stop_event=stop_event)),
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _generate_one_turn(self, prompt_ids: list[int]) -> tuple[list[int], list[float]]:
        await asyncio.sleep(random.random() / 200)
        ids = [random.randrange(2, 2 + len(tiny.LETTERS)) for _ in range(random.randint(1, 4))]
        return [*ids, 1], [-1.0] * (len(ids) + 1)


@rk.reward
def early(completion: str) -> float:
    letters = completion.split()
    return sum(letter in "abcd" for letter in letters) / 4


@rk.reward
def echo(completion: str, prompt: str) -> float:
    return float(prompt[0] in completion)


@rk.reward
def near(completion: str, answer: int) -> float | None:
    return None if answer == 4 else 1.0 / (1.0 + abs(len(completion.split()) - answer))


@rk.reward
def judged(completion: str) -> float:
    if "a" in completion:
        raise rk.RewardFailure("refused")
    return completion.count("b") / 4


@rk.reward
async def asked(completion: str) -> float:
    await asyncio.sleep(0.001)
    return completion.count("c") / 4


REWARD = early + 0.5 * echo + 0.25 * near + 0.3 * asked
RELATIVE = rk.rank_in_group(early) + 0.5 * rk.normalize(echo) + 0.2 * rk.diversity(extract=rk.extract.whole())
REFUSED = judged + 0.5 * early
SCHEDULED = rk.schedules.linear(0.0, 1.0) * early + echo


def settings(functions: list[Any]) -> dict[str, Any]:
    """The arguments that AsyncGRPOTrainer passes to its worker."""
    tokenizer = tiny.tokenizer()
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    tokenizer.response_template = {
        "defaults": {"role": "assistant"},
        "fields": {"content": {"close_pattern": r"<eos>\s*", "content": "text"}},
    }
    prompts = [[{"role": "user", "content": tiny.PROMPTS[row % 8]}] for row in range(16)]
    return {
        "model_name": "random",
        "dataset": Dataset.from_dict({"prompt": prompts, "answer": [str(row % 5) for row in range(16)]}),
        "reward_funcs": functions,
        "processing_class": tokenizer,
        "eos_token_ids": [1],
        "num_generations": GENERATIONS,
        "max_inflight_tasks": 12,
    }


def loop_here(functions: list[Any], size: int = 0) -> RandomLoop:
    """The loop of the worker in this process; it stops after `size` samples."""

    class Buffer(queue.Queue[Any]):
        def put_nowait(self, item: Any) -> None:
            super().put_nowait(item)
            if self.qsize() >= size:
                loop._stop_event.set()

    loop = RandomLoop(
        **settings(functions),
        rollout_buffer=Buffer(),
        model_version_value=SimpleNamespace(value=0),
        heartbeat_value=SimpleNamespace(value=0.0),
        failed_event=threading.Event(),
        exception_info_queue=queue.Queue(),
        metrics_queue=queue.Queue(),
    )
    return loop


def worker(functions: list[Any], monkeypatch: pytest.MonkeyPatch) -> AsyncRolloutWorker:
    """The worker itself, with such a loop in its process."""
    for name in ("is_vllm_available", "is_aiohttp_available"):
        monkeypatch.setattr(trl_worker, name, lambda: True)
    worker = AsyncRolloutWorker(**settings(functions))
    worker._loop_cls = RandomLoop
    return worker


def group(number: int, texts: list[str], prompt: str = "ab", answer: str = "2") -> RolloutGroup:
    """A group as the loop passes it to be scored."""
    size = len(texts)
    return RolloutGroup(
        prompts=[[{"role": "user", "content": prompt}]] * size,
        reward_kwargs={"answer": [answer] * size},
        completions=[[{"role": "assistant", "content": text}] for text in texts],
        completions_ids=[[2, 1]] * size,
        completions_sequences=[
            [trl_worker.TrainingSequence([2, 1], [1, 1], [-1.0, -1.0], f"{number}/{row}")] for row in range(size)
        ],
        tool_call_counts=[0] * size,
        tool_failure_counts=[0] * size,
        model_version=0,
        group_id=number,
        env_rewards=[None] * size,
        rollout_rewards=[None] * size,
    )


def alive() -> list[str]:
    return [process.name for process in multiprocessing.active_children()]
