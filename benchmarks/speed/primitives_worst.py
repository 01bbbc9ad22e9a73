"""The worst known inputs for each primitive: name -> (reward, function from a length to a text, columns)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rewardkit as rk

Worst = tuple[Callable[[], rk.Reward], Callable[[int], str], dict[str, list[Any]]]


def repeated(piece: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    """Return a function that repeats `piece` up to a number of characters."""
    return lambda characters: head + piece * ((characters - len(head) - len(tail)) // len(piece)) + tail


def answers(text: str) -> dict[str, list[Any]]:
    return {"answer": [text]}


WORST: dict[str, Worst] = {
    "tags: openings": (lambda: rk.tags("think", "answer", partial=True), repeated("<think>"), {}),
    "tags: brackets": (lambda: rk.tags("think", "answer"), repeated("<", "<think>"), {}),
    "tags: spaces": (lambda: rk.tags("think"), repeated(" ", "<think>", "</think>"), {}),
    "tags: invisible": (lambda: rk.tags("think"), repeated("\u200b", "<think>", "</think>"), {}),
    "regex": (lambda: rk.regex("(.*)(.*)(.*)(.*)[^a]"), repeated("a"), {}),
    "fenced: fences": (lambda: rk.fenced("python"), repeated("```python\n"), {}),
    "fenced: ticks": (lambda: rk.fenced("python"), repeated("`"), {}),
    "contains_none: masks": (lambda: rk.contains(none="abc"), repeated("a\u200bb"), {}),
    "contains_none: marks": (lambda: rk.contains(none="abc"), repeated("\u0301\u0316"), {}),
    "choice: claims": (lambda: rk.choice("answer"), repeated("answer ((( "), answers("B")),
    "choice: brackets": (lambda: rk.choice("answer"), repeated(")", "B"), answers("B")),
    "instruction: sentences": (
        lambda: rk.instructions(only="words:last_first", reading="loose"),
        repeated('J. a.) "*\n'),
        {},
    ),
    "instruction: tokens": (lambda: rk.instructions(only="format:title_case"), repeated("'A'.'-:1,"), {}),
    "instruction: brackets": (
        lambda: rk.instructions(only={"detectable_content:number_placeholders": {"num_placeholders": 1}}),
        repeated("["),
        {},
    ),
    "script": (lambda: rk.language(script="en"), repeated("aя"), {}),
    "language: words": (lambda: rk.language("en"), repeated("das Haus. "), {}),
    "language: characters": (lambda: rk.language("zh"), repeated("答"), {}),
    "language: sentences": (lambda: rk.language("en"), repeated("x."), {}),
    "language: addresses": (lambda: rk.language("en"), repeated("a@"), {}),
    "language: brackets": (lambda: rk.language("en"), repeated('{"'), {}),
    "number: digits": (lambda: rk.number("answer"), repeated("1"), answers("42")),
    "number: numbers": (lambda: rk.number("answer"), repeated("1,1.1e1 "), answers("42")),
    "number: boxes": (lambda: rk.number("answer"), repeated("\\boxed{"), answers("42")),
    "exact: marks": (lambda: rk.exact("answer"), repeated("\u0301\u0316"), answers("42")),
    "length: characters": (lambda: rk.length.between(1, 2, unit="characters"), repeated("a\u200b "), {}),
    "token_budget: characters": (
        lambda: rk.length.budget(rk.exact("answer"), 9, unit="characters"),
        repeated("a\u200b "),
        answers("42"),
    ),
    "reasoning_steps: steps": (lambda: rk.reasoning_steps(20), repeated("- aa bb cc dd ee\n"), {}),
    "reasoning_steps: marks": (lambda: rk.reasoning_steps(), repeated("step 1:"), {}),
    "diversity: spaces": (lambda: rk.diversity(extract=rk.extract.whole()), repeated("a "), {}),
    "repetition: words": (lambda: rk.repetition_penalty(unit="words"), repeated("a "), {}),
    "json_schema: brackets": (lambda: rk.json_schema({"type": "object"}), repeated("["), {}),
    "json_schema: keys": (
        lambda: rk.json_schema({"required": ["a"], "additionalProperties": False}),
        lambda characters: "{" + ",".join(f'"{number:07}":1' for number in range(characters // 12)) + "}",
        {},
    ),
    "json_schema: items": (
        lambda: rk.json_schema({"items": {"type": "string"}}),
        lambda characters: "[" + ",".join("1" for _ in range(characters // 2 - 1)) + "]",
        {},
    ),
    "json_schema: column": (
        lambda: rk.json_schema(column="answer"),
        lambda characters: "[" + ",".join("1" for _ in range(characters // 2 - 1)) + "]",
        answers('{"items": {"type": "string"}}'),
    ),
    "json_match: items": (
        lambda: rk.json_match("answer"),
        lambda characters: "[" + ",".join(f"[{number}]" for number in range(characters // 8)) + "]",
        answers("[" + ",".join(f"[{number}]" for number in range(0, 60_000, 3)) + "]"),
    ),
    "math_equal: digits": (lambda: rk.math_equal("answer"), repeated("9", "\\boxed{", "}"), answers("\\sqrt{2}")),
    "math_equal: dollars": (lambda: rk.math_equal("answer"), repeated("$x$ "), answers("\\sqrt{2}")),
    "math_equal: boxes": (lambda: rk.math_equal("answer"), repeated("\\boxed{"), answers("\\sqrt{2}")),
    "similarity": (lambda: rk.similarity("answer"), repeated("ab"), answers("ba" * 9_000)),
    "token_f1: words": (lambda: rk.token_f1("answer"), repeated("1,000 a. "), answers("the house")),
    "rouge_l: words": (lambda: rk.rouge_l("answer"), repeated("abcdefghi "), answers("the house " * 9_000)),
    "bleu": (lambda: rk.bleu("answer"), repeated("a. "), answers("the house")),
    "chrf": (lambda: rk.chrf("answer"), repeated("a. "), answers("the house")),
    "set_match: commas": (lambda: rk.set_match("answer"), repeated("a,"), answers("a, b")),
    "sequence_match: lines": (
        lambda: rk.sequence_match("answer"),
        repeated("- abcdefghijklmnopqrstu\n"),
        answers("a, b"),
    ),
    "tool_calls: marks": (lambda: rk.tool_calls("answer"), repeated("<tool_call>{"), answers("[]")),
    "tool_calls: parameters": (lambda: rk.tool_calls("answer"), repeated("<function=f><parameter=a>"), answers("[]")),
    "tool_calls: Python": (lambda: rk.tool_calls("answer"), repeated("f(a=1)\n"), answers("[]")),
    "steps": (lambda: rk.milestones(*(f"step {number}" for number in range(100))), repeated("step "), {}),
    "code_tests: fences": (
        lambda: rk.code_tests("answer"),
        repeated("```python\n"),
        answers('[{"input": "", "output": "1"}]'),
    ),
    "code_tests: marks of lists": (
        lambda: rk.code_tests("answer"),
        repeated("- 1. * "),
        answers('[{"input": "", "output": "1"}]'),
    ),
}
