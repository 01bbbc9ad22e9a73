"""Groups: the completions of one prompt: equal, all different, one outlier among copies.

``groups(st.text(), size=4)`` shrinks to ``["", "", "", ""]``.
"""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.errors import RewardDefinitionError

T = TypeVar("T")


def groups(completions: SearchStrategy[T], *, size: int | tuple[int, int] = (1, 8)) -> SearchStrategy[list[T]]:
    """Draw lists of completions as a policy samples them for one prompt, with repetitions.

    Args:
        completions: draws a completion.
        size: the number of completions, or the minimum and the maximum.

    Raises:
        RewardDefinitionError: the minimum is below 1 or above the maximum.
    """
    least, most = (size, size) if isinstance(size, int) else size
    if not 1 <= least <= most:
        raise RewardDefinitionError(f"groups: size must be a number of at least 1, or (minimum, maximum), got {size}")
    return st.one_of(_copies(completions, least, most), st.lists(completions, min_size=least, max_size=most))


@st.composite
def _copies(draw: DrawFn, completions: SearchStrategy[T], least: int, most: int) -> list[T]:
    """Draw a group with few distinct members, as from a policy that has converged."""
    different = draw(st.lists(completions, min_size=1, max_size=3))
    return draw(st.lists(st.sampled_from(different), min_size=least, max_size=most))
