"""A training run: from a configuration to a trained model, with all files in one folder.

``train(read(Path("run.yaml")), resume=False)`` checks the run, loads and evaluates the model, trains it, evaluates it
again, and prints a summary.
"""

from __future__ import annotations

import errno
import shlex
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.analyze.permuted_golds import PermutedGolds
from rewardkit.batch.table_text import visible
from rewardkit.errors import (
    BindingError,
    CoercionError,
    ConfigError,
    RewardBug,
    RewardDefinitionError,
    RewardFailure,
    RewardKitError,
    RewardTypeError,
)
from rewardkit.online.breaker import Limits
from rewardkit_adapters.runner import changes, checkpoints, environment as surroundings, folder
from rewardkit_adapters.runner.checkpoints import Checkpoint
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.environment import quiet
from rewardkit_adapters.runner.plan import Plan
from rewardkit_adapters.runner.report import Stopwatch

if TYPE_CHECKING:
    from rich.console import Console

    from rewardkit_adapters.runner.interrupts import Interrupts


# Recognize a full disk as the cause of an error. Torch reports a full disk as ``unexpected pos 401280 vs 401168``.


_FULL = (errno.ENOSPC, errno.EDQUOT)
_WORDS = ("no space left", "disk quota exceeded", "unexpected pos", "pytorchstreamwriter failed")
_LITTLE = 16 * 2**20
"""The free space in bytes below which a disk counts as full. The limit is arbitrary. If so little space is left and a
write fails without a reason, the disk is most likely full."""


def is_out_of_space(error: BaseException, folder: Path) -> bool:
    """Return whether `error` indicates that the disk with `folder` is full."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    is_mentioned = any(word in str(error).lower() for word in _WORDS)
    return (
        is_mentioned
        and not isinstance(error, OSError)
        and (_free_bytes(folder) < _LITTLE or "no space left" in str(error).lower())
    )


def _free_bytes(folder: Path) -> int:
    """Return the number of free bytes on the disk with `folder`, or 0 if unknown."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


# Errors of the reward that stop a training. They are caught only after the training has started.
_STOPPED_BY_REWARD = (RewardBug, RewardFailure, BindingError, CoercionError, RewardDefinitionError, RewardTypeError)


def train(config: RunConfig, *, resume: bool | str | Path | None = None, console: Console | None = None) -> int:
    """Train with the configuration `config`, and return the exit code.

    ::

        train(read(Path("run.yaml"), ["grpo.max_steps=5"]))

    Args:
        resume: the checkpoint to resume from: True for the last complete checkpoint, or a path or step. None means the
            setting in `config`.
        console: the console to print to, or None for standard output.

    Returns:
        0 if training finished, 1 if it stopped with an error, 2 if the preflight found an error, or 130 or 143 if
        training was interrupted.

    Raises:
        ConfigError: the configuration, the data, or the output folder is invalid.
        RewardKitError: the reward cannot be loaded, or a package is missing.
    """
    surroundings.prepare(processes=config.processes)
    from rich.console import Console

    main = surroundings.is_main()
    console = console or Console()
    console.quiet = console.quiet or not main
    resume = config.resumed_from() if resume is None else resume
    checkpoint = _checkpoint(config, resume, console)
    if checkpoint is not None and _is_end(config, checkpoint):
        return _end(config, checkpoint, console)
    plan = Plan.of(config, None if checkpoint is None else checkpoint.path)
    if main and config.gguf_file() is not None:
        from rewardkit_adapters.runner.models import convert

        convert(config, console)  # the preflight reads the model's files
    if not main:
        return run(plan, console, Console(stderr=True))
    for line in changes.since(plan) if checkpoint is not None else ():
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if not _is_fit(plan, console):
        return 2
    with folder.lock_folder(plan.output):
        if resume is False:
            _refuse_a_run(plan.output)  # another run may have started during the preflight
        _prepare(plan, checkpoint)
        if not surroundings.is_launched() and (config.processes > 1 or config.accelerate is not None):
            from rewardkit_adapters.runner.launcher import launch

            return launch(config, plan.output / folder.WRITTEN, plan.checkpoint, console)
        return run(plan, console)


def run(plan: Plan, console: Console, failures: Console | None = None) -> int:
    """Train in this process, which may be one of several, and return the exit code.

    Args:
        failures: the console for the reason why training stopped, or None for `console`.
    """
    from rewardkit_adapters.runner.progress import shown_phase

    with shown_phase(console, "Loading torch and TRL"):
        from trl import GRPOTrainer  # noqa: F401 -- takes seconds; the status line explains the wait

        from rewardkit_adapters.runner.interrupts import Interrupts
        from rewardkit_adapters.runner.memory_advice import advice, is_out_of_memory

    interrupts = Interrupts(
        lambda: console.print("Finishing this generation, then saving a checkpoint. Press Ctrl-C again to stop now.")
    )
    attempt = Attempt(plan, console, interrupts)
    failures = failures or console
    try:
        with interrupts.heard(), quiet():
            finished = attempt.train()
    except KeyboardInterrupt:
        console.print("\nStopped without a new checkpoint.")
        say_how_to_resume(plan.output, console)
        return interrupts.exit_code if interrupts.received else 130
    except _STOPPED_BY_REWARD as error:
        _say_failure(failures, f"Training stopped: {_readable(error)}")
        say_how_to_resume(plan.output, failures)
        return 1
    except Exception as error:
        if is_out_of_space(error, plan.output):
            _say_failure(failures, f"No space left on the disk of {plan.output}: {_readable(error)[:300]}")
            say_how_to_resume(plan.output, failures)
            return 1
        if not is_out_of_memory(error):
            raise
        _say_failure(failures, f"Out of memory: {_readable(error)[:300]}")
        if attempt.args is not None:
            failures.print("To use less memory, change one of these settings (the mildest change first):")
            for line in advice(plan.config, attempt.args):
                failures.print(f"  {line}", soft_wrap=True, markup=False, highlight=False)
        say_how_to_resume(plan.output, failures)
        return 1
    if not finished:
        console.print("\nTraining was interrupted. A checkpoint was saved.")
        say_how_to_resume(plan.output, console)
        return interrupts.exit_code
    return 0


def _say_failure(console: Console, text: str) -> None:
    console.print(f"\n{text}", style="bold red", soft_wrap=True, markup=False, highlight=False)


def say_how_to_resume(output: Path, console: Console) -> None:
    """Print the command that resumes the run, if there is a complete checkpoint."""
    from rich.text import Text

    from rewardkit_adapters.runner.report import short

    if any(not checkpoint.fault() for checkpoint in checkpoints.all_in(output)):
        console.print("Resume with: ", end="")
        command = f"rewardkit train {shlex.quote(str(short(output / folder.WRITTEN)))} --resume"
        console.print(Text(command, style="bold"), soft_wrap=True)


class Attempt:
    """One attempt at training, until it finishes or is interrupted.

    Attributes:
        args: the GRPOConfig, or None before it is created.
    """

    def __init__(self, plan: Plan, console: Console, interrupts: Interrupts) -> None:
        self.plan = plan
        self.args: Any = None
        self._console = console
        self._interrupts = interrupts
        self._watch = Stopwatch()

    def train(self) -> bool:
        """Train, and return whether training finished."""
        from rewardkit_adapters.runner.ending import FinalReport

        with self._watch.phase("loading"):
            trainer, functions = self._trainer()
        final_report = FinalReport(self.plan.config, self.plan.held_out, self._console, self._watch)
        self._open(trainer)
        before = final_report.evaluation_before(functions.reward, trainer)
        with self._watch.phase("training"), self._progress(trainer):
            checkpoint = self.plan.checkpoint
            trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        if self._interrupts.received:
            return False
        final_report.close(functions.reward, trainer, before)
        faults = functions.faults(trainer)
        if faults and trainer.is_world_process_zero():
            notice = f"Training ended before limits.failure_window={self.plan.config.limits.failure_window} batches"
            self._console.print(f"{notice} were scored: {faults}", style="yellow", markup=False, soft_wrap=True)
        remark = PermutedGolds(functions.reward).remark
        if remark and trainer.is_world_process_zero():
            self._console.print(remark, markup=False, soft_wrap=True)
        return True

    def _trainer(self) -> tuple[Any, Any]:
        """Create the trainer and its reward functions."""
        from transformers import PrinterCallback, ProgressCallback
        from trl import GRPOTrainer

        from rewardkit_adapters.runner.models import model_of
        from rewardkit_adapters.runner.rewards import environment_of
        from rewardkit_adapters.runner.settings import grpo_config
        from rewardkit_adapters.trl.functions import to_trl

        config, plan = self.plan.config, self.plan
        environment = environment_of(config)
        functions = to_trl(
            plan.reward,
            weights=config.reward_weights,
            outputs=config.outputs,
            record=config.record_address(),
            updates=config.updates,
            limits=Limits(**config.limits.model_dump()),
        )
        loaded = model_of(config, console=self._console)
        self.args = grpo_config(
            config,
            parameters=loaded.parameters,
            model_arguments=loaded.arguments,
            reward_weights=functions.reward_weights,
        )
        callbacks = [functions.callback(), self._interrupts]
        if config.guards:
            from rewardkit_adapters.trl.guards import GuardCallback

            callbacks.append(GuardCallback(config.guards, functions))
        eval_rows = plan.held_out if config.eval is not None and config.eval.every is not None else None
        try:
            with self._loading(loaded.model):
                trainer = GRPOTrainer(
                    model=loaded.model,
                    reward_funcs=functions,
                    args=self.args,
                    train_dataset=plan.training,
                    eval_dataset=eval_rows,
                    processing_class=loaded.tokenizer,
                    callbacks=callbacks,
                    quantization_config=loaded.quantization,
                    peft_config=loaded.peft_config,
                    environment_factory=None if environment is None else functions.environments(environment),
                )
        except (ValueError, TypeError, OSError, ImportError) as error:
            raise ConfigError(f"TRL cannot create the trainer: {_readable(error)}") from error
        for callback in (PrinterCallback, ProgressCallback):
            trainer.remove_callback(callback)
        return trainer, functions

    def _loading(self, model: str) -> AbstractContextManager[None]:
        """Show that the trainer is loading a model. A download shows its own progress bars, so there is no spinner."""
        from rewardkit_adapters.runner.progress import shown_phase

        if Path(model).exists():
            return shown_phase(self._console, "Loading the model")
        self._console.print("Loading the model")
        return nullcontext()

    def _open(self, trainer: Any) -> None:
        from rewardkit_adapters.runner.report import short, show_opening
        from rewardkit_adapters.runner.summary import facts_of

        facts = facts_of(self.plan.config, trainer, len(self.plan.training), self.plan.held_out)
        if self.plan.checkpoint is not None:
            facts["resumed"] = f"from {short(self.plan.checkpoint)}"
        show_opening(self._console, "rewardkit train", facts)

    @contextmanager
    def _progress(self, trainer: Any) -> Iterator[None]:
        """Show the progress in the main process, inside the `with` block."""
        from rewardkit_adapters.runner.live_display import ShowProgress

        if not trainer.is_world_process_zero():
            yield
            return
        progress = ShowProgress(self._console)
        trainer.add_callback(progress)
        try:
            yield
        finally:
            progress.close()


def _checkpoint(config: RunConfig, resume: bool | str | Path, console: Console) -> Checkpoint | None:
    """Return the checkpoint to resume from, or None to start from the beginning.

    Raises:
        ConfigError: the folder contains a run but `resume` is False, or the checkpoint does not exist.
    """
    from rewardkit_adapters.runner.report import short

    output = config.output_path()
    candidates = checkpoints.all_in(output)
    if resume is False:
        _refuse_a_run(output)
        return None
    if resume is not True:
        return checkpoints.named(output, resume)
    for checkpoint in reversed(candidates):
        fault = checkpoint.fault()
        if not fault:
            return checkpoint
        console.print(
            f"{checkpoint.path.name} is not complete ({fault}). Trying the previous checkpoint.", soft_wrap=True
        )
    console.print(f"There is no complete checkpoint in {short(output)}. Starting from the beginning.", soft_wrap=True)
    return None


def _refuse_a_run(output: Path) -> None:
    from rewardkit_adapters.runner.report import short

    if folder.holds_a_run(output):
        raise ConfigError(
            f"{short(output)} already contains a run. Pass --resume to continue it, or --output DIR to start another "
            "one"
        )


def _is_end(config: RunConfig, checkpoint: Checkpoint) -> bool:
    steps, epochs = config.grpo.get("max_steps", -1), config.grpo.get("num_train_epochs", 3.0)
    return checkpoint.is_end(max_steps=steps, epochs=epochs)


def _end(config: RunConfig, checkpoint: Checkpoint, console: Console) -> int:
    """Finish a run whose training steps are already complete, and return the exit code."""
    from rewardkit_adapters.runner.ending import close_from_checkpoint
    from rewardkit_adapters.runner.report import short

    if not surroundings.is_main():
        return 0
    if folder.is_finished(config.output_path()):
        console.print(
            f"{short(config.output_path())} has already finished, after {checkpoint.step} steps. To train longer, "
            "raise grpo.max_steps: --set grpo.max_steps=...",
            soft_wrap=True,
        )
        return 0
    console.print(f"All {checkpoint.step} training steps are done. Evaluating and saving the model.", soft_wrap=True)
    with quiet(), folder.lock_folder(config.output_path()):
        close_from_checkpoint(config, checkpoint, console)
    return 0


def _is_fit(plan: Plan, console: Console) -> bool:
    """Run the preflight unless it is disabled, and return whether training may start."""
    from rich.text import Text

    if plan.config.preflight is None:
        return True
    from rewardkit.check.run.status import shown_status
    from rewardkit_adapters.runner.preflight import preflight

    # No spinner: a thread would draw it, but the laws run in forked processes.
    console.print("Preflight: checking the data, the reward, and the settings", style="dim")
    with shown_status() as show:
        report = preflight(
            plan.config,
            reward=plan.reward,
            training=plan.training,
            held_out=plan.held_out,
            locations=plan.locations,
            show=show,
        )
    console.print(Text(report.text()), soft_wrap=True)
    return bool(report.ok)


def _prepare(plan: Plan, checkpoint: Checkpoint | None) -> None:
    """Write the run's configuration. Move later checkpoints out of the way, because they will be created again."""
    from rewardkit_adapters.runner.config_file import printed

    output = plan.output
    unfinished = output / f"{folder.WRITTEN}.unfinished"
    try:
        unfinished.write_text(printed(plan.config.anchored()), encoding="utf-8")
        unfinished.replace(output / folder.WRITTEN)
        changes.keep(plan)
    except OSError as error:
        raise ConfigError(f"output: cannot write to {output}: {error.strerror or error}") from None
    checkpoints.drop_after(output, checkpoint)


def _readable(error: BaseException) -> str:
    """Return an error's message without control characters."""
    lines = [visible(line) for line in (str(error) or type(error).__name__).split("\n")]
    return "\n".join(lines) if isinstance(error, RewardKitError) else " ".join(lines)
