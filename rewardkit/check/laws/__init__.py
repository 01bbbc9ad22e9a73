"""The laws: small named objects, each with the reason that a training run needs it.

``check_reward(reward, examples=[...], laws=[laws.total, laws.time_linear])`` checks two laws. ``laws.ALL`` contains all
laws in the order in which they run, including the exploit laws. Each family of laws is a module in this package, which
is imported when one of its laws is first used.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from typing import TYPE_CHECKING, Any

from rewardkit.check.findings import Law as Law
from rewardkit.errors import near_miss

if TYPE_CHECKING:
    ALL: tuple[Law, ...]

_FAMILIES = (
    "scores", "golds", "lazy", "parts", "partial_credit", "promises", "stated", "conversations", "agents",
    "environments", "rows", "forms", "processes", "batches", "trees", "judges", "growth", "programs", "second_opinion",
)  # fmt: skip
"""The modules that contain laws. Laws with the same turn run in this order."""


def of_family(family: str) -> tuple[Law, ...]:
    """Return the laws of one family, such as ``"golds"``."""
    return tuple(law for law in vars(importlib.import_module(f"{__name__}.{family}")).values() if isinstance(law, Law))


@functools.cache
def every_law() -> tuple[Law, ...]:
    """Return all laws, family by family."""
    return tuple(law for family in _FAMILIES for law in of_family(family))


@functools.cache
def find(name: str) -> Law | None:
    """Return the law called `name`, or None. Sources are searched by text, so that only one family is imported."""
    defined = re.compile(rf"^def {re.escape(name)}\(".encode(), re.MULTILINE)
    for family in _FAMILIES:
        if defined.search(pkgutil.get_data(__name__, f"{family}.py") or b""):
            law = getattr(importlib.import_module(f"{__name__}.{family}"), name)
            return law if isinstance(law, Law) else None
    return None


def __getattr__(name: str) -> Any:
    if name == "ALL":
        from rewardkit.check.run.selection import selected

        return selected()
    if name in _FAMILIES:
        return importlib.import_module(f"{__name__}.{name}")
    law = find(name) if not name.startswith("_") else None
    if law is None:
        raise AttributeError(f"there is no law {name!r}.{near_miss(name, [law.name for law in every_law()])}")
    return law


def __dir__() -> list[str]:
    return [*globals(), "ALL", *(law.name for law in every_law())]
