"""Guard rails: what they see, when they act, and that they act in a real training."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

import rewardkit as rk
from rewardkit_adapters.trl.guard_callback import Watch
from rewardkit_adapters.trl.guards import GuardConfig


def watched(guard: GuardConfig, values: list[float], name: str) -> list[bool]:
    """Return for each step whether the limit is crossed after it."""
    watch = Watch(guard)
    crossed = []
    for step, value in enumerate(values, 1):
        watch.look({name: value, "reward": 0.0}, step, 0)
        crossed.append(watch.crossed)
    return crossed


numbers = st.lists(st.floats(-2.0, 2.0), max_size=12)
guards = st.builds(
    GuardConfig,
    watch=st.sampled_from(["kl", "length"]),
    above=st.floats(-1.0, 2.0),
    window=st.integers(1, 4),
    after=st.integers(0, 3),
)


@given(guards, numbers)
def test_the_mean_of_a_full_window_is_compared_with_the_limit(guard: GuardConfig, values: list[float]) -> None:
    name = {"length": "completions/mean_length"}.get(guard.watch, guard.watch)
    first: float | None = None
    expected = []
    for step in range(1, len(values) + 1):
        seen = values[guard.after : step][-guard.window :]
        crossed = False
        if len(seen) == guard.window:
            mean = sum(seen) / guard.window
            if guard.watch == "length":
                first = mean if first is None else first
                mean = mean / first if first else 1.0
            assert guard.above is not None
            crossed = mean > guard.above
        expected.append(crossed)
    assert watched(guard, values, name) == expected


@given(guards, numbers, st.integers(0, 12))
def test_a_guard_that_is_saved_and_restored_decides_the_same(guard: GuardConfig, values: list[float], cut: int) -> None:
    name = {"length": "completions/mean_length"}.get(guard.watch, guard.watch)
    watch, begun, crossed = Watch(guard), 0, []
    for step, value in enumerate(values, 1):
        if step == cut + 1:
            saved = json.loads(json.dumps(watch.saved()))
            watch, begun = Watch(guard), cut
            watch.restore(saved)
        watch.look({name: value}, step, begun)
        crossed.append(watch.crossed)
    if cut >= guard.after + 1:  # before that nothing was watched, and its window begins where the process did
        assert crossed == watched(guard, values, name)


def test_failures_and_errors_add_up_and_the_worst_counts() -> None:
    logs = {"reward": 1.0, "failed/judge": 0.1, "errored/judge": 0.2, "failed/tests": 0.25}
    for component, crossed in ((None, True), ("judge", True), ("tests", False), ("other", False)):
        watch = Watch(GuardConfig(watch="failure_rate", above=0.28, window=1, component=component))
        watch.look(logs, 1, 0)
        assert watch.crossed is crossed, component


def test_a_monitor_is_watched_by_its_name() -> None:
    assert watched(GuardConfig(watch="truth", below=0.5, window=2), [0.9, 0.3, 0.1, 0.9], "components/truth") == [
        False, False, True, False,
    ]  # fmt: skip


def test_logs_of_several_steps_count_as_many() -> None:
    watch = Watch(GuardConfig(watch="kl", above=0.5, window=20))
    watch.look({"kl": 1.0}, 10, 0)
    assert not watch.crossed
    watch.look({"kl": 1.0}, 20, 0)
    assert watch.crossed


def test_the_total_is_the_reward_of_the_trainer_and_missing_values_are_skipped() -> None:
    nan = float("nan")
    guard = GuardConfig(watch="total", below=0.5, window=2)
    total = Watch(guard)
    crossed = []
    for step, value in enumerate([0.9, 0.2, nan, 0.1, nan, nan], 1):
        total.look({"reward": value}, step, 0)
        crossed.append(total.crossed)
    assert crossed == [False, False, False, True, True, True]
    watch = Watch(GuardConfig(watch="kl", above=0.5, window=2))
    for step, kl in enumerate((0.1, nan, nan, nan), 1):
        watch.look({"kl": kl, "reward": 0.0}, step, 0)
    watch.look({"loss": 0.0}, 5, 0)  # of a step that generated nothing
    assert watch.missed == 3
    watch.look({"kl": 0.1, "reward": 0.0}, 6, 0)
    assert watch.missed == 0


@pytest.mark.parametrize("clipped", [True, False])
def test_half_precision_is_frozen_too(clipped: bool) -> None:
    """A gradient scaler refuses to step before it has seen gradients; clipping shows them to it."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("trl")
    from rewardkit_adapters.trl.guard_callback import drop_gradients

    class Scaled:
        """As accelerate wraps an optimizer."""

        def __init__(self) -> None:
            self.weight = torch.nn.Parameter(torch.ones(3))
            self.optimizer = torch.optim.AdamW([self.weight], lr=0.1, weight_decay=0.1)
            self.scaler = torch.amp.GradScaler("cpu")

        def zero_grad(self) -> None:
            self.optimizer.zero_grad()

    wrapped = Scaled()
    for frozen in (False, True, True):
        before = wrapped.weight.detach().clone()
        wrapped.scaler.scale(wrapped.weight.sum()).backward()
        if clipped:
            wrapped.scaler.unscale_(wrapped.optimizer)
        if frozen:
            drop_gradients(wrapped)
        wrapped.scaler.step(wrapped.optimizer)
        wrapped.scaler.update()
        assert torch.equal(before, wrapped.weight) is frozen


@pytest.mark.parametrize(
    "given",
    [
        {"watch": "kl"},
        {"watch": "kl", "above": 1.0, "below": 0.0},
        {"watch": "kl", "above": 1.0, "window": 0},
        {"watch": "kl", "above": 1.0, "action": "explode"},
        {"watch": "kl", "above": float("nan")},
        {"watch": "kl", "abvoe": 1.0},
        {"watch": "kl", "above": 1.0, "component": "judge"},
    ],
)
def test_a_guard_with_missing_or_extra_settings_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GuardConfig(**given)


def run(out: Path, guard: GuardConfig, *, plan: Any = None, resume: str | None = None, **options: Any) -> Any:
    """Run a real training with a guard; return its trainer, with the error that stopped it."""
    pytest.importorskip("trl")
    from rewardkit_adapters.trl.guards import GuardCallback
    from tests.adapters.trl import tiny
    from tests.adapters.trl.test_training import early, echo

    functions = rk.to_trl(early + 0.5 * echo, record=out / "run")
    told: list[str] = []
    callbacks = [GuardCallback([guard], functions, tell=told.append), functions.callback(), *([plan] if plan else [])]
    trainer = tiny.trainer(out, functions, callbacks=callbacks, **options)
    trainer.told, trainer.error = told, None
    try:
        trainer.train(resume_from_checkpoint=resume)
    except rk.RewardFailure as error:
        trainer.error = str(error)
    functions.flush()
    return trainer


def snapshots(out: Path) -> Any:
    """A callback that stores the weights and the momentum of the optimizer after every step."""
    from transformers import TrainerCallback

    class Snapshots(TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.weights: dict[int, list[Any]] = {}
            self.momentum: dict[int, list[Any]] = {}
            self.at: dict[int, Any] = {}

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            step = state.global_step
            self.weights[step] = [one.detach().clone() for one in kwargs["model"].parameters()]
            held = kwargs["optimizer"].state.values()
            self.momentum[step] = [one["exp_avg"].clone() for one in held if "exp_avg" in one]
            if step in self.at:
                self.at[step]()

    return Snapshots()


def same(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(
        bool((one == other).all()) for one, other in zip(first, second, strict=True)
    )


@pytest.mark.slow
def test_a_frozen_policy_does_not_move_until_another_version_arrives(tmp_path: Path) -> None:
    plan = snapshots(tmp_path)
    plan.at[5] = lambda: rk.update_config(tmp_path / "run", weights={"echo": 0.25})
    guard = GuardConfig(watch="early", above=-1.0, window=2, action="freeze")
    trainer = run(tmp_path, guard, plan=plan, max_steps=9, weight_decay=0.1)
    moved = [not same(plan.weights[step], plan.weights[step - 1]) for step in range(2, 10)]
    #        2     3      4      5      6 (new)  7     8      9
    assert moved == [True, False, False, False, True, True, False, False]
    assert same(plan.momentum[2], plan.momentum[5])
    assert not same(plan.momentum[5], plan.momentum[6])
    run_ = rk.open_run(tmp_path / "run")
    assert run_.steps == list(range(9))  # it generated and scored all the while
    assert [text for (text,) in run_.sql("select message from logs where level = 'warning'").fetchall()] == [
        text for text in trainer.told if "early above -1" in text
    ]
    assert len(trainer.told) == 2


@pytest.mark.slow
def test_a_stop_leaves_a_checkpoint_and_the_reason(tmp_path: Path, caplog: Any) -> None:
    guard = GuardConfig(watch="reward", above=-1.0, window=3, action="stop")
    trainer = run(tmp_path, guard, max_steps=9)
    assert trainer.state.global_step == 3
    assert "a guard stopped this run after step 3: reward above -1" in trainer.error
    assert (tmp_path / "checkpoint-3").is_dir()
    # The resumed run gets a full window, and then stops again.
    again = run(tmp_path, guard, max_steps=9, resume=str(tmp_path / "checkpoint-3"))
    assert again.state.global_step == 6


@pytest.mark.slow
def test_crossing_the_limit_is_logged_once(tmp_path: Path, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="rewardkit"):
        run(tmp_path, GuardConfig(watch="learning_rate", below=0.0006, window=1), max_steps=9)
    said = [record.getMessage() for record in caplog.records if "guard" in record.getMessage()]
    assert len(said) == 1
    assert "learning_rate below 0.0006" in said[0]


@pytest.mark.slow
def test_a_guard_that_can_never_act_is_an_error_or_a_warning(tmp_path: Path, caplog: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"beta=0\.0"):
        run(tmp_path / "kl", GuardConfig(watch="kl", above=0.1))
    with pytest.raises(rk.RewardDefinitionError, match="Did you mean 'echo'"):
        run(tmp_path / "who", GuardConfig(watch="failure_rate", component="ehco", above=0.1))
    with pytest.raises(rk.RewardDefinitionError, match=r"logs no 'entrpoy'.*Did you mean 'entropy'.*failure_rate"):
        run(tmp_path / "name", GuardConfig(watch="entrpoy", above=0.1, window=20), steps_per_generation=2)
    # A share of errors is logged only from the first error on, so this is not a mistake.
    run(tmp_path / "later", GuardConfig(watch="errored/early", above=0.1, window=2))
    said = [record.getMessage() for record in caplog.records if "this guard does nothing" in record.getMessage()]
    assert len(said) == 1


@pytest.mark.slow
def test_a_frozen_training_that_is_resumed_stays_frozen_until_another_reward_has_scored(tmp_path: Path) -> None:
    """Also if the guard is called before the reward, and with a second guard; old completions do not train."""
    from rewardkit_adapters.trl.guards import GuardCallback
    from tests.adapters.live.rewards import OTHERS
    from tests.adapters.live.updated import asked
    from tests.adapters.trl import tiny
    from tests.adapters.trl.test_training import early, echo

    freeze = GuardConfig(watch="early", above=-1.0, window=4, action="freeze")
    options: dict[str, Any] = {"save_strategy": "steps", "save_steps": 8, "steps_per_generation": 2, "max_steps": 12}

    def trained(plan: Any, resume: str | None) -> list[bool]:
        functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
        guards = [
            GuardCallback([guard], functions)
            for guard in (freeze, GuardConfig(watch="failure_rate", component="echo", above=0.5))
        ]
        trainer = tiny.trainer(tmp_path, functions, callbacks=[*guards, functions.callback(), plan], **options)
        trainer.train(resume_from_checkpoint=resume)
        functions.flush()
        kept = sorted(plan.weights)
        return [not same(plan.weights[one], plan.weights[one - 1]) for one in kept[1:]]

    first = snapshots(tmp_path)
    first.at[1] = asked(tmp_path, "others", OTHERS)
    first.at[9] = lambda: rk.update_config(tmp_path / "run", weights={"late": 1.0})
    moved = trained(first, None)
    # Steps 2 to 12. The window is full after step 7; the update of step 9 scores what step 11 trains on.
    assert moved == [True] * 6 + [False] * 3 + [True] * 2
    again = snapshots(tmp_path)
    assert trained(again, str(tmp_path / "checkpoint-8")) == [False, True, True]
    assert same(again.weights[12], first.weights[12])
