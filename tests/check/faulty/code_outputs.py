"""Outputs of programs, compared with the expected ones."""

from __future__ import annotations

from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import tagged

output_tag = rk.extract.tag("output")

TRACES = [
    {"prompt": "What does `for i in range(3): print(i, i * i)` print?", "expected": "0 0\n1 1\n2 4"},
    {"prompt": "What does `print('a b'); print(12, 3)` print?", "expected": "a b\n12 3"},
]
TRACES_GOOD = ["<output>\n0 0\n1 1\n2 4\n</output>", "<output>a b\n12 3</output>"]
TRACES_BAD = ["<output>\n1 1\n2 4\n3 9\n</output>", "<output>ab\n12 3</output>"]


@rk.reward
def predicted_output(completion: str, expected: str) -> float:
    """1.0 where the predicted output is the expected one; the newline in the end does not matter."""
    said = output_tag(completion)
    if said is None or not said.strip() or not expected.strip():
        return 0.0
    said_lines = [line.rstrip() for line in said.strip().split("\n")]
    gold_lines = [line.rstrip() for line in expected.strip().split("\n")]
    return 1.0 if said_lines[0] == gold_lines[0] else 0.0


def output_reward(completions: list[str], expected: list[str], **kwargs: Any) -> list[float]:
    """1.0 where every line of the output is right; blanks at the ends of lines do not matter."""
    scores = []
    for completion, gold in zip(completions, expected, strict=True):
        said = tagged(completion, "output")
        if said is None:
            scores.append(0.0)
            continue
        pairs = zip(said.split("\n"), gold.strip().split("\n"))  # noqa: B905
        scores.append(1.0 if all(one.rstrip() == other.rstrip() for one, other in pairs) else 0.0)
    return scores


def _squeezed(text: str) -> str:
    return "".join(text.split())


@rk.reward
def same_output(completion: str, expected: str) -> float:
    """1.0 if the outputs are equal; spaces and newlines differ between systems and do not matter."""
    said = output_tag(completion)
    if said is None or not said.strip():
        return 0.0
    return 1.0 if _squeezed(said) == _squeezed(expected) else 0.0


def unordered_output_reward(completions: list[str], expected: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the same lines are printed, in any order: the program prints a set."""
    scores = []
    for completion, gold in zip(completions, expected, strict=True):
        said = {line.strip() for line in (tagged(completion, "output") or "").split("\n")}
        wanted = {line.strip() for line in gold.strip().split("\n")}
        scores.append(1.0 if wanted <= said else 0.0)
    return scores


CASES = [
    Case(
        "first_line_alone",
        predicted_output,
        TRACES,
        TRACES_GOOD,
        TRACES_BAD,
        "Only the first line is compared, so whatever follows it, or nothing, is paid.",
        "output.split('\\n')[0] in output graders",
    ),
    Case(
        "zip_cuts_lines",
        output_reward,
        TRACES,
        TRACES_GOOD,
        TRACES_BAD,
        "zip stops at the shorter output, so one right line is paid for many, and lines too many do not count.",
        "all(a == b for a, b in zip(...)) in code rewards",
    ),
    Case(
        "blanks_do_not_separate",
        same_output,
        TRACES,
        TRACES_GOOD,
        ["<output>\n1 1\n2 4\n3 9\n</output>", "<output>a c\n12 3</output>"],
        "All blanks are removed before the comparison, so `1 23` passes for `12 3`.",
        "''.join(text.split()) as normalization",
    ),
    Case(
        "lines_too_many",
        unordered_output_reward,
        [
            {"prompt": "What does `for x in {3, 1}: print(x)` print?", "expected": "1\n3"},
            {"prompt": "What does `for x in {'b', 'a', 'c'}: print(x)` print?", "expected": "a\nb\nc"},
        ],
        ["<output>\n1\n3\n</output>", "<output>c\na\nb</output>"],
        ["<output>\n0\n1\n</output>", "<output>a\nb</output>"],
        "The expected lines need only be among the printed ones: printing every number is right for every program.",
        "set inclusion in place of equality",
    ),
]
