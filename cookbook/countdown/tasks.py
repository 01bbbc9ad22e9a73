"""Generate the data: countdown tasks, each with a solution.

``python cookbook/countdown/tasks.py 500 > data.jsonl`` writes 500 tasks, the same ones for the same ``--seed``.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any


def tasks(count: int, *, size: int = 4, seed: int = 0) -> list[dict[str, Any]]:
    """Generate solvable tasks: numbers, target, and one solution."""
    return [_task(random.Random(f"{seed} {position}"), size) for position in range(count)]


def _task(chance: random.Random, size: int) -> dict[str, Any]:
    numbers = [chance.randint(1, 25) for _ in range(size)]
    parts = [(number, str(number)) for number in numbers]
    while len(parts) > 1:  # combine two of them until one is left
        (left, left_text), (right, right_text) = sorted(chance.sample(parts, 2), reverse=True)
        parts.remove((left, left_text))
        parts.remove((right, right_text))
        results = {"+": left + right, "-": left - right, "*": left * right}
        if right and left % right == 0:
            results["/"] = left // right
        sign = chance.choice(list(results))
        parts.append((results[sign], f"({left_text} {sign} {right_text})"))
    target, solution = parts[0]
    return {"numbers": numbers, "target": target, "solution": solution[1:-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many tasks")
    parser.add_argument("--size", type=int, default=4, help="numbers of each: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for task in tasks(options.count, size=options.size, seed=options.seed):
        print(json.dumps(task))


if __name__ == "__main__":
    main()
