"""Real GRPO runs: what TRL logs and trains on is what rewardkit scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.batch.column import Floats
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import RunStopped

pytest.importorskip("trl")
from tests.adapters.trl import tiny

SCHEDULE = rk.schedules.linear(0.0, 1.0)


@rk.reward
def early(completion: str) -> float:
    """The share of letters from the first half of the alphabet."""
    letters = completion.split()
    return sum(letter in "abcd" for letter in letters) / 4


@rk.reward
def echo(completion: str, prompt: str) -> float:
    return float(prompt[0] in completion)


@rk.reward(bounds=(-1.0, 1.0))
def counted(completion: str, answer: int) -> float | None:
    """Abstains on every fifth example."""
    return None if answer == 4 else 1.0 - abs(len(completion.split()) - answer) / 2


@rk.reward
def judged(completion: str) -> float:
    """A judge that refuses every text with an a."""
    if "a" in completion:
        raise rk.RewardFailure("refused")
    return completion.count("b") / 4


@rk.reward
def no_signal(completion: str) -> float:
    raise rk.RewardFailure("the judge is down")


class Recorder:
    """Stores the batches that it scores, as a monitored reward."""

    def __init__(self) -> None:
        self.batches: list[dict[str, Any]] = []

    def __call__(
        self, completion: list[str], prompt: list[str], answer: list[str], progress: rk.Progress
    ) -> list[float]:
        others = {"prompts": prompt, "answer": answer, "progress": progress}
        self.batches.append({"completions": completion, "others": others})
        return [0.0] * len(completion)

    def reward(self) -> rk.Reward:
        return rk.monitor(rk.reward(scope="batch", name="recorder")(self))

    def tables(self, reward: rk.Reward) -> list[ScoreTable]:
        """Our own scores of the same batches."""
        return [rk.score(reward, batch["completions"], **batch["others"]) for batch in self.batches]


def generations(trainer: Any, prefix: str = "") -> list[dict[str, float]]:
    """The log entries of steps that generated completions."""
    return [entry for entry in trainer.state.log_history if f"{prefix}reward" in entry]


def assert_logged(entry: dict[str, float], table: ScoreTable, prefix: str = "") -> None:
    for name, values in table.terms.items():
        assert entry[f"{prefix}rewards/{name}/mean"] == pytest.approx(np.nanmean(values), abs=1e-6)
    for name, weight in table.weights.items():
        assert entry[f"{prefix}weights/{name}"] == pytest.approx(weight)
    for name in table.components:
        assert entry[f"{prefix}components/{name}"] == pytest.approx(np.nanmean(table[name]))
    assert entry[f"{prefix}reward"] == pytest.approx(np.nanmean(table.total), abs=1e-6)


TREE = rk.gate(when=early, then=counted, threshold=0.25, otherwise=-1.0).named("worth") + 0.5 * echo + SCHEDULE * early


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "evaluations"),
    [
        ({"max_steps": 3}, 3),
        ({"max_steps": 4, "gradient_accumulation_steps": 2}, 4),
        ({"max_steps": 4, "gradient_accumulation_steps": 2, "steps_per_generation": 4}, 2),
        ({"max_steps": 2, "gradient_accumulation_steps": 2, "steps_per_generation": 1}, 4),
        ({"max_steps": 4, "num_iterations": 2}, 2),
    ],
    ids=str,
)
def test_the_log_is_our_own_table(tmp_path: Path, options: dict[str, int], evaluations: int) -> None:
    recorder = Recorder()
    trainer = tiny.trainer(tmp_path, rk.to_trl(TREE + recorder.reward()), **options)
    trainer.train()
    assert len(recorder.batches) == evaluations
    tables = recorder.tables(TREE)
    logged = generations(trainer)
    each = len(tables) // len(logged)  # generation batches within one optimizer step
    for entry, several in zip(logged, zip(*[iter(tables)] * each, strict=True), strict=True):
        if each == 1:
            assert_logged(entry, several[0])
        assert entry["reward"] == pytest.approx(np.mean([np.nanmean(table.total) for table in several]), abs=1e-6)


@pytest.mark.slow
def test_progress_is_the_optimizer_steps_of_the_run(tmp_path: Path) -> None:
    recorder = Recorder()
    functions = rk.to_trl(early + recorder.reward())
    tiny.trainer(tmp_path, functions, max_steps=4, gradient_accumulation_steps=2, steps_per_generation=4).train()
    assert [
        (batch["others"]["progress"].step, batch["others"]["progress"].max_steps) for batch in recorder.batches
    ] == [(0, 4), (2, 4)]


def test_evaluation_has_its_own_log_with_schedules_at_their_end(tmp_path: Path) -> None:
    recorder = Recorder()
    trainer = tiny.trainer(
        tmp_path,
        rk.to_trl(TREE + recorder.reward()),
        eval_rows=4,
        eval_strategy="steps",
        eval_steps=2,
        max_steps=2,
        num_generations_eval=2,
    )
    trainer.train()
    training = [batch["others"]["progress"].training for batch in recorder.batches]
    assert training == [True, True, False]
    table = recorder.tables(TREE)[-1]
    assert len(table) == 8
    (entry,) = generations(trainer, "eval_")
    assert_logged(entry, table, "eval_")
    assert entry["eval_weights/early"] == 1.0


def test_components_with_reward_weights(tmp_path: Path) -> None:
    reward = 0.7 * early + 0.3 * echo + 2.0 * counted
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), outputs="components")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights)
    trainer.train()
    for entry, table in zip(generations(trainer), recorder.tables(reward), strict=True):
        for name in ("early", "echo", "counted"):
            assert entry[f"rewards/{name}/mean"] == pytest.approx(np.nanmean(table[name]))
        assert entry["reward"] == pytest.approx(np.nanmean(table.total), abs=1e-6)


@pytest.mark.slow
def test_components_of_a_gated_tree(tmp_path: Path) -> None:
    recorder = Recorder()
    functions = rk.to_trl(TREE + recorder.reward(), outputs="components")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights)
    trainer.train()
    for entry, table in zip(generations(trainer), recorder.tables(TREE), strict=True):
        assert entry["reward"] == pytest.approx(np.nanmean(table.total), abs=1e-6)
        assert entry["rewards/total/mean"] == pytest.approx(entry["reward"], abs=1e-6)
        assert entry["rewards/worth/mean"] == pytest.approx(np.nanmean(table["worth"]))


def test_forgotten_reward_weights_stop_the_run_before_its_first_step(tmp_path: Path) -> None:
    trainer = tiny.trainer(tmp_path, rk.to_trl(0.7 * early + echo, outputs="components"))
    with pytest.raises(rk.RewardFailure, match=r"reward_weights=funcs\.reward_weights"):
        trainer.train()
    assert trainer.state.global_step == 0


def test_scheduled_weights_move_what_the_trainer_holds(tmp_path: Path) -> None:
    reward = SCHEDULE * early + 0.5 * echo
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), outputs="components")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights, max_steps=4)
    trainer.train()
    entries = generations(trainer)
    assert [entry["weights/early"] for entry in entries] == [0.0, 0.25, 0.5, 0.75]
    for entry, table in zip(entries, recorder.tables(reward), strict=True):
        assert entry["reward"] == pytest.approx(np.nanmean(table.total), abs=1e-6)
    assert trainer.reward_weights.tolist()[:2] == [0.75, 0.5]


@pytest.mark.slow
def test_a_mixed_list_trains_like_the_plain_list(tmp_path: Path) -> None:
    def length(completions: list[str], **kwargs: Any) -> list[float]:
        return [len(text) / 8 for text in completions]

    def first(completions: list[str], answer: list[str], **kwargs: Any) -> list[float | None]:
        return [None if value == "0" else float("a" in text) for text, value in zip(completions, answer, strict=True)]

    histories = []
    for functions in ([length, first], rk.to_trl([length, first])):
        trainer = tiny.trainer(tmp_path, functions)
        trainer.train()
        histories.append(trainer.state.log_history)
    for expected, entry in zip(*histories, strict=True):
        for name, value in expected.items():
            if name.startswith(("reward", "loss", "grad_norm", "entropy", "num_tokens")):
                assert entry[name] == value, name


# Advantages


def grouped(values: Floats) -> Floats:
    return values.reshape(-1, 4)


def normalized(values: Floats) -> Floats:
    """Normalize within groups of 4, as in TRL; NaN rows are left out of mean and deviation."""
    groups = grouped(values)
    mean, deviation = np.nanmean(groups, axis=1, keepdims=True), np.nanstd(groups, axis=1, keepdims=True, ddof=1)
    return np.asarray((groups - mean) / (deviation + 1e-4)).ravel()


def test_unscorable_samples_have_no_advantage_and_the_others_theirs(tmp_path: Path) -> None:
    reward = judged + 0.5 * echo
    recorder = Recorder()
    trainer = tiny.trainer(
        tmp_path, rk.to_trl(reward + recorder.reward(), limits=rk.Limits(max_failure_rate=1.0)), max_steps=1
    )
    trainer.train()
    (table,) = recorder.tables(reward)
    unscorable = np.isnan(table.total)
    assert 0 < unscorable.sum() < 7
    advantages = np.array(trainer._logs["advantages"])
    assert (advantages[unscorable] == 0.0).all()
    np.testing.assert_allclose(advantages, np.nan_to_num(normalized(table.total)), atol=1e-4)
    (entry,) = generations(trainer)
    assert entry["unscorable"] == entry["failed/judged"] == unscorable.mean()


def test_gdpo_normalizes_components_and_keeps_their_weights(tmp_path: Path) -> None:
    reward = 0.2 * early + 3.0 * counted
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), outputs="components")
    trainer = tiny.trainer(
        tmp_path,
        functions,
        reward_weights=functions.reward_weights,
        multi_objective_aggregation="normalize_then_sum",
        max_steps=1,
    )
    trainer.train()
    (table,) = recorder.tables(reward)
    parts = np.stack([0.2 * normalized(table["early"]), 3.0 * normalized(table["counted"])])
    summed = np.nansum(parts, axis=0)
    expected = (summed - summed.mean()) / (summed.std(ddof=1) + 1e-4)
    np.testing.assert_allclose(np.array(trainer._logs["advantages"]), expected, atol=1e-3)


# The completions log


@pytest.mark.slow
def test_the_completions_log_holds_every_component_and_the_reasons(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    pandas = pytest.importorskip("pandas")
    reward = judged + 0.5 * echo
    trainer = tiny.trainer(
        tmp_path,
        rk.to_trl(reward, limits=rk.Limits(max_failure_rate=1.0)),
        log_completions=True,
        num_completions_to_print=1,
    )
    trainer.train()
    written = sorted((tmp_path / "completions").glob("*.parquet"))
    assert len(written) == 3
    table = pandas.read_parquet(written[0])
    refused = table["completion"].str.contains("a")
    assert (table["notes"] == np.where(refused, "judged: refused", "")).all()
    assert (table["components/judged"].isna() == refused).all()
    assert not table["components/echo"].isna().any()


# Runs that must not go on


def test_a_bug_ends_the_run_in_its_first_batch(tmp_path: Path) -> None:
    @rk.reward
    def broken(completion: str) -> float:
        return float(completion)

    trainer = tiny.trainer(tmp_path, rk.to_trl(broken + early))
    with pytest.raises(rk.errors.RewardBug, match="'broken' raised ValueError: could not convert"):
        trainer.train()
    assert trainer.state.global_step == 0


@pytest.mark.slow
def test_the_breaker_stops_the_run_after_a_checkpoint(tmp_path: Path) -> None:
    trainer = tiny.trainer(tmp_path, rk.to_trl(no_signal + early, limits=rk.Limits(failure_window=3)), max_steps=8)
    with pytest.raises(rk.RewardFailure, match="'no_signal' failed on 24 of 24 completions in the last 3 batches"):
        trainer.train()
    assert trainer.state.global_step == 3
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-3"]


def test_the_breaker_stops_at_the_end_of_the_step_when_steps_generate_several_times(tmp_path: Path) -> None:
    functions = rk.to_trl(no_signal + early, limits=rk.Limits(failure_window=3))
    trainer = tiny.trainer(tmp_path, functions, max_steps=8, gradient_accumulation_steps=4, steps_per_generation=1)
    with pytest.raises(rk.RewardFailure, match="in the last 3 batches"):
        trainer.train()
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-1"]


@pytest.mark.slow
def test_a_run_that_the_breaker_stopped_can_be_resumed(tmp_path: Path) -> None:
    down = [True]

    @rk.reward
    def recovering(completion: str) -> float:
        if down[0]:
            raise rk.RewardFailure("the judge is down")
        return 0.5

    trainer = tiny.trainer(tmp_path, rk.to_trl(recovering + early, limits=rk.Limits(failure_window=2)), max_steps=6)
    with pytest.raises(rk.RewardFailure, match="the last 2 batches"):
        trainer.train()
    down[0] = False
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
    assert trainer.state.global_step == 6


def test_a_run_that_a_reward_stops_leaves_a_checkpoint_and_can_be_resumed(tmp_path: Path) -> None:
    asked, exhausted = Counter[int](), [True]

    @rk.reward(deterministic=False, on_failure=0.5)
    def unpaid(completion: str, progress: rk.Progress) -> float:
        asked[progress.step] += 1
        if exhausted[0] and progress.step == 1 and asked[1] > 3:  # in the middle of a batch
            raise RunStopped("the quota is exhausted")
        return 0.5

    several: dict[str, Any] = {"gradient_accumulation_steps": 2, "steps_per_generation": 1}
    trainer = tiny.trainer(tmp_path, rk.to_trl(unpaid + early), max_steps=4, **several)
    with pytest.raises(rk.RewardFailure, match="'unpaid' stops the run: the quota is exhausted"):
        trainer.train()
    assert trainer.state.global_step == 2
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-2"]
    exhausted[0] = False
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
    entries = generations(trainer)
    assert [entry.get("failed/unpaid") for entry in entries] == [None, 1.0, 0.0, 0.0]
    assert [entry["unscorable"] for entry in entries] == [0.0, 1.0, 0.0, 0.0]


def test_a_run_that_stops_in_an_evaluation_leaves_a_checkpoint(tmp_path: Path) -> None:
    @rk.reward
    def unpaid(completion: str, progress: rk.Progress) -> float:
        if not progress.training:
            raise RunStopped("the quota is exhausted")
        return 0.5

    options: dict[str, Any] = {"eval_rows": 4, "eval_strategy": "steps", "eval_steps": 2, "max_steps": 4}
    trainer = tiny.trainer(tmp_path, rk.to_trl(unpaid + early), **options)
    with pytest.raises(rk.RewardFailure, match="the quota is exhausted"):
        trainer.evaluate()  # by itself it has nothing to lose
    assert not list(tmp_path.glob("checkpoint-*"))
    with pytest.raises(rk.RewardFailure, match="the quota is exhausted"):
        trainer.train()
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-2"]


def test_a_short_burst_of_failures_does_not_stop_the_run(tmp_path: Path) -> None:
    def down(progress: rk.Progress) -> bool:
        return progress.step in (1, 2)

    @rk.reward
    def flaky(completion: str, progress: rk.Progress) -> float:
        if down(progress):
            raise rk.RewardFailure("the judge is down")
        return 0.5

    functions = rk.to_trl(flaky + early, limits=rk.Limits(failure_window=4, max_failure_rate=0.6))
    trainer = tiny.trainer(tmp_path, functions, max_steps=6)
    trainer.train()
    assert trainer.state.global_step == 6
    entries = generations(trainer)
    assert [entry.get("failed/flaky") for entry in entries] == [None, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert [entry["unscorable"] for entry in entries] == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.slow
def test_the_callback_in_a_trainer_that_passes_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rewardkit_adapters.trl.functions import RewardFunction

    call: Callable[..., Any] = RewardFunction.__call__

    def without_state(self: RewardFunction, /, **kwargs: Any) -> Any:
        del kwargs["trainer_state"]
        return call(self, **kwargs)

    monkeypatch.setattr(RewardFunction, "__call__", without_state)
    reward = SCHEDULE * early + echo
    with pytest.raises(rk.errors.BindingError, match="no trainer_state"):
        tiny.trainer(tmp_path, rk.to_trl(reward)).train()
    functions = rk.to_trl(reward)
    trainer = tiny.trainer(tmp_path, functions, callbacks=[functions.callback()], max_steps=4)
    trainer.train()
    assert [entry["weights/early"] for entry in generations(trainer)] == [0.0, 0.25, 0.5, 0.75]
