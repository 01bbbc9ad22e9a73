"""Asynchronous GRPO: its rollout worker scores with our list, in threads and in its process. Only vLLM is missing."""

from __future__ import annotations

import asyncio
import pickle
import queue
import random
import weakref
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.batch.column import Floats

if not hasattr(
    pytest.importorskip("trl.experimental.async_grpo.async_rollout_worker", exc_type=ImportError), "_AsyncRolloutLoop"
):
    pytest.skip("this TRL has another worker", allow_module_level=True)
from accelerate import PartialState

from rewardkit.online import radar
from rewardkit_adapters.trl.evaluator import Evaluator
from rewardkit_adapters.trl.trainer import Trainer
from tests.adapters.trl import tiny
from tests.adapters.trl.rollouts import (
    GENERATIONS,
    REFUSED,
    RELATIVE,
    REWARD,
    SCHEDULED,
    alive,
    early,
    echo,
    group,
    loop_here,
    worker,
)

PartialState()  # TRL's logger asks it for the rank


def advantages(total: Floats) -> Floats:
    """As in `_score_group`: with the population deviation, not the sample deviation."""
    scored = total[~np.isnan(total)]
    if not len(scored):
        return np.zeros(len(total))
    return np.asarray(np.nan_to_num((total - scored.mean()) / (scored.std() + 1e-8)))


def answers_of(prompt: str) -> list[str]:
    """The answers for a prompt in the data."""
    return [str(row % 5) for row in range(16) if tiny.PROMPTS[row % 8] == prompt]


def assert_scored(reward: rk.Reward, samples: list[Any]) -> None:
    """Each group has the advantages of its own totals by `rk.score`, for one of the answers of its prompt."""
    samples = sorted(samples, key=lambda sample: sample.group_id)
    for _, members in groupby(samples, key=lambda sample: sample.group_id):
        own = list(members)
        if len(own) < GENERATIONS:
            continue
        (prompt,) = {sample.prompt[0]["content"] for sample in own}
        completions = [sample.completion for sample in own]
        possible = [
            rk.score(reward, completions, prompts=[prompt] * GENERATIONS, answer=[answer] * GENERATIONS)
            for answer in answers_of(prompt)
        ]
        found = np.array([sample.metrics["reward"] for sample in own])
        table = next(table for table in possible if same(table.total, found))
        np.testing.assert_allclose([sample.advantage for sample in own], advantages(table.total), atol=1e-6)
        for name, values in table.terms.items():
            np.testing.assert_allclose([sample.metrics[f"rewards/{name}"] for sample in own], values, atol=1e-9)


def same(one: Floats, other: Floats) -> bool:
    return bool(np.allclose(one, other, atol=1e-9, equal_nan=True))


@pytest.mark.parametrize("reward", [REWARD, RELATIVE, REWARD + RELATIVE], ids=["samples", "groups", "both"])
def test_the_workers_own_loops_score_with_our_list(reward: rk.Reward) -> None:
    loop = loop_here(rk.to_trl(reward), size=10 * GENERATIONS)
    loop.run()
    samples = list(loop.rollout_buffer.queue)
    assert len(samples) >= 10 * GENERATIONS
    assert any(sample.advantage for sample in samples)
    assert_scored(reward, samples)


def test_samples_that_cannot_be_scored_have_no_advantage() -> None:
    loop = loop_here(rk.to_trl(REFUSED, limits=rk.Limits(max_failure_rate=1.0)), size=12 * GENERATIONS)
    loop.run()
    samples = list(loop.rollout_buffer.queue)
    lost = [sample for sample in samples if "a" in sample.completion[0]["content"]]
    assert 0 < len(lost) < len(samples)
    assert {sample.advantage for sample in lost} == {0.0}
    assert_scored(REFUSED, samples)


def elsewhere(functions: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The functions as another process gets them."""
    pickled = pickle.dumps(functions)
    monkeypatch.setattr(Evaluator, "_alive", weakref.WeakValueDictionary())
    return pickle.loads(pickled)


@pytest.mark.parametrize("searched", [False, True], ids=["here", "elsewhere, with the radar"])
def test_several_groups_in_flight_in_several_threads(searched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Score the groups at the same time; the worker itself scores one after another."""
    monkeypatch.setattr(radar, "SHARE", 1e9)
    reward = REWARD + RELATIVE
    functions = rk.to_trl(reward, radar="rescore")
    if searched:
        functions = elsewhere(functions, monkeypatch)
    loop = loop_here(functions)
    chance = random.Random(1)
    groups = [
        group(
            number,
            [" ".join(chance.choices(tiny.LETTERS, k=chance.randint(1, 4))) for _ in range(GENERATIONS)],
            prompt=tiny.PROMPTS[number % 8],
            answer=str(number % 4),
        )
        for number in range(40)
    ]

    async def score_all() -> list[Any]:
        return list(await asyncio.gather(*map(loop._score_group, groups)))

    scored = loop._loop.run_until_complete(score_all())
    loop._loop.close()
    for made, samples in zip(groups, scored, strict=True):
        prompts = [prompt[0]["content"] for prompt in made.prompts]
        table = rk.score(reward, made.completions, prompts=prompts, **made.reward_kwargs)
        np.testing.assert_allclose([sample.metrics["reward"] for sample in samples], table.total)
        np.testing.assert_allclose([sample.advantage for sample in samples], advantages(table.total), atol=1e-6)
    assert not functions[0].evaluator.tables._entries
    seen = functions[0].evaluator.session(Trainer(None)).radar
    assert (seen is not None) == searched
    if seen is not None:
        assert seen.strength is not None  # it is not off
        assert seen.searches
        assert seen.evidence is not None
        assert seen.evidence.foreign is not None


CURRICULUM = rk.curriculum([rk.Stage("form", early, until=0.5), rk.Stage("rest", echo)])
REACHED = rk.schedules.when_reached("early", level=0.5) * echo + early
THRESHOLD = rk.gate(when=early, then=echo, threshold=rk.schedules.linear(0.0, 0.5)) + 0.1 * early


@pytest.mark.parametrize(
    "reward",
    [SCHEDULED, CURRICULUM, REACHED, THRESHOLD, rk.normalize(early, by="running") + echo],
    ids=["linear", "curriculum", "performance", "threshold", "running"],
)
@pytest.mark.parametrize("columns", ["terms", "components"])
def test_rewards_that_depend_on_progress_are_refused_with_the_reason(reward: rk.Reward, columns: str) -> None:
    functions = rk.to_trl(reward, outputs=columns)  # type: ignore[arg-type]
    with pytest.raises(rk.errors.BindingError, match="Asynchronous GRPO does not report progress"):
        loop_here(functions, size=GENERATIONS).run()


@pytest.mark.slow
def test_the_spawned_worker_scores_with_our_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reward = REWARD + RELATIVE
    spawned = worker(rk.to_trl(reward, record=tmp_path, radar="rescore"), monkeypatch)
    spawned.start()
    try:
        samples = [spawned.rollout_buffer.get(timeout=60) for _ in range(8 * GENERATIONS)]
        spawned.check_health(60)
    finally:
        spawned.stop()
    assert "grpo-rollout-worker-child" not in alive()
    assert_scored(reward, samples)
    assert not [name for sample in samples for name in sample.metrics if "radar" in name]
    run = rk.open_run(tmp_path)
    found = 'count(distinct step) filter ("foreign/total" is not null), count("foreign/own")'
    [(batches, looks, rows)] = run.sql(f"select count(distinct step), {found} from scores").fetchall()
    assert 0 < looks < batches  # the first batch has no other prompt, and the others only as time allows
    assert rows == looks * GENERATIONS
    assert run.sql("select count(*) from metrics where name = 'radar/strength'").fetchall() == [(batches,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("functions", "reason"),
    [
        (rk.to_trl(SCHEDULED), "does not report progress"),
        (rk.to_trl(REWARD, outputs="components"), 'outputs="terms")'),
    ],
    ids=["schedules", "weights"],
)
def test_a_refusal_in_the_spawned_worker_reaches_the_trainer(
    functions: Any, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned = worker(functions, monkeypatch)
    spawned.start()
    # It ends by itself; `stop` would wait for ever for a thread of the process that is gone.
    spawned._process.join(timeout=60)
    with pytest.raises(RuntimeError, match="Rollout worker child has failed") as failed:
        spawned.check_health(60)
    assert reason in str(failed.value.__cause__)
    with pytest.raises(queue.Empty):
        spawned.rollout_buffer.get(timeout=0.1)


def test_rewards_that_cannot_be_pickled_are_refused_before_the_worker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    @rk.reward
    def local(completion: str) -> float:
        return 0.0

    with pytest.raises(TypeError, match="must be picklable") as refused:
        worker(rk.to_trl(local), monkeypatch).start()
    assert "top level of a module" in str(refused.value.__cause__)
    functions = rk.to_trl(REWARD + RELATIVE)
    assert pickle.loads(pickle.dumps(functions))[0].evaluator is functions[0].evaluator
