"""Ctrl-C and SIGTERM during a training: the step under way ends, a checkpoint is saved, the run can be resumed.

Ctrl-C waits for the last step of a generation, after which a run goes on exactly; who sends SIGTERM may not have the
time. A second Ctrl-C ends at once. Of several processes all stop after the same step, whichever of them was told.
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

from rewardkit_runner.settings import steps_of_generation

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A signal that ends the process now: there is nothing to save, or it came twice."""


class Interrupts(TrainerCallback):
    """Hears the signals; as a callback of the trainer it stops the training after a checkpoint.

    Args:
        told: called, in another thread, when the training is asked to stop.

    Attributes:
        received: the number of the signal that came, 0 before.
    """

    def __init__(self, told: Callable[[], None] = lambda: None) -> None:
        self.received = 0
        self._told = told
        self._training = False

    @property
    def exit_code(self) -> int:
        """As shells have it: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + self.received

    @contextmanager
    def heard(self) -> Iterator[None]:
        """While it lasts, signals come here. Only the main thread of a process can hear them."""
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
        # Who sends SIGTERM sends it to all processes, and their launcher sends it to them once more.
        if not self._training or (not first and number == signal.SIGINT):
            raise Interrupted
        if first:
            # Not from here: the signal may have come in the middle of a line that is being printed.
            threading.Thread(target=self._told, daemon=True).start()

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
    """The highest that one of the processes has."""
    if args.world_size == 1:
        return number
    shared = torch.tensor([number], device=args.device)
    torch.distributed.all_reduce(shared, op=torch.distributed.ReduceOp.MAX)
    return int(shared.item())
