"""One evaluation per batch for all functions of a list, in any number of threads, without leftovers."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.online.batch_cache import MAX_ENTRIES
from rewardkit.record.capture import MAX_KINDS
from tests.adapters.trl.stand_ins import StandInTrainer, call, plain, polite, short, unjudged, without_trainer

TEXTS = ["", "please", "a longer text, please", "no"]


class Texts(list[Any]):
    """A list that supports weak references."""


class Counted:
    """Counts its calls; each takes a moment."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.calls = 0
        self.seconds = seconds
        self.__name__ = "counted"

    def __call__(self, completion: str) -> float:
        self.calls += 1
        time.sleep(self.seconds)
        return len(completion) / 1000.0


# One evaluation


def test_all_functions_share_one_evaluation() -> None:
    counted = Counted()
    functions = rk.to_trl(rk.reward(counted) + short + polite)
    completions = list(TEXTS)
    call(functions, completions)
    assert counted.calls == len(TEXTS)
    call(functions, list(TEXTS))
    assert counted.calls == 2 * len(TEXTS)


def test_functions_called_with_lists_of_their_own_share_one_evaluation(tmp_path: Path) -> None:
    counted = Counted()
    functions = rk.to_trl(rk.reward(counted) + short + polite, record=tmp_path)
    for _ in range(2):  # two batches with equal contents are two batches
        for function in functions:
            function(
                completions=list(TEXTS), prompts=["p"] * 4, completion_ids=[[1] for _ in TEXTS], level=list("abab")
            )
    assert counted.calls == 2 * len(TEXTS)
    functions.flush()
    found = rk.open_run(tmp_path).sql("select step, count(*) from scores group by step order by step").fetchall()
    assert found == [(0, 4), (1, 4)]


@pytest.mark.parametrize("argument", ["completions", "prompts", "completion_ids", "level", "environments", "step"])
def test_another_argument_is_another_batch(argument: str) -> None:
    counted = Counted()
    functions = rk.to_trl(rk.reward(counted) + short)
    state = SimpleNamespace(global_step=0, epoch=0.0, max_steps=10, is_world_process_zero=True)
    given: dict[str, list[Any]] = {
        "completions": TEXTS,
        "prompts": ["p"] * 4,
        "completion_ids": [[1]] * 4,
        "level": list("abab"),
    }
    functions[0](**given, trainer_state=state)
    changed: dict[str, list[Any]] = {
        "completions": ["x", *TEXTS[1:]],
        "prompts": ["q"] * 4,
        "completion_ids": [[2]] * 4,
        "level": ["a"] * 4,
    }
    if argument == "step":
        state.global_step = 1
    elif argument == "environments":
        given["environments"] = [object() for _ in TEXTS]
    else:
        given[argument] = changed[argument]
    functions[1](**{name: list(values) for name, values in given.items()}, trainer_state=state)
    assert counted.calls == 2 * len(TEXTS)


def test_the_same_list_object_again_is_a_new_batch() -> None:
    counted = Counted()
    functions = rk.to_trl(rk.reward(counted) + short)
    completions = list(TEXTS)
    call(functions, completions, prompts=(prompts := ["p"] * 4), completion_ids=(ids := [[1]] * 4))
    completions[0] = "changed"
    columns = call(functions, completions, prompts=prompts, completion_ids=ids)
    assert counted.calls == 2 * len(TEXTS)
    assert columns["counted"][0] == pytest.approx(0.007)


def test_a_reader_that_reads_twice_computes_again() -> None:
    counted = Counted()
    functions = rk.to_trl(rk.reward(counted) + short)
    completions, prompts = list(TEXTS), ["p"] * 4
    functions[0](completions=completions, prompts=prompts)
    completions[0] = "changed"
    assert functions[0](completions=completions, prompts=prompts)[0] == pytest.approx(0.007)
    assert functions[1](completions=completions, prompts=prompts)[0] == pytest.approx(1 / 8)
    assert counted.calls == 2 * len(TEXTS)
    assert not functions[0].evaluator.tables._entries


def test_nothing_is_kept_after_all_functions_have_read() -> None:
    functions = rk.to_trl(short + polite + rk.from_trl(plain))
    completions, prompts = Texts(TEXTS), ["p"] * 4
    watched = weakref.ref(completions)
    for function in functions[:-1]:
        function(completions=completions, prompts=prompts)
    assert functions[0].evaluator.tables._entries
    functions[-1](completions=completions, prompts=prompts)
    del completions
    gc.collect()
    assert watched() is None


@pytest.mark.slow
def test_nothing_is_kept_of_a_batch_that_raised_and_every_function_says_why() -> None:
    @rk.reward
    def broken(completion: str) -> float:
        raise ValueError("oh")

    functions = rk.to_trl(broken + short)
    completions = Texts(TEXTS)
    watched = weakref.ref(completions)
    for function in functions:
        with pytest.raises(rk.errors.RewardBug, match="oh"):
            function(completions=completions, prompts=None)
    del completions
    gc.collect()
    assert watched() is None


def test_the_list_is_collected_with_its_last_reference() -> None:
    functions = rk.to_trl(short + polite)
    watched = weakref.ref(functions[0].evaluator)
    del functions
    assert watched() is None


def test_a_function_that_is_never_called_does_not_fill_the_memory() -> None:
    functions = rk.to_trl(short + polite)
    for _ in range(3 * MAX_ENTRIES):
        functions[0](completions=list(TEXTS), prompts=["p"] * 4)
    assert len(functions[0].evaluator.tables._entries) <= MAX_ENTRIES


# Threads, as asynchronous GRPO uses them


def test_many_batches_in_flight_in_many_threads() -> None:
    counted = Counted(seconds=0.0005)
    functions = rk.to_trl(rk.reward(counted) + short + polite + rk.from_trl(plain))
    batches = [[f"{'x' * batch} {row}" for row in range(8)] for batch in range(24)]

    async def score(batch: list[str]) -> list[list[float]]:
        keywords = {"completions": batch, "prompts": ["p"] * 8, "completion_ids": [[1]] * 8}
        return list(await asyncio.gather(*(asyncio.to_thread(function, **keywords) for function in functions)))

    async def score_all() -> list[list[list[float]]]:
        return list(await asyncio.gather(*map(score, batches)))

    for batch, columns in zip(batches, asyncio.run(score_all()), strict=True):
        lengths = [len(text) for text in batch]
        assert columns[0] == [length / 1000.0 for length in lengths]
        assert columns[1] == [1.0 / (1.0 + length) for length in lengths]
        assert columns[3] == lengths
    assert counted.calls == sum(map(len, batches))
    assert not functions[0].evaluator.tables._entries


def test_threads_that_fail_at_once_count_every_fault_and_raise_nothing_else() -> None:
    functions = rk.to_trl(unjudged + short, limits=rk.Limits(failure_window=10, max_failure_rate=1.0))

    def batch(_: int) -> int:
        columns = call(functions, ["down", "up"])
        return int(np.isnan(columns["unjudged"]).sum())

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(batch, range(200))) == 200


def test_others_wait_for_the_first_caller() -> None:
    started, release = threading.Event(), threading.Event()

    @rk.reward
    def waits(completion: str) -> float:
        started.set()
        assert release.wait(10)
        return 1.0

    functions = rk.to_trl(waits + short)
    keywords: dict[str, Any] = {"completions": ["a"], "prompts": ["p"]}
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(functions[0], **keywords)
        assert started.wait(10)
        second = pool.submit(functions[1], **keywords)
        assert not second.done()
        release.set()
        assert (first.result(10), second.result(10)) == ([1.0], [0.5])


# Progress


CURRICULUM = short * rk.schedules.linear(0.0, 1.0) + polite


@without_trainer
def test_a_schedule_follows_trainer_state() -> None:
    functions = rk.to_trl(CURRICULUM)
    for step, weight in ((0, 0.0), (5, 0.5), (10, 1.0)):
        state = SimpleNamespace(global_step=step, max_steps=10)
        assert call(functions, [""], trainer_state=state)["short"].tolist() == [weight]


@rk.reward
def by_length(completion: str) -> float:
    return len(completion) / 1000.0


@rk.reward
def by_progress(completion: str, progress: rk.Progress) -> float:
    return progress.fraction


@pytest.mark.parametrize(
    "reward",
    [
        CURRICULUM,
        rk.gate(when=short, then=by_length, threshold=rk.schedules.linear(0.0, 1.0)) + short,
        by_progress + short,
        rk.product(short, by_progress),
    ],
    ids=repr,
)
def test_without_any_progress_a_reward_that_follows_it_is_refused(reward: rk.Reward) -> None:
    functions = rk.to_trl(reward)
    with pytest.raises(rk.errors.BindingError, match=r"callbacks=\[funcs.callback\(\)\].*asynchronous GRPO"):
        functions[0](completions=["a"], prompts=["p"], completion_ids=[[1]])


@without_trainer
def test_the_callback_replaces_a_missing_trainer_state() -> None:
    functions = rk.to_trl(CURRICULUM)
    callback = functions.callback()
    state = SimpleNamespace(global_step=0, max_steps=10)
    callback.on_train_begin(None, state, None)
    assert call(functions, [""])["short"].tolist() == [0.0]
    state.global_step = 5  # the live object
    callback.on_step_begin(None, state, None)
    assert call(functions, [""])["short"].tolist() == [0.5]


def test_a_reward_without_schedules_needs_no_progress() -> None:
    assert call(rk.to_trl(short + polite), [""])["short"].tolist() == [1.0]


# Bugs of a reward


@rk.reward(bounds=(-2.0, 2.0))
def fragile(completion: str) -> float:
    if "trap" in completion:
        raise ZeroDivisionError(f"division of {completion!r}")
    return 1.0


def test_a_bug_raises_in_the_first_batch_and_later_scores_the_lowest_bound(caplog: pytest.LogCaptureFixture) -> None:
    functions = rk.to_trl(fragile + short, limits=rk.Limits(max_error_rate=1.0))
    with pytest.raises(rk.errors.RewardBug, match="'fragile' raised ZeroDivisionError"):
        call(functions, ["trap"])
    with pytest.raises(rk.errors.RewardBug):  # still the first batch: nothing has been scored yet
        call(functions, ["trap"])
    call(functions, ["fine"])
    with caplog.at_level(logging.WARNING, logger="rewardkit"):
        columns = call(functions, ["trap", "fine"])
        assert columns["fragile"].tolist() == [-2.0, 1.0]
        for number in range(98):
            call(functions, [f"trap {number}", "fine"])
    assert [record.getMessage().split(":")[0] for record in caplog.records] == [
        f"reward 'fragile' errored ({count} so far)" for count in (1, 10)
    ]
    assert "Traceback" in caplog.text


def test_errors_that_differ_only_in_values_are_one_kind_of_fault(caplog: pytest.LogCaptureFixture) -> None:
    values: Iterator[float] = iter([0.5, *(1.5 + number / 7 for number in range(50))])

    @rk.reward
    def unbounded(completion: str) -> float:
        return next(values)

    functions = rk.to_trl(unbounded)
    for _ in range(19):
        call(functions, ["x"])
    assert len(caplog.records) == 2  # the first and the tenth


def test_reasons_that_quote_completions_do_not_pile_up(caplog: pytest.LogCaptureFixture) -> None:
    @rk.reward
    def quotes(completion: str) -> float:
        raise rk.RewardFailure(f"no verdict on {completion}")

    functions = rk.to_trl(quotes, limits=rk.Limits(max_failure_rate=1.0))
    for number in range(2 * MAX_KINDS):
        call(functions, ["".join(chr(ord("a") + int(digit)) for digit in str(number))])
    faults = functions[0].evaluator._faults
    assert len(faults._counts) <= MAX_KINDS + 1


def test_an_evaluation_before_training_does_not_count_as_the_first_batch() -> None:
    functions = rk.to_trl(fragile + short)
    trainer = StandInTrainer(functions, training=False)
    trainer.rewards(["fine"])
    trainer.model.training = True
    with pytest.raises(rk.errors.RewardBug, match="ZeroDivisionError"):
        trainer.rewards(["trap"])
    trainer.rewards(["fine"])
    assert trainer.rewards(["trap"]).tolist() == pytest.approx([-2.0 + 0.2])


def test_another_training_has_its_own_first_batch() -> None:
    functions = rk.to_trl(fragile + short)
    StandInTrainer(functions).rewards(["fine"])
    with pytest.raises(rk.errors.RewardBug, match="ZeroDivisionError"):
        StandInTrainer(functions).rewards(["trap"])


# Logs


@rk.reward
def sometimes(completion: str) -> float | None:
    return None if "skip" in completion else 1.0


@rk.reward
def asks(completion: str) -> float:
    return float("please" in completion)


LOGGED = rk.gate(when=rk.tags("answer"), then=asks).named("form") + 0.5 * rk.tags("answer") + sometimes


def test_logs_raw_means_weights_gates_and_the_share_of_unscorable_rows() -> None:
    functions = rk.to_trl(LOGGED)
    trainer = StandInTrainer(functions)
    trainer.rewards(["<answer>please</answer>", "<answer>now</answer>", "please", "skip"])
    logged = trainer.metrics()
    assert logged == {
        "components/form": 0.25,
        "components/tags": 0.5,
        "components/asks": 0.5,
        "components/sometimes": 1.0,
        "weights/asks": 1.0,
        "weights/tags": 0.5,
        "weights/sometimes": 1.0,
        "gates/form": 0.5,
        # Two groups of two: the answer decides the first, whether it is skipped the second.
        "advantage_share/asks": 0.5,
        "advantage_share/tags": 0.0,
        "advantage_share/sometimes": 0.5,
        "skipped/asks": 0.5,
        "abstained/sometimes": 0.25,
        "unscorable": 0.0,
        "radar/strength": 0.0,
    }


def test_raw_means_leave_out_rows_without_a_score() -> None:
    @rk.reward
    def picky(completion: str) -> float:
        if "bug" in completion:
            raise ValueError("a bug")
        if "outage" in completion:
            raise rk.RewardFailure("an outage")
        return 0.75

    tags = rk.tags("answer")
    trainer = StandInTrainer(rk.to_trl(0.25 * tags + rk.gate(when=tags, then=picky)))
    texts = ["scored", "scored", "scored", "scored", "scored", "outage"]
    trainer.rewards([f"<answer>{text}</answer>" for text in texts])  # a bug in the first batch stops a training
    rewards = trainer.rewards_per_function([*(f"<answer>{text}</answer>" for text in (*texts, "bug")), "skipped"])
    np.testing.assert_array_equal(rewards[:, 1], [0.75, 0.75, 0.75, 0.75, 0.75, np.nan, 0.0, 0.0])
    assert trainer.metrics()["components/picky"] == 0.75


def test_the_completions_log_has_the_same_columns_in_every_batch() -> None:
    trainer = StandInTrainer(rk.to_trl(LOGGED))
    columns = []
    for batch in (["skip"], ["<answer>please</answer>", "no"], ["please"] * 4):
        trainer.rewards(batch)
        logged = trainer.extras()
        assert {len(values) for values in logged.values()} == {len(batch)}
        columns.append(list(logged))
    assert columns[0] == columns[1] == columns[2]
    assert set(columns[0]) == {f"components/{name}" for name in ("form", "tags", "asks", "sometimes")} | {"notes"}


def test_the_completions_log_says_why() -> None:
    trainer = StandInTrainer(rk.to_trl(unjudged + sometimes))
    trainer.rewards(["down", "skip"])
    assert trainer.extras() == {
        "components/unjudged": [None, 0.5],
        "components/sometimes": [1.0, None],
        "notes": ["unjudged: the judge is down", ""],
    }


def test_shares_of_faults_are_averaged_over_all_batches_since_the_first_fault() -> None:
    trainer = StandInTrainer(rk.to_trl(unjudged + fragile, limits=rk.Limits(max_failure_rate=1.0, max_error_rate=1.0)))
    trainer.rewards(["up", "fine"])
    assert not {name for name in trainer.metrics() if name.startswith(("failed", "errored"))}
    trainer.rewards(["down", "trap"])
    for _ in range(3):
        trainer.rewards(["up", "fine"])
    logged = trainer.metrics()
    assert logged["failed/unjudged"] == logged["errored/fragile"] == 0.5 / 4
    assert logged["unscorable"] == 0.5 / 4


def test_logs_can_be_turned_off() -> None:
    trainer = StandInTrainer(rk.to_trl(LOGGED, logs=False))
    trainer.rewards(["please"])
    assert not trainer.metrics()
    assert not trainer.extras()


def test_extras_that_are_not_printed_are_not_collected() -> None:
    trainer = StandInTrainer(rk.to_trl(LOGGED))
    trainer.log_completions = False
    trainer.rewards(["please"])
    assert trainer.extras() == {}
    assert trainer.metrics()
