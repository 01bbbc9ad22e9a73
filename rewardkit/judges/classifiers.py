"""A sequence classifier of transformers, read in batches: logits or probabilities of prompts and completions."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, final

from rewardkit.core.errors import RewardFailure, RunStopped, near_miss, shorten
from rewardkit.core.tree.fingerprints import fingerprint

_NO_LIMIT_NAMED = 4096  # tokens, where neither the model nor its tokenizer has a limit
_LONGEST_TOKEN = 32  # characters; a text of more than that for each token it may have is not read to its end
_STEP = 64  # tokens by which the padded lengths differ
_BEYOND = 1_000_000  # tokenizers without a limit name a number far above

Ids = dict[str, list[int]]


@final
@dataclass(frozen=True)
class Weights:
    """A model and its tokenizer, by name or as they are, and where they belong."""

    model: str | Any
    tokenizer: str | Any
    device: str | None
    dtype: str
    revision: str | None

    def describe(self) -> str:
        """Names, and of a module its kind and some of its numbers, for the fingerprint."""
        tokenizer = self.tokenizer if isinstance(self.tokenizer, str) else getattr(self.tokenizer, "name_or_path", "")
        model = self.model if isinstance(self.model, str) else _looks(self.model)
        return f"Weights({model!r}, {tokenizer!r}, {self.dtype!r}, {self.revision!r})"


@final
@dataclass(frozen=True)
class Verdict:
    """A number, or why there is none, and what is to be said of it."""

    value: float | Exception
    note: str = ""


@final
@dataclass(frozen=True)
class Reading:
    """How a classifier is read: which label, as a probability or a logit, how many texts at once, how many tokens."""

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
        self._taken = inspect.signature(model.forward).parameters
        self._padding = getattr(self.config, "pad_token_id", None)
        if self._padding is None and self.config is not None and tokenizer.pad_token_id is not None:
            self._padding = self.config.pad_token_id = tokenizer.pad_token_id  # it looks there for a text's last token
        added = getattr(tokenizer, "added_tokens_decoder", {}).values()
        special = {*map(str, tokenizer.all_special_tokens), *(str(token) for token in added if token.special)}
        # With a blank put behind the first character, a token that begins with a blank or has one there stays itself.
        long = sorted((token for token in special if len(token[:2].strip()) == 2), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, long)) or r"(?!)")

    def read(self, texts: Sequence[tuple[str, str]], reading: Reading) -> Iterator[dict[int, Verdict]]:
        """The verdicts on completions and their prompts by their number, batch by batch."""
        limit = reading.max_length or self._limit()
        encoded: list[_Encoded] = []
        for number, (completion, prompt) in enumerate(texts):
            try:
                encoded.append(self._encoded(number, completion, prompt, limit))
            except Exception as error:
                yield {number: Verdict(_failure("its tokenizer", error))}
        encoded.sort(key=len)
        for width, alike in groupby(encoded, lambda one: self._width(len(one), limit)):
            texts_alike = list(alike)
            size = 1 if self._padding is None else reading.batch_size
            for start in range(0, len(texts_alike), size):
                yield from self._verdicts(texts_alike[start : start + size], (size, width), reading)

    def _width(self, length: int, limit: int) -> int:
        """How far a text is padded, whatever it is read with: arithmetic of another shape rounds in another way."""
        if self._padding is None:  # the model finds the last token of a text only where it stands alone
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
                yield {one.number: Verdict(_failure("reading it", error)) for one in batch}
                return
            half = shape[0] // 2
            for start in range(0, len(batch), half):
                yield from self._verdicts(batch[start : start + half], (half, shape[1]), reading)
            return
        except Exception as error:
            yield {one.number: Verdict(_failure("reading it", error)) for one in batch}
            return
        chosen = self._chosen(logits.shape[-1], reading.label)
        if reading.probability:
            logits = logits.sigmoid() if logits.shape[-1] == 1 else logits.softmax(-1)
        values = logits[:, chosen].tolist()
        yield {one.number: Verdict(_finite(value), one.note) for one, value in zip(batch, values, strict=True)}

    def _logits(self, batch: Sequence[_Encoded], shape: tuple[int, int]) -> Any:
        """Of each text; the batch is filled up to its shape (texts, tokens) with what does not count."""
        import torch

        rows, width = shape
        filled = [*batch, *[batch[0]] * (rows - len(batch))]
        fill = {"input_ids": self._padding or 0}
        given = {
            name: torch.tensor(
                [one.ids[name] + [fill.get(name, 0)] * (width - len(one)) for one in filled], device=self.device
            )
            for name in batch[0].ids
        }
        with torch.inference_mode(), _evaluating(self.model):
            logits = self.model(**given).logits.float().cpu()
        if logits.ndim != 2 or len(logits) != rows:
            raise ValueError(f"its logits have the shape {tuple(logits.shape)}, not (texts, labels)")
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
                completion = self._special.sub(lambda found: f"{found[0][0]} {found[0][1:]}", completion)
        ids = self._ids(completion, prompt)
        length = len(ids["input_ids"])
        if length > limit:
            notes.append(f"cut from {length:,} to {limit:,} tokens")
            ids = self._ids(completion, self._end_of(prompt, completion, limit), limit)
        return _Encoded(number, ids, "; ".join(notes))

    def _ids(self, completion: str, prompt: str, limit: int | None = None) -> Ids:
        """What the model is given, one number per token, at most `limit` of them."""
        if getattr(self.tokenizer, "chat_template", None):
            messages = [{"role": "user", "content": prompt}] if prompt else []
            messages.append({"role": "assistant", "content": completion})
            found = self.tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True)
        else:
            texts = (prompt, completion) if prompt else (completion,)
            cutting = {"truncation": True, "max_length": limit} if limit else {}
            found = self.tokenizer(*texts, **cutting, verbose=False)
        tokens = list(found["input_ids"])[:limit] or [self.tokenizer.eos_token_id or 0]
        ids = {"input_ids": tokens, "attention_mask": [1] * len(tokens)}
        if "token_type_ids" in found and "token_type_ids" in self._taken:
            ids["token_type_ids"] = (list(found["token_type_ids"]) or [0])[: len(tokens)]
        return ids

    def _end_of(self, prompt: str, completion: str, limit: int) -> str:
        """As much of the prompt as leaves room for the whole completion."""
        while prompt and len(self._ids(completion, prompt)["input_ids"]) > limit:
            prompt = prompt[len(prompt) // 4 + 1 :]
        return prompt

    def _limit(self) -> int:
        limits = [self.tokenizer.model_max_length, getattr(self.config, "max_position_embeddings", None)]
        return min((limit for limit in limits if limit and limit < _BEYOND), default=_NO_LIMIT_NAMED)

    def _chosen(self, count: int, label: int | str | None) -> int:
        """The number of the label that counts."""
        names = {str(name): number for number, name in (getattr(self.config, "id2label", None) or {}).items()}
        if label is None and count == 1:
            return 0
        if isinstance(label, str) and label in names:
            return int(names[label])
        if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < count:
            return label
        known = ", ".join(map(repr, names)) or f"0 to {count - 1}"
        what = "name one of them" if label is None else f"{label!r} is none of them"
        raise RunStopped(f"the reward model has {count} labels: {what}: label= {known}.{near_miss(label, names)}")


@cache
def loaded(weights: Weights, process: int) -> Classifier:
    """The classifier, once per process.

    Raises:
        RunStopped: it cannot be loaded, or is no classifier.
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
            f"{weights.model!r} is no reward model: it has no weights for {', '.join(sorted(info['missing_keys']))}, "
            "which would be random"
        )
    return Classifier(model.to(weights.device or _own_device()), tokenizer)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Without dropout, which whoever else trains the module may have put back on and finds as it was."""
    training = [part for part in model.modules() if part.training]
    model.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _own_device() -> str:
    """The GPU of this rank: another thread than the trainer's does not know which one the trainer chose."""
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
    """Halves of characters, which no tokenizer takes, as question marks."""
    return text.encode("utf-8", "replace").decode()


def _finite(value: float) -> float | Exception:
    return value if abs(value) < float("inf") else RewardFailure(f"the reward model gave {value}")


def _failure(what: str, error: Exception) -> RewardFailure:
    return RewardFailure(f"the reward model: {what} raised {type(error).__name__}: {shorten(str(error))}")
