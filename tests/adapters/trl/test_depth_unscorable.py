"""Samples that cannot be scored, in every kind of tree: no advantage, and no effect on the other samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import Generation, advantages, watched
from tests.adapters.trl.test_training import Recorder, early, echo, generations, judged


@rk.reward
def sure(completion: str) -> float:
    """1 for every text with an h."""
    return float("h" in completion)


def refused(text: str) -> bool:
    """The texts on which `judged` fails."""
    return "a" in text


def always(text: str, step: int) -> bool:
    return refused(text)


def first_half(text: str, step: int) -> bool:
    return step < 2 and refused(text)


BY_TIME = rk.curriculum([rk.Stage("judge", judged + 0.5 * early, until=0.5), rk.Stage("rest", echo + 0.2 * early)])
LATE = rk.curriculum([rk.Stage("form", early, until=0.5), rk.Stage("judge", judged + 0.2 * early)])
REACHED = rk.curriculum(
    [
        rk.Stage("form", early, until=rk.schedules.when_reached("early", level=0.01, window=2)),
        rk.Stage("judge", judged + 0.2 * early),
    ]
)
CASES: dict[str, tuple[rk.Reward, Callable[[str, int], bool]]] = {
    "a stage": (BY_TIME, first_half),
    "a stage by time that comes later": (LATE, lambda text, step: step >= 2 and refused(text)),
    "a stage by performance that comes later": (REACHED, lambda text, step: step >= 2 and refused(text)),
    "a rank": (rk.rank_in_group(judged) + 0.5 * echo, always),
    "normalized in the group": (rk.normalize(judged) + 0.5 * echo, always),
    "the larger of two": (rk.maximum(sure, judged) + 0.5 * echo, always),
    "a product": (rk.product(judged, early) + 0.5 * echo, always),
    "a mean": (rk.mean([(2.0, judged), (1.0, early)]) + 0.5 * echo, always),
    "behind a gate": (
        rk.gate(when=early, then=judged, threshold=0.5, otherwise=-0.5) + 0.1 * early,
        lambda text, step: refused(text) and sum(letter in "abcd" for letter in text.split()) >= 2,
    ),
    "a rank in a stage": (
        rk.curriculum(
            [rk.Stage("rank", rk.rank_in_group(judged) + 0.3 * echo, until=0.5), rk.Stage("rest", echo + early)]
        ),
        first_half,
    ),
    "only monitored": (rk.monitor(judged) + early + 0.5 * echo, lambda text, step: False),
}


def run(out: Path, reward: rk.Reward, **options: Any) -> tuple[list[Generation], Recorder, list[dict[str, float]]]:
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), limits=rk.Limits(max_failure_rate=1.0))
    trainer = tiny.trainer(out, functions, **({"max_steps": 4} | options))
    seen = watched(trainer)
    trainer.train()
    return seen, recorder, generations(trainer)


def without(lost: Any, reward: rk.Reward, batch: dict[str, Any]) -> Any:
    """Return (n,) the advantages of groups without the rows in `lost`."""
    found = np.zeros(len(lost))
    others = batch["others"]
    for start in range(0, len(lost), 4):
        rows = [row for row in range(start, start + 4) if not lost[row]]
        if rows:
            columns = {name: [others[name][row] for row in rows] for name in ("prompts", "answer")}
            texts = [batch["completions"][row] for row in rows]
            total = rk.score(reward, texts, progress=others["progress"], **columns).total  # type: ignore[arg-type]
            found[rows] = advantages(total, len(rows))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_unscorable_samples_have_no_advantage_and_do_not_change_the_others(tmp_path: Path, name: str) -> None:
    reward, fails = CASES[name]
    seen, recorder, entries = run(tmp_path, reward)
    lost_at_all = []
    for generation, batch, entry in zip(seen, recorder.batches, entries, strict=True):
        step = batch["others"]["progress"].step
        lost = np.array([fails(text, step) for text in batch["completions"]])
        lost_at_all.append(lost.any())
        assert entry["unscorable"] == pytest.approx(lost.mean())
        assert (generation.advantages[lost] == 0.0).all()
        for values in generation.columns.values():
            assert np.isnan(values[lost]).all()
        np.testing.assert_allclose(generation.advantages, without(lost, reward, batch), atol=1e-3)
        assert np.count_nonzero(generation.advantages) > 0
    assert any(lost_at_all) == (name != "only monitored")


def test_an_unscorable_group_does_not_train(tmp_path: Path) -> None:
    @rk.reward
    def down_for_one(completion: str, prompt: str) -> float:
        if prompt[0] in "abcd":
            raise rk.RewardFailure("the judge is down")
        return completion.count(prompt[0]) / 4

    reward = rk.normalize(down_for_one) + 0.5 * rk.rank_in_group(early)
    seen, recorder, entries = run(tmp_path, reward)
    wholes = 0
    for generation, batch, entry in zip(seen, recorder.batches, entries, strict=True):
        lost = np.array([prompt[0] in "abcd" for prompt in batch["others"]["prompts"]])
        wholes += sum(bool(lost[start : start + 4].all()) for start in (0, 4))
        assert (generation.advantages[lost] == 0.0).all()
        np.testing.assert_allclose(generation.advantages, without(lost, reward, batch), atol=1e-3)
        if lost.all():
            assert not any(label.startswith("advantage_share/") for label in entry)
    assert wholes > 0


def test_a_fallback_scores_the_whole_group(tmp_path: Path) -> None:
    reward = rk.fallback(judged, 0.5 * early) + 0.1 * echo
    seen, recorder, entries = run(tmp_path, reward)
    for generation, batch, entry in zip(seen, recorder.batches, entries, strict=True):
        assert entry["unscorable"] == 0.0
        table = rk.score(reward, batch["completions"], **batch["others"])
        np.testing.assert_allclose(generation.advantages, advantages(table.total, 4), atol=1e-3)
        for start in range(0, 8, 4):
            group = slice(start, start + 4)
            texts = batch["completions"][group]
            stands_in = any(map(refused, texts))
            alone = rk.score(0.5 * early if stands_in else judged, texts).total
            np.testing.assert_allclose((table.total - 0.1 * table["echo"])[group], alone, atol=1e-9)
