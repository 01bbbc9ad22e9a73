"""Reward models as rewards: ``rk.reward_model("org/name")`` scores completions by a sequence classifier.

The completions of a batch are scored in a thread, sorted by length, while other rewards are computed. Behind a gate
only completions for which the gate is open are scored, and equal ones only once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, final

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, hashable, shorten
from rewardkit.core.progress.bounds import Bounds
from rewardkit.core.text.thinking import visible_text
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.leaf import Leaf, expression
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.results import Contract, Policy
from rewardkit.core.tree.reward import Reward
from rewardkit.judges.classifiers import Reading, Verdict, Weights, loaded


def reward_model(
    model: str | Any,
    *,
    tokenizer: str | Any = None,
    label: int | str | None = None,
    probability: bool = False,
    bounds: Bounds | None = None,
    batch_size: int = 8,
    max_length: int | None = None,
    device: str | None = None,
    dtype: str = "auto",
    revision: str | None = None,
    show_thinking: bool = False,
    name: str = "reward_model",
    on_failure: Policy = "unscorable",
) -> Reward:
    """Return a reward that scores completions by a sequence classifier, such as one trained on preferences.

    ``rk.normalize(rk.reward_model("org/name"))`` makes its logits comparable to other rewards.
    ``rk.gate(when=form, then=rk.reward_model("org/name", probability=True))`` skips completions of the wrong form.

    The prompt is the user's message and the completion the assistant's message in the chat template of the tokenizer.
    Without a template they are a pair of texts. Special tokens in a completion are broken up, so that it cannot end its
    turn and praise itself in the next one. A completion whose score is not finite fails; the others are scored.

    Args:
        model: a name or folder that transformers can load, once per process when it is first needed; or a module that
            takes ``input_ids`` and ``attention_mask`` and returns ``logits``.
        tokenizer: the tokenizer or its name; by default that of `model`. Required if `model` is a module.
        label: the index or name of the label whose logit counts. Required if there are several.
        probability: True uses the probability of the label (sigmoid of one logit, softmax of several) instead.
        bounds: the bounds of the scores; by default (0, 1) for a probability, and none for a logit.
        batch_size: the number of completions scored together, at least 1; it is halved if the memory is too small.
            Batches and texts are padded to fixed sizes, so a score does not depend on the other texts of its batch.
        max_length: the limit of tokens for prompt and completion. A longer prompt loses its beginning, then the
            completion its end, and the note says so. By default the limit of the model or its tokenizer.
        device: such as "cuda:1"; by default the GPU of this rank (``LOCAL_RANK``), or the CPU. A module stays where it
            is.
        dtype: the type of the loaded weights, such as "bfloat16"; "auto" is the type in the file.
        revision: the branch, tag or commit to load.
        show_thinking: True shows the thinking to the model.
        name: the name of the component.
        on_failure: the score of a completion that could not be scored, as in ``rk.reward``.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        RewardDefinitionError: an option is invalid.
        RunStopped: while scoring: the model cannot be loaded, or it has several labels and `label` is not one of them.
    """
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError.of("rk.reward_model", "reward-model")
    for option, value in (("batch_size", batch_size), ("max_length", max_length)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise RewardDefinitionError(
                f"rk.reward_model: {option} must be a whole number, at least 1, got {shorten(value)}"
            )
    if not isinstance(model, str) and not callable(model):
        raise RewardDefinitionError(f"rk.reward_model: model must be a name or a module, got {shorten(model)}")
    if not isinstance(model, str) and tokenizer is None:
        raise RewardDefinitionError("rk.reward_model: model is a module, so pass its tokenizer=")
    if not (hashable(model) and hashable(tokenizer)):
        raise RewardDefinitionError("rk.reward_model: model and tokenizer must be hashable")
    limits = bounds if bounds is not None else ((0.0, 1.0) if probability else (-math.inf, math.inf))
    weights = Weights(model, model if tokenizer is None else tokenizer, device, dtype, revision)
    reading = Reading(label, bool(probability), batch_size, max_length)
    reader = Reader(weights, reading, bool(show_thinking))
    shown = expression(
        "reward_model",
        model if isinstance(model, str) else type(model).__name__,
        label=(label, None),
        probability=(probability, False),
    )
    parameters = (Parameter("completion", "completion"), Parameter("prompt", "prompt", default=""))
    binding = Binding(reader, parameters, expensive=True, trusted=True)
    return Leaf(binding, Contract(name, limits, on_failure=on_failure), shown)


@final
@dataclass(frozen=True)
class Reader:
    """Asks a classifier for one completion; calls at the same time are scored in batches."""

    weights: Weights
    reading: Reading
    show_thinking: bool
    pool: ClassVar[str] = "models"

    async def __call__(self, completion: str, prompt: str = "") -> Score:
        shown = completion if self.show_thinking else visible_text(completion)
        verdict = await _queue(self, os.getpid()).verdict(shown, prompt)
        if isinstance(verdict.value, Exception):
            raise verdict.value
        return Score(verdict.value, verdict.note)


@final
class _Queue:
    """Collects the completions of one reader until all of a batch are there."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rewardkit reward model")
        self._waiting: list[_Waiting] = []

    async def verdict(self, completion: str, prompt: str) -> Verdict:
        loop = asyncio.get_running_loop()
        waiting = _Waiting(completion, prompt, loop.create_future())
        self._waiting.append(waiting)
        if len(self._waiting) == 1:
            loop.call_soon(self._start, loop)  # after all calls of this moment
        return await waiting.verdict

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, self._waiting = self._waiting, []
        self._thread.submit(self._work, waiting, loop)

    def _work(self, waiting: Sequence[_Waiting], loop: asyncio.AbstractEventLoop) -> None:
        try:
            texts = [(text.completion, text.prompt) for text in waiting]
            for verdicts in loaded(self._reader.weights, os.getpid()).read(texts, self._reader.reading):
                if all(text.verdict.cancelled() for text in waiting):
                    return
                for number, verdict in verdicts.items():
                    loop.call_soon_threadsafe(waiting[number].take, verdict)
        except Exception as error:
            for text in waiting:
                loop.call_soon_threadsafe(text.take, Verdict(error))


@dataclass
class _Waiting:
    completion: str
    prompt: str
    verdict: asyncio.Future[Verdict]

    def take(self, verdict: Verdict) -> None:
        if not self.verdict.done():
            self.verdict.set_result(verdict)


@cache
def _queue(reader: Reader, process: int) -> _Queue:
    return _Queue(reader)
