"""The configurations in the guides can be read, and the one in docs/run_yaml.md has every setting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.config_file import read

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("run_yaml.md", "runner.md", "guards.md")
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def configurations() -> list[str]:
    """Return the YAML blocks of the guides; incomplete ones get the settings that every file needs."""
    least = "reward: reward.py:reward\nmodel: tiny\ndataset: data.jsonl\n"
    found = [text for page in PAGES for text in YAML.findall((DOCS / page).read_text(encoding="utf-8"))]
    return [text if text.startswith("reward:") else least + text for text in found]


@pytest.mark.parametrize("text", configurations(), ids=lambda text: text.rstrip().rpartition("\n")[2][:30])
def test_each_configuration_can_be_read(text: str, tmp_path: Path) -> None:
    for name in ("reward.py", "data.jsonl", "environment.py"):
        (tmp_path / name).touch()
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    assert read(tmp_path / "run.yaml").reward.path == "reward.py:reward"


def test_the_longest_configuration_has_every_setting() -> None:
    longest = max(configurations(), key=len)
    missing = [name for name in RunConfig.model_fields if name != "base" and f"\n{name}:" not in f"\n{longest}"]
    assert missing == []
