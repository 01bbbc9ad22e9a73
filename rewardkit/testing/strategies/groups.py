"""Groups: the completions of one prompt: alike, all different, one outlier among copies.

``groups(st.text(), size=4)`` shrinks to ``["", "", "", ""]``.
"""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.errors import RewardDefinitionError

T = TypeVar("T")


def groups(completions: SearchStrategy[T], *, size: int | tuple[int, int] = (1, 8)) -> SearchStrategy[list[T]]:
    """Lists of completions as a policy samples them for one prompt, repetitions among them.

    Args:
        completions: draws one of them.
        size: how many, or the least and the most.

    Raises:
        RewardDefinitionError: an empty group, or one that is at most shorter than at least.
    """
    least, most = (size, size) if isinstance(size, int) else size
    if not 1 <= least <= most:
        raise RewardDefinitionError(f"groups: size is a number from 1 on, or (least, most), got {size}")
    return st.one_of(_copies(completions, least, most), st.lists(completions, min_size=least, max_size=most))


@st.composite
def _copies(draw: DrawFn, completions: SearchStrategy[T], least: int, most: int) -> list[T]:
    """A group with few different members: what a policy that has settled gives."""
    different = draw(st.lists(completions, min_size=1, max_size=3))
    return draw(st.lists(st.sampled_from(different), min_size=least, max_size=most))
