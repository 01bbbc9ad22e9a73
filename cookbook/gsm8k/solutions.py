"""Score 2,638 published solutions and compare the scores with the published labels.

``python cookbook/gsm8k/solutions.py FOLDER`` reads ``model_solutions.jsonl`` of OpenAI's grade-school-math
(github.com/openai/grade-school-math): real completions of two models, and whether each is right.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import rewardkit as rk
from rewardkit.tree.loading import load

[loaded] = load(f"{Path(__file__).with_name('reward.py')}:reward")
reward: rk.Reward = loaded.reward


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the published solutions: prompt, reference, completion, model, is_correct."""
    lines = (folder / "model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def as_asked(completion: str) -> str:
    """A published solution ("...\\nA: 18") in the format of the reward."""
    thoughts, _, answer = completion.rpartition("A:")
    return f"<think>{thoughts.strip()}</think>\n<answer>{answer.strip()}</answer>"


def score(
    solutions: list[dict[str, Any]], completions: list[str], progress: rk.Progress | None = None
) -> rk.ScoreTable:
    """Score `completions`, one for each solution."""
    prompts = [solution["prompt"] for solution in solutions]
    golds = [solution["reference"].replace("\nA: ", "\n#### ") for solution in solutions]
    return rk.score(reward, completions, prompts=prompts, answer=golds, progress=progress)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python cookbook/gsm8k/solutions.py FOLDER, which holds model_solutions.jsonl")
    solutions = read(Path(sys.argv[1]))
    labels = [solution["is_correct"] for solution in solutions]
    asked = [as_asked(solution["completion"]) for solution in solutions]

    table = score(solutions, asked)
    print(table)
    wrong = [row for row, label in enumerate(labels) if (table["correct"][row] == 1.0) != label]
    print(f"\n{len(solutions) - len(wrong):,} of {len(solutions):,} scores agree with the published labels")
    for row in wrong:
        print(f"  row {row}: labeled {labels[row]}, {table.notes['correct'][row] or 'scored right'}")

    for model in sorted({solution["model"] for solution in solutions}):
        rows = [row for row, solution in enumerate(solutions) if solution["model"] == model]
        right = (table["correct"][rows] == 1.0).mean()
        print(f"{model:<16}{right:>8.1%} right   mean reward {table.total[rows].mean():.3f}")

    as_published = score(solutions, [solution["completion"] for solution in solutions])
    print(f"without the tags, as published: mean reward {as_published.total.mean():.3f}, for every gate is closed")
    start = score(solutions, asked, rk.Progress(step=0, max_steps=100))
    print(f"at the first step: mean reward {start.total.mean():.3f}, for the format still counts more")


if __name__ == "__main__":
    main()
