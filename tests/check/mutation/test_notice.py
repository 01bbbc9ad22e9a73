"""Who notices a bug: the given completions, none of them, or nobody, because it changes nothing."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from rewardkit.check.labels import bound_with
from rewardkit.check.mutants.mutants import mutants
from rewardkit.check.mutants.notice import Noticed, noticed
from rewardkit.cli.main import main
from rewardkit.errors import RewardDefinitionError
from rewardkit.tree.loading import survey

REWARD = """
    import re

    def correct(completions, answer, **kwargs):
        return [one(text, gold) for text, gold in zip(completions, answer)]

    def one(text, gold):
        found = re.search(r"<answer>(.*?)</answer>", text, re.DOTALL)
        return float(found is not None and found.group(1).strip() == gold)

    EXAMPLES = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
    GOOD = ["<answer>42</answer>", "<answer>7</answer>"]
    BAD = ["<answer>41</answer>", "<answer>8</answer>"]
"""


def tried(path: Path, source: str, operator: str, name: str = "correct") -> Noticed:
    text = textwrap.dedent(source)
    path.write_text(text)
    [loaded] = [one for one in survey(f"{path}:{name}") if one.name == name]
    return noticed(bound_with(loaded), mutants(text, of=name, operators=[operator]))


@pytest.mark.slow
def test_a_bug_that_given_completions_show_is_noticed(tmp_path: Path) -> None:
    found = tried(tmp_path / "noticed.py", REWARD, "first_gold")
    assert [one.fate for one in found.verdicts] == ["noticed", "noticed"]  # all in one batch, in any order
    assert all(one.flips for one in found.verdicts)


def test_a_bug_that_they_do_not_show_is_missed_with_a_completion_that_would(tmp_path: Path) -> None:
    found = tried(tmp_path / "missed.py", REWARD, "dropped_flag")
    [missed] = found.of("missed")
    assert missed.flips
    assert missed.shown is not None
    assert "\n" in missed.shown.completion
    said = str(found)
    assert "re.DOTALL -> 0" in said
    assert "scores 0, not 1" in said

    taught = REWARD.replace('GOOD = ["<answer>42</answer>"', 'GOOD = ["<answer>\\n42\\n</answer>"')
    assert [one.fate for one in tried(tmp_path / "taught.py", taught, "dropped_flag").verdicts] == ["noticed"]


def test_a_reward_may_write_bytes_to_stdout(tmp_path: Path) -> None:
    writing = REWARD.replace("import re", "import re, sys").replace(
        "def one(text, gold):", 'def one(text, gold):\n        sys.stdout.buffer.write(b"\\x80")'
    )
    found = tried(tmp_path / "writing.py", writing, "dropped_flag")
    assert [one.fate for one in found.verdicts] == ["missed"]


def test_a_change_without_effect_is_no_bug(tmp_path: Path) -> None:
    source = REWARD.replace("float(found", "max(float(found").replace("== gold)", "== gold), -1.0)")
    assert [one.fate for one in tried(tmp_path / "same.py", source, "unlimited").verdicts] == ["unchanged"]


@pytest.mark.slow
def test_a_mutant_that_hangs_or_dies_ends_itself_alone(tmp_path: Path) -> None:
    source = REWARD.replace('r"<answer>(.*?)</answer>"', 'r"<answer>([a-z0-9]+)</answer>"')
    hanging = source.replace(
        "def one(text, gold):", "def one(text, gold):\n        n = 1\n        while n < len(text): n = n + n"
    )
    path = tmp_path / "hanging.py"
    [lost, *_] = tried(path, hanging, "lost_term").verdicts
    assert lost.fate == "noticed"
    assert "took more than" in lost.said


def test_nothing_can_notice_without_right_and_wrong_ones(tmp_path: Path) -> None:
    with pytest.raises(RewardDefinitionError, match="GOOD and BAD"):
        tried(tmp_path / "lacking.py", REWARD.split("    BAD")[0], "dropped_flag")


@pytest.mark.slow
def test_the_command_says_what_the_examples_miss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "of_command.py"
    path.write_text(textwrap.dedent(REWARD))
    assert main(["check", f"{path}:correct", "--mutants", "--laws", "total"]) == 0
    out = capsys.readouterr().out
    assert "mutants, each with one ordinary bug" in out
    assert "re.DOTALL -> 0" in out
