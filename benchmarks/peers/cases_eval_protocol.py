"""The ``@reward_function`` functions of eval-protocol 0.3.33, with completions they should score differently."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.peers.case import LOOPING, RAMBLING, SHORT, Case, importer


def _ep(name: str, module: str, **options: Any) -> Callable[[], Any]:
    return importer(f"eval_protocol.rewards.{module}:{name}", **options)


def _messages(*contents: str) -> list[list[dict[str, str]]]:
    """Return ground truth as messages, the form that eval-protocol often expects."""
    return [[{"role": "assistant", "content": content}] for content in contents]


def _asked(prompts: tuple[str, ...], column: str, values: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple({"prompt": prompt, column: value} for prompt, value in zip(prompts, values, strict=True))


SHIPS = ("A pen costs 12 and a book 30. What do both cost?", "A ship of 1200 boxes unloads 65. How many are left?")
"""Prompts for `SHORT`."""
SUMS = ("What is 12 + 30?", "What is 7 * 8?")
RIGHT = ("12 plus 30 makes 42, so the answer is 42", "Seven times eight: the answer is 56")
WRONG = ("12 plus 30 makes 32, so the answer is 32", "Seven times eight: the answer is 54")
STEPS = (
    "First, add the tens: 10 and 30 make 40.\nThen, add the ones: 2 and 0 make 2.\nFinally, put them together: 42.",
    "1. Five eights are 40.\n2. Two eights are 16.\n3. Together they are 56.",
)
ORDERED = (
    "First add the tens. Next add the ones. Finally put them together: 42.",
    "First take five eights. Next take two eights. Finally add them: 56.",
)


def _weather(city: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "weather", "arguments": json.dumps({"city": city})}}


def _call(city: str) -> str:
    return f"<tool_call>{json.dumps({'name': 'weather', 'arguments': {'city': city}})}</tool_call>"


def _program(body: str) -> str:
    return f"```python\n{body}\n```"


PROGRAMS = ("Read a number and print its double.", "Read a line and print it in reverse.")
SOLVING = (_program("number = int(input())\nprint(number * 2)"), _program("line = input()\nprint(line[::-1])"))
FAILING = (_program("number = int(input())\nprint(number + 2)"), _program("line = input()\nprint(line)"))
TESTS = (
    [{"input": "3", "expected_output": "6"}, {"input": "10", "expected_output": "20"}],
    [{"input": "abc", "expected_output": "cba"}, {"input": "xy", "expected_output": "yx"}],
)
ORDER = {"type": "object", "properties": {"name": {"type": "string"}, "quantity": {"type": "number"}}}
BOOK = {"type": "object", "properties": {"title": {"type": "string"}, "pages": {"type": "number"}}}
ORDERS = ("Write the order of 31 toys for Mia as JSON.", "Write the book Emma of 474 pages as JSON.")
THEOREMS = ("theorem two (a b : Nat) : a + b = b + a", "theorem one (a b : Nat) : a * b = b * a")
PROOFS = tuple(
    f"```lean\n{theorem} := by\n  have h := Nat.{fact} a b\n  exact h\n```"
    for theorem, fact in zip(THEOREMS, ("add_comm", "mul_comm"), strict=True)
)
UNPROVED = tuple(f"```lean\n{theorem} := by\n  sorry\n```" for theorem in THEOREMS)
LEAN = tuple(
    {"prompt": f"Prove: {theorem}", "ground_truth": proof, "statement": theorem}
    for theorem, proof in zip(THEOREMS, PROOFS, strict=True)
)
TOOLS = ("What is the weather in Oslo?", "What is the weather in Rome?")
ENGLISH = ("Why is the sky blue?", "How does rain form?")


def _eval(
    name: str,
    module: str,
    signature: str,
    examples: tuple[Mapping[str, Any], ...],
    good: tuple[str, ...],
    bad: tuple[str, ...],
    finding: str = "",
    **options: Any,
) -> Case:
    make = _ep(name, module, **options)
    return Case("eval-protocol", name, f"(messages, {signature}, **kwargs)", make, examples, good, bad, finding=finding)


_TOOL_MATCH = (
    "function_calling",
    "ground_truth=None",
    _asked(TOOLS, "ground_truth", [{"tool_calls": [_weather("Oslo")]}, {"tool_calls": [_weather("Rome")]}]),
    (_call("Oslo"), _call("Rome")),
    (_call("Bergen"), _call("Oslo")),
)
_DELEGATES = "deprecated: calls exact_tool_match_reward"

EVAL_PROTOCOL = (
    _eval(
        "accuracy_reward",
        "accuracy",
        "ground_truth: messages, extract_fn=None, compare_fn=None",
        _asked(SUMS, "ground_truth", _messages("42", "56")),
        RIGHT,
        WRONG,
        finding="wrong answers get 0.3 (32 for 42) and 0.8 (54 for 56): it uses similarity of numbers as accuracy",
    ),
    _eval(
        "cosine_scaled_accuracy_length_reward",
        "accuracy_length",
        "ground_truth: messages, max_length=1000, ...",
        _asked(SUMS, "ground_truth", _messages("42", "56")),
        RIGHT,
        WRONG,
        finding="wrong answers get 0.21 and 0.56; only zero tokens get full marks",
    ),
    _eval(
        "format_reward",
        "format",
        "format_regex=..., require_exact_match=True",
        _asked(SUMS, "ground_truth", [None, None]),
        tuple(f"<think>\n{text}\n</think>\n<answer>\n42\n</answer>" for text in RIGHT),
        RIGHT,
    ),
    _eval(
        "length_reward",
        "length",
        "target_length=None, min_length=None, max_length=None, token_method, scaling",
        _asked(SHIPS, "ground_truth", [None, None]),
        SHORT,
        RAMBLING,
        min_length=5,
        max_length=40,
    ),
    _eval(
        "cosine_length_reward",
        "length",
        "correctness=None, is_correct=None, max_length=1000, ...",
        _asked(SHIPS, "is_correct", [True, True]),
        SHORT,
        RAMBLING,
        finding="a column says whether the completion is right, but no dataset can know that",
        max_length=100,
    ),
    _eval(
        "list_comparison_math_reward",
        "list_comparison_math_reward",
        "ground_truth: str, order_matters=False",
        _asked(("Which are the divisors of 6?", "Which are those of 9?"), "ground_truth", ["1, 2, 3, 6", "1, 3, 9"]),
        (r"The divisors are $\boxed{1, 2, 3, 6}$", r"The divisors are $\boxed{1, 3, 9}$"),
        (r"The divisors are $\boxed{1, 2, 6}$", r"The divisors are $\boxed{1, 3, 6}$"),
    ),
    _eval(
        "math_reward",
        "math",
        "ground_truth: str, tolerance=0.001, absolute_tolerance=1e-8, require_units=False",
        _asked(SUMS, "ground_truth", [r"\boxed{42}", r"\boxed{56}"]),
        (r"12 and 30 make \boxed{42}", r"Seven times eight is \boxed{56}"),
        (r"12 and 30 make \boxed{32}", r"Seven times eight is \boxed{54}"),
        finding="several boxes get 1.0 if one of them is right",
    ),
    _eval(
        "multiple_choice_math_reward",
        "multiple_choice_math_reward",
        "ground_truth: messages",
        _asked(
            ("Which is even? (A) 3 (B) 4 (C) 5", "Which is odd? (A) 2 (B) 4 (C) 7"),
            "ground_truth",
            _messages("(B)", "(C)"),
        ),
        ("Four is even, so the answer is (B).", "Seven is odd, so the answer is (C)."),
        ("Three is even, so the answer is (A).", "Four is odd, so the answer is (B)."),
    ),
    _eval(
        "reasoning_steps_reward",
        "reasoning_steps",
        "pattern=None, min_steps=3, max_steps=None",
        _asked(SUMS, "level", [1, 1]),
        STEPS,
        RIGHT,
    ),
    _eval(
        "sequence_reward",
        "reasoning_steps",
        "sequence_terms=None, min_matches=3, case_sensitive=False",
        _asked(SUMS, "level", [1, 1]),
        ORDERED,
        RIGHT,
    ),
    _eval(
        "repetition_penalty_reward",
        "repetition",
        "ngram_size=3, max_penalty=0.5, language='en'",
        _asked(SHIPS, "level", [1, 1]),
        SHORT,
        LOOPING,
        finding="not a penalty: 1 is the best score, and a text that only repeats itself still gets 0.54",
    ),
    _eval(
        "diversity_reward",
        "repetition",
        "ngram_sizes=[1, 2, 3], weights=None, language='en'",
        _asked(SHIPS, "level", [1, 1]),
        ("Adding twelve and thirty gives forty-two.", "The ship keeps 1135 boxes."),
        LOOPING,
    ),
    _eval(
        "tag_count_reward",
        "tag_count",
        "required_tags, score_per_tag=0.25, require_balanced=True",
        _asked(SUMS, "level", [1, 1]),
        tuple(f"<think>{text}</think><answer>42</answer>" for text in RIGHT),
        RIGHT,
        required_tags=["think", "answer"],
        score_per_tag=0.5,
    ),
    _eval(
        "language_consistency_reward",
        "language_consistency",
        "ground_truth, target_language=None, min_consistency=0.6, auto_detect=True",
        _asked(ENGLISH, "ground_truth", ["The light of the sun is scattered by the air", "Drops fall from the clouds"]),
        (
            "The light of the sun is scattered by the air, and the blue part of it is scattered the most.",
            "The drops in the clouds grow and fall when they are too heavy for the air to hold them.",
        ),
        (
            "El cielo es azul porque la luz del sol se dispersa en el aire y la parte azul es la que más se dispersa.",
            "Las gotas de las nubes crecen y caen cuando son demasiado pesadas para que el aire las sostenga.",
        ),
        target_language="en",
    ),
    _eval(
        "json_schema_reward",
        "json_schema",
        "ground_truth=None, json_content=None, expected_schema=None",
        _asked(ORDERS, "expected_schema", [ORDER, BOOK]),
        (json.dumps({"name": "Mia", "quantity": 31}), json.dumps({"title": "Emma", "pages": 474})),
        (json.dumps({"customer": "Mia", "toys": "31"}), json.dumps({"book": "Emma", "length": "474"})),
    ),
    _eval("exact_tool_match_reward", *_TOOL_MATCH),
    _eval("schema_jaccard_reward", *_TOOL_MATCH, finding=_DELEGATES),
    _eval("llm_judge_reward", *_TOOL_MATCH, finding=_DELEGATES),
    _eval("composite_function_call_reward", *_TOOL_MATCH, finding=_DELEGATES),
    _eval(
        "local_code_execution_reward",
        "code_execution",
        "ground_truth=None, language='python', timeout=5, max_memory_mb=100",
        _asked(("Print the double of 21.", "Print the word stone in reverse."), "ground_truth", ["42", "enots"]),
        (_program("print(21 * 2)"), _program("print('stone'[::-1])")),
        (_program("print(21 + 2)"), _program("print('stone')")),
        finding="a wrong output gets 0.55, because texts are compared by similarity",
    ),
    _eval(
        "fractional_code_reward",
        "code_execution",
        "ground_truth: output or tests, language='python', timeout=30, environment='local'",
        _asked(PROGRAMS, "ground_truth", TESTS),
        SOLVING,
        FAILING,
    ),
    _eval(
        "deepcoder_code_reward",
        "deepcoder_reward",
        "ground_truth: tests, language, timeout=10, environment='local', target_function=None",
        tuple(
            {"prompt": prompt, "ground_truth": tests, "language": "python"}
            for prompt, tests in zip(PROGRAMS, TESTS, strict=True)
        ),
        SOLVING,
        FAILING,
    ),
    _eval(
        "evaluate_apps_solution",
        "apps_coding_reward",
        "ground_truth: JSON with inputs and outputs",
        _asked(
            PROGRAMS,
            "ground_truth",
            [
                json.dumps({"inputs": ["3\n", "10\n"], "outputs": ["6\n", "20\n"]}),
                json.dumps({"inputs": ["abc\n", "xy\n"], "outputs": ["cba\n", "yx\n"]}),
            ],
        ),
        SOLVING,
        FAILING,
    ),
    _eval(
        "lean_prover_reward",
        "lean_prover",
        "ground_truth, statement, check_partial_progress=True, verbose=False",
        LEAN,
        PROOFS,
        UNPROVED,
        finding="Lean never runs: `exact banana` gets 0.66",
    ),
    _eval(
        "deepseek_prover_v2_reward",
        "lean_prover",
        "ground_truth, statement, check_subgoals=True, verbose=False",
        LEAN,
        PROOFS,
        UNPROVED,
        finding="Lean never runs: `have h := rfl` and `exact banana` get 0.7",
    ),
)
