"""Rows and completions that several packages' scorers read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SUMS: list[dict[str, Any]] = [
    {"prompt": "A pen costs 12 and a book costs 30. What do both cost?", "answer": "42"},
    {"prompt": "A ship carries 1200 boxes and unloads 65. How many are left?", "answer": "1135"},
    {"prompt": "It is 3 degrees and falls by 10. What does the thermometer show?", "answer": "-7"},
]
WORKED = ("12 + 30 = 42, so both cost", "1200 - 65 leaves", "3 - 10 falls below zero:")
RIGHT = ("42", "1135", "-7")
WRONG = ("32", "1265", "13")

MATHEMATICS: list[dict[str, Any]] = [
    {"prompt": "What is 1/2 - 1/6?", "answer": r"\frac{1}{3}"},
    {"prompt": "Solve x - 35 = 7 for x.", "answer": "42"},
    {"prompt": "Expand (x+1)(x-1).", "answer": "x^2-1"},
]
EXACT = (r"\frac{1}{3}", "42", "x^2-1")
MISTAKEN = (r"\frac{1}{4}", "28", "x^2+1")

FACTS: list[dict[str, Any]] = [
    {"prompt": "Who wrote Middlemarch?", "answer": "George Eliot"},
    {"prompt": "What is the capital of Australia?", "answer": "Canberra"},
    {"prompt": "Which river flows through Vienna?", "answer": "the Danube"},
]
NAMED = ("George Eliot", "Canberra", "the Danube")
MISNAMED = ("Jane Austen", "Sydney", "the Rhine")

CHOICES: list[dict[str, Any]] = [
    {"prompt": "Which is a prime? A) 21 B) 23 C) 25 D) 27", "answer": "B"},
    {"prompt": "Which is a mammal? A) trout B) wren C) viper D) whale", "answer": "D"},
    {"prompt": "Which is even? A) 8 B) 9 C) 11 D) 13", "answer": "A"},
]

BRIEF = [
    "A pen costs 12 and a book costs 30, so both together cost 42.",
    "Of 1200 boxes 65 are unloaded, which leaves 1135 on the ship.",
    "Falling by 10 degrees from 3 takes the thermometer to -7.",
]
"""Completions for `SUMS` that are short and repeat nothing."""
LOOPING = [f"So the result is {value}. " * 12 for value in RIGHT]
RAMBLING = [
    " ".join(f"Then I look at word number {number} of task {task} again." for number in range(12)) for task in range(3)
]


def hashes(values: tuple[str, ...]) -> list[str]:
    """``#### 42`` after a line of reasoning."""
    return [f"{worked} ...\n#### {value}" for worked, value in zip(WORKED, values, strict=True)]


def boxed(values: tuple[str, ...]) -> list[str]:
    return [f"Step by step, the result is \\boxed{{{value}}}" for value in values]


def tagged(values: tuple[str, ...]) -> list[str]:
    return [f"<think>Let me think about it.</think>\n<answer>{value}</answer>" for value in values]


def thought(texts: list[str]) -> list[str]:
    """The same texts after a block of thinking."""
    return [f"<think>\nLet me work this out.\n</think>\n{text}" for text in texts]


def said(values: tuple[str, ...]) -> list[str]:
    return [f"I worked it out.\nAnswer: {value}" for value in values]


def chats(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same rows with prompts as chat messages, for functions that get completions as chat messages."""
    return [{**row, "prompt": [{"role": "user", "content": row["prompt"]}]} for row in rows]


def renamed(rows: Sequence[Mapping[str, Any]], column: str) -> list[dict[str, Any]]:
    """The same rows with the answer in a column of another name."""
    return [{"prompt": row["prompt"], column: row["answer"]} for row in rows]
