"""Import of TRL's tables of completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pytest

from rewardkit.batch.trajectory import Trajectory
from rewardkit.errors import NotARun, RunError
from rewardkit.record.imports import import_run
from tests.record.batches import rows
from tests.record.conversations import OPENED, asks, result, says


def logged(folder: Path, step: int, **columns: list[Any]) -> Path:
    """Write a file as GRPOTrainer.log does with log_completions=True."""
    table: dict[str, list[Any]] = {"prompt": ["6*7?"] * 2, "completion": ["42", "41"], **columns}
    (folder / "completions").mkdir(exist_ok=True)
    frame = pandas.DataFrame({"step": [step] * 2, **table, "advantage": [0.7, -0.7]})
    frame.to_parquet(folder / "completions" / f"completions_{step:05d}.parquet")
    return folder


def test_rewards_become_components_and_terms(tmp_path: Path) -> None:
    for step in (10, 20):
        logged(tmp_path, step, right=[1.0, 0.0], short=[0.5, None], source=["a", "b"])
    run = import_run(tmp_path, into=tmp_path / "run", weights={"short": 0.2})
    assert (run.steps, run.components, run.state) == ([10, 20], ["right", "short"], "finished")
    found = rows(run.scores(), "total", "components/short", "outcomes/short", "terms/short", "advantage")
    assert found[:2] == [
        (pytest.approx(1.1), 0.5, "scored", pytest.approx(0.1), 0.7),
        (0, None, "abstained", None, -0.7),
    ]
    assert rows(run.completions(step=20), "completion") == ["42", "41"]
    assert run.prompts().count("*").fetchall() == [(1,)]


def test_columns_logged_by_rewardkit_become_components_and_terms(tmp_path: Path) -> None:
    logged(tmp_path, 1, right=[0.7, 0.0], **{"components/right": [1.0, 0.0], "components/watched": [0.0, 1.0]})
    run = import_run(tmp_path / "completions", into=tmp_path / "run")
    assert (run.components, run.terms) == (["right", "watched"], ["right"])
    assert rows(run.scores(), "total") == [0.7, 0.0]


def test_conversations_are_kept(tmp_path: Path) -> None:
    said = [[{"role": "assistant", "content": text}] for text in ("42", "41")]
    logged(tmp_path, 1, completion=said, prompt=[[{"role": "user", "content": "6*7?"}]] * 2, right=[1.0, 0.0])
    run = import_run(tmp_path, into=tmp_path / "run")
    assert rows(run.completions(), "completion") == ["42", "41"]
    assert '"role": "assistant"' in rows(run.completions(), "messages")[0]


def test_arguments_that_parquet_united_are_separated(tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("look", {"k": 2, "where": {"x": 1}}),
        ("open", {"letter": "a", "all": [{"y": 2}]}),
    ]
    logged(tmp_path, 1, completion=[[asks(call), result(call[0], "ok"), says("18")] for call in calls], right=[1.0, 0])
    run = import_run(tmp_path, into=tmp_path / "run")
    read = [Trajectory.of(json.loads(said)) for said in rows(run.completions(), "messages")]
    assert [dict(one.calls[0].arguments or {}) for one in read] == [given for _, given in calls]
    assert rows(run.scores(), "calls", "tools", "stop") == [(1, "look", "answered"), (1, "open", "answered")]
    assert "missing here" in run.info["note"]


def test_a_run_without_united_arguments_has_no_note(tmp_path: Path) -> None:
    logged(tmp_path, 1, completion=[OPENED] * 2, right=[1.0, 0.0])
    run = import_run(tmp_path, into=tmp_path / "run")
    assert "note" not in run.info
    assert rows(run.scores(), "calls") == [1, 1]


def test_rewards_can_be_selected(tmp_path: Path) -> None:
    logged(tmp_path, 1, right=[1.0, 0.0], difficulty=[3, 3])
    run = import_run(tmp_path, into=tmp_path / "run", rewards=["right"])
    assert (run.components, rows(run.scores(), "total")) == (["right"], [1.0, 0.0])


def test_rows_without_any_reward_are_unscorable(tmp_path: Path) -> None:
    logged(tmp_path, 1, right=[1.0, None])
    assert rows(import_run(tmp_path, into=tmp_path / "run").scores(), "total") == [1.0, None]


def test_mistakes_raise_errors(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match="log_completions=True"):
        import_run(tmp_path, into=tmp_path / "run")
    logged(tmp_path, 1, right=[1.0, 0.0])
    with pytest.raises(RunError, match=r"no reward 'rihgt' .* Did you mean 'right'"):
        import_run(tmp_path, into=tmp_path / "run", weights={"rihgt": 1.0})
    import_run(tmp_path, into=tmp_path / "run")
    with pytest.raises(RunError, match="already contains a run"):
        import_run(tmp_path, into=tmp_path / "run")
    broken = tmp_path / "completions" / "completions_00002.parquet"
    broken.write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"completions_00002.parquet cannot be read .*delete it"):
        import_run(tmp_path, into=tmp_path / "other")
    pandas.DataFrame({"step": [1]}).to_parquet(broken)
    with pytest.raises(RunError, match="no column 'prompt'"):
        import_run(tmp_path, into=tmp_path / "other")
