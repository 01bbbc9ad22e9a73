"""Handle Ctrl-C and SIGTERM during training: finish the step, save a checkpoint, and stop. The run can be resumed.

Ctrl-C waits for the last step that uses the current generation, so that the resumed run continues exactly. SIGTERM
stops after the current step, and a second Ctrl-C stops immediately. All processes stop after the same step, even if
only one process received the signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from transformers import TrainerCallback

from rewardkit_adapters.runner.settings import steps_of_generation

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """An exception that stops the process immediately, because there is nothing to save or Ctrl-C was pressed twice."""


class Interrupts(TrainerCallback):
    """A trainer callback that handles the signals and stops training after a checkpoint.

    Args:
        on_interrupt: a function that is called in another thread when a signal requests that training stop.

    Attributes:
        received: the number of the received signal, or 0 for none.
    """

    def __init__(self, on_interrupt: Callable[[], None] = lambda: None) -> None:
        self.received = 0
        self._on_interrupt = on_interrupt
        self._training = False

    @property
    def exit_code(self) -> int:
        """The exit code that shells expect: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + self.received

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Handle the signals inside the `with` block. Only the main thread can handle signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._hear) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        first, self.received = not self.received, number
        # SIGTERM may arrive twice: from the sender, and from the launcher.
        if not self._training or (not first and number == signal.SIGINT):
            raise Interrupted
        if first:
            # In a thread: the signal may have interrupted a print.
            threading.Thread(target=self._on_interrupt, daemon=True).start()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._training = True

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self.received = _highest_of_all(self.received, args)
        is_between = state.global_step % steps_of_generation(args) == 0
        if self.received == signal.SIGTERM or (self.received and is_between):
            control.should_save = True
            control.should_training_stop = True
        return control

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._training = False


def _highest_of_all(number: int, args: Any) -> int:
    """Return the highest `number` among all processes."""
    if args.world_size == 1:
        return number
    shared = torch.tensor([number], device=args.device)
    torch.distributed.all_reduce(shared, op=torch.distributed.ReduceOp.MAX)
    return int(shared.item())
