"""Every primitive, with a right and a wrong completion, and the most that a hostile text may earn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import rewardkit as rk

SCHEMA = {
    "type": "object",
    "properties": {"sku": {"type": "string", "pattern": "^a"}, "qty": {"type": "integer", "maximum": 5}},
    "required": ["sku", "qty"],
}
RIGHT_JSON = '{"sku": "a-1", "qty": 3}'
PATIENCE = 1.0
"""Seconds of CPU time for a program, half of the default, because the tests wait for programs that hang."""


@dataclass(frozen=True)
class Case:
    """A reward with a right and a wrong completion.

    Attributes:
        most: the most that any hostile text may earn; None for rewards that only check form, where any text may score.
        exceptions: text name -> the most that this text may earn.
        relative: the scores depend on the other completions.
        form: makes a completion of a hostile text, by default the text itself.
    """

    make: Callable[[], rk.Reward]
    right: Any
    wrong: Any
    columns: Mapping[str, Any] = field(default_factory=dict)
    most: float | None = 0.0
    exceptions: Mapping[str, float] = field(default_factory=dict)
    relative: bool = False
    form: Callable[[str], Any] = str


def called(name: str, argument: str, result: str) -> list[dict[str, Any]]:
    """A conversation with one call and an answer."""
    call = {"type": "function", "function": {"name": name, "arguments": {"color": argument}}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": name, "content": result},
        {"role": "assistant", "content": result},
    ]


def everywhere(text: str) -> list[dict[str, Any]]:
    """A conversation in which a text is the name of a tool, an argument, a result, and the answer."""
    as_text = {"type": "function", "function": {"name": text, "arguments": text}}
    return [{"role": "assistant", "content": text, "tool_calls": [as_text]}, *called(text, text, text)]


OPENED = called("open", "red", "18")
STUCK = called("open", "blue", "{'error': 'stuck'}")


def gold(answer: object) -> dict[str, object]:
    return {"answer": answer}


REWARDS: dict[str, Case] = {
    "tool_calls": Case(
        lambda: rk.tool_calls("answer"),
        OPENED,
        STUCK,
        gold('[{"name": "open", "arguments": {"color": "red"}}]'),
        form=everywhere,
    ),
    "tool_calls, partial": Case(
        lambda: rk.tool_calls("answer", arguments="partial", order="kept"),
        OPENED,
        STUCK,
        gold('[{"name": "open", "arguments": {"color": "red"}}]'),
        form=everywhere,
    ),
    "tool_calls, text": Case(
        lambda: rk.tool_calls("answer"),
        '<tool_call>{"name": "open", "arguments": {"color": "red"}}</tool_call>',
        '<tool_call>{"name": "open", "arguments": {"color": "blue"}}</tool_call>',
        gold('[{"name": "open", "arguments": {"color": "red"}}]'),
    ),
    "agents.tool_success": Case(lambda: rk.agents.tool_success("open"), OPENED, STUCK, form=everywhere),
    "agents.tool_errors": Case(lambda: rk.agents.tool_errors(), OPENED, STUCK, most=None, form=everywhere),
    "agents.calls_between": Case(lambda: rk.agents.calls_between(0, 1), OPENED, [*STUCK[:2], *OPENED], form=everywhere),
    "agents.turns_between": Case(lambda: rk.agents.turns_between(0, 2), OPENED, [*STUCK[:2], *OPENED], form=everywhere),
    "agents.finished": Case(rk.agents.finished, OPENED, OPENED[:2], most=None, form=everywhere),
    "agents.no_claim_without_call": Case(
        lambda: rk.agents.no_claim_without_call({"open": ["opened"]}), "18", "I opened it.", most=None, form=everywhere
    ),
    "tags": Case(lambda: rk.tags("think", "answer"), "<think>a</think><answer>b</answer>", "b"),
    "tags, partial": Case(
        lambda: rk.tags("think", "answer", partial=True),
        "<think>a</think><answer>b</answer>",
        "b",
    ),
    "tags, anywhere": Case(lambda: rk.tags("answer", anchored=False), "So: <answer>b</answer>", "b"),
    "regex": Case(lambda: rk.regex(r"(.*)(.*)(.*) is \d+\."), "It is 42.", "forty", most=0.0),
    "fenced": Case(lambda: rk.fenced("json"), "```json\n{}\n```", "{}"),
    "contains, start": Case(lambda: rk.contains(start="Yes"), "Yes.", "No."),
    "contains, end": Case(lambda: rk.contains(end="QED"), "So QED", "No."),
    "contains, all": Case(lambda: rk.contains(all=["alpha", "omega"], partial=True), "alpha, omega", "beta"),
    "contains, none": Case(lambda: rk.contains(none="beta"), "alpha", "beta", most=None),
    "contains, refusals": Case(lambda: rk.contains(none=rk.REFUSALS), "Paris", "As an AI, I do not know.", most=None),
    "choice": Case(lambda: rk.choice("answer"), "The answer is (C).", "A", gold("C")),
    "instructions, only": Case(
        lambda: rk.instructions(only={"sentence:keyword": {"word": "harbor", "N": 2}}, reading="loose"),
        "Fog came. The harbor slept.",
        "Fog came.",
    ),
    "instructions, punctuation": Case(
        lambda: rk.instructions(only="ratio:sentence_balance"), "Fog came. Why? Go!", "Fog came."
    ),
    "instructions": Case(
        lambda: rk.instructions(),
        '"Fog came to the HARBOR"',
        "No, it left.",
        {
            "instruction_id_list": ["startend:quotation", "keywords:existence"],
            "kwargs": [{}, {"keywords": ["harbor", "fog"]}],
        },
        most=0.5,
    ),
    "language, script": Case(lambda: rk.language(script="Greek"), "Αθήνα", "Athens"),
    "language": Case(lambda: rk.language("el"), "Αθήνα", "Athens"),
    "language, told": Case(
        lambda: rk.language("cy", minimum=0.8), "Mae'r ateb yn hawdd i'w weld.", "The answer is easy to see.", most=None
    ),
    "language, column": Case(lambda: rk.language(column="answer"), "Ответ найти легко.", "It is easy.", gold("ru")),
    "number": Case(lambda: rk.number("answer"), "<answer>43.5</answer>", "44", gold("43.5")),
    "number, linear": Case(
        lambda: rk.number("answer", credit="linear", scale=0.5, thousands=True, percent=True),
        "43.5",
        "45",
        gold("43.5"),
    ),
    "exact": Case(lambda: rk.exact("answer", ignore_case=True), "<answer>Paris</answer>", "Rome", gold("paris")),
    "json_schema": Case(lambda: rk.json_schema(SCHEMA), RIGHT_JSON, "{}"),
    "json_schema, union": Case(
        lambda: rk.json_schema({"anyOf": [SCHEMA, {"type": "array", "items": SCHEMA, "minItems": 1}]}), RIGHT_JSON, "{}"
    ),
    "json_schema, column": Case(lambda: rk.json_schema(column="answer"), RIGHT_JSON, "{}", gold(SCHEMA)),
    "json_valid": Case(
        lambda: rk.json_valid(kind="object"),
        RIGHT_JSON,
        "7",
        exceptions=dict.fromkeys(("many keys", "half a character escaped", "key of 100,000", "prototype"), 1.0),
    ),
    "json_match": Case(lambda: rk.json_match("answer"), RIGHT_JSON, "{}", gold(RIGHT_JSON)),
    "json_match, arrays": Case(
        lambda: rk.json_match("answer", tolerance=0.1), "[1.5, 2.5, [3]]", "{}", gold("[1.5, 2.5, [3]]")
    ),
    "math_equal": Case(lambda: rk.math_equal("answer"), "\\boxed{2\\sqrt{3}}", "\\boxed{3}", gold("2\\sqrt{3}")),
    "math_equal, number": Case(lambda: rk.math_equal("answer"), "#### 43.5", "#### 44", gold("43.5")),
    "math_equal, any": Case(
        lambda: rk.math_equal("answer", allow_unevaluated=True), "\\boxed{x^{2}-1}", "\\boxed{x}", gold("(x-1)(x+1)")
    ),
    "code_tests": Case(
        lambda: rk.code_tests("answer", timeout=PATIENCE),
        "```python\nprint(int(input()) * 2)\n```",
        "```python\nprint(5)\n```",
        gold([{"input": "2", "output": "4"}]),
    ),
    "code_tests, assertions": Case(
        lambda: rk.code_tests("answer", timeout=PATIENCE),
        "```python\ndef double(n):\n    return 2 * n\n```",
        "```python\ndef double(n):\n    return n\n```",
        gold(["assert double(2) == 4"]),
    ),
    "code_tests, test functions": Case(
        lambda: rk.code_tests("answer", timeout=PATIENCE),
        "```python\ndef double(n):\n    return 2 * n\n```",
        "```python\ndef double(n):\n    return n\n```",
        gold(
            "from solution import double\n\ndef test_double():\n    for n in (1, 2):\n        assert double(n) == n + n"
        ),
    ),
    "code_tests, a tolerance": Case(
        lambda: rk.code_tests("answer", timeout=PATIENCE, tolerance=1e-6),
        "```python\nprint(1 / 3)\n```",
        "```python\nprint(0.34)\n```",
        gold([{"input": "", "output": "0.333333"}]),
    ),
    "code_runs": Case(
        lambda: rk.code_runs(timeout=PATIENCE), "```python\nprint(1)\n```", "```python\nraise OSError\n```", most=None
    ),
    "length.between": Case(lambda: rk.length.between(2, 3, unit="words"), "two words", "one", most=None),
    "length.overlong": Case(lambda: rk.length.overlong(50, 10), "short", "long" * 50, most=None),
    "length.overlong, characters": Case(
        lambda: rk.length.overlong(50, 10, unit="characters"), "short", "long" * 50, most=None
    ),
    "length.cosine": Case(lambda: rk.length.cosine(rk.exact("answer"), 100), "Paris", "Rome", gold("Paris"), most=-0.5),
    "length.shortest_correct": Case(
        lambda: rk.length.shortest_correct(rk.exact("answer"), unit="words"), "Paris", "Rome", gold("Paris")
    ),
    "length.kimi": Case(
        lambda: rk.length.kimi(rk.exact("answer"), unit="words"), "Paris", "It is Rome.", gold("Paris"), relative=True
    ),
    "length.budget": Case(lambda: rk.length.budget(rk.exact("answer"), 1), "Paris", "Rome", gold("Paris"), most=0.0),
    "length.budget, max": Case(
        lambda: rk.length.budget(rk.exact("answer"), column="budget", form="max", unit="words"),
        "Paris",
        "Rome",
        {"answer": "Paris", "budget": 100},
    ),
    "reasoning_steps": Case(
        lambda: rk.reasoning_steps(2),
        "1. Add 3 and 4 to get 7.\n2. So half of it is 3.5 km.",
        "1. Add.\n2. Add.",
        most=None,
    ),
    "diversity": Case(lambda: rk.diversity(), "<answer>ultramarine</answer>", "", most=None),
    "repetition_penalty": Case(lambda: rk.repetition_penalty(), "abc", "aaaaaaaa", most=None),
    "repetition_penalty, words": Case(lambda: rk.repetition_penalty(unit="words"), "a b c d", "a a a a a", most=None),
    "similarity": Case(lambda: rk.similarity("answer"), "Reykjavík", "Rome", gold("Reykjavík"), most=0.3),
    "token_f1": Case(lambda: rk.token_f1("answer"), "northern lights", "southern light", gold("northern lights")),
    "rouge_l": Case(lambda: rk.rouge_l("answer"), "northern lights", "southern light", gold("northern lights")),
    "bleu": Case(
        lambda: rk.bleu("answer"),
        "the northern lights of Oslo",
        "Rome",
        gold("the northern lights of Oslo"),
        most=0.1,
    ),
    "chrf": Case(lambda: rk.chrf("answer"), "the northern lights", "Rome", gold("the northern lights"), most=0.15),
    "set_match": Case(lambda: rk.set_match("answer"), "red, green", "blue", gold(["red", "green"])),
    "sequence_match": Case(lambda: rk.sequence_match("answer"), "red, green", "blue", gold(["red", "green"])),
    "sequence_match, kendall": Case(
        lambda: rk.sequence_match("answer", metric="kendall"),
        "red, green, blue",
        "blue",
        gold(["red", "green", "blue"]),
    ),
    "milestones": Case(lambda: rk.milestones("merge them", "then return"), "merge them, then return", "sort"),
}
