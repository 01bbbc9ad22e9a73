"""Print the way of a completion: our functions that run when TRL calls one reward function for two completions.

``python .ci/way.py [--calls]``. It counts the second call, when everything is imported and compiled, in the thread of
the trainer, without comprehensions and generator expressions. ``--calls`` prints each call, indented by its depth.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]
OURS = (f"{ROOT}/rewardkit/", f"{ROOT}/adapters/")

import rewardkit as rk  # noqa: E402
from tests.adapters.trl.stand_ins import StandInTrainer  # noqa: E402

EXPRESSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
TEXTS = ["<think>6 times 7</think><answer>42</answer>", "I do not know"]


def way(functions: Any) -> list[tuple[str, str, int]]:
    """Return (file, function, depth) of each call of ours in the second batch, in order."""
    trainer = StandInTrainer(functions)
    trainer.rewards_per_function(TEXTS, ["6*7?"] * 2)
    functions.flush()
    calls: list[tuple[str, str, int]] = []
    depth = 0

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)  # from Python 3.11 on
        if code.co_filename.startswith(OURS) and code.co_name not in EXPRESSIONS:
            if event == "call":
                calls.append((str(Path(code.co_filename).relative_to(ROOT)), name, depth))
                depth += 1
            elif event == "return":
                depth -= 1

    sys.setprofile(profile)
    try:
        trainer.rewards_per_function(TEXTS, ["6*7?"] * 2)
    finally:
        sys.setprofile(None)
    return calls


def main() -> None:
    run = Path(tempfile.mkdtemp()) / "run"  # stays: the recorder still writes to it at exit
    functions = rk.to_trl(rk.tags("think", "answer"), record=run)
    calls = way(functions)
    functions.flush()
    if "--calls" in sys.argv:
        print(*(f"{'  ' * depth}{name}  {file}" for file, name, depth in calls), sep="\n")
    else:
        for (file, name), count in Counter((file, name) for file, name, _ in calls).most_common():
            if count > 2:
                print(f"{count:4} {name}  {file}")
    print(f"{len(calls)} calls in {len({file for file, _, _ in calls})} files")


if __name__ == "__main__":
    main()
