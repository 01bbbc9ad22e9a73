"""Reward models as rewards: ``rk.reward_model("org/name")`` scores completions by a sequence classifier.

The completions of a batch are read in a thread, sorted by length, while other rewards are computed. It is a reward of
single samples, so behind a gate only open samples are read, and equal samples once.
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
from typing import Any, final

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, hashable, shorten
from rewardkit.core.progress.bounds import Bounds
from rewardkit.core.text.visibility import visible_text
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
    """What a sequence classifier says of the completion, such as one trained on preferences.

    ``rk.normalize(rk.reward_model("org/name"))`` makes its open scale comparable to other rewards;
    ``rk.gate(when=form, then=rk.reward_model("org/name", probability=True))`` reads what has the right form alone.

    The prompt is given as the user's message and the completion as the assistant's by the tokenizer's chat template;
    without one as a pair of texts. Special tokens that the completion spells out are broken up, so that it cannot end
    its turn and praise itself in another's.

    Args:
        model: a name or folder that transformers can load, loaded once per process when it is first needed; or a
            module that takes ``input_ids`` and ``attention_mask`` and returns ``logits``.
        tokenizer: its name or itself; by default that of `model`, needed where that is a module.
        label: number or name of the class whose logit counts; needed where there are several.
        probability: the probability of the class (sigmoid of one logit, softmax of several) instead of the logit.
        bounds: of the values; (0, 1) for a probability, otherwise unbounded unless said here.
        batch_size: completions read at once; halved while the memory does not suffice. A smaller batch is filled up to
            it, and texts are padded in steps of 64 tokens, so that no score depends on what else is read.
        max_length: tokens of prompt and completion; of what is longer the prompt loses its beginning, then the
            completion its end, and the note says so. By default the limit of the model or its tokenizer.
        device: such as "cuda:1"; by default the GPU of this rank (``LOCAL_RANK``) if there is one, else the CPU. A
            module stays where it is.
        dtype: of the weights of a model that is loaded, such as "bfloat16"; "auto" is that of its file.
        revision: branch, tag or commit to load.
        show_thinking: the model reads the thinking too.
        name: the component's name.
        on_failure: what a sample gets that could not be read, as in ``rk.reward``.

    Returns:
        A reward of single samples. One that gives no finite number fails alone.

    Raises:
        MissingExtraError: torch or transformers are not installed.
        RewardDefinitionError: options that are none.
        RunStopped: while scoring: the model cannot be loaded, or has several labels and none was named.
    """
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError.of("rk.reward_model", "reward-model")
    for option, value in (("batch_size", batch_size), ("max_length", max_length)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise RewardDefinitionError(f"rk.reward_model: {option} is a number from 1, got {shorten(value)}")
    if not isinstance(model, str) and not callable(model):
        raise RewardDefinitionError(f"rk.reward_model: model is a name or a module, got {shorten(model)}")
    if not isinstance(model, str) and tokenizer is None:
        raise RewardDefinitionError("rk.reward_model: a module needs its tokenizer=")
    if not (hashable(model) and hashable(tokenizer)):
        raise RewardDefinitionError("rk.reward_model: model and tokenizer must have a hash")
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
    """Asks a classifier for one completion; those that are asked for at one moment are read together."""

    weights: Weights
    reading: Reading
    show_thinking: bool

    async def __call__(self, completion: str, prompt: str = "") -> Score:
        shown = completion if self.show_thinking else visible_text(completion)
        verdict = await _desk(self, os.getpid()).verdict(shown, prompt)
        if isinstance(verdict.value, Exception):
            raise verdict.value
        return Score(verdict.value, verdict.note)


@final
class _Desk:
    """Where the completions of one reader wait until all of a batch have come in."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rewardkit reward model")
        self._waiting: list[_Waiting] = []

    async def verdict(self, completion: str, prompt: str) -> Verdict:
        loop = asyncio.get_running_loop()
        waiting = _Waiting(completion, prompt, loop.create_future())
        self._waiting.append(waiting)
        if len(self._waiting) == 1:
            loop.call_soon(self._start, loop)  # once all calls of this moment are in
        return await waiting.verdict

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, self._waiting = self._waiting, []
        self._thread.submit(self._work, waiting, loop)

    def _work(self, waiting: Sequence[_Waiting], loop: asyncio.AbstractEventLoop) -> None:
        try:
            texts = [(one.completion, one.prompt) for one in waiting]
            for verdicts in loaded(self._reader.weights, os.getpid()).read(texts, self._reader.reading):
                if all(one.verdict.cancelled() for one in waiting):
                    return
                for number, verdict in verdicts.items():
                    loop.call_soon_threadsafe(waiting[number].take, verdict)
        except Exception as error:
            for one in waiting:
                loop.call_soon_threadsafe(one.take, Verdict(error))


@dataclass
class _Waiting:
    completion: str
    prompt: str
    verdict: asyncio.Future[Verdict]

    def take(self, verdict: Verdict) -> None:
        if not self.verdict.done():
            self.verdict.set_result(verdict)


@cache
def _desk(reader: Reader, process: int) -> _Desk:
    return _Desk(reader)
