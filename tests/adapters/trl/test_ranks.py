"""Two real processes over gloo score, log and remember the same as one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.trl.launched import Launched, on_two_ranks
from tests.adapters.trl.ranks import ADAPTIVE, CASES
from tests.adapters.trl.stand_ins import StandInTrainer
from tests.adapters.trl.test_training import early, judged

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    """The results of two processes that ran all cases."""
    return on_two_ranks("ranks.py", tmp_path_factory.mktemp("ranks"), CASES)


def together(ranks: list[dict[str, Any]], step: int, what: str) -> list[Any]:
    """The rows of both processes in one batch."""
    return [value for rank in ranks for value in rank["batches"][step][what]]


def in_one_process(ranks: list[dict[str, Any]], reward: rk.Reward, num_generations: int = 4) -> list[dict[str, Any]]:
    """The same batches, scored by one process: totals, logged numbers and states."""
    functions = rk.to_trl(reward)
    trainer = StandInTrainer(functions, max_steps=6, num_generations=num_generations)
    memory = functions._evaluators[0].memory
    seen = []
    for batch in range(len(ranks[0]["batches"])):
        trainer.state.global_step = ranks[0]["batches"][batch]["step"]
        columns = {"answer": together(ranks, batch, "answer")}
        totals = trainer.rewards(together(ranks, batch, "completions"), together(ranks, batch, "prompts"), **columns)
        seen.append({"totals": totals, "metrics": trainer.metrics(), "states": list(memory.states.values())})
    return seen


def assert_like_one_process(ranks: list[dict[str, Any]], case: str) -> None:
    alone = in_one_process(ranks, CASES[case]["reward"])
    assert len(alone) >= 3
    assert ranks[0]["history"] == ranks[1]["history"]
    assert all("radar/strength" in names for names in ranks[0]["radar"])  # of the rows of the main process
    assert not any(ranks[1]["radar"])
    for step, expected in enumerate(alone):
        np.testing.assert_allclose(together(ranks, step, "totals"), expected["totals"], atol=1e-6)
        entry = ranks[0]["history"][step]
        for name, value in expected["metrics"].items():
            if not name.startswith("radar/"):
                assert entry[name] == pytest.approx(value, abs=1e-5), name


def test_both_log_what_both_scored(launched: Launched) -> None:
    first, second = launched.ranks("logs")
    assert first["history"] == second["history"]
    for step, entry in enumerate(first["history"]):
        assert first["batches"][step]["prompts"] != second["batches"][step]["prompts"]
        table = rk.score(judged + 0.5 * early, together([first, second], step, "completions"))
        assert entry["reward"] == pytest.approx(np.nanmean(table.total), abs=1e-6)
        assert entry["unscorable"] == pytest.approx(np.isnan(table.total).mean())
        assert entry["rewards/early/mean"] == pytest.approx(np.nanmean(table.terms["early"]), abs=1e-6)
        assert entry["components/judged"] == pytest.approx(np.nanmean(table["judged"]))
        letters = [len(text.split()) for text in table.completions]
        assert entry["parts/parted/letters"] == pytest.approx(np.mean(letters))
        assert entry["parts/parted/rank0"] == entry["parts/parted/rank1"] == 1.0
        if "failed/judged" in entry:
            assert entry["failed/judged"] == pytest.approx(entry["unscorable"])


def test_what_rewards_measure_is_added_up_over_both(launched: Launched) -> None:
    first, second = launched.ranks("measured")
    assert first["history"] == second["history"]
    for step, entry in enumerate(first["history"]):
        own = len(first["batches"][step]["completions"])
        assert entry["judge_calls/counting"] == own  # behind a gate that stands open on one of them
        assert entry["judge_calls/often"] == 2 * own


def test_both_stop_together_when_the_judge_of_one_is_down(launched: Launched) -> None:
    first, second = launched.ranks("breaker")
    assert first["error"] == second["error"]
    assert "'down_on_rank_1' failed on 24 of 48 completions in the last 3 batches" in first["error"]
    assert first["step"] == second["step"] == 3
    assert [path.name for path in (launched.out / "breaker").glob("checkpoint-*")] == ["checkpoint-3"]


def test_both_stop_together_where_one_finds_the_quota_exhausted(launched: Launched) -> None:
    first, second = launched.ranks("unpaid")
    assert first["error"] == second["error"] == "reward 'unpaid_on_rank_1' stops the run: the quota is exhausted"
    assert first["step"] == second["step"] == 2
    assert [path.name for path in (launched.out / "unpaid").glob("checkpoint-*")] == ["checkpoint-2"]
    assert [entry["unscorable"] for entry in first["history"]] == [0.0, 0.5]


def test_golds_that_one_process_cannot_read_stop_neither(launched: Launched) -> None:
    ranks = launched.ranks("some golds")
    first, second = ranks
    assert first["error"] == second["error"] == ""
    assert first["step"] == second["step"] == 6
    assert first["history"] == second["history"]
    blind = 0
    for step, entry in enumerate(first["history"]):
        golds = together(ranks, step, "answer")
        lost = np.array([gold != "1" for gold in golds])
        assert np.isnan(np.array(together(ranks, step, "totals"), dtype=float)).tolist() == lost.tolist()
        assert entry["unscorable"] == pytest.approx(lost.mean())
        assert entry["unparsable_gold/number"] == pytest.approx(lost.mean())
        assert "failed/number" not in entry
        blind += any("1" not in rank["batches"][step]["answer"] for rank in ranks)
    assert blind > 0


def test_both_stop_in_the_first_batch_that_has_no_gold(launched: Launched) -> None:
    first, second = launched.ranks("no golds")
    assert first["error"] == second["error"]
    assert "reward 'number' cannot read any gold answer in its first batch" in first["error"]
    assert first["step"] == second["step"] <= 1


def test_a_curriculum_moves_the_same_on_both_processes_and_on_one(launched: Launched) -> None:
    ranks = launched.ranks("adaptive")
    first, second = (rank["batches"] for rank in ranks)
    for mine, theirs in zip(first, second, strict=True):
        for what in ("weights", "gauges", "states"):
            assert mine[what] == theirs[what]
    stages = [batch["gauges"]["stage/curriculum"] for batch in first]
    assert stages[0] == 1.0
    assert stages[-1] == 2.0
    assert_like_one_process(ranks, "adaptive")
    alone = in_one_process(ranks, ADAPTIVE)
    for batch, expected in zip(first, alone, strict=True):
        for mine, theirs in zip(batch["states"].values(), expected["states"], strict=True):
            assert mine == {
                name: pytest.approx(value) if isinstance(value, float | list) else value
                for name, value in theirs.items()
            }


def test_a_group_that_is_split_between_processes_is_collected(launched: Launched) -> None:
    ranks = launched.ranks("split")
    assert {len(batch["completions"]) for rank in ranks for batch in rank["batches"]} == {2}
    assert_like_one_process(ranks, "split")
    for rank in ranks:
        for batch in rank["batches"]:
            assert len(batch["totals"]) == 2


def test_the_batch_includes_both_processes(launched: Launched) -> None:
    ranks = launched.ranks("batch")
    assert_like_one_process(ranks, "batch")
    for step in range(3):
        normalized = [row for rank in ranks for row in rank["batches"][step]["terms"]["early_normalized"]]
        assert np.mean(normalized) == pytest.approx(0.0, abs=1e-9)


def test_a_reward_that_is_not_deterministic_is_asked_by_one_process_for_all(launched: Launched) -> None:
    first, second = launched.ranks("moody")
    assert first["step"] == second["step"] >= 4
    assert first["error"] == second["error"]
    for mine, theirs in zip(first["batches"], second["batches"], strict=True):
        for what in ("weights", "gauges", "states"):
            assert mine[what] == theirs[what]
        texts = mine["completions"] + theirs["completions"]
        judged = [None if len(text) % 3 == 0 else len(text) % 5 / 4 for text in texts]  # as the main process answers
        expected = [early(text) for text in texts] if None in judged else judged
        echoes = mine["terms"]["echo"] + theirs["terms"]["echo"]
        totals = mine["totals"] + theirs["totals"]
        assert [total - echo for total, echo in zip(totals, echoes, strict=True)] == pytest.approx(expected)
