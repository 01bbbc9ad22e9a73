"""A reward that is tried on an open run, in a real process."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rewardkit.differences.diff import diff
from rewardkit.errors import DataError
from rewardkit.page.library import Library
from rewardkit.page.trials import Trial, Trials
from rewardkit.page.watcher import Watcher
from rewardkit.record.recorder import Recorder
from tests.page.recorded import ordinary, record

REWARD = """
import rewardkit as rk

@rk.reward
def right(completion: str, level: str) -> float:
    {body}

reward = right
"""
EVEN = "return float(int(completion.split()[4]) % 2) + (level == 'hard')"


def until(condition: Callable[[], bool], trial: Trial) -> None:
    ends = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < ends, (trial.text, trial.notes)
        time.sleep(0.1)


def save(file: Path, body: str) -> None:
    file.write_text(REWARD.format(body=body))
    os.utime(file, ns=(time.time_ns(), time.time_ns()))


@pytest.fixture
def watchers() -> Iterator[list[Watcher]]:
    made: list[Watcher] = []
    yield made
    for watcher in made:
        watcher.end()


@pytest.mark.slow
def test_a_trial_agrees_with_diff_and_starts_again_when_the_file_is_saved(
    tmp_path: Path, watchers: list[Watcher]
) -> None:
    run, file = ordinary(tmp_path / "run", 4), tmp_path / "new.py"
    save(file, EVEN)
    watchers.append(watcher := Watcher(Library([tmp_path]), Trials(f"{file}:reward")))
    watched = watcher.get("run")
    trial = watched.trial
    assert trial is not None
    until(lambda: trial.text.startswith("48 completions"), trial)
    named = f"{file}:reward"
    expected = diff(str(run), named, str(run))
    assert expected.gradients is not None
    assert f" · {expected.gradients.flips} sign flips" in trial.text
    tried = watched.scores.tried
    assert np.nansum(tried["new"]) == expected.after.total.sum()
    assert expected.gradients.flips == np.nansum(tried["flip"]) > 0
    assert trial.notes == []

    save(file, "return 1 / 0 if level == 'hard' else 0.5")
    until(lambda: "16 failed" in trial.text, trial)
    assert trial.found is not None
    assert "ZeroDivisionError" in next(iter(trial.found.errors.values()))

    save(file, "while True: pass")
    until(lambda: trial.text == "starting …", trial)
    save(file, "return 1.0 +")
    until(lambda: trial.problem != "", trial)
    assert "SyntaxError" in trial.problem
    save(file, "return 1.0")
    until(lambda: trial.text == "48 completions · 0 sign flips", trial)
    assert trial.problem == ""
    assert set(watched.scores.tried["new"].tolist()) == {1.0}


@pytest.mark.slow
def test_new_completions_of_a_running_run_are_tried(
    tmp_path: Path, watchers: list[Watcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rewardkit.page.trials._PAUSE", 0.5)
    file = tmp_path / "new.py"
    save(file, EVEN)
    with Recorder(tmp_path / "run", patience=math.inf) as recorder:
        recorder.record(record(1))
        recorder.flush()
        watchers.append(watcher := Watcher(Library([tmp_path]), Trials(f"{file}:reward")))
        watched = watcher.get("run")
        trial = watched.trial
        assert trial is not None
        until(lambda: trial.text.startswith("12 completions"), trial)
        recorder.record(record(2))
        recorder.record(record(3, training=False))
        recorder.flush()
        until(lambda: len(watched.scores) == 36 and trial.text.startswith("24 completions"), trial)
    assert np.isnan(watched.scores.tried["new"]).sum() == 12


def test_a_run_is_no_reward(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        Trials(str(ordinary(tmp_path / "run", 1)))
