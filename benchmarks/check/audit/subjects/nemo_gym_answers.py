"""NeMo Gym's servers for short answers: numbers, names, properties."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from subject import Subject, each
from subjects.nemo_gym_server import answered, judged, server
from texts import EXACT, FACTS, MATHEMATICS, MISNAMED, MISTAKEN, NAMED, RIGHT, SUMS, WRONG, boxed, tagged

_NO_JUDGE: dict[str, Any] = {
    "judge_model_server": {"type": "responses_api_models", "name": "judge"},
    "judge_responses_create_params": {"input": []},
    "should_use_judge": False,
}
"""Without the judge, which is asked if the library finds no match, the library decides."""


def subjects() -> Iterator[Subject]:
    rows: list[dict[str, Any]] = [{**row, "task": {"question": row["prompt"]}} for row in MATHEMATICS]
    reward = judged("math_with_judge", **_NO_JUDGE)
    yield Subject("math_with_judge (library)", reward, rows, boxed(EXACT), boxed(MISTAKEN))
    yield Subject("math_with_code", judged("math_with_code", "expected_result"), SUMS, boxed(RIGHT), boxed(WRONG))
    for mode, right, wrong in (
        ("boxed", boxed(NAMED), boxed(MISNAMED)),
        ("final_answer", _after("Final answer: ", NAMED), _after("Final answer: ", MISNAMED)),
        ("last_line", _after("", NAMED), _after("", MISNAMED)),
        ("full_response", list(NAMED), list(MISNAMED)),
    ):
        rows = [{**row, "task": {"extraction_mode": mode}} for row in FACTS]
        yield Subject(f"string_match ({mode})", judged("string_match"), rows, right, wrong)
    rows = [{**row, "task": {"extraction_mode": "boxed"}} for row in SUMS]
    yield Subject("string_match (boxed numbers)", judged("string_match"), rows, boxed(RIGHT), boxed(WRONG))
    rows = [{**row, "task": {"extraction_mode": "boxed", "case_sensitive": True}} for row in FACTS]
    yield Subject("string_match (case_sensitive)", judged("string_match"), rows, boxed(NAMED), boxed(MISNAMED))
    right, wrong = ([json.dumps({"answer": name}) for name in names] for names in (NAMED, MISNAMED))
    yield Subject("hotpotqa_qa", judged("hotpotqa_qa"), FACTS, right, wrong)
    yield from _properties()
    yield _circles()
    yield _puzzles()
    yield _last_turn()
    rows = [
        {**row, "answer": [row["answer"]], "task": {"benchmark_name": "OCRBench", "category": "Scene Text-centric VQA"}}
        for row in FACTS
    ]
    yield Subject("vlm_eval_kit (OCRBench)", judged("vlm_eval_kit", "answer"), rows, list(NAMED), list(MISNAMED))


def _after(label: str, values: tuple[str, ...]) -> list[str]:
    return [f"I looked it up.\n{label}{value}" for value in values]


def _properties() -> Iterator[Subject]:
    """Properties of molecules, each with one of the forms that the prompts ask for."""
    for kind, style, form, cases in (
        ("float, exact", "fmt_00", "The count is ((%s)).", (("3", "4"), ("7", "9"))),
        ("float, isclose", "fmt_07", r"It weighs \boxed{%s}.", (("18.02", "18.5"), ("46.07", "44.1"))),
        ("bool", "fmt_15", "<final_answer>%s</final_answer>", (("true", "false"), ("false", "true"))),
        ("string", "fmt_18", "**Answer: %s**", (("carboxylic acid", "ketone"), ("alcohol", "amine"))),
    ):
        parsed, _, rule = kind.partition(", ")
        task = {"answer_type": parsed, "answer_format": style, **({"match": {"rule": rule}} if rule else {})}
        rows = [{"prompt": f"Molecule {n}?", "answer": gold, "task": task} for n, (gold, _) in enumerate(cases)]
        right, wrong = ([form % one for one in values] for values in zip(*cases, strict=True))
        yield Subject(f"litmus_agent ({kind})", judged("litmus_agent"), rows, right, wrong)


def _circles() -> Subject:
    """Circles of a color to count: the row has as many as the gold answer says, and two others."""

    def fields(answer: Any, task: Any) -> dict[str, Any]:
        colors = [task["target_color"]] * answer + ["green"] * 2
        circles = [{"x": 60 * place, "y": 90, "radius": 25, "color": color} for place, color in enumerate(colors)]
        return {**task, "circles": circles}

    rows = [
        {"prompt": f"Count the {color} circles.", "answer": count, "task": {"target_color": color}}
        for color, count in (("red", 3), ("blue", 12))
    ]
    right, wrong = ([rf"I count \boxed{{{count}}} circles." for count in counts] for counts in ((3, 12), (2, 14)))
    return Subject("circle_count", judged("circle_count", fields), rows, right, wrong)


def _puzzles() -> Subject:
    """Entries as the server's data has them; the scorers of all tasks are subjects of reasoning_gym.py."""
    data = import_module("reasoning_gym").create_dataset("chain_sum", size=3, seed=7)
    rows = [
        {
            "prompt": entry["question"],
            "answer": entry["answer"],
            "task": {"question": entry["question"], "metadata": entry["metadata"]},
        }
        for entry in data
    ]
    answers = tuple(entry["answer"] for entry in data)
    wrong = tuple(str(int(answer) + 10) for answer in answers)
    return Subject("reasoning_gym", judged("reasoning_gym", "answer"), rows, tagged(answers), tagged(wrong))


def _last_turn() -> Subject:
    """The last of several turns; those before it earn nothing."""
    step = server("example_multi_turn_gymnasium").step
    response = import_module("nemo_gym.openai_utils").NeMoGymResponse

    async def score(text: str, gold: str) -> float:
        action = response.model_validate(await answered(text))
        return float((await step(action, {"expected_answer": gold}, "audit"))[1])

    reward = each("example_multi_turn_gymnasium", lambda text, gold: asyncio.run(score(text, gold)))
    right, wrong = ([f"It is {name}." for name in names] for names in (NAMED, MISNAMED))
    return Subject("example_multi_turn_gymnasium", reward, FACTS, right, wrong)
