"""The live display for a training run: a progress bar, the speed, and the component means.

rewardkit's log messages, such as messages about accepted updates or triggered guards, appear above the bar.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text
from transformers import TrainerCallback

from rewardkit.batch.table_text import visible
from rewardkit_adapters.runner import metrics
from rewardkit_adapters.runner.progress import OnStep, shown_progress

_RECENT_STEPS = 20
"""The number of steps over which the speed is measured. The number is arbitrary, but chosen so that the speed is recent
and does not jump from step to step."""


class ShowProgress(TrainerCallback):
    """A callback that shows training progress. Add it only in the main process."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._display = ExitStack()
        self._on_step: OnStep | None = None
        self._numbers: Mapping[str, float] = {}
        self._marks: deque[tuple[float, int, float]] = deque(maxlen=_RECENT_STEPS)  # time, completions, tokens
        self._shown_step = self._tokens = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.close()
        self._shown_step, self._tokens = state.global_step, int(state.num_input_tokens_seen)
        self._marks.clear()
        self._mark(args, state)
        self._display.enter_context(log_to_console(self._console))
        progress = shown_progress(self._console, "GRPO", state.max_steps, completed=state.global_step)
        self._on_step = self._display.enter_context(progress)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if logs and "reward" in logs:
            self._numbers = shown_numbers(logs)
            self._tokens = int(logs.get("num_tokens", self._tokens))

    # A step is logged after it ends, so it is shown when the next step begins.
    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._show(args, state)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._show(args, state)
        self.close()

    def close(self) -> None:
        """Remove the progress bar."""
        self._on_step = None
        self._display.close()

    def _show(self, args: Any, state: Any) -> None:
        while self._on_step is not None and self._shown_step < state.global_step:
            self._shown_step += 1
            self._mark(args, state)
            self._on_step(self._numbers, speed=_speed(self._marks))

    def _mark(self, args: Any, state: Any) -> None:
        per_step = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size
        completions = state.global_step * per_step // args.num_iterations
        self._marks.append((time.perf_counter(), completions, self._tokens))


@contextmanager
def log_to_console(console: Console) -> Iterator[None]:
    """Print log messages from ``rewardkit`` (level INFO and higher) to `console` inside the `with` block."""
    logger, handler = logging.getLogger("rewardkit"), _Printing(console)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(min(logger.getEffectiveLevel(), logging.INFO))
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class _Printing(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message without control characters."""
        style = "yellow" if record.levelno >= logging.WARNING else "cyan"
        lines = "\n".join(visible(line) for line in record.getMessage().split("\n"))
        self._console.print(Text(lines, style=style), soft_wrap=True)


def shown_numbers(logs: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers to show: the total and the raw component means."""
    row = metrics.numbers(logs)
    return {"total": row.get("reward", float("nan")), **(metrics.components(row) or metrics.terms(row))}


def _speed(marks: Sequence[tuple[float, int, float]]) -> str:
    """Return the speed over the last steps, such as ``130 completions/s  2,600 tokens/s``, or "" if it is unknown."""
    (start, completions, tokens), (end, more_completions, more_tokens) = marks[0], marks[-1]
    seconds = end - start
    if seconds <= 0 or more_completions <= completions:
        return ""
    rates = [f"{_readable((more_completions - completions) / seconds)} completions/s"]
    if more_tokens > tokens:
        rates.append(f"{_readable((more_tokens - tokens) / seconds)} tokens/s")
    return "  ".join(rates)


def _readable(rate: float) -> str:
    # Two significant digits at least: 3.4 tokens/s, but 34 and 3,400.
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
