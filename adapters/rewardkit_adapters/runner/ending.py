"""The start and end of a run: the held-out evaluations, the saved model, and the summary."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit_adapters.runner import held_out, metrics, report, summary
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.folder import MODEL
from rewardkit_adapters.runner.held_out import Sampling
from rewardkit_adapters.runner.progress import shown_phase, shown_progress
from rewardkit_adapters.runner.report import Evaluation, Stopwatch

if TYPE_CHECKING:
    from datasets import Dataset
    from rich.console import Console

    from rewardkit_adapters.runner.checkpoints import Checkpoint


class FinalReport:
    """The evaluations and the summary for one run.

    Args:
        rows: the held-out prompts, or None for no evaluation.
    """

    def __init__(self, config: RunConfig, rows: Dataset | None, console: Console, watch: Stopwatch) -> None:
        self._config = config
        self._rows = rows
        self._console = console
        self._watch = watch
        self._output = config.output_path()

    def evaluation_before(self, reward: Any, trainer: Any) -> Evaluation | None:
        """Evaluate the model before training, or return the result of an earlier attempt."""
        if self._rows is None or not _evaluates(trainer):
            return None
        saved_evaluation = held_out.load_evaluation(self._output, "before", self._rows)
        if saved_evaluation is not None:
            return saved_evaluation
        evaluation = self._evaluated(reward, trainer.model, trainer.processing_class, trainer.args, "before")
        if trainer.is_world_process_zero():
            held_out.save(self._output, self._rows, {"before": evaluation}, how=self._how)
        return evaluation

    def close(self, reward: Any, trainer: Any, before: Evaluation | None) -> None:
        """Save the model after training, evaluate it, and print the summary."""
        trainer.save_model(str(self._output / MODEL))
        after = None
        if self._rows is not None and _evaluates(trainer):
            after = self._evaluated(reward, trainer.model, trainer.processing_class, trainer.args, "after")
        if trainer.is_world_process_zero():
            facts = summary.numbers_of(self._config, trainer.model, trainer.args, trainer.state)
            self.sum_up(facts, trainer.state.log_history, before, after)

    def sum_up(self, facts: dict[str, Any], log: Any, before: Evaluation | None, after: Evaluation | None) -> None:
        """Save and print the run's results."""
        console, rows = self._console, self._rows
        evaluations = {
            name: evaluation for name, evaluation in (("before", before), ("after", after)) if evaluation is not None
        }
        facts = {**facts, "seconds": self._watch.seconds}
        files: dict[str, Path | str] = {"model": self._output / MODEL}
        files |= summary.save(self._output, facts, metrics.history(log), evaluations)
        console.print()
        if rows is not None and evaluations:
            files["evaluation"] = held_out.save(self._output, rows, evaluations, how=self._how)
            if before is not None and after is not None:
                report.show_comparison(console, before, after, how=self._how)
                console.print()
            report.show_samples(console, held_out.texts_of(rows), held_out.shown_gold_of(rows), evaluations)
        elif rows is not None:
            console.print(
                "A model that is split across processes is not evaluated here. Run rewardkit train --evaluate."
            )
        record = self._config.record_address()
        if record is not None:
            files["record"] = record
        report.show_files(console, {label: report.short(path) for label, path in files.items()})
        if record is not None:
            console.print()
            report.show_way_on(console, report.short(record))

    def _evaluated(self, reward: Any, model: Any, tokenizer: Any, args: Any, when: str) -> Evaluation:
        assert self._rows is not None
        assert self._config.eval is not None
        sampling = Sampling.of(args, greedy=self._config.eval.greedy)
        batches = math.ceil(len(self._rows) / args.world_size / sampling.batch)
        title = f"evaluation {when} training"
        with self._watch.phase(f"evaluation {when}"), shown_progress(self._console, title, batches) as on_batch:
            return held_out.evaluate(
                reward,
                model,
                tokenizer,
                self._rows,
                sampling,
                seed=self._config.seed,
                on_batch=lambda count: on_batch({}),
            )

    @property
    def _how(self) -> str:
        greedy = self._config.eval is None or self._config.eval.greedy
        return how_it_is_drawn(self._config, greedy=greedy)


def how_it_is_drawn(config: RunConfig, *, greedy: bool) -> str:
    """Return a description of the decoding method for a table title."""
    return "greedy decoding" if greedy else f"sampled at temperature {config.grpo.get('temperature', 1.0):g}"


def close_from_checkpoint(config: RunConfig, checkpoint: Checkpoint, console: Console) -> None:
    """Evaluate and summarize a run from its last checkpoint if all training steps are already complete."""
    from transformers import TrainerState

    from rewardkit_adapters.runner.models import model_of
    from rewardkit_adapters.runner.plan import Plan
    from rewardkit_adapters.runner.rewards import trained
    from rewardkit_adapters.runner.settings import grpo_config

    plan, watch = Plan.of(config, checkpoint.path), Stopwatch()
    final_report = FinalReport(config, plan.held_out, console, watch)
    with watch.phase("loading"), shown_phase(console, "Loading the trained model"):
        loaded = model_of(config, checkpoint=checkpoint.path, console=console)
    args = grpo_config(config, parameters=loaded.parameters, model_arguments=loaded.arguments, reward_weights=None)
    folder = config.output_path() / MODEL
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    before = after = None
    if plan.held_out is not None:
        before = held_out.load_evaluation(config.output_path(), "before", plan.held_out)
        reward = trained(config, plan.reward)
        after = final_report._evaluated(reward, loaded.model, loaded.tokenizer, args, "after")
    state = TrainerState.load_from_json(str(checkpoint.path / "trainer_state.json"))
    final_report.sum_up(summary.numbers_of(config, loaded.model, args, state), state.log_history, before, after)


def _evaluates(trainer: Any) -> bool:
    """Return whether each process has the whole model, which is required for generation."""
    return not (trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled)
