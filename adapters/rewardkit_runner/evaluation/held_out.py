"""The held-out prompts of a run: generate, score, and save the results."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.batch.messages import prompt_text
from rewardkit.core.tree.reward import Reward
from rewardkit_runner.display.evaluation import Evaluation, scored
from rewardkit_runner.evaluation.generation import Completion, Sampling, generate, own_randomness
from rewardkit_runner.folder import EVALUATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasets import Dataset


def evaluate(
    reward: Reward,
    model: Any,
    tokenizer: Any,
    rows: Dataset,
    sampling: Sampling,
    *,
    seed: int,
    generations: int = 1,
    on_batch: Callable[[int], None] = lambda done: None,
) -> Evaluation:
    """Generate `generations` completions per row and score them; the state of random generators is restored.

    With several processes, each generates its share, and the main process scores; the others get an empty evaluation.
    """
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    columns = {name: [value for value in rows[name] for _ in range(generations)] for name in rows.column_names}
    prompts = columns.pop("prompt")
    with own_randomness(seed + rank):
        completions = generate(model, tokenizer, prompts[rank::world], sampling, on_batch=on_batch)
        if world > 1:
            completions = _of_all(completions, world)
        if rank > 0:
            return Evaluation([], [], {}, math.nan)
        return scored(
            reward,
            [_as_trained(prompt, completion) for prompt, completion in zip(prompts, completions, strict=True)],
            prompts=prompts,
            columns=columns,
            completion_ids=[completion.ids for completion in completions],
            generations=generations,
        )


def texts_of(rows: Dataset) -> list[str]:
    """Return the texts of the prompts."""
    return [value if isinstance(value, str) else prompt_text(value, row) for row, value in enumerate(rows["prompt"])]


def gold_of(rows: Dataset) -> dict[str, list[Any]]:
    """Return all columns except the prompt."""
    return {name: list(rows[name]) for name in rows.column_names if name != "prompt"}


def shown_gold_of(rows: Dataset) -> dict[str, list[Any]]:
    """Return the columns whose cells are not part of the prompt."""
    texts = texts_of(rows)
    return {
        name: values
        for name, values in gold_of(rows).items()
        if any(str(value) not in text for value, text in zip(values, texts, strict=True))
    }


def save(output: Path, rows: Dataset, evaluations: Mapping[str, Evaluation], *, how: str) -> Path:
    """Write ``evaluation.json`` in the folder of a run: see `save_as`."""
    return save_as(output / EVALUATION, rows, evaluations, how=how)


def save_as(path: Path, rows: Dataset, evaluations: Mapping[str, Evaluation], *, how: str) -> Path:
    """Write the means, and every prompt with its columns, completions and totals."""
    gold, texts = gold_of(rows), texts_of(rows)
    listed = [
        {
            "prompt": text,
            "columns": {name: values[row] for name, values in gold.items()},
            **{name: _of_row(evaluation, row, len(texts)) for name, evaluation in evaluations.items()},
        }
        for row, text in enumerate(texts)
    ]
    means = {
        name: {"total": one.total, "unscorable": one.unscorable, "components": one.means}
        for name, one in evaluations.items()
    }
    return write_json(path, {"prompts": len(texts), "how": how, **means, "rows": listed})


def saved(output: Path, name: str, rows: Dataset) -> Evaluation | None:
    """Return a saved evaluation (``before``) of the same prompts; None if there is none."""
    try:
        found = json.loads((output / EVALUATION).read_text(encoding="utf-8"))
        if [row["prompt"] for row in found["rows"]] != texts_of(rows):
            return None
        own = [row[name] for row in found["rows"]]
        return Evaluation(
            completions=[text for one in own for text in one["completions"]],
            totals=[_number(total) for one in own for total in one["totals"]],
            means={component: _number(mean) for component, mean in found[name]["components"].items()},
            total=_number(found[name]["total"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_json(path: Path, value: Mapping[str, Any]) -> Path:
    """Write the file atomically; NaN and infinity become null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, default=str)
    unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
    unfinished.replace(path)
    return path


def _of_row(evaluation: Evaluation, row: int, rows: int) -> dict[str, Any]:
    each = len(evaluation.completions) // rows
    own = slice(row * each, (row + 1) * each)
    return {"completions": evaluation.completions[own], "totals": evaluation.totals[own]}


def _as_trained(prompt: Any, completion: Completion) -> Any:
    """Return a completion as the trainer passes it: a message if the prompt consists of messages."""
    return completion.text if isinstance(prompt, str) else [{"role": "assistant", "content": completion.text}]


def _of_all(completions: Sequence[Completion], world: int) -> list[Completion]:
    """Collect the completions of all processes, in the order of the prompts."""
    from accelerate.utils import gather_object

    shares = gather_object([list(completions)])
    return [shares[place % world][place // world] for place in range(sum(map(len, shares)))]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value
