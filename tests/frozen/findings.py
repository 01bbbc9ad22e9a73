"""What the check reports of the bench's faulty and sound rewards, as one JSON file that a diff can show.

What depends on the machine or on chance is left out: the laws that measure time and memory, the search, rewards that
hang or draw random numbers, and the values in a sentence. After an intended change, run
``python -m tests.frozen.findings``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from rewardkit.testing import check_reward
from tests.testing.bench import faulty, sound
from tests.testing.test_bench import HANGS, LENGTHY

_BY_CHANCE = {"random_tie_break", "pairwise_difflib"}
_VALUE = re.compile(r"[-+]?[0-9][0-9.e+-]*")
FILE = Path(__file__).with_name("findings.json")


def findings() -> dict[str, list[str]]:
    """Return "law: why" for each finding of each reward, by its name."""
    reports = {
        case.name: check_reward(
            case.reward, examples=case.examples, good=case.good, bad=case.bad, budget=300, without=LENGTHY
        )
        for case in (*faulty(), *sound())
        if case.name not in HANGS | _BY_CHANCE
    }
    return {
        name: [f"{finding.law}: {_VALUE.sub('#', finding.why.partition(';')[0])}" for finding in report.findings]
        for name, report in reports.items()
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(findings(), indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
