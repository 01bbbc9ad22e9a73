"""reasoning-gym's tasks: ``score_answer(answer, entry)`` of each, on three entries with different answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import reasoning_gym
from reasoning_gym.factory import DATASETS
from subject import Subject

SEED = 7
NOT_HERE = {"made of other tasks": "composite", "no entry has a solution": "boxnet rush_hour"}
"""Tasks that are left out, by reason."""
SOLUTIONS = {
    "graph_color": "possible_answer",
    "propositional_logic": "example_answer",
    "rubiks_cube": "example_correct_answer",
}
"""Where tasks with many right answers have one, in the metadata of an entry."""

CONTRADICTION = "(P ∧ ¬P)"
"""Follows from no premises, while the answer of another entry may."""


def subjects() -> Iterator[Subject]:
    for name in sorted(set(DATASETS) - set(" ".join(NOT_HERE.values()).split())):
        data = reasoning_gym.create_dataset(name, size=40, seed=SEED)
        chosen: dict[str, tuple[int, str]] = {}
        for number in range(40):
            item = data[number]
            answer = item["metadata"][SOLUTIONS[name]] if name in SOLUTIONS else item["answer"]
            if len(chosen) < 3:
                text = answer if isinstance(answer, str) else json.dumps(answer)
                chosen.setdefault(text, (number, item["question"]))
        answers = list(chosen)
        examples = [{"prompt": question, "answer": answer, "number": n} for answer, (n, question) in chosen.items()]
        wrong = [CONTRADICTION] * len(answers) if name == "propositional_logic" else [*answers[1:], answers[0]]
        yield Subject(name, _scorer(name, data), examples, answers, wrong)


def _scorer(name: str, data: Any) -> Any:
    def reward(completions: list[str], answer: list[str], number: list[int], **kwargs: Any) -> list[float]:
        return [float(data.score_answer(text, data[row])) for text, row in zip(completions, number, strict=True)]

    reward.__name__ = name
    return reward
