"""The process in which another reward is tried: reads a job, imports, scores, leaves an answer."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from rewardkit.core.errors import RewardKitError, shorten
from rewardkit_trl.updates.trial import Tried, undisturbed

_PARENT_DEATH_SIGNAL = 1
_KILL = 9


def main(question: str, answer: str) -> None:
    """Answers the job in a file with a `Tried`, or with the reason why there is none."""
    code, folder, columns, sample, memory = pickle.loads(Path(question).read_bytes())
    _hold(memory)
    warnings.simplefilter("ignore")
    try:
        found = pickle.dumps(answer_to(code, folder, columns, sample))
    except MemoryError:
        found = pickle.dumps("MemoryError: what it gave needs more memory than a trial may take")
    made = Path(answer).with_suffix(".tmp")
    made.write_bytes(found)
    made.replace(answer)
    os._exit(0)  # threads that the reward has started do not keep it


def answer_to(code: object, folder: Path, columns: str, sample: object) -> Tried | str:
    """What the reward in `folder` gives on `sample`, or why it gives nothing."""
    from rewardkit_trl.columns import Layout
    from rewardkit_trl.functions import tree_of
    from rewardkit_trl.updates.sources import MODULES
    from rewardkit_trl.updates.trial import tried

    try:
        with undisturbed():  # as in the training, where it finds the same place after its import
            imported = MODULES.imported(code, folder)  # type: ignore[arg-type]
        MODULES.activate(imported, MODULES)
        tree = tree_of(imported.reward)
        return tried(tree, Layout.of(tree, columns), sample)  # type: ignore[arg-type]
    except RewardKitError as error:
        said = str(error)
    except BaseException as error:  # the reward's own, SystemExit among them
        said = f"{type(error).__name__}: {shorten(str(error))}"
    if "FileNotFoundError" in said and str(folder) in said:
        said += (
            ". Only code is copied to where a reward is imported from: name its data by an absolute path, or by one "
            "from the working directory of the training"
        )
    return said


def _hold(memory: int | None) -> None:
    """Bounds what it may take, so that the training never lacks it; and ends it where the training ends."""
    if sys.platform != "linux":
        return
    import ctypes
    import resource

    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, _KILL)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # if somebody has to go, it is this one
    memory = _free_bytes() // 2 if memory is None else memory
    if memory:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (_said("/proc/self/status", "VmData") + memory, hard))


def _free_bytes() -> int:
    """What the machine and the container around this process have to give; 0 where they do not say."""
    found = []
    with suppress(OSError, ValueError):
        found.append(_said("/proc/meminfo", "MemAvailable"))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        found.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(0, min(found, default=0))


def _said(file: str, name: str) -> int:
    """Bytes of a line such as ``MemAvailable:  1024 kB``; 0 where there is no such line."""
    for line in Path(file).read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0
