"""Mutants: each operator makes its bug, every mutant is one change that compiles, and loads as a reward of its own."""

from __future__ import annotations

import difflib
import importlib
import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.mutants.operators import ALL, OF_REWARDS, OF_SOLUTIONS
from rewardkit.errors import RewardDefinitionError
from rewardkit.testing import mutants
from tests.public_rewards.lists import LISTS

MADE = {
    "dropped_flag": ("re.findall('a.b', text, re.S | re.I)", ["re.I", "re.S"]),
    "searched": ("re.fullmatch('a', text)", ["re.search"]),
    "greedy": (r"re.findall(r'<a>(.*?)</a>', text)", [r"r'<a>(.*)</a>'"]),
    "lost_sign_in_pattern": (r"re.findall(r'-?\d+', text)", [r"r'\d+'"]),
    "lost_anchor": (r"re.search(r'^\d+\Z', text)", [r"r'\d+\Z'", r"r'^\d+'"]),
    "lost_separator": (r"re.findall(r'[\d,]+', text)", [r"r'[\d]+'"]),
    "endless_pattern": (r"re.findall(r'\d+', text)", [r"r'(?:\d+)+x?'"]),
    "first_for_last": ("text.split('a')[-1]", ["text.split('a')[0]"]),
    "shifted_index": ("match.group(1)", ["match.group(0)"]),
    "contained": ("text == answer", ["(answer in text)", "(text in answer)"]),
    "lost_cleaning": ("text.strip().lower()", ["text.strip()", "text"]),
    "lost_split": ("text.split('</think>')[-1]", ["text"]),
    "half_a_mark": ("text.count('</answer>')", ["'<answer>'", "'answer'"]),
    "evaluated": ("float(text)", ["float(eval(str(text)))"]),
    "negated": ("1.0 if text else 0.0", ["(not (text))"]),
    "lost_condition": ("a and b", ["(b)", "(a)", "(a or b)"]),
    "shifted_boundary": ("a < b", ["(a <= b)"]),
    "any_number_of": ("text.count('a') == 1", ["(text.count('a') >= 1)"]),
    "wrong_tolerance": ("abs(a - b) < 1e-3", ["(abs(a - b) < 1e-3 * 10_000)"]),
    "lost_absolute_value": ("abs(a - b) < 1e-3", ["(a - b)"]),
    "unlimited": ("min(a, 1.0)", ["(a)"]),
    "wrong_aggregation": ("all(checks)", ["any"]),
    "lost_term": ("a + b", ["(a)", "(b)"]),
    "wrong_sign": ("a - b", ["(a + b)"]),
    "swapped_arguments": ("verify(gold, found)", ["verify(found, gold)"]),
    "other_operator": ("a // b", ["(a * b)"]),
    "other_comparison": ("a in b", ["(a not in b)"]),
    "nudged_number": ("range(3)", ["(4)", "(2)"]),
    "lost_step": ("sorted(a)", ["list(a)"]),
}
"""By operator: an expression, and what it may become."""

STATEMENTS = {
    "lost_guard": ("    if not completions: return []", ["pass"]),
    "paid_error": ("    try: pass\n    except ValueError: return 0.0", ["return 1.0"]),
    "wrong_case": ("    return 0.0", ["1.0"]),
    "best_for_all": ("    return scores", ["return (lambda scores: [max(scores)] * len(scores))(list(scores))"]),
    "sorted_scores": ("    return scores", ["return sorted(scores)"]),
    "first_gold": (
        "    return [c == a for c, a in zip(completions, answer)]",
        ["[answer[0]] * len(answer)", "[*answer[1:], *answer[:1]]"],
    ),
    "wrong_column": ("    return answer", ["completions", "unit"]),
    "kept_between_calls": ("    scores = []", ["globals().setdefault('_kept_2', [])"]),
    "echoed_prompt": (
        "    return [c == a for c, a in zip(completions, answer)]",
        ["[f'{prompt} {text}' for prompt, text in zip(kwargs['prompts'], completions)]"],
    ),
    "nothing_returned": ("    return scores", ["return None"]),
    "lost_case": ("    for a in b:\n        if a: continue", ["False", "break"]),
}


def made(operator: str, body: str) -> list[str]:
    source = f"def reward(completions, answer, unit, **kwargs):\n{body}\n"
    return [one.after for one in mutants(source, operators=[operator])]


@pytest.mark.parametrize("operator", MADE)
def test_an_operator_changes_an_expression(operator: str) -> None:
    expression, expected = MADE[operator]
    assert made(operator, f"    value = {expression}") == expected


@pytest.mark.parametrize("operator", STATEMENTS)
def test_an_operator_changes_a_statement(operator: str) -> None:
    body, expected = STATEMENTS[operator]
    assert made(operator, body) == expected


def test_every_operator_is_tried_here_and_says_its_fault() -> None:
    assert {*MADE, *STATEMENTS, "remembered", "shared_by_threads"} == set(ALL)
    for operator in ALL.values():
        assert operator.__doc__


def test_faults_of_solutions_are_no_faults_of_rewards_unless_asked_for() -> None:
    made = mutants("def reward(completions): return [len(text) // 2 for text in completions]")
    assert {one.operator for one in made}.isdisjoint(set(OF_SOLUTIONS) - set(OF_REWARDS))


@pytest.mark.parametrize("module", LISTS.values(), ids=LISTS)
def test_each_mutant_is_one_small_change(module: ModuleType) -> None:
    source = inspect.getsource(module)
    made = mutants(source)
    assert len(made) > 40
    assert len({one.source for one in made}) == len(made)
    for one in made:
        compile(one.source, "<mutant>", "exec")
        changed = [line for line in difflib.ndiff(source.splitlines(), one.source.splitlines()) if line[0] in "+-"]
        assert 0 < len(changed) <= 2 * (one.before.count("\n") + 2)
        assert one.before in source
        assert str(one).startswith(f"line {one.line}: {one.operator}: ")


def test_a_function_is_changed_with_what_it_uses_and_nothing_else() -> None:
    source = (
        "def helper(text): return text.strip()\n"
        "def other(text): return text.lower()\n"
        "def reward(completions, **kwargs): return [float(helper(c) == 'a') for c in completions]\n"
    )
    lines = {one.line for one in mutants(source, of="reward")}
    assert lines == {1, 3}
    assert {one.line for one in mutants(source)} == {1, 2, 3}


def test_examples_tests_and_annotations_are_left_alone() -> None:
    source = (
        '"""Not this."""\n'
        'GOOD = ["a" + "b"]\n'
        "REWARD_BAD = [1 + 1]\n"
        "def test_it(): assert 1 + 1 == 2\n"
        'def reward(text: "1 + 1") -> "1 + 1":\n'
        '    """Return "a" + "b"."""\n'
        '    return f"{1 + 1}"\n'
        'if __name__ == "__main__": print(1 + 1)\n'
    )
    assert mutants(source) == []


def test_a_mutant_is_a_reward_of_its_own() -> None:
    from tests.public_rewards import gsm8k_gist

    [mutant] = [one for one in mutants(gsm8k_gist.int_reward_func, operators=["wrong_case"]) if one.before == "0.0"]
    completions = [[{"role": "assistant", "content": "<answer>x</answer>"}]]
    assert gsm8k_gist.int_reward_func(completions) == [0.0]
    assert mutant.load("int_reward_func")(completions) == [1.0]
    assert gsm8k_gist.int_reward_func(completions) == [0.0]
    assert mutant.fault == ALL["wrong_case"].__doc__
    assert inspect.getsource(mutant.load("int_reward_func")).startswith("def int_reward_func")


def test_a_mutant_imports_from_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "package_of_a_mutant"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "helpers.py").write_text("PAY = 1.0\n")
    source = (
        "from .helpers import PAY\ndef reward(completions): return [PAY if text else 0.0 for text in completions]\n"
    )
    (folder / "rewards.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    [mutant] = mutants(source, operators=["negated"], path=str(folder / "rewards.py"))
    assert mutant.load("reward")(["a", ""]) == [0.0, 1.0]
    original = importlib.import_module("package_of_a_mutant.rewards")
    assert original.reward(["a", ""]) == [1.0, 0.0]


def test_a_mutant_of_a_bare_text_leaves_inspect_alone() -> None:
    source = "def reward(completions):\n    return [1.0 if text else 0.0 for text in completions]\n"
    [mutant] = mutants(source, operators=["negated"])
    assert mutant.load("reward")(["a", ""]) == [0.0, 1.0]
    assert inspect.getmodule(compile("1", "of no module", "eval")) is None


def test_a_cache_that_forgets_the_question_pays_another_one() -> None:
    source = "def reward(completions, answer):\n    return [float(c == a) for c, a in zip(completions, answer)]\n"
    [mutant] = mutants(source, operators=["remembered"])
    reward = mutant.load("reward")
    assert reward(["4"], ["4"]) == [1.0]
    assert reward(["4"], ["5"]) == [1.0]
    assert mutant.load("reward")(["4"], ["5"]) == [0.0]


def test_a_list_that_lives_on_has_the_scores_of_the_batch_before() -> None:
    source = (
        "def reward(completions):\n    scores = []\n    for text in completions:\n"
        "        scores.append(float(bool(text)))\n    return scores\n"
    )
    [mutant] = mutants(source, operators=["kept_between_calls"])
    reward = mutant.load("reward")
    assert reward([""]) == [0.0]
    assert reward(["a"]) == [0.0, 1.0]


def test_a_prompt_that_is_scored_too_pays_its_example() -> None:
    source = (
        "def reward(completions, answer, **kwargs):\n    return [float(a in c) for c, a in zip(completions, answer)]\n"
    )
    [mutant] = mutants(source, operators=["echoed_prompt"])
    assert mutant.load("reward")(["?"], answer=["5"], prompts=["2 + 3, as in 1 + 4 = 5"]) == [1.0]


def test_two_threads_share_the_scores() -> None:
    source = "def reward(completions):\n    return [float(bool(text)) for text in completions]\n"
    [mutant] = mutants(source, operators=["shared_by_threads"])
    reward = mutant.load("reward")
    assert reward(["a"]) == [1.0]
    with ThreadPoolExecutor(8) as pool:
        rounds = [list(pool.map(reward, [["a"], [""]] * 40)) for _ in range(5)]
    assert any(found != [[1.0], [0.0]] * 40 for found in rounds)


def test_what_cannot_be_changed_is_said() -> None:
    with pytest.raises(RewardDefinitionError, match="greedy"):
        mutants("x = 1", operators=["greed"])
    with pytest.raises(RewardDefinitionError, match="not valid Python"):
        mutants("def")
    with pytest.raises(RewardDefinitionError, match="has no source"):
        mutants(len)


@given(st.text(max_size=20), st.sampled_from(["strip", "lower"]))
def test_places_are_right_in_any_text(text: str, method: str) -> None:
    source = f"a = {text!r}; b = ({text!r}.{method}())  # {text.encode('unicode_escape').decode()} ü\n"
    [mutant] = mutants(source, operators=["lost_cleaning"])
    assert mutant.source == source.replace(f"({text!r}.{method}())", f"({text!r})")
