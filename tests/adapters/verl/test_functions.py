"""to_verl: both forms give the totals of `rk.score` under the same keys, and a failed row raises."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import cloudpickle
import pytest

import rewardkit as rk
from rewardkit.errors import BindingError, RewardDefinitionError, RewardTypeError
from rewardkit.online import recording
from rewardkit.online.batches import RunExit
from tests.adapters.verl import stand_in
from tests.adapters.verl.stand_in import CONFIG, Sample, Tokenizer

Score = Callable[..., dict[str, Any]]


@rk.reward
def same(completion: str, answer: str) -> float | None:
    """Return whether it is the answer; fail on "down", abstain on "none"."""
    if completion == "down":
        raise rk.RewardFailure("the judge is down")
    return None if completion == "none" else float(completion == answer)


@pytest.fixture(autouse=True)
def _verl(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.install(monkeypatch)


def function(reward: Any, **options: Any) -> Score:
    compute = rk.to_verl(reward, **options)

    def score(completion: str, gold: str = "4", **extra: Any) -> dict[str, Any]:
        found: dict[str, Any] = asyncio.run(
            compute(data_source="made", solution_str=completion, ground_truth=gold, extra_info=extra)
        )
        return found

    return score


def manager(reward: Any, **options: Any) -> Score:
    made = rk.to_verl(reward, manager=True, **options)(CONFIG, Tokenizer(), None)

    def score(completion: str, gold: str = "4", **extra: Any) -> dict[str, Any]:
        sample = Sample(completion, reward_model={"ground_truth": gold}, extra_info=extra)
        found = stand_in.run_single(made, sample)
        assert found["reward_score"] == found["reward_extra_info"]["score"]
        return dict(found["reward_extra_info"])

    return score


FORMS = pytest.mark.parametrize("form", [function, manager])


@FORMS
def test_totals_are_those_of_score_under_the_same_keys(form: Any) -> None:
    reward = rk.gate(rk.length.between(1, 3, unit="characters"), 0.7 * same + 0.3 * rk.number("answer"))
    score = form(reward)
    rows = [("4", "4"), ("5", "4"), ("none", "4"), ("", "4"), ("4", "5"), ("44", "44"), ("none", "none")]
    table = rk.score(reward, [text for text, _ in rows], answer=[gold for _, gold in rows])
    found = [score(*row) for row in rows]
    assert [one["score"] for one in found] == table.total.tolist()
    assert {tuple(one) for one in found} == {
        ("score", "length_between", "components/length_between", "components/same", "components/number")
    } or {tuple(one) for one in found} == {
        ("score", *table.terms, *(f"components/{name}" for name in table.components))
    }
    for name, values in table.terms.items():
        assert [one[name] for one in found] == [None if value != value else value for value in values.tolist()]
    assert all(value is None or type(value) is float for one in found for value in one.values())


@FORMS
def test_a_failed_or_abstained_row_raises_so_that_verl_leaves_it_out(form: Any) -> None:
    score = form(same)
    with pytest.raises(rk.RewardFailure, match="this completion has no score: same: the judge is down"):
        score("down")
    with pytest.raises(rk.RewardFailure, match="every component abstained"):
        score("none")
    assert score("4")["score"] == 1.0


@FORMS
def test_names_with_a_meaning_for_verl_are_set_apart(form: Any) -> None:
    found = form(0.5 * same.named("acc") + 0.25 * rk.number("answer").named("score") + same.named("uid"))("4")
    assert list(found)[:4] == ["score", "terms/acc", "terms/score", "terms/uid"]
    assert found["score"] == 1.75


@pytest.mark.slow
@FORMS
def test_a_deadline_passes_and_patience_waits(form: Any) -> None:
    tries = []

    @rk.reward(deterministic=False)
    def moody(completion: str) -> float:
        tries.append(completion)
        if completion == "slow":
            time.sleep(1.0)
        if len(tries) == 1:
            raise rk.RewardFailure("down")
        return 1.0

    assert form(moody, patience=10.0)("a")["score"] == 1.0
    assert tries == ["a", "a"]
    with pytest.raises(rk.RewardFailure, match=r"no score within the deadline of 0\.05 s"):
        form(moody, deadline=0.05)("slow")


@FORMS
def test_columns_are_the_entries_of_extra_info(form: Any) -> None:
    seen = []

    @rk.reward
    def sees(completion: str, example: dict[str, Any]) -> float:
        seen.append(example)
        return 1.0

    form(sees, gold="solution")("a", "4", level=3, prompt="reserved", tools_kwargs={"x": 1}, global_steps=5)
    assert seen[0].pop("num_turns", None) is None
    assert seen == [{"level": 3, "data_source": "made", "ground_truth": "4", "solution": "4"}]


@FORMS
def test_what_verl_adds_is_a_column_for_a_reward_that_reads_it(form: Any) -> None:
    @rk.reward
    def reads(completion: str, tool_rewards: list[float], answer: str) -> float:
        return sum(tool_rewards)

    assert form(reads)("a", "4", tool_rewards=[0.5, 0.25], answer="another")["score"] == 0.75


@FORMS
def test_special_tokens_are_removed(form: Any) -> None:
    assert form(same, special_tokens=["<end>"])("4<end>")["score"] == 1.0


@FORMS
def test_the_record_can_be_read(form: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_SECONDS", 0.1)
    score = form(same, record=tmp_path / "run")
    for completion in ("4", "5"):
        score(completion, level=2)
    with pytest.raises(rk.RewardFailure):
        score("down")
    assert sorted(stand_in.recorded(tmp_path / "run", 3).total.fillna(-1.0)) == [-1.0, 0.0, 1.0]


@FORMS
def test_examples_are_tried_at_once(form: Any) -> None:
    form(same, examples=[{"answer": "4"}])
    with pytest.raises(BindingError, match="needs the column 'answer'"):
        form(same, examples=[{"solution": "4"}])


@FORMS
def test_arguments_are_checked(form: Any) -> None:
    with pytest.raises(RewardTypeError):
        form(0.5)
    with pytest.raises(RewardDefinitionError, match="patience= must be a number of seconds, 0 or more, got -1"):
        form(same, patience=-1)
    with pytest.raises(RewardDefinitionError, match="deadline= must be a number of seconds greater than 0, got 0"):
        form(same, deadline=0)
    with pytest.raises(
        RewardDefinitionError,
        match=r"verl: .* compares completions, .* without the "
        r"prompt's other completions",
    ):
        form(rk.rank_in_group(same))


def test_a_function_gets_no_prompt_ids_or_progress() -> None:
    @rk.reward
    def asks(completion: str, prompt: str, completion_ids: list[int]) -> float:
        return 1.0

    said = r"rk\.to_verl\(reward, manager=True\) receives the prompt, the token ids, and the step.$"
    for reward in (asks, rk.schedules.linear(0.0, 1.0) * same):
        with pytest.raises(RewardDefinitionError, match=said):
            rk.to_verl(reward)
        assert rk.to_verl(reward, manager=True)


def test_a_run_that_must_stop_raises_past_every_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    @rk.reward
    def locked(completion: str) -> float:
        raise rk.RunStopped("a wrong key")

    told: list[Any] = []
    queue: Any = ModuleType("transfer_queue")
    queue.kv_put = lambda **given: told.append(given)
    monkeypatch.setitem(sys.modules, "transfer_queue", queue)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: True))
    score = function(locked)
    for _ in range(2):
        with pytest.raises(RunExit, match="verl: this run ends: reward 'locked' stops the run: a wrong key"):
            score("a")
    [given] = told
    assert given["partition_id"] == "train"
    assert given["tag"]["status"].startswith("rewardkit ends this run: reward 'locked' stops the run: a wrong key. If")


def test_a_trainer_that_cannot_be_told_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "transfer_queue", None)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: True))
    with pytest.raises(RunExit, match="reward_kwargs has bonus"), caplog.at_level(logging.WARNING):
        asyncio.run(rk.to_verl(same)(solution_str="4", bonus=2))  # type: ignore[arg-type]
    assert "verl: could not inform the trainer that the run ends (" in caplog.text


def test_the_manager_that_makes_zeros_is_refused() -> None:
    compute = rk.to_verl(same)

    class RateLimitedRewardManager:
        async def _compute_reward(self) -> Any:
            return await compute(solution_str="4", ground_truth="4")

        async def run_single(self) -> Any:
            try:
                return await asyncio.wait_for(self._compute_reward(), 5.0)
            except Exception:
                return 0.0

    with pytest.raises(RunExit, match=r"rate_limited scores 0\.0 .* Set reward\.reward_manager\.name=naive"):
        asyncio.run(RateLimitedRewardManager().run_single())


def test_the_function_can_be_pickled_for_other_processes() -> None:
    other = cloudpickle.loads(cloudpickle.dumps(rk.to_verl(same, deadline=9.0)))
    assert asyncio.run(other(solution_str="4", ground_truth="4"))["score"] == 1.0


def test_the_manager_can_be_pickled_for_other_processes() -> None:
    other = cloudpickle.loads(cloudpickle.dumps(rk.to_verl(same, manager=True)))
    made = other(CONFIG, Tokenizer(), None)
    assert stand_in.run_single(made, Sample("4", reward_model={"ground_truth": "4"}))["reward_score"] == 1.0


def test_verl_is_imported_for_a_manager_only() -> None:
    code = (
        "import sys, rewardkit as rk; reward = rk.number('answer'); rk.to_verl(reward)\n"
        "assert not any(name.split('.')[0] in ('verl', 'ray', 'torch') for name in sys.modules)\n"
        "sys.modules['verl'] = None\n"
        "try: rk.to_verl(reward, manager=True)\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("rk.to_verl(reward, manager=True) creates a verl class, but verl cannot be imported")
    assert "use the function: rk.to_verl(reward)" in run.stdout


@FORMS
def test_golds_that_cannot_be_read_leave_their_samples_out_and_a_wrong_column_ends_the_run(form: Any) -> None:
    score = form(rk.number("answer") + rk.length.between(1, 3, unit="characters"), patience=60.0)
    assert score("4")["score"] == 2.0
    for _ in range(100):
        with pytest.raises(rk.RewardFailure, match="column 'answer': 'N/A' cannot be parsed"):
            score("4", "N/A")
    wrong = form(rk.number("answer"))
    for number in range(63):
        with pytest.raises(rk.RewardFailure):
            wrong("4", f"solution {number % 2}")
    with pytest.raises(RunExit, match="cannot read any gold answer in its first batch"):
        wrong("4", "solution")
