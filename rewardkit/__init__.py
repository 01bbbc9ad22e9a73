"""rewardkit: write, compose, prove, and train with reward functions for reinforcement learning of language models.

After ``import rewardkit as rk``, every public name is available as ``rk.<name>``. It is loaded when it is first used.
"""

from __future__ import annotations

import ast
import importlib
import os
from typing import Any

__version__ = "0.1.0"

_FOLDER = os.path.dirname(__file__)

if os.path.isdir(os.path.join(_FOLDER, "criteria")):
    import warnings

    from rewardkit.errors import install_command

    warnings.warn(
        "the files of harbor-rewardkit, another package with a module named rewardkit, are mixed with the files of "
        "this package. Keep only one of the two packages in an environment: pip uninstall harbor-rewardkit "
        f"rewardkit-sdk, then {install_command()}",
        stacklevel=2,
    )


def _homes() -> dict[str, tuple[str, str]]:
    """Return a map from each public name to its module and its name in that module, read from ``__init__.pyi``."""
    with open(os.path.join(_FOLDER, "__init__.pyi"), encoding="utf-8") as file:
        face = ast.parse(file.read())
    homes: dict[str, tuple[str, str]] = {}
    for statement in face.body:
        if isinstance(statement, ast.ImportFrom):
            homes |= {name.name: (statement.module or "", name.name) for name in statement.names}
        elif isinstance(statement, ast.Assign):  # extract = extraction
            alias, name = statement.targets[0], statement.value
            assert isinstance(alias, ast.Name)
            assert isinstance(name, ast.Name)
            homes[alias.id] = homes.pop(name.id)
    return homes


_HOMES = _homes()

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        # With name=None, Python does not add its own suggestion, which would repeat this one.
        raise AttributeError(f"rewardkit has no {name!r}.{_suggestion(name)}", name=None)
    module, attribute = _HOMES[name]
    home = None if module == __name__ else importlib.import_module(module)
    value = getattr(home, attribute) if hasattr(home, attribute) else importlib.import_module(f"{module}.{attribute}")
    globals()[name] = value
    return value


def _suggestion(name: str) -> str:
    """Return a hint at the intended public name, including names in ``rk.errors``, ``rk.length``, and ``rk.agents``."""
    from rewardkit.errors import near_miss

    members = [f"{home}.{member}" for home in ("agents", "errors", "length") for member in __getattr__(home).__all__]
    exact = [member for member in members if member.endswith(f".{name}")]
    return f" Did you mean {exact[0]!r}?" if exact else near_miss(name, [*__all__, *members])


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
