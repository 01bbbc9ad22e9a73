"""Six drawers with a number in each: the environment of the training, and its data.

The prompt asks what is in the red drawer. The policy calls ``open(color="red")``, the environment says ``41``, and
the policy answers ``41``. ``python cookbook/drawers/environment.py 400 > data.jsonl`` makes 400 rows, the same ones for
the same ``--seed``.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

PROMPT = "What is in the {color} drawer? Answer with the number alone."
COLORS = ("red", "blue", "green", "black", "white", "pink")
SMALLEST, LARGEST = 10, 99


class Drawers:
    """Six drawers; opening one says the number in it."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def reset(self, drawers: str, **row: Any) -> None:
        """Fill the drawers for a row of the data."""
        self._numbers = json.loads(drawers)

    def open(self, color: str) -> str:
        """Open a drawer and read the number in it.

        Args:
            color: the color of the drawer: red, blue, green, black, white or pink.
        """
        if color not in self._numbers:
            raise ValueError(f"there is no {color} drawer")
        return str(self._numbers[color])


def rows(count: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return rows of the data: ``color`` is asked for, ``answer`` is the gold answer, ``calls`` are the gold calls."""
    return [_row(random.Random(f"{seed} {position}")) for position in range(count)]


def _row(chance: random.Random) -> dict[str, Any]:
    numbers = dict(zip(COLORS, chance.sample(range(SMALLEST, LARGEST + 1), len(COLORS)), strict=True))
    color = chance.choice(COLORS)
    calls = [{"name": "open", "arguments": {"color": color}}]
    # Objects as JSON text: Arrow would give all objects of a column the same keys.
    return {
        "color": color,
        "drawers": json.dumps(numbers),
        "answer": str(numbers[color]),
        "calls": json.dumps(calls),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many rows")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for row in rows(options.count, seed=options.seed):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
