"""``rewardkit generate``: write a model's completions for a run's prompts to a JSONL file, without a reward.

Each line contains a prompt with the dataset's columns, and one completion::

    {"prompt": "6*7?", "answer": "42", "completion": "It is 42", "generation": 0, "finish_reason": "stop",
     "completion_ids": [21, 14, 3]}
"""

from __future__ import annotations

import math
import random
import shlex
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner import environment as surroundings
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.evaluate import START, check_folder, check_no_tools, folder_of, load_to_generate

if TYPE_CHECKING:
    from datasets import Dataset
    from rich.console import Console

    from rewardkit.scoring.output import Output
    from rewardkit_adapters.runner.held_out import Completion, Sampling
    from rewardkit_adapters.runner.models import Loaded

TRAIN, EVAL = "train", "eval"
PROMPTS = 50
"""The default number of prompts. It is arbitrary, but large enough for a first impression: the standard error of the
share of groups without variance is at most 7 percentage points, the square root of 0.25 / 50."""


def generate(
    config: RunConfig,
    *,
    checkpoint: str = START,
    split: str = TRAIN,
    prompts: int = PROMPTS,
    generations: int | None = None,
    greedy: bool = False,
    out: Path | None = None,
    console: Console | None = None,
) -> Path:
    """Generate completions with the run's settings, write them to a JSONL file, and return its path.

    If the call is interrupted, the finished batches are kept, and the same call continues. Each batch has its own seed,
    so the file is identical to one written without the interruption.

    ::

        generate(read(Path("run.yaml"), needs_reward=False), generations=8)

    Args:
        config: the run. Its reward is not loaded.
        checkpoint: ``"start"`` (the model before training), ``"last"``, a step, or a folder.
        split: ``"train"`` for the training prompts, or ``"eval"`` for the held-out prompts.
        prompts: the number of prompts, sampled with the seed, or all if there are fewer.
        generations: the number of completions per prompt, sampled as in training. None means the run's
            ``num_generations``.
        greedy: whether to use greedy decoding instead, with one completion per prompt.
        out: the file. None means ``samples-<checkpoint>.jsonl`` in the current folder.
        console: the console to print to, or None for standard output.

    Raises:
        ConfigError: the checkpoint does not exist, there are no held-out prompts, or the file exists.
        DataError: the file cannot be written, or it is unfinished and was started with other settings.
    """
    surroundings.prepare()
    from rich.console import Console

    from rewardkit.scoring.output import Output, partial_folder
    from rewardkit.scoring.writers import Lines, json_line
    from rewardkit_adapters.runner.ending import how_it_is_drawn
    from rewardkit_adapters.runner.held_out import Sampling

    console = console or Console()
    check_no_tools(config, "sampled")
    if greedy and (generations or 1) > 1:
        raise ConfigError("greedy decoding gives only one completion per prompt: drop --generations or --greedy")
    folder = folder_of(config, checkpoint)
    title = START if folder is None else folder.name
    out = out or Path(f"samples-{title}.jsonl")
    if out.suffix.lower() != ".jsonl":
        raise ConfigError(f"--out {out}: cannot write this file type. Use .jsonl")
    check_folder(out)
    if out.exists():
        raise ConfigError(f"{out} already exists. Delete it, or pass another file with --out")
    rows = _rows(config, split, prompts)
    with surroundings.quiet():
        loaded, args = load_to_generate(config, folder, console)
        sampling = Sampling.of(args, greedy=greedy)
        group_size = 1 if greedy else generations or args.num_generations
        settings = {
            **{f"model.{name}": value for name, value in config.model.model_dump(mode="json").items()},
            "quantize": config.quantize,
            # A folder's time of change shows whether the model was trained again.
            "checkpoint": title if folder is None else [str(folder.absolute()), folder.stat().st_mtime_ns],
            "prompts": [split, len(rows), f"{zlib.crc32(b''.join(map(json_line, rows))):08x}"],
            "generations": group_size,
            **sampling.arguments,
            "batch": sampling.batch,
            "chat template": sampling.template,
            "seed": config.seed,
        }
        restart = f"Delete the folder {partial_folder(out)}, or pass another file with --out"
        with Output.opened(out, Lines({}, ()), settings, resume=True, restart=restart) as output:
            speed = _write(output, rows, group_size, loaded, sampling, config.seed, console)
            output.finish()
    how = how_it_is_drawn(config, greedy=greedy) + ("" if greedy else ", as in training")
    _show_report(console, config, out, len(rows), how, args.max_completion_length, speed)
    return out


def _rows(config: RunConfig, split: str, prompts: int) -> Dataset:
    """Return the rows of `split` for which to generate completions."""
    from rewardkit_adapters.runner.data import located_rows, sampled

    if split == TRAIN:
        training, _ = located_rows(config)
        return sampled(training, prompts, f"{config.seed}/generate").dataset
    if config.eval is None:
        raise ConfigError("there are no held-out prompts: pass --split train, or write eval: {...}")
    # The same prompts as in an evaluation.
    _, held_out = located_rows(config.model_copy(update={"eval": config.eval.model_copy(update={"prompts": prompts})}))
    assert held_out is not None
    return held_out.dataset


def _write(
    output: Output,
    rows: Dataset,
    group_size: int,
    loaded: Loaded,
    sampling: Sampling,
    seed: int,
    console: Console,
) -> float:
    """Generate the missing completions, append them to `output`, and return the tokens per second (NaN if no completion
    is missing)."""
    from rewardkit.scoring.report import ReplayReport
    from rewardkit.scoring.writers import json_line
    from rewardkit.workers.random_state import preserved_rng
    from rewardkit_adapters.runner.held_out import generate as generate_batch
    from rewardkit_adapters.runner.progress import shown_progress

    total = len(rows) * group_size
    tokens, speed, started = 0, math.nan, time.perf_counter()
    if output.parts:
        console.print(f"Continuing after {output.parts * sampling.batch:,} of {total:,} completions")
    batches = math.ceil(total / sampling.batch)
    try:
        with shown_progress(console, "generating", batches, completed=output.parts) as on_batch:
            for start in range(output.parts * sampling.batch, total, sampling.batch):
                numbers = range(start, min(start + sampling.batch, total))
                batch = [rows[number // group_size] for number in numbers]
                # Each batch has its own seed, so that a resumed file is the same as one without an interruption.
                with preserved_rng(random.Random(f"{seed}/generate/{start}").getrandbits(32)):
                    prompts = [row["prompt"] for row in batch]
                    completions = generate_batch(loaded.model, loaded.tokenizer, prompts, sampling)
                lines = [
                    json_line(_line(row, completion, number % group_size)) + b"\n"
                    for number, row, completion in zip(numbers, batch, completions, strict=True)
                ]
                output.append(b"".join(lines), None, ReplayReport())
                tokens += sum(len(completion.ids) for completion in completions)
                speed = tokens / (time.perf_counter() - started)
                on_batch({}, speed=f"{speed:,.0f} tokens/s")
    except BaseException:
        if output.parts:
            saved = min(output.parts * sampling.batch, total)
            console.print(f"{saved:,} of {total:,} completions are saved. Run the command again to continue")
        raise
    return speed


def _line(row: Mapping[str, Any], completion: Completion, generation: int) -> dict[str, Any]:
    """Return a row for the file. As in the output of ``rewardkit score``, a column of the dataset with the same name as
    an added column becomes ``input/<name>``."""
    from rewardkit_adapters.runner.held_out import as_trained

    added = {
        "completion": as_trained(row["prompt"], completion),
        "generation": generation,
        # `rewardkit score` reads this column. The values are those of OpenAI's API.
        "finish_reason": "length" if completion.cut else "stop",
        "completion_ids": completion.ids,
    }
    columns = {f"input/{name}" if name in added else name: value for name, value in row.items() if name != "prompt"}
    return {"prompt": row["prompt"], **columns, **added}


def _show_report(
    console: Console, config: RunConfig, out: Path, prompts: int, how: str, limit: int, speed: float
) -> None:
    """Print the number of completions, their lengths, and the commands to try rewards on them."""
    from rich.text import Text

    from rewardkit.scoring.files import rows_of
    from rewardkit_adapters.runner.report import short, show_files

    lengths, cut = [], 0
    for _, row in rows_of(out):
        lengths.append(len(row["completion_ids"]))
        cut += row["finish_reason"] == "length"
    facts: dict[str, Path | str] = {
        "prompts": f"{prompts:,}",
        "completions": f"{len(lengths):,}, {how}",
        "mean length": f"{sum(lengths) / len(lengths):,.1f} tokens",
        "truncated": f"{cut / len(lengths):.1%} reached max_completion_length ({limit:,} tokens)",
        **({} if math.isnan(speed) else {"speed": f"{speed:,.0f} tokens/s"}),
        "file": out,
    }
    console.print()
    show_files(console, facts)
    source, _, name = config.reward_target().rpartition(":")
    target = f"{short(source) if Path(source).is_absolute() else source}:{name}"
    reward, file = shlex.quote(target), shlex.quote(str(out))
    console.print("\nTry a reward on these completions:")
    for command in (f"rewardkit score {file} --reward {reward}", f"rewardkit check {reward} --data {file}"):
        console.print(Text(f"  {command}", style="bold"), soft_wrap=True)
