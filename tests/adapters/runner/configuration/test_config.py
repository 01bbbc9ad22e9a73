"""RunConfig: where its paths lead, what its held-out dataset is, what it hands on to TRL."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from rewardkit.errors import RewardDefinitionError
from rewardkit_adapters.runner import trl_arguments as installed
from rewardkit_adapters.runner.config import DatasetConfig, RunConfig
from rewardkit_adapters.runner.rewards import reward_of
from rewardkit_adapters.runner.trl_arguments import (
    GRPO_DEFAULTS,
    NOT_SET,
    OWN_KEYS,
    grpo_fields,
    lora_fields,
    trackers,
    vllm_arguments,
)


def config(base: Path, **changes: Any) -> RunConfig:
    given = {"reward": "reward.py:reward", "model": "org/model", "dataset": "data.jsonl"} | changes
    return RunConfig.model_validate({**given, "base": base})


def test_paths_start_at_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    found = config(tmp_path, model="model", record="kept", output="../out")
    assert found.reward_target() == f"{tmp_path}/reward.py:reward"
    assert found.model_name() == str(tmp_path / "model")
    assert found.output_path() == tmp_path.parent / "out"
    assert found.record_address() == str(tmp_path / "kept")


def test_what_is_no_path_stays_as_it_is(tmp_path: Path) -> None:
    found = config(tmp_path, reward="package.rewards:reward", record="s3://bucket/run")
    assert found.reward_target() == "package.rewards:reward"
    assert found.model_name() == "org/model"
    assert config(tmp_path, model="tiny").model_name() == "tiny"
    assert found.record_address() == "s3://bucket/run"
    assert config(tmp_path, record=False).record_address() is None
    assert config(tmp_path).record_address() == str(tmp_path / "runs" / "run")


def test_an_anchored_configuration_means_the_same_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "template.jinja").write_text("{{ messages }}")
    found = config(
        tmp_path,
        model={"name": "org/model", "chat_template": "template.jinja", "tokenizer": "./tokenizer"},
        dataset={"path": "data.jsonl", "filter": "filters.py:keep"},
        eval={"dataset": "test.jsonl"},
        accelerate="fsdp.yaml",
        output="out",
    )
    acts = config(tmp_path, environment="environment.py:Shop")
    assert acts.anchored().environment == acts.environment_target() == f"{tmp_path}/environment.py:Shop"
    assert config(tmp_path, environment="shops:Shop").environment_target() == "shops:Shop"
    assert config(tmp_path).environment_target() is None
    moved = found.anchored().model_copy(update={"base": Path("/elsewhere")})
    assert moved.reward_target() == found.reward_target()
    assert moved.output_path() == found.output_path()
    assert moved.model.name == "org/model"
    assert moved.model.chat_template == str(tmp_path / "template.jinja")
    assert moved.model.tokenizer == str(tmp_path / "tokenizer")
    assert moved.dataset.path == str(tmp_path / "data.jsonl")
    assert moved.dataset.filter == f"{tmp_path}/filters.py:keep"
    assert moved.accelerate == str(tmp_path / "fsdp.yaml")
    held_out = moved.held_out_dataset()
    assert held_out is not None
    assert held_out.path == str(tmp_path / "test.jsonl")
    assert found.anchored().anchored() == found.anchored()
    inline = config(tmp_path, model={"name": "org/model", "chat_template": "{% for m in messages %}\n{% endfor %}"})
    assert inline.anchored().model.chat_template == inline.model.chat_template


@pytest.mark.parametrize(
    ("eval_", "changes"),
    [
        ({"split": "test"}, {"split": "test"}),
        ({"dataset": "test.jsonl"}, {"path": "test.jsonl", "name": None, "split": None, "revision": None}),
        ({"dataset": {"path": "b/c", "split": "dev"}}, {"path": "b/c", "name": None, "split": "dev", "revision": None}),
        ({"dataset": {"name": "hard"}}, {"name": "hard"}),
        ({"dataset": {"sample": 7}}, {"sample": 7}),
        (
            {"dataset": {"messages": [{"role": "user", "content": "{q}"}]}},
            {"prompt": None, "messages": [{"role": "user", "content": "{q}"}]},
        ),
    ],
)
def test_the_held_out_dataset_is_as_the_training_s_but_for_what_is_said(
    tmp_path: Path, eval_: dict[str, Any], changes: dict[str, Any]
) -> None:
    training = {
        "path": "a/b",
        "name": "main",
        "split": "train",
        "revision": "v1",
        "columns": {"gold": "answer"},
        "prompt": "Q: {q}",
        "filter": {"level": 1},
        "sample": 100,
    }
    held_out = config(tmp_path, dataset=training, eval=eval_).held_out_dataset()
    assert held_out == DatasetConfig.model_validate(training | {"sample": None} | changes)


@pytest.mark.parametrize(
    ("eval_", "changes"),
    [
        ({"dataset": {"seed": 1}}, {"seed": 1}),
        ({"dataset": {"seed": 1, "size": 64}}, {"seed": 1, "size": 64}),
        ({"dataset": "test.jsonl"}, {"path": "test.jsonl", "reasoning_gym": None, "seed": None, "options": {}}),
        ({"dataset": {"reasoning_gym": "lcm"}}, {"reasoning_gym": "lcm", "seed": None, "options": {}}),
    ],
)
def test_the_held_out_rows_of_a_task(tmp_path: Path, eval_: dict[str, Any], changes: dict[str, Any]) -> None:
    training = {"reasoning_gym": "gcd", "seed": 0, "options": {"max_numbers": 2}, "prompt": "{question}", "sample": 9}
    held_out = config(tmp_path, dataset=training, eval=eval_).held_out_dataset()
    assert held_out == DatasetConfig.model_validate(training | {"sample": None} | changes)


@pytest.mark.parametrize(
    "dataset",
    [
        {},
        {"split": "train"},
        {"path": "data.jsonl", "reasoning_gym": "gcd"},
        {"path": "data.jsonl", "size": 5},
        {"path": "data.jsonl", "options": {"a": 1}},
        {"reasoning_gym": "gcd", "split": "train"},
        {"reasoning_gym": "gcd", "size": 0},
        {"reasoning_gym": "gcd", "seed": -1},
        {"reasoning_gym": ""},
    ],
)
def test_a_dataset_has_one_source(tmp_path: Path, dataset: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        config(tmp_path, dataset=dataset)


def test_without_another_dataset_there_is_none(tmp_path: Path) -> None:
    assert config(tmp_path).held_out_dataset() is None
    assert config(tmp_path, eval={"hold_out": 5}).held_out_dataset() is None


def test_a_configuration_is_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        config(tmp_path).seed = 5


def test_our_defaults_lie_below_what_is_given(tmp_path: Path) -> None:
    assert config(tmp_path).grpo == GRPO_DEFAULTS
    assert config(tmp_path, grpo={"temperature": 0.7}).grpo == GRPO_DEFAULTS | {"temperature": 0.7}


def test_vllm_is_written_without_its_prefix(tmp_path: Path) -> None:
    vllm = {"mode": "server", "port": 8001, "gpu_memory_utilization": 0.5, "base_url": "http://node:8000"}
    assert vllm_arguments(config(tmp_path, vllm=vllm).vllm) == {
        "use_vllm": True,
        "vllm_mode": "server",
        "vllm_server_port": 8001,
        "vllm_gpu_memory_utilization": 0.5,
        "vllm_server_base_url": "http://node:8000",
    }
    assert vllm_arguments(None) == {}


def test_the_reward_is_the_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "rewards_of_a_run.py").write_text("import rewardkit as rk\nreward = rk.number('answer')\n")
    assert reward_of(config(tmp_path, reward="rewards_of_a_run.py:reward")).fingerprint
    assert reward_of(config(tmp_path, reward="rewards_of_a_run:reward")).fingerprint
    with pytest.raises(RewardDefinitionError, match="Did you mean 'reward'"):
        reward_of(config(tmp_path, reward="rewards_of_a_run.py:rewrd"))


def test_neither_torch_nor_trl_is_loaded() -> None:
    code = (
        "import sys, rewardkit_adapters.runner.config_file as reading; reading.schema(); "
        "print([name for name in ('torch', 'trl', 'transformers', 'peft', 'datasets') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow  # TRL takes seconds to load
@pytest.mark.parametrize(
    ("package", "name", "fields"), [("trl", "GRPOConfig", grpo_fields()), ("peft", "LoraConfig", lora_fields())]
)
def test_the_fields_that_are_read_are_those_of_the_class(package: str, name: str, fields: dict[str, Any]) -> None:
    class_ = getattr(pytest.importorskip(package), name)
    types = typing.get_type_hints(class_)
    assert fields.keys() == {field.name for field in dataclasses.fields(class_) if field.init}
    plain = (int, float, bool, str, int | None, float | None, str | None)
    compared = [field for field in fields if types[field] in plain]
    assert len(compared) > 10
    assert {field: fields[field].type for field in compared} == {field: types[field] for field in compared}
    # Where the source is laid out otherwise, the class is asked.
    assert installed._imported(package, name).keys() == fields.keys()


def test_of_what_is_not_installed_no_field_is_known() -> None:
    assert installed._fields((("no_such_package", "a.py", "A"),), "no_such_package", "A") == {}


def test_own_keys_are_fields_of_trl() -> None:
    assert OWN_KEYS.keys() | NOT_SET.keys() <= grpo_fields().keys()
    assert GRPO_DEFAULTS.keys() <= grpo_fields().keys()
    assert {"tensorboard", "wandb", "trackio"} <= trackers()
