"""The trainer behind a call: training or evaluation, its weights, its tokenizer, its log.

ms-swift gives reward functions its arguments, but not the trainer, so it is looked up in the frames of the callers.
Every attribute is read with care: its trainers for Transformers, Megatron and Ray differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, final


@final
class Trainer:
    """What can be read from a trainer; ``Trainer(None)`` if there is none.

    ``Trainer.calling(orm).training`` is False during evaluation.
    """

    def __init__(self, trainer: Any) -> None:
        self.instance = trainer

    @classmethod
    def calling(cls, orm: object) -> Trainer:
        """Return the trainer that is calling `orm` now."""
        frame = inspect.currentframe()
        while frame is not None:
            owner = frame.f_locals.get("self")
            functions = getattr(owner, "reward_funcs", None)
            if isinstance(functions, list) and any(function is orm for function in functions):
                return cls(owner)
            frame = frame.f_back
        return cls(None)

    @property
    def training(self) -> bool:
        """False during evaluation; True if unknown."""
        model = getattr(self.instance, "model", None)
        wrapped = getattr(self.instance, "unwrapped_models", None)  # Megatron
        if isinstance(wrapped, (list, tuple)) and wrapped:
            model = wrapped[0]
        return bool(getattr(model, "training", True))

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the model; None if unknown."""
        return getattr(getattr(self.instance, "template", None), "tokenizer", None)

    @property
    def functions(self) -> list[Any]:
        """All reward functions of the trainer."""
        return list(getattr(self.instance, "reward_funcs", []))

    @property
    def others(self) -> list[str]:
        """The names of columns that no reward function computes: the reward of a gym."""
        return list(getattr(self.instance, "reward_func_names", []))[len(self.functions) :]

    @property
    def weights(self) -> list[float]:
        """The weights of the reward functions; empty if unknown."""
        held = getattr(self.instance, "reward_weights", None)
        return [] if held is None else [float(weight) for weight in held]

    def log(self, values: Mapping[str, float]) -> None:
        """Add values of one batch to the trainer's own metrics, if it keeps any; it logs their means."""
        metrics = getattr(self.instance, "_metrics", None)
        kept = metrics.get("train" if self.training else "eval") if isinstance(metrics, Mapping) else None
        if isinstance(kept, dict):
            for name, value in values.items():
                kept.setdefault(name, []).append(value)
