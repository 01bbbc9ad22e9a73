"""Completions made for a reward, from its settings and code.

``completions(rk.tags("think", "answer"), kind="nearly valid")`` draws ``<think>0</think><answer>0``, and
``completions(rk.json_schema(Invoice))`` draws invoices, invoices with one mistake, and wild texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, product
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rewardkit.core.batch.messages import completion_text
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.conversion import tree_of
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.format import Tags
from rewardkit.testing.examples import Example, examples_of
from rewardkit.testing.strategies.contents import asked_by, gold_text
from rewardkit.testing.strategies.layouts import composed
from rewardkit.testing.strategies.source_texts import from_code, from_good
from rewardkit.testing.strategies.texts import wild_texts
from rewardkit.testing.strategies.wordings import Contents
from rewardkit.testing.vocabulary import Mined, mined

Kind = Literal["valid", "nearly valid", "wild"]

_KINDS = ("valid", "nearly valid", "wild")
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
    """Draw completions that fit a reward's tags, schema, patterns, fences, extractors and columns, or almost fit them.

    Args:
        reward: a reward, or a trainer's reward function, whose code is searched for tags, marks and patterns.
        examples: rows of the data, ``{"prompt": ..., <columns>}``, with the right answers. Without them, answers are
            of the right kind: a number, an option, a list.
        good: right completions, as in ``check_reward``.
        kind: ``"valid"``: the form that the reward asks for, with the right answer; ``"nearly valid"``: the same with
            exactly one violation (a mark missing, a property of another type, a wrong answer); ``"wild"``: what a
            policy writes when it degenerates. None draws all three.
        max_size: maximum length of wild texts in characters.

    If a reward asks for conflicting things in one place (a schema and a pattern for the same text), the most specific
    one is satisfied.

    Raises:
        RewardDefinitionError: an unknown kind.
        BindingError: `examples` or `good` has the wrong type.
    """
    if kind is not None and kind not in _KINDS:
        raise RewardDefinitionError(
            f"completions: kind must be one of {', '.join(_KINDS)}, or None, got {shorten(kind)}"
        )
    tree = tree_of(reward, "completions")
    rows = examples_of(list(examples) or [{}], good)
    code = mined(tree)
    if kind == "wild":
        return wild_texts(max_size=max_size, pieces=_pieces(code))
    made = [contents for example in rows[:_MOST_EXAMPLES] for contents in _for_example(tree, example, rows, code)]
    valid, nearly = st.one_of([one.right for one in made]), st.one_of([one.wrong for one in made])
    if kind is not None:
        return valid if kind == "valid" else nearly
    return st.one_of(valid, nearly, wild_texts(max_size=max_size, pieces=_pieces(code)))


def _for_example(reward: Reward, example: Example, examples: Sequence[Example], code: Mined) -> list[Contents]:
    row = example.columns
    made = []
    if example.good:
        made.append(from_good([completion_text(one) for one in example.good], row))
    for leaves in _ways(reward):
        frame = next((one.function for one in leaves if isinstance(one.function, Tags)), None)
        others = [other for other in examples if other is not example]
        parts = [part for leaf in leaves if (part := asked_by(leaf, row, _golds(leaf, others))) is not None]
        if frame is not None or parts:
            made.append(Contents(composed(frame, parts, valid=True), composed(frame, parts, valid=False)))
    return made or [from_code(code, row)]


def _golds(binding: Binding, others: Sequence[Example]) -> list[str]:
    """Return the gold answers of other examples, which are wrong for this one."""
    names = [one.source for one in binding.columns]
    cells = [other.columns.get(name) for name in names for other in others]
    return [gold_text(cell) for cell in cells if cell is not None]


def _ways(reward: Reward) -> list[list[Binding]]:
    """Return the leaves that one completion must satisfy; several lists if any of them will do."""
    if reward.facts.binding is not None:
        return [[reward.facts.binding]]
    if reward.facts.wants == "none":
        return [[]]
    below = [_ways(child) for child in _wanted(reward)]
    if reward.facts.wants == "any":
        return [leaves for ways in below for leaves in ways if leaves][:_MOST_WAYS] or [[]]
    joined = [[leaf for leaves in chosen for leaf in leaves] for chosen in islice(product(*below), _MOST_WAYS)]
    return [list({id(leaf): leaf for leaf in leaves}.values()) for leaves in joined]


def _wanted(reward: Reward) -> Sequence[Reward]:
    """Return the children of a node, without those with a negative weight."""
    facts = reward.facts
    if facts.weights is None or facts.addends is None:
        return facts.children
    weighted = zip(facts.weights, facts.addends, strict=True)
    return [child for weight, child in weighted if not (isinstance(weight, (int, float)) and weight < 0)]


def _pieces(code: Mined) -> list[str]:
    tags = [f"<{slash}{name}>" for name in code.tags for slash in ("", "/")]
    return [*tags, *code.texts]
