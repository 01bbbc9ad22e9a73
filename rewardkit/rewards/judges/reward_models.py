"""Reward models as rewards: ``rk.reward_model("org/name")`` scores completions with a sequence classifier.

A thread scores a batch's completions, sorted by length, while other rewards are computed. Equal completions are scored
only once. Behind a gate, only the completions that pass the gate are scored.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, ClassVar, final

from rewardkit.batch.messages import Message, as_messages, completion_text, content_text, prompt_text
from rewardkit.batch.score import Score
from rewardkit.batch.transcripts import REASONING
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

# A transformers sequence classifier that scores completions in batches, by logit or probability.


# The limit in tokens if neither the model nor the tokenizer has one. Arbitrary: it bounds the memory for one text.
_NO_LIMIT_NAMED = 4096
# Characters per token. A text is cut to this times the token limit before it is tokenized. Arbitrary: few tokens are
# longer.
_LONGEST_TOKEN = 32
# Texts are padded to a multiple of this many tokens. Arbitrary: a larger step wastes more padding, a smaller one makes
# smaller batches.
_STEP = 64
# Tokenizers without a limit report a larger one than this.
_BEYOND = 1_000_000

Ids = dict[str, list[int]]
Prompt = str | Sequence[Message] | None
"""A prompt as it is in the data: text or chat messages."""


@final
@dataclass(frozen=True)
class Weights:
    """A model and a tokenizer, by name or as objects, with the options for loading them."""

    model: str | Any
    tokenizer: str | Any
    device: str | None
    dtype: str
    revision: str | None

    def describe(self) -> str:
        """Return the names and options for the fingerprint; for a module, the class and some of its parameters."""
        tokenizer = self.tokenizer if isinstance(self.tokenizer, str) else getattr(self.tokenizer, "name_or_path", "")
        model = self.model if isinstance(self.model, str) else _looks(self.model)
        return f"Weights({model!r}, {tokenizer!r}, {self.dtype!r}, {self.revision!r})"


@final
@dataclass(frozen=True)
class Verdict:
    """A score or an error for one text, with a note."""

    value: float | Exception
    note: str = ""


@final
@dataclass(frozen=True)
class Reading:
    """The options for reading scores from a classifier.

    Attributes:
        label: the index or name of the label that determines the score; None if there is only one label.
        probability: True for the label's probability, False for its logit.
        batch_size: the number of texts scored together.
        max_length: the maximum number of tokens in one text; None for the limit of the model or the tokenizer.
    """

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
    """A sequence classifier in memory, with its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.config = getattr(model, "config", None)
        parameter = next(iter(model.parameters()), None)
        self.device = "cpu" if parameter is None else parameter.device
        self._forward_parameters = inspect.signature(model.forward).parameters
        # The model needs the padding token to find the last token of a text. As in TRL, the tokenizer's counts.
        padding = (tokenizer.pad_token_id, tokenizer.eos_token_id, getattr(self.config, "pad_token_id", None))
        self._padding = next((token for token in padding if token is not None), None)
        if self.config is not None:
            self.config.pad_token_id = self._padding
        added = getattr(tokenizer, "added_tokens_decoder", {}).values()
        special = {*map(str, tokenizer.all_special_tokens), *(str(token) for token in added if token.special)}
        # Special tokens are broken up with a space after their first character. That would not change a token that has
        # a space in its first two characters, so such tokens are left out.
        breakable = sorted((token for token in special if len(token[:2].strip()) == 2), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, breakable)) or r"(?!)")

    def read(self, texts: Sequence[tuple[Sequence[Message], Prompt]], reading: Reading) -> Iterator[dict[int, Verdict]]:
        """Yield the verdicts on (completion, prompt) pairs, batch by batch, as mappings from indices to verdicts."""
        limit = reading.max_length or self._limit()
        encoded: list[_Encoded] = []
        for number, (completion, prompt) in enumerate(texts):
            # A template may refuse calls that the policy wrote. Its text must still get a score.
            for messages in (completion, [{"role": "assistant", "content": completion_text(completion)}]):
                try:
                    encoded.append(self._encoded(number, messages, prompt, limit))
                    break
                except Exception as error:
                    failure = _failure("its tokenizer", error)
            else:
                yield {number: Verdict(failure)}
        encoded.sort(key=len)
        for width, texts_of_width in groupby(encoded, lambda text: self._width(len(text), limit)):
            same_width = list(texts_of_width)
            size = 1 if self._padding is None else reading.batch_size
            for start in range(0, len(same_width), size):
                yield from self._verdicts(same_width[start : start + size], (size, width), reading)

    def _width(self, length: int, limit: int) -> int:
        """Return a text's padded length. If it depended on the other texts, scores would be rounded differently."""
        if self._padding is None:  # without a padding token, texts are scored one by one
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
        label_index = self._chosen(logits.shape[-1], reading.label)
        if reading.probability:
            logits = logits.sigmoid() if logits.shape[-1] == 1 else logits.softmax(-1)
        values = logits[:, label_index].tolist()
        yield {text.number: Verdict(_finite(value), text.note) for text, value in zip(batch, values, strict=True)}

    def _logits(self, batch: Sequence[_Encoded], shape: tuple[int, int]) -> Any:
        """Pad the batch to `shape`, (texts, tokens), and return the logits, (texts, labels)."""
        import torch

        rows, width = shape
        padded_batch = [*batch, *[batch[0]] * (rows - len(batch))]
        padding = {"input_ids": self._padding or 0}
        tensors = {
            name: torch.tensor(
                [text.ids[name] + [padding.get(name, 0)] * (width - len(text)) for text in padded_batch],
                device=self.device,
            )
            for name in batch[0].ids
        }
        with torch.inference_mode(), _evaluating(self.model):
            logits = self.model(**tensors).logits.float().cpu()
        if logits.ndim != 2 or len(logits) != rows:
            raise ValueError(f"its logits have the shape {tuple(logits.shape)} instead of (completions, labels)")
        return logits[: len(batch)]

    def _encoded(self, number: int, completion: Sequence[Message], prompt: Prompt, limit: int) -> _Encoded:
        notes = []
        max_characters = limit * _LONGEST_TOKEN
        characters = len(completion_text(completion))
        if characters > max_characters:
            notes.append(f"cut from {characters:,} to {max_characters:,} characters")
        prompt, cut = (
            _each_text(value, lambda text: _encodable(text[:max_characters])) for value in (prompt, completion)
        )
        completion = _each_text(cut, self._without_special_tokens)
        if completion != cut:
            notes.append("special tokens broken up")
        ids = self._ids(completion, prompt)
        length = len(ids["input_ids"])
        if length > limit:
            notes.append(f"cut from {length:,} to {limit:,} tokens")
            ids = self._ids(completion, self._end_of(prompt, completion, limit), limit)
        return _Encoded(number, ids, "; ".join(notes))

    def _without_special_tokens(self, text: str) -> str:
        while self._special.search(text):
            text = self._special.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
        return text

    def _ids(self, completion: Sequence[Message], prompt: Prompt, limit: int | None = None) -> Ids:
        """Return the model inputs by name, each with one integer per token, for at most `limit` tokens."""
        text, options = completion_text(completion), {"truncation": True, "max_length": limit} if limit else {}
        if isinstance(prompt, str):  # as in TRL, which has no other tokens here
            encoding = self.tokenizer(prompt + text, add_special_tokens=False, **options, verbose=False)
        elif getattr(self.tokenizer, "chat_template", None):
            rendered = self.tokenizer.apply_chat_template([*(prompt or ()), *completion], tokenize=False)
            encoding = self.tokenizer(rendered, add_special_tokens=False, verbose=False)
        else:
            texts = (prompt_text(prompt), text) if prompt else (text,)
            encoding = self.tokenizer(*texts, **options, verbose=False)
        tokens = list(encoding["input_ids"])[:limit] or [self.tokenizer.eos_token_id or 0]
        ids = {"input_ids": tokens, "attention_mask": [1] * len(tokens)}
        if "token_type_ids" in encoding and "token_type_ids" in self._forward_parameters:
            ids["token_type_ids"] = (list(encoding["token_type_ids"]) or [0])[: len(tokens)]
        return ids

    def _end_of(self, prompt: Prompt, completion: Sequence[Message], limit: int) -> Prompt:
        """Return the end of the prompt, as much as fits in addition to the whole completion."""
        while prompt_text(prompt) and len(self._ids(completion, prompt)["input_ids"]) > limit:
            # Cut a quarter at a time, because the prompt is tokenized again after each cut.
            prompt = _without_first_quarter(prompt)
        return prompt

    def _limit(self) -> int:
        limits = [self.tokenizer.model_max_length, getattr(self.config, "max_position_embeddings", None)]
        return min((limit for limit in limits if limit and limit < _BEYOND), default=_NO_LIMIT_NAMED)

    def _chosen(self, count: int, label: int | str | None) -> int:
        """Return the index of the label that determines the score, out of `count` labels."""
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
    """Load the classifier, once per process.

    Raises:
        RunStopped: the model cannot be loaded, or is not a classifier.
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
            f"{', '.join(sorted(info['missing_keys']))}, so these weights would be random. Pass a sequence classifier"
        )
    return Classifier(model.to(weights.device or _own_device()), tokenizer)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Turn off dropout, and restore the modes of all submodules afterward, in case the model is being trained."""
    training = [part for part in model.modules() if part.training]
    model.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _own_device() -> str:
    """Return this rank's GPU, or "cpu". The trainer has set the current GPU, but only for its own thread."""
    import torch

    if not torch.cuda.is_available():
        return "cpu"
    rank = int(os.environ.get("LOCAL_RANK", 0))
    return f"cuda:{rank if rank < torch.cuda.device_count() else 0}"


def _looks(module: Any) -> str:
    state: Mapping[str, Any] = module.state_dict() if hasattr(module, "state_dict") else {}
    numbers = {name: (tuple(part.shape), part.flatten()[:8].tolist()) for name, part in state.items()}
    return f"{type(module).__qualname__} {fingerprint(numbers)}"


def _without_first_quarter(prompt: Prompt) -> Prompt:
    if prompt is None or isinstance(prompt, str):
        return prompt and prompt[len(prompt) // 4 + 1 :]
    texts = [content_text(message.get("content")) for message in prompt]
    cut = sum(map(len, texts)) // 4 + 1
    shorter = []
    for message, text in zip(prompt, texts, strict=True):
        shorter.append({**message, "content": text[cut:]})
        cut = max(0, cut - len(text))
    return shorter


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return text, or messages, with `change` applied to all text."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_each_text(key, change): _each_text(item, change) for key, item in value.items()}
    return [_each_text(item, change) for item in value] if isinstance(value, (list, tuple)) else value


def _without_thinking(message: Message) -> Message:
    if message.get("role", "assistant") != "assistant":
        return message
    remaining = {name: value for name, value in message.items() if name not in REASONING}
    return remaining | {"content": visible_text(content_text(message.get("content")))}


def _unchanged(prompt: Prompt) -> Prompt:
    return prompt


def _encodable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer accepts, with question marks."""
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
    # Arbitrary: small enough to fit next to the policy on its GPU.
    batch_size: int = 8,
    max_length: int | None = None,
    device: str | None = None,
    dtype: str = "auto",
    revision: str | None = None,
    show_thinking: bool = False,
    name: str = "reward_model",
    on_failure: Policy = "unscorable",
) -> Reward:
    """Return a reward that scores completions with a sequence classifier, such as one trained on preferences.

    ``rk.normalize(rk.reward_model("org/name"))`` makes the logits comparable to other rewards. ``rk.gate(when=form,
    then=rk.reward_model("org/name", probability=True))`` skips completions with an incorrect format.

    The model receives the same tokens as a reward model in TRL's list of reward functions. Chat messages are formatted
    with the tokenizer's chat template. A text prompt is directly followed by the completion, without a template or
    special tokens. Three differences from TRL protect training. Thinking is skipped unless ``show_thinking=True``.
    Special tokens in a completion are broken up, so that a completion cannot end its turn and praise itself in the next
    turn. Long inputs are truncated. If a completion's score is not finite, only that completion fails.

    Without prompts, the completion is the only message. If the tokenizer has no template, it adds its special tokens to
    the completion, or to the chat prompt and completion as a pair.

    Args:
        model: a name or folder that transformers can load (once per process, on first use), or a module that accepts
            ``input_ids`` and ``attention_mask`` and returns ``logits``.
        tokenizer: a tokenizer or its name, by default the name in `model`. Required if `model` is a module.
        label: the index or name of the label with the logit that is used as the score. Required if there are several
            labels.
        probability: if True, the score is the label's probability (the sigmoid of one logit, or the softmax of several)
            instead of its logit.
        bounds: the lowest and the highest score, by default (0, 1) for a probability and infinite for a logit.
        batch_size: the number of completions scored together, at least 1. It is halved if memory runs out. Batches and
            completions are padded to fixed sizes, so a score does not depend on other completions in the batch.
        max_length: the maximum total number of tokens in the prompt and the completion. If there are more, the
            beginning of the prompt is removed first, then the end of the completion, and the note mentions the
            truncation. The default is the limit of the model or the tokenizer.
        device: a device such as "cuda:1". The default is this rank's GPU (``LOCAL_RANK``), or the CPU if there is no
            GPU. A module stays on its device.
        dtype: the data type for the loaded weights, such as "bfloat16". "auto" uses the type in the file.
        revision: the branch, tag, or commit to load.
        show_thinking: if True, the model's input includes the thinking.
        name: the name of the component.
        on_failure: the score for a completion that could not be scored, as in ``rk.reward``.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        RewardDefinitionError: an option is invalid.
        RunStopped: raised while scoring if the model cannot be loaded, or has several labels and `label` is not
            one of them.
    """
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError.of("rk.reward_model", "reward-model")
    for option, value in (("batch_size", batch_size), ("max_length", max_length)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise RewardDefinitionError(
                f"rk.reward_model: {option} must be a whole number of at least 1, got {shorten(value)}"
            )
    if not isinstance(model, str) and not callable(model):
        raise RewardDefinitionError(f"rk.reward_model: model must be a name or a module, got {shorten(model)}")
    if not isinstance(model, str) and tokenizer is None:
        raise RewardDefinitionError("rk.reward_model: model is a module, so also pass tokenizer=")
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
    parameters = (Parameter("completion", "messages"), Parameter("prompt", "prompt", view=_unchanged, default=None))
    binding = Binding(reader, parameters, expensive=True, trusted=True)
    return Leaf(binding, ReturnPolicy(name, limits, on_failure=on_failure), call_text)


@final
@dataclass(frozen=True)
class Reader:
    """A function that scores one completion with a classifier. Concurrent calls are scored in batches."""

    weights: Weights
    reading: Reading
    show_thinking: bool
    pool: ClassVar[str] = "models"

    async def __call__(self, completion: str | Sequence[Message], prompt: Prompt = None) -> Score:
        messages = as_messages(completion, "completion", 0)
        messages = messages if self.show_thinking else list(map(_without_thinking, messages))
        verdict = await _queue(self, os.getpid()).verdict(messages, prompt)
        if isinstance(verdict.value, Exception):
            raise verdict.value
        return Score(verdict.value, verdict.note)


@final
class _Queue:
    """A queue that collects all concurrent completions for one reader and scores them in batches."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rewardkit reward model")
        self._waiting: list[_Waiting] = []

    async def verdict(self, completion: Sequence[Message], prompt: Prompt) -> Verdict:
        loop = asyncio.get_running_loop()
        waiting = _Waiting(completion, prompt, loop.create_future())
        self._waiting.append(waiting)
        if len(self._waiting) == 1:
            loop.call_soon(self._start, loop)  # runs after all calls that are already scheduled
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
    completion: Sequence[Message]
    prompt: Prompt
    verdict: asyncio.Future[Verdict]

    def take(self, verdict: Verdict) -> None:
        if not self.verdict.done():
            self.verdict.set_result(verdict)


@cache
def _queue(reader: Reader, process: int) -> _Queue:
    return _Queue(reader)
