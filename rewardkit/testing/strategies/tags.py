"""Tags: ``tagged("think", "answer")`` draws ``<think>0</think><answer>0</answer>``, valid or with one violation."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.text.thinking import Marks, Tag
from rewardkit.core.text.visibility import has_visible_character
from rewardkit.testing.strategies.texts import bodies
from rewardkit.testing.tag_violations import Anchored, Blocks, violations

Bodies = SearchStrategy[str] | Mapping[str, SearchStrategy[str]]

_GAPS = ("", "\n", " ", "\n\n")


def tagged(
    *names: Tag,
    body: Bodies | None = None,
    valid: bool = True,
    anchored: Anchored = True,
    prefilled: Tag | None = None,
) -> SearchStrategy[str]:
    """Draw each tag once, in order, closed, with visible text inside, as ``rk.tags(*names)`` asks.

    Args:
        names: the tags, as in ``rk.tags``.
        body: draws the bodies, ``bodies()`` by default; a mapping draws by name. A body with one of the tags, or
            without a visible character, is drawn again.
        valid: False for texts with exactly one violation: a mark missing, doubled or misspelled, a block missing or
            out of order, an empty body, nested blocks, text outside the tags.
        anchored: as in ``rk.tags``: whether text outside the tags is forbidden.
        prefilled: the first name, if the prompt already ends with its opening tag.
    """
    if not names:
        raise RewardDefinitionError('tagged: no names. Pass at least one: tagged("think", "answer")')
    pairs = tuple(Marks.of(name, "tagged: a name") for name in names)
    whole = blocks(pairs, body, anchored, prefilled is not None)
    return whole.map(lambda drawn: drawn.text) if valid else violated(whole, anchored)


def blocks(
    pairs: tuple[Marks, ...],
    body: Bodies | None,
    anchored: Anchored = True,
    prefilled: bool = False,
    tail: SearchStrategy[str] | None = None,
) -> SearchStrategy[Blocks]:
    """Draw the blocks of `tagged`; `tail` draws the text after the last tag, if allowed."""
    marks = [mark for pair in pairs for mark in pair]

    def clean(text: str) -> bool:
        return not any(mark in text for mark in marks)

    def inside(name: str) -> SearchStrategy[str]:
        drawn = body.get(name) if isinstance(body, Mapping) else body
        return (bodies() if drawn is None else drawn).filter(lambda text: clean(text) and has_visible_character(text))

    space = st.sampled_from(_GAPS)
    free = st.one_of(space, st.sampled_from(["So the answer is", "Done."]), bodies().filter(clean))
    between = space if anchored else free
    last = space if anchored is True else free if tail is None else tail.filter(clean)
    return st.builds(
        Blocks,
        st.just(pairs),
        st.tuples(*(inside(pair.name) for pair in pairs)),
        st.tuples(*(between for _ in pairs), last),
        st.just(prefilled),
    )


@st.composite
def violated(draw: DrawFn, whole: SearchStrategy[Blocks], anchored: Anchored) -> str:
    """Draw blocks with one violation."""
    drawn = draw(whole)
    # One choice among all texts: two choices would shrink toward violations with few texts.
    return draw(st.sampled_from(violations(drawn, anchored)))
