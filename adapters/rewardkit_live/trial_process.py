"""The process in which another reward is tried: reads a job, imports, scores, leaves an answer."""

from __future__ import annotations

import os
import pickle
import warnings
from contextlib import suppress
from pathlib import Path

from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.core.processes.limits import end_with_parent, free_bytes, limit_memory
from rewardkit_live.trial import Tried, undisturbed


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
    from rewardkit_live.sources import MODULES
    from rewardkit_live.trial import tried
    from rewardkit_trl.functions import checked_tree
    from rewardkit_trl.layout import Layout

    try:
        with undisturbed():  # as in the training, where it finds the same place after its import
            imported = MODULES.imported(code, folder)  # type: ignore[arg-type]
        MODULES.activate(imported, MODULES)
        tree = checked_tree(imported.reward)
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
    end_with_parent()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # if some process has to go, it is this one
    most = free_bytes() // 2 if memory is None else memory
    if most:
        limit_memory(most, of="data")
