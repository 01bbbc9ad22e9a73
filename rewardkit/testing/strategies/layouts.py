"""Layouts: several parts in one completion, inside the tags that a reward asks for.

For ``rk.tags("think", "answer")`` and ``rk.json_schema(Invoice)``, the document is inside ``<answer>``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.text.extractors import Fenced, Json, JsonValue, Prefilled, Raw, Tagged, TextExtractor, Whole
from rewardkit.core.text.thinking import visible_text
from rewardkit.core.text.visibility import spoken_text
from rewardkit.primitives.format import Tags
from rewardkit.testing.anatomy import THINKING
from rewardkit.testing.strategies.contents import Part
from rewardkit.testing.strategies.places import Form, finds, forms_for, shown_to
from rewardkit.testing.strategies.tags import blocks, violated

_BARE = Form()


@dataclass(frozen=True)
class Placed:
    """A part, and the ways to mark it in its place."""

    part: Part
    forms: tuple[Form, ...]

    def right(self) -> SearchStrategy[str]:
        return st.builds(Form.around, st.sampled_from(self.forms), self.part.contents.right.filter(_quiet))

    def wrong(self) -> SearchStrategy[str]:
        pairs = st.tuples(st.sampled_from(self.forms), self.part.contents.wrong.filter(_quiet))
        kept = pairs.filter(lambda pair: not pair[0].mark or _stays_wrong(self.part, *pair))
        return kept.map(lambda pair: pair[0].around(pair[1]))


def composed(frame: Tags | None, parts: Sequence[Part], *, valid: bool) -> SearchStrategy[str]:
    """Draw completions with contents in each place; unless `valid`, one of them or the tags are wrong."""
    ranked = sorted(parts, key=lambda part: -part.rank)
    if frame is None:
        return _free(ranked, valid=valid)
    return _framed(frame, ranked, valid=valid)


def _framed(frame: Tags, parts: Sequence[Part], *, valid: bool) -> SearchStrategy[str]:
    """Draw parts inside tags."""
    placed: dict[str, Placed] = {}
    for part in parts:
        name, forms = _home(frame, part.view)
        placed.setdefault(name, Placed(part, forms))
    right = {name: one.right() for name, one in placed.items()}
    prefilled = frame.prefilled
    whole = blocks(frame.pairs, right, frame.anchored, prefilled, right.get(""))
    if valid:
        return whole.map(lambda drawn: drawn.text)
    ways = [violated(whole, frame.anchored)]
    for name, one in placed.items():
        spoilt = {**right, name: one.wrong()}
        inside = blocks(frame.pairs, spoilt, frame.anchored, prefilled, spoilt.get(""))
        ways.append(inside.map(lambda drawn: drawn.text))
    return st.one_of(ways)


def _home(frame: Tags, view: Any) -> tuple[str, tuple[Form, ...]]:
    """Return the tag of a part (empty: after the last one), and the ways to mark it there."""
    inner = view.where if isinstance(view, (Json, Prefilled)) else view
    names = [pair.name for pair in frame.pairs]
    thinking = inner.thinking.blocks if isinstance(inner, TextExtractor) else ()
    said = [pair.name for pair in frame.pairs if pair.name.lower() not in THINKING and pair not in thinking]
    home = said[-1] if said else "" if frame.anchored is not True else names[-1]
    if isinstance(inner, Tagged) and inner.marks in frame.pairs:
        return inner.marks.name, (_BARE,)
    if isinstance(inner, Raw) and names[0] not in said:
        return names[0], (_BARE,)
    if (
        type(inner).__name__
        in ("Answer", "Document", "FinalAnswer", "FinalChoice", "FinalNumber", "FinalText", "Program")
        and "answer" in names
    ):
        return "answer", (_BARE,)
    forms = tuple(form for form in forms_for(inner) if form.mark) or (_BARE,)
    whole = isinstance(inner, Whole) or not said
    return home, (_BARE,) if whole and home == "" else forms


@st.composite
def _free(draw: DrawFn, parts: Sequence[Part], *, valid: bool) -> str:
    """Draw parts without tags around them."""
    main = parts[0]
    beside = [part for part in parts[1:] if part.view != main.view and isinstance(part.view, (Tagged, Fenced))]
    seen = {repr(main.view)}
    chosen = [main]
    for part in beside:
        if repr(part.view) not in seen:
            seen.add(repr(part.view))
            chosen.append(part)
    broken = -1 if valid else draw(st.integers(0, len(chosen) - 1))
    texts = [draw(_placed(part, wrong=number == broken)) for number, part in enumerate(chosen)]
    source = main.view.where if isinstance(main.view, (Json, JsonValue)) else main.view
    known = source.thinking.blocks[:1] if isinstance(source, TextExtractor) else ()
    opening = draw(st.sampled_from(["", *(f"{start}6*7{end}\n" for start, end in known)]))
    return opening + "\n".join([*texts[1:], texts[0]])


@st.composite
def _placed(draw: DrawFn, part: Part, *, wrong: bool) -> str:
    """Draw a part that its extractor finds; if `wrong`, its content or its mark is wrong."""
    form = draw(st.sampled_from(forms_for(part.view)))
    raw = part.view is None or isinstance(part.view, Raw)
    right = part.contents.right if raw else part.contents.right.filter(_quiet)
    if not wrong:
        return form.around(draw(right.filter(lambda content: finds(part.view, form.around(content), content))))
    if form.mark and draw(st.booleans()):
        # Without a mark, a lenient extractor reads the whole text; if it finds nothing, that is certainly wrong.
        lost = [text for text in form.unmarked(draw(right)) if shown_to(part.view, text) is None]
        if lost:
            return draw(st.sampled_from(lost))
    return form.around(draw(part.contents.wrong.filter(lambda content: _stays_wrong(part, form, content))))


def _stays_wrong(part: Part, form: Form, content: str) -> bool:
    """Whether an extractor finds wrong content unchanged, or nothing; a box may drop an extra bracket."""
    text = form.around(content)
    return shown_to(part.view, text) is None or finds(part.view, text, content)


def _quiet(text: str) -> bool:
    """Whether content does not change which part of the completion is read."""
    return visible_text(text) == spoken_text(text)
