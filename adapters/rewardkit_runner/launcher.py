"""``processes: 4``: hands a run over to accelerate (on GPUs) or torchrun (on a CPU), and its signals to the processes.

The processes are in a session of their own, so that Ctrl-C reaches them once, from here, and their launcher never:
it would give them half a minute and then kill them, in the middle of a checkpoint perhaps.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import psutil

from rewardkit_runner.configuration.config import RunConfig
from rewardkit_runner.environment import has_gpu

if TYPE_CHECKING:
    from rich.console import Console

WORKER = "rewardkit_runner.worker"


def launch(config: RunConfig, written: Path, checkpoint: Path | None, console: Console) -> int:
    """Runs the processes to their end; the exit code of the run.

    Args:
        written: the file that holds the configuration, as every process reads it.
        checkpoint: where the training goes on.
    """
    with tempfile.TemporaryDirectory() as folder:
        outcome = Path(folder) / "outcome"
        command = [*launcher(config), "-m", WORKER, str(written), "--outcome", str(outcome)]
        if checkpoint is not None:
            command += ["--checkpoint", str(checkpoint)]
        process = subprocess.Popen(command, env=_environment(config), start_new_session=True)
        with _signals_handed_on(process):
            ended = process.wait()
        if outcome.exists():
            return int(outcome.read_text())
        console.print(f"The processes ended with code {ended} before the run did: why stands above.", soft_wrap=True)
        return 1 if ended == 0 else abs(ended) if ended > 0 else 128 - ended


def launcher(config: RunConfig) -> list[str]:
    """The command that starts the processes, without what they run."""
    if config.accelerate is None and not has_gpu():
        # accelerate starts one process here, whatever it is asked for.
        return [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc_per_node",
            str(config.processes),
        ]
    command = [sys.executable, "-m", "accelerate.commands.launch"]
    if config.accelerate is not None:
        command += ["--config_file", str((config.base / config.accelerate).absolute())]
    elif config.processes > 1:
        command += ["--multi_gpu", "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    if config.accelerate is None or config.processes > 1:
        command += ["--num_processes", str(config.processes), "--main_process_port", "0"]
    return command


def _environment(config: RunConfig) -> dict[str, str]:
    """Modules beside the configuration are found, and the processes share the cores."""
    known = [str(config.modules_path()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    threads = max(1, (os.cpu_count() or 1) // config.processes)
    return {"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONPATH": os.pathsep.join(known)}


@contextmanager
def _signals_handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """A signal goes to the processes that train; the second Ctrl-C ends all of them at once."""
    interrupted = 0

    def hand_on(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted += number == signal.SIGINT
        family = _family(process.pid)
        workers = [one for one in family if _is_worker(one)]
        # Before there is anything to save, the whole family goes.
        for one in workers if workers and interrupted < 2 else family:
            try:
                one.send_signal(signal.SIGKILL if interrupted > 1 else number)
            except psutil.Error:  # gone meanwhile
                continue

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for left in _family(process.pid):
            left.kill()


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [*parent.children(recursive=True), parent]
    except psutil.Error:
        return []


def _is_worker(process: psutil.Process) -> bool:
    """Whether it is ``python -u -m WORKER``; a launcher names what it runs further back."""
    try:
        return WORKER in process.cmdline()[:4]
    except psutil.Error:
        return False
