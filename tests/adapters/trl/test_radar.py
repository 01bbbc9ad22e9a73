"""A real training whose policy learns to list all answers: the log, the record, the guard and the alerts show it."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
pytest.importorskip("duckdb")
from rewardkit.online import radar
from rewardkit.page.alert_report import alert_report
from rewardkit.page.alerts import Search, alerts_of, read_evidence, watched_run
from rewardkit_adapters.trl.guards import GuardCallback, GuardConfig
from rewardkit_adapters.trl.trainer import Trainer
from tests.adapters.trl import tiny
from tests.adapters.trl.stand_ins import StandInTrainer
from tests.adapters.trl.test_training import generations

STEPS = 40
_EOS = 1


@rk.reward(pure=True)
def anywhere(completion: str, answer: str) -> float:
    """Pays for any of many answers, if one of them is right."""
    return float(answer in completion.split())


@rk.reward(pure=True)
def drawn(completion: str, answer: str) -> float:
    """Draws from the generators of the training, without saying so."""
    import torch

    noise = random.random() + np.random.random() + float(torch.rand(()))
    return 0.5 * completion.startswith(answer) + 1e-9 * noise


def dataset() -> Any:
    letters = np.random.default_rng(1).choice(list(tiny.LETTERS), 64)
    from datasets import Dataset

    return Dataset.from_dict({"prompt": [tiny.PROMPTS[row % 8] for row in range(64)], "answer": letters.tolist()})


class Hedging:
    """Writes one letter, or, more and more often, all of them."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self.draws = np.random.default_rng(0)

    def __call__(self, prompt_ids: Any, *_: Any, **__: Any) -> Any:
        letters = self.trainer.processing_class(tiny.LETTERS)["input_ids"]
        hedges = self.draws.random(len(prompt_ids)) < self.trainer.state.global_step / STEPS
        return [
            [*(letters if all_of_them else self.draws.permutation(letters)[:1]), _EOS] for all_of_them in hedges
        ], None


@dataclass
class Hacked:
    folder: Path
    log: list[dict[str, float]]
    said: list[str]


@pytest.fixture(scope="module")
def hacked(tmp_path_factory: pytest.TempPathFactory) -> Hacked:
    folder, said = tmp_path_factory.mktemp("hacked"), list[str]()
    functions = rk.to_trl(anywhere, record=folder / "run")
    guard = GuardCallback([GuardConfig(watch="radar", above=0.8, window=5)], functions, tell=said.append)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radar, "SHARE", 1e9)
        trainer = tiny.trainer(
            folder,
            functions,
            callbacks=[guard],
            given={"train_dataset": dataset()},
            per_device_train_batch_size=32,
            max_completion_length=12,
            max_steps=STEPS,
        )
        trainer._generate_single_turn = Hedging(trainer)
        trainer.train()
    functions.flush()
    return Hacked(folder / "run", generations(trainer), said)


@pytest.mark.slow
def test_the_log_shows_what_is_paid_for_the_answers_to_other_prompts(hacked: Hacked) -> None:
    foreign = [entry["radar/foreign"] for entry in hacked.log]
    assert np.mean(foreign[:5]) < 0.4
    assert np.mean(foreign[-5:]) > 0.8
    strength = [entry["radar/strength"] for entry in hacked.log]
    assert strength[0] == 0.0
    assert strength[-1] >= 0.8


@pytest.mark.slow
def test_a_guard_names_the_alert(hacked: Hacked) -> None:
    [said] = hacked.said
    assert "radar above 0.8" in said
    assert "even with another prompt's gold answer" in said


@pytest.mark.slow
def test_the_record_has_the_totals_and_the_alert(hacked: Hacked) -> None:
    run = rk.open_run(hacked.folder)
    same = 'count(*) filter ("foreign/own" = total)'
    [(rows, known, own)] = run.sql(f'select count(*), count("foreign/total"), {same} from scores').fetchall()
    assert own == known == STEPS * radar.GROUPS * 4 == rows / 2
    by_step = 'select step, avg("foreign/total") from scores group by step order by step'
    recorded = [value for _, value in run.sql(by_step).fetchall()]
    assert recorded == pytest.approx([entry["radar/foreign"] for entry in hacked.log])
    [alert] = [alert for alert in alerts_of(hacked.folder) if alert.kind == "foreign"]
    assert alert.strength >= 0.8
    evidence = read_evidence(hacked.folder)
    assert evidence.foreign is not None
    assert evidence.foreign.foreign[list(alert.rows)].tolist() == [1.0] * len(alert.rows)


@pytest.mark.slow
def test_the_training_is_the_same_with_and_without_the_radar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radar, "SHARE", 1e9)
    logs, weights = [], []
    for wanted in (True, False):
        random.seed(7)
        trainer = tiny.trainer(
            tmp_path, rk.to_trl(drawn, radar=wanted), max_steps=6, given={"train_dataset": dataset()}
        )
        trainer.train()
        logs.append(generations(trainer))
        weights.append([one.detach().clone() for one in trainer.model.parameters()])
    assert [entry.keys() for entry in logs[0]] != [entry.keys() for entry in logs[1]]
    for with_radar, without in zip(*logs, strict=True):
        kept = {name: value for name, value in with_radar.items() if "radar/" not in name and "time" not in name}
        assert kept == {name: value for name, value in without.items() if "time" not in name}
    assert all(bool((one == other).all()) for one, other in zip(*weights, strict=True))


@pytest.mark.slow
def test_a_guard_without_a_radar_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    functions = rk.to_trl(anywhere, radar=False)
    guard = GuardCallback([GuardConfig(watch="radar", above=0.8)], functions)
    with caplog.at_level(logging.WARNING), pytest.raises(rk.RewardDefinitionError, match="radar=True"):
        tiny.trainer(tmp_path, functions, callbacks=[guard]).train()


rows_scored: list[str] = []


@rk.reward(scope="batch")
def counted(completion: list[str], answer: list[str]) -> list[float]:
    return plain(completion, answer)


@rk.reward(scope="batch", pure=True)
def counted_pure(completion: list[str], answer: list[str]) -> list[float]:
    return plain(completion, answer)


def plain(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    rows_scored.extend(completions)
    return [float(gold in text.split()) for text, gold in zip(completions, answer, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reward", "option", "again"),
    [
        (counted, True, False),
        (plain, True, False),
        (counted, False, False),
        (counted_pure, False, False),
        (counted_pure, True, True),
        (rk.from_trl(plain, pure=True), True, True),
        (counted, "rescore", True),
        (plain, "rescore", True),
    ],
)
def test_a_function_is_called_once_per_row_unless_it_is_declared_pure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reward: Any, option: Any, again: bool
) -> None:
    monkeypatch.setattr(radar, "SHARE", 1e9)
    rows_scored.clear()
    functions = rk.to_trl(reward, radar=option, record=tmp_path / "run")
    tiny.trainer(tmp_path, functions, max_steps=2, given={"train_dataset": dataset()}).train()
    functions.flush()
    rows = rk.open_run(tmp_path / "run").sql("select completion from completions").fetchall()
    assert len(rows) == 16
    if again:
        assert len(rows_scored) == 3 * len(rows)  # with its own and another gold answer
    else:
        assert sorted(rows_scored) == sorted(text for (text,) in rows)
    remark = alert_report(tmp_path / "run").remark
    search = Search()  # of the page
    search.run(watched_run(tmp_path / "run"))
    assert search.remark in ("", remark)
    if option is False:
        assert "radar=False" in remark
    elif again:
        assert remark == search.remark == ""
    else:
        assert search.remark == remark
        assert all(words in remark for words in (functions.reward.name, "pure=True", 'radar="rescore"'))


def test_another_option_is_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="rescore"):
        rk.to_trl(anywhere, radar="always")  # type: ignore[arg-type]


def test_another_reward_has_another_radar() -> None:
    functions, replaced = rk.to_trl(rk.exact("answer")), rk.to_trl(0.5 * rk.exact("answer"))
    trainer = StandInTrainer(functions)
    trainer.rewards(["a", "b", "b", "b"], answer=["a", "a", "b", "b"])
    evaluator, behind = functions._evaluators[0], Trainer.behind(trainer._log_metric, functions._evaluators[0])
    session = evaluator.session(behind)
    assert session is not None
    before = session.radar
    assert before is not None
    assert before.evidence is not None
    evaluator.take(replaced._evaluators[0].layout, behind, trainer.state)
    after = session.radar
    assert after is not None
    assert after is not before
    assert after.evidence is None
    off = StandInTrainer(rk.to_trl(rk.exact("answer"), radar=False))
    off.rewards(["a", "b"], answer=["a", "a"])
    assert "radar/strength" not in off.metrics()
