"""Reward models as rewards: ``rk.reward_model("org/name")`` scores completions by a sequence classifier.

The completions of a batch are scored in a thread, sorted by length, while other rewards are computed. Behind a gate
only completions for which the gate is open are scored, and equal ones only once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, ClassVar, final

from rewardkit.batch.score import Score
from rewardkit.errors import (
    MissingExtraError,
    RewardDefinitionError,
    RewardFailure,
    RunStopped,
    hashable,
    near_miss,
    shorten,
)
from rewardkit.progress.bounds import Bounds
from rewardkit.text.thinking import visible_text
from rewardkit.tree.binding import Binding
from rewardkit.tree.fingerprints import fingerprint
from rewardkit.tree.leaf import Leaf, expression
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.results import Policy, ReturnPolicy
from rewardkit.tree.reward import Reward

# A sequence classifier of transformers that scores completions in batches, by logit or probability.


_NO_LIMIT_NAMED = 4096  # tokens, if neither the model nor its tokenizer has a limit
_LONGEST_TOKEN = 32  # characters; a text longer than this times the limit of tokens is cut
_STEP = 64  # tokens; texts are padded to a multiple of it
_BEYOND = 1_000_000  # tokenizers without a limit report a larger number

Ids = dict[str, list[int]]


@final
@dataclass(frozen=True)
class Weights:
    """A model and its tokenizer, by name or as objects, and the options for loading them."""

    model: str | Any
    tokenizer: str | Any
    device: str | None
    dtype: str
    revision: str | None

    def describe(self) -> str:
        """Return the names for the fingerprint; for a module, its class and some of its numbers."""
        tokenizer = self.tokenizer if isinstance(self.tokenizer, str) else getattr(self.tokenizer, "name_or_path", "")
        model = self.model if isinstance(self.model, str) else _looks(self.model)
        return f"Weights({model!r}, {tokenizer!r}, {self.dtype!r}, {self.revision!r})"


@final
@dataclass(frozen=True)
class Verdict:
    """A score or an error, and a note."""

    value: float | Exception
    note: str = ""


@final
@dataclass(frozen=True)
class Reading:
    """The label of a classifier that counts, as a probability or a logit, and the limits of a batch and of a text."""

    label: int | str | None
    probability: bool
    batch_size: int
    max_length: int | None


@dataclass(frozen=True)
class _Encoded:
    number: int
    ids: Ids
    note: str

    def __len__(self) -> int:
        return len(self.ids["input_ids"])


@final
class Classifier:
    """A model in memory with its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.config = getattr(model, "config", None)
        parameter = next(iter(model.parameters()), None)
        self.device = "cpu" if parameter is None else parameter.device
        self._forward_parameters = inspect.signature(model.forward).parameters
        self._padding = getattr(self.config, "pad_token_id", None)
        if self._padding is None and self.config is not None and tokenizer.pad_token_id is not None:
            self._padding = self.config.pad_token_id = (
                tokenizer.pad_token_id
            )  # the model finds the last token of a text by it
        added = getattr(tokenizer, "added_tokens_decoder", {}).values()
        special = {*map(str, tokenizer.all_special_tokens), *(str(token) for token in added if token.special)}
        # Special tokens are broken up by a space after the first character. That does not change a token with a space
        # in its first two characters.
        long = sorted((token for token in special if len(token[:2].strip()) == 2), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, long)) or r"(?!)")

    def read(self, texts: Sequence[tuple[str, str]], reading: Reading) -> Iterator[dict[int, Verdict]]:
        """Yield the verdicts on (completion, prompt) pairs by their index, batch by batch."""
        limit = reading.max_length or self._limit()
        encoded: list[_Encoded] = []
        for number, (completion, prompt) in enumerate(texts):
            try:
                encoded.append(self._encoded(number, completion, prompt, limit))
            except Exception as error:
                yield {number: Verdict(_failure("its tokenizer", error))}
        encoded.sort(key=len)
        for width, texts_of_width in groupby(encoded, lambda text: self._width(len(text), limit)):
            same_width = list(texts_of_width)
            size = 1 if self._padding is None else reading.batch_size
            for start in range(0, len(same_width), size):
                yield from self._verdicts(same_width[start : start + size], (size, width), reading)

    def _width(self, length: int, limit: int) -> int:
        """Return the padded length of a text; if it depended on the other texts, scores would round differently."""
        if self._padding is None:  # without padding, texts are read one by one
            return length
        return min(limit, -(-length // _STEP) * _STEP)

    def _verdicts(
        self, batch: Sequence[_Encoded], shape: tuple[int, int], reading: Reading
    ) -> Iterator[dict[int, Verdict]]:
        import torch

        try:
            logits = self._logits(batch, shape)
        except torch.OutOfMemoryError as error:
            if shape[0] == 1:
                yield {text.number: Verdict(_failure("reading it", error)) for text in batch}
                return
            half = shape[0] // 2
            for start in range(0, len(batch), half):
                yield from self._verdicts(batch[start : start + half], (half, shape[1]), reading)
            return
        except Exception as error:
            yield {text.number: Verdict(_failure("reading it", error)) for text in batch}
            return
        chosen = self._chosen(logits.shape[-1], reading.label)
        if reading.probability:
            logits = logits.sigmoid() if logits.shape[-1] == 1 else logits.softmax(-1)
        values = logits[:, chosen].tolist()
        yield {text.number: Verdict(_finite(value), text.note) for text, value in zip(batch, values, strict=True)}

    def _logits(self, batch: Sequence[_Encoded], shape: tuple[int, int]) -> Any:
        """Return the logits of each text; the batch is padded to its shape, (texts, tokens)."""
        import torch

        rows, width = shape
        filled = [*batch, *[batch[0]] * (rows - len(batch))]
        fill = {"input_ids": self._padding or 0}
        tensors = {
            name: torch.tensor(
                [text.ids[name] + [fill.get(name, 0)] * (width - len(text)) for text in filled], device=self.device
            )
            for name in batch[0].ids
        }
        with torch.inference_mode(), _evaluating(self.model):
            logits = self.model(**tensors).logits.float().cpu()
        if logits.ndim != 2 or len(logits) != rows:
            raise ValueError(f"its logits have the shape {tuple(logits.shape)} instead of (texts, labels)")
        return logits[: len(batch)]

    def _encoded(self, number: int, completion: str, prompt: str, limit: int) -> _Encoded:
        notes = []
        most = limit * _LONGEST_TOKEN
        if len(completion) > most:
            notes.append(f"cut from {len(completion):,} to {most:,} characters")
        prompt, completion = _encodable(prompt[:most]), _encodable(completion[:most])
        if self._special.search(completion):
            notes.append("special tokens broken up")
            while self._special.search(completion):
                completion = self._special.sub(lambda match: f"{match[0][0]} {match[0][1:]}", completion)
        ids = self._ids(completion, prompt)
        length = len(ids["input_ids"])
        if length > limit:
            notes.append(f"cut from {length:,} to {limit:,} tokens")
            ids = self._ids(completion, self._end_of(prompt, completion, limit), limit)
        return _Encoded(number, ids, "; ".join(notes))

    def _ids(self, completion: str, prompt: str, limit: int | None = None) -> Ids:
        """Return the inputs of the model, one number per token, at most `limit` of them."""
        if getattr(self.tokenizer, "chat_template", None):
            messages = [{"role": "user", "content": prompt}] if prompt else []
            messages.append({"role": "assistant", "content": completion})
            encoding = self.tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True)
        else:
            texts = (prompt, completion) if prompt else (completion,)
            cutting = {"truncation": True, "max_length": limit} if limit else {}
            encoding = self.tokenizer(*texts, **cutting, verbose=False)
        tokens = list(encoding["input_ids"])[:limit] or [self.tokenizer.eos_token_id or 0]
        ids = {"input_ids": tokens, "attention_mask": [1] * len(tokens)}
        if "token_type_ids" in encoding and "token_type_ids" in self._forward_parameters:
            ids["token_type_ids"] = (list(encoding["token_type_ids"]) or [0])[: len(tokens)]
        return ids

    def _end_of(self, prompt: str, completion: str, limit: int) -> str:
        """Return the end of the prompt that leaves room for the whole completion."""
        while prompt and len(self._ids(completion, prompt)["input_ids"]) > limit:
            # A quarter at a time: the prompt is tokenized again after each cut, so a few times at most.
            prompt = prompt[len(prompt) // 4 + 1 :]
        return prompt

    def _limit(self) -> int:
        limits = [self.tokenizer.model_max_length, getattr(self.config, "max_position_embeddings", None)]
        return min((limit for limit in limits if limit and limit < _BEYOND), default=_NO_LIMIT_NAMED)

    def _chosen(self, count: int, label: int | str | None) -> int:
        """Return the index of the label that counts."""
        names = {str(name): number for number, name in (getattr(self.config, "id2label", None) or {}).items()}
        if label is None and count == 1:
            return 0
        if isinstance(label, str) and label in names:
            return int(names[label])
        if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < count:
            return label
        label_names = ", ".join(map(repr, names)) or f"0 to {count - 1}"
        mismatch = "" if label is None else f", and {label!r} is not one of them"
        raise RunStopped(
            f"the reward model has {count} labels{mismatch}.{near_miss(label, names)} Pass label= with one of: "
            f"{label_names}"
        )


@cache
def loaded(weights: Weights, process: int) -> Classifier:
    """Return the classifier; it is loaded once per process.

    Raises:
        RunStopped: it cannot be loaded, or is not a classifier.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, tokenizer = weights.model, weights.tokenizer
    try:
        if isinstance(tokenizer, str):
            tokenizer = AutoTokenizer.from_pretrained(tokenizer, revision=weights.revision)
        if not isinstance(model, str):
            return Classifier(model if weights.device is None else model.to(weights.device), tokenizer)
        model, info = AutoModelForSequenceClassification.from_pretrained(
            model, dtype=weights.dtype, revision=weights.revision, output_loading_info=True
        )
    except Exception as error:
        raise RunStopped(f"the reward model {shorten(weights.model)} cannot be loaded: {error}") from error
    if info["missing_keys"]:
        raise RunStopped(
            f"{weights.model!r} is not a reward model: it has no weights for "
            f"{', '.join(sorted(info['missing_keys']))}, so they would be random. Pass a sequence classifier"
        )
    return Classifier(model.to(weights.device or _own_device()), tokenizer)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Turn dropout off, and restore it afterwards: the module may be in training elsewhere."""
    training = [part for part in model.modules() if part.training]
    model.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _own_device() -> str:
    """Return the GPU of this rank. The trainer chose one, but only for its own thread."""
    import torch

    if not torch.cuda.is_available():
        return "cpu"
    rank = int(os.environ.get("LOCAL_RANK", 0))
    return f"cuda:{rank if rank < torch.cuda.device_count() else 0}"


def _looks(module: Any) -> str:
    state: Mapping[str, Any] = module.state_dict() if hasattr(module, "state_dict") else {}
    numbers = {name: (tuple(part.shape), part.flatten()[:8].tolist()) for name, part in state.items()}
    return f"{type(module).__qualname__} {fingerprint(numbers)}"


def _encodable(text: str) -> str:
    """Replace halves of characters, which no tokenizer accepts, by question marks."""
    return text.encode("utf-8", "replace").decode()


def _finite(value: float) -> float | Exception:
    return value if abs(value) < float("inf") else RewardFailure(f"the reward model returned {value}")


def _failure(operation: str, error: Exception) -> RewardFailure:
    return RewardFailure(f"the reward model: {operation} raised {type(error).__name__}: {shorten(str(error))}")


def reward_model(
    model: str | Any,
    *,
    tokenizer: str | Any = None,
    label: int | str | None = None,
    probability: bool = False,
    bounds: Bounds | None = None,
    # Any size that fits beside a policy on its GPU.
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
    call_text = expression(
        "reward_model",
        model if isinstance(model, str) else type(model).__name__,
        label=(label, None),
        probability=(probability, False),
    )
    parameters = (Parameter("completion", "completion"), Parameter("prompt", "prompt", default=""))
    binding = Binding(reader, parameters, expensive=True, trusted=True)
    return Leaf(binding, ReturnPolicy(name, limits, on_failure=on_failure), call_text)


@final
@dataclass(frozen=True)
class Reader:
    """Asks a classifier for one completion; calls at the same time are scored in batches."""

    weights: Weights
    reading: Reading
    show_thinking: bool
    pool: ClassVar[str] = "models"

    async def __call__(self, completion: str, prompt: str = "") -> Score:
        text = completion if self.show_thinking else visible_text(completion)
        verdict = await _queue(self, os.getpid()).verdict(text, prompt)
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
