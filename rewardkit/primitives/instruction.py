"""Instructions: ``rk.instruction("punctuation:no_comma")`` gives 0.0 to ``Well, no.`` and 1.0 to ``Well no.``

The instructions of IFEval (Zhou et al. 2023, arXiv:2311.07911) and IFBench (Pyatkin et al. 2025, arXiv:2507.02833), for
training and for tests, by the ids of the public data sets. Every check takes linear time and downloads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import PlainValidator

from rewardkit.core.batch.batch import View
from rewardkit.core.batch.score import Score
from rewardkit.core.errors import CoercionError, RewardDefinitionError, shorten
from rewardkit.core.text.extraction import as_extractor, whole
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.text.thinking import THINKING
from rewardkit.core.text.visibility import has_visible_character
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.instructions.bound import (
    Instruction,
    constraints,
    instruction_arguments,
    instruction_ids,
    paired,
)
from rewardkit.primitives.instructions.passage import Passage
from rewardkit.primitives.instructions.registry import CHECKS

Reading = Literal["strict", "loose"]
Credit = Literal["partial", "binary"]

_EMPHASIS = re.compile(r"(^[ \t]*\*\s)|\*", re.MULTILINE)

_TOO_LONG = Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
_EMPTY = Score(0.0, "nothing visible")


def passages(text: str, reading: Reading) -> tuple[Passage, ...]:
    """Return the text without line breaks around it; a loose reading adds it without its first or last line, without
    asterisks, and without those that are not bullets."""
    text = text.strip("\r\n")
    if reading == "strict":
        return (Passage(text),)
    lines = text.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    texts = [text, *shorter]
    texts += [*(one.replace("*", "") for one in texts), *(_EMPHASIS.sub(r"\1", one) for one in texts)]
    return tuple(Passage(one) for one in dict.fromkeys(texts) if has_visible_character(one))


def _problem(instruction: Instruction, read: tuple[Passage, ...]) -> str:
    """Return what is wrong with the first passage, unless one of them follows the instruction."""
    problems = [instruction.problem(read[0])]
    if not problems[0] or any(not instruction.problem(passage) for passage in read[1:]):
        return ""
    return problems[0]


@dataclass(frozen=True)
class Follows:
    """Check one instruction."""

    instruction: Instruction
    reading: Reading

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return _TOO_LONG
        if not has_visible_character(text):
            return _EMPTY
        problem = _problem(self.instruction, passages(text, self.reading))
        return Score(0.0, problem) if problem else 1.0


@dataclass(frozen=True)
class FollowsAll:
    """Check the instructions of a row."""

    reading: Reading
    credit: Credit

    def __call__(
        self, text: str | None, ids: tuple[Any, ...], arguments: tuple[Mapping[str, Any], ...] | None = None
    ) -> float | Score:
        try:
            instructions = ids if arguments is None else paired(ids, arguments)
        except ValueError as error:
            raise CoercionError(str(error)) from None
        if text is None:
            return _TOO_LONG
        if not has_visible_character(text):
            return _EMPTY
        read = passages(text, self.reading)
        problems = [(one.kind.name, _problem(one, read)) for one in instructions]
        wrong = [f"{name}: {problem}" for name, problem in problems if problem]
        if not wrong:
            return 1.0
        share = 1.0 - len(wrong) / len(problems) if self.credit == "partial" else 0.0
        return Score(share, "; ".join(wrong))


def instruction(id: str, *, reading: Reading = "strict", extract: Extractor | Any = None, **arguments: Any) -> Reward:  # noqa: A002
    """Score 1.0 if the visible text follows one instruction of IFEval or IFBench, else 0.0.

    ``rk.instruction("length_constraints:number_words", num_words=3, relation="at least")`` gives 0.0 to ``Not so.``

    Args:
        id: the instruction's id in the public data sets, such as ``"punctuation:no_comma"``.
        reading: ``"loose"`` also accepts what follows the instruction without its first line, its last line, both, or
            its asterisks: IFEval's loose accuracy.
        extract: finds the text to check; by default the visible text, with its indentation.
        arguments: the instruction's arguments, under the names in the data sets.

    Raises:
        RewardDefinitionError: an unknown id; an argument that is missing, unknown or of the wrong type.
        MissingExtraError: the instruction needs the extra ``instructions``, which is not installed.
    """
    _checked("instruction", reading, Reading, "reading")
    try:
        bound = Instruction.of(id, arguments, exact=True)
    except ValueError as error:
        raise RewardDefinitionError(f"instruction: {error}") from None
    bound.kind.require()
    options = {name: (list(value) if isinstance(value, tuple) else value, None) for name, value in bound.arguments}
    shown = expression(
        "instruction", bound.id, **options, reading=(reading, "strict"), extract=(extract and _view(extract), None)
    )
    text = Parameter("text", "completion", view=_view(extract))
    return primitive(Follows(bound, reading), bound.kind.name, shown, text)


def instructions(
    ids: str = "instruction_id_list",
    arguments: str | None = "kwargs",
    *,
    reading: Reading = "strict",
    credit: Credit = "partial",
    extract: Extractor | Any = None,
) -> Reward:
    """Score the share of a row's instructions that the visible text follows, as IFEval and IFBench check them.

    With the columns ``instruction_id_list=["punctuation:no_comma", "startend:quotation"]`` and ``kwargs=[{}, {}]``,
    ``rk.instructions()`` gives 0.5 to ``"Well, no."`` in quotation marks. The note says what is wrong.

    Knows the 25 instructions of IFEval, the 58 of IFBench and the 29 of its training set. A text without visible
    characters scores 0.0.

    Args:
        ids: the column with the ids of the instructions, a list or JSON of one.
        arguments: the column with one mapping per instruction, a list or JSON of one; arguments that are None are
            ignored. None if the column `ids` holds both, as ``{"instruction_id": [...], "kwargs": [...]}``.
        reading: ``"loose"`` also accepts what follows an instruction without its first line, its last line, both, or
            its asterisks: IFEval's loose accuracy.
        credit: ``"partial"``: the share of the instructions; ``"binary"``: 1.0 only for all of them.
        extract: finds the text to check; by default the visible text, with its indentation.

    Raises:
        MissingExtraError: the extra ``instructions`` is not installed.
        CoercionError: while scoring: an unknown id, or an argument that is missing or of the wrong type.
    """
    _checked("instructions", reading, Reading, "reading")
    _checked("instructions", credit, Credit, "credit")
    for column in (ids, *([] if arguments is None else [arguments])):
        if not isinstance(column, str) or not column.strip():
            raise RewardDefinitionError(f"instructions: expected the name of a column, got {shorten(column)}")
    for kind in CHECKS.values():
        kind.require()
    given = [] if (ids, arguments) == ("instruction_id_list", "kwargs") else [ids, arguments]
    shown = expression(
        "instructions",
        *given,
        reading=(reading, "strict"),
        credit=(credit, "partial"),
        extract=(extract and _view(extract), None),
    )
    text = Parameter("text", "completion", view=_view(extract))
    if arguments is None:
        columns = [Parameter("ids", ids, annotation=Annotated[tuple[Any, ...], PlainValidator(constraints)])]
    else:
        columns = [
            Parameter("ids", ids, annotation=Annotated[tuple[Any, ...], PlainValidator(instruction_ids)]),
            Parameter(
                "arguments", arguments, annotation=Annotated[tuple[Any, ...], PlainValidator(instruction_arguments)]
            ),
        ]
    return primitive(FollowsAll(reading, credit), "instructions", shown, text, *columns)


def _view(extract: Extractor | Any) -> View:
    # The first line's indentation matters to some instructions, and rk.extract.whole() removes it.
    return THINKING if extract is None else as_extractor(extract, whole())


def _checked(name: str, value: object, options: Any, what: str) -> None:
    if value not in get_args(options):
        known = ", ".join(map(repr, get_args(options)))
        raise RewardDefinitionError(f"{name}: {what} must be one of {known}, got {shorten(value)}")
