"""Two tasks in one dataset: each row is scored by the reward of its task, and needs only its gold column.

    python cookbook/multi_task_routing.py
    python cookbook/multi_task_routing.py --model Qwen/Qwen2.5-0.5B-Instruct --steps 200

``send Mia 31 toys in red`` becomes JSON, ``which is larger, 31 or 64?`` becomes ``64``. The column `task` names the
task; the gold is in `order` or in `larger`, and the other cell is None. Components have means over their own rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from training import ORDERS, Row, Task, options, table, train

import rewardkit as rk
from rewardkit_adapters.runner.tiny.make import Split

valid = rk.json_valid(kind="object").named("valid")
fields = rk.json_match("order").named("fields")
bare = rk.regex(r"\d+").named("bare")
right = rk.number("larger", extract=rk.extract.whole()).named("right")

reward = rk.route({"order": 0.3 * valid + 0.7 * fields, "number": 0.3 * bare + 0.7 * right}, by="task")

ALONE = "Answer with the number alone.\n\n"
QUESTION = "which is larger, {} or {}?\n"


def pairs(seed: int, split: Split) -> Iterator[list[int]]:
    """Draw pairs of numbers; those whose sum ends with a zero are held out."""
    chance = random.Random(f"{seed}/{split}")
    while True:
        pair = chance.sample(range(10, 100), 2)
        if (sum(pair) % 10 == 0) == (split == "held-out"):
            yield pair


def rows(count: int, seed: int, split: Split) -> list[Row]:
    """The tasks take turns."""
    orders = [{**row, "task": "order", "larger": None} for row in ORDERS.rows(count // 2, seed, split)]
    numbers = [
        {
            "instruction": ALONE,
            "prompt": QUESTION.format(*pair),
            "order": None,
            "task": "number",
            "larger": max(pair),
        }
        for pair in islice(pairs(seed, split), count // 2)
    ]
    return list(chain.from_iterable(zip(orders, numbers, strict=True)))


def demonstrations(count: int, seed: int) -> list[tuple[str, str]]:
    """Make sloppy demonstrations of both tasks: 30 % name the smaller number, 60 % have chatter."""
    chance = random.Random(seed)
    shown = ORDERS.demonstrations(count // 2, seed)
    for pair in islice(pairs(seed, "demonstrations"), count // 2):
        number = max(pair) if chance.random() < 0.7 else min(pair)
        shown.append((QUESTION.format(*pair), "Sure, it is " * (chance.random() < 0.6) + str(number)))
    chance.shuffle(shown)
    return shown


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments)
    run = train(rk.to_trl(reward, record=chosen.out / "multi_task_routing"), Task(rows, demonstrations), chosen)
    components = [f"components/{name}" for name in ("valid", "fields", "bare", "right")]
    table(run.over_time("reward", *components))
    table(run.held_out("reward", *components))


if __name__ == "__main__":
    main()
