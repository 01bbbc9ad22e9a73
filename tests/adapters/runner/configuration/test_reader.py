"""From YAML to a RunConfig: every fault has its message, and what is printed reads back."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import ConfigError, MissingExtraError
from rewardkit_adapters.runner import config_file as reading, config_file as yaml_text
from rewardkit_adapters.runner.config import RunConfig
from tests.adapters.runner.configuration.values import scalars, texts, values

SMALLEST = "reward: reward.py:reward\nmodel: tiny\ndataset: data.jsonl\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reward.py").write_text("reward = None\n")
    (tmp_path / "data.jsonl").write_text('{"prompt": "6*7?"}\n')
    return tmp_path


def read(folder: Path, text: str, *sets: str) -> RunConfig:
    (folder / "run.yaml").write_text(text, encoding="utf-8")
    return reading.read(folder / "run.yaml", sets)


# What stands in the file after the three lines that must, and what is said of it.
FAULTS = {
    "unknown key": ("learning_rate: 1", "line 4: learning_rate: unknown setting. Known settings: reward, model,"),
    "near miss at the top": ("sed: 1", "line 4: sed: unknown setting. Did you mean 'seed'"),
    "near miss in grpo": (
        "grpo:\n  max_stepz: 5",
        "line 5: grpo.max_stepz: GRPOConfig has no such field. Did you mean 'max_steps'",
    ),
    "near miss in eval": ("eval: {hold_ou: 5}", "eval.hold_ou: unknown setting. Did you mean 'hold_out'?"),
    "near miss in eval.dataset": ("eval: {dataset: {pat: x}}", "eval.dataset.pat: unknown setting. Did you"),
    "near miss in lora": ("lora: {lora_alfa: 5}", "lora.lora_alfa: peft's LoraConfig has no such field. Did you mea"),
    "near miss in vllm": ("vllm: {prt: 5}", "vllm.prt: vllm has no such field. Did you mean 'port'?"),
    "near miss in limits": (
        "limits: {max_fail_rate: 0}",
        "limits.max_fail_rate: unknown setting. Did",
    ),
    "near miss in preflight": ("preflight: {law: 0}", "preflight.law: unknown setting. Did you mean 'laws'?"),
    "near miss in guards": (
        "guards:\n- {watch: kl, abve: 1}",
        "line 5: guards[0].abve: unknown setting. Did you mean 'above'?",
    ),
    "a whole number": ("grpo: {max_steps: ten}", "line 4: grpo.max_steps: must be a whole number, not 'ten'"),
    "half a step": ("grpo: {max_steps: 1.5}", "grpo.max_steps: must be a whole number, not 1.5"),
    "a number": ("grpo: {learning_rate: fast}", "grpo.learning_rate: must be a number, not 'fast'"),
    "no number is infinite": ("grpo: {learning_rate: .inf}", "grpo.learning_rate: must be a number, not inf"),
    "a truth": ("updates: perhaps", "updates: must be true or false, not 'perhaps'"),
    "text in quotes": ("output: 5", 'output: must be text, not 5. Write it in quotes: "5"'),
    "a list": ("guards: {watch: kl}", "guards: must be a list, not {'watch': 'kl'}"),
    "a mapping": ("limits: 5", "limits: must be a mapping, not 5"),
    "nothing there": ("grpo: {max_steps: }", "grpo.max_steps: must be a whole number, not null (empty)"),
    "no settings under grpo": ("grpo:", "grpo: must be a mapping, not null (empty)"),
    "at least": ("processes: 0", "processes: must be at least 1, not 0"),
    "at most": ("limits: {max_error_rate: 5}", "limits.max_error_rate: must be at most 1.0, not 5"),
    "a truth is no number": ("processes: true", "processes: must be a number, not true"),
    "a truth is no number for TRL": ("grpo: {max_steps: true}", "grpo.max_steps: must be a whole number, not true"),
    "one of several": ("outputs: term", "outputs: must be 'terms' or 'components', not 'term'. Did you mean 'terms'?"),
    "a schedule": (
        "grpo: {lr_scheduler_type: cosin}",
        "grpo.lr_scheduler_type: must be one of linear, cosine, cosine_with_restarts,",
    ),
    "an optimizer": ("grpo: {optim: adamw_8bits}", "Did you mean 'adamw_8bit'"),
    "4bit": ("quantize: 4bits\nlora: true", "quantize: must be '4bit' or '8bit', not '4bits'. Did you mean '4bit'"),
    "own key": ("grpo: {output_dir: x}", "grpo.output_dir: cannot be set here: use the setting output"),
    "own key of vllm": (
        "grpo: {vllm_server_port: 1}",
        "grpo.vllm_server_port: cannot be set here: write vllm: {port: ...}",
    ),
    "weights": ("grpo: {reward_weights: one}", "grpo.reward_weights: must be"),
    "resuming": (
        "grpo: {resume_from_checkpoint: x}",
        "grpo.resume_from_checkpoint: cannot be set here: use rewardkit train --resume",
    ),
    "columns are needed": ("grpo: {remove_unused_columns: true}", "grpo.remove_unused_columns: must stay false, or"),
    "mode": ("vllm: fast", "vllm.mode: must be colocate or server, not 'fast'"),
    "no eval": ("eval: {prompts: 5}", "eval: the held-out prompts have no source"),
    "two evals": ("eval: {split: test, hold_out: 5}", "eval: the held-out prompts have split and hold_out"),
    "quantized without lora": ("quantize: 4bit", "be trained only with an adapter: add lora"),
    "tracker": ("report_to: wandbb", "report_to: transformers has no tracker 'wandbb'. Did you mean 'wandb'"),
    "accelerate": ("accelerate: fsdp.yaml", "accelerate: there is no {folder}/fsdp.yaml"),
    "a choice of types": ("record: 5", "line 4: record: must be true or false or text, not 5"),
    "rows of the preflight": ("preflight: {rows: some}", "preflight.rows: must be 'all' or a whole number, not 'some'"),
    "guard": ("guards: [{watch: kl}]", "guards[0]: the guard on 'kl' needs exactly one limit"),
    "base is ours": ("base: /tmp", "line 4: base: unknown setting"),
    "twice": ("seed: 1\nseed: 2", "line 5: duplicate key seed, which is also in line 4"),
    "twice inside": ("grpo: {beta: 0, beta: 1}", "line 4: duplicate key grpo.beta, which is also in line 4"),
    "tab": ("grpo:\n\tmax_steps: 5", "line 5: the line starts with a tab"),
    "colon": ("output: a: b", "line 4: invalid YAML: mapping values are not allowed here"),
    "bracket": ("guards: [1, 2", "line 4: invalid YAML: expected ',' or ']'"),
    "tag": ("output: !!python/object:os.system x", "tags are not supported"),
    "own tag": ("output: !env HOME", "tags are not supported"),
    "no anchor": ("output: *x", "line 4: invalid YAML: found undefined alias"),
    "an alias in itself": ("guards: &a [*a]", "its aliases (*name) repeat each other"),
    "bomb": (
        "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        + "\n".join(f"a{number + 1}: &a{number + 1} [{', '.join([f'*a{number}'] * 10)}]" for number in range(9)),
        "has too many values",
    ),
    "too deep": ("guards: " + "[" * 500, "nested too deeply"),
    "a list as key": ("? [a, b]\n: 5", "line 4: expected a name before the colon, got a list or a mapping"),
    "two documents": ("---\nseed: 1", "invalid YAML: but found another document"),
    "control characters": ("output: \x07", "line 4: invalid YAML"),
}

# What stands where the smallest file has another reward, model or dataset.
FAULTS_OF_THE_THREE = {
    "missing reward file": (
        {"reward": "rewrd.py:reward"},
        "reward: there is no {folder}/rewrd.py. Did you mean 'reward.py'?",
    ),
    "reward without a name": (
        {"reward": "reward.py"},
        "module:reward), got 'reward.py'",
    ),
    "missing environment": (
        {"model": "org/x", "environment": "rewad.py:Shop"},
        "environment: there is no {folder}/rewad.py. Did you mean 'reward.py'?",
    ),
    "environment without a name": (
        {"model": "org/x", "environment": "shop.py"},
        "environment: expected file and name (environment.py:Shop) or module and name (module:Shop), got 'shop.py'",
    ),
    "environment of the tiny model": (
        {"environment": "reward.py:Shop"},
        "environment cannot be set for model: tiny, because this model calls no tools",
    ),
    "environment and evaluation": (
        {"model": "org/x", "environment": "reward.py:Shop", "eval": "{hold_out: 5}"},
        "eval cannot be set with environment",
    ),
    "missing data": (
        {"dataset": "dat.jsonl"},
        "dataset.path: there is no {folder}/dat.jsonl. Did you mean 'data.jsonl'?",
    ),
    "missing model": ({"model": "./model"}, "model.name: there is no {folder}/model"),
    "a model": ({"model": "5"}, "model: must be a mapping, not 5"),
    "warm-up": (
        {"model": "{name: org/x, warm_up_steps: 5}"},
        "model: warm_up_steps can be set only for model: tiny",
    ),
    "tiny": (
        {"model": "{name: tiny, revision: main}"},
        "model: revision cannot be set for model: tiny",
    ),
    "missing keys": ({"model": None}, "model: is missing"),
    "two templates": (
        {"dataset": "{path: data.jsonl, prompt: x, messages: [{role: user, content: x}]}"},
        "dataset: prompt and messages cannot be combined",
    ),
    "role": (
        {"dataset": "{path: data.jsonl, messages: [{role: usr, content: x}]}"},
        "dataset.messages[0].role: must be 'system', 'user' or 'assistant', not 'usr'. Did you mean 'user'?",
    ),
    "no messages": ({"dataset": "{path: data.jsonl, messages: []}"}, "dataset.messages: must not be empty"),
    "filter": (
        {"dataset": "{path: data.jsonl, filter: 5}"},
        "dataset.filter: must be a mapping or text or null, not 5",
    ),
    "environment variables": (
        {"dataset": "$HOME/data.jsonl"},
        "dataset.path: there is no {folder}/$HOME/data.jsonl",
    ),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_every_fault_has_its_message(folder: Path, text: str, message: str) -> None:
    check(folder, SMALLEST + text, message)


@pytest.mark.parametrize(("changes", "message"), FAULTS_OF_THE_THREE.values(), ids=FAULTS_OF_THE_THREE.keys())
def test_so_has_every_fault_of_the_three(folder: Path, changes: dict[str, str | None], message: str) -> None:
    given = {"reward": "reward.py:reward", "model": "tiny", "dataset": "data.jsonl"} | changes
    check(folder, "".join(f"{name}: {value}\n" for name, value in given.items() if value is not None), message)


def check(folder: Path, text: str, message: str) -> None:
    """That `text` is refused with `message`, in a sentence or two of ours."""
    with pytest.raises(ConfigError) as raised:
        read(folder, text)
    said = str(raised.value)
    assert message.replace("{folder}", str(folder)) in re.sub(r", column \d+", "", said)
    assert "run.yaml" in said
    assert "pydantic" not in said
    assert len(said) < 1500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty. Write settings"),
        ("- 1", "contains [1]. Write settings"),
        ("reward", "contains 'reward'. Write settings"),
    ],
)
def test_the_file_is_a_mapping(folder: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(folder, text)
    assert message in str(raised.value)


def test_all_faults_are_said_at_once_each_with_its_line(folder: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        read(folder, SMALLEST + "grpo:\n  max_stepz: 1\n  beta: low\nseed: -1", "eval.hold_out=no")
    lines = str(raised.value).split("\n")
    assert lines[0] == "4 settings are invalid"
    file = folder / "run.yaml"
    assert {line.strip()[:70] for line in lines[1:]} >= {
        f"{file}, line 5, column 3: grpo.max_stepz: GRPOConfig has no such field. Did you mean 'max_steps'"[:70],
        f"{file}, line 6, column 3: grpo.beta: must be a number, not 'low'"[:70],
        f"{file}, line 7, column 1: seed: must be at least 0, not -1"[:70],
        f"{file}, --set eval.hold_out=no: eval.hold_out: must be a whole number"[:70],
    }


def test_a_missing_file_names_those_that_are_there(folder: Path) -> None:
    (folder / "run.yaml").write_text(SMALLEST)
    with pytest.raises(ConfigError, match=r"there is no file .*runn\.yaml\. Did you mean '.*run\.yaml'"):
        reading.read(folder / "runn.yaml")
    with pytest.raises(ConfigError, match="Is a directory"):
        reading.read(folder)
    (folder / "run.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        reading.read(folder / "run.yaml")


def test_numbers_and_texts_are_what_they_look_like(folder: Path) -> None:
    text = "grpo: {learning_rate: 1e-6, beta: .5, max_steps: 1_000, run_name: no, log_completions: yes}\nupdates: off\n"
    config = read(folder, SMALLEST + text)
    assert config.grpo["learning_rate"] == 1e-6
    assert config.grpo["beta"] == 0.5
    assert config.grpo["max_steps"] == 1000
    assert config.grpo["run_name"] == "no"
    assert config.grpo["log_completions"] is True
    assert config.updates is False


def test_short_forms_stand_for_mappings(folder: Path) -> None:
    text = SMALLEST + "lora: true\nvllm: server\nreport_to: wandb\npreflight: false\nrecord: s3://bucket/run\n"
    config = read(folder, text + "eval: {dataset: data.jsonl}")
    assert config.model.name == "tiny"
    assert config.model.warm_up_steps == 350
    assert config.lora == {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}
    assert config.vllm == {"mode": "server"}
    assert config.report_to == ["wandb"]
    assert config.preflight is None
    assert config.record_address() == "s3://bucket/run"
    held_out = config.held_out_dataset()
    assert held_out is not None
    assert held_out.path == "data.jsonl"


def test_sets_lie_on_top_of_the_file(folder: Path) -> None:
    guards = "guards: [{watch: kl, above: 1}]\n"
    sets = ("grpo.max_steps=5", "grpo.learning_rate=1e-5", "model.dtype=float32", "guards.0.above=2")
    config = read(folder, SMALLEST + guards, *sets, "eval.hold_out=3", "lora.r=4", "output=", "output=x=y")
    assert (config.grpo["max_steps"], config.grpo["learning_rate"]) == (5, 1e-5)
    assert (config.model.name, config.model.dtype) == ("tiny", "float32")
    assert config.guards[0].above == 2
    assert config.eval is not None
    assert config.eval.hold_out == 3
    assert config.lora == {"r": 4, "lora_alpha": 32, "target_modules": "all-linear"}
    assert config.output == "x=y"
    assert read(folder, SMALLEST + guards, "guards=[]").guards == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grpo.max_steps", "--set grpo.max_steps: expected NAME=VALUE"),
        ("=5", "--set =5: expected NAME=VALUE"),
        ("grpo..beta=1", "--set grpo..beta=1: expected NAME=VALUE"),
        ("reward.name=1", "--set reward.name=1: reward is 'reward.py:reward', which has no settings"),
        ("guards.1.above=1", "--set guards.1.above=1: there is no guards[1], because guards is a list of 1"),
        ("guards.1=1", "--set guards.1=1: there is no guards[1], because guards is a list of 1"),
        ("seed=[1", "--set seed=[1, line 1"),
        ("grpo.max_stepz=5", "--set grpo.max_stepz=5: grpo.max_stepz: GRPOConfig has no such field"),
        ("seed=x", "--set seed=x: seed: must be a whole number, not 'x'"),
    ],
)
def test_every_fault_of_a_set_has_its_message(folder: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(folder, SMALLEST + "guards: [{watch: kl, above: 1}]\n", text)
    assert message in str(raised.value)


def test_the_output_is_named_after_the_folder_or_the_file(folder: Path) -> None:
    assert read(folder, SMALLEST).output == f"runs/{folder.name}"
    (folder / "big.yaml").write_text(SMALLEST)
    assert reading.read(folder / "big.yaml").output_path() == folder / "runs" / "big"


def test_anchors_and_merges_are_read(folder: Path) -> None:
    text = "model: &same {name: tiny, warm_up_steps: 5}\nreward: reward.py:reward\ndataset: {path: data.jsonl}\n"
    assert read(folder, text.replace("&same ", "")).model.warm_up_steps == 5
    (folder / "run.yaml").write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n")
    value, positions = yaml_text.parsed((folder / "run.yaml").read_text(), "run.yaml")
    assert value["b"] == {"x": 1, "y": 3}
    assert positions[("b", "y")] == (2, 13)


names = st.text(min_size=1, max_size=12)
rows = st.fixed_dictionaries(
    {"path": names},
    optional={
        "columns": st.dictionaries(names, names, max_size=2),
        "prompt": st.none() | texts,
        "filter": st.none() | texts | st.dictionaries(names, values, max_size=2),
        "sample": st.none() | st.integers(1, 10**9),
        "split": st.none() | texts,
    },
)
configurations: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "reward": names.filter(lambda name: not {"/", ":"} & set(name)).map(lambda name: f"module:{name}"),
        "model": st.just("tiny") | st.builds(dict, name=names.filter(lambda name: name != "tiny"), tokenizer=texts),
        "dataset": rows | names,
    },
    optional={
        "grpo": st.fixed_dictionaries(
            {},
            optional={
                "learning_rate": st.floats(1e-9, 1.0),
                "max_steps": st.integers(-1, 10**6),
                "run_name": texts,
                "lr_scheduler_kwargs": st.dictionaries(texts, scalars, max_size=2),
            },
        ),
        "eval": st.none() | st.builds(dict, hold_out=st.integers(1, 99)) | st.builds(dict, dataset=rows),
        "lora": st.booleans() | st.none() | st.builds(dict, r=st.integers(1, 64)),
        "vllm": st.sampled_from([None, "colocate", {"mode": "server", "port": 1}]),
        "record": st.booleans() | names,
        "seed": st.integers(0, 2**40),
        "preflight": st.booleans() | st.builds(dict, rows=st.just("all") | st.integers(1, 9)),
        "guards": st.lists(st.builds(dict, watch=names, above=st.floats(-1, 1)), max_size=2),
    },
)


@given(configurations)
def test_a_printed_configuration_reads_back_as_the_same(data: dict[str, Any]) -> None:
    config = RunConfig.model_validate(data)
    again, _ = yaml_text.parsed(reading.printed(config), "printed")
    assert RunConfig.model_validate(again) == config


def test_the_printed_file_reads_back_in_its_folder(folder: Path) -> None:
    config = read(folder, SMALLEST + "eval: {hold_out: 3}\nlora: true\ngrpo: {learning_rate: 1e-6}")
    assert read(folder, reading.printed(config)) == config
    assert read(folder, reading.printed(config.anchored())).reward_target() == config.reward_target()


def test_without_the_reader_of_yaml_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)
    monkeypatch.delitem(sys.modules, "rewardkit_adapters.runner.config_file")
    monkeypatch.delattr("rewardkit_adapters.runner.config_file")
    with pytest.raises(MissingExtraError, match=r"pip install .*\[train\]"):
        importlib.import_module("rewardkit_adapters.runner.config_file")


SCHEMA = reading.schema()


def valid(document: dict[str, Any]) -> bool:
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(document))


@given(configurations)
def test_the_schema_takes_what_is_read(data: dict[str, Any]) -> None:
    assert valid(data)
    assert valid(json.loads(RunConfig.model_validate(data).model_dump_json()))


def test_the_schema_refuses_what_is_refused(folder: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    whole: dict[str, Any] = {"reward": "reward.py:reward", "model": "tiny", "dataset": "data.jsonl"}
    assert valid(whole)
    wrong: list[dict[str, Any]] = [
        {"sed": 1},
        {"grpo": {"max_stepz": 1}},
        {"grpo": {"max_steps": "ten"}},
        {"grpo": {"output_dir": "x"}},
        {"eval": {"hold_ou": 5}},
        {"lora": {"lora_alfa": 1}},
        {"vllm": {"prt": 1}},
        {"vllm": "fast"},
        {"outputs": "term"},
        {"processes": 0},
        {"model": {"nam": "x"}},
        {"guards": [{"watch": "kl", "abve": 1}]},
        {"base": "/tmp"},
    ]
    for change in wrong:
        assert not valid({**whole, **change}), change
        with pytest.raises(ConfigError):
            read(folder, json.dumps({**whole, **change}))
    assert SCHEMA["properties"]["grpo"]["properties"]["max_steps"]["description"]
