"""The scaling of advantages in real runs: what the trainer trains on, and the causes in the log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import advantages, shares, watched
from tests.adapters.trl.test_training import Recorder, counted, early, echo, generations, judged

SCALES = ["group", "batch", "none"]
GATED = rk.gate(when=early, then=counted, threshold=0.25, otherwise=-1.0).named("worth") + 0.3 * echo + 0.1 * early
TREES = {
    "a sum": 0.7 * early + 0.2 * echo + counted,
    "a gate": GATED,
    "two of a group": rk.rank_in_group(early) + 0.3 * rk.normalize(echo) + 0.1 * counted,
    "a curriculum": rk.curriculum([rk.Stage("form", early, until=0.5), rk.Stage("rest", 0.3 * early + GATED)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", TREES)
def test_advantages_and_their_causes(tmp_path: Path, name: str, scale: str) -> None:
    reward = TREES[name]
    recorder = Recorder()
    trainer = tiny.trainer(tmp_path, rk.to_trl(reward + recorder.reward()), scale_rewards=scale, max_steps=4)
    seen = watched(trainer)
    trainer.train()
    tables = recorder.tables(reward)
    assert len(tables) == 4
    for generation, table, entry in zip(seen, tables, generations(trainer), strict=True):
        np.testing.assert_allclose(generation.advantages, advantages(table.total, 4, scale), atol=1e-3)
        expected = shares(dict(table.terms), 4, scale)
        assert {term: entry[f"advantage_share/{term}"] for term in table.terms} == pytest.approx(expected, abs=1e-5)
        assert sum(expected.values()) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["batch", "none"])
def test_without_division_by_group_the_shares_are_those_of_the_advantages(tmp_path: Path, scale: str) -> None:
    reward = TREES["a sum"]
    recorder = Recorder()
    trainer = tiny.trainer(tmp_path, rk.to_trl(reward + recorder.reward()), scale_rewards=scale)
    seen = watched(trainer)
    trainer.train()
    for generation, table, entry in zip(seen, recorder.tables(reward), generations(trainer), strict=True):
        parts = {term: np.nan_to_num(values) @ generation.advantages for term, values in table.terms.items()}
        for term, part in parts.items():
            assert entry[f"advantage_share/{term}"] == pytest.approx(part / sum(parts.values()), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_samples_that_cannot_be_scored_change_nothing_for_the_others(tmp_path: Path, scale: str) -> None:
    reward = judged + 0.5 * echo
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), limits=rk.Limits(max_failure_rate=1.0))
    trainer = tiny.trainer(tmp_path, functions, scale_rewards=scale)
    seen = watched(trainer)
    trainer.train()
    for generation, table, entry in zip(seen, recorder.tables(reward), generations(trainer), strict=True):
        lost = np.isnan(table.total)
        assert 0 < lost.sum() < 8
        assert (generation.advantages[lost] == 0.0).all()
        np.testing.assert_allclose(generation.advantages, advantages(table.total, 4, scale), atol=1e-3)
        # Without their rows: groups of what is left.
        terms = np.array([values[~lost] for values in table.terms.values()])
        groups = np.repeat([0, 1], 4)[~lost]
        terms -= np.array([[part[groups == group].mean() for group in groups] for part in terms])
        total = terms.sum(axis=0)
        weights = np.ones(len(groups))
        if scale == "group":
            variances = np.array([(total[groups == group] ** 2).sum() for group in groups])
            weights = np.divide(1.0, variances, out=np.zeros_like(variances), where=variances > 1e-12)
        caused = (terms * total * weights).sum(axis=1)
        for term, share in zip(table.terms, caused / caused.sum(), strict=True):
            assert entry[f"advantage_share/{term}"] == pytest.approx(share, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["terms", "components"])
def test_both_forms_of_columns_train_on_the_same_advantages(tmp_path: Path, columns: str) -> None:
    """The weighted columns of a pure sum are its terms, and so are the causes."""
    reward = TREES["a sum"]
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), outputs=columns)  # type: ignore[arg-type]
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights)
    seen = watched(trainer)
    trainer.train()
    for generation, table, entry in zip(seen, recorder.tables(reward), generations(trainer), strict=True):
        np.testing.assert_allclose(generation.advantages, advantages(table.total, 4), atol=1e-3)
        expected = shares(dict(table.terms), 4)
        assert {term: entry[f"advantage_share/{term}"] for term in table.terms} == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_a_batch_without_any_difference_has_no_causes(tmp_path: Path) -> None:
    @rk.reward
    def same(completion: str) -> float:
        return 0.5

    trainer = tiny.trainer(tmp_path, rk.to_trl(same), max_steps=2)
    seen = watched(trainer)
    trainer.train()
    assert [generation.advantages.tolist() for generation in seen] == [[0.0] * 8] * 2
    assert all("advantage_share/same" not in entry for entry in generations(trainer))
