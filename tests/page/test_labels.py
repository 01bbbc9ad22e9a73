"""The labels of a run: which completions they are of, and what other commands read of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.check.labels import listed_examples
from rewardkit.check.reports.measured import calibrate
from rewardkit.page.filters import Filter
from rewardkit.page.label_file import Label, LabelFile
from rewardkit.page.labels import Labels, examples_of, regressions_of
from rewardkit.page.search import prompts_with
from rewardkit.page.watcher import Watched
from rewardkit.scoring.regressions import load
from rewardkit.testing import check_reward
from tests.page.recorded import conversations, ordinary


@rk.reward
def right(completion: str) -> float:
    """Pays completions that call something right."""
    return float("right" in completion)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ordinary(tmp_path_factory.mktemp("runs") / "run", 3)


@pytest.fixture
def watched(run: Path, tmp_path: Path) -> Watched:
    found = Watched.open("run", run)
    found.labels = Labels(LabelFile(tmp_path / "labels.jsonl"), found)
    return found


def labeled(watched: Watched, **rows: str) -> Labels:
    """Label completions of the first prompt: ``_0="good"``."""
    assert watched.labels is not None
    of_prompt = watched.scores.rows_of(watched.scores.prompt_ids[0])
    for name, label in rows.items():
        watched.labels.put(int(of_prompt[int(name[1:])]), Label(label))
    return watched.labels


def test_labels_are_of_rows_and_outlive_the_page(watched: Watched, run: Path) -> None:
    labels = labeled(watched, _0="good", _5="exploit")
    again = Watched.open("run", run)
    again.labels = Labels(LabelFile(labels.file.path), again)
    assert again.labels.by_row == labels.by_row
    assert sorted(label.label for label in labels.by_row.values()) == ["exploit", "good"]
    assert [label for label in labels.texts if label != "none"] == ["good", "exploit"]
    assert len(labels) == 2
    keys = [watched.scores.key(row) for row in range(len(watched.scores))]
    assert watched.scores.index.places(np.array([*keys, (9, 9, 9, 9)])).tolist() == [*range(len(keys)), -1]


def test_labels_are_searched(watched: Watched) -> None:
    labeled(watched, _5="exploit")
    for text, found in (("label=exploit", 1), ("label=good", 0), ("label!=none", 1), ("label=none", 3)):
        passed, complaints = prompts_with(watched, Filter.parse(text))
        assert (int(passed.sum()), complaints) == (found, [])


def test_the_file_calibrates_a_reward(watched: Watched) -> None:
    labels = labeled(watched, _0="good", _1="bad", _5="exploit")
    found = calibrate(right, labels.file.path, label="is_good")
    assert (found.rows, found.groups, found.good, found.bad) == (3, 1, 1, 2)
    record = labels.lines()[0].record
    assert record["prompt"] == "What is prompt number 0?"
    assert record["level"] == "hard"
    assert record["rewardkit"]["components"]["form"] == 0.0


def test_examples_of_a_check(watched: Watched, tmp_path: Path) -> None:
    labels = labeled(watched, _0="good", _1="bad", _5="exploit")
    path = tmp_path / "examples.jsonl"
    path.write_text(examples_of(labels.lines()))
    options = listed_examples(path)
    assert options["examples"] == [{"prompt": "What is prompt number 0?", "level": "hard"}]
    assert len(options["good"]) == 1
    assert len(options["bad"]) == 2
    report = check_reward(right, **options, laws=["separates_good_from_bad"])
    assert report["separates_good_from_bad"].outcome == "broken"  # it pays all three


def test_exploits_become_regression_cases(watched: Watched, tmp_path: Path) -> None:
    labels = labeled(watched, _5="exploit")
    assert regressions_of(labels.lines()) == ("", 1)
    labels = labeled(watched, _0="good")
    text, lacking = regressions_of(labels.lines())
    path = tmp_path / "exploits.jsonl"
    path.write_text(text)
    [case] = load(path)
    assert (lacking, case.prompt, case.columns) == (0, "What is prompt number 0?", {"level": "hard"})
    report = check_reward(
        right, examples=[{"level": "hard"}], good=list(case.good), regressions=path, laws=["regressions"], budget=120
    )
    assert report.findings, str(report)
    assert "a known exploit still works" in report.findings[0].why


def test_conversations_are_kept_as_messages(tmp_path: Path) -> None:
    talking = Watched.open("run", conversations(tmp_path / "run", 1))
    talking.labels = Labels(LabelFile(tmp_path / "labels.jsonl"), talking)
    talking.labels.put(0, Label("bad"))
    record = json.loads(talking.labels.file.path.read_text())
    assert record["prompt"][0] == {"role": "system", "content": "Be brief."}
    assert record["completion"][-1]["role"] == "assistant"
    assert "tool_calls" in json.dumps(record["completion"])
