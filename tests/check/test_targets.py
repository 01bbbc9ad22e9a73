"""Targets: each candidate of a file is checked or left out with the reason, at the command line and in pytest."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.run.isolation import can_isolate
from rewardkit.check.run.targets import LeftOut, targets_of
from rewardkit.cli.main import main
from rewardkit.tree.loading import load

pytest_plugins = ["pytester"]
Captured = pytest.CaptureFixture[str]

GIST = """
import re
import rewardkit as rk

EXAMPLES = [
    {"prompt": [{"role": "system", "content": "Think."}, {"role": "user", "content": "6*7?"}], "answer": "42"},
    {"prompt": [{"role": "system", "content": "Think."}, {"role": "user", "content": "3+4?"}], "answer": "7"},
]
GOOD = ["<reasoning>\\nx\\n</reasoning>\\n<answer>\\n42\\n</answer>", "<answer>\\n7\\n</answer>"]
BAD = ["<answer>\\n41\\n</answer>", "<answer>\\n8\\n</answer>"]
LAWS = ["gold_gets_the_maximum", "gold_above_perturbed_gold"]

def extract_answer(text: str) -> str:
    return text.split("<answer>")[-1].split("</answer>")[0].strip()

def correctness_reward_func(prompts, completions, answer, **kwargs) -> list[float]:
    responses = [completion[0]["content"] for completion in completions]
    print("-" * 20, f"Question:\\\\n{prompts[0][-1]['content']}")
    return [2.0 if extract_answer(r) == a else 0.0 for r, a in zip(responses, answer)]

def lenient_reward_func(completions, answer, **kwargs):
    return [float(gold in completion[0]["content"]) for completion, gold in zip(completions, answer)]

def contents(completions):
    return [completion[0]["content"] for completion in completions]

@rk.reward
def decorated(messages: list, answer: str) -> float:
    return float(extract_answer(messages[0]["content"]) == answer)

reward_funcs = [correctness_reward_func, decorated]
"""
ONE_BY_ONE = """
EXAMPLES = [{"prompt": "6*7?", "answer": "42", "tests": [1]}, {"prompt": "3+4?", "answer": "7", "tests": [2]}]
GOOD = ["<answer>42</answer>", "<answer>7</answer>"]
BAD = ["<answer>41</answer>", "<answer>8</answer>"]
LAWS = ["total", "gold_gets_the_maximum", "separates_good_from_bad"]

def service(prompt, completion, example):
    import ast
    tests = ast.literal_eval(example["tests"])
    return float(completion == f"<answer>{float(example['answer']):.0f}</answer>") * len(tests)

def bare(completion, answer):
    return float(completion == f"<answer>{answer}</answer>")

def typed(completion: str) -> str:
    return completion

def untyped(completion):
    return completion.split("<answer>")[-1]

def needy(completion, language):
    return 0.0

both = [service, bare]
"""
NEEDY = """
def of_tests(completions, tests, **kwargs):
    return [0.0 for _ in completions]

def of_info(completions, **kwargs):
    return [float(info in text) for text, info in zip(completions, kwargs["info"])]
"""


pytestmark = pytest.mark.skipif(not can_isolate(), reason="without a fork, no function is called to see what it is")


@pytest.fixture
def gist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "gist_rewards", raising=False)
    path = tmp_path / "gist_rewards.py"
    path.write_text(GIST)
    return path


@pytest.mark.slow
def test_the_command_lists_every_candidate(gist: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["check", str(gist), "--json", str(tmp_path / "report.json")]) == 1
    out = capsys.readouterr().out
    head = out.split("\n\n")[0]
    assert [line.split(None, 1) for line in head.splitlines()[1:5]] == [
        ["correctness_reward_func", "TRL function"],
        ["lenient_reward_func", "TRL function"],
        ["decorated", "reward"],
        ["reward_funcs", "list of rewards"],
    ]
    assert "5 candidates, 4 to check" in head
    assert "A candidate is" in head
    assert "extract_answer" not in head
    assert re.search(r"\n  contents +excluded: it returned .* \(str\), not scores\n", head)
    assert out.count("Question:") <= 2 * 3  # three sample lines of two rewards
    verdicts = dict(line.split(None, 1) for line in out.splitlines()[-5:])
    assert verdicts["correctness_reward_func"].startswith("sound: 2 held")
    assert verdicts["lenient_reward_func"].startswith("BROKEN")
    assert verdicts["reward_funcs"].startswith("sound")
    assert verdicts["contents"].startswith("not checked: it returned")
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in report["left_out"]] == ["contents"]
    assert [one["title"] for one in report["rewards"]] == list(verdicts)[:-1]
    assert report["rewards"][-1]["components"] == []  # each of them is checked as a candidate


@pytest.mark.slow
def test_a_reward_whose_column_is_missing_is_named_and_the_others_are_checked(gist: Path, capsys: Captured) -> None:
    gist.write_text(GIST + NEEDY)
    found = targets_of(str(gist))
    assert [one.name for one in found.bound] == [
        "correctness_reward_func",
        "lenient_reward_func",
        "decorated",
        "reward_funcs",
    ]
    reasons = {one.name: one for one in found.left_out}
    assert reasons["of_tests"].certain
    assert "'tests'" in reasons["of_tests"].reason
    assert reasons["of_info"] == LeftOut("of_info", "it reads the column 'info', which the examples do not have", True)
    assert not reasons["contents"].certain
    assert main(["check", str(gist), "--laws", "gold_gets_the_maximum"]) == 2  # no fault, but two were not checked
    assert "of_tests" in capsys.readouterr().out.splitlines()[-2]


def test_a_list_of_candidates_does_not_repeat_their_findings(gist: Path, capsys: Captured) -> None:
    gist.write_text(GIST.replace("[correctness_reward_func, decorated]", "[lenient_reward_func, lenient_reward_func]"))
    assert main(["check", str(gist), "--laws", "gold_above_perturbed_gold"]) == 1
    out = capsys.readouterr().out
    assert "as shown for its items" in out
    assert "Its items are checked by themselves" in out
    verdicts = dict(line.split(None, 1) for line in out.splitlines()[-5:])
    assert verdicts["reward_funcs"].startswith("BROKEN: 1 law as shown before, 0 held")
    assert out.count("reproduce ") == 1
    assert out.count("also ") == int(verdicts["lenient_reward_func"].split()[1]) - 1


def test_functions_of_one_completion(gist: Path, capsys: Captured) -> None:
    gist.write_text(ONE_BY_ONE)
    assert main(["check", str(gist)]) == 0  # no reward beyond doubt was left out
    out = capsys.readouterr().out
    verdicts = dict(line.split(None, 1) for line in out.splitlines()[-6:])
    for name in ("service", "bare", "both"):
        assert verdicts[name].startswith("sound: 3 held"), out
    assert verdicts["typed"] == "not checked: it returns str, not a score"
    assert "(str)" in verdicts["untyped"]
    assert "'language'" in verdicts["needy"]


def test_a_reward_asked_for_by_name_must_be_checkable(gist: Path) -> None:
    gist.write_text(GIST + NEEDY)
    assert [one.name for one in targets_of(f"{gist}:contents").bound] == ["contents"]
    with pytest.raises(rk.RewardDefinitionError, match="Did you mean 'of_tests'"):
        targets_of(f"{gist}:of_test")


def test_nothing_to_check_says_what_a_candidate_is(gist: Path) -> None:
    gist.write_text("EXAMPLES = [{}]\ndef extract(text):\n    return text\n")
    with pytest.raises(rk.RewardDefinitionError, match=r"no variable is a candidate\. A candidate is"):
        targets_of(str(gist))
    gist.write_text("EXAMPLES = [{}]\ndef _hidden(completions):\n    return []\n")
    del sys.modules["gist_rewards"]
    with pytest.raises(rk.RewardDefinitionError, match="_hidden: its name starts with _"):
        targets_of(str(gist))
    gist.write_text("EXAMPLES = [{}]\n" + NEEDY)
    del sys.modules["gist_rewards"]
    with pytest.raises(rk.RewardDefinitionError, match=r"nothing to check.*of_tests: .*'tests'"):
        targets_of(str(gist))


@pytest.mark.slow
def test_pytest_checks_and_skips_the_same(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(rewards=GIST)
    result = pytester.runpytest("--rewardkit", "rewards.py", "-rs", "-v")
    result.assert_outcomes(passed=7, failed=1, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "*correctness_reward_func::gold_gets_the_maximum PASSED*",
            "*reward_funcs::gold_above_perturbed_gold PASSED*",
            "*lenient_reward_func::gold_above_perturbed_gold FAILED*",
            "SKIPPED*not checked: it returned*(str)*",
        ]
    )
    result.stdout.no_fnmatch_line("*extract_answer*")


def test_pytest_fails_on_a_reward_that_cannot_be_checked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(rewards=GIST + NEEDY)
    result = pytester.runpytest("--rewardkit", "rewards.py", "-k", "of_ or contents")
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines_random(["*not checked: it reads the column 'info'*"])


UNCHANGED = """
def exact_answer(completions, gold, **kwargs):
    return [float(one[0]["content"] == answer) for one, answer in zip(completions, gold)]


def short(completions, **kwargs):
    return [-min(1.0, len(one[0]["content"]) / 10_000) for one in completions]


def by_difficulty(completions, **kwargs):
    return [float(level) for level in kwargs["level"]]
"""


def test_an_unchanged_file_is_checked_as_far_as_it_can_be(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "unchanged_rewards.py"
    file.write_text(UNCHANGED)
    assert main(["check", str(file), "--laws", "total,finite"]) == 2
    out = capsys.readouterr().out
    assert "3 candidates, 1 to check" in out
    assert re.search(r"short +no fault found, but little was judged .*: 2 held", out)
    assert "exact_answer   excluded: it reads gold, but has no examples" in out
    stub = "\n".join(line for line in out.splitlines() if line.startswith(("EXAMPLES", "GOOD", "BAD")))
    names: dict[str, Any] = {}
    exec(stub, names)
    assert set(names["EXAMPLES"][0]) == {"prompt", "gold"}
    assert len(names["GOOD"]) == len(names["BAD"]) == 1


@pytest.mark.parametrize(
    ("code", "prompt"),
    [
        ("[float(gold in text) for text, gold in zip(completions, answer)]", "..."),
        ("[float(gold in one[0]['content']) for one, gold in zip(completions, answer)]", [{"role": "user"}]),
        ("[float(gold in text(one)) for one, gold in zip(completions, answer)]", [{"role": "user"}]),
        ("[float(gold in helpers.last(one)) for one, gold in zip(completions, answer)]", [{"role": "user"}]),
    ],
)
def test_examples_to_paste_have_the_prompts_that_the_function_reads(
    gist: Path, capsys: Captured, code: str, prompt: Any
) -> None:
    function = f"def contains(completions, answer, **kwargs):\n    return {code}\n"
    (gist.parent / "helpers.py").write_text("def last(messages):\n    return messages[-1]['content']\n")
    gist.write_text(f"import helpers\n\n\ndef text(one):\n    return one[0].get('content', '')\n\n\n{function}")
    assert main(["check", str(gist)]) == 2
    err = capsys.readouterr().err
    assert "To check contains, write" in err
    names: dict[str, Any] = {}
    exec("\n".join(line for line in err.splitlines() if line.startswith(("EXAMPLES", "GOOD", "BAD"))), names)
    (example,) = names["EXAMPLES"]
    assert set(example) == {"prompt", "answer"}
    assert type(example["prompt"]) is type(prompt)


def test_lists_without_capitals_are_named(gist: Path, capsys: Captured) -> None:
    function = "def contains(completions, answer, **kwargs):\n    return [float(gold in answer) for gold in answer]\n"
    gist.write_text(function + 'examples = [{"prompt": "6*7?", "answer": "42"}]\ngood = ["42"]\nneighborhood = ["x"]\n')
    assert main(["check", str(gist)]) == 2
    err = capsys.readouterr().err
    assert "Write examples as EXAMPLES, good as GOOD." in err
    assert "EXAMPLES = " not in err
    assert main(["check", f"{gist}:contains"]) == 2
    assert "Write examples as EXAMPLES" in capsys.readouterr().err
    gist.write_text(function + 'EXAMPLES = [{"prompt": "6*7?", "answer": "42"}]\ncontains_good = ["42"]\n')
    del sys.modules["gist_rewards"]
    assert targets_of(str(gist)).misnamed == ("contains_good",)


def test_functions_of_one_module_are_a_list_to_each_other(tmp_path: Path) -> None:
    file = tmp_path / "three_rewards.py"
    file.write_text(UNCHANGED.replace("by_difficulty", "_hidden") + 'EXAMPLES = [{"gold": "42"}]\n')
    bound = {one.name: one for one in targets_of(str(file)).bound}
    assert [one.__name__ for one in bound["short"].options["declarations"].other_rewards] == ["exact_answer"]


IMPORTING = {
    "plain": "from called_{0} import exact, extract\n",
    "training": (
        "from trl import GRPOTrainer\nfrom called_{0} import exact, extract\n"
        "GRPOTrainer(reward_funcs=[exact]).train()\n"
    ),
}


@pytest.mark.parametrize("kind", IMPORTING)
def test_a_file_that_only_imports_its_rewards(tmp_path: Path, kind: str) -> None:
    functions = "def exact(completions, answer, **kwargs):\n    return [1.0 for _ in completions]\n"
    helper = "def extract(completion: str) -> str:\n    return completion\n"
    examples = 'EXAMPLES = [{"answer": "42"}]\nGOOD = ["42"]\n'
    (tmp_path / f"called_{kind}.py").write_text(functions + helper + examples)
    file = tmp_path / f"imports_{kind}.py"
    file.write_text(IMPORTING[kind].format(kind) + 'GOOD = ["It is 42"]\n')
    targets = targets_of(str(file))
    (bound,) = targets.bound
    assert (bound.name, bound.options["good"]) == ("exact", ["It is 42"])
    assert {candidate.name: candidate.reason for candidate in targets.left_out} == {
        "extract": "it returns str, not a score"
    }
    assert [loaded.name for loaded in load(str(file))] == ["exact"]


@pytest.mark.slow
def test_bugs_are_inserted_where_an_imported_reward_is_defined(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "defined_beside.py").write_text(
        "def exact(completions, answer, **kwargs):\n"
        "    return [float(text == gold) for text, gold in zip(completions, answer)]\n"
    )
    file = tmp_path / "imports_for_bugs.py"
    file.write_text('from defined_beside import exact\nEXAMPLES = [{"answer": "42"}]\nGOOD = ["42"]\nBAD = ["41"]\n')
    assert main(["check", str(file), "--laws", "total", "--mutants", "--budget", "5"]) == 0
    assert re.search(r"exact: [1-9]\d* mutants", capsys.readouterr().out)


def test_a_file_with_rewards_leaves_out_the_imported_ones(tmp_path: Path) -> None:
    (tmp_path / "lengths_beside.py").write_text(
        "def size(completions, **kwargs):\n    return [0.0 for _ in completions]\n"
    )
    file = tmp_path / "answers_beside.py"
    file.write_text(
        "from lengths_beside import size\ndef exact(completions, **kwargs):\n    return [0.0 for _ in completions]\n"
        "EXAMPLES = [{}]\n"
    )
    targets = targets_of(str(file))
    assert [bound.name for bound in targets.bound] == ["exact"]
    assert [(one.name, one.reason) for one in targets.left_out] == [("size", "imported from lengths_beside")]
