"""The code of the pages about trainers, run as it is printed.

``load("skyrl", folder)`` writes the blocks that begin with ``# my_env.py`` to that file, beside a ``my_rewards.py``
with the reward of all trainers, and imports them.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

_BLOCK = re.compile(r"^```python(?: notest)?\n# (\w+)\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_REWARDS = "from tests.trainers.reward import reward\n"


def load(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Return the modules of a page by name."""
    text = (Path(__file__).parents[2] / "docs" / "trainers" / f"{page}.md").read_text(encoding="utf-8")
    blocks = {"my_rewards": _REWARDS} | {name: body for name, body in _BLOCK.findall(text) if name != "my_rewards"}
    for name, body in blocks.items():
        (folder / f"{name}.py").write_text(body)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(folder)
    return {name: importlib.import_module(name) for name in blocks}
