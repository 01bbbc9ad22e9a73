"""Unchanged functions in all entry points that need no training: the same totals everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit.scoring.files import rows_of
from rewardkit.testing import check_reward
from tests.entry_points import ported
from tests.entry_points.cases import CASES, DELAYED, LATER, START, WEIGHTED, Case

LAWS = ["finite", "batch_equals_singles"]

Captured = pytest.CaptureFixture[str]

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def scored(case: Case, reward: Any, **options: Any) -> list[float]:
    table = rk.score(reward, case.completions, prompts=case.prompts, **case.columns, **options)
    return [float(total) for total in table.total]


@every_case
@pytest.mark.parametrize("progress", [None, LATER, rk.Progress(10, 10, training=False)])
def test_score(case: Case, progress: Any) -> None:
    np.testing.assert_allclose(scored(case, case.reward, progress=progress), case.totals)


def test_score_follows_the_progress() -> None:
    assert scored(DELAYED, DELAYED.reward, progress=START) == [0.0, 0.0]


@every_case
def test_score_takes_what_to_trl_takes(case: Case) -> None:
    reward = rk.to_trl(case.reward).reward
    np.testing.assert_allclose(scored(case, reward), case.totals)
    functions = case.reward if isinstance(case.reward, list) else [case.reward]
    np.testing.assert_allclose(scored(case, [rk.from_trl(function) for function in functions]), case.totals)


def test_two_functions_with_weights() -> None:
    tree = rk.weighted_sum([(1.0, ported.letters), (2.0, ported.lengths)])
    assert scored(WEIGHTED, tree) == [2.0, 1.0 - 1.5]
    assert scored(WEIGHTED, rk.from_trl(ported.letters) + 2.0 * rk.from_trl(ported.lengths)) == [2.0, 1.0 - 1.5]
    assert scored(WEIGHTED, rk.gate(when=ported.letters, then=ported.lengths, threshold=2.0)) == [0.0, 0.0]


@every_case
def test_check_reward(case: Case) -> None:
    report = check_reward(case.reward, examples=list(case.rows), laws=LAWS, budget=60)
    assert not report.findings, report
    assert all(result.outcome == "held" or result.reason.startswith("only ") for result in report.results), report


@every_case
def test_the_command_check(case: Case, tmp_path: Path, capsys: Captured) -> None:
    target, data = case.written(tmp_path, completions=False)
    code = main(["check", target, "--examples", str(data), "--laws", ",".join(LAWS), "--no-exploits"])
    assert code == 0, capsys.readouterr().out


@every_case
def test_the_command_score(case: Case, tmp_path: Path, capsys: Captured) -> None:
    target, data = case.written(tmp_path)
    out = tmp_path / "scored.jsonl"
    assert main(["score", str(data), "--reward", target, "--out", str(out)]) == 0, capsys.readouterr().out
    np.testing.assert_allclose([row["total"] for _, row in rows_of(out)], case.totals)


@every_case
def test_an_update_is_tried_on_a_recorded_batch(case: Case, tmp_path: Path, capsys: Captured) -> None:
    functions = rk.to_trl(rk.length.between(0, 100, unit="characters"), record=tmp_path / "run")
    functions[0](completions=list(case.completions), prompts=case.prompts, **case.columns)
    functions.flush()
    target, _ = case.written(tmp_path)
    assert main(["update", str(tmp_path / "run"), target, "--dry-run"]) == 0
    cells = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("total")]
    assert float(cells[0][-1]) == pytest.approx(np.mean(case.totals), abs=1e-3)


@every_case
def test_preflight(case: Case, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from rewardkit_adapters.runner.config_file import read
    from rewardkit_adapters.runner.plan import Plan
    from rewardkit_adapters.runner.preflight import preflight

    target, data = case.written(tmp_path, completions=False, times=4)
    path = tmp_path / "run.yaml"
    grpo = {"max_steps": 2, "per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 8}
    written = {"reward": target, "model": "tiny", "dataset": str(data), "grpo": grpo, "preflight": {"laws": False}}
    path.write_text(json.dumps(written))
    plan = Plan.of(read(path), None)
    found = preflight(plan.config, reward=plan.reward, training=plan.training, held_out=None)
    assert found.ok, found.text()


def test_preflight_finds_what_stops_the_training_at_its_start_or_its_end() -> None:
    pytest.importorskip("trl")
    from datasets import Dataset

    from rewardkit_adapters.runner.preflight.findings import Table
    from rewardkit_adapters.runner.preflight.golds import golds

    def rises(completions: list[str], trainer_state: Any, **kwargs: Any) -> list[float]:
        return [1.0 / trainer_state.global_step for _ in completions]

    def falls(completions: list[str], trainer_state: Any, **kwargs: Any) -> list[float]:
        return [1.0 / (trainer_state.max_steps - trainer_state.global_step) for _ in completions]

    def imports(prompt: str, completion: str, example: dict[str, str]) -> float:
        import package_that_no_one_has  # type: ignore[import-not-found]

        return float(package_that_no_one_has.score(completion))

    for function, error in ((rises, "ZeroDivisionError"), (falls, "ZeroDivisionError"), (imports, "package_that")):
        tree = rk.from_trl(function)
        table = Table(Dataset.from_list([{"prompt": "Write."}] * 4), tree, "training")
        (found,) = golds(tree, table, 5.0).findings
        assert found.kind == "error"
        assert error in found.what
        assert "\n" not in found.what
        assert ("packages" in found.remedy) == (function is imports)
