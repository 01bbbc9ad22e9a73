"""A run's held-out prompts: generate completions, score them, and save the results."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from rewardkit.batch.messages import prompt_text
from rewardkit.tree.reward import Reward
from rewardkit.workers.random_state import preserved_rng
from rewardkit_adapters.runner.folder import EVALUATION
from rewardkit_adapters.runner.report import Evaluation, scored

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasets import Dataset


# Generate completions outside the training, in batches: greedily, or sampled as in training.


Prompt = Any
"""A prompt: a string or a list of messages."""


@dataclass(frozen=True)
class Completion:
    """A completion: its text without special tokens, its token ids including the end token, and whether it has no end
    token because it reached the token limit."""

    text: str
    ids: list[int]
    cut: bool


@dataclass(frozen=True)
class Sampling:
    """Settings for generating completions.

    Attributes:
        arguments: the arguments of transformers' GenerationConfig.
        batch: the batch size in rows.
        template: keyword arguments for the chat template.
        half: whether to use bfloat16 for computation.
    """

    arguments: dict[str, Any]
    batch: int = 16
    template: dict[str, Any] | None = None
    half: bool = False

    @classmethod
    def of(cls, args: Any, *, greedy: bool) -> Sampling:
        """Return the sampling settings in a GRPOConfig, or the settings for greedy decoding."""
        arguments: dict[str, Any] = {"max_new_tokens": args.max_completion_length}
        if greedy:
            arguments["do_sample"] = False
        else:
            names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
            arguments |= {"do_sample": True, **{name: getattr(args, name) for name in names}}
            arguments |= args.generation_kwargs or {}
        # The training generates this many rows at once, so they fit in memory.
        batch = args.per_device_train_batch_size * args.steps_per_generation
        return cls(arguments, batch, args.chat_template_kwargs, bool(args.bf16))


def generate(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    sampling: Sampling,
    *,
    on_batch: Callable[[int], None] = lambda count: None,
) -> list[Completion]:
    """Return one completion per prompt, in order. The model's mode (train or eval) is restored at the end.

    Args:
        tokenizer: the tokenizer, which pads on the left here regardless of its own setting.
        on_batch: a function that is called after every batch with the number of completions so far.
    """
    was_training = model.training
    model.eval()
    completions: list[Completion] = []
    try:
        with torch.inference_mode(), _computing(model, sampling):
            for start in range(0, len(prompts), sampling.batch):
                completions += _batch(model, tokenizer, prompts[start : start + sampling.batch], sampling)
                on_batch(len(completions))
    finally:
        model.train(was_training)
    return completions


def _batch(model: Any, tokenizer: Any, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
    from transformers import GenerationConfig

    inner = getattr(tokenizer, "tokenizer", tokenizer)
    texts = [_text(inner, prompt, sampling.template or {}) for prompt in prompts]
    # A chat template adds the special tokens itself.
    special = isinstance(prompts[0], str)
    encoded = inner(texts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=special).to(
        model.device
    )
    ends = _ends(model, inner)
    config = GenerationConfig(
        **sampling.arguments, pad_token_id=inner.pad_token_id, eos_token_id=ends, disable_compile=True
    )
    generated = model.generate(
        input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], generation_config=config
    )
    rows = generated[:, encoded["input_ids"].shape[1] :].tolist()
    ids = [_until_end(row, ends) for row in rows]
    return [
        Completion(text, token_ids, cut=not token_ids or token_ids[-1] not in ends)
        for text, token_ids in zip(inner.batch_decode(ids, skip_special_tokens=True), ids, strict=True)
    ]


def _text(tokenizer: Any, prompt: Prompt, template: dict[str, Any]) -> str:
    if isinstance(prompt, str):
        return prompt
    continues = bool(prompt) and prompt[-1]["role"] == "assistant"
    return str(
        tokenizer.apply_chat_template(
            prompt, tokenize=False, add_generation_prompt=not continues, continue_final_message=continues, **template
        )
    )


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """Return all of the model's and the tokenizer's tokens that end a completion."""
    declared = getattr(model.generation_config, "eos_token_id", None)
    end_tokens = [] if declared is None else [declared] if isinstance(declared, int) else list(declared)
    return list(dict.fromkeys([*end_tokens, tokenizer.eos_token_id]))


def _until_end(row: list[int], ends: Sequence[int]) -> list[int]:
    """Return the tokens up to and including the first end token. The remaining tokens are padding."""
    end = next((index for index, token in enumerate(row) if token in ends), len(row) - 1)
    return row[: end + 1]


def _computing(model: Any, sampling: Sampling) -> Any:
    kind = model.device.type
    return torch.autocast(kind, dtype=torch.bfloat16, enabled=sampling.half and kind != "cpu")


def evaluate(
    reward: Reward,
    model: Any,
    tokenizer: Any,
    rows: Dataset,
    sampling: Sampling,
    *,
    seed: int,
    generations: int = 1,
    on_batch: Callable[[int], None] = lambda count: None,
) -> Evaluation:
    """Generate `generations` completions per row and score them. Random generators are restored at the end.

    With several processes, each process generates its share of the completions, and the main process scores all
    completions. The other processes receive an empty evaluation.
    """
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    columns = {name: [value for value in rows[name] for _ in range(generations)] for name in rows.column_names}
    prompts = columns.pop("prompt")
    with preserved_rng(seed + rank):
        completions = generate(model, tokenizer, prompts[rank::world], sampling, on_batch=on_batch)
        if world > 1:
            completions = _gather_completions(completions, world)
        if rank > 0:
            return Evaluation([], [], {}, math.nan)
        return scored(
            reward,
            [as_trained(prompt, completion) for prompt, completion in zip(prompts, completions, strict=True)],
            prompts=prompts,
            columns=columns,
            completion_ids=[completion.ids for completion in completions],
            cut=[completion.cut for completion in completions],
            generations=generations,
        )


def texts_of(rows: Dataset) -> list[str]:
    """Return the prompts as strings."""
    return [value if isinstance(value, str) else prompt_text(value, row) for row, value in enumerate(rows["prompt"])]


def gold_of(rows: Dataset) -> dict[str, list[Any]]:
    """Return all columns except the prompt."""
    return {name: list(rows[name]) for name in rows.column_names if name != "prompt"}


def shown_gold_of(rows: Dataset) -> dict[str, list[Any]]:
    """Return the columns in which the text of at least one cell is not in the prompt."""
    texts = texts_of(rows)
    return {
        name: values
        for name, values in gold_of(rows).items()
        if any(str(value) not in text for value, text in zip(values, texts, strict=True))
    }


def save(output: Path, rows: Dataset, evaluations: Mapping[str, Evaluation], *, how: str) -> Path:
    """Write ``evaluation.json`` to a run's folder, in the format of `save_as`."""
    return save_as(output / EVALUATION, rows, evaluations, how=how)


def save_as(path: Path, rows: Dataset, evaluations: Mapping[str, Evaluation], *, how: str) -> Path:
    """Write the means, and every prompt with its columns, completions, and totals, to a JSON file."""
    gold, texts = gold_of(rows), texts_of(rows)
    entries = [
        {
            "prompt": text,
            "columns": {name: values[row] for name, values in gold.items()},
            **{name: _of_row(evaluation, row, len(texts)) for name, evaluation in evaluations.items()},
        }
        for row, text in enumerate(texts)
    ]
    means = {
        name: {"total": result.total, "unscorable": result.unscorable, "components": result.means}
        for name, result in evaluations.items()
    }
    return write_json(path, {"prompts": len(texts), "how": how, **means, "rows": entries})


def load_evaluation(output: Path, name: str, rows: Dataset) -> Evaluation | None:
    """Return the saved evaluation `name`, such as ``before``, or None if there is none for the same prompts."""
    try:
        document = json.loads((output / EVALUATION).read_text(encoding="utf-8"))
        if [row["prompt"] for row in document["rows"]] != texts_of(rows):
            return None
        entries = [row[name] for row in document["rows"]]
        return Evaluation(
            completions=[text for entry in entries for text in entry["completions"]],
            totals=[_number(total) for entry in entries for total in entry["totals"]],
            means={component: _number(mean) for component, mean in document[name]["components"].items()},
            total=_number(document[name]["total"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_json(path: Path, value: Mapping[str, Any]) -> Path:
    """Write `value` to a JSON file atomically. NaN and infinity become null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, default=str)
    unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
    unfinished.replace(path)
    return path


def _of_row(evaluation: Evaluation, row: int, rows: int) -> dict[str, Any]:
    row_size = len(evaluation.completions) // rows
    row_slice = slice(row * row_size, (row + 1) * row_size)
    return {"completions": evaluation.completions[row_slice], "totals": evaluation.totals[row_slice]}


def as_trained(prompt: Any, completion: Completion) -> Any:
    """Return a completion in the trainer's format: a list with one message if the prompt consists of messages."""
    return completion.text if isinstance(prompt, str) else [{"role": "assistant", "content": completion.text}]


def _gather_completions(completions: Sequence[Completion], world: int) -> list[Completion]:
    """Collect the completions from all processes, in the order of the prompts."""
    from accelerate.utils import gather_object

    shares = gather_object([list(completions)])
    return [shares[index % world][index // world] for index in range(sum(map(len, shares)))]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _finite(element) for name, element in value.items()}
    return [_finite(element) for element in value] if isinstance(value, (list, tuple)) else value
