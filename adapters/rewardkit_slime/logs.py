"""Terms and components in slime's own log: ``rollout/reward/<term>``, ``eval/<dataset>/reward/components/<name>``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from rewardkit_slime.samples import note, unscored

_LOG = logging.getLogger("rewardkit")
UNSCORED = "unscored"
"""The share of samples without a score, 0.0 to 1.0."""


def log_training(args: Any, rollout_id: int, samples: Sequence[Any]) -> None:
    """Log the means of a rollout."""
    _log(args, rollout_id, means(samples, "rollout/reward/"), "rollout/step")


def log_evaluation(args: Any, rollout_id: int, data: dict[str, Any]) -> None:
    """Leave out the samples without a score from the data of an evaluation, and log the means of the others."""
    found: dict[str, float] = {}
    for name, results in list(data.items()):
        samples = results.get("samples")
        if not samples:
            continue
        found |= means(samples, f"eval/{name}/reward/")
        kept = _kept(args, samples)
        if not kept:
            _LOG.warning("slime: no completion of the evaluation of %r has a score, so it is not logged", name)
            del data[name]
        elif len(kept) < len(samples):
            for entry, values in results.items():
                if isinstance(values, list) and len(values) == len(samples):
                    results[entry] = [values[place] for place in kept]
    _log(args, rollout_id, found, "eval/step")


def means(samples: Sequence[Any], prefix: str) -> dict[str, float]:
    """Return the mean of each term and component over the samples that have it, and the share without a score."""
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, value in note(sample).get("numbers", {}).items():
            values.setdefault(name, []).append(value)
    found = {f"{prefix}{name}": sum(own) / len(own) for name, own in values.items()}
    return {**found, f"{prefix}{UNSCORED}": sum(map(unscored, samples)) / max(1, len(samples))}


def _kept(args: Any, samples: Sequence[Any]) -> list[int]:
    """Return the places of samples with a score; of whole prompts if pass rates are logged, which count by prompt."""
    size = args.n_samples_per_eval_prompt if args.log_passrate else 1
    lost = {place // size for place, sample in enumerate(samples) if unscored(sample)}
    return [place for place in range(len(samples)) if place // size not in lost]


def _log(args: Any, rollout_id: int, numbers: dict[str, float], step_key: str) -> None:
    from slime.observability.logging_utils import log
    from slime.observability.metric_utils import compute_rollout_step

    log(args, {**numbers, step_key: compute_rollout_step(args, rollout_id)}, step_key=step_key)
    _LOG.info("reward %d: %s", rollout_id, numbers)
