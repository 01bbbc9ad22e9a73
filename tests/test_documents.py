"""The code in README.md and docs/ runs and prints what they say."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "cookbook/README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
FENCE = re.compile(r"^```(\w+)( notest)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.filterwarnings("ignore::rewardkit.core.errors.RewardKitWarning")

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(document: Path) -> list[tuple[str, str]]:
    """(language, body) of all blocks that are run or compared."""
    found = FENCE.findall(document.read_text(encoding="utf-8"))
    return [(language, body) for language, notest, body in found if not notest]


@each_document
def test_python_blocks_print_the_text_blocks_that_follow_them(document: Path) -> None:
    names: dict[str, object] = {"__name__": "document"}
    printed = StringIO()
    for language, body in blocks(document):
        if language == "python":
            printed = StringIO()
            with redirect_stdout(printed):
                exec(compile(body, str(document), "exec", dont_inherit=True), names)
        elif language == "text":
            assert printed.getvalue() == body


def test_there_is_something_to_compare() -> None:
    assert [language for language, _ in blocks(ROOT / "README.md")].count("text") >= 2


@each_document
def test_local_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text(encoding="utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_the_commands_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE):
        assert f"\n{target}:" in makefile


def test_contributing_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.]+(?:/[\w.]*)+)`", text))
    missing = [
        name
        for name in sorted(named)
        if not any((ROOT / base / name).exists() for base in ("", "adapters", "rewardkit"))
    ]
    assert len(named) > 40
    assert missing == []
