"""``rewardkit train --evaluate``: score checkpoints' completions for held-out prompts.

If there are several checkpoints, they are compared in one table. If there are several generations per prompt, pass@k is
also computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner import environment as surroundings
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.report import Evaluation

if TYPE_CHECKING:
    from rich.console import Console
    from trl import GRPOConfig

    from rewardkit_adapters.runner.models import Loaded

LAST, START = "last", "start"
PROMPTS = 64
"""The default number of prompts. The number is arbitrary, but large enough for a first impression."""
_TOLERANCE = 1e-9
"""The tolerance for comparing totals. If the order of a sum changes, the result differs by less than this."""


def evaluate(
    config: RunConfig,
    *,
    checkpoint: str | Sequence[str] = LAST,
    split: str | None = None,
    prompts: int | None = None,
    generations: int = 1,
    out: Path | None = None,
    console: Console | None = None,
) -> int:
    """Generate completions for held-out prompts and print the scores. Return the exit code.

    ::

        evaluate(read(Path("run.yaml")), checkpoint=["start", "last"], generations=8)

    Args:
        checkpoint: ``"last"``, ``"start"`` (the model before training), a step, or a folder; or a list of these.
        split: the dataset split, or None for the setting in ``eval``.
        prompts: the number of prompts, sampled with the seed. None means the setting in ``eval``, or 64 if it is not
            set.
        generations: the number of generations per prompt. If there are several, they are sampled as in training.
        out: a JSON file for all completions with their totals, or None for no file.
        console: the console to print to, or None for standard output.

    Returns:
        0, or 1 if a completion could not be scored.

    Raises:
        ConfigError: the checkpoint does not exist, or no held-out prompts are configured.
    """
    surroundings.prepare()
    from rich.console import Console
    from transformers import set_seed

    from rewardkit_adapters.runner import held_out, report
    from rewardkit_adapters.runner.ending import how_it_is_drawn
    from rewardkit_adapters.runner.environment import quiet
    from rewardkit_adapters.runner.plan import Plan
    from rewardkit_adapters.runner.rewards import trained

    console = console or Console()
    if out is not None:
        check_folder(out)
    config = _evaluated(config, split, prompts)
    assert config.eval is not None
    check_no_tools(config, "evaluated")
    names = [checkpoint] if isinstance(checkpoint, str) else list(dict.fromkeys(checkpoint))
    folders = {name: folder_of(config, name) for name in names}
    plan = Plan.of(config, None)
    rows = plan.held_out
    assert rows is not None
    greedy = config.eval.greedy and generations == 1
    how = how_it_is_drawn(config, greedy=greedy)
    reward = trained(config, plan.reward)
    evaluations: dict[str, Evaluation] = {}
    with quiet():
        for name, folder in folders.items():
            set_seed(config.seed)
            title = name if folder is None else folder.name
            evaluations[title] = _evaluate_reward(config, folder, reward, rows, greedy, generations, title, console)
    if len(evaluations) == 2:
        before, after = evaluations.values()
        report.show_comparison(console, before, after, how=how, headings=list(evaluations))
    else:
        report.show_means(console, evaluations, how=how)
    if generations > 1:
        rates = {
            name: pass_rates(evaluation.totals, generations, reward.bounds[1])
            for name, evaluation in evaluations.items()
        }
        report.show_rates(console, rates)
    console.print()
    report.show_samples(console, held_out.texts_of(rows), held_out.shown_gold_of(rows), evaluations)
    if out is not None:
        held_out.save_as(out, rows, evaluations, how=how)
        report.show_files(console, {"completions": report.short(out)})
    return 1 if any(evaluation.unscorable for evaluation in evaluations.values()) else 0


def folder_of(config: RunConfig, name: str) -> Path | None:
    """Return the folder with a checkpoint's weights, or None for the model before training.

    Raises:
        ConfigError: there is no such checkpoint.
    """
    from rewardkit_adapters.runner import checkpoints
    from rewardkit_adapters.runner.folder import MODEL

    if name == START:
        return None
    output = config.output_path()
    if name == LAST:
        complete = [candidate for candidate in checkpoints.all_in(output) if not candidate.fault()]
        if complete:
            return complete[-1].path
        if (output / MODEL).is_dir():
            return output / MODEL
        raise ConfigError(f"{output} has no complete checkpoint. Train first, or pass start, the model before training")
    folder = Path(name).expanduser()
    if (folder / "config.json").exists() or (folder / "adapter_config.json").exists():
        return folder
    return checkpoints.named(output, name).path


def check_folder(out: Path) -> None:
    """Raise a ConfigError if the folder for an output file does not exist."""
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"--out {out}: there is no folder {out.absolute().parent}. Create it first")


def check_no_tools(config: RunConfig, action: str) -> None:
    """Raise a ConfigError if the run has an environment; `action` is a participle for the error message."""
    if config.environment is not None:
        raise ConfigError(
            f"a run with an environment cannot be {action}, because the answers would be generated without tools"
        )


def load_to_generate(config: RunConfig, folder: Path | None, console: Console) -> tuple[Loaded, GRPOConfig]:
    """Return a checkpoint's model with its tokenizer, and the run's settings.

    Args:
        folder: the checkpoint's folder, or None for the model before training.
    """
    from rewardkit_adapters.runner.models import model_of
    from rewardkit_adapters.runner.settings import grpo_config

    loaded = model_of(config, checkpoint=folder, to_generate=True, console=console)
    return loaded, grpo_config(
        config, parameters=loaded.parameters, model_arguments=loaded.arguments, reward_weights=None
    )


def pass_rates(totals: Sequence[float], generations: int, highest: float) -> dict[str, float]:
    """Return ``pass@k`` and the mean of the best totals.

    ``pass@k`` is the probability that one of k attempts gets the highest total. It is the unbiased estimate from Chen
    et al. 2021 (arXiv:2107.03374), averaged over prompts with at least k scored completions.

    Args:
        totals: the totals of `generations` consecutive completions for each prompt, with NaN for unscorable
            completions.
        highest: the upper bound of the total. If it is infinite, only the mean of the best totals is returned.
    """
    groups = np.asarray(totals, dtype=np.float64).reshape(-1, generations)
    scored_groups = [group[~np.isnan(group)] for group in groups]
    rates: dict[str, float] = {}
    if math.isfinite(highest):
        tries = sorted({*(2**power for power in range(generations.bit_length())), generations})
        for attempts in (count for count in tries if count <= generations):
            chances = [_chance(group, attempts, highest) for group in scored_groups if len(group) >= attempts]
            rates[f"pass@{attempts}"] = float(np.mean(chances)) if chances else math.nan
    best = [group.max() for group in scored_groups if len(group)]
    return {**rates, f"best of {generations}": float(np.mean(best)) if best else math.nan}


def _chance(group: Any, attempts: int, highest: float) -> float:
    """Return the probability that attempts drawn without replacement include one with the highest total."""
    count = len(group)
    failed = int((group < highest - _TOLERANCE).sum())
    return 1.0 - math.comb(failed, attempts) / math.comb(count, attempts)


def _evaluated(config: RunConfig, split: str | None, prompts: int | None) -> RunConfig:
    """Return the configuration with the held-out prompts requested on the command line."""
    from rewardkit_adapters.runner.config import EvalConfig

    eval_config = config.eval
    if split is None and eval_config is None:
        raise ConfigError("there are no held-out prompts: pass --split, or write eval: {...}")
    if split is not None:
        greedy = eval_config is None or eval_config.greedy
        eval_config = EvalConfig(
            split=split, prompts=PROMPTS if eval_config is None else eval_config.prompts, greedy=greedy
        )
    assert eval_config is not None
    return config.model_copy(
        update={"eval": eval_config if prompts is None else eval_config.model_copy(update={"prompts": prompts})}
    )


def _evaluate_reward(
    config: RunConfig,
    folder: Path | None,
    reward: Any,
    rows: Any,
    greedy: bool,
    generations: int,
    title: str,
    console: Console,
) -> Evaluation:
    from rewardkit_adapters.runner import held_out
    from rewardkit_adapters.runner.progress import shown_progress

    loaded, args = load_to_generate(config, folder, console)
    sampling = held_out.Sampling.of(args, greedy=greedy)
    batches = math.ceil(len(rows) * generations / sampling.batch)
    with shown_progress(console, title, batches) as on_batch:
        return held_out.evaluate(
            reward,
            loaded.model,
            loaded.tokenizer,
            rows,
            sampling,
            seed=config.seed,
            generations=generations,
            on_batch=lambda count: on_batch({}),
        )
