"""The packages that a reward needs: ``reward: {path: reward.py:reward, packages: [sympy>=1.12]}``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from rewardkit.core.errors import ConfigError

if TYPE_CHECKING:
    from packaging.requirements import Requirement


def checked_packages(packages: list[str]) -> list[str]:
    """Return `packages`; raise a ValueError if one is not written as for pip."""
    for package in packages:
        _read(package)
    return packages


def require(packages: Sequence[str]) -> None:
    """Check that all packages are installed, in the versions asked for. No package is imported.

    Raises:
        ConfigError: some are missing; the message has the install command.
    """
    missing = {package: why for package in packages if (why := _missing(_read(package)))}
    if missing:
        listed = ", ".join(f"{package} ({why})" for package, why in missing.items())
        raise ConfigError(f"reward.packages: the reward needs {listed}. Install: pip install {shlex.join(missing)}")


def _read(package: str) -> Requirement:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(package)
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{package!r} is not a package as pip takes it, such as sympy>=1.12: {reason}") from None


def _missing(wanted: Requirement) -> str:
    """Return why the package must be installed; "" if it is there, or not wanted on this machine."""
    if wanted.marker is not None and not wanted.marker.evaluate():
        return ""
    try:
        installed = version(wanted.name)
    except PackageNotFoundError:
        return "not installed"
    return "" if wanted.specifier.contains(installed, prereleases=True) else f"{installed} is installed"
