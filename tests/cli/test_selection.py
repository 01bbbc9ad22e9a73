"""``rewardkit score --keep`` and ``--pairs``, from the data and from what was scored before."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rewardkit.cli.main import main
from rewardkit.scoring.files import rows_of
from tests.record.batches import batch, written
from tests.scoring import replayed

DATA = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[3] / "shared" / "data"))
DATA = DATA / "gsm8k" / "model_solutions.jsonl"
GSM8K = """
import rewardkit as rk

after = rk.extract.after("A:")
right = rk.number("reference", extract=after, gold=after, thousands=True).named("right")
short = rk.length.between(1, 300, unit="characters").named("short")
reward = right + 0.2 * short
"""

Captured = pytest.CaptureFixture[str]

ROWS = [
    {"q": f"{number}+1?", "said": f"<answer>{number + wrong}</answer>", "gold": number + 1}
    for wrong in (0, 1, 2)  # prompts are not next to each other
    for number in range(3)
]
COLUMNS = ["--columns", "prompt=q,answer=gold", "--completion", "said"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [dict(row) for _, row in rows_of(path)]


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_the_best_of_each_prompt_are_written(data: Path, tmp_path: Path, ending: str, capsys: Captured) -> None:
    out = tmp_path / f"sft.{ending}"
    options = ["--reward", f"{replayed.TARGET}number", "--out", str(out), *COLUMNS]
    assert main(["score", str(data), "--keep", "best,above:1", *options]) == 0
    assert (
        "3 completions (best,above:1) from 3 of 3 prompts\nmean score: all 0.3333, kept 1\n" in capsys.readouterr().out
    )
    assert [(row["prompt"], row["completion"], float(row["score"])) for row in rows(out)] == [
        (f"{number}+1?", f"<answer>{number + 1}</answer>", 1.0) for number in range(3)
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["data.jsonl", out.name])


def test_pairs_are_written_and_columns_of_the_prompt_come_once(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "dpo.jsonl"
    options = ["--reward", f"{replayed.TARGET}both", "--out", str(out), *COLUMNS]
    assert main(["score", str(data), "--pairs", "--by", "number", "--gap", "1", *options]) == 0
    first, *others = rows(out)
    assert len(others) == 2
    assert list(first)[:6] == ["prompt", "chosen", "rejected", "score_chosen", "score_rejected", "gold"]
    assert (first["chosen"], first["rejected"]) == ("<answer>1</answer>", "<answer>0</answer>")
    assert (first["score_chosen"], first["score_rejected"], first["total_chosen"]) == (1.0, 0.0, 1.0)


def test_processes_batches_and_scoring_before_change_nothing(data: Path, tmp_path: Path) -> None:
    reward = ["--reward", f"{replayed.TARGET}both", *COLUMNS]
    first, second, third = (tmp_path / f"{name}.jsonl" for name in ("first", "second", "third"))
    before = tmp_path / "scored.parquet"
    assert main(["score", str(data), "--pairs", "all", "--out", str(first), *reward]) == 0
    assert (
        main(["score", str(data), "--pairs", "all", "--out", str(second), "--processes", "2", "--batch", "2", *reward])
        == 0
    )
    assert main(["score", str(data), "--out", str(before), *reward]) == 0
    assert main(["score", str(before), "--pairs", "all", "--out", str(third), *COLUMNS]) == 0
    assert first.read_text() == second.read_text()
    assert rows(third) == rows(first)


def test_without_out_the_selection_is_counted(data: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["score", str(data), "--pairs", "2", "--reward", f"{replayed.TARGET}number", *COLUMNS]) == 0
    assert "6 pairs (2) from 3 of 3 prompts" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [data]


def test_scores_stay_if_nothing_is_selected(data: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "sft.jsonl"
    options = ["--reward", f"{replayed.TARGET}number", "--out", str(out), *COLUMNS]
    assert main(["score", str(data), "--keep", "above:2", *options]) == 2
    kept = tmp_path / "sft.jsonl.scored.jsonl"
    assert str(kept) in capsys.readouterr().err
    assert main(["score", str(kept), "--keep", "top:1", "--out", str(out), *COLUMNS]) == 0
    assert len(rows(out)) == 3


def test_columns_named_as_ours_are_told_apart(tmp_path: Path) -> None:
    """The data has a total of its own, and conversations in a column that is split."""
    said = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "<answer>42</answer>"}]
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    data.write_text(json.dumps({"messages": said, "total": -5, "error": "old", "answer": 42}) + "\n")
    options = ["--reward", f"{replayed.TARGET}number", "--completion", "messages", "--out", str(out)]
    assert main(["score", str(data), "--keep", "best", *options]) == 0
    (row,) = rows(out)
    assert (row["prompt"], row["completion"], row["score"]) == (said[:1], said[1:], 1.0)
    assert (row["input/total"], row["input/error"]) == (-5, "old")


def test_a_recorded_run_has_totals(tmp_path: Path) -> None:
    chat = [[{"role": "assistant", "content": f"said {row}"}] for row in range(4)]
    written(tmp_path / "run", batch(1), batch(2, completions=chat, texts=[f"said {row}" for row in range(4)]))
    out = tmp_path / "out.jsonl"
    options = ["--columns", "total=recorded", "--out", str(out)]
    assert main(["score", str(tmp_path / "run"), "--keep", "best", *options]) == 0
    first, second = rows(out)
    assert (first["prompt"], first["step"]) == ([{"role": "user", "content": "prompt 0"}], 1)
    assert second["completion"][0]["role"] == "assistant"
    assert first["score"] == first["recorded"] >= 0


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--by", "number"],
        ["--keep", "best", "--gap", "1"],
        ["--keep", "best"],
        ["--pairs", "--by", "nothing", "--reward", f"{replayed.TARGET}number", *COLUMNS],
    ],
)
def test_options_without_meaning_are_refused(data: Path, options: list[str], capsys: Captured) -> None:
    assert main(["score", str(data), *options]) == 2
    assert capsys.readouterr().err.startswith("rewardkit score: ")


@pytest.mark.parametrize(
    "options",
    [
        ["--keep", "worst"],
        ["--keep", "top:0"],
        ["--keep", "above:nan"],
        ["--keep", "best:1"],
        ["--pairs", "0"],
        ["--pairs", "some"],
        ["--pairs", "--gap", "-1"],
        ["--pairs", "--keep", "best"],
    ],
)
def test_broken_rules_are_refused(data: Path, options: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["score", str(data), *options])
    assert "usage" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_file(), reason=f"no GSM8K data at {DATA}; set REWARDKIT_DATA")
def test_chosen_solutions_of_gsm8k_are_right_by_their_labels(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "reward.py").write_text(GSM8K)
    scored = tmp_path / "scored.parquet"
    assert main(["score", str(DATA), "--reward", f"{tmp_path / 'reward.py'}:reward", "--out", str(scored)]) == 0

    def right(*options: str) -> list[tuple[int, float]]:
        out = tmp_path / "out.jsonl"
        assert main(["score", str(scored), *options, "--out", str(out)]) == 0
        labels = [[value for name, value in row.items() if name.startswith("is_correct")] for row in rows(out)]
        return [(len(side), round(sum(side) / len(side), 2)) for side in zip(*labels, strict=True)]

    assert right("--keep", "best") == [(1319, 0.44)]
    assert right("--keep", "best,above:1") == [(579, 1.0)]
    assert right("--pairs") == [(629, 0.61), (629, 0.04)]
    assert right("--pairs", "--gap", "0.5") == [(357, 1.0), (357, 0.0)]
    assert right("--pairs", "--by", "short") == [(365, 0.21), (365, 0.19)]
