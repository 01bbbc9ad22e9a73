"""Check ``grpo``, ``lora`` and ``vllm`` of a configuration against the installed versions of TRL and peft.

``checked_grpo({"max_stepz": 5})`` raises an error that suggests ``max_steps``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from rewardkit.core.errors import near_miss
from rewardkit_runner.configuration.faults import Fault, Faults
from rewardkit_runner.configuration.installed import Field, grpo_fields, lora_fields
from rewardkit_runner.configuration.messages import explained

GRPO_DEFAULTS: dict[str, Any] = {
    "temperature": 1.0,
    "logging_steps": 1,
    "log_completions": False,
    "save_steps": 50,
    "save_total_limit": 2,
}
"""Defaults of a run: log every step, keep completions in the record instead of printing them, and keep two checkpoints.
Precision and gradient checkpointing depend on the device."""

LARGE = 100_000_000
"""Models with more parameters recompute activations on a GPU."""

LORA_DEFAULTS: dict[str, Any] = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}

OWN_KEYS = {
    "output_dir": "output",
    "seed": "seed",
    "report_to": "report_to",
    "use_vllm": "vllm",
    "model_init_kwargs": "model.arguments",
    "trust_remote_code": "model.trust_remote_code",
    "eval_strategy": "eval.every",
    "eval_steps": "eval.every",
    "eval_on_start": "eval",
    "do_eval": "eval",
}
"""Fields of GRPOConfig that have a setting of their own."""

NOT_SET = {
    "resume_from_checkpoint": "cannot be set here: use rewardkit train --resume",
    "remove_unused_columns": "must stay false, or the reward would not get its columns: delete it",
    "do_train": "cannot be set here: use rewardkit evaluate to evaluate a model",
    "do_predict": "cannot be set here: use rewardkit evaluate to evaluate a model",
    "local_rank": "cannot be set here: the launcher sets it",
}


_MODELS: dict[str, type[BaseModel]] = {}


def checked_grpo(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return our defaults updated with `given`, with the types of GRPOConfig.

    Raises:
        Faults: fields that GRPOConfig does not have, that belong elsewhere, or whose value is invalid.
    """
    faults = [Fault((name,), why) for name in given if (why := _not_here(str(name)))]
    others = {name: value for name, value in given.items() if not _not_here(str(name))}
    return _checked(others, grpo_fields(), "GRPOConfig", faults, GRPO_DEFAULTS)


def checked_lora(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return our defaults updated with `given`, with the types of peft's LoraConfig.

    Raises:
        Faults: fields that LoraConfig does not have, or whose value is invalid.
    """
    return _checked(given, lora_fields(), "peft's LoraConfig", [], LORA_DEFAULTS)


def checked_vllm(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return `given`, with ``mode`` first; ``port`` is GRPOConfig's ``vllm_server_port``, the others ``vllm_<name>``.

    Raises:
        Faults: fields that GRPOConfig does not have, or whose value is invalid.
    """
    mode = given.get("mode", "colocate")
    faults = []
    if mode not in ("colocate", "server"):
        faults.append(Fault(("mode",), f"must be colocate or server, not {mode!r}"))
    return _checked(given, vllm_fields(), "vllm", faults, {"mode": "colocate"})


def vllm_arguments(vllm: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return arguments of GRPOConfig: ``{"mode": "server", "port": 8}`` is ``vllm_mode``, ``vllm_server_port``."""
    if vllm is None:
        return {}
    known = grpo_fields()
    return {"use_vllm": True} | {_of_trl(name, known): value for name, value in vllm.items()}


def _of_trl(name: str, known: Mapping[str, Field]) -> str:
    return f"vllm_{name}" if f"vllm_{name}" in known or f"vllm_server_{name}" not in known else f"vllm_server_{name}"


def _not_here(name: str) -> str:
    if name in NOT_SET:
        return NOT_SET[name]
    if name.startswith("vllm_"):
        return f"cannot be set here: write vllm: {{{name.removeprefix('vllm_').removeprefix('server_')}: ...}}"
    return f"cannot be set here: use the setting {OWN_KEYS[name]}" if name in OWN_KEYS else ""


def settable_grpo_fields() -> dict[str, Field]:
    """Return the fields of GRPOConfig that may be set under ``grpo``."""
    return {name: field for name, field in grpo_fields().items() if not _not_here(name)}


@cache
def vllm_fields() -> dict[str, Field]:
    """Return the fields of GRPOConfig that may be set under ``vllm``, without their prefix."""
    found = {name: field for name, field in grpo_fields().items() if name.startswith("vllm_")}
    short = {name.removeprefix("vllm_").removeprefix("server_"): field for name, field in found.items()}
    return {name.removeprefix("vllm_"): field for name, field in found.items()} | short


def _checked(
    given: Mapping[str, Any], known: dict[str, Field], owner: str, faults: list[Fault], defaults: dict[str, Any]
) -> dict[str, Any]:
    checked = dict(given)
    if known:  # else the library is not installed, which the run reports
        unknown = [name for name in given if name not in known]
        faults = faults + [
            Fault((str(name),), f"{owner} has no such field.{near_miss(name, known)}") for name in unknown
        ]
        faults += [
            Fault((name,), explained({"type": "bool", "input": value}, known[name].type))
            for name, value in given.items()
            if name in known and isinstance(value, bool) and not _takes_bool(known[name])
        ]
        rest = {name: value for name, value in given.items() if name in known}
        try:
            checked = _model(owner, known)(**rest).model_dump(exclude_unset=True)
        except ValidationError as error:
            # Each of several possible types has its own error: show the first.
            firsts = {str(one["loc"][0]): one for one in reversed(error.errors())}
            faults = faults + [
                Fault((name,), explained(firsts[name], known[name].type)) for name in rest if name in firsts
            ]
    if faults:
        raise Faults(faults)
    return defaults | checked


def _takes_bool(field: Field) -> bool:
    """Return whether the field accepts true and false as such, not as 1 and 0."""
    try:
        TypeAdapter(field.type).validate_python(True, strict=True)
    except ValidationError:
        return False
    return True


def _model(owner: str, known: Mapping[str, Field]) -> type[BaseModel]:
    if owner not in _MODELS:
        config = ConfigDict(protected_namespaces=(), allow_inf_nan=False)
        fields: dict[str, Any] = {name: (field.type, None) for name, field in known.items()}
        _MODELS[owner] = create_model(owner, __config__=config, **fields)
    return _MODELS[owner]
