"""``processes: 4``: start the processes with accelerate (GPUs) or torchrun (CPU), and forward signals to them.

The processes run in a separate session. Ctrl-C therefore reaches them only once, through this module, and does not
reach their launcher. Otherwise, the launcher would kill the processes after half a minute, perhaps while they save a
checkpoint.
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

from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.environment import has_gpu

if TYPE_CHECKING:
    from rich.console import Console

WORKER = "rewardkit_adapters.runner.worker"


def launch(config: RunConfig, written: Path, checkpoint: Path | None, console: Console) -> int:
    """Run the processes until they end, and return the run's exit code.

    Args:
        written: the path to the configuration file that every process reads.
        checkpoint: the checkpoint from which to resume.
    """
    with tempfile.TemporaryDirectory() as folder:
        outcome = Path(folder) / "outcome"
        command = [*launcher(config), "-m", WORKER, str(written), "--outcome", str(outcome)]
        if checkpoint is not None:
            command += ["--checkpoint", str(checkpoint)]
        process = subprocess.Popen(command, env=_environment(config), start_new_session=True)
        with _signals_handed_on(process):
            exit_code = process.wait()
        if outcome.exists():
            return int(outcome.read_text())
        console.print(
            f"The processes ended with exit code {exit_code} before the run finished. See the errors above.",
            soft_wrap=True,
        )
        # Shells report a signal as 128 plus its number.
        return 1 if exit_code == 0 else abs(exit_code) if exit_code > 0 else 128 - exit_code


def launcher(config: RunConfig) -> list[str]:
    """Return the launcher command without the module to run."""
    if config.accelerate is None and not has_gpu():
        # On a CPU, accelerate always starts only one process.
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
    """Return the environment variables, with the path to the user's modules and each process's share of the cores."""
    module_paths = [str(config.modules_path()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    threads = max(1, (os.cpu_count() or 1) // config.processes)
    return {"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONPATH": os.pathsep.join(module_paths)}


@contextmanager
def _signals_handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Forward signals to the training processes inside the `with` block. The second Ctrl-C kills the processes."""
    interrupted = 0

    def hand_on(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted += number == signal.SIGINT
        family = _family(process.pid)
        workers = [member for member in family if _is_worker(member)]
        # Before the processes train, there is nothing to save, so the launcher also gets the signal.
        for member in workers if workers and interrupted < 2 else family:
            try:
                member.send_signal(signal.SIGKILL if interrupted > 1 else number)
            except psutil.Error:  # the process has ended
                continue

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for leftover in _family(process.pid):
            leftover.kill()


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [*parent.children(recursive=True), parent]
    except psutil.Error:
        return []


def _is_worker(process: psutil.Process) -> bool:
    """Return whether `process` runs ``python -u -m WORKER``. In a launcher's command, the module name comes later."""
    try:
        # Python, -m and the module are among the first words; later words are the user's.
        return WORKER in process.cmdline()[:4]
    except psutil.Error:
        return False
