"""Countdown: make a target from given numbers, each used exactly once, with ``+ - * /``.

``python cookbook/countdown.py`` makes a few tasks and shows what the reward gives to honest and to cheating answers.
For training, pass ``rk.to_trl(reward)`` to a GRPOTrainer, with ``datasets.Dataset.from_list(tasks(10_000))``.
"""

from __future__ import annotations

import random
from typing import Any

import rewardkit as rk


@rk.reward
def solved(completion: str, numbers: list[int], target: int) -> rk.Score:
    """1.0 where the expression makes the target and uses every given number once."""
    expression = rk.extract.tag("answer")(completion)
    try:
        value = rk.arithmetic(expression or "", numbers=numbers)
    except ValueError as error:
        return rk.Score(0.0, str(error))
    return rk.Score(1.0) if value == target else rk.Score(0.0, f"makes {value}, not {target}")


form = rk.tags("think", "answer")

reward = 0.1 * form + 0.9 * rk.gate(when=form, then=solved)


def tasks(count: int, *, size: int = 4, seed: int = 0) -> list[dict[str, Any]]:
    """Tasks that can be solved: prompt, numbers, target, and one solution."""
    return [_task(random.Random(f"{seed} {position}"), size) for position in range(count)]


def _task(chance: random.Random, size: int) -> dict[str, Any]:
    numbers = [chance.randint(1, 25) for _ in range(size)]
    parts = [(number, str(number)) for number in numbers]
    while len(parts) > 1:  # join two of them until one is left
        (left, left_text), (right, right_text) = sorted(chance.sample(parts, 2), reverse=True)
        parts.remove((left, left_text))
        parts.remove((right, right_text))
        results = {"+": left + right, "-": left - right, "*": left * right}
        if right and left % right == 0:
            results["/"] = left // right
        sign = chance.choice(list(results))
        parts.append((results[sign], f"({left_text} {sign} {right_text})"))
    target, solution = parts[0]
    prompt = (
        f"Make {target} from {', '.join(map(str, numbers))} with + - * / and parentheses, using each number exactly "
        "once. Think inside <think></think>, then write the expression alone inside <answer></answer>."
    )
    return {"prompt": prompt, "numbers": numbers, "target": target, "solution": solution[1:-1]}


ATTEMPTS = [
    ("honest", "(7 - 1) * (3 + 1)"),
    ("honest, other signs", "(7 \u2212 1) \u00d7 (3 + 1)"),
    ("honest, wrong", "7 * 3 + 1 + 1"),
    ("leaves one out", "(7 + 1) * 3"),
    ("the target alone", "24"),
    ("a number of its own", "7 - 1 + 3 - 1 + 16"),
    ("a number twice", "(7 - 1) * (3 + 1) * 1"),
    ("two glued together", "(71 + 1) / 3"),
    ("hides the rest", "24 + 0 * (7 + 3 + 1 + 1)"),
    ("an equation", "(7 - 1) * (3 + 1) = 24"),
    ("two answers", "(7 - 1) * (3 + 1) or 7 * 3 + 1 + 1"),
    ("a power", "(7 - 1) ** (3 - 1 * 1)"),
    ("divides by zero", "7 / (1 - 1) + 3"),
    ("code", "__import__('os').getpid()"),
    ("nothing", ""),
]


def main() -> None:
    completions = [f"<think>7, 3, 1, 1 ...</think>\n<answer>{answer}</answer>" for _, answer in ATTEMPTS]
    size = len(completions)
    table = rk.score(reward, completions, numbers=[[7, 3, 1, 1]] * size, target=[24] * size)
    print("24 from 7, 3, 1, 1")
    for row, (kind, answer) in enumerate(ATTEMPTS):
        print(f"{table.total[row]:5.1f}  {kind:<20} {answer:<36} {table.notes['solved'][row]}".rstrip())

    made = tasks(1_000)
    answers = [f"<think>...</think><answer>{task['solution']}</answer>" for task in made]
    numbers, targets = [task["numbers"] for task in made], [task["target"] for task in made]
    solutions = rk.score(reward, answers, numbers=numbers, target=targets)
    print(f"\n{made[0]['prompt']}\n  {made[0]['solution']}")
    print(f"mean reward of the solutions to {len(made):,} tasks: {solutions.total.mean():.1f}")


if __name__ == "__main__":
    main()
