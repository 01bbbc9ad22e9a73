"""Tests for a reward before it is used in training: ``from rewardkit.testing import check_reward``.

Every name in this module is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewardkit.check import exploits as exploits, laws as laws
    from rewardkit.check.check import check_reward as check_reward
    from rewardkit.check.declarations import Declarations as Declarations
    from rewardkit.check.findings import Finding as Finding, LawResult as LawResult
    from rewardkit.check.laws.base import Skip as Skip, Variant as Variant, finding as finding, law as law
    from rewardkit.check.mutants.mutants import Mutant as Mutant, mutants as mutants
    from rewardkit.check.parametrization import parametrize_with_laws as parametrize_with_laws
    from rewardkit.check.reports.measured import calibrate as calibrate, estimate_signal as estimate_signal
    from rewardkit.check.reports.report import Report as Report
    from rewardkit.check.reward_under_test.trials import Trial as Trial
    from rewardkit.check.variants import strategies as strategies
    from rewardkit.check.variants.episodes.stage import play as play

_HOMES = {
    "calibrate": "rewardkit.check.reports.measured",
    "check_reward": "rewardkit.check.check",
    "estimate_signal": "rewardkit.check.reports.measured",
    "finding": "rewardkit.check.laws.base",
    "law": "rewardkit.check.laws.base",
    "parametrize_with_laws": "rewardkit.check.parametrization",
    "play": "rewardkit.check.variants.episodes.stage",
    "mutants": "rewardkit.check.mutants.mutants",
    "Declarations": "rewardkit.check.declarations",
    "Finding": "rewardkit.check.findings",
    "LawResult": "rewardkit.check.findings",
    "Mutant": "rewardkit.check.mutants.mutants",
    "Report": "rewardkit.check.reports.report",
    "Skip": "rewardkit.check.laws.base",
    "Trial": "rewardkit.check.reward_under_test.trials",
    "Variant": "rewardkit.check.laws.base",
}
_MODULES = {
    "exploits": "rewardkit.check.exploits",
    "laws": "rewardkit.check.laws",
    "strategies": "rewardkit.check.variants.strategies",
}

__all__ = sorted([*_HOMES, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    from rewardkit.errors import near_miss

    raise AttributeError(f"rewardkit.testing has no {name!r}.{near_miss(name, __all__)}")


def __dir__() -> list[str]:
    return list(__all__)
