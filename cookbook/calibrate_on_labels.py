"""Is a reward right? Compare two parsers of GSM8K answers with labels before training.

``python cookbook/calibrate_on_labels.py FILE`` scores the published solutions of OpenAI's grade-school-math
(github.com/openai/grade-school-math, file ``model_solutions.jsonl``) with ``rk.number``, which takes the last number of
a completion, and with a careless function that takes the first, and prints how well each agrees with the labels.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import rewardkit as rk
from rewardkit.testing import calibrate, estimate_signal

# Next to the checkout, or in REWARDKIT_DATA, as in the tests.
SHARED = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SOLUTIONS = SHARED / "gsm8k" / "model_solutions.jsonl"

careful = rk.number("reference", thousands=True, gold=rk.extract.after("A:"))


@rk.reward
def first_number(completion: str, reference: str) -> rk.Score:
    """Score 1.0 if the first number of the completion is the answer. Works on short answers, but is wrong."""
    found = re.search(r"\d[\d,]*(?:\.\d+)?", completion)
    gold = reference.rpartition("A:")[2].strip()
    if found is None:
        return rk.Score(0.0, note="no number")
    is_right = float(found[0].replace(",", "")) == float(gold.replace(",", ""))
    return rk.Score(float(is_right), note="" if is_right else f"{found[0]} is not {gold}")


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else SOLUTIONS
    if not file.is_file():
        sys.exit(f"no {file}: python cookbook/calibrate_on_labels.py FILE, the path of model_solutions.jsonl")

    for name, reward in (("rk.number", careful), ("first_number", first_number)):
        print(f"=== {name}\n\n{calibrate(reward, file, label='is_correct', cases=2)}\n")

    # Two models answered each question: as if one model had been sampled twice.
    print(f"=== What there is to learn from\n\n{estimate_signal(careful, file)}")


if __name__ == "__main__":
    main()
