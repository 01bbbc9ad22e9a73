"""The report of all rows is the same, however they are cut into parts."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit.scoring.report import Groups, ReplayReport
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.testing import estimate_signal
from rewardkit.tree.evaluation.scorer import Scorer

SCORER = Scorer(0.5 * rk.number("answer") + 0.5 * rk.length.between(1, 20, unit="characters"))
ROWS = st.tuples(st.sampled_from(["<answer>1</answer>", "none", None]), st.sampled_from(["1", "2", "many", "few"]))


def scored(rows: list[tuple[str | None, str]]) -> Scores:
    return score(SCORER, Work([text for text, _ in rows], None, None, {"answer": [gold for _, gold in rows]}))


def report(*parts: list[tuple[str | None, str]]) -> ReplayReport:
    found = ReplayReport()
    for part in parts:
        found.add(scored(part))
    return found


@given(st.lists(st.lists(ROWS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_reports_of_parts_extend_to_the_report_of_all_rows(parts: list[list[tuple[str | None, str]]]) -> None:
    whole, extended = report(*parts), ReplayReport()
    for part in parts:
        extended.extend(report(part))
    assert extended.text() == whole.text()
    assert (extended.rows, extended.faulty, extended.without_total) == (whole.rows, whole.faulty, whole.without_total)


def test_rates_name_the_components_that_were_scored() -> None:
    table = report([("<answer>1</answer>", "1")] * 50).rates()
    names = {line.split()[0] for line in table.splitlines()}
    assert {"number", "length_between"} <= names


KEYED = st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 1.0, 1.00001, math.nan]))


def is_silent(totals: list[float]) -> bool:
    scored = [total for total in totals if not math.isnan(total)]
    return not scored or max(scored) - min(scored) <= 1e-4


@given(st.lists(st.lists(KEYED, max_size=6), max_size=6))
def test_groups_are_the_same_however_the_rows_are_split(parts: list[list[tuple[str, float]]]) -> None:
    runs = [
        [total for _, total in run] for _, run in itertools.groupby(itertools.chain(*parts), key=lambda row: row[0])
    ]
    several = [run for run in runs if len(run) > 1]
    report = ReplayReport()
    for part in parts:
        report.groups.extend(Groups.of([key for key, _ in part], np.array([total for _, total in part])))
        report = ReplayReport.restored(json.loads(json.dumps(report.state())))
    assert report.groups.count == len(several)
    assert report.groups.silent == sum(map(is_silent, several))


def test_a_file_of_samples_shows_how_many_prompts_teach_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golds = {"6*7?": "42", "2+2?": "4", "9-1?": "8"}
    rows = [
        {"prompt": prompt, "answer": gold, "completion": "42" if sample else f"It is {gold}"}
        for prompt, gold in golds.items()
        for sample in range(400)
    ]
    (tmp_path / "reward.py").write_text("import rewardkit as rk\n\nreward = rk.number('answer')\n")
    data = tmp_path / "samples.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["score", str(data), "--reward", f"{tmp_path}/reward.py:reward", "--batch", "7"]) == 0
    assert "Groups without variance: 1 of 3 (33%)" in capsys.readouterr().out
    assert estimate_signal(rk.number("answer"), data).silent == 1 / 3
    # A single completion per prompt is not a group, and neither are completions without a prompt.
    for fewer in (rows[::400], [{**row, "prompt": None} for row in rows]):
        data.write_text("".join(json.dumps({n: v for n, v in row.items() if v is not None}) + "\n" for row in fewer))
        assert main(["score", str(data), "--reward", f"{tmp_path}/reward.py:reward"]) == 0
        assert "Groups" not in capsys.readouterr().out
