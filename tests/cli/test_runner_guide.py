"""docs/runner.md agrees with the code: its configurations can be read, and it quotes the commands' help exactly.

``python tests/cli/test_runner_guide.py`` writes the help again.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from rewardkit.cli.main import parser
from rewardkit_runner.configuration.config import RunConfig
from rewardkit_runner.configuration.reader import read

GUIDE = Path(__file__).parents[2] / "docs" / "runner.md"
PART = re.compile(r"(<!-- generated: (\w+) -->)\n(.*?)\n(<!-- end -->)", re.DOTALL)
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def help_of(verb: str) -> str:
    verbs = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    chosen = verbs.choices[verb]
    chosen.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=110)
    # The wording of usage lines differs between versions of Python; the options do not.
    text = chosen.format_help().partition("\n\n")[2]
    return f"```console\n$ rewardkit {verb} --help\n{text.rstrip()}\n```"


def as_it_should_be(text: str) -> str:
    return PART.sub(lambda found: f"{found[1]}\n\n{help_of(found[2])}\n\n{found[4]}", text)


def configurations() -> list[str]:
    """Return the YAML blocks of the guide; incomplete ones get the settings that every file needs."""
    least = "reward: reward.py:reward\nmodel: tiny\ndataset: data.jsonl\n"
    found = YAML.findall(GUIDE.read_text(encoding="utf-8"))
    return [text if text.startswith("reward:") else least + text for text in found]


def test_the_guide_quotes_the_current_help() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert text == as_it_should_be(text), "run: python tests/cli/test_runner_guide.py"


@pytest.mark.parametrize("text", configurations(), ids=lambda text: text.rstrip().rpartition("\n")[2][:30])
def test_each_configuration_can_be_read(text: str, tmp_path: Path) -> None:
    for name in ("reward.py", "data.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    assert read(tmp_path / "run.yaml").reward == "reward.py:reward"


def test_the_longest_configuration_has_every_setting() -> None:
    longest = max(configurations(), key=len)
    missing = [name for name in RunConfig.model_fields if name != "base" and f"\n{name}:" not in f"\n{longest}"]
    assert missing == []


if __name__ == "__main__":
    GUIDE.write_text(as_it_should_be(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
