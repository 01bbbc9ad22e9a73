"""Outputs: what a program gives for inputs, run in rewardkit's sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from rewardkit.primitives.sandbox.isolation import chosen
from rewardkit.primitives.sandbox.limits import Limits
from rewardkit.primitives.sandbox.runs import Job, Trial
from rewardkit.primitives.sandbox.verdicts import launched
from rewardkit.testing.programs.suites import Suite

_LIMITS = Limits(timeout=1.0, memory=256)
_CALLED = "import os\nos.write(out, repr(eval({call!r}, program)).encode())"


def outputs(program: str, suite: Suite, inputs: Sequence[str]) -> list[str | None]:
    """Return the output for each input, as a test would have it; None where the program fails.

    Raises:
        RewardFailure: no sandbox works here.
    """
    if suite.function:
        trials = tuple(Trial(epilogue=_CALLED.format(call=f"{suite.function}({one})")) for one in inputs)
    else:
        trials = tuple(Trial(one.encode()) for one in inputs)
    place = chosen(packages=False, unsafe=False)
    with closing(launched(Job(program, trials, _LIMITS), place)) as results:
        said = [None if run.problem or not run.finished else run.output.decode(errors="replace") for run in results]
    return said + [None] * (len(inputs) - len(said))
