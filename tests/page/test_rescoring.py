"""A recorded run is scored again with the gold answers of other prompts, in a sample of whole groups."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.online.versions import version_of
from rewardkit.page.alerts import alerts_of, read_evidence, sampled_batches
from rewardkit.page.watcher import Watched
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import Record
from rewardkit.tree.evaluation.scorer import Scorer

GENERATIONS, GROUPS = 4, 6
calls: list[str] = []


@rk.reward
def anywhere(completion: str, answer: str) -> float:
    calls.append(completion)
    return float(answer in completion.split())


def recorded(path: Path, steps: int, *, chats: bool = False, tokens: bool = False) -> Path:
    """A run in which more and more completions list all numbers."""
    scorer, draw = Scorer(anywhere), np.random.default_rng(0)
    version = version_of(scorer)
    with Recorder(path, patience=math.inf) as recorder:
        for step in range(steps):
            golds = [str(draw.integers(10)) for _ in range(GROUPS)]
            texts = [
                " ".join(map(str, range(10)))
                if draw.random() < step / steps
                else gold
                if draw.random() < 0.3
                else "none"
                for gold in golds
                for _ in range(GENERATIONS)
            ]
            said = [[{"role": "assistant", "content": text}] if chats else text for text in texts]
            asked = [f"question {number}" for number in range(GROUPS) for _ in range(GENERATIONS)]
            prompts = [[{"role": "user", "content": text}] if chats else text for text in asked]
            columns = {"answer": [gold for gold in golds for _ in range(GENERATIONS)]}
            batch = rk.Batch(said, prompts=prompts, columns=columns, num_generations=GENERATIONS)
            given: dict[str, Any] = {
                "prompts": prompts,
                "completions": said,
                "columns": columns,
                "groups": batch.groups,
                "completion_ids": [range(len(text.split())) for text in texts] if tokens else None,
            }
            recorder.record(Record(scorer.score(batch), version, step=step, **given))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("chats", [False, True], ids=["texts", "chats"])
def test_a_reward_that_is_given_scores_the_completions_again(tmp_path: Path, chats: bool) -> None:
    path = recorded(tmp_path / "run", 40, chats=chats)
    calls.clear()
    assert read_evidence(path).foreign is None
    assert calls == []
    evidence = read_evidence(path, reward=anywhere)
    assert calls
    assert evidence.foreign is not None
    assert callable(evidence.completions)
    texts = evidence.completions(np.arange(len(evidence.steps)))
    hedged = np.array(["0 1 2" in text for text in texts])
    known = ~np.isnan(evidence.foreign.foreign)
    assert known.mean() > 0.9
    np.testing.assert_array_equal(evidence.foreign.own[known], evidence.totals[known])
    np.testing.assert_array_equal(evidence.foreign.foreign[known], hedged[known].astype(np.float64))
    assert [
        alert.kind for alert in alerts_of(path, reward=anywhere) if alert.strength >= 0.8 and alert.kind == "foreign"
    ]


def test_a_sample_is_of_whole_groups_spread_over_the_steps(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run", 30)
    watched = Watched("run", path, rk.open_run(path))
    watched.load(first=True)
    scores = watched.scores
    assert sum(map(len, sampled_batches(scores, 10_000))) == len(scores)
    sampled = list(sampled_batches(scores, 200))
    assert 150 <= sum(map(len, sampled)) <= 200
    for rows in sampled:
        assert len(set(scores.step[rows])) == 1
        assert np.unique(scores.group[rows], return_counts=True)[1].tolist() == [GENERATIONS] * 4
    steps = [int(scores.step[rows[0]]) for rows in sampled]
    assert (steps[0], steps[-1]) == (0, 29)
    assert max(np.diff(steps)) - min(np.diff(steps)) <= 1


def test_a_reward_that_reads_another_column_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(rk.errors.BindingError, match="gold"):
        read_evidence(recorded(tmp_path / "run", 2), reward=rk.exact("gold"))


def test_a_reward_that_reads_no_column_has_no_foreign_scores(tmp_path: Path) -> None:
    evidence = read_evidence(recorded(tmp_path / "run", 2), reward=rk.tags("answer"))
    assert evidence.foreign is not None
    assert np.isnan(evidence.foreign.foreign).all()


def test_a_reward_that_counts_tokens_is_scored_again(tmp_path: Path) -> None:
    """The record has the number of tokens only."""
    reward = 0.5 * anywhere + 0.5 * rk.length.between(0, 3)
    run = recorded(tmp_path / "run", 12, tokens=True)
    found = read_evidence(run, reward=reward).foreign
    assert found is not None
    known = ~np.isnan(found.form)
    assert known.any()
    assert set(found.form[known].tolist()) <= {0.0, 0.5}
