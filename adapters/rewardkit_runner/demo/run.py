"""`rewardkit demo`: make a tiny model, warm it up, train it with GRPO, and show what the reward did to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit_runner.demo import surroundings
from rewardkit_runner.demo.task import as_columns, examples
from rewardkit_runner.display.stopwatch import Stopwatch

if TYPE_CHECKING:
    from rich.console import Console

STEPS = 100
OUT = Path("runs/demo")
RECORD = "record"
WARM_UP_STEPS = 350
HELD_OUT_PROMPTS = 128
SIZE_NAMES = ("small", "medium", "large")


@dataclass(frozen=True)
class Options:
    """What the user chose."""

    steps: int
    out: Path
    seed: int
    threads: int
    size: str


def run_demo(
    *,
    steps: int = STEPS,
    out: Path = OUT,
    seed: int = 0,
    threads: int | None = None,
    size: str = "small",
    console: Console | None = None,
) -> int:
    """Run the whole demo; the exit code: 0 where the held-out total rose, else 1.

    Args:
        steps: training steps of GRPO, at least 1.
        out: the folder for plot, record, samples and model; made if it is missing.
        seed: orders, weights and sampling all follow from it.
        threads: torch's threads; None takes what is idle.
        size: ``"small"`` fits two CPU cores; ``"medium"`` and ``"large"`` want a GPU.
        console: where to print; None is the standard output.

    Raises:
        MissingExtraError: torch, TRL or another package of the demo is not installed.
        ValueError: `steps`, `threads` or `size` makes no sense.
    """
    if steps < 1 or (threads is not None and threads < 1):
        raise ValueError(f"steps and threads must be at least 1, not steps={steps}, threads={threads}")
    if size not in SIZE_NAMES:
        raise ValueError(f"size must be one of {', '.join(SIZE_NAMES)}, not {size!r}")
    surroundings.prepare()

    from rich.console import Console

    options = Options(steps, Path(out), seed, threads or surroundings.free_threads(size), size)
    console = console or Console()
    stopwatch = Stopwatch()
    with console.status("Loading torch, transformers and TRL"), stopwatch.phase("loading"):
        import torch

        # Loads TRL, which takes seconds: here a status line explains the wait.
        import rewardkit_runner.demo.training  # noqa: F401
        from rewardkit_runner.demo.reward import reward

    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    with surroundings.quiet():
        return _demonstrate(reward, options, console, stopwatch)


def _demonstrate(reward: Any, options: Options, console: Console, stopwatch: Stopwatch) -> int:
    from rewardkit_runner.demo.closing import show_verdict
    from rewardkit_runner.demo.evaluation import evaluate
    from rewardkit_runner.demo.training import LONGEST_COMPLETION
    from rewardkit_runner.display import report

    model, tokenizer, pairs = _make_model(options)
    report.show_opening(console, "rewardkit demo", _facts(model, options))
    with stopwatch.phase("warm start"):
        _warm_up(model, tokenizer, pairs, options, console)
    held_out = as_columns(examples(HELD_OUT_PROMPTS, seed=options.seed, split="held-out"))
    with stopwatch.phase("evaluation before"):
        before = evaluate(reward, model, tokenizer, held_out, max_new_tokens=LONGEST_COMPLETION)
    with stopwatch.phase("GRPO"):
        history = _train(reward, model, tokenizer, options, console)
    with stopwatch.phase("evaluation after"):
        after = evaluate(reward, model, tokenizer, held_out, max_new_tokens=LONGEST_COMPLETION)

    console.print()
    report.show_comparison(console, before, after)
    console.print()
    evaluations = {"before": before, "after": after}
    report.show_samples(console, held_out["prompt"], {"gold": held_out["order"]}, evaluations)
    files = _save(history, held_out, before, after, options, stopwatch)
    model.save_pretrained(files["model"])
    tokenizer.save_pretrained(files["model"])
    report.show_files(console, files)
    console.print()
    show_verdict(console, before.total, after.total, stopwatch.total)
    report.show_way_on(console, options.out)
    return 0 if report.rose(before.total, after.total) else 1


def _make_model(options: Options) -> tuple[Any, Any, list[tuple[str, str]]]:
    """The model, its tokenizer, and the demonstrations from which the tokenizer was made."""
    import torch
    from transformers import set_seed

    from rewardkit_runner.demo.demonstrations import demonstrations
    from rewardkit_runner.demo.model import SIZES, build_model, train_tokenizer
    from rewardkit_runner.demo.warmup import BATCH

    set_seed(options.seed)
    pairs = demonstrations(WARM_UP_STEPS * BATCH, seed=options.seed)
    tokenizer = train_tokenizer([text for pair in pairs for text in pair])
    model = build_model(tokenizer, SIZES[options.size])
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer, pairs


def _facts(model: Any, options: Options) -> dict[str, str]:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return {
        "task": "an order in words becomes JSON",
        "model": f"Llama, {parameters / 1e6:.2f} million parameters, made on the spot",
        "device": f"{model.device.type}, {options.threads} thread{'s' if options.threads > 1 else ''}",
        "training": f"{WARM_UP_STEPS} supervised steps on sloppy answers, then {options.steps} steps of GRPO",
        "seed": str(options.seed),
    }


def _warm_up(model: Any, tokenizer: Any, pairs: list[tuple[str, str]], options: Options, console: Console) -> None:
    from rewardkit_runner.demo.model import SIZES
    from rewardkit_runner.demo.warmup import LEARNING_RATE, warm_up
    from rewardkit_runner.display.progress import shown_progress

    rate = LEARNING_RATE * SIZES[options.size].learning_rate_factor
    with shown_progress(console, "warm start", WARM_UP_STEPS) as on_step:
        warm_up(model, tokenizer, pairs, learning_rate=rate, on_step=lambda loss: on_step({"loss": loss}))


def _train(reward: Any, model: Any, tokenizer: Any, options: Options, console: Console) -> list[dict[str, float]]:
    import rewardkit as rk
    from rewardkit_runner.demo import training
    from rewardkit_runner.demo.model import SIZES
    from rewardkit_runner.display import metrics
    from rewardkit_runner.display.progress import shown_progress

    # One generation more than the steps need: the trainer drops a last one that is not full.
    count = (options.steps + 1) * training.PROMPTS_PER_STEP
    columns = as_columns(examples(count, seed=options.seed, split="training"))
    rate = training.LEARNING_RATE * SIZES[options.size].learning_rate_factor
    settings = training.Settings(options.steps, options.seed, learning_rate=rate)
    reward_funcs = rk.to_trl(reward, record=options.out / RECORD)
    names = [function.__name__ for function in reward_funcs]

    def numbers(row: metrics.Metrics) -> dict[str, float]:
        means = metrics.components(row)
        return {"total": row["reward"], **{name: means[name] for name in names if name in means}}

    with shown_progress(console, "GRPO", options.steps) as on_step:
        return training.train(
            model,
            tokenizer,
            reward_funcs,
            columns,
            settings,
            out=options.out,
            on_step=lambda row: on_step(numbers(row)),
        )


def _save(
    history: list[dict[str, float]],
    held_out: dict[str, list[str]],
    before: Any,
    after: Any,
    options: Options,
    stopwatch: Stopwatch,
) -> dict[str, Path]:
    """Write what was measured; what lies where."""
    from rewardkit_runner.demo.closing import save_metrics, save_samples
    from rewardkit_runner.display import plot

    names = {"plot": "reward.png", "metrics": "metrics.jsonl", "samples": "samples.json", "summary": "summary.json"}
    files = {what: options.out / name for what, name in names.items()}
    plot.draw(history, before.total, after.total, files["plot"])
    save_metrics(history, files["metrics"])
    save_samples(held_out, before, after, files["samples"])
    summary = {
        "steps": options.steps,
        "seed": options.seed,
        "size": options.size,
        "threads": options.threads,
        "held_out_prompts": len(before.completions),
        "before": {"total": before.total, "components": before.means},
        "after": {"total": after.total, "components": after.means},
        "seconds": {**stopwatch.seconds, "all": stopwatch.total},
    }
    files["summary"].write_text(json.dumps(summary, indent=2), encoding="utf-8")
    return {**files, "model": options.out / "model", "record": options.out / RECORD}
