"""The sums of a batch and what is logged of them; test_ranks.py tests real processes."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit_adapters.trl.tally import Tally
from tests.adapters.trl.stand_ins import StandInTrainer, call

pytest.importorskip("trl")


@rk.reward
def length(completion: str) -> float:
    return len(completion) / 10


@rk.reward
def polite(completion: str) -> float | None:
    return None if completion == "?" else float("please" in completion)


@rk.reward
def judged(completion: str) -> float:
    if "down" in completion:
        raise rk.RewardFailure("the judge is down")
    return 0.5


REWARD = rk.gate(when=length, then=judged, threshold=0.3) + 0.5 * polite
COMPLETIONS = ["please", "a", "?", "down", "pleased", "aa", "b", "downs"]


def tally(start: int, stop: int) -> Tally:
    table = rk.score(REWARD, COMPLETIONS[start:stop])
    return Tally.of(table, table.terms, np.arange(stop - start) // 4, "group")


def test_two_halves_add_up_to_the_whole() -> None:
    first, second, whole = tally(0, 4), tally(4, 8), tally(0, 8)
    both = first.summed(lambda flat: flat + np.concatenate([values.ravel() for values in vars(second).values()]))
    for name, values in vars(whole).items():
        np.testing.assert_allclose(getattr(both, name), values, atol=1e-12, err_msg=name)


def test_the_numbers_of_one_batch() -> None:
    whole = tally(0, 8)
    table = rk.score(REWARD, COMPLETIONS)
    assert list(table.components) == ["length", "judged", "polite"]
    assert whole.rows.tolist() == [8, 2]
    assert whole.faults.tolist() == [[8, 0, 0, 0, 0, 8], [4, 2, 0, 0, 0, 4], [8, 0, 0, 0, 0, 7]]
    assert whole.absent.tolist() == [[0, 0], [0, 4], [1, 0]]
    assert whole.gates.tolist() == [[8, 4]]
    np.testing.assert_allclose(whole.sums[1], [2, 1.0])
    np.testing.assert_allclose(whole.contributions, [np.nansum(term) for term in table.terms.values()])


def test_the_log_of_components_has_the_contribution_of_each() -> None:
    functions = rk.to_trl(0.5 * length + 2.0 * polite, outputs="components")
    trainer = StandInTrainer(functions, reward_weights=functions.reward_weights)
    totals = trainer.rewards(["please", "aa", "?", "bbbb"])
    logged = trainer.metrics()
    assert logged["contributions/length"] == pytest.approx(0.5 * (0.6 + 0.2 + 0.1 + 0.4) / 4)
    assert logged["contributions/polite"] == pytest.approx(2.0 / 4)
    assert logged["contributions/length"] + logged["contributions/polite"] == pytest.approx(totals.mean())
    assert logged["abstained/polite"] == 0.25
    assert logged["advantage_share/length"] + logged["advantage_share/polite"] == pytest.approx(1.0)


def test_a_term_that_is_equal_for_all_causes_no_variance() -> None:
    trainer = StandInTrainer(rk.to_trl(length + rk.contains(start="a")))
    trainer.rewards(["a", "aaa", "ab", "abcd"])
    logged = trainer.metrics()
    assert logged["advantage_share/length"] == pytest.approx(1.0)
    assert logged["advantage_share/contains"] == pytest.approx(0.0)
    trainer.rewards(["a", "a", "bb", "bb"])
    assert not [name for name in trainer.metrics() if name.startswith("advantage_share")]


def test_thresholds_and_stages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    reward = rk.curriculum(
        [
            rk.Stage("short", length, until=0.5),
            rk.Stage("kind", rk.gate(length, polite, threshold=rk.schedules.linear(0.0, 0.4)) + 0.1 * length),
        ]
    )
    trainer = StandInTrainer(rk.to_trl(reward))
    logs = []
    with caplog.at_level(logging.INFO, logger="rewardkit"):
        for step in (0, 4, 5, 9):
            trainer.state.global_step = step
            trainer.rewards(["please", "a"])
            logs.append(trainer.metrics())
    assert [logged["stage/curriculum"] for logged in logs] == [1.0, 1.0, 2.0, 2.0]
    assert [logged["threshold/length_gate"] for logged in logs] == pytest.approx([0.0, 0.16, 0.2, 0.36])
    assert [record.getMessage() for record in caplog.records] == [
        "curriculum: moved from stage 'short' to 'kind' at step 5"
    ]


class TwoProcesses:
    """The main process of two with equal batches: everything gathered is there twice."""

    num_processes = 2
    process_index = 1
    is_main_process = True
    device = "cpu"

    def reduce(self, values: Any, reduction: str) -> Any:
        return values * 2


def twice(monkeypatch: pytest.MonkeyPatch) -> None:
    import accelerate.utils

    monkeypatch.setattr(accelerate.utils, "gather_object", lambda objects: objects * 2)


def test_functions_of_trl_log_the_rows_of_their_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def noting(completions: list[str], log_extra: Any, **kwargs: Any) -> list[float]:
        log_extra("place", list(range(len(completions))))
        return [0.0] * len(completions)

    twice(monkeypatch)
    trainer = StandInTrainer(rk.to_trl([rk.rank_in_group(length), noting]), num_generations=4)
    trainer.accelerator = TwoProcesses()  # type: ignore[assignment]
    assert trainer.rewards(["a", "bb"]).tolist() == pytest.approx([1 / 6, 5 / 6])
    assert trainer.extras()["place"] == [2, 3]
    assert trainer.metrics()["components/length"] == pytest.approx(0.15)


def test_columns_that_cannot_be_sent_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsendable(objects: Any) -> Any:
        raise TypeError("cannot pickle '_thread.lock' object")

    import accelerate.utils

    monkeypatch.setattr(accelerate.utils, "gather_object", unsendable)
    trainer = StandInTrainer(rk.to_trl(rk.rank_in_group(length) + length), num_generations=4)
    trainer.accelerator = TwoProcesses()  # type: ignore[assignment]
    with pytest.raises(
        rk.errors.BindingError, match=r"cannot be sent from one process to another: cannot pickle '_thread\.lock'"
    ):
        trainer.rewards(["a", "bb"])


def test_without_other_processes_part_of_a_group_is_refused() -> None:
    trainer = StandInTrainer(rk.to_trl(rk.rank_in_group(length) + length), num_generations=4)
    with pytest.raises(rk.errors.BindingError, match="this process received 2"):
        trainer.rewards(["a", "bb"])


def test_one_of_several_processes_needs_a_trainer_to_reach_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    for reward in (rk.rank_in_group(length), length * rk.schedules.when_reached("length") + polite):
        with pytest.raises(rk.errors.BindingError, match="does not pass log_metric"):
            call(rk.to_trl(reward), ["a", "bb"])
    assert call(rk.to_trl(length), ["a", "bb"])["length"].tolist() == [0.1, 0.2]


def test_all_processes_raise_the_error_of_the_main_process(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    import accelerate.utils

    @rk.reward
    def broken(completion: str) -> float:
        raise KeyError("no such thing")

    twice(monkeypatch)
    monkeypatch.setattr(accelerate.utils, "broadcast_object_list", sent.append)
    trainer = StandInTrainer(rk.to_trl(rk.rank_in_group(broken)), num_generations=4)
    trainer.accelerator = TwoProcesses()  # type: ignore[assignment]
    with pytest.raises(rk.errors.RewardBug, match="'broken' raised KeyError"):
        trainer.rewards(["a", "bb"])
    ((result, failure),) = sent
    assert result is None
    assert isinstance(failure, rk.RewardFailure)
    assert "on the main process: reward 'broken' raised KeyError" in str(failure)


def test_errored_rows_count_for_schedules_with_their_lowest_bound() -> None:
    @rk.reward(on_error=0.0)
    def fragile(completion: str) -> float:
        if "!" in completion:
            raise ValueError("a bug")
        return 1.0

    functions = rk.to_trl(fragile + length * rk.schedules.when_reached("fragile", level=0.5, window=1))
    trainer = StandInTrainer(functions)
    trainer.rewards(["a", "!", "!", "!"])
    assert trainer.metrics()["components/fragile"] == 1.0  # of what was scored
    (state,) = functions._evaluators[0].memory.states.values()
    assert state["recent"] == [0.25]
