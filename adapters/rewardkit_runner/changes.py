"""What has changed since a run was interrupted: its settings, and the prompts that its data gives.

``since(plan)`` of a run that goes on with another seed is ``["changed: seed 7 -> 9", "the prompts ..."]``. Weights and
the state of an optimizer fit no other model; all else may change, but not in silence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import shorten
from rewardkit_runner.configuration import yaml_text
from rewardkit_runner.configuration.faults import ConfigError, Place, written
from rewardkit_runner.folder import PROMPTS, WRITTEN
from rewardkit_runner.plan import Plan

if TYPE_CHECKING:
    from datasets import Dataset

_OF_THE_WEIGHTS = ("model.name", "lora", "quantize")
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


def since(plan: Plan) -> list[str]:
    """What is to be said before the run goes on: the changed settings, and what follows from them.

    Raises:
        ConfigError: it cannot go on like that: the weights are of another model, or prompts that were trained on would
            now be held out.
    """
    try:
        before, _ = yaml_text.parsed((plan.output / WRITTEN).read_text(encoding="utf-8"), WRITTEN)
    except (OSError, UnicodeDecodeError, ConfigError):
        return []  # cut off, or written by hand: nothing to compare with
    changed = dict(_changed(before, plan.config.anchored().model_dump(mode="json")))
    lasting = [name for name in changed if _is_of(name, _OF_THE_WEIGHTS) and not _has_moved(*changed[name])]
    if lasting:
        raise ConfigError(
            f"the checkpoint was trained with {_told({name: changed[name] for name in lasting}, was=True)}: its "
            "weights fit nothing else. Set that back, or begin another run: --output DIR"
        )
    said = [f"changed: {_told(changed)}"] if changed else []
    has_other_rows = _prompts_before(plan.output) not in (None, digest(plan.training))
    holds_out = plan.config.eval is not None and plan.config.eval.hold_out is not None
    if has_other_rows and holds_out:
        raise ConfigError(
            f"{'; '.join([*said, 'the prompts are no longer the same'])}. eval.hold_out would hold out prompts that "
            "have been trained on: set it back, write eval: null, or hold out another file or split"
        )
    if has_other_rows:
        said.append("the prompts are no longer those that the run began with: some may come twice, others never")
    elif any(_is_of(name, _OF_THE_ORDER) for name in changed):
        said.append("the prompts come in another order from here on: some may come twice, others never")
    return said


def keep(plan: Plan) -> None:
    """Writes down which prompts the run has, so that `since` knows others."""
    rows = {"training": len(plan.training), "digest": digest(plan.training)}
    (plan.output / PROMPTS).write_text(json.dumps(rows), encoding="utf-8")


def digest(rows: Dataset) -> str:
    """Of the prompts, in their order."""
    found = hashlib.blake2b(digest_size=16)
    for prompt in rows["prompt"]:
        found.update(json.dumps(prompt, sort_keys=True, default=str).encode())
    return found.hexdigest()


def _prompts_before(output: Path) -> str | None:
    try:
        return str(json.loads((output / PROMPTS).read_text(encoding="utf-8"))["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _changed(before: Any, now: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Setting -> what it was and is."""
    old, new = dict(_settings(before)), dict(_settings(now))
    for place in dict.fromkeys([*old, *new]):
        if old.get(place) != new.get(place) and place[0] not in _UNSAID:
            yield written(place), (old.get(place), new.get(place))


def _settings(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, Mapping) and value:
        for name, one in value.items():
            yield from _settings(one, (*place, name))
    elif value not in (None, {}, []):
        yield place, value


def _is_of(name: str, settings: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in settings)


def _has_moved(was: Any, now: Any) -> bool:
    """Whether both are folders of one name: the project lies elsewhere now."""
    return all(isinstance(one, str) and one.startswith("/") for one in (was, now)) and Path(was).name == Path(now).name


def _told(changed: Mapping[str, tuple[Any, Any]], *, was: bool = False) -> str:
    """``seed 7 -> 9, lora.r 8 -> 16``; with `was` ``seed 7 (now 9)``."""
    form = "{} {} (now {})" if was else "{} {} -> {}"
    return ", ".join(form.format(name, *map(_shown, values)) for name, values in changed.items())


def _shown(value: Any) -> str:
    return "unset" if value is None else shorten(value, _VALUE)
