"""Real GRPO runs with a record: every number in it is the one that the trainer logged and trained on."""

from __future__ import annotations

import json
import logging
import multiprocessing
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
pytest.importorskip("duckdb")
from rewardkit.analyze.advantages import derive
from rewardkit.record.run import Run, open_run
from tests.adapters.logs import steady
from tests.adapters.trl import tiny
from tests.adapters.trl.recorded import REWARD
from tests.adapters.trl.stand_ins import StandInTrainer, call, called_elsewhere, polite, short
from tests.adapters.trl.test_resume import REACHED
from tests.adapters.trl.test_training import counted, early, echo, generations, judged, no_signal

KINDS = ("terms", "components")


def rows(run: Run, **options: Any) -> Any:
    """All scores of a run, in order."""
    return run.scores(**options).df().sort_values(["attempt", "part", "rank", "row"]).reset_index(drop=True)


def metrics(run: Run, *, training: bool = True) -> dict[int, dict[str, float]]:
    """Step -> name -> value, as the main process wrote it."""
    found: dict[int, dict[str, float]] = {}
    for step, name, value in run.sql(
        f"select step, name, value from metrics where rank = 0 and training = {training}"
    ).fetchall():
        found.setdefault(step, {})[name] = value
    return found


class Advantages:
    """The results of the trainer for each batch."""

    def __init__(self, trainer: Any) -> None:
        self.seen: list[float] = []
        prepare = trainer._generate_and_score_completions

        def watched(inputs: Any) -> Any:
            output = prepare(inputs)
            self.seen += output["advantages"].tolist()
            return output

        trainer._generate_and_score_completions = watched


def assert_like_the_trainer(run: Run, trainer: Any, advantages: Advantages, columns: str = "terms") -> None:
    """The record equals the log and the advantages of the trainer."""
    recorded = rows(run)
    np.testing.assert_allclose(recorded.advantage, advantages.seen, atol=2e-5)
    said = metrics(run)
    for entry in generations(trainer):
        step = round(entry["step"]) - 1
        batch = recorded[recorded.step == step]
        assert batch.total.mean() == pytest.approx(entry["reward"], abs=1e-6)
        assert batch.length.mean() == pytest.approx(entry["completions/mean_length"])
        for name in run.terms:
            assert batch[f"{columns}/{name}"].mean() == pytest.approx(entry[f"rewards/{name}/mean"], abs=1e-6)
        for component in run.components:
            mean = entry[f"components/{component}"]
            assert batch[f"components/{component}"].mean() == pytest.approx(mean, abs=1e-6)
        for name, value in entry.items():
            if name in said[step]:
                assert said[step][name] == pytest.approx(value, abs=1e-6), name
            elif name != "step":
                assert said[step][f"trainer/{name}"] == pytest.approx(value, abs=1e-6, nan_ok=True), name


def assert_derived(run: Run, recorded: Any, advantages: Advantages, options: dict[str, Any]) -> None:
    """The way in which the trainer computed its advantages can be told from the record."""
    way = "each" if "multi_objective_aggregation" in options else options.get("scale_rewards", "group")
    for part, batch in recorded.groupby("part"):
        numbers = {kind: {name: batch[f"{kind}/{name}"].to_numpy() for name in run.terms} for kind in KINDS}
        seen = np.array(advantages.seen)[8 * part : 8 * part + 8]
        groups = batch.group.to_numpy().astype(np.int64)
        found = derive(seen, batch.total.to_numpy(), numbers["terms"], groups, numbers["components"])
        assert found is not None
        assert found.way == way
        np.testing.assert_allclose(found.advantages, seen, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ("terms", {}),
        ("components", {"scale_rewards": "batch"}),
        ("terms", {"scale_rewards": "none"}),
        ("components", {"multi_objective_aggregation": "normalize_then_sum"}),
    ],
)
def test_a_run_is_recorded_as_it_was(tmp_path: Path, columns: Any, options: dict[str, Any]) -> None:
    reward = early + 0.5 * counted * rk.schedules.linear(0.5, 1.0) + 0.2 * echo
    functions = rk.to_trl(reward, outputs=columns, record=tmp_path / "record")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights, max_steps=4, **options)
    advantages = Advantages(trainer)
    trainer.train()
    run = open_run(tmp_path / "record")
    assert run.components == ["early", "counted", "echo"]
    assert run.steps == [0, 1, 2, 3]
    assert run.state == "finished"
    assert_like_the_trainer(run, trainer, advantages, columns)
    recorded = rows(run)
    assert_derived(run, recorded, advantages, options)
    assert recorded.version.unique().tolist() == [functions.reward.fingerprint]
    assert recorded.epoch.tolist()[::8] == pytest.approx([entry["epoch"] - 1 / 16 for entry in generations(trainer)])
    assert recorded[recorded.step == 0].group.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    said = metrics(run)[2]
    assert {
        "limit/tokens",
        "seconds/early",
        "seconds/scoring",
        "diversity/distinct",
        "trainer/loss",
        "weights/counted",
    } <= said.keys()
    durations = run.sql("select component, sum(count), min(seconds) > 0 from durations group by all order by all")
    assert [name for name, *_ in durations.fetchall()] == ["counted", "early", "echo"]
    [source] = json.loads(run.versions().fetchall()[0][run.versions().columns.index("sources")]).values()
    assert "def early" in source
    texts = run.sql("select prompt, any_value(prompt_length) from scores join prompts using (prompt_id) group by all")
    for prompt, length in texts.fetchall():
        assert length == len(trainer.processing_class(text=prompt)["input_ids"])
    text = run.sql("select completion, prompt from completions join prompts using (prompt_id) where step = 1").df()
    assert len(text) == 8
    assert set(text.prompt) <= set(tiny.PROMPTS)


@pytest.mark.slow
def test_recording_changes_no_number(tmp_path: Path) -> None:
    logged = []
    for name, record in (("with", tmp_path / "record"), ("without", None)):
        trainer = tiny.trainer(tmp_path / name, rk.to_trl(REWARD, record=record), max_steps=4)
        trainer.train()
        logged.append([steady(entry) for entry in generations(trainer)])
    assert [entry.pop("reward_version") for entry in logged[0]] == [0.0] * 4  # the one that is there besides
    assert logged[0] == logged[1]


def test_numbers_are_recorded_without_being_logged(tmp_path: Path) -> None:
    trainer = tiny.trainer(tmp_path, rk.to_trl(REWARD, record=tmp_path / "record", logs=False), max_steps=2)
    trainer.train()
    assert "components/early" not in generations(trainer)[0]
    said = metrics(open_run(tmp_path / "record"))
    assert {"components/early", "advantage_share/early", "unscorable", "trainer/loss"} <= said[1].keys()


@pytest.mark.slow
def test_samples_that_cannot_be_scored_have_no_advantage(tmp_path: Path) -> None:
    functions = rk.to_trl(judged + 0.5 * early, record=tmp_path / "record", limits=rk.Limits(max_failure_rate=1.0))
    trainer = tiny.trainer(tmp_path, functions, max_steps=3)
    advantages = Advantages(trainer)
    trainer.train()
    run = open_run(tmp_path / "record")
    assert_like_the_trainer(run, trainer, advantages)
    failed = rows(run)[lambda recorded: recorded["outcomes/judged"] == "failed"]
    assert 0 < len(failed) < 24
    assert failed.total.isna().all()
    assert failed.advantage.tolist() == [0.0] * len(failed)
    faults = run.sql("select step, message, sum(count) as count from logs where kind = 'fault' group by all").df()
    assert set(faults.message) == {"refused"}
    assert faults["count"].sum() == len(failed)
    assert sum(numbers["faults/judged"] for numbers in metrics(run).values()) == len(failed)


@pytest.mark.slow
def test_a_run_that_is_stopped_for_its_faults_is_recorded_to_its_end(tmp_path: Path) -> None:
    functions = rk.to_trl(no_signal + early, record=tmp_path / "record", limits=rk.Limits(failure_window=3))
    trainer = tiny.trainer(tmp_path, functions, max_steps=6)
    with pytest.raises(rk.RewardFailure, match="trains on noise"):
        trainer.train()
    functions.flush()
    run = open_run(tmp_path / "record")
    assert run.steps == [0, 1, 2]
    assert run.scores().df().total.isna().all()


@pytest.mark.slow
def test_evaluation_is_recorded_separately(tmp_path: Path) -> None:
    functions = rk.to_trl(REACHED * echo + early, record=tmp_path / "record")
    trainer = tiny.trainer(
        tmp_path, functions, eval_rows=8, max_steps=4, eval_strategy="steps", eval_steps=2, num_generations_eval=2
    )
    trainer.evaluate()
    trainer.train()
    trainer.evaluate()
    functions.flush()
    run = open_run(tmp_path / "record")
    evaluations = generations(trainer, "eval_")
    recorded = rows(run, training=False)
    assert sorted(set(recorded.step)) == [0, 2, 4]
    for step in (2, 4):  # train() forgets what was logged before it
        own = [entry for entry in evaluations if entry["step"] == step]
        expected = np.mean([entry["eval_reward"] for entry in own])
        assert recorded[recorded.step == step].total.mean() == pytest.approx(expected, abs=1e-6)
    said = metrics(run, training=False)
    assert {"components/early", "trainer/eval_loss"} <= said[2].keys()
    assert "trainer/eval_components/early" not in said[2]
    assert len(rows(run)) == 32
    assert set(rows(run, training=None).attempt) == {1}


@pytest.mark.slow
def test_a_resumed_run_supersedes_what_it_does_again(tmp_path: Path) -> None:
    reward = REACHED * echo + early
    options: dict[str, Any] = {"max_steps": 6, "save_strategy": "steps", "save_steps": 4}
    tiny.trainer(tmp_path, rk.to_trl(reward, record=tmp_path / "record"), **options).train()
    again = tiny.trainer(tmp_path, rk.to_trl(reward, record=tmp_path / "record"), **options)
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    run = open_run(tmp_path / "record")
    assert rows(run).groupby(["attempt", "step"]).size().to_dict() == {
        **{(1, step): 8 for step in range(4)},
        **{(2, step): 8 for step in (4, 5)},
    }
    assert len(rows(run, superseded=True)) == 8 * 8
    counts = run.sql("select count(*) from metrics where name = 'trainer/loss' group by step").fetchall()
    assert counts == [(1,)] * 6


@pytest.mark.slow
def test_one_list_may_train_several_times(tmp_path: Path) -> None:
    functions = rk.to_trl(early, record=tmp_path / "record")
    trainer = tiny.trainer(tmp_path / "first", functions, max_steps=2, save_strategy="steps", save_steps=1)
    trainer.train()
    trainer.train()
    trainer.train(resume_from_checkpoint=str(tmp_path / "first" / "checkpoint-1"))
    tiny.trainer(tmp_path / "second", functions, max_steps=1).train()
    tiny.trainer(tmp_path / "third", functions, max_steps=1, callbacks=[functions.callback()]).train()
    recorded = rows(open_run(tmp_path / "record"), superseded=True)
    assert recorded.groupby("attempt").step.unique().map(list).to_dict() == {
        1: [0, 1],
        2: [0, 1],
        3: [1],
        4: [0],
        5: [0],
    }


def test_the_callback_that_is_given_is_the_only_one(tmp_path: Path) -> None:
    functions = rk.to_trl(early, record=tmp_path / "record")
    given = functions.callback()
    trainer = tiny.trainer(tmp_path, functions, max_steps=2, callbacks=[given])
    trainer.train()
    own = [callback for callback in trainer.callback_handler.callbacks if hasattr(callback, "evaluators")]
    assert own == [given]
    assert metrics(open_run(tmp_path / "record"))[1]["trainer/loss"] == generations(trainer)[1]["loss"]


def test_no_advantages_are_recorded_if_the_trainer_has_other_functions(tmp_path: Path) -> None:
    def other(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(len(text)) for text in completions]

    others = [other]
    functions = rk.to_trl(early, record=tmp_path / "record") + others
    with pytest.warns(rk.errors.RewardKitWarning, match="also has reward functions"):
        tiny.trainer(tmp_path, functions, max_steps=1).train()
    assert rows(open_run(tmp_path / "record")).advantage.isna().all()


@pytest.mark.slow
def test_gradient_accumulation_and_reuse(tmp_path: Path) -> None:
    functions = rk.to_trl(early, record=tmp_path / "record")
    trainer = tiny.trainer(
        tmp_path, functions, max_steps=4, gradient_accumulation_steps=2, steps_per_generation=4, num_iterations=1
    )
    advantages = Advantages(trainer)
    trainer.train()
    recorded = rows(open_run(tmp_path / "record"))
    assert recorded.groupby("step").size().to_dict() == {0: 32, 2: 32}
    np.testing.assert_allclose(recorded.advantage, advantages.seen, atol=2e-5)


def test_conversations_are_kept_whole(tmp_path: Path) -> None:
    functions = rk.to_trl(short, record=tmp_path / "record")
    trainer = StandInTrainer(functions)
    conversations = [[{"role": "assistant", "content": text}] for text in ("a", "b\ud800")]
    trainer.rewards(conversations, [[{"role": "user", "content": "hi"}]] * 2, answer=["1", "1"])
    functions.flush()
    run = open_run(tmp_path / "record")
    texts, messages = zip(*run.sql("select completion, messages from completions order by row").fetchall(), strict=True)
    assert texts == ("a", "b\\ud800")
    assert json.loads(messages[0]) == conversations[0]
    ((prompt, columns),) = run.sql("select prompt, columns from prompts").fetchall()
    assert (prompt, json.loads(columns)) == ("hi", {"answer": "1"})


def test_without_a_trainer_the_step_is_the_number_of_the_batch(tmp_path: Path) -> None:
    functions = rk.to_trl(short + polite, record=str(tmp_path / "record"))
    for text in ("a", "please"):
        call(functions, [text, text], answer=["1", "2"])
    assert open_run(tmp_path / "record").state == "running"
    functions.flush()
    assert open_run(tmp_path / "record").state == "finished"
    recorded = rows(open_run(tmp_path / "record"))
    assert recorded.step.tolist() == [0, 0, 1, 1]
    assert recorded.training.all()
    assert recorded.advantage.isna().all()


def test_without_a_trainer_no_batch_is_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    functions = rk.to_trl(short, record=tmp_path / "record")
    for number in range(60):
        call(functions, [str(number)])
    functions.flush()
    assert open_run(tmp_path / "record").steps == list(range(60))
    assert caplog.text == ""


def test_another_training_in_the_same_folder_gives_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for text in ("a", "b"):
        functions = rk.to_trl(short, record=tmp_path / "record")
        StandInTrainer(functions, step=0).rewards([text])
        assert ("another training run was recorded here before" in caplog.text) == (text == "b")
        functions.flush()
    run = open_run(tmp_path / "record")
    assert len(run.scores().fetchall()) == 1
    assert "superseded=True" in run.logs().filter("level = 'warning'").fetchall()[0][10]
    caplog.clear()
    resumed = rk.to_trl(short, record=tmp_path / "record")
    StandInTrainer(resumed, step=1).rewards(["c"])
    resumed.flush()
    assert caplog.text == ""


def test_what_functions_print_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @rk.reward
    def chatty(completion: str) -> float:
        print("seen", completion)
        return 0.5

    functions = rk.to_trl(chatty, record=tmp_path / "record")
    StandInTrainer(functions, step=3).rewards(["a", "b"])
    functions.flush()
    logs = open_run(tmp_path / "record").sql("select step, component, row, kind, message from logs order by row")
    assert logs.fetchall() == [(3, "chatty", 0, "print", "seen a"), (3, "chatty", 1, "print", "seen b")]
    assert capsys.readouterr().out == "seen a\nseen b\n"


def test_monitored_components_are_marked(tmp_path: Path) -> None:
    functions = rk.to_trl(short + rk.monitor(polite), record=tmp_path / "record")
    call(functions, ["a"])
    functions.flush()
    (version,) = (tmp_path / "record" / "versions").glob("*.json")
    written = json.loads(version.read_text())
    assert [(one["name"], one["bounds"], one["kind"]) for one in written["components"]] == [
        ("short", [0.0, 1.0], "reward"),
        ("polite", [-1.0, 1.0], "monitored"),
    ]
    assert (written["fingerprint"], written["reward"]) == (functions.reward.fingerprint, "short + monitor(polite)")


def test_a_folder_that_cannot_be_written_does_not_stop_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    functions = rk.to_trl(short, record=tmp_path / "file" / "record")
    with caplog.at_level(logging.WARNING, "rewardkit"):
        assert call(functions, ["", "aaa"])["short"].tolist() == [1.0, 0.25]
        assert call(functions, [""])["short"].tolist() == [1.0]
    assert "recording failed" in caplog.text
    assert "Training continues" in caplog.text


def test_a_folder_that_comes_back_is_recorded_to(tmp_path: Path) -> None:
    (tmp_path / "record").write_text("in the way")
    functions = rk.to_trl(short, record=tmp_path / "record")
    call(functions, ["a"])
    (tmp_path / "record").unlink()
    call(functions, ["b"])
    functions.flush()
    assert open_run(tmp_path / "record").sql("select completion from completions").fetchall() == [("b",)]


def test_the_folder_does_not_follow_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    functions = rk.to_trl(short, record="record")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    call(functions, ["a"])
    functions.flush()
    assert open_run(tmp_path / "record").steps == [0]


def test_a_record_that_is_not_a_folder_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(rk.RewardKitError, match="folder of the run"):
        rk.to_trl(short, record=3)  # type: ignore[arg-type]
    first, second = (rk.to_trl(reward, record=tmp_path) for reward in (short, polite))
    with pytest.raises(rk.RewardDefinitionError, match="2 lists record to"):
        first + second


def test_pickled_in_the_same_process_it_is_the_same_record(tmp_path: Path) -> None:
    functions = rk.to_trl(short, record=tmp_path / "record")
    assert pickle.loads(pickle.dumps(functions))._evaluators[0].recording is functions._evaluators[0].recording


def test_in_another_process_the_folder_is_opened_again(tmp_path: Path) -> None:
    functions = rk.to_trl(short, record=tmp_path / "record")
    process = multiprocessing.get_context("spawn").Process(target=called_elsewhere, args=(functions,))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert len(rows(open_run(tmp_path / "record"))) == 2


def test_several_threads_record_into_one(tmp_path: Path) -> None:
    functions = rk.to_trl(short, record=tmp_path / "record")
    threads = [threading.Thread(target=call, args=(functions, [str(number)] * 3)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    functions.flush()
    recorded = rows(open_run(tmp_path / "record"))
    assert sorted(recorded.part.tolist()) == sorted(list(range(6)) * 3)
