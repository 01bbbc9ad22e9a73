"""Changes in a run's settings and prompts since the run was interrupted.

If a run resumes with another seed, ``since(plan)`` returns ``["changed: seed 7 -> 9", "the prompts ..."]``. The model
must stay the same, because the weights and the optimizer state belong to it. All other changes are printed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import ConfigError, shorten
from rewardkit_adapters.runner import config_file as yaml_text
from rewardkit_adapters.runner.folder import PROMPTS, WRITTEN
from rewardkit_adapters.runner.plan import Plan
from rewardkit_adapters.runner.trl_arguments import Place, path_text

if TYPE_CHECKING:
    from datasets import Dataset

_OF_THE_WEIGHTS = ("model.name", "model.package", "model.gguf", "model.size", "lora", "quantize")
_OF_THE_ORDER = (
    "seed",
    "processes",
    "grpo.num_generations",
    "grpo.per_device_train_batch_size",
    "grpo.gradient_accumulation_steps",
    "grpo.steps_per_generation",
    "grpo.generation_batch_size",
    "grpo.num_iterations",
    "grpo.shuffle_dataset",
    "grpo.data_seed",
)
_UNSAID = ("output", "preflight", "modules", "resume")
_VALUE = 60
"""The maximum number of characters in a printed value. The limit is arbitrary, but low enough that two values fit on
one line."""


def since(plan: Plan) -> list[str]:
    """Return lines to print before the run resumes: the changed settings and their consequences.

    Raises:
        ConfigError: the run cannot resume, because the weights belong to another model, or because prompts that were
            already used for training would now be held out.
    """
    try:
        before, _ = yaml_text.parsed((plan.output / WRITTEN).read_text(encoding="utf-8"), WRITTEN)
    except (OSError, UnicodeDecodeError, ConfigError):
        return []  # incomplete or edited by hand: nothing to compare with
    changed = dict(_changed_settings(before, plan.config.anchored().model_dump(mode="json")))
    weight_settings = [name for name in changed if _is_of(name, _OF_THE_WEIGHTS) and not _has_moved(*changed[name])]
    if weight_settings:
        raise ConfigError(
            "the checkpoint was trained with "
            f"{_changes_text({name: changed[name] for name in weight_settings}, was=True)}, and its weights fit no "
            "other value. Restore the setting, or start another run with --output DIR"
        )
    lines = [f"changed: {_changes_text(changed)}"] if changed else []
    has_other_rows = _prompts_before(plan.output) not in (None, digest(plan.training))
    holds_out = plan.config.eval is not None and plan.config.eval.hold_out is not None
    if has_other_rows and holds_out:
        raise ConfigError(
            f"{'; '.join([*lines, 'the prompts are not the same as before'])}. eval.hold_out would hold out prompts "
            "that the model was trained on. Restore the data and settings, write eval: null, or set eval.dataset"
        )
    if has_other_rows:
        lines.append(
            "the prompts differ from the prompts in the first steps, so some may be repeated and others skipped"
        )
    elif any(_is_of(name, _OF_THE_ORDER) for name in changed):
        lines.append("the order of the prompts changes here, so some may be repeated and others skipped")
    return lines


def keep(plan: Plan) -> None:
    """Save a digest of the prompts, so that `since` detects changed prompts."""
    rows = {"training": len(plan.training), "digest": digest(plan.training)}
    (plan.output / PROMPTS).write_text(json.dumps(rows), encoding="utf-8")


def digest(rows: Dataset) -> str:
    """Return a hash of the prompts, which depends on their order."""
    hasher = hashlib.blake2b(digest_size=16)
    for prompt in rows["prompt"]:
        hasher.update(json.dumps(prompt, sort_keys=True, default=str).encode())
    return hasher.hexdigest()


def _prompts_before(output: Path) -> str | None:
    try:
        return str(json.loads((output / PROMPTS).read_text(encoding="utf-8"))["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _changed_settings(before: Any, now: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield each changed setting with its old and new value."""
    old, new = dict(_settings(before)), dict(_settings(now))
    for key_path in dict.fromkeys([*old, *new]):
        if old.get(key_path) != new.get(key_path) and key_path[0] not in _UNSAID:
            yield path_text(key_path), (old.get(key_path), new.get(key_path))


def _settings(value: Any, key_path: Place = ()) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, Mapping) and value:
        for name, child in value.items():
            yield from _settings(child, (*key_path, name))
    elif value not in (None, {}, []):
        yield key_path, value


def _is_of(name: str, settings: tuple[str, ...]) -> bool:
    return any(name == setting or name.startswith(f"{setting}.") for setting in settings)


def _has_moved(was: Any, now: Any) -> bool:
    """Return whether both values are absolute paths with the same last part, which suggests that the project was
    moved."""
    return (
        all(isinstance(value, str) and value.startswith("/") for value in (was, now))
        and Path(was).name == Path(now).name
    )


def _changes_text(changed: Mapping[str, tuple[Any, Any]], *, was: bool = False) -> str:
    """Return the changes as a string: ``seed 7 -> 9, lora.r 8 -> 16``; with `was`: ``seed 7 (now 9)``."""
    template = "{} {} (now {})" if was else "{} {} -> {}"
    return ", ".join(template.format(name, *map(_shown, values)) for name, values in changed.items())


def _shown(value: Any) -> str:
    return "unset" if value is None else shorten(value, _VALUE)
