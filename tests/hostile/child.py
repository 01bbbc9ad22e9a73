"""Scores the hostile texts with one reward, in a process of its own; prints one line of JSON per text.

``python -m tests.hostile.child NAME``: the limits are set here, the clock is the parent's. Each text stands between an
honest right and an honest wrong completion, which must keep the scores that they have without it.
"""

from __future__ import annotations

import json
import resource
import sys

import rewardkit as rk
from tests.hostile.rewards import REWARDS
from tests.hostile.texts import TEXTS

ADDRESS_SPACE = 6 * 2**30


def main() -> None:
    case = REWARDS[sys.argv[1]]
    reward = case.make()
    columns = {name: [value] * 3 for name, value in case.columns.items()}
    honest = scored(reward, [case.right, case.wrong], {name: values[:2] for name, values in columns.items()})
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    print(json.dumps({"honest": honest}), flush=True)
    for name, text in TEXTS.items():
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        right, hostile, wrong = scored(reward, [case.right, text(), case.wrong], columns)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
        line = {"text": name, "score": hostile, "neighbours": [right, wrong], "grown": grown}
        print(json.dumps(line), flush=True)


def scored(reward: rk.Reward, completions: list[str], columns: dict[str, list[object]]) -> list[float]:
    ids = [[ord(character) for character in completion[:5_000]] for completion in completions]
    batch = rk.Batch(completions, completion_ids=ids, columns=columns)
    total: list[float] = rk.Scorer(reward).score(batch).total.tolist()
    return total


if __name__ == "__main__":
    main()
