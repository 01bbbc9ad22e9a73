"""The pytest plugin: one test per law, a fixture, rewards collected from files, and nothing heavy until it is used."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import rewardkit as rk
from rewardkit.testing import parametrize_with_laws

pytest_plugins = ["pytester"]

REWARDS = """
import rewardkit as rk

EXAMPLES = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
GOOD = ["<answer>42</answer>", "<answer>7</answer>"]
BAD = ["<answer>41</answer>", "<answer>8</answer>"]

def naive(completions, answer, **kwargs):
    return [float(gold in text) for text, gold in zip(completions, answer)]

sound = rk.number("answer", extract=rk.extract.tag("answer"))
"""
LAWS = '["total", "gate_dominance", "gold_above_perturbed_gold"]'
PARAMETRIZED = f"""
from rewardkit.testing import parametrize_with_laws
from rewards import BAD, EXAMPLES, GOOD, naive, sound

@parametrize_with_laws([sound, {{"reward": naive, "id": "mine"}}], examples=EXAMPLES, good=GOOD, bad=BAD, laws={LAWS})
def test_rewards(reward, law):
    law(reward)
"""

HELD = rk.gate(rk.tags("answer"), rk.number("answer"))


@parametrize_with_laws(
    [HELD],
    examples=[{"answer": "42"}],
    good=["<answer>42</answer>"],
    bad=["<answer>41</answer>"],
    laws=["total", "finite", "gate_dominance", "picklable"],
)
def test_a_reward_of_our_own(reward: rk.Reward, law: object) -> None:
    assert callable(law)
    assert reward is HELD
    law(reward)


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    pytester.makepyfile(rewards=REWARDS)
    monkeypatch.syspath_prepend(pytester.path)
    return pytester


def test_each_law_is_a_test_with_a_readable_id(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_rewards=PARAMETRIZED)
    result = folder.runpytest("--strict-markers", "-v", "-rs")
    result.assert_outcomes(passed=3, skipped=2, failed=1)
    result.stdout.fnmatch_lines_random(
        [
            "*test_rewards[[]number('answer', extract=tag('answer'))-total[]] PASSED*",
            "*test_rewards[[]mine-total[]] PASSED*",
            "SKIPPED*no gate*",
        ]
    )


def test_a_broken_law_shows_its_counterexample_and_no_traceback(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_rewards=PARAMETRIZED)
    result = folder.runpytest()
    result.stdout.fnmatch_lines(
        [
            "*mine breaks gold_above_perturbed_gold*",
            "*A policy learns an incorrect answer*",
            "*completion *<answer>*",
            "*answer *'42'*",
            "*reproduce *rk.score(reward, *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*parametrizing.py*Error*")


@pytest.mark.slow
def test_deselected_laws_do_not_run(folder: pytest.Pytester) -> None:
    folder.makepyfile(
        test_rewards=PARAMETRIZED,
        conftest="""
        def pytest_unconfigure(config):
            from rewardkit.check.parametrization import LawCheck
            import gc
            benches = {check.bound for check in gc.get_objects() if isinstance(check, LawCheck)}
            print("RAN", sorted(law for one in benches for law in one._results))
        """,
    )
    result = folder.runpytest_subprocess("-k", "total", "-s")
    result.assert_outcomes(passed=2, deselected=4)
    result.stdout.fnmatch_lines(["RAN ['total', 'total']"])


@pytest.mark.slow
def test_a_test_may_pass_another_reward(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_rewards=PARAMETRIZED.replace("law(reward)", "law(sound)"))
    folder.runpytest().assert_outcomes(passed=4, skipped=2)


def test_a_completion_that_kills_the_process_fails_one_test(folder: pytest.Pytester) -> None:
    folder.makepyfile(
        rewards="""
        import os

        EXAMPLES, GOOD, BAD, LAWS = [{}], ["a"], ["b"], ["finite", "total", "bounded"]

        def dies(completions):
            if "" in completions:
                os._exit(3)
            return [float(completion == "a") for completion in completions]
        """
    )
    result = folder.runpytest("--rewardkit", "rewards.py", "-rs")
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(["*scoring ended the whole process*"])


def test_misuse_is_explained_at_collection(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_rewards=PARAMETRIZED.replace('"total"', '"totl"'))
    result = folder.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*unknown law 'totl'. Did you mean 'total'?*"])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (HELD, {}, "pass a list of rewards"),
        ([], {}, "at least one reward"),
        ([{"good": []}], {}, 'add a "reward"'),
        ([HELD], {"exampels": []}, "has no option 'exampels'. Did you mean 'examples'"),
        ([HELD], {"rankings": []}, "pass declarations=Declarations(rankings=...)"),
        ([HELD], {"laws": "total"}, "in brackets"),
        ([HELD], {"without": ["totl"]}, "Did you mean 'total'"),
    ],
)
def test_misuse_is_a_definition_error(arguments: list[object], options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=re.escape(message)):
        parametrize_with_laws(arguments, **options)  # type: ignore[arg-type]


def test_the_fixture_fails_with_the_report(folder: pytest.Pytester) -> None:
    folder.makepyfile(
        test_rewards=f"""
        import pytest
        from rewards import BAD, EXAMPLES, GOOD, naive, sound

        @pytest.mark.rewardkit(laws={LAWS})
        def test_naive(check_reward):
            check_reward(naive, examples=EXAMPLES, good=GOOD, bad=BAD)

        @pytest.mark.rewardkit(laws={LAWS}, seed=3)
        def test_sound(check_reward):
            report = check_reward(sound, examples=EXAMPLES, good=GOOD, bad=BAD)
            assert (report.seed, len(report.results)) == (3, 3)
        """
    )
    result = folder.runpytest("--strict-markers")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*BROKEN *gold_above_perturbed_gold*"])
    result.stdout.no_fnmatch_line("*def test_naive*")


def test_every_public_reward_of_a_file_is_collected(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_other="def test_other(): pass")
    result = folder.runpytest("--rewardkit", "rewards.py", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["rewards.py::naive::exploits", "rewards.py::naive::total", "rewards.py::sound::total"])
    result.stdout.no_fnmatch_line("*test_other*")
    both = folder.runpytest("--rewardkit", "rewards:sound", "test_other.py", "--collect-only", "-q")
    both.stdout.fnmatch_lines_random(["test_other.py::test_other", "rewards.py::sound::total"])
    both.stdout.no_fnmatch_line("*naive*")


def test_collected_rewards_are_held_to_the_laws(folder: pytest.Pytester) -> None:
    result = folder.runpytest("--rewardkit", "rewards.py", "-k", "total or gold_above", "-m", "rewardkit")
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"]) == (3, 1)
    result.stdout.fnmatch_lines(["*naive breaks gold_above_perturbed_gold*"])


def test_completions_come_from_a_file(folder: pytest.Pytester) -> None:
    folder.makepyfile(rewards='import rewardkit as rk\nright = rk.exact("answer")\nLAWS = ["gold_gets_the_maximum"]\n')
    data = folder.makefile(".jsonl", data='{"answer": "a", "completion": "b", "label": true}')
    result = folder.runpytest("--rewardkit", "rewards.py", "--rewardkit-data", str(data), "--rewardkit-seed", "5")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*completion *'b'*"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("nowhere.py", "*there is no file nowhere.py*"),
        ("broken.py", "*broken.py cannot be imported: ZeroDivisionError*"),
        ("bare.py", "*right: it reads answer, but has no examples*"),
    ],
)
def test_collection_errors_say_why(folder: pytest.Pytester, option: str, message: str) -> None:
    folder.makepyfile(broken="1 / 0", bare='import rewardkit as rk\nright = rk.exact("answer")\n')
    result = folder.runpytest("--rewardkit", option)
    assert result.ret != 0
    assert any(re.search(re.escape(message.strip("*")), line) for line in [*result.outlines, *result.errlines])


def test_the_plugin_loads_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            heavy = {"numpy", "pydantic", "hypothesis", "rich", "rewardkit.tree", "rewardkit.check.check"}
            assert not heavy & set(sys.modules)
            assert "rewardkit.check.pytest" in sys.modules
        """
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", str(pytester.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
