"""Real trainings that are asked for another reward: what they take, what they refuse, and what that costs: nothing."""

from __future__ import annotations

import logging
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
import torch

from rewardkit.online import radar
from rewardkit_adapters.live import trial
from rewardkit_adapters.live.mailbox import Answer, Mailbox
from rewardkit_adapters.live.sources import MODULES
from rewardkit_adapters.trl.functions import RewardFunction
from rewardkit_adapters.trl.trainer import Trainer
from tests.adapters.live.rewards import BROKEN, FOLLOWING, HEAD, OTHERS
from tests.adapters.live.updated import At, asked
from tests.adapters.trl import tiny
from tests.adapters.trl.stand_ins import plain
from tests.adapters.trl.test_training import early, echo, generations

pytestmark = pytest.mark.slow
Plan = Mapping[int, Callable[[], Any]]


@pytest.fixture(autouse=True)
def _imports_of_its_own() -> Iterator[None]:
    yield
    MODULES.keep(())


def train(out: Path, functions: Any, plan: Plan, **options: Any) -> Any:
    """A real training with a callback that asks for updates after some steps."""
    trainer = tiny.trainer(out, functions, callbacks=[functions.callback(), At(plan)], **options)
    trainer.train()
    functions.flush()
    return trainer


def answers(out: Path) -> list[Answer]:
    mailbox = Mailbox(out / "run")
    return [answer for request in mailbox.requests() if (answer := mailbox.answer(request.update)) is not None]


def radar_of(trainer: Any, functions: Any) -> Any:
    session = functions._evaluators[0].session(Trainer(trainer))
    return None if session is None else session.radar


def weights(trainer: Any) -> list[Any]:
    return [one.detach().clone() for one in trainer.model.parameters()]


def same(first: list[Any], second: list[Any]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("columns", ["terms", "components"])
def test_the_components_change_while_it_trains(tmp_path: Path, columns: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radar, "SHARE", 1e9)  # it looks at each batch
    functions = rk.to_trl(early + 0.5 * echo, outputs=columns, record=tmp_path / "run", radar="rescore")
    given = {"reward_weights": functions.reward_weights} if columns == "components" else {}
    trainer = train(tmp_path, functions, {2: asked(tmp_path, "others", OTHERS)}, max_steps=4, **given)
    assert trainer.reward_funcs is functions
    if columns == "components":
        assert functions.reward_weights == [0.25, 0.5, 0.0]
        assert trainer.reward_weights.tolist() == [0.25, 0.5, 0.0]
        assert trainer.reward_func_names == ["late", "early", "watched"]
    else:
        assert trainer.reward_weights.tolist() == functions.reward_weights == [1.0, 1.0]
        assert trainer.reward_func_names == ["late", "early"]
    assert len(trainer.reward_processing_classes) == len(functions)
    before, after = generations(trainer)[:2], generations(trainer)[2:]
    for entry in before:
        assert entry["reward_version"] == 0.0
        assert {"rewards/early/mean", "rewards/echo/mean"} <= entry.keys()
        assert "rewards/late/mean" not in entry
    for entry in after:
        assert entry["reward_version"] == 1.0
        assert "rewards/echo/mean" not in entry
        total = 0.25 * entry["components/late"] + 0.5 * entry["components/early"]
        assert entry["reward"] == pytest.approx(total, abs=1e-6)
        assert entry["weights/late"] == 0.25
    run = rk.open_run(tmp_path / "run")
    rows = run.scores().df()
    assert rows[rows.step < 2]["components/echo"].notna().all()
    assert rows[rows.step >= 2]["components/echo"].isna().all()
    assert rows[rows.step >= 2]["components/late"].notna().all()
    prints = [version for (version,) in run.sql("select distinct version from scores order by step").fetchall()]
    (answer,) = answers(tmp_path)
    assert (answer.status, answer.step, answer.before) == ("applied", 2, 0)
    assert set(answer.fingerprints) == set(prints)
    assert functions.reward.fingerprint == answer.fingerprints[1]
    assert answer.trial is not None
    last = rows[rows.step == 1]
    assert answer.trial["components"]["early"][0] == pytest.approx(last["components/early"].mean())
    assert answer.trial["total"][0] == pytest.approx(last.total.mean())
    fresh = rk.score(functions.reward, run.completions(step=1).df().completion.tolist())
    assert answer.trial["total"][1] == pytest.approx(fresh.total.mean())
    evidence = radar_of(trainer, functions).evidence
    assert set(evidence.steps) == {2, 3}
    assert (set(evidence.components), evidence.monitored) == ({"late", "early", "watched"}, {"watched"})
    assert evidence.totals.tolist() == rows[rows.step >= 2].total.tolist()
    assert rows[rows.step < 2]["foreign/total"].notna().all()
    assert rows[rows.step >= 2]["foreign/total"].isna().all()  # the new reward reads no column


def test_what_is_broken_is_refused_and_the_training_is_as_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("exit", "raises", "dies", "hangs", "draws")  # the others are tried in test_trial.py, which is faster

    def ask(name: str) -> None:
        monkeypatch.setattr(trial, "SECONDS", 2.0 if name == "hangs" else 60.0)
        asked(tmp_path, name, BROKEN[name][0])()

    plan = {step: partial(ask, name) for step, name in enumerate(names, 1)}
    steps = len(plan) + 2
    trainers = []
    threads = 0
    for name, wanted in (("plain", {}), ("asked", plan)):
        threads = threading.active_count()
        functions = rk.to_trl(early + 0.5 * echo, record=(tmp_path / "run") if wanted else tmp_path / name)
        random.seed(1), np.random.seed(1)
        trainers.append((train(tmp_path, functions, wanted, max_steps=steps), random.random(), np.random.random()))
    (without, *drawn), (refused, *drawn_too) = trainers
    assert same(weights(without), weights(refused))
    assert drawn == drawn_too
    assert threading.active_count() <= threads + 1  # the recorder's
    mailbox = Mailbox(tmp_path / "run")
    requests = mailbox.requests()
    assert len(requests) == len(plan)
    for request in requests:
        answer = mailbox.answer(request.update)
        assert answer is not None
        word = BROKEN[Path(request.target).stem][1]
        assert (answer.status, word in answer.reason) == ("refused", True), (request.target, answer.reason)
    assert {entry["reward_version"] for entry in generations(refused)} == {0.0}
    assert "broken" not in sys.modules
    assert "hangs" not in sys.modules


def test_numbers_change_and_rollbacks_lead_back_step_by_step(
    tmp_path: Path, caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(radar, "SHARE", 1e9)  # it looks at each batch
    run = tmp_path / "run"
    plan = {
        2: lambda: rk.update_config(run, weights={"echo": 2.0}),
        3: lambda: rk.update_config(run, weights={"early": "linear(1, 0)"}),
        4: lambda: rk.update_config(run, weights={"early": 3.0}),
        5: lambda: rk.update_config(run, rollback=True),
        6: lambda: rk.update_config(run, rollback=True),
        7: lambda: rk.update_config(run, rollback=True),
        8: lambda: rk.update_config(run, rollback=3),
    }
    functions = rk.to_trl(early + 0.5 * echo, record=run, radar="rescore")
    with caplog.at_level(logging.INFO, logger="rewardkit"):
        trainer = train(tmp_path, functions, plan, max_steps=10)
    assert "reward version 4 is active from step 5: rollback to version 2" in caplog.text
    assert "reward version 7 is active from step 8: rollback to version 3" in caplog.text
    echoes = [entry["weights/echo"] for entry in generations(trainer)]
    assert echoes == [0.5, 0.5, 2.0, 2.0, 2.0, 2.0, 2.0, 0.5, 2.0, 2.0]
    earlies = [entry["weights/early"] for entry in generations(trainer)]
    assert earlies == pytest.approx([1, 1, 1, 0.7, 3, 0.5, 1, 1, 3, 3])
    assert rk.get_config(run)["weights"] == {"early": 3.0, "echo": 2.0}
    said = rk.open_run(run).logs().df().sort_values("step")
    assert said.message.iloc[0] == "reward version 1 is active from step 2: weights.echo: 2.0 replaces 0.5"
    assert (
        said.message.iloc[2]
        == "reward version 3 is active from step 4: weights.early: 3.0 replaces linear(1.0, 0.0, start=0.0, end=1.0)"
    )
    assert [one.replaced.get("weights", {}).get("early") for one in answers(tmp_path)[1:4]] == [
        1.0,
        "linear(1.0, 0.0, start=0.0, end=1.0)",
        None,
    ]
    prints = [one.fingerprints[1] for one in answers(tmp_path)]
    assert said.version.tolist() == prints
    assert prints[3:5] == [prints[1], prints[0]]
    assert prints[6] == prints[2]
    seen = rk.open_run(run).scores().df()
    seen = seen[~seen.step.isin([3, 5])]  # a schedule counts there
    assert seen["foreign/own"].tolist() == seen["total"].tolist()  # of the version that scored the row
    paid = seen["foreign/total"] - seen["components/early"] * seen.step.map(dict(enumerate(earlies)))
    assert set((paid / seen.step.map(dict(enumerate(echoes)))).round(6)) == {0.0, 1.0}
    evidence = radar_of(trainer, functions).evidence
    assert set(evidence.steps) == {8, 9}  # since the last change
    assert evidence.foreign.foreign.tolist() == seen[seen.step >= 8]["foreign/total"].tolist()


def test_a_reward_of_golds_of_which_one_cannot_be_read_is_taken_and_of_a_wrong_column_refused(tmp_path: Path) -> None:
    rows = tiny.dataset(32).map(lambda row, number: {"answer": "N/A" if number % 4 == 1 else "1"}, with_indices=True)
    functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
    plan = {
        1: asked(tmp_path, "wrong", HEAD + "reward = early + rk.number('prompt_kind')\n"),
        2: asked(tmp_path, "golds", HEAD + "reward = early + rk.number('answer')\n"),
    }
    rows = rows.add_column("prompt_kind", ["letters", "other letters"] * 16)
    trainer = train(tmp_path, functions, plan, max_steps=16, given={"train_dataset": rows})
    wrong, golds = answers(tmp_path)
    assert (wrong.status, "cannot read any gold answer in the last batch" in wrong.reason) == ("refused", True)
    assert golds.status == "applied"
    assert trainer.state.global_step == 16
    entries = generations(trainer)
    assert not any("unparsable_gold/number" in entry for entry in entries[:2])
    shares = [entry.get("unparsable_gold/number", 0.0) for entry in entries[2:]]
    assert shares == [entry["unscorable"] for entry in entries[2:]]
    assert sum(shares) > 0


def test_nothing_to_go_back_to_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    plan = {1: lambda: rk.update_config(run, rollback=True), 2: lambda: rk.update_config(run, rollback=7)}
    train(tmp_path, rk.to_trl(early, record=run), plan, max_steps=4)
    assert [(one.status, "nothing to go back to" in one.reason) for one in answers(tmp_path)] == [("refused", True)] * 2


def test_functions_beside_ours_keep_their_places_and_weights(tmp_path: Path) -> None:
    def first(completions: list[Any], **columns: Any) -> list[float]:
        return [0.125] * len(completions)

    functions = [first] + rk.to_trl(early + 0.5 * echo, record=tmp_path / "run") + [plain]  # noqa: RUF005
    clash = HEAD + "reward = early + late.named('plain')\n"
    three = HEAD + "reward = early.named('one') + early.named('two') + late\n"
    plan = {1: asked(tmp_path, "clash", clash), 2: asked(tmp_path, "three", three)}
    with pytest.warns(rk.errors.RewardKitWarning, match="also has reward functions"):
        trainer = train(
            tmp_path, functions, plan, max_steps=4, reward_weights=[0.25, 1.0, 1.0, 0.0625], log_completions=True,
            num_completions_to_print=0,
        )  # fmt: skip
    assert [one.status for one in answers(tmp_path)] == ["refused", "applied"]
    assert "reward function named 'plain'" in answers(tmp_path)[0].reason
    assert trainer.reward_func_names == ["first", "one", "two", "late", "plain"]
    assert trainer.reward_funcs[0] is first
    assert trainer.reward_funcs[-1] is plain
    assert trainer.reward_weights.tolist() == [0.25, 1.0, 1.0, 1.0, 0.0625]
    last = generations(trainer)[-1]
    ours = sum(last[f"rewards/{name}/mean"] for name in ("one", "two", "late"))
    assert last["reward"] == pytest.approx(0.25 * 0.125 + ours + 0.0625 * last["rewards/plain/mean"], abs=1e-6)


def test_a_schedule_that_stays_remembers_what_it_has_seen(tmp_path: Path) -> None:
    track = rk.schedules.track("early", 0.0, 1.0, half_life=3)
    functions = rk.to_trl(early * track + 0.5 * echo, record=tmp_path / "run")
    new = rk.schedules.when_reached("late", level=0.9)
    text = FOLLOWING.replace("0.25 * late", "0.25 * late * rk.schedules.when_reached('late', level=0.9)")
    trainer = train(tmp_path, functions, {3: asked(tmp_path, "following", text)}, max_steps=6)
    history = generations(trainer)
    state = track.init()  # type: ignore[attr-defined]
    for entry in history:
        assert entry["weights/early"] == pytest.approx(track.value(state), abs=1e-6)  # type: ignore[attr-defined]
        state = track.update(state, {"early": entry["components/early"]})  # type: ignore[attr-defined]
    kept = trainer.state.stateful_callbacks["rewardkit"]
    assert kept["updates"] == {"run": 1}
    (reached,) = [state for key, state in kept.items() if key.startswith("when_reached")]
    assert len(reached["recent"]) == 3  # since it is there
    assert new in functions._evaluators[0].memory.states


def test_steps_without_a_generation_wait_for_the_next_one(tmp_path: Path) -> None:
    functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
    plan = {1: asked(tmp_path, "others", OTHERS)}
    trainer = train(tmp_path, functions, plan, max_steps=8, steps_per_generation=4)
    versions = rk.open_run(tmp_path / "run").sql("select step, count(distinct version) from scores group by step")
    assert sorted(versions.fetchall()) == [(0, 1), (4, 1)]
    assert [(entry["step"], entry["reward_version"]) for entry in generations(trainer)] == [(1, 0.0), (5, 1.0)]
    metrics = rk.open_run(tmp_path / "run").metrics().df()
    loss = metrics[metrics.name == "trainer/loss"].sort_values("step")
    old, new = answers(tmp_path)[0].fingerprints
    assert loss.version.tolist() == [old] * 4 + [new] * 4


def test_completions_are_logged_with_evaluations_between(tmp_path: Path) -> None:
    """The first batch of the new columns is a small one of an evaluation, beside prompts of a larger one."""
    functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
    trainer = train(
        tmp_path,
        functions,
        {1: asked(tmp_path, "others", OTHERS), 3: lambda: rk.update_config(tmp_path / "run", rollback=True)},
        max_steps=5,
        steps_per_generation=2,
        eval_rows=1,
        eval_strategy="steps",
        eval_steps=1,
        per_device_eval_batch_size=4,
        log_completions=True,
        num_completions_to_print=0,
    )
    evaluated = [entry["eval_reward_version"] for entry in generations(trainer, "eval_")]
    assert evaluated == [0.0, 1.0, 1.0, 2.0, 2.0]
    assert set(trainer._logs["rewards"]) == {"early", "echo"}
    assert set(trainer._logs["extra"]) == {"components/early", "components/echo", "notes"}
    lengths = {len(held) for part in ("rewards", "extra") for held in trainer._logs[part].values()}
    assert lengths == {len(trainer._logs["prompt"])}


def test_without_a_callback_the_record_takes_them_too(tmp_path: Path) -> None:
    functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
    trainer = tiny.trainer(tmp_path, functions, callbacks=[At({2: asked(tmp_path, "others", OTHERS)})], max_steps=5)
    trainer.train()
    assert [entry["reward_version"] for entry in generations(trainer)] == [0, 0, 1, 1, 1]


def test_where_the_trainer_is_in_another_process_requests_are_refused(tmp_path: Path) -> None:
    from rewardkit_adapters.trl.evaluator import _revived

    functions = rk.to_trl(early, record=tmp_path / "run")
    _, (_, *parts) = functions._evaluators[0].__reduce__()
    evaluator = _revived("another process", *parts)
    Mailbox(tmp_path / "run").send("rollback")
    RewardFunction(evaluator, "early")(completions=["a"], prompts=["a"])
    (answer,) = answers(tmp_path)
    assert answer.status == "refused"
    assert "asynchronous GRPO" in answer.reason


@rk.reward(deterministic=False)
def noisy(completion: str) -> float:
    return float(torch.rand(1)) * 0.1 + random.random() * 0.1


def test_what_is_drawn_while_an_update_is_tried_and_loaded_is_drawn_beside_the_training(tmp_path: Path) -> None:
    torches = (
        "import random, sys\nrandom.seed(3)\nif 'torch' in sys.modules:\n    sys.modules['torch'].manual_seed(3)\n"
    )
    drawing = torches + OTHERS
    plans: dict[str, Plan] = {
        "nothing": {},
        "numbers": {2: lambda: rk.update_config(tmp_path / "numbers" / "run", weights={"early": 1.0})},
        "plain": {2: lambda: asked(tmp_path / "plain", "others", OTHERS)()},
        "drawing": {2: lambda: asked(tmp_path / "drawing", "others", drawing)()},
    }
    found = {}
    for name, plan in plans.items():
        random.seed(1)
        found[name] = weights(
            train(tmp_path / name, rk.to_trl(early + noisy, record=tmp_path / name / "run"), plan, max_steps=5)
        )
    assert [one.status for name in ("numbers", "plain", "drawing") for one in answers(tmp_path / name)] == [
        "applied"
    ] * 3
    assert same(found["nothing"], found["numbers"])
    assert same(found["plain"], found["drawing"])
    assert not same(found["nothing"], found["plain"])


def test_two_lists_of_one_trainer_have_versions_of_their_own(tmp_path: Path) -> None:
    first, second = (rk.to_trl(one, record=tmp_path / name) for one, name in ((early, "run"), (echo, "other")))
    functions = first + second
    plan = {
        1: asked(tmp_path, "others", OTHERS.replace("early", "soon")),
        2: lambda: rk.update_config(tmp_path / "other", rollback=0),
    }
    with pytest.warns(rk.errors.RewardKitWarning, match="also has reward functions"):
        trainer = train(tmp_path, functions, plan, max_steps=4)
    assert trainer.reward_func_names == ["late", "soon", "echo"]
    assert trainer.state.stateful_callbacks["rewardkit"]["updates"] == {"run": 1, "other": 1}


def test_updates_can_be_left_out(tmp_path: Path) -> None:
    functions = rk.to_trl(early, record=tmp_path / "run", updates=False)
    trainer = train(tmp_path, functions, {}, max_steps=2)
    assert not (tmp_path / "run/updates").exists()
    assert "reward_version" not in generations(trainer)[0]


def test_a_second_training_begins_with_the_scripts_own_reward(tmp_path: Path) -> None:
    functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
    trainer = train(tmp_path, functions, {1: asked(tmp_path, "others", OTHERS)}, max_steps=3)
    assert trainer.reward_func_names == ["late", "early"]
    trainer.train()
    assert trainer.reward_func_names == ["early", "echo"]
    assert [entry["reward_version"] for entry in generations(trainer)] == [0.0] * 3


def test_a_run_whose_version_is_lost_says_so(tmp_path: Path) -> None:
    import shutil

    functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
    options: dict[str, Any] = {"max_steps": 4, "save_strategy": "steps", "save_steps": 2}
    train(tmp_path, functions, {1: asked(tmp_path, "others", OTHERS)}, **options)
    shutil.rmtree(tmp_path / "run/updates")
    again = rk.to_trl(early + 0.5 * echo, record=tmp_path / "run")
    trainer = tiny.trainer(tmp_path, again, callbacks=[again.callback()], **options)
    with pytest.raises(rk.RewardFailure, match="version 1 of its reward, which cannot be loaded"):
        trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
