"""Scores and the surface change only on purpose: ``python -m tests.frozen.table`` writes the table again."""

from __future__ import annotations

import json
import sys

import pytest

from tests.frozen import surface, table

FROZEN: dict[str, str] = json.loads(table.FILE.read_text())


def test_compositions_score_what_they_did() -> None:
    _compare("composition", {name: table.packed(values) for name, values in table.compositions_()})


@pytest.mark.slow
def test_primitives_score_what_they_did() -> None:
    _compare("primitive", {name: table.packed(values) for name, values in table.primitives()})


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="each Python prints some signatures differently")
def test_the_surface_is_what_it_was() -> None:
    expected = surface.FILE.read_text(encoding="utf-8")
    assert surface.surface() == expected, "run python -m tests.frozen.surface, and list the change in CHANGELOG.md"


def _compare(kind: str, found: dict[str, str]) -> None:
    expected = {name: values for name, values in FROZEN.items() if name.startswith(f"{kind}:") and name in found}
    assert found == expected
    missing = {name for name in FROZEN if name.startswith(f"{kind}:")} - found.keys()
    assert all("code_" in name for name in missing), missing  # those that need a sandbox
