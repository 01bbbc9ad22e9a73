"""The functions that help to write error messages: values cut short, similar names, factories."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.errors import hashable, is_factory, near_miss, shorten, shorten_line, worth_reporting


class Broken:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1, "1"),
        ("a", "'a'"),
        ("a" * 12, "'aaaaaaaaaa'... (12 characters)"),
        ([1, 2, 3, 4, 5], "[1, 2, 3, ... (15 characters)"),
        (Broken(), "<Broken wh... (37 characters)"),
    ],
)
def test_values_are_cut_with_their_length(value: object, shown: str) -> None:
    assert shorten(value, 10) == shown


def test_long_lines_keep_both_ends() -> None:
    assert shorten_line("short") == "short"
    assert shorten_line("a" * 20 + "b" * 20, 12) == "aaaaaaaa ... bbb"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("answr", " Did you mean 'answer'?"),
        ("exact_match", " Did you mean 'exact'?"),
        ("zzz", ""),
        (3, ""),
    ],
)
def test_a_near_miss_is_suggested(name: object, hint: str) -> None:
    assert near_miss(name, ["answer", "exact"]) == hint


def test_the_1st_10th_and_100th_event_are_reported() -> None:
    assert [count for count in range(1, 200) if worth_reporting(count)] == [1, 10, 100]


def test_factories_are_not_reward_functions() -> None:
    assert is_factory(rk.exact)
    assert not is_factory(rk.exact("answer"))
    assert not is_factory(near_miss)


def test_hashable() -> None:
    assert hashable((1, "a"))
    assert not hashable([1])


def installed(site: Path, origin: dict[str, Any] | None) -> list[str]:
    """What an installed rewardkit says that `origin` came from: the commands to install an extra, and to upgrade."""
    package = Path(rk.__file__).parent
    (site / "rewardkit").mkdir(parents=True, exist_ok=True)
    for name in ("__init__.py", "__init__.pyi", "errors.py"):
        shutil.copy(package / name, site / "rewardkit" / name)
    described = site / "rewardkit_sdk-0.1.0.dist-info"
    described.mkdir(exist_ok=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: rewardkit-sdk\nVersion: 0.1.0\n")
    (described / "direct_url.json").write_text("" if origin is None else json.dumps(origin))
    code = "from rewardkit.errors import *; import rewardkit.errors as e; print(MissingExtraError.of('JSON', 'json'))"
    code += "; print(e.upgrade_command())"
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(site)}
    result = subprocess.run(command, cwd=site.parent, env=environment, capture_output=True, text=True, check=True)
    return [line.removeprefix("JSON needs an optional dependency. Install it: ") for line in result.stdout.splitlines()]


def test_install_commands_work_wherever_rewardkit_came_from(tmp_path: Path) -> None:
    site, source = tmp_path / "site-packages", tmp_path / "my source"
    source.mkdir()
    release = ["pip install 'rewardkit-sdk[json]'", "pip install --upgrade rewardkit-sdk"]
    assert installed(site, None) == release
    local = {"url": source.as_uri(), "dir_info": {}}
    assert installed(site, local) == [f"pip install '{source}[json]'", f"pip install --upgrade '{source}'"]
    source.rmdir()
    assert installed(site, local) == release
    git = {"url": "https://a.b/c.git", "vcs_info": {"vcs": "git", "commit_id": "123abc"}}
    assert installed(site, git)[0] == "pip install 'rewardkit-sdk[json] @ git+https://a.b/c.git@123abc'"
    wheel = {"url": "https://a.b/c.whl", "archive_info": {}}
    assert installed(site, wheel)[0] == "pip install 'rewardkit-sdk[json] @ https://a.b/c.whl'"
    (tmp_path / "site-packages" / "pyproject.toml").touch()
    assert installed(site, None) == [f"pip install -e '{site}[json]'", f"git -C {site} pull"]


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("rk.roug_l", "Did you mean 'rouge_l'?"),
        ("rk.extract.box", "Did you mean 'boxed'?"),
        ("rk.extract.last_number", "Extractors: answer, tag, boxed"),
    ],
)
def test_a_misspelled_public_name_is_explained_once(expression: str, hint: str) -> None:
    code = f"import rewardkit as rk; {expression}"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert hint in printed
    assert printed.count("Did you mean") == hint.count("Did you mean")
