"""The inputs, other than the completion, that a trainer passes, and a check for rewards that need more inputs."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from rewardkit.errors import RewardDefinitionError, warn
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.parameters import MISSING
from rewardkit.tree.reward import Reward, walk


@final
@dataclass(frozen=True)
class TrainerInputs:
    """The inputs that a trainer passes with its completions.

    Attributes:
        trainer: the trainer's name in messages.
        step: whether the training step, which schedules need, is passed.
        groups: whether all completions for a prompt are passed in one call.
        batch: whether all completions that a process scores in a step are passed in one call.
        prompt: whether the prompt is passed.
        ids: whether the completions' token ids are passed.
        end_token: whether completions end with the end-of-text token. The token is removed even without
            `special_tokens`.
        instead: a sentence of advice for rewards that need more inputs.
    """

    trainer: str
    step: bool = False
    groups: bool = False
    batch: bool = False
    prompt: bool = True
    ids: bool = False
    end_token: bool = False
    instead: str = ""

    def check(self, scorer: Scorer) -> None:
        """Raise RewardDefinitionError if the reward needs an input that the trainer does not pass."""
        nodes = _nodes(scorer.reward)
        if batch_nodes := [
            node for node in nodes if node.facts.together == "batch" or (_of_batch(node) and not self.batch)
        ]:
            self._refuse(batch_nodes, "the trainer's batch never arrives as a whole")
        if not self.groups and (compare := [node for node in nodes if node.facts.together == "group"]):
            self._refuse(compare, "completions arrive one at a time, without the prompt's other completions")
        if scorer.followers:
            raise RewardDefinitionError(
                f"{self.trainer}: {scorer.followers[0]!r} follows earlier scores of the reward, but completions "
                "are scored in several processes that do not share scores. Use a plain number instead, or train with "
                f"rk.to_trl.{self._instead}"
            )
        if scorer.scheduled and not self.step:
            raise RewardDefinitionError(
                f"{self.trainer}: the reward follows training progress ({_scheduled(scorer)}), but the trainer does "
                "not pass the step with the completions. Use a plain number instead, or train with "
                f"rk.to_trl.{self._instead}"
            )

        arrives = {"prompt": self.prompt, "completion_ids": self.ids}
        for node in nodes:
            for name, needed in _requested_inputs(node):
                if arrives[name]:
                    continue
                message = f"{self.trainer}: the reward {node.name!r} asks for {name!r}, which does not arrive with the"
                if needed:
                    raise RewardDefinitionError(f"{message} completions.{self._instead}")
                warn(f"{message} completions, so the reward scores completions without it.{self._instead}")

    def _refuse(self, nodes: list[Reward], reason: str) -> None:
        names = [node.name or repr(node) for node in nodes]
        raise RewardDefinitionError(
            f"{self.trainer}: {', '.join(map(repr, dict.fromkeys(names)))} compares completions, but {reason}. Score "
            f"each completion separately, or train with rk.to_trl.{self._instead}"
        )

    @property
    def _instead(self) -> str:
        return self.instead and f" {self.instead}"


def _requested_inputs(node: Reward) -> Iterator[tuple[str, bool]]:
    """Yield the inputs, other than completions and columns, that `node` requests, and whether each is required."""
    binding = node.facts.binding
    if binding is None:
        return
    for parameter in binding.parameters:
        if parameter.source in ("prompt", "completion_ids"):
            yield parameter.source, parameter.default is MISSING
    parameters: Mapping[str, inspect.Parameter] = {}
    if binding.foreign:
        with contextlib.suppress(TypeError, ValueError):  # compiled code without a readable signature
            parameters = inspect.signature(binding.original).parameters
    for name, source in (("prompts", "prompt"), ("completion_ids", "completion_ids")):
        if name in parameters:
            yield source, parameters[name].default is inspect.Parameter.empty


def _of_batch(node: Reward) -> bool:
    """Return whether `node` scores whole batches. TRL functions also receive a batch, but score each row separately."""
    binding = node.facts.binding
    return binding is not None and binding.scope == "batch" and not binding.foreign


def _nodes(reward: Reward) -> list[Reward]:
    return [node for node, _, _ in walk(reward)]


def _scheduled(scorer: Scorer) -> str:
    """Return the first schedule's repr, or the name of the first function that reads the progress."""
    for node in _nodes(scorer.reward):
        if node.facts.schedules:
            return repr(node.facts.schedules[0])
        if node.facts.binding is not None and node.facts.binding.follows_progress:
            return f"{node.name!r} reads it"
    return "a schedule"
