"""Rewards that stand for resources servers of NeMo Gym: its published rollouts are verified again with them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import rewardkit as rk

_BOXED, _RAW = rk.extract.boxed(), rk.extract.raw()
_LETTER = rk.choice("expected_answer", options=ascii_uppercase, extract=_BOXED)
_MATH = rk.math_equal("expected_answer", extract=_BOXED)


def boxed_text(completion: str) -> str | None:
    """Return the text in the last box, without ``\\text{}``."""
    found = _BOXED(completion)
    return found if found is None else re.sub(r"\A\\text\{(.*)\}\Z", r"\1", found)


def last_line(completion: str) -> str:
    return completion.strip().splitlines()[-1]


def judgement(text: str) -> str | None:
    found = re.findall(r"Judgement: *(\w+)", text)
    return found[-1] if found else None


def answer_in_json(completion: str) -> str | None:
    """Return the answer in the last JSON object, wherever it is."""
    found = re.findall(r"\{[^{}]*\}", completion)
    return str(json.loads(found[-1])["answer"]) if found else None


@rk.reward
def counted(completion: str, circles: Sequence[Mapping[str, Any]], target_color: str) -> float:
    """Compare the count in the box with the circles of a color."""
    gold = sum(circle["color"] == target_color for circle in circles)
    return float(_BOXED(completion) == str(gold))


@rk.reward
def expected_action(trajectory: rk.Trajectory, expected_action: Mapping[str, Any]) -> float:
    """Demand the one call that is expected, or none."""
    calls = trajectory.calls
    if expected_action["type"] != "function_call":
        return float(not calls)
    gold = json.loads(expected_action["arguments"])
    return float(bool(calls) and calls[0].name == expected_action["name"] and calls[0].arguments == gold)


@rk.reward
def correctness(trajectory: rk.Trajectory, expected_call: Mapping[str, Any]) -> float:
    gold = expected_call["arguments"]
    return float(any(call.name == expected_call["name"] and call.has(**gold) for call in trajectory.calls))


@rk.reward
def schema_valid(trajectory: rk.Trajectory, tools: Sequence[Mapping[str, Any]]) -> float:
    """Demand all required arguments in the first call."""
    if not trajectory.calls:
        return 0.0
    first = trajectory.calls[0]
    needed: list[str] = next(
        (tool["parameters"].get("required", []) for tool in tools if tool["name"] == first.name), []
    )
    return float(all(name in (first.arguments or {}) for name in needed))


@rk.reward(name="format")
def form(trajectory: rk.Trajectory, completion: str) -> float:
    """Demand one call and no text."""
    return float(len(trajectory.calls) == 1 and not any(turn.text for turn in trajectory.turns))


@rk.reward
def all_found(completion: str, expected_answer: str | Sequence[str], match_type: str) -> float:
    golds = [expected_answer] if isinstance(expected_answer, str) else expected_answer
    found = [gold.lower() in completion.lower() for gold in golds]
    return float(any(found)) if match_type == "part" else sum(found) / len(found)


@rk.reward
def grid(completion: str, expected_output: Sequence[Sequence[int]]) -> float:
    found = _BOXED(completion)
    return float(found is not None and json.loads(found) == expected_output)


mcqa = _LETTER
gpqa_diamond = _LETTER
google_search = _LETTER
string_match = rk.route(
    {
        "boxed": rk.exact("expected_answer", extract=boxed_text, ignore_case=True).named("boxed"),
        "final_answer": rk.exact("expected_answer", extract=rk.extract.after("answer:"), ignore_case=True).named(
            "final"
        ),
        "last_line": rk.exact("expected_answer", extract=last_line, ignore_case=True).named("last"),
        "full_response": rk.exact("expected_answer", extract=rk.extract.whole(), ignore_case=True).named("full"),
    },
    by="extraction_mode",
)
circle_count = counted
math_with_judge = _MATH
physics_judge = _MATH
polymath = _MATH
math_with_autograder = _MATH
math_with_code = rk.math_equal("expected_result", extract=_BOXED)
imo_gradingbench = rk.choice("expected_answer", options=["correct", "almost", "partial", "incorrect"])
math_proof_judgement = rk.choice("expected_judgement", options=["Yes", "No"], extract=judgement, gold=judgement)
instruction_following = rk.instructions(credit="binary")
ifbench = rk.instructions(credit="partial")
structured_outputs = rk.json_schema(column="schema_str", credit="binary", extract=_RAW)
xlam_fc = rk.tool_calls("expected_answers")
single_step_tool_use_with_argument_comparison = expected_action
example_tool_call_multireward = correctness + schema_valid + form
hotpotqa_qa = rk.exact("expected_answer", extract=answer_in_json, ignore_case=True)
graphwalks = rk.set_match("expected_answer", extract=rk.extract.after("Final Answer:"))
ruler2 = rk.route({"ruler2": all_found, "multichoice": _LETTER}, by="eval_type")
arc_agi = grid
code_gen = rk.code_tests("unit_tests", credit="binary", timeout=10.0)
ns_tools = _MATH
equivalence_rule = rk.exact("expected_answer", extract=_RAW)
