"""Test a reward before it costs a GPU hour: ``from rewardkit.testing import check_reward``.

Everything here is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewardkit.testing import exploits as exploits, laws as laws, strategies as strategies
    from rewardkit.testing.calibration import calibrate as calibrate
    from rewardkit.testing.check import check_reward as check_reward
    from rewardkit.testing.episodes.stage import play as play
    from rewardkit.testing.findings import Finding as Finding, LawResult as LawResult
    from rewardkit.testing.mutation.mutants import Mutant as Mutant, mutants as mutants
    from rewardkit.testing.parametrization import parametrize_with_laws as parametrize_with_laws
    from rewardkit.testing.reports.report import Report as Report
    from rewardkit.testing.signals import estimate_signal as estimate_signal

_HOMES = {
    "calibrate": "rewardkit.testing.calibration",
    "check_reward": "rewardkit.testing.check",
    "estimate_signal": "rewardkit.testing.signals",
    "parametrize_with_laws": "rewardkit.testing.parametrization",
    "play": "rewardkit.testing.episodes.stage",
    "mutants": "rewardkit.testing.mutation.mutants",
    "Finding": "rewardkit.testing.findings",
    "LawResult": "rewardkit.testing.findings",
    "Mutant": "rewardkit.testing.mutation.mutants",
    "Report": "rewardkit.testing.reports.report",
}
_MODULES = ("exploits", "laws", "strategies")

__all__ = sorted([*_HOMES, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"rewardkit.testing.{name}")
    from rewardkit.core.errors import near_miss

    raise AttributeError(f"rewardkit.testing has no {name!r}.{near_miss(name, __all__)}")


def __dir__() -> list[str]:
    return list(__all__)
