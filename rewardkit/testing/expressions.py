"""Expressions: Python that can be pasted, for the values of a finding and the import of its reward.

``expression_of("a" + " " * 50_000 + "b")`` is ``'a' + ' ' * 50_000 + 'b'``: short, and never a shortened sample.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.core.tree.reward import Reward

_LONG = 300
_RUN = re.compile(r"(.{1,40}?)\1{30,}", re.DOTALL)


def expression_of(value: Any) -> str:
    """Return a value as Python; repeated pieces of a long text are written as products."""
    if isinstance(value, str) and len(value) > _LONG:
        return _product(value)
    if type(value) is list:
        return f"[{', '.join(map(expression_of, value))}]"
    if type(value) is dict:
        return f"{{{', '.join(f'{key!r}: {expression_of(item)}' for key, item in value.items())}}}"
    return repr(value)


def _product(text: str) -> str:
    parts, position = [], 0
    for run in _RUN.finditer(text):
        if run.start() > position:
            parts.append(repr(text[position : run.start()]))
        piece = run.group(1)
        parts.append(f"{piece!r} * {len(run.group()) // len(piece):_}")
        position = run.end()
    if position < len(text):
        parts.append(repr(text[position:]))
    return " + ".join(parts)


def imports_of(reward: Any) -> str:
    """Return statements that import a reward as ``reward``; an empty text if its place is not known."""
    place = _place(reward)
    if place is not None:
        module, name = place
        return f"from {module} import {name}" + ("" if name == "reward" else " as reward")
    if not isinstance(reward, Sequence) or isinstance(reward, str) or not reward:
        return ""
    places = [_place(one) for one in reward]
    modules: dict[str, list[str]] = {}
    for one in places:
        if one is None:
            return ""
        modules.setdefault(one[0], []).append(one[1])
    lines = [f"from {module} import {', '.join(dict.fromkeys(names))}" for module, names in modules.items()]
    return "; ".join([*lines, f"reward = [{', '.join(one[1] for one in places if one is not None)}]"])


def _place(reward: Any) -> tuple[str, str] | None:
    """Return the module and the name of a variable that holds the reward, or the function that it was made of."""
    if isinstance(reward, Reward) and reward.facts.binding is not None and reward.facts.binding.foreign:
        reward = reward.facts.binding.original
    own = str(getattr(reward, "__module__", ""))
    for module_name in dict.fromkeys([own, *sys.modules]):
        module = sys.modules.get(module_name)
        if module is None or not _is_users(module_name, module):
            continue
        for name, value in list(vars(module).items()):
            if value is reward and name.isidentifier() and not name.startswith("_"):
                return module_name, name
    return None


def _is_users(name: str, module: Any) -> bool:
    """Whether a module may be the user's own and can be imported by its name."""
    if name == "__main__" or name.partition(".")[0] in ("rewardkit", "builtins") or name.startswith("rewardkit_"):
        return False
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not isinstance(getattr(module, "__dict__", None), Mapping):
        return False
    installed = ("site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    return not set(installed) & set(Path(file).parts)
