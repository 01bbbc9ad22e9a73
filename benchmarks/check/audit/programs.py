"""Programming tasks with tests, for scorers that run programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STDIN: tuple[dict[str, Any], ...] = (
    {
        "prompt": "Read a number and print its double.",
        "inputs": ["3\n", "10\n", "-4\n"],
        "outputs": ["6\n", "20\n", "-8\n"],
    },
    {
        "prompt": "Read a line and print it in reverse.",
        "inputs": ["abc\n", "stone\n", "xy\n"],
        "outputs": ["cba\n", "enots\n", "yx\n"],
    },
)
"""Programs that read standard input."""
STDIN_RIGHT = ("number = int(input())\nprint(number * 2)", "line = input()\nprint(line[::-1])")
STDIN_WRONG = ("number = int(input())\nprint(number + 2)", "line = input()\nprint(line)")

FUNCTIONS: tuple[dict[str, Any], ...] = (
    {
        "prompt": "Write a function double(number) that returns twice the number.",
        "name": "double",
        "inputs": ["3", "10", "-4"],
        "outputs": ["6", "20", "-8"],
    },
    {
        "prompt": "Write a function turned(items) that returns the items in reverse order.",
        "name": "turned",
        "inputs": ["[1, 2]", "[4, 5, 6]", "[7]"],
        "outputs": ["[2, 1]", "[6, 5, 4]", "[7]"],
    },
)
"""Functions; the arguments and what is expected are JSON."""
FUNCTIONS_RIGHT = (
    "def double(number):\n    return number * 2",
    "def turned(items):\n    return items[::-1]",
)
FUNCTIONS_WRONG = (
    "def double(number):\n    return number + 2",
    "def turned(items):\n    return items",
)


def fenced(programs: tuple[str, ...]) -> list[str]:
    """Each program in a block of Markdown, after a sentence."""
    return [f"I wrote this program:\n```python\n{program}\n```" for program in programs]


def asserts(task: Mapping[str, Any]) -> list[str]:
    """The tests of a function as assert statements."""
    pairs = zip(task["inputs"], task["outputs"], strict=True)
    return [f"assert {task['name']}({given}) == {expected}" for given, expected in pairs]
