"""Preflight: each thing that can go wrong is found, with its text; a sound run passes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset

import rewardkit as rk
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.plan import Plan
from rewardkit_adapters.runner.preflight import Finding, Preflight, preflight
from rewardkit_adapters.runner.preflight.checks import packages
from rewardkit_adapters.runner.preflight.findings import Table
from rewardkit_adapters.runner.preflight.golds import golds
from rewardkit_adapters.runner.rewards import reward_of
from tests.adapters.runner.preflight import looked_at as rewards

DATA = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[5] / "shared" / "data")) / "gsm8k"
SMALL = {"per_device_train_batch_size": 4, "num_generations": 4, "max_steps": 5}


def rows(count: int = 12, **columns: Any) -> list[dict[str, Any]]:
    return [{"prompt": f"{row}+0?", "answer": str(row), **columns} for row in range(count)]


def config(name: str = "number", **settings: Any) -> RunConfig:
    given = {"reward": f"{rewards.__file__}:{name}", "model": "tiny", "dataset": "data.jsonl", "grpo": SMALL}
    return RunConfig.model_validate({**given, "preflight": {"laws": False}, **settings})


def looked(name: str, data: Any, *, held_out: Any = None, reward: Any = None, **settings: Any) -> Preflight:
    return preflight(
        config(name, **settings),
        reward=getattr(rewards, name, None) if reward is None else reward,
        training=Dataset.from_list(data),
        held_out=None if held_out is None else Dataset.from_list(held_out),
    )


def test_findings_name_the_lines_of_the_file(tmp_path: Path) -> None:
    cells = [*map(str, range(20))]
    cells[6], cells[17] = "N/A", "none"
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps({"prompt": f"{row}?", "answer": cell}) for row, cell in enumerate(cells)))
    settings = config("typed", dataset=str(path), eval={"hold_out": 5}, seed=2)
    plan = Plan.of(settings, None)

    def report() -> str:
        return preflight(
            settings, reward=plan.reward, training=plan.training, held_out=plan.held_out, locations=plan.locations
        ).text()

    text = report()
    assert "line 7: 'N/A'" in text
    assert "line 18: 'none'" in text
    first = next(row for row in range(20) if f"{row}?" in plan.training["prompt"])
    plan = Plan.of(config("raising", dataset=str(path), eval={"hold_out": 5}, seed=2), None)
    assert f"line {first + 1}, completion 'I do not know.'" in " ".join(report().split())


def test_a_sound_run_passes_with_facts_alone() -> None:
    found = looked("number", rows(), held_out=[{"prompt": "9*9?", "answer": "81"}])
    assert found.ok
    assert found.text().splitlines() == [
        "preflight: ok",
        "",
        "facts",
        "  columns: the reward reads answer",
        "  golds: '<answer>[answer]</answer>' scores 1 of 1, in 12 of 12 rows, an empty completion 0",
        "  data: 12 prompts of 4 to 5 characters (median 4)",
        "  batches: 4 completions at once (per_device_train_batch_size 4 x processes 1 x steps_per_generation 1): 1",
        "    prompts with 4 each",
        "  training: 5 steps, 20 completions, 0.417 epochs of 12 prompts",
    ]


CHAT = [{"role": "user", "content": "6*7?"}]

DATA_FAULTS: dict[str, tuple[str, list[dict[str, Any]], str, str]] = {
    "column missing": (
        "number",
        [{"prompt": "p", "anser": "1"}] * 4,
        "error",
        "training data: there is no column 'answer', which 'number' reads. Columns: anser. Did you mean 'anser'? -> "
        "under dataset in run.yaml, write columns: {answer: anser}",
    ),
    "column of a trainer's function missing": (
        "plain",
        [{"prompt": "p", "anser": "1"}] * 4,
        "error",
        "there is no column 'answer', which 'plain' reads",
    ),
    "route by a column that is missing": (
        "routed",
        rows(),
        "error",
        "route by 'task': the data has no such column",
    ),
    "prompts": ("number", rows(prompts="x"), "error", "column 'prompts': TRL passes an argument with the same name"),
    "completions": ("number", rows(completions="x"), "error", "column 'completions': TRL passes an argument"),
    "log_extra": ("number", rows(log_extra="x"), "error", "column 'log_extra': TRL overwrites it"),
    "environments": ("number", rows(environments="x"), "error", "column 'environments': TRL overwrites it"),
    "completion": ("number", rows(completion="x"), "warning", "column 'completion': TRL does not pass"),
    "progress": ("number", rows(progress=1), "error", "'progress' is reserved"),
    "image": ("number", rows(image="x.png"), "warning", "column 'image': TRL treats data with this column as multi"),
    "mappings": ("number", rows(schema={"a": 1}), "warning", "column 'schema': contains mappings, and Arrow gives all"),
    "lists of mappings": ("number", rows(schema=[{"a": 1}]), "warning", "column 'schema': contains mappings"),
    "cell": (
        "typed",
        [*rows(), *[{"prompt": f"q{row}", "answer": "N/A"} for row in range(11)]],
        "error",
        "column 'answer' (training): 11 of 23 cells do not fit the annotation of 'typed': 'N/A' is not a float",
    ),
    "cells are listed": (
        "typed",
        [*rows(), *[{"prompt": f"q{row}", "answer": "N/A"} for row in range(11)]],
        "error",
        "row 21: 'N/A' ... and 1 more -> fix these rows",
    ),
    "None in a cell": (
        "typed",
        [*rows(), {"prompt": "q", "answer": None}],
        "warning",
        "column 'answer' (training): 1 of 13 cells are None: 'typed' abstains in these rows",
    ),
    "route": (
        "routed",
        [*rows(task="math"), *rows(1, task="poem")],
        "error",
        "column 'task' (training): 1 rows have a value without a branch (branches: 'math', 'text')",
    ),
    "prompt None": ("number", [*rows(), {"prompt": None, "answer": "1"}], "error", "1 prompts are None: row 12"),
    "prompt empty": ("number", [*rows(), {"prompt": " ", "answer": "1"}], "warning", "1 prompts are empty: row 12"),
    "contradiction": (
        "number",
        [*rows(), {"prompt": "3+0?", "answer": "4"}],
        "warning",
        "1 rows repeat a prompt with a different answer row 12: same as row 3, but answer is '4'",
    ),
    "gold without a number": (
        "number",
        [*rows(40), {"prompt": "q", "answer": "7 or 8"}],
        "error",
        "'number' cannot read 1 of 41 distinct cells, so 1 row gets no score: more than 1% row 40: '7 or 8' is not",
    ),
    "raises": ("raising", rows(), "error", "reward: it stops training in the first batch: reward 'raising'"),
    "fails": ("failing", rows(), "error", "component 'failing': it fails in the first batch: the sandbox does not"),
}  # fmt: skip


@pytest.mark.parametrize("fault", DATA_FAULTS)
def test_what_is_wrong_with_the_data_is_said(fault: str) -> None:
    name, data, kind, message = DATA_FAULTS[fault]
    found = looked(name, data)
    assert message in said(found, kind), found.text()
    assert found.ok is (kind != "error")


def said(found: Preflight, kind: Any) -> str:
    """The findings of a kind on one line, so that a line break does not matter."""
    return " ".join(" ".join(line for finding in found.of(kind) for line in finding.lines()).split())


@pytest.mark.parametrize("policy", [None, "fail", "raise"])
@pytest.mark.parametrize(("unreadable", "distinct"), [(0, 200), (1, 200), (2, 200), (3, 200), (50, 1000), (200, 200)])
def test_golds_that_cannot_be_read_are_an_error_above_one_percent_of_the_distinct_ones(
    policy: Any, unreadable: int, distinct: int
) -> None:
    golds = [f"none {number}" if number < unreadable else str(number) for number in range(distinct)]
    data = [{"prompt": f"q{row}", "answer": gold} for row, gold in enumerate(golds + golds[:unreadable] * 2)]
    found = looked("number", data, reward=rk.number("answer", on_unparsable_gold=policy))
    stops = unreadable == distinct or (unreadable > 0 and policy == "raise")
    assert found.ok is not (stops or (policy is None and unreadable > 0.01 * distinct)), found.text()
    if unreadable:
        lost = 'and on_unparsable_gold="raise"' if policy == "raise" else f"so {3 * unreadable:,} rows get no score"
        what = f"'number' cannot read {unreadable:,} of {distinct:,} distinct cells, {lost}"
        assert what in " ".join(found.text().split())
        shown = [line for line in found.text().splitlines() if "(and 2 more): 'none " in line]
        assert len(shown) == (10 if unreadable == distinct else unreadable)
    else:
        assert found.of("warning") == []
    if found.ok:  # the other rows are tried as ever
        assert f"in {distinct - unreadable:,} of {distinct - unreadable:,} rows" in said(found, "fact")


def test_golds_that_take_long_are_listed_with_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10_000))
    monkeypatch.setattr("rewardkit_adapters.runner.preflight.cells.time.perf_counter", lambda: 1.5 * next(ticks))
    found = looked("number", [*rows(2), *rows(2)])
    assert found.ok
    assert "2 of 2 distinct cells take 'number' more than 1 s to read" in said(found, "warning")
    assert "row 0 (and 1 more): '0' takes 1.5 s row 1 (and 1 more): '1' takes 1.5 s" in said(found, "warning")


def test_cells_that_do_not_fit_each_other_are_found() -> None:
    good = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": "[{}]"}
    data = [{"prompt": f"q{row}", **good} for row in range(300)]
    data[7]["kwargs"], data[9]["instruction_id_list"] = "[{}, {}]", ["no:such"]
    found = looked("instructions", data, reward=rk.instructions())
    assert found.ok
    assert "in 1 of 300 rows, they do not fit each other, so 'instructions' gives these rows no score" in said(
        found, "warning"
    )
    assert "'instructions' cannot read 1 of 2 distinct cells, so 1 row gets no score row 9: " in said(found, "warning")


def test_one_row_of_many_is_no_error_although_there_are_few_distinct_golds() -> None:
    data = [{"prompt": f"q{row}", "answer": "ABCD"[row % 4]} for row in range(200)]
    data[7]["answer"] = "E"
    found = looked("choice", data, reward=rk.choice("answer"))
    assert found.ok
    assert "'choice' cannot read 1 of 5 distinct cells, so 1 row gets no score" in said(found, "warning")
    data[9]["answer"] = data[11]["answer"] = "E"
    assert not looked("choice", data, reward=rk.choice("answer")).ok


def test_a_missing_value_is_no_unreadable_gold() -> None:
    found = looked("number", [{"prompt": "p", "answer": 1.0}, {"prompt": "q", "answer": float("nan")}] * 2)
    assert "2 of 4 cells are None: 'number' abstains in these rows" in said(found, "warning")
    assert found.ok


def test_only_the_rows_of_a_branch_are_read() -> None:
    data = [*rows(task="math"), *({"prompt": f"t{row}", "answer": "any text", "task": "text"} for row in range(3))]
    assert looked("routed", data).ok


def test_only_so_many_rows_are_looked_at() -> None:
    data = [*rows(), {"prompt": "q", "answer": "N/A"}]
    found = looked("typed", data, preflight={"laws": False, "rows": 12})
    assert found.ok
    assert "13 prompts of 4 to 5 characters (median 4), 12 of them checked" in said(found, "fact")


def test_the_held_out_rows_are_looked_at_too() -> None:
    found = looked("typed", rows(), held_out=[{"prompt": "3+0?", "answer": "N/A"}])
    assert "column 'answer' (held out): 1 of 1 cells do not fit" in said(found, "error")
    assert "prompts (held out): 1 of 1 are also in the training data" in said(found, "warning")
    assert "held out data: there is no column 'answer', which 'number' reads. Columns: none" in said(
        looked("number", rows(), held_out=[{"prompt": "q"}]), "error"
    )


def test_what_is_wrong_with_both_is_said_once() -> None:
    found = looked("number", rows(prompts="x"), held_out=[{"prompt": "h", "answer": "1", "prompts": "x"}])
    assert len(found.of("error")) == 1


def test_a_missing_column_is_one_error_with_the_names_of_the_components() -> None:
    data = [{"prompt": "p", "anser": "1", "id": "a"}] * 4
    found = looked("named", data, held_out=data, dataset={"path": "data.jsonl", "columns": {"id": "key"}})
    (error,) = found.of("error")
    assert "there is no column 'answer', which 'close' and 'exact' read" in error.what
    assert error.remedy == "under dataset in run.yaml, write columns: {id: key, answer: anser}"
    assert "the reward reads" not in found.text()


def test_findings_in_cells_name_the_component() -> None:
    (error,) = looked("renamed", [*rows(), {"prompt": "q", "answer": "N/A"}]).of("error")
    assert "do not fit the annotation of 'close'" in error.what


def test_a_column_that_several_rewards_ask_for_is_missing_once() -> None:
    tree = rk.exact("goal") + rk.number("goal") + rk.choice("order")
    found = looked("tree", rows(), reward=tree, held_out=[{"prompt": "h", "order": "A"}])
    missing = [finding.what.split(".")[0] for finding in found.of("error")]
    assert missing == [
        "there is no column 'goal', which 'exact' and 'number' read",
        "there is no column 'order', which 'choice' reads",
    ]
    assert {finding.where for finding in found.of("error")} == {"training data"}


def test_golds_that_no_completion_can_reach_are_shown() -> None:
    data = [*rows(20), {"prompt": "q", "answer": "seven"}]
    found = looked("picky", data)
    assert found.ok
    assert "scores less than 1" in said(found, "warning")
    assert "row 20: scores 0, answer = 'seven'" in said(found, "warning")


def test_a_bug_at_a_gold_is_not_blamed_on_the_data() -> None:
    data = [*rows(20), {"prompt": "p", "answer": "7" * 9}, {"prompt": "q", "answer": "x"}]
    report = looked("picky_and_raising", data)
    (bug,), (low,) = report.of("error"), report.of("warning")
    assert bug.where == "component 'picky_and_raising'"
    assert bug.what.startswith("in 1 of 22 rows")
    assert bug.rows == ("row 20: raised ValueError: too long",)
    assert low.rows == ("row 21: scores 0, answer = 'x'",)
    assert low.what.startswith("in 1 of 22 rows, the gold answer itself")
    assert "rk.number('answer', gold=" in low.remedy
    binding = rewards.picky_and_raising.facts.binding
    assert binding is not None
    accepted = rk.reward(on_error=0.0)(binding.original)
    assert looked("picky_and_raising", data, reward=accepted).of("error") == []


def test_a_gold_that_earns_a_part_is_not_taken_for_right() -> None:
    found = looked("distant", rows())
    assert "'<answer>[answer]</answer>' scores 0.1 of 1, in 11 of 12 rows" in said(found, "fact")
    assert found.of("warning") == []

    table = Table(Dataset.from_list(rows()), rewards.distant, "training")
    assert golds(rewards.distant, table, 5.0).best is None
    assert golds(rewards.number, table, 5.0).best is not None


def test_mixed_prompts_are_refused() -> None:
    class Mixed:
        """Arrow holds no such column; other containers do."""

        column_names = ("prompt", "answer")
        features = Dataset.from_list(rows(1)).features

        def __len__(self) -> int:
            return 4

        def __getitem__(self, name: str) -> list[Any]:
            cells: dict[str, list[Any]] = {"prompt": ["p", CHAT, "q", "r"], "answer": ["1", "2", "3", "4"]}
            return cells[name]

    mixed: Any = Mixed()
    found = preflight(config(), reward=rewards.number, training=mixed, held_out=None)
    assert "some are strings and others are messages" in said(found, "error")


def test_conversations_are_answered_in_messages() -> None:
    data = [{"prompt": CHAT, "answer": str(row)} for row in range(8)]
    found = looked("number", data)
    assert "scores 1 of 1, in 8 of 8 rows" in said(found, "fact")


def test_an_empty_dataset_and_no_reward_are_errors() -> None:
    empty = Dataset.from_dict({"prompt": [], "answer": []})
    assert "the dataset has no rows" in preflight(config(), reward=rewards.number, training=empty, held_out=None).text()
    assert "error" in [finding.kind for finding in looked("number", rows(), reward=3).findings]


def test_laws_are_held_on_what_the_module_says_and_else_on_the_data() -> None:
    laws = {"laws": True, "budget": 20}
    found = looked("naive", rows(), preflight=laws)
    assert found.ok
    assert "law gold_above_perturbed_gold" in said(found, "warning")
    assert "on the module's examples" in said(found, "fact")
    assert "rk.score(reward, [" in found.text()


@pytest.mark.slow
def test_a_reward_that_raises_on_what_a_policy_writes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "brittle_reward.py"
    path.write_text(
        "import rewardkit as rk\n@rk.reward\ndef brittle(completion: str, answer: str) -> float:\n"
        "    return float(completion == answer) / len(completion)\n"
    )
    settings = config(preflight={"laws": True, "budget": 20}, reward=f"{path}:brittle")
    found = preflight(settings, reward=reward_of(settings), training=Dataset.from_list(rows()), held_out=None)
    assert "law total: brittle" in said(found, "error")
    assert "on rows from the data" in said(found, "fact")


def test_a_function_that_reads_the_state_of_the_trainer_gets_one() -> None:
    assert looked("watching", rows()).ok


def test_columns_that_the_reward_does_not_read_are_not_unpacked() -> None:
    training = Dataset.from_list(rows(picture="large"))
    asked: list[str] = []

    class Watched:
        """Notes which columns are asked for."""

        column_names, features = training.column_names, training.features

        def __len__(self) -> int:
            return len(training)

        def __getitem__(self, name: str) -> Any:
            asked.append(name)
            return training[name]

    watched: Any = Watched()
    assert preflight(config(), reward=rewards.number, training=watched, held_out=None).ok
    assert set(asked) == {"prompt", "answer"}


def test_a_fault_of_a_check_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(table: Any) -> Any:
        raise ZeroDivisionError("by zero")
        yield

    monkeypatch.setattr("rewardkit_adapters.runner.preflight.checks.prompts", broken)
    found = looked("number", rows())
    assert found.ok
    assert "data: the check itself failed: ZeroDivisionError: by zero (broken:" in said(found, "warning")


def test_judges_are_counted_and_not_asked() -> None:
    found = looked("number", rows(), reward=rk.gate(rewards.number, rewards.judged()))
    assert found.ok
    facts = said(found, "fact")
    assert "judge 'judge': at most 20 calls: one per completion" in facts
    assert "gold answers and laws were not tested" in facts


def test_a_budget_that_ends_before_the_training_is_a_warning() -> None:
    judge = rewards.judged(budget=rk.Budget(calls=10))
    found = looked("number", rows(), reward=judge)
    assert (
        "budget of 10 calls is less than the 20 calls that training may make: it runs out around step 2 of 5"
    ) in said(found, "warning")
    spent = rewards.judged(budget=rk.Budget(money=2.0, prices={"judge": (1.0, 1.0)}))
    assert ("the budget of 2 money allows only 0.1 money per call") in said(
        looked("number", rows(), reward=spent), "fact"
    )


def test_evaluations_ask_judges_too() -> None:
    held_out = [{"prompt": f"h{row}", "answer": "1"} for row in range(10)]
    evaluation = {"hold_out": 10, "every": 2}
    found = looked("number", rows(), reward=rewards.judged(), held_out=held_out, eval=evaluation)
    assert "at most 60 calls" in said(found, "fact")  # 20 in training, 10 before, at steps 2 and 4, and after


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"quantize": "4bit", "lora": True, "model": "no/such"}, "quantize: needs bitsandbytes"),
        ({"vllm": "colocate"}, "vllm: needs vllm, which is not installed -> pip install vllm, or write vllm: null"),
        ({"report_to": "trackio"}, "report_to trackio: needs trackio"),
        ({"grpo": {**SMALL, "use_liger_kernel": True}}, "grpo.use_liger_kernel: needs liger-kernel"),
    ],
)
def test_packages_that_the_settings_need_are_named(
    settings: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rewardkit_adapters.runner.preflight.checks.find_spec", lambda name: None)
    given = {"reward": "r.py:r", "model": "tiny", "dataset": "d.jsonl", "grpo": SMALL, **settings}
    lines = [line for finding in packages(RunConfig.model_validate(given)) for line in finding.lines()]
    assert message in " ".join(" ".join(lines).split())


def test_a_run_in_the_output_folder_is_mentioned(tmp_path: Path) -> None:
    for step in (5, 10):
        (tmp_path / "checkpoints" / f"checkpoint-{step}").mkdir(parents=True)
    found = looked("number", rows(), output=str(tmp_path))
    assert "contains a run with a checkpoint at step 10" in said(found, "fact")


def test_what_is_shown_cannot_act_on_the_terminal() -> None:
    finding = Finding("error", "column '\x1b[2J'", "holds \u202e", "mend it", ("row 1: \x1b]52;",))
    assert not {"\x1b", "\u202e"} & set(Preflight((finding,)).text())


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no GSM8K data in {DATA}; set REWARDKIT_DATA")
def test_gsm8k_passes_as_it_is_published() -> None:
    last = rk.extract.after("####")
    reward = rk.number("answer", thousands=True, extract=last, gold=last)
    data = {
        name: Dataset.from_list(
            [
                {"prompt": row["question"], "answer": row["answer"]}
                for row in map(json.loads, (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
            ]
        )
        for name in ("train", "test")
    }
    found = preflight(config(), reward=reward, training=data["train"], held_out=data["test"])
    assert found.ok
    assert found.of("warning") == []
    assert "scores 1 of 1, in 7,473 of 7,473 rows, an empty completion 0" in said(found, "fact")
    wrong = preflight(config(), reward=rk.number("answer"), training=data["train"], held_out=None)
    assert "'number' cannot read 7,473 of 7,473 distinct cells, so 7,473 rows get no score" in said(wrong, "error")


def test_weights_that_do_not_fit_the_list_are_an_error_that_says_what_to_write() -> None:
    weighted = {**SMALL, "reward_weights": [1.0, 2.0]}
    assert looked("plain", rows(), reward=[rewards.plain, rewards.number], grpo=weighted).ok
    found = looked("number", rows(), reward=[rewards.number, rewards.picky, rewards.exact], grpo=weighted)
    assert "2 weights for 3 rewards" in found.text()
    tree = looked("number", rows(), reward=0.5 * rewards.number + rewards.picky, grpo=weighted)
    said = "rk.to_trl(0.5 * rk.number('answer', extract=rk.extract.tag('answer')) + 2.0 * picky)"
    assert said in " ".join(tree.text().split())


def test_a_schedule_beyond_the_end_is_an_error_before_training() -> None:
    late = rewards.number + rk.schedules.linear(0.0, 1.0, start=50, end=80) * rewards.exact
    found = looked("number", rows(), reward=late)
    assert not found.ok
    assert "first changes at step 51, but this training run has only 5 steps" in " ".join(found.text().split())
    stages = rk.curriculum(rk.Stage("form", rewards.exact, until=20), rk.Stage("answer", rewards.number))
    assert "stage 'form' ends at step 20" in looked("number", rows(), reward=stages).text()
    assert looked("number", rows(), reward=late, grpo={**SMALL, "max_steps": 60}).ok
