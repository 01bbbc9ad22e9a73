"""The circuit breaker stops a run without a learning signal, but not after a short burst of failures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.online.breaker import Breaker, Limits
from rewardkit.online.faults import fault_counts
from tests.adapters.trl.stand_ins import StandInTrainer, call, polite, short, unjudged

LIMITS = Limits(max_failure_rate=0.05, max_error_rate=0.1, failure_window=20)


@rk.reward
def buggy(completion: str) -> float:
    if "bug" in completion:
        raise ValueError("bug")
    return 1.0


def counts(
    evaluated: int, failed: int = 0, errored: int = 0, harmless: int = 0, unparsable: int = 0
) -> list[list[int]]:
    return [[evaluated, failed, errored, harmless, unparsable, evaluated - unparsable]]


def test_stops_once_the_window_is_full_and_the_share_above_the_limit() -> None:
    breaker = Breaker(LIMITS)
    for _ in range(19):
        assert breaker.add(counts(100, failed=100), ["judge"]) is None
    stop = breaker.add(counts(100, failed=100), ["judge"])
    assert "'judge' failed on 2,000 of 2,000 completions in the last 20 batches, more than 5%" in str(stop)


def test_the_worst_components_are_named() -> None:
    rows = [[100, 6, 0, 0, 0, 94], [50, 20, 0, 0, 0, 30], [50, 20, 0, 0, 0, 30], [100, 0, 0, 0, 0, 100]]
    breaker = Breaker(LIMITS)
    stop = [breaker.add(rows, ["one", "two", "three", "four"]) for _ in range(20)][-1]
    assert "rewards 'two', 'three' failed on 400 of 1,000 completions" in str(stop)


@pytest.mark.parametrize(
    ("failed", "errored", "stops"), [(5, 0, False), (6, 0, True), (0, 10, False), (0, 11, True), (5, 10, False)]
)
def test_exactly_the_limit_is_allowed(failed: int, errored: int, stops: bool) -> None:
    breaker = Breaker(LIMITS)
    results = [breaker.add(counts(100, failed, errored), ["judge"]) for _ in range(20)]
    assert (results[-1] is not None) == stops


@pytest.mark.parametrize(
    ("rows", "errored", "stops_at"),
    [(32, 32, 2), (64, 64, 2), (31, 31, 3), (16, 16, 4), (64, 20, 2), (64, 14, 2), (64, 10, 5), (64, 6, None)],
)
def test_bugs_stop_the_run_as_soon_as_their_rate_is_surely_above_the_limit(
    rows: int, errored: int, stops_at: int | None
) -> None:
    breaker = Breaker(LIMITS)
    stops = [batch for batch in range(1, 21) if breaker.add(counts(rows, errored=errored), ["buggy"]) is not None]
    assert stops[:1] == ([] if stops_at is None else [stops_at])


@given(st.lists(st.tuples(st.integers(0, 64), st.floats(0.0, 1.0)), max_size=19), st.floats(0.0, 1.0))
def test_fewer_batches_stop_only_above_the_limit(batches: list[tuple[int, float]], limit: float) -> None:
    breaker = Breaker(Limits(1.0, limit, 20))
    rows = errored = 0
    for number, (size, share) in enumerate(batches, start=1):
        found = round(size * share)
        rows, errored = rows + size, errored + found
        if breaker.add(counts(size, errored=found), ["buggy"]) is not None:
            assert number >= 2
            assert rows >= 64
            assert errored / rows > limit
            return


def test_bugs_at_the_limit_itself_hardly_ever_stop_a_run_early() -> None:
    drawn = np.random.default_rng(0).binomial(64, LIMITS.max_error_rate, size=(300, 19))
    stopped = 0
    for run in drawn:
        breaker = Breaker(LIMITS)
        stopped += any(breaker.add(counts(64, errored=int(errored)), ["buggy"]) is not None for errored in run)
    assert stopped <= 6  # 19 questions at 0.1 % each, which are not independent


def test_a_run_that_ends_sooner_knows_its_faults() -> None:
    breaker = Breaker(LIMITS)
    assert breaker.faults == ""
    for _ in range(19):
        breaker.add([*counts(8, failed=1), *counts(8, errored=0)], ["judge", "fine"])
    assert breaker.faults == "'judge' failed on 19 of 152 completions"
    breaker.add([*counts(8), *counts(8)], ["judge", "fine"])
    assert breaker.faults == ""


def test_a_short_burst_passes() -> None:
    breaker = Breaker(LIMITS)
    for batch in range(200):
        assert breaker.add(counts(100, failed=100 if batch == 100 else 0), ["judge"]) is None


def test_the_share_is_of_evaluated_rows_not_of_all() -> None:
    breaker = Breaker(LIMITS)
    for _ in range(19):
        breaker.add(counts(0), ["gated"])
    assert breaker.add(counts(2, failed=1), ["gated"]) is not None


def test_starts_a_new_window_after_a_stop() -> None:
    breaker = Breaker(LIMITS)
    stops = [breaker.add(counts(1, errored=1), ["broken"]) is not None for _ in range(40)]
    assert [number for number, stopped in enumerate(stops, start=1) if stopped] == [20, 40]


def test_limits_of_one_never_stop() -> None:
    breaker = Breaker(Limits(1.0, 1.0, 1))
    assert breaker.add(counts(4, failed=4), ["judge"]) is None
    assert breaker.add(counts(4, errored=4), ["judge"]) is None


def test_limits_of_zero_stop_at_the_first_fault() -> None:
    breaker = Breaker(Limits(0.0, 0.0, 1))
    assert breaker.add(counts(4), ["judge"]) is None
    assert breaker.add(counts(4, failed=1), ["judge"]) is not None


def test_counts_are_per_component() -> None:
    table = rk.score(rk.gate(when=rk.tags("answer"), then=unjudged) + buggy, ["down", "<answer>down</answer>", "a"])
    assert list(table.components) == ["tags", "unjudged", "buggy"]
    assert fault_counts(table).tolist() == [[3, 0, 0, 0, 0, 3], [1, 1, 0, 0, 0, 1], [3, 0, 0, 0, 0, 3]]


@pytest.mark.parametrize(
    "reward",
    [short + rk.monitor(unjudged), rk.fallback(unjudged, short), short + 0.0 * unjudged],
    ids=repr,
)
def test_harmless_failures_do_not_stop_the_run(reward: rk.Reward) -> None:
    functions = rk.to_trl(reward, limits=rk.Limits(failure_window=2))
    for _ in range(5):
        assert not np.isnan(call(functions, ["down", "down"])["short"]).any()


def test_failures_that_score_a_number_still_stop_the_run() -> None:
    @rk.reward(on_failure=0.0)
    def judge(completion: str) -> float:
        raise rk.RewardFailure("down")

    functions = rk.to_trl(judge + short, limits=rk.Limits(failure_window=2))
    call(functions, ["a"])
    with pytest.raises(rk.RewardFailure, match="'judge' failed on 2 of 2"):
        call(functions, ["a"])


def test_without_a_trainer_it_raises_at_once() -> None:
    functions = rk.to_trl(unjudged + short, limits=rk.Limits(failure_window=3))
    for _ in range(2):
        call(functions, ["down"])
    with pytest.raises(rk.RewardFailure, match="trains on noise"):
        call(functions, ["down"])


@pytest.mark.slow
def test_in_a_trainer_it_leaves_a_callback_that_raises_after_the_checkpoint() -> None:
    from types import SimpleNamespace

    trainer = StandInTrainer(rk.to_trl(buggy + polite, limits=rk.Limits(failure_window=3)))
    trainer.rewards(["fine", "fine"])
    for _ in range(4):
        trainer.rewards(["bug", "fine"])
    _, callback = trainer.callbacks
    control = SimpleNamespace(should_save=False)
    callback.on_step_end(None, None, control)
    assert control.should_save
    with pytest.raises(rk.errors.RewardBug, match="'buggy' errored on 2 of 6"):
        callback.on_save(None, None, control)
    # A run that is resumed with the same trainer goes on.
    control = SimpleNamespace(should_save=False)
    callback.on_step_end(None, None, control)
    assert not control.should_save
    callback.on_save(None, None, control)
    trainer.rewards(["fine", "fine"])


def test_every_rank_counts_the_faults_of_all_ranks() -> None:
    class Ranks:
        num_processes = 4
        device = "cpu"
        is_main_process = True

        def reduce(self, values: object, reduction: str) -> object:
            assert reduction == "sum"
            return values * 4  # type: ignore[operator]

    functions = rk.to_trl(unjudged + short, limits=rk.Limits(failure_window=1, max_failure_rate=0.5))
    trainer = StandInTrainer(functions)
    trainer.accelerator = Ranks()  # type: ignore[assignment]
    trainer.rewards(["down", "up", "up"])
    assert trainer.metrics()["failed/unjudged"] == pytest.approx(1 / 3)
    assert not trainer.callbacks
    trainer.rewards(["down", "down", "up"])
    assert "on 8 of 12 completions" in str(trainer.callbacks[-1]._error)


@pytest.mark.slow
def test_a_training_that_ends_sooner_says_its_faults_last(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("trl")
    from tests.adapters.trl import tiny

    @rk.reward
    def moody(completion: str, progress: rk.Progress) -> float:
        if progress.step and "a" in completion:
            raise ValueError("no a")
        return 0.5

    functions = rk.to_trl(moody + short, record=tmp_path / "run")
    trainer = tiny.trainer(tmp_path, functions)
    trainer.train()
    said = [record.getMessage() for record in caplog.records if record.name == "rewardkit"][-1]
    assert said.startswith("this training run ended before failure_window=20 batches were scored: 'moody' errored on ")
    assert said.endswith("of 24 completions")
    assert functions.faults(trainer) in said
    assert said in rk.open_run(tmp_path / "run").logs().df().message.tolist()
