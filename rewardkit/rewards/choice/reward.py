"""Multiple choice: ``rk.choice("answer")`` gives 1.0 to ``So the answer is (B).`` if "answer" is ``B``.

The completion must choose exactly one option. ``A, B, C or D`` does not choose an option, and neither does ``B or C``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass
from typing import Any, final

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.rewards.choice.claims import MOST_OPTIONS, Options, chosen
from rewardkit.text.extractors import Extractor, TextExtractor
from rewardkit.text.final_answer import marked, own_words
from rewardkit.text.marks import boxes
from rewardkit.tree.gold import AcceptedGolds, against_gold, best, is_default
from rewardkit.tree.parameters import OnUnparsableGold
from rewardkit.tree.reward import Reward


@dataclass(frozen=True)
class GoldOption:
    """A reader for gold cells with an option: its name, ``(B)``, ``B. Paris``, or its position starting at 0."""

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
        extracted = self.extract(value) if self.extract else value
        name = None if extracted is None else chosen(self.options, extracted, marked=True)
        if name is None:
            raise ValueError(f"{shorten(value)} is not one of {', '.join(names)}{self._hint(value)}")
        return name

    def _hint(self, value: str) -> str:
        if value.strip().isdecimal():
            return ". To specify positions (from 0), store integers, not text"
        miss = near_miss(value, self.options.names)
        return f" ({miss.strip()})" if miss else ""


@final
@dataclass(frozen=True)
class FinalChoice(TextExtractor):
    """An extractor for the option in the marked answer, else the last option that the text claims.

    If there is no option, the result is a passage that is not an option.
    """

    options: Options

    def find(self, answer: str) -> str | None:
        text = own_words(answer)
        mark = marked(text)
        if mark is None:
            return self._claimed(text)
        if mark.mark == "box":
            contents = boxes(text)
            if contents is None:
                return None
            names = {name for content in contents if (name := chosen(self.options, content, marked=True))}
            if not names:  # the value, or an intermediate formula: "\boxed{500}. So, the answer is B."
                return self._claimed(text)
            return names.pop() if len(names) == 1 and mark.text is not None else _passage(text)
        if mark.text is None:
            return None
        name = chosen(self.options, mark.text, marked=True)
        if name or mark.mark == "tag":
            return name or _passage(mark.text)
        return self._claimed(text)

    def _claimed(self, text: str) -> str:
        return chosen(self.options, text, marked=False) or _passage(text)

    def __repr__(self) -> str:
        return "final_choice()"


def _passage(text: str) -> str:
    """Return a text's end for the note, after a line break, which no option contains; empty if the text is blank."""
    return f"\n{text.strip()[-60:]}" if text.strip() else ""


@dataclass(frozen=True)
class Choice:
    """A check that the chosen option is the gold option. `found` is True if the extractor returns an option's name."""

    options: Options
    found: bool

    def __call__(self, answer: str | None, gold: tuple[str, ...]) -> float | Score:
        return best(self._compare, answer, gold)

    def _compare(self, answer: str | None, gold: str) -> float | Score:
        if answer is None or not answer.strip():
            return Score(0.0, "no answer found")
        name = answer if self.found else chosen(self.options, answer, marked=True)
        if name not in self.options.names:
            names = shorten(", ".join(self.options.names))
            return Score(0.0, f"{shorten(answer.strip()[-60:])} does not choose one of {names}")
        return 1.0 if name == gold else Score(0.0, f"chose {shorten(name, 60)}, not {shorten(gold, 60)}")


def choice(
    column: str,
    *,
    options: str | Iterable[str] = "ABCD",
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    on_unparsable_gold: OnUnparsableGold | None = None,
) -> Reward:
    r"""Score 1.0 if the completion chooses exactly the gold option in a multiple-choice question, else 0.0.

    ``rk.choice("answer")`` gives 1.0 to ``<answer>(B)</answer>``, ``\boxed{\text{B}}``, ``B. Paris``, and ``It cannot
    be A, so the answer is B.`` if "answer" is ``B``, and 0.0 to ``A, B, C or D`` and to ``B or C``.

    The text is read as a teacher would read it. "The answer is B" and "B is correct" decide first, then a first or last
    line that contains only the choice, then "I choose B" and "So B.", then "Mitochondria (B)" at the very end. Among
    claims of the same kind, the last one counts. If there is a retraction ("No wait, C"), nothing before it counts.
    Denials, questions, suppositions, and reports about other people ("most students pick B") are not choices, and
    neither is a choice next to another option ("B or C", "B, C"). Case is ignored.

    Args:
        column: the column with the gold option: its name, its position starting at 0, or a list of accepted options.
        options: the options' letters, or their names such as ``["yes", "no"]``, in the order of their positions.
        extract: finds the answer. By default, this is the marked answer (a tag, a box, ``####``), else the visible
            text. If you pass `extract`, the answer must be the choice itself (an explanation may follow its label, as
            in ``B. Paris``).
        gold: finds the gold option in its cell.
        on_unparsable_gold: the effect of an unreadable gold cell: ``"raise"`` raises a CoercionError. With ``"fail"``,
            the row has no score, and ``rk.fallback`` uses the next reward. The default is ``"fail"`` during training
            and ``"raise"`` otherwise.

    Raises:
        RewardDefinitionError: there are fewer than two or more than 100 options, an option is listed twice, or the
            options have no order.
        CoercionError: while scoring: a gold cell does not name an option.
    """
    option_set = Options(_names(options))
    return against_gold(
        Choice(option_set, is_default(extract)),
        "choice",
        column,
        tuple[str, ...],
        lambda where: AcceptedGolds(GoldOption(option_set, where)),
        extract=extract,
        gold=gold,
        default=FinalChoice(option_set),
        on_unparsable_gold=on_unparsable_gold,
        options=(options if isinstance(options, str) else list(option_set.names), "ABCD"),
    )


def _names(options: object) -> tuple[str, ...]:
    if isinstance(options, (AbstractSet, Mapping)) or not isinstance(options, Iterable):
        raise RewardDefinitionError(
            f'choice: options must be ordered letters or names, such as "ABCD" or ["yes", "no"], got {shorten(options)}'
        )
    names = tuple(options)
    if len(names) < 2 or not all(isinstance(name, str) and " ".join(name.split()) == name != "" for name in names):
        raise RewardDefinitionError(
            'choice: options must be at least two letters or names, such as "ABCD" or ["yes", "no"], without line '
            f"breaks or extra spaces, got {shorten(list(names))}"
        )
    if len(names) > MOST_OPTIONS:
        raise RewardDefinitionError(
            f"choice: got {len(names):,} options, but the limit is {MOST_OPTIONS}. For free text, use rk.exact"
        )
    if len({name.casefold() for name in names}) < len(names):
        raise RewardDefinitionError(f"choice: the options must all be different, got {shorten(list(names))}")
    return names
