"""Reward names: loading rewards with the constants of their modules."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.check.labels import bound_with, labeled, listed_examples
from rewardkit.tree.loading import load, split

REWARDS = """
import rewardkit as rk
from rewardkit.tree.loading import load  # neither a reward nor of this module

EXAMPLES = [{"answer": "42"}]
GOOD = ["<answer>42</answer>"]
LENIENT_GOOD = ["42"]
WITHOUT = ["picklable"]

def lenient(completions, answer, **kwargs):
    return [float(gold in text) for text, gold in zip(completions, answer)]

def helper(text):
    return text

strict = rk.number("answer", extract=rk.extract.tag("answer"))
again = strict
_hidden = rk.tags("think")
CALLS = 0
"""


@pytest.fixture
def rewards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "loaded_rewards.py"
    path.write_text(REWARDS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield path
    for name in set(sys.modules) - before:
        if name.startswith(("loaded", "rewardkit_loaded", "own_package")):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("rewards.py:closeness", ("rewards.py", "closeness")),
        ("my.rewards:closeness", ("my.rewards", "closeness")),
        ("my.rewards", ("my.rewards", "")),
        ("C:\\rewards.py", ("C:\\rewards.py", "")),
        ("C:\\rewards.py:closeness", ("C:\\rewards.py", "closeness")),
        ("C:/rewards.py", ("C:/rewards.py", "")),
    ],
)
def test_a_target_is_a_source_and_a_name(target: str, expected: tuple[str, str]) -> None:
    assert split(target) == expected


@pytest.mark.parametrize("target", ["rewards.py:", ":closeness"])
def test_half_a_target_is_an_error(target: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"path/to/file\.py:reward"):
        split(target)


def test_a_file_has_each_public_reward_once(rewards: Path) -> None:
    assert [one.name for one in load(str(rewards))] == ["lenient", "strict"]


def test_declarations_are_constants_and_no_rewards(rewards: Path) -> None:
    rewards.write_text(
        f"{REWARDS}IS_CORRECT = lambda completion, example: True\n"
        "LENIENT_OTHER_REWARDS = [strict]\nSTRICT_INVARIANT_TO = ['case']\nMARGIN = 0.5\n"
    )
    lenient, strict = load(str(rewards))
    declared = [bound_with(one).options["declarations"] for one in (lenient, strict)]
    assert [one.margin for one in declared] == [0.5, 0.5]
    assert [one.invariant_to for one in declared] == [(), ("case",)]
    assert [one.other_rewards for one in declared] == [(strict.reward,), ()]
    assert all(one.is_correct("", {}) for one in declared)


def test_constants_for_one_reward_take_precedence(rewards: Path) -> None:
    lenient, strict = load(str(rewards))
    assert lenient.constants == {"examples": [{"answer": "42"}], "good": ["42"], "without": ["picklable"]}
    assert strict.constants["good"] == ["<answer>42</answer>"]


def test_a_name_gives_one_reward_private_or_not(rewards: Path) -> None:
    (found,) = load(f"{rewards}:_hidden")
    assert repr(found.reward) == "tags('think')"


def test_all_says_what_is_public(rewards: Path) -> None:
    rewards.write_text(REWARDS + '\n__all__ = ["_hidden"]\n')
    assert [one.name for one in load(str(rewards))] == ["_hidden"]


def test_a_module_is_found_in_the_working_folder(rewards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rewards.parent)
    assert load("loaded_rewards:lenient")[0].name == "lenient"


def test_a_file_in_a_package_is_imported_as_part_of_it(rewards: Path) -> None:
    package = rewards.parent / "own_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tools.py").write_text("WORTH = 0.5\n")
    (package / "worth.py").write_text(
        "from .tools import WORTH\n\ndef worth(completions):\n    return [WORTH] * len(completions)\n"
    )
    (found,) = load(str(package / "worth.py"))
    assert found.reward(["a"]) == [0.5]
    assert pickle.loads(pickle.dumps(found.reward)) is found.reward


def test_two_files_with_one_name_do_not_mix(rewards: Path) -> None:
    other = rewards.parent / "other" / rewards.name
    other.parent.mkdir()
    other.write_text("def other(completions):\n    return [0.0] * len(completions)\n")
    assert [one.name for one in load(str(rewards))] == ["lenient", "strict"]
    assert [one.name for one in load(str(other))] == ["other"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("no_such_module:reward", "there is no module 'no_such_module'"),
        ("no.such.module", "there is no module"),
        ("{rewards}:lenientt", "Did you mean 'lenient'.*Its rewards: lenient, strict"),
        ("rewardkit.errors", "has no public rewards"),
    ],
)
def test_errors_say_what_to_type(rewards: Path, target: str, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        load(target.format(rewards=rewards))


@pytest.mark.parametrize("code", ["1 / 0", "import no_such_thing", "raise SystemExit(3)", "def"])
def test_a_module_that_cannot_be_imported_says_where(rewards: Path, code: str) -> None:
    rewards.write_text(f"VALUE = 1\n{code}\n")
    with pytest.raises(rk.RewardDefinitionError, match=r"loaded_rewards\.py cannot be imported: .*line"):
        load(str(rewards))


def test_an_error_of_a_definition_names_the_users_line(rewards: Path) -> None:
    rewards.write_text("import rewardkit as rk\n\nreward = rk.exact(3)\n")
    with pytest.raises(rk.RewardDefinitionError, match=r"loaded_rewards\.py, line 3\)"):
        load(str(rewards))


LABELED = """
{"prompt": "a", "answer": "1", "model": "x", "completion": "one", "label": "True"}
{"prompt": "a", "answer": "1", "model": "y", "completion": "two", "label": "False"}
{"prompt": "b", "answer": "2", "model": "x", "completion": "two", "label": "True"}
"""


def test_labels_make_completions_right_and_wrong(tmp_path: Path) -> None:
    path = tmp_path / "labeled.jsonl"
    path.write_text(LABELED)
    found = labeled(rk.exact("answer"), path)
    assert found.options == {
        "examples": [{"prompt": "a", "answer": "1"}, {"prompt": "b", "answer": "2"}],
        "good": [
            {"prompt": "a", "answer": "1", "completion": "one"},
            {"prompt": "b", "answer": "2", "completion": "two"},
        ],
        "bad": [{"prompt": "a", "answer": "1", "completion": "two"}],
    }
    assert (found.prompts, found.used, found.has_labels, found.has_groups) == (2, 2, True, True)


def test_columns_that_a_function_does_not_mention_do_not_split_examples(tmp_path: Path) -> None:
    def contains(completions: list[str], answer: list[str], **kwargs: object) -> list[float]:
        return [float(gold in text) for text, gold in zip(completions, answer, strict=True)]

    path = tmp_path / "labeled.jsonl"
    path.write_text(LABELED)
    assert labeled(contains, path).options["examples"][0] == {"prompt": "a", "answer": "1"}


def test_of_grades_the_highest_is_right(tmp_path: Path) -> None:
    path = tmp_path / "graded.csv"
    path.write_text("prompt,answer,completion,grade\na,1,one,5\na,1,two,3\n")
    options = labeled(rk.exact("answer"), path, "grade").options
    assert [row["completion"] for row in options["good"]] == ["one"]
    assert [row["completion"] for row in options["bad"]] == ["two"]


def test_an_example_per_row_lists_what_is_right_and_wrong(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text('{"answer": "1", "good": "one", "bad": ["two", "three"]}\n{"answer": "2"}\n')
    assert listed_examples(path) == {
        "examples": [{"answer": "1"}, {"answer": "2"}],
        "good": [{"answer": "1", "completion": "one"}],
        "bad": [{"answer": "1", "completion": "two"}, {"answer": "1", "completion": "three"}],
    }


def test_missing_examples_are_an_error_that_says_where_to_write_them(rewards: Path) -> None:
    rewards.write_text(REWARDS.replace('EXAMPLES = [{"answer": "42"}]', ""))
    lenient, strict = load(str(rewards))
    with pytest.raises(rk.RewardDefinitionError, match=r"strict reads answer.*EXAMPLES = .*STRICT_EXAMPLES"):
        bound_with(strict)
    with pytest.raises(rk.RewardDefinitionError, match="lenient reads answer"):
        bound_with(lenient)
    (hidden,) = load(f"{rewards}:_hidden")
    assert bound_with(hidden).options["examples"] == [{}]


def test_a_misspelled_law_is_an_error_before_anything_runs(rewards: Path) -> None:
    (strict,) = load(f"{rewards}:strict")
    with pytest.raises(rk.RewardDefinitionError, match="Did you mean 'total'"):
        bound_with(strict, laws=["totl"])
    assert "picklable" not in [law.name for law in bound_with(strict).laws]
    assert [law.name for law in bound_with(strict, laws=["total", "exploits"]).laws] == ["total", "exploits"]
