"""prime-rl's own advantages and metrics for traces that `rk.to_verifiers` scored."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit as rk
from tests.trainers.stubs import stub
from tests.trainers.traces import RolloutTimeouts, answered, closed, vf

_SOURCE = next((Path(one) for one in sys.path if Path(one, "prime_rl", "orchestrator").is_dir()), Path())
sys.path.append(str(_SOURCE.parent / "packages" / "prime-rl-configs" / "src"))
stub("wandb", "torchtitan", "uvloop", "vllm", "jaxtyping", "beartype", "ring_flash_attn", "aiolimiter")

from prime_rl.configs.algorithm import GRPOAlgoConfig, MaxRLAlgoConfig  # noqa: E402
from prime_rl.orchestrator.algo.grpo import GRPOAlgorithm  # noqa: E402
from prime_rl.orchestrator.algo.max_rl import MaxRLAlgorithm  # noqa: E402
from prime_rl.orchestrator.algo.routing import scalar_advantage  # noqa: E402
from prime_rl.orchestrator.metrics import TraceMetrics  # noqa: E402


@rk.reward
def number(completion: str) -> float:
    if completion == "?":
        raise rk.RewardFailure("the judge is down")
    return float(completion)


@rk.reward
def short(completion: str) -> float | None:
    return None if completion == "1" else 0.0


class Scored(rk.to_verifiers(number + short), vf.Task[vf.TaskData]):  # type: ignore[misc]
    pass


def group(*texts: str) -> list[Any]:
    """Return the episodes of one prompt, one trace each."""
    task = Scored(vf.TaskData(prompt="?"))

    async def ended() -> list[Any]:
        return await asyncio.gather(*[closed(task, answered(task, text), RolloutTimeouts()) for text in texts])

    traces = asyncio.run(ended())
    return [vf.Episode(task=trace.task, traces=[trace], ok=trace.ok) for trace in traces]


def advantages(algorithm: Any, episodes: list[Any]) -> list[float | None]:
    asyncio.run(algorithm.finalize_group(episodes))
    return [scalar_advantage(episode.traces[0]) for episode in episodes]


def test_a_failed_row_is_left_out_of_the_group() -> None:
    found = advantages(GRPOAlgorithm(GRPOAlgoConfig(), None), group("1", "?", "0", "0"))
    assert found[1] is None
    assert [one for one in found if one is not None] == pytest.approx([2 / 3, -1 / 3, -1 / 3])
    others = advantages(GRPOAlgorithm(GRPOAlgoConfig(), None), group("1", "0", "0"))
    assert [one for one in found if one is not None] == others


def test_another_algorithm_leaves_it_out_too() -> None:
    found = advantages(MaxRLAlgorithm(MaxRLAlgoConfig(), None), group("1", "?", "0", "0"))
    assert found == [pytest.approx(2.0), None, pytest.approx(-1.0), pytest.approx(-1.0)]


def test_the_mean_of_a_term_is_over_the_traces_that_have_it() -> None:
    episodes = group("1", "?", "0", "0")
    records = [SimpleNamespace(trace=one.traces[0], episode=one) for one in episodes if one.ok]
    metrics = TraceMetrics(records)
    rewards = {name: (stat.values, stat.mean()) for name, stat in metrics.rewards.stats().items()}
    assert rewards == {"number": ([1.0, 0.0, 0.0], 1 / 3), "short": ([0.0, 0.0], 0.0)}
    assert set(metrics.metrics.stats()) == {"components/number", "components/short"}
