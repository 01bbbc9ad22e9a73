"""What the check finds in the known faulty and sound rewards, as one JSON file that a diff can show.

The check goes by a clock that counts its readings, so a busy machine finds what a quiet one does. The laws that measure
time, memory or threads and the search are left out, and so are the numbers and folders in a sentence. After an intended
change, read the difference and run ``python -m tests.frozen.findings``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from rewardkit.testing import check_reward
from tests.check.bench import Case, faulty, sound
from tests.check.clock import CountingClock, check_goes_by

FILE = Path(__file__).with_name("findings.json")
VARYING = {
    "answer_evaluated": "hangs, and whether it does is a question of real time",
    "catastrophic_sentences": "hangs, and whether it does is a question of real time",
    "random_tie_break": "draws random numbers",
    "pairwise_difflib": "takes minutes without a limit in real time",
    "first_of_a_set": "depends on the hash seed of the process",
}
"""Rewards whose findings are not the same in each run, and why."""
_WITHOUT = ("time_linear", "memory_bounded", "thread_safe", "search")
_BUDGET = 20.0  # 20,000 readings of the clock, which no law uses up
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
_FOLDER = re.compile(r"(?:/[^\s/'\"]+)+/")


def cases() -> list[Case]:
    """Return the rewards whose findings are the same in each run."""
    return [case for case in (*faulty(), *sound()) if case.name not in VARYING]


def findings(case: Case) -> list[str]:
    """Return the law and the sentence of each finding of a reward."""
    with check_goes_by(CountingClock()):
        report = check_reward(
            case.reward,
            examples=case.examples,
            good=case.good,
            bad=case.bad,
            without=_WITHOUT,
            budget=_BUDGET,
            isolate=False,
        )
    sentences = (f"{finding.law}: {_NUMBER.sub('#', _FOLDER.sub('', finding.why))}" for finding in report.findings)
    return list(dict.fromkeys(sentences))


if __name__ == "__main__":
    found = {case.name: findings(case) for case in cases()}
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
