"""Scores, the surface and the findings of the check change only on purpose: each module says how to write it again."""

from __future__ import annotations

import json
import sys

import pytest

from tests.check.bench import Case
from tests.frozen import findings, surface, table

FROZEN: dict[str, str] = json.loads(table.FILE.read_text())
FINDINGS: dict[str, list[str]] = json.loads(findings.FILE.read_text(encoding="utf-8"))

of_3_11 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="each Python words some signatures and errors differently"
)


@pytest.mark.slow
def test_compositions_score_what_they_did() -> None:
    _compare("composition", {name: table.packed(values) for name, values in table.compositions_()})


@pytest.mark.slow
def test_primitives_score_what_they_did() -> None:
    _compare("primitive", {name: table.packed(values) for name, values in table.primitives()})


@of_3_11
def test_the_surface_is_what_it_was() -> None:
    expected = surface.FILE.read_text(encoding="utf-8")
    assert surface.surface() == expected, "run python -m tests.frozen.surface, and list the change in CHANGELOG.md"


@of_3_11
@pytest.mark.slow
@pytest.mark.parametrize("case", findings.cases(), ids=lambda case: case.name)
def test_the_check_finds_what_it_did(case: Case) -> None:
    assert findings.findings(case) == FINDINGS[case.name], "if that is meant, run python -m tests.frozen.findings"


def test_all_findings_are_of_the_bench() -> None:
    assert list(FINDINGS) == [case.name for case in findings.cases()]


def _compare(kind: str, found: dict[str, str]) -> None:
    expected = {name: values for name, values in FROZEN.items() if name.startswith(f"{kind}:") and name in found}
    assert found == expected
    missing = {name for name in FROZEN if name.startswith(f"{kind}:")} - found.keys()
    assert all("code_" in name for name in missing), missing  # those that need a sandbox
