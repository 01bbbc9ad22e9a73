"""One process of a multi-process run: a launcher starts ``python -m rewardkit_adapters.runner.worker run.yaml``."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rewardkit.batch.table_text import visible
from rewardkit.errors import RewardKitError

_PATIENCE_SECONDS = 15.0
"""The number of seconds for which a failed process waits for the other processes to end. The limit is arbitrary.
Without the failed process, the other processes also fail soon, or they hang."""
_TOGETHER = (0, 130, 143)
"""The exit codes that are always the same in all processes: finished (0) and interrupted (130, 143)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return this process's exit code. The run's exit code is written to the file ``--outcome``."""
    parser = argparse.ArgumentParser(description="One process in a run with several processes.")
    parser.add_argument("config", type=Path)
    parser.add_argument("--outcome", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path)
    options = parser.parse_args(arguments)

    from rich.console import Console

    from rewardkit_adapters.runner import environment as surroundings
    from rewardkit_adapters.runner.config_file import read
    from rewardkit_adapters.runner.plan import Plan
    from rewardkit_adapters.runner.training import run

    is_main = surroundings.is_main()
    buffer = io.StringIO()
    failures = Console() if is_main else Console(file=buffer, width=120)
    config = read(options.config)
    surroundings.prepare(processes=config.processes)
    try:
        _check_world(config.processes)
        code = run(Plan.of(config, options.checkpoint), Console(quiet=not is_main), failures)
    except RewardKitError as error:
        code = 2
        failures.print(*map(visible, str(error).split("\n")), sep="\n", soft_wrap=True, markup=False, highlight=False)
    if _all_ended(options.outcome, code):
        _leave_group()
        return 0
    # The others may wait for this process: a failure exit code makes the launcher end them.
    print(buffer.getvalue(), end="", file=sys.stderr, flush=True)
    return 1


def _check_world(processes: int) -> None:
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if processes > 1 and world_size != processes:
        raise RewardKitError(
            f"{world_size} processes were started instead of {processes}. Fix num_processes in the "
            "accelerate configuration"
        )


def _all_ended(outcome: Path, code: int) -> bool:
    """Return whether all processes on this machine have ended. The first process writes the run's exit code.

    If one process exits with a failure, the launcher kills the other processes, which then cannot print their errors.
    """
    rank, count = int(os.environ.get("LOCAL_RANK", "0")), int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if rank == 0:
        outcome.write_text(str(code))
    outcome.with_name(f"ended-{rank}").touch()
    if code in _TOGETHER:
        return True
    markers = [outcome.with_name(f"ended-{other}") for other in range(count)]
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not all(other.exists() for other in markers):
        if time.monotonic() > deadline:
            return False
        # Check the files of the other processes ten times a second.
        time.sleep(0.1)
    return True


def _leave_group() -> None:
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
