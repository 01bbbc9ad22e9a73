"""Completions generated for a reward from its settings and code.

``completions(rk.tags("think", "answer"), kind="nearly valid")`` draws ``<think>0</think><answer>0``, and
``completions(rk.json_schema(Invoice))`` draws invoices, invoices with one mistake, and wild texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.batch.messages import completion_text
from rewardkit.check.completion.parsed_completion import THINKING, anatomy_of
from rewardkit.check.completion.tag_violations import Anchored, Blocks, violations
from rewardkit.check.examples import Example, examples_of
from rewardkit.check.reward_under_test.vocabulary import Mined, mine_reward
from rewardkit.check.variants.broken_texts import near_misses
from rewardkit.check.variants.strategies.contents import Contents, Part, gold_text, part_of_leaf, pattern_contents
from rewardkit.check.variants.strategies.texts import bodies, wild_texts, wrong_answers
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.rewards.format import Tags
from rewardkit.text.extractors import (
    After,
    Answer,
    Boxed,
    Document,
    Fenced,
    Json,
    JsonValue,
    Prefilled,
    Raw,
    Tagged,
    TextExtractor,
    Whole,
)
from rewardkit.text.json_text import Parsed
from rewardkit.text.thinking import Marks, Tag, visible_text
from rewardkit.text.visibility import has_visible_character, spoken_text
from rewardkit.tree.binding import Binding
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.reward import Reward

# Forms: the marks by which an extractor finds an answer, and wrong marks.


@dataclass(frozen=True)
class Form:
    """A way to mark an answer: ``start + write(answer) + end``.

    Attributes:
        start: the text before the answer.
        end: the text after the answer.
        mark: the part of `start` or `end` that marks the answer, or "" if nothing marks it.
        write: a function that returns the answer as it is written between `start` and `end`.
    """

    start: str = ""
    end: str = ""
    mark: str = ""
    write: Callable[[str], str] = str

    def around(self, answer: str) -> str:
        return f"{self.start}{self.write(answer)}{self.end}"

    def unmarked(self, answer: str) -> list[str]:
        """Return versions of the marked answer with a missing mark."""
        if not self.mark:
            return []
        inside = self.write(answer)
        bare = [f"{self.start}{inside}"] if self.end.strip() else []
        bare += [f"{inside}{self.end}", inside]
        return list(dict.fromkeys(text for text in bare if text != self.around(answer)))


_BARE = Form()
_ANSWER = Form("<answer>", "</answer>", "<answer>")
_BOX = Form("\\boxed{", "}", "\\boxed")
_HASHES = Form("#### ", "", "####")


def forms_for(view: Any, known_marks: Sequence[str] = ()) -> list[Form]:
    """Return the ways to mark an answer for an extractor, the simplest first.

    Args:
        view: an extractor of ``rk.extract``, a user-defined function, or None for the completion's text.
        known_marks: the tags and marks in the reward's code.
    """
    if isinstance(view, Json):
        return forms_for(view.where, known_marks)
    if isinstance(view, JsonValue):
        inside = partial(_nested, view.path)
        return [Form(form.start, form.end, form.mark, inside) for form in forms_for(view.where, known_marks)]
    if isinstance(view, Prefilled):
        inner = forms_for(view.where, known_marks)
        closing = view.where.thinking.closings[0]
        return [Form(f"6*7{closing}{form.start}", form.end, closing, form.write) for form in inner]
    if isinstance(view, Tagged):
        return [Form(*view.marks, view.marks.opening)]
    if isinstance(view, After):
        return [Form(f"{view.marker} ", "", view.marker)]
    if isinstance(view, Boxed):
        return [_BOX, Form("So \\boxed{", "}.", "\\boxed")]
    if isinstance(view, Fenced):
        return [Form(f"```{view.language}\n", "\n```", "```")]
    if isinstance(view, Answer):
        return [_BARE, _ANSWER, _BOX, _HASHES]
    if isinstance(view, Document):
        return [_BARE, _ANSWER, Form("```json\n", "\n```"), Form("Here it is:\n```json\n", "\n```", "```")]
    if view is None or isinstance(view, (Raw, Whole)):
        return [_BARE]
    name = type(view).__name__
    if name in ("FinalAnswer", "FinalChoice", "FinalNumber", "FinalText"):
        return [_BARE, _ANSWER, _BOX, _HASHES, Form("The answer is ", ".")]
    if name == "Program":
        return [Form("```python\n", "\n```"), _BARE, Form("<answer>\n", "\n</answer>", "<answer>")]
    return [_ANSWER, _BOX, _HASHES, _BARE, *map(guessed, known_marks)]


def guessed(text: str) -> Form:
    """Return the form that a text in a reward's code suggests. A tag marks its body, and other texts mark the rest."""
    if text.startswith("<") and text.endswith(">"):
        return Form(text, f"</{text[1:]}", text)
    return Form(text if text.endswith((" ", "\n")) else f"{text} ", "", text)


def shown_to(view: Any, text: str) -> Any:
    """Return the text or parsed value that an extractor finds in a completion, or None if it finds nothing or fails."""
    try:
        content: Any = text if view is None else view(text)
    except Exception:
        return None
    return None if isinstance(content, Parsed) and content.error else content


def finds(view: Any, text: str, answer: str) -> bool:
    """Return whether an extractor finds exactly `answer` in a completion."""
    content = shown_to(view, text)
    if isinstance(content, Parsed):
        try:
            return json.dumps(content.value) == json.dumps(json.loads(answer))
        except ValueError:
            return False
    return isinstance(content, str) and content.strip() == answer.strip()


def _nested(path: tuple[str | int, ...], answer: str) -> str:
    """Return a JSON document with `answer` at `path`."""
    try:
        value = json.loads(answer)
    except ValueError:
        value = answer
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [*([None] * max(step, 0)), value]
    return json.dumps(value, ensure_ascii=False)


# Tags: ``tagged("think", "answer")`` draws ``<think>0</think><answer>0</answer>``, valid or with one violation.


Bodies = SearchStrategy[str] | Mapping[str, SearchStrategy[str]]

_GAPS = ("", "\n", " ", "\n\n")


def tagged(
    *names: Tag,
    body: Bodies | None = None,
    valid: bool = True,
    anchored: Anchored = True,
    prefilled: Tag | None = None,
) -> SearchStrategy[str]:
    """Draw texts that ``rk.tags(*names)`` accepts: each tag once, in order, closed, and with visible text inside.

    Args:
        names: the tags, as in ``rk.tags``.
        body: a strategy for the bodies, or a mapping with a strategy for each name. The default is ``bodies()``. A body
            that contains one of the tags, or no visible character, is drawn again.
        valid: False for texts with exactly one violation: a missing, doubled, or misspelled mark, a block that is
            missing or out of order, an empty body, nested blocks, or text outside the tags.
        anchored: whether text outside the tags is forbidden, as in ``rk.tags``.
        prefilled: the first name, if the prompt ends with its opening tag.
    """
    if not names:
        raise RewardDefinitionError('tagged: no names. Pass at least one: tagged("think", "answer")')
    pairs = tuple(Marks.of(name, "tagged: a name") for name in names)
    valid_blocks = blocks(pairs, body, anchored, prefilled is not None)
    return valid_blocks.map(lambda drawn: drawn.text) if valid else violated(valid_blocks, anchored)


def blocks(
    pairs: tuple[Marks, ...],
    body: Bodies | None,
    anchored: Anchored = True,
    prefilled: bool = False,
    tail: SearchStrategy[str] | None = None,
) -> SearchStrategy[Blocks]:
    """Draw the blocks of `tagged`. `tail` draws the text after the last tag, if allowed."""
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
def violated(draw: DrawFn, valid_blocks: SearchStrategy[Blocks], anchored: Anchored) -> str:
    """Draw the text of blocks with one violation."""
    drawn = draw(valid_blocks)
    # One choice among all texts: two choices would shrink toward violations with few texts.
    return draw(st.sampled_from(violations(drawn, anchored)))


# Layouts: several parts in one completion, inside the tags that a reward requires.


@dataclass(frozen=True)
class Placed:
    """A part, and the ways to mark it in its place."""

    part: Part
    forms: tuple[Form, ...]

    def right(self) -> SearchStrategy[str]:
        return st.builds(Form.around, st.sampled_from(self.forms), self.part.contents.right.filter(_quiet))

    def wrong(self) -> SearchStrategy[str]:
        pairs = st.tuples(st.sampled_from(self.forms), self.part.contents.wrong.filter(_quiet))
        wrong_pairs = pairs.filter(lambda pair: not pair[0].mark or _stays_wrong(self.part, *pair))
        return wrong_pairs.map(lambda pair: pair[0].around(pair[1]))


def composed(frame: Tags | None, parts: Sequence[Part], *, valid: bool) -> SearchStrategy[str]:
    """Draw completions with correct contents in each place. Unless `valid`, one content or the tags are incorrect."""
    ranked = sorted(parts, key=lambda part: -part.rank)
    if frame is None:
        return _free(ranked, valid=valid)
    return _framed(frame, ranked, valid=valid)


def _framed(frame: Tags, parts: Sequence[Part], *, valid: bool) -> SearchStrategy[str]:
    """Draw completions with the parts inside tags."""
    placed: dict[str, Placed] = {}
    for part in parts:
        name, forms = _home(frame, part.view)
        placed.setdefault(name, Placed(part, forms))
    right = {name: placement.right() for name, placement in placed.items()}
    prefilled = frame.prefilled
    valid_blocks = blocks(frame.pairs, right, frame.anchored, prefilled, right.get(""))
    if valid:
        return valid_blocks.map(lambda drawn: drawn.text)
    alternatives = [violated(valid_blocks, frame.anchored)]
    for name, placement in placed.items():
        spoilt = {**right, name: placement.wrong()}
        inside = blocks(frame.pairs, spoilt, frame.anchored, prefilled, spoilt.get(""))
        alternatives.append(inside.map(lambda drawn: drawn.text))
    return st.one_of(alternatives)


def _home(frame: Tags, view: Any) -> tuple[str, tuple[Form, ...]]:
    """Return the name of the tag for a part ("" after the last tag), and the ways to mark the part there."""
    inner = view.where if isinstance(view, (Json, Prefilled)) else view
    names = [pair.name for pair in frame.pairs]
    thinking = inner.thinking.blocks if isinstance(inner, TextExtractor) else ()
    answer_names = [pair.name for pair in frame.pairs if pair.name.lower() not in THINKING and pair not in thinking]
    home = answer_names[-1] if answer_names else "" if frame.anchored is not True else names[-1]
    if isinstance(inner, Tagged) and inner.marks in frame.pairs:
        return inner.marks.name, (_BARE,)
    if isinstance(inner, Raw) and names[0] not in answer_names:
        return names[0], (_BARE,)
    if (
        type(inner).__name__
        in ("Answer", "Document", "FinalAnswer", "FinalChoice", "FinalNumber", "FinalText", "Program")
        and "answer" in names
    ):
        return "answer", (_BARE,)
    forms = tuple(form for form in forms_for(inner) if form.mark) or (_BARE,)
    is_whole = isinstance(inner, Whole) or not answer_names
    return home, (_BARE,) if is_whole and home == "" else forms


@st.composite
def _free(draw: DrawFn, parts: Sequence[Part], *, valid: bool) -> str:
    """Draw completions whose parts have no tags around them."""
    main = parts[0]
    secondary = [part for part in parts[1:] if part.view != main.view and isinstance(part.view, (Tagged, Fenced))]
    views = {repr(main.view)}
    chosen = [main]
    for part in secondary:
        if repr(part.view) not in views:
            views.add(repr(part.view))
            chosen.append(part)
    broken = -1 if valid else draw(st.integers(0, len(chosen) - 1))
    texts = [draw(_draw_part(part, wrong=number == broken)) for number, part in enumerate(chosen)]
    source = main.view.where if isinstance(main.view, (Json, JsonValue)) else main.view
    thinking_marks = source.thinking.blocks[:1] if isinstance(source, TextExtractor) else ()
    opening = draw(st.sampled_from(["", *(f"{start}6*7{end}\n" for start, end in thinking_marks)]))
    return opening + "\n".join([*texts[1:], texts[0]])


@st.composite
def _draw_part(draw: DrawFn, part: Part, *, wrong: bool) -> str:
    """Draw the text of a part that its extractor finds. If `wrong`, its content or its mark is incorrect."""
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
    """Return whether an extractor finds incorrect content unchanged, or nothing. A box may drop an extra bracket."""
    text = form.around(content)
    return shown_to(part.view, text) is None or finds(part.view, text, content)


def _quiet(text: str) -> bool:
    """Return whether the same part of the completion is read if `text` is the content."""
    return visible_text(text) == spoken_text(text)


# Source texts: completions for a user-defined function, made from the texts in its code and from right completions.


_MOST_PATTERNS = 6
"""The maximum number of patterns to use. Arbitrary: creating a strategy for each pattern takes time."""


def from_code(code: Mined, row: Mapping[str, Any]) -> Contents:
    """Return contents generated from the tags, marks, and patterns in a function's code.

    The meaning of these texts is unknown, so the correct contents are only likely to score high.
    """
    golds = [text for text in map(gold_text, _cells(code, row)) if text]
    answers = st.sampled_from(golds) if golds else bodies()
    wrong_ones = st.one_of([wrong_answers(gold) for gold in golds]) if golds else st.just("")
    right: list[SearchStrategy[str]] = []
    wrong: list[SearchStrategy[str]] = []
    if code.tags:
        right.append(tagged(*code.tags, body=answers))
        wrong.append(tagged(*code.tags, body=answers, valid=False))
    for pattern in code.patterns[:_MOST_PATTERNS]:
        try:
            contents = pattern_contents(re.compile(pattern, re.DOTALL), full=False)
            contents.right.validate()
        except Exception:  # Hypothesis cannot make texts for this pattern
            continue
        right.append(contents.right)
        wrong.append(contents.wrong)
    # Tags are handled above; a bare word is more often a key or a name than a mark.
    marks = [guessed(text) for text in code.texts if not re.fullmatch(r"</?\w+>|\w+", text)]
    for form in marks:
        right.append(answers.map(form.around))
        wrong.append(st.one_of(answers, wrong_ones.map(form.around)))
    if not right:
        return Contents(answers, wrong_ones)
    return Contents(st.one_of(right), st.one_of(wrong))


def from_good(good: Sequence[str], row: Mapping[str, Any]) -> Contents:
    """Return correct completions, unchanged and with one fault: a missing mark, empty tag, or incorrect answer."""
    anatomies = [anatomy_of(text, row, frozenset(row)) for text in good]
    wrong = [
        st.sampled_from([miss for miss in dict.fromkeys(near_misses(anatomy)) if miss not in good] or ["?"])
        for anatomy in anatomies
    ]
    return Contents(st.sampled_from(list(good)), st.one_of(wrong))


def _cells(code: Mined, row: Mapping[str, Any]) -> list[Any]:
    """Return the cells of the columns that the code names, or all cells if it names none."""
    named = [value for name, value in row.items() if name in code.names and value is not None]
    return named or [value for value in row.values() if value is not None]


Kind = Literal["valid", "nearly valid", "wild"]

_KINDS = ("valid", "nearly valid", "wild")
# Arbitrary limits on the ways to write a completion and on the rows with gold answers: each needs more strategies.
_MOST_WAYS = 16
_MOST_EXAMPLES = 20


def completions(
    reward: Reward | Callable[..., Any] | Sequence[Any],
    *,
    examples: Iterable[Mapping[str, Any]] = (),
    good: Any = (),
    kind: Kind | None = None,
    max_size: int = 5_000,
) -> SearchStrategy[str]:
    """Draw completions that fit or almost fit a reward's tags, schema, patterns, fences, extractors, and columns.

    Args:
        reward: a reward, or a trainer's reward function, whose code is searched for tags, marks, and patterns.
        examples: data rows, ``{"prompt": ..., <columns>}``, with the correct answers. Without rows, answers have only
            the required kind: a number, an option, or a list.
        good: correct completions, as in ``check_reward``.
        kind: ``"valid"`` for the form that the reward requires with the correct answer, ``"nearly valid"`` for the same
            with exactly one violation (a missing mark, a property with another type, or an incorrect answer), or
            ``"wild"`` for the output of a degenerate policy. None draws all three kinds.
        max_size: the maximum length of wild texts, in characters.

    If a reward has conflicting requirements in one place (a schema and a pattern for the same text), the most specific
    requirement is satisfied.

    Raises:
        RewardDefinitionError: the kind is unknown.
        BindingError: `examples` or `good` has the wrong type.
    """
    if kind is not None and kind not in _KINDS:
        raise RewardDefinitionError(
            f"completions: kind must be one of {', '.join(_KINDS)}, or None, got {shorten(kind)}"
        )
    tree = tree_of(reward, "completions")
    rows = examples_of(list(examples) or [{}], good)
    code = mine_reward(tree)
    if kind == "wild":
        return wild_texts(max_size=max_size, pieces=_pieces(code))
    all_contents = [
        contents for example in rows[:_MOST_EXAMPLES] for contents in _for_example(tree, example, rows, code)
    ]
    valid, nearly = (
        st.one_of([content.right for content in all_contents]),
        st.one_of([content.wrong for content in all_contents]),
    )
    if kind is not None:
        return valid if kind == "valid" else nearly
    return st.one_of(valid, nearly, wild_texts(max_size=max_size, pieces=_pieces(code)))


def _for_example(reward: Reward, example: Example, examples: Sequence[Example], code: Mined) -> list[Contents]:
    row = example.columns
    contents = []
    if example.good:
        contents.append(from_good([completion_text(entry) for entry in example.good], row))
    for leaves in _ways(reward):
        frame = next((entry.function for entry in leaves if isinstance(entry.function, Tags)), None)
        other_examples = [other for other in examples if other is not example]
        parts = [part for leaf in leaves if (part := part_of_leaf(leaf, row, _golds(leaf, other_examples))) is not None]
        if frame is not None or parts:
            contents.append(Contents(composed(frame, parts, valid=True), composed(frame, parts, valid=False)))
    return contents or [from_code(code, row)]


def _golds(binding: Binding, other_examples: Sequence[Example]) -> list[str]:
    """Return the gold answers of other examples, which are incorrect for this one."""
    names = [column.source for column in binding.columns]
    cells = [other.columns.get(name) for name in names for other in other_examples]
    return [gold_text(cell) for cell in cells if cell is not None]


def _ways(reward: Reward) -> list[list[Binding]]:
    """Return the leaves that one completion must satisfy, or several lists if any one of them is enough."""
    if reward.facts.binding is not None:
        return [[reward.facts.binding]]
    if reward.facts.wants == "none":
        return [[]]
    below = [_ways(child) for child in _positive_children(reward)]
    if reward.facts.wants == "any":
        return [leaves for alternatives in below for leaves in alternatives if leaves][:_MOST_WAYS] or [[]]
    joined = [[leaf for leaves in chosen for leaf in leaves] for chosen in islice(product(*below), _MOST_WAYS)]
    return [list({id(leaf): leaf for leaf in leaves}.values()) for leaves in joined]


def _positive_children(reward: Reward) -> Sequence[Reward]:
    """Return a node's children, except those with a negative weight."""
    facts = reward.facts
    if facts.weights is None or facts.addends is None:
        return facts.children
    weighted = zip(facts.weights, facts.addends, strict=True)
    return [child for weight, child in weighted if not (isinstance(weight, (int, float)) and weight < 0)]


def _pieces(code: Mined) -> list[str]:
    tags = [f"<{slash}{name}>" for name in code.tags for slash in ("", "/")]
    return [*tags, *code.texts]
