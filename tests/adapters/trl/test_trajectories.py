"""The numbers of conversations: what is logged of them, and what is recorded."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.batch.batch import Batch
from rewardkit.batch.environments import Watch, recording_class
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.transcripts import CallRecord
from rewardkit.record.trajectories import RolloutCell, Trajectories
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit_adapters.trl.calls import TrainerCall
from rewardkit_adapters.trl.evaluator import MAX_TOOLS, TrajectoryReport
from rewardkit_adapters.trl.layout import layout_of
from rewardkit_adapters.trl.scored import Prepared, score
from rewardkit_adapters.trl.tally import TRAJECTORY, Tally
from tests.adapters.trl.stand_ins import StandInTrainer, short
from tests.adapters.trl.test_recording import rows
from tests.record.conversations import OPENED, PENDING, asks, says

pytest.importorskip("trl")

BROKEN_CALL = [says('<tool_call>{"name": "open", "arguments": {')]
LOOKED = [asks(("look", {}), ("look", {}), ("open", {}))]


class Drawers:
    """Drawers, one of which is out of order."""

    def open(self, color: str) -> str:
        """Open a drawer."""
        if color == "blue":
            raise ConnectionError("env down")
        return f"in {color}"


def trajectories(logged: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in logged.items() if name.startswith("trajectory/")}


def test_means_over_completions_are_logged() -> None:
    trainer = StandInTrainer(rk.to_trl(short))
    trainer.rewards([OPENED, PENDING, BROKEN_CALL, LOOKED])
    assert trajectories(trainer.metrics()) == {
        "trajectory/turns": (2 + 2 + 1 + 1) / 4,
        "trajectory/calls": (1 + 2 + 0 + 3) / 4,
        "trajectory/errors": 0.25,
        "trajectory/unfinished": 0.5,
        "trajectory/pending": 0.5,
        "trajectory/malformed_calls": 0.25,
        "trajectory/broken": 0.0,
        "trajectory/calls/open": 1.0,
        "trajectory/calls/look": 0.5,
    }


@pytest.mark.parametrize("tools", [None, [], [len]])
def test_calls_in_text_count_unless_the_trainer_runs_tools(tools: Any) -> None:
    trainer = StandInTrainer(rk.to_trl(rk.tool_calls("gold")))
    trainer.tools = tools
    text = says('<tool_call>{"name": "open", "arguments": {}}</tool_call>')
    totals = trainer.rewards([[text], BROKEN_CALL, OPENED], gold=['[{"name": "open"}]', "[]", "[]"])
    assert totals.tolist() == ([0.0, 1.0, 0.0] if tools else [1.0, 0.0, 0.0])
    malformed = trajectories(trainer.metrics())["trajectory/malformed_calls"]
    assert malformed == pytest.approx(2 / 3 if tools else 1 / 3)


def test_plain_batches_are_not_logged() -> None:
    trainer = StandInTrainer(rk.to_trl(short))
    trainer.rewards(["42", "41"])
    trainer.rewards([[says("42")], [says("41")]])
    assert trajectories(trainer.metrics()) == {}


def test_a_batch_without_calls_counts_once_there_were_some() -> None:
    trainer = StandInTrainer(rk.to_trl(short))
    trainer.rewards([OPENED, OPENED])
    trainer.metrics()
    trainer.rewards([[says("42")], [says("41")]])
    logged = trajectories(trainer.metrics())
    assert (logged["trajectory/turns"], logged["trajectory/calls"], logged["trajectory/calls/open"]) == (1.0, 0.0, 0.0)


def test_invented_tools_do_not_flood_the_log() -> None:
    trainer = StandInTrainer(rk.to_trl(short))
    for batch in range(3):
        trainer.rewards([[asks(*((f"tool{batch}-{number}", {}) for number in range(50)))] for _ in range(2)])
    assert sum(name.startswith("trajectory/calls/") for name in trainer.metrics()) == MAX_TOOLS


def test_conversations_are_recorded_beside_their_metrics(tmp_path: Path) -> None:
    functions = rk.to_trl(short, record=tmp_path / "run")
    trainer = StandInTrainer(functions)
    trainer.rewards([OPENED, PENDING])
    functions.flush()
    run = rk.open_run(tmp_path / "run")
    found = rows(run)
    assert found[["turns", "calls", "repeated_calls", "tool_errors"]].to_numpy().tolist() == [
        [2, 1, 0, 0],
        [2, 2, 1, 1],
    ]
    assert (found.stop.tolist(), found.tools.tolist()) == (["answered", "pending"], ["open", "open"])
    measured = dict(run.metrics().project("name, value").fetchall())
    assert measured["trajectory/calls"] == 1.5


def test_transcripts_are_recorded_in_the_place_of_completions(tmp_path: Path) -> None:
    functions = rk.to_trl(short, transcripts="transcript", record=tmp_path / "run")
    StandInTrainer(functions).rewards(["all in one", "text"], transcript=[OPENED, PENDING])
    functions.flush()
    run = rk.open_run(tmp_path / "run")
    assert rows(run).turns.tolist() == [2, 2]
    messages = run.completions().order("row").project("messages").fetchall()
    assert [json.loads(said) for (said,) in messages] == [OPENED, PENDING]
    assert run.prompts().project("columns").fetchall() == [("{}",)]


def test_a_broken_environment_is_recorded_with_its_calls(tmp_path: Path) -> None:
    environments = [recording_class(Drawers, Watch())() for _ in range(2)]
    environments[0].open(color="red")
    with pytest.raises(ConnectionError):
        environments[1].open(color="blue")
    said = [[asks(("open", {"color": color}))] for color in ("red", "blue")]
    functions = rk.to_trl(short, record=tmp_path / "run", limits=rk.Limits(max_failure_rate=1.0))
    trainer = StandInTrainer(functions)
    vars(trainer)["environments"] = environments
    trainer.rewards(said)
    functions.flush()
    assert trainer.metrics()["trajectory/broken"] == 0.5
    run = rk.open_run(tmp_path / "run")
    assert (rows(run).broken.tolist(), rows(run).tool_errors.tolist()) == ([False, True], [0, 0])
    cells = run.completions().order("row").project("rollout").fetchall()
    first, second = (RolloutCell.read(cell) for (cell,) in cells)
    assert first == RolloutCell((CallRecord("open", {"color": "red"}, "in red"),))
    assert "env down" in second.broken


def test_environments_that_do_not_record_are_told() -> None:
    said = [[asks(("open", {"color": color}))] for color in ("red", "blue")]
    trainer = StandInTrainer(rk.to_trl(short))
    vars(trainer)["environments"] = [Drawers() for _ in said]
    with pytest.warns(rk.errors.RewardKitWarning, match=r"environment_factory=funcs\.environments\(Drawers\)"):
        trainer.rewards(said)
    trainer.rewards(said)  # once is enough


def test_plain_texts_are_recorded_without_numbers(tmp_path: Path) -> None:
    functions = rk.to_trl(short, record=tmp_path / "run")
    StandInTrainer(functions).rewards(["42", "41"])
    functions.flush()
    assert rows(rk.open_run(tmp_path / "run"))[["turns", "calls", "stop", "broken", "tools"]].isna().all(axis=None)


def test_both_processes_log_the_means_over_all_completions() -> None:
    layout = layout_of(short)
    reports = []
    for own, other in (([OPENED, LOOKED], [[says("42")], PENDING]), ([[says("42")], PENDING], [OPENED, LOOKED])):
        beside = tally(other, {})
        tools = Counter(call.name for said in other for call in rk.Trajectory.of(said).calls)
        flat = np.concatenate([values.ravel() for values in vars(beside).values()])
        trainer: Any = SimpleNamespace(
            processes=2,
            num_generations=None,
            known=True,
            runs_calls=False,
            is_main=True,
            scale="group",
            normalizes_each=False,
            end_tokens=frozenset(),
            summed_over_ranks=lambda values, flat=flat: values + flat,
            of_each_process=lambda value, tools=tools: [value, tools],
        )
        call = TrainerCall(own, None, None, {}, {})
        prepared = Prepared(call, trainer, None, None, strict=True)
        scored = score(Scorer(layout.scored), layout, prepared, recorded=False).scored
        reports.append(TrajectoryReport().of(scored))
    assert reports[0] == reports[1]
    assert reports[0]["trajectory/turns"] == 6 / 4
    assert reports[0]["trajectory/calls/open"] == 1.0
    assert reports[0]["trajectory/calls/look"] == 0.5


def tally(completions: list[Any], broken: dict[int, str]) -> Tally:
    table = rk.score(short, completions)
    read = Trajectories.of(Batch(completions, rollouts=RolloutInfo(broken=broken)))
    return Tally.of(table, table.terms, None, "group", trajectories=read)


def test_the_sums_of_two_processes_add_up() -> None:
    first, second = tally([OPENED, PENDING], {1: "down"}), tally([[says("42")], LOOKED], {})
    whole = tally([OPENED, PENDING, [says("42")], LOOKED], {1: "down"})
    both = first.summed(lambda flat: flat + np.concatenate([values.ravel() for values in vars(second).values()]))
    assert both.trajectories[1:].tolist() == whole.trajectories[1:].tolist()
    assert dict(zip(TRAJECTORY, whole.trajectories[2:].tolist(), strict=True)) == {
        "turns": 6,
        "calls": 6,
        "errors": 0,
        "unfinished": 2,
        "pending": 2,
        "malformed_calls": 0,
        "broken": 1,
    }
    assert both.trajectories[0] > 0
