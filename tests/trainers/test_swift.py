"""ms-swift's own scoring and advantages with `rk.to_swift`: the same totals, and failed rows are no learning signal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import rewardkit as rk
from tests.trainers import training_swift
from tests.trainers.reward import agrees, expected, reward, rows

from swift.rewards import ORM, orms  # isort: skip
from swift.rl_core.advantage import compute_advantages  # isort: skip
from swift.rl_core.data import GRPOSample  # isort: skip
from swift.rl_core.grpo_algorithm import compute_rewards_per_func  # isort: skip

TABLE = [1.0, None, 0.0, 0.0]
SCALES = {
    "group": [1.414, 0.0, -0.707, -0.707],
    "none": [0.667, 0.0, -0.333, -0.333],
    "batch": [1.414, 0.0, -0.707, -0.707],
    "gdpo": [1.414, 0.0, -0.707, -0.707],
}


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    before = dict(orms)
    yield
    orms.clear()
    orms.update(before)


def arguments(num_generations: int, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(num_generations=num_generations, num_generations_eval=None, scale_rewards="group", **more)


def samples(completions: Sequence[str], golds: Sequence[Any], group: int) -> list[GRPOSample]:
    return [
        GRPOSample(
            messages=[{"role": "user", "content": f"prompt {row // group}"}, {"role": "assistant", "content": text}],
            prompt_id=f"prompt_{row // group}",
            request_id=f"request_{row}",
            extra={"answer": gold},
        )
        for row, (text, gold) in enumerate(zip(completions, golds, strict=True))
    ]


def rewards(names: Sequence[str], given: list[GRPOSample], args: Any, state: Any = None) -> torch.Tensor:
    functions = [orms[name](args=args) for name in names]
    found: torch.Tensor = compute_rewards_per_func(
        given, functions, [None] * len(names), torch.device("cpu"), trainer_state=state
    )
    return found


@rk.reward
def judged(completion: str) -> float:
    """Fail on a question mark, else read the number."""
    if completion == "?":
        raise rk.RewardFailure("the judge is down")
    return float(completion)


@rk.reward
def even(completion: str) -> float | None:
    """Abstain on zeros."""
    return None if completion.startswith("0") else 1.0


def advantages(names: Sequence[str], completions: Sequence[str], scale: str = "group", **more: Any) -> list[float]:
    args = arguments(len(completions), **more)
    args.scale_rewards = scale
    found = rewards(names, samples(completions, completions, len(completions)), args)
    values, _ = compute_advantages(found, torch.ones(len(names)), len(completions), scale_rewards=scale, **more)
    return [round(value, 3) for value in values.tolist()]


def test_totals_are_those_of_score() -> None:
    given = rows()
    args = arguments(4)
    names = rk.to_swift(reward, limits=rk.Limits(max_failure_rate=0.5))
    texts, golds = zip(*given, strict=True)
    found = rewards(names, samples(texts, golds, 4), args)
    totals = expected(given)
    sums = found.to(torch.float64).nansum(dim=1).numpy()
    scored = ~np.isnan(totals)
    assert 100 < (~scored).sum() < 2_000
    # ms-swift adds terms in float32; each term is that of rk.score, rounded once.
    table = rk.score(reward, texts, answer=golds)
    for place, name in enumerate(names):
        own = [None if value != value else value for value in found[:, place].tolist()]
        pairs = zip(np.array(own, dtype=object)[scored], table.terms[name][scored], strict=True)
        assert all(agrees(one, total, single=True) for one, total in pairs)
    np.testing.assert_allclose(sums[scored], totals[scored], atol=1e-6)
    for start in np.flatnonzero(~scored) // 4 * 4:
        group, known = slice(start, start + 4), scored[start : start + 4]
        if known.any():
            np.testing.assert_allclose(sums[group][~known], totals[group][known].mean(), atol=1e-6)
    values, _ = compute_advantages(found, torch.ones(len(names)), 4)
    assert values.isfinite().all()
    assert values[torch.tensor(~scored)].abs().max() < 5e-3  # 1e-8 of float32 over 1e-4, which ms-swift adds to the std


@pytest.mark.parametrize("scale", SCALES)
def test_a_failed_row_is_no_signal(scale: str) -> None:
    names = rk.to_swift(judged)
    assert advantages(names, ["1", "?", "0", "0"], scale) == pytest.approx(SCALES[scale], abs=2e-3)


@pytest.mark.parametrize("estimator", ["grpo", "rloo", "reinforce_plus_plus"])
def test_a_failed_row_is_no_signal_in_any_estimator(estimator: str) -> None:
    names = rk.to_swift(judged + even)
    assert advantages(names, ["1", "?", "0", "0"], advantage_estimator=estimator)[1] == 0.0


@pytest.mark.parametrize("scale", SCALES)
def test_terms_that_abstain_keep_the_mean_of_the_others(scale: str) -> None:
    names = rk.to_swift(judged + even)
    found = advantages(names, ["1", "?", "0", ".5"], scale)
    assert found[1] == pytest.approx(0.0, abs=2e-3)
    assert sum(found) == pytest.approx(0.0, abs=5e-3)


def test_a_prompt_without_any_score_is_no_signal() -> None:
    names = rk.to_swift(judged)
    found = rewards(names, samples(["?", "?", "1", "0"], ["", "", "", ""], 2), arguments(2))
    values, _ = compute_advantages(found, torch.ones(1), 2)
    assert values[:2].tolist() == [0.0, 0.0]
    assert found[:2].flatten().tolist() == [0.5, 0.5]
    assert rewards(names, samples(["?", "?"], ["", ""], 2), arguments(2)).flatten().tolist() == [0.0, 0.0]


def test_what_ms_swift_itself_makes_of_none() -> None:
    class Plain(ORM):
        def __call__(self, completions: list[str], **_: Any) -> list[float | None]:
            return list(TABLE)

    given = samples(["1", "?", "0", "0"], TABLE, 4)
    found = compute_rewards_per_func(given, [Plain()], [None], torch.device("cpu"))
    values, _ = compute_advantages(found, torch.ones(1), 4)
    assert [round(value, 1) for value in values.tolist()] == [1.5, -0.5, -0.5, -0.5]


def test_part_of_a_group_stops_the_run() -> None:
    names = rk.to_swift(judged)
    given = samples(["1", "?", "0", "0"], TABLE, 4)
    with pytest.raises(rk.RewardFailure, match="multiple of num_generations"):
        rewards(names, given, arguments(8))
    assert rewards(names, [given[0], given[2]], arguments(8)).flatten().tolist() == [1.0, 0.0]


def test_groups_and_schedules() -> None:
    ranked = rk.rank_in_group(rk.length.between(1, 3, unit="characters")).named("ranked")
    scheduled = rk.schedules.linear(0.0, 1.0) * judged
    names = rk.to_swift([ranked, scheduled])
    given = samples(["1", "1", "0", "0000"], TABLE, 4)
    state = SimpleNamespace(global_step=5, max_steps=10)
    found = rewards(names, given, arguments(4), state)
    assert found[:, names.index("judged")].tolist() == [0.5, 0.5, 0.0, 0.0]
    with pytest.raises(rk.RewardFailure, match="only a part"):
        rewards(names, given[:3], arguments(4), state)
    with pytest.raises(rk.RewardDefinitionError, match="trainer_state"):
        rewards(names, given, arguments(4))


def test_one_row_is_not_broadcast() -> None:
    names = rk.to_swift(judged)
    assert rewards(names, samples(["1"], ["1"], 1), arguments(1)).tolist() == [[1.0]]


def test_names_of_ms_swift_are_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="already has a reward function"):
        rk.to_swift(judged.named("accuracy"))


def test_a_real_training(tmp_path: Path) -> None:
    script = Path(training_swift.__file__)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    run = subprocess.run([sys.executable, str(script), str(tmp_path)], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2_000:] + run.stderr[-2_000:]
    lines = training_swift.logged(tmp_path)
    steps = [line for line in lines if "rewards/digits/mean" in line]
    assert len(steps) == training_swift.STEPS
    rewards = [float(line["reward"]) for line in steps]
    assert np.mean(rewards[-5:]) > np.mean(rewards[:5]) + 0.2
    components = {"components/digits", "components/judged", "components/varied", "components/markers", "unscorable"}
    assert all(components <= line.keys() for line in steps)
    assert max(float(line["unscorable"]) for line in steps) > 0
    assert all(float(line["components/markers"]) == 0 for line in steps)
    evaluations = [line for line in lines if "eval_reward" in line]
    assert len(evaluations) == 2
    assert all(f"eval_{name}" in line for line in evaluations for name in components)
    recorded = rk.open_run(tmp_path / "run")
    means = recorded.scores().aggregate('step, count(*), avg("components/digits")', "step").order("step")
    found = means.fetchall()
    assert [step for step, _, _ in found] == list(range(training_swift.STEPS))
    assert {count for _, count, _ in found} == {16}
    for (_, _, digits), line in zip(found, steps, strict=True):
        assert digits == pytest.approx(float(line["components/digits"]), abs=1e-3)
    assert len(recorded.scores(training=False).fetchall()) == 64
