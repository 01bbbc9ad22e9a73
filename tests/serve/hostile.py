"""A reward that does what no reward should do to its process."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import rewardkit as rk


@rk.reward
def reward(completion: str, answer: object = None) -> rk.Score:
    if completion == "interrupt":
        raise KeyboardInterrupt
    if completion == "close":
        for descriptor in range(3, 30):
            with contextlib.suppress(OSError):
                os.close(descriptor)
    if completion == "leave a child" and os.fork() == 0:
        os.setsid()
        time.sleep(5)
        os._exit(0)
    if completion == "fork" and os.fork() == 0:
        raise SystemExit
    if completion in ("exit", "leave a child"):
        os._exit(0)
    if completion.startswith("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    if completion.startswith("sleep"):
        time.sleep(float(completion.split()[1]))
    return rk.Score(0.5, note=repr(answer))
