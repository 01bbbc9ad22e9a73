"""The process in which another reward is tried: reads a job, imports, scores, leaves an answer."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from pathlib import Path

from rewardkit.core.errors import RewardKitError, shorten
from rewardkit_trl.updates.trial import Tried


def main(answer: str) -> None:
    """Answers the job on standard input with a `Tried`, or with the reason why there is none."""
    job = pickle.load(sys.stdin.buffer)
    found = _answer(*job)
    made = Path(answer).with_suffix(".tmp")
    made.write_bytes(pickle.dumps(found))
    made.replace(answer)
    os._exit(0)  # threads that the reward has started do not keep it


def _answer(code: object, folder: Path, columns: str, sample: object) -> Tried | str:
    from rewardkit_trl.columns import Layout
    from rewardkit_trl.functions import tree_of
    from rewardkit_trl.updates.sources import MODULES
    from rewardkit_trl.updates.trial import tried

    warnings.simplefilter("ignore")
    try:
        tree = tree_of(MODULES.imported(code, folder).reward)  # type: ignore[arg-type]
        return tried(tree, Layout.of(tree, columns), sample)  # type: ignore[arg-type]
    except RewardKitError as error:
        return str(error)
    except BaseException as error:  # the reward's own, SystemExit among them
        return f"{type(error).__name__}: {shorten(str(error))}"
