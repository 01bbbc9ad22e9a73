"""The radar finds what is paid for the answers to other prompts, and never disturbs the training."""

from __future__ import annotations

import logging
import random

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.analyze.permuted_golds import ForeignScores, PermutedGolds
from rewardkit.batch.column import Floats
from rewardkit.online import radar as module
from rewardkit.online.radar import GROUPS, Radar
from rewardkit.tree.evaluation.scorer import Scorer

GENERATIONS = 4
ALWAYS = 1e9
"""A share of the time that suffices for a look at each batch."""


@rk.reward(pure=True)
def anywhere(completion: str, answer: str) -> float:
    return float(answer in completion.split())


def batch(step: int, hedged: float, groups: int = 6, first: int = 0) -> rk.Batch:
    """The policy knows a third of the answers; a share of the completions lists all numbers."""
    draw = np.random.default_rng(step)
    golds = [str(draw.integers(10)) for _ in range(groups) for _ in range(1)]
    texts = []
    for gold in golds:
        for _ in range(GENERATIONS):
            one = gold if draw.random() < 0.33 else "none"
            texts.append(" ".join(map(str, range(10))) if draw.random() < hedged else one)
    return rk.Batch(
        texts,
        prompts=[f"prompt {first + number}" for number in range(groups) for _ in range(GENERATIONS)],
        columns={"answer": [gold for gold in golds for _ in range(GENERATIONS)]},
        num_generations=GENERATIONS,
    )


def looked(radar: Radar, reward: rk.Reward, one: rk.Batch, step: int) -> tuple[ForeignScores | None, Floats]:
    table = Scorer(reward).score(one)
    return radar.look(one, table, table.total, step=step), table.total


def trained(reward: rk.Reward, hedged: bool, steps: int = 60) -> Radar:
    radar = Radar(reward, share=ALWAYS)
    for step in range(steps):
        looked(radar, reward, batch(step, step / steps if hedged else 0.0), step)
    return radar


@pytest.mark.slow
def test_hedging_that_spreads_is_found_and_a_policy_that_does_not_hedge_is_not() -> None:
    hedging = trained(anywhere, hedged=True)
    assert hedging.alert is not None
    assert hedging.alert.kind == "foreign"
    assert hedging.strength is not None
    assert hedging.strength >= 0.8
    honest = trained(anywhere, hedged=False)
    assert honest.searches
    assert honest.strength == 0.0


@rk.reward(pure=True)
def any_item(completion: str, answer: str) -> float:
    """A precision: one sure item of the answer earns as much as all."""
    said = completion.split()
    return sum(item in answer.split() for item in said) / len(said)


def test_a_gold_answer_that_disappears_from_full_scores_is_found() -> None:
    radar = Radar(any_item, share=ALWAYS)
    for step in range(60):
        draw = np.random.default_rng(step)
        golds = [f"{100 + 10 * step + group} {900 - step}" for group in range(6)]
        texts = [gold.split()[0] if draw.random() < step / 60 else gold for gold in golds for _ in range(GENERATIONS)]
        one = rk.Batch(
            texts,
            prompts=[f"prompt {group}" for group in range(6) for _ in range(GENERATIONS)],
            columns={"answer": [gold for gold in golds for _ in range(GENERATIONS)], "unread": ["x"] * len(texts)},
            num_generations=GENERATIONS,
        )
        looked(radar, any_item, one, step)
    assert radar.alert is not None
    assert (radar.alert.kind, radar.alert.component) == ("gold", "any_item")
    assert radar.alert.strength >= 0.8
    assert radar.evidence is not None
    assert radar.evidence.reads == {"any_item": ("answer",)}
    assert set(radar.evidence.columns[0]) == {"answer"}  # type: ignore[index]


def test_a_look_scores_whole_groups_again() -> None:
    one = batch(0, 0.0)
    scores, total = looked(Radar(anywhere, share=ALWAYS), anywhere, one, 0)
    assert scores is not None
    seen = ~np.isnan(scores.own)
    assert len(set(one.groups[seen].tolist())) == GROUPS
    assert seen.sum() == GROUPS * GENERATIONS
    np.testing.assert_array_equal(scores.own[seen], total[seen])


def test_a_batch_of_one_group_gets_the_answers_of_earlier_batches() -> None:
    radar, found = Radar(anywhere, share=ALWAYS), []
    for step in range(6):
        scores, _ = looked(radar, anywhere, batch(step, 1.0, groups=1, first=step), step)
        found.append(None if scores is None else scores.foreign.tolist())
    assert found[0] is None  # there is no other answer yet
    assert [1.0] * GENERATIONS in found


def test_what_it_returns_is_what_it_logs() -> None:
    radar = Radar(anywhere)
    assert radar.metrics(None) == {"radar/strength": 0.0}
    scores = ForeignScores(np.array([1.0, np.nan, 0.0]), np.array([0.5, np.nan, 0.0]), np.zeros(3))
    assert radar.metrics(scores) == {"radar/strength": 0.0, "radar/own": 0.5, "radar/foreign": 0.25}
    nothing = ForeignScores(np.full(2, np.nan), np.array([0.5, np.nan]), np.zeros(2))
    assert radar.metrics(nothing) == {"radar/strength": 0.0}


def test_a_reward_without_answers_is_searched_all_the_same() -> None:
    radar = Radar(rk.tags("answer"), share=ALWAYS)
    for step in range(12):
        scores, _ = looked(radar, rk.tags("answer"), batch(step, 0.0), step)
        assert scores is None
    assert radar.evidence is not None
    assert radar.evidence.foreign is None
    assert radar.strength is not None


def test_a_failure_switches_it_off_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    radar, one = Radar(anywhere, share=ALWAYS), batch(0, 0.0)
    table = Scorer(anywhere).score(one)
    with caplog.at_level(logging.WARNING), pytest.MonkeyPatch.context() as patch:
        patch.setattr(PermutedGolds, "scores", lambda *_, **__: 1 / 0)
        for step in range(3):
            assert radar.look(one, table, table.total, step=step) is None
    assert len(caplog.records) == 1
    assert "radar=False" in caplog.text
    assert radar.look(one, table, table.total, step=4) is None
    assert radar.metrics(None) == {}


def test_random_numbers_and_output_of_a_reward_do_not_reach_the_training(capsys: pytest.CaptureFixture[str]) -> None:
    @rk.reward(pure=True)
    def noisy(completion: str, answer: str) -> float:
        print("hello")
        return float(answer in completion) + 0.0 * (random.random() + np.random.random())

    radar, one = Radar(noisy, share=ALWAYS), batch(0, 0.0)
    table = Scorer(noisy).score(one)
    capsys.readouterr()
    states = random.getstate(), repr(np.random.get_state())
    assert radar.look(one, table, table.total, step=0) is not None
    assert (random.getstate(), repr(np.random.get_state())) == states
    assert capsys.readouterr().out == ""


def test_it_keeps_a_bounded_number_of_completions_evenly_over_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 8 * GROUPS * GENERATIONS)
    radar = trained(anywhere, hedged=False, steps=100)
    assert radar.evidence is not None
    steps = np.unique(radar.evidence.steps)
    assert len(radar.evidence.steps) <= module.MOST
    assert len(steps) >= 4
    assert len(set(np.diff(steps).tolist())) == 1
    assert steps[-1] > 99 - 2 * np.diff(steps)[0]


def test_a_training_that_goes_back_forgets_the_steps_that_it_trains_again() -> None:
    radar = trained(anywhere, hedged=False, steps=20)
    looked(radar, anywhere, batch(5, 0.0), 5)
    assert radar.evidence is not None
    assert np.unique(radar.evidence.steps).tolist() == list(range(6))
