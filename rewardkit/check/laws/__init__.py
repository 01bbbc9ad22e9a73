"""The laws: small named objects, each with the reason why a training run needs it.

``check_reward(reward, examples=[...], laws=[laws.total, laws.time_linear])`` checks two of them. ``laws.ALL`` has all
laws in the order in which they run.
"""

from __future__ import annotations

from rewardkit.check.laws import (
    batches,
    call_forms,
    calls,
    confidence,
    conversations,
    curves,
    environments,
    forms,
    golds,
    growth,
    information,
    inputs,
    judges,
    nearness,
    other_rows,
    parts,
    programs,
    promises,
    repetition,
    scores,
    siblings,
    slips,
    trees,
    turns,
    writing,
)
from rewardkit.check.laws.base import Law as Law, Skip as Skip, Unfinished as Unfinished
from rewardkit.errors import near_miss

ALL: tuple[Law, ...] = (
    *scores.ALL,
    *golds.ALL,
    *parts.ALL,
    *siblings.ALL,
    *nearness.ALL,
    *curves.ALL,
    *confidence.ALL,
    *promises.ALL,
    *conversations.ALL,
    *calls.ALL,
    *turns.ALL,
    *call_forms.ALL,
    *environments.ALL,
    *other_rows.ALL,
    *information.ALL,
    *slips.ALL,
    *writing.ALL,
    *repetition.ALL,
    *batches.ALL,
    *forms.ALL,
    *inputs.ALL,
    *trees.ALL,
    *judges.ALL,
    *growth.ALL,
    *programs.ALL,
)
"""All laws, in the order in which they run."""

_BY_NAME = {law.name: law for law in ALL}


def __getattr__(name: str) -> Law:
    if name in _BY_NAME:
        return _BY_NAME[name]
    raise AttributeError(f"there is no law {name!r}.{near_miss(name, _BY_NAME)}")


def __dir__() -> list[str]:
    return [*globals(), *_BY_NAME]
