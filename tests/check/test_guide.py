"""docs/laws.md lists the laws and exploits as the code has them, and docs/check_options.md names all constants.

``python tests/check/test_guide.py`` rewrites those lists.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from rewardkit.check import laws
from rewardkit.check.exploits import CATALOG
from rewardkit.tree.loading import CONSTANTS

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = DOCS / "laws.md"
PART = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def the_laws() -> str:
    return "\n\n".join(map(the_family, laws._FAMILIES))


def the_family(family: str) -> str:
    """A heading, to which other pages link, and a row for each law."""
    title = re.match(r"Laws of ([\w ]+):", getattr(laws, family).__doc__ or "")
    assert title is not None, family
    rows = [
        f"| `{law.name}`{' (fast)' if law.fast else ''} | {law.why.replace('|', chr(92) + '|')} |"
        for law in laws.of_family(family)
    ]
    return "\n".join([f"### {title[1].capitalize()}", "", "| law | reason |", "|---|---|", *rows])


def the_families() -> str:
    counts = Counter(exploit.family for exploit in CATALOG)
    examples: dict[str, str] = {}
    for exploit in CATALOG:
        examples.setdefault(exploit.family, exploit.name)
    rows = [f"| {family} | {count} | {examples[family]} |" for family, count in counts.items()]
    head = [
        f"{len(CATALOG)} exploits, each with its source:",
        "",
        "| family | exploits | such as |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows])


GENERATED = {"laws": the_laws, "families": the_families}


def as_it_should_be(text: str) -> str:
    return PART.sub(lambda found: f"{found[1]}\n{GENERATED[found[2]]()}\n\n{found[4]}", text)


@pytest.mark.parametrize("part", GENERATED)
def test_the_page_agrees_with_the_code(part: str) -> None:
    written = {found[2]: found[3].strip() for found in PART.finditer(GUIDE.read_text(encoding="utf-8"))}
    assert written[part] == GENERATED[part](), "run: python tests/check/test_guide.py"


def test_it_names_all_constants() -> None:
    text = (DOCS / "check_options.md").read_text(encoding="utf-8")
    assert [name for name in CONSTANTS if f"`{name}`" not in text] == []


if __name__ == "__main__":
    GUIDE.write_text(as_it_should_be(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
