"""Multiple choice: ``rk.choice("answer")`` gives 1.0 to ``So the answer is (B).`` if "answer" is ``B``.

The completion must choose one option. ``A, B, C or D`` chooses none, and neither does ``B or C``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.core.text.extraction import as_extractor, whole
from rewardkit.core.text.extractors import Answer, Extractor, Whole
from rewardkit.core.text.thinking import THINKING
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import OnUnparsableGold, Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.choices.claims import chosen
from rewardkit.primitives.choices.options import MOST_OPTIONS, Options


@dataclass(frozen=True)
class GoldOption:
    """Read a gold cell as an option: its name, ``(B)``, ``B. Paris``, or its position from 0."""

    options: Options
    extract: Extractor | None

    def __call__(self, value: object) -> str:
        names = self.options.names
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < len(names):
                raise ValueError(f"option {value} does not exist: the {len(names)} options are 0 to {len(names) - 1}")
            return names[value]
        if not isinstance(value, str):
            raise ValueError(f"not an option: {shorten(value)}")
        found = self.extract(value) if self.extract else value
        name = None if found is None else chosen(self.options, found, marked=True)
        if name is None:
            raise ValueError(f"{shorten(value)} is not one of {', '.join(names)}{self._hint(value)}")
        return name

    def _hint(self, value: str) -> str:
        if value.strip().isdecimal():
            return "; to give positions (from 0), store integers, not text"
        miss = near_miss(value, self.options.names)
        return f" ({miss.strip()})" if miss else ""


@dataclass(frozen=True)
class Choice:
    """Check that the chosen option is the gold one."""

    options: Options
    unmarked: bool

    def __call__(self, text: str, found: str | None, gold: str) -> float | Score:
        if found is None or not found.strip():
            return Score(0.0, "no answer found")
        name = self._chosen(text, found)
        if name is None:
            return Score(0.0, f"{shorten(found[-60:])} does not choose one of {shorten(', '.join(self.options.names))}")
        return 1.0 if name == gold else Score(0.0, f"chose {shorten(name, 60)}, not {shorten(gold, 60)}")

    def _chosen(self, text: str, found: str) -> str | None:
        marked = not self.unmarked or found != text
        name = chosen(self.options, found, marked=marked)
        if name or not marked or not self._is_heading(text):
            return name
        return chosen(self.options, text, marked=False)

    def _is_heading(self, text: str) -> bool:
        """Whether only ``####`` marks the answer: it may also be a heading ("#### Step 2"), which marks nothing."""
        return self.unmarked and not any(mark in text for mark in ("<answer>", "</answer>", "\\boxed{"))


def choice(
    column: str,
    *,
    options: str | Iterable[str] = "ABCD",
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    on_unparsable_gold: OnUnparsableGold | None = None,
) -> Reward:
    r"""Score 1.0 if the completion chooses exactly the gold option of a multiple-choice question, else 0.0.

    ``rk.choice("answer")`` gives 1.0 to ``<answer>(B)</answer>``, ``\boxed{\text{B}}``, ``B. Paris`` and ``It cannot be
    A, so the answer is B.`` if "answer" is ``B``; 0.0 to ``A, B, C or D`` and to ``B or C``.

    The text is read as a teacher would read it. "The answer is B" and "B is correct" decide; otherwise a first or
    last line with only the choice; then "I choose B" and "So B."; then "Mitochondria (B)" at the very end. The last
    claim counts, and after a retraction ("No wait, C") nothing before it does. Denials, questions, suppositions and
    reports about other people ("most students pick B") are not choices, and neither is a choice next to another
    option ("B or C", "B, C"). Case is ignored.

    Args:
        column: the column of the gold option: its name, or its position from 0.
        options: the letters, or names such as ``["yes", "no"]``, in the order of their positions.
        extract: finds the answer, which must then be the choice itself (an explanation may follow its label, as in
            ``B. Paris``). By default the marked answer (a tag, a box, ``####``), else the visible text.
        gold: finds the gold option in its cell.
        on_unparsable_gold: what a gold cell does that cannot be read: ``"raise"`` a CoercionError, or ``"fail"``: its
            row has no score, and ``rk.fallback`` asks the next reward. By default it raises, and fails in a training.

    Raises:
        RewardDefinitionError: fewer than two options or more than 100, an option listed twice, or options without an
            order.
        CoercionError: while scoring: a gold cell that does not name an option.
    """
    if not isinstance(column, str):
        raise RewardDefinitionError(f"choice: pass the name of the gold option's column, got {shorten(column)}")
    known = Options(_names(options))
    where = as_extractor(extract, Answer())
    gold_where = None if gold is None else as_extractor(gold, whole())
    listed = options if isinstance(options, str) else list(known.names)
    shown = expression(
        "choice",
        column,
        options=(listed, "ABCD"),
        extract=(extract and where, None),
        gold=(gold_where, None),
        on_unparsable_gold=(on_unparsable_gold, None),
    )
    return primitive(
        Choice(known, isinstance(where, Answer)),
        "choice",
        shown,
        Parameter("text", "completion", view=Whole(thinking=where.thinking if isinstance(where, Answer) else THINKING)),
        Parameter("found", "completion", view=where),
        Parameter(
            "gold",
            column,
            annotation=Annotated[str, BeforeValidator(GoldOption(known, gold_where))],
            on_unparsable_gold=on_unparsable_gold,
        ),
    )


def _names(options: object) -> tuple[str, ...]:
    if isinstance(options, (AbstractSet, Mapping)) or not isinstance(options, Iterable):
        raise RewardDefinitionError(
            f'choice: options must be ordered letters or names, such as "ABCD" or ["yes", "no"]; got {shorten(options)}'
        )
    names = tuple(options)
    if len(names) < 2 or not all(isinstance(name, str) and " ".join(name.split()) == name != "" for name in names):
        raise RewardDefinitionError(
            'choice: options must be at least two letters or names, such as "ABCD" or ["yes", "no"], without line '
            f"breaks or extra spaces; got {shorten(list(names))}"
        )
    if len(names) > MOST_OPTIONS:
        raise RewardDefinitionError(
            f"choice: got {len(names):,} options, the limit is {MOST_OPTIONS}; for free text, use rk.exact"
        )
    if len({name.casefold() for name in names}) < len(names):
        raise RewardDefinitionError(f"choice: each option must be different, got {shorten(list(names))}")
    return names
