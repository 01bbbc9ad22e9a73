"""The README's code runs and prints what it says."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
FENCE = re.compile(r"^```(\w+)( notest)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.filterwarnings("ignore::rewardkit.core.errors.RewardKitWarning")


def blocks() -> list[tuple[str, str]]:
    """(language, body) of all blocks that are run or compared."""
    found = FENCE.findall(README.read_text(encoding="utf-8"))
    return [(language, body) for language, notest, body in found if not notest]


def test_python_blocks_print_the_text_blocks_that_follow_them() -> None:
    names: dict[str, object] = {"__name__": "readme"}
    printed = StringIO()
    compared = 0
    for language, body in blocks():
        if language == "python":
            printed = StringIO()
            with redirect_stdout(printed):
                exec(compile(body, str(README), "exec", dont_inherit=True), names)
        elif language == "text":
            assert printed.getvalue() == body
            compared += 1
    assert compared == 2


def test_local_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if not (README.parent / target).exists()] == []


def test_the_commands_it_names_exist() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE):
        assert f"\n{target}:" in makefile
