"""The process that tries another reward: read a job, import the reward, score, write the answer."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.errors import RewardKitError, shorten
from rewardkit.workers.limits import end_with_parent, free_bytes, limit_memory
from rewardkit_adapters.live.trial import Tried, undisturbed

if TYPE_CHECKING:
    from rewardkit_adapters.trl.layout import Columns


def main(question: str, answer: str) -> None:
    """Write the answer to a job: a `Tried`, or the reason for the failure."""
    code, folder, columns, held, sample, memory = pickle.loads(Path(question).read_bytes())
    _hold(memory)
    warnings.simplefilter("ignore")
    try:
        found = pickle.dumps(answer_to(code, folder, columns, held, sample))
    except MemoryError:
        found = pickle.dumps("MemoryError: its scores need more memory than a trial may use")
    made = Path(answer).with_suffix(".tmp")
    made.write_bytes(found)
    made.replace(answer)
    os._exit(0)  # do not wait for threads of the reward


def answer_to(
    code: object, folder: Path, columns: Columns, held: Mapping[str, float] | None, sample: object
) -> Tried | str:
    """Return the scores of the reward in `folder` on `sample`, or the reason for the failure."""
    from rewardkit_adapters.live.sources import MODULES
    from rewardkit_adapters.live.trial import tried
    from rewardkit_adapters.trl.functions import successor
    from rewardkit_adapters.trl.layout import Layout

    try:
        with undisturbed():  # as in the training: importing must not change the working directory
            imported = MODULES.imported(code, folder)  # type: ignore[arg-type]
        MODULES.activate(imported, MODULES)
        tree = successor(imported.reward, held)
        return tried(Layout.of(tree, columns, raw=held is not None), sample)  # type: ignore[arg-type]
    except RewardKitError as error:
        said = str(error)
    except BaseException as error:  # raised by the reward, including SystemExit
        said = f"{type(error).__name__}: {shorten(str(error))}"
    if "FileNotFoundError" in said and str(folder) in said:
        said += (
            ". Only code is copied: refer to data by an absolute path, or by a path relative to the working directory "
            "of the training"
        )
    return said


def _hold(memory: int | None) -> None:
    """Limit the memory of this process, and end it when the training ends."""
    end_with_parent()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(
            "1000"
        )  # if memory runs out, the system should kill this process first
    most = free_bytes() // 2 if memory is None else memory
    if most:
        limit_memory(most, of="data")
