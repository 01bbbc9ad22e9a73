"""Instructions: ``rk.instructions(only="punctuation:no_comma")`` gives 0.0 to ``Well, no.`` and 1.0 to ``Well no.``

The instructions from IFEval (Zhou et al. 2023, arXiv:2311.07911) and IFBench (Pyatkin et al. 2025, arXiv:2507.02833),
for training and evaluation, with the ids from the public datasets. Every check takes linear time and does not download
anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, final, get_args

from pydantic import PlainValidator

from rewardkit.batch.batch import View
from rewardkit.batch.score import Score
from rewardkit.errors import CoercionError, RewardDefinitionError, near_miss, shorten
from rewardkit.rewards.instructions import content, form, style
from rewardkit.rewards.instructions.passage import Passage
from rewardkit.rewards.instructions.registry import CHECKS, Definition, definition
from rewardkit.text.extraction import as_extractor, whole
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.literals import check_json, read_literal
from rewardkit.text.thinking import THINKING
from rewardkit.text.visibility import has_visible_character
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

# Bound instructions: an instruction with its arguments, and the cells of datasets that hold them.


FAMILIES = (content, form, style)
"""The modules whose checks are registered."""

MOST = 100
"""The maximum number of instructions per row. The limit is arbitrary: rows in datasets have only a few."""


@final
@dataclass(frozen=True)
class Instruction:
    """An instruction with its arguments."""

    id: str
    arguments: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, identifier: Any, values: Mapping[Any, Any], *, exact: bool = False) -> Instruction:
        """Return the instruction with its checked arguments.

        Arguments that are None count as missing. With `exact`, unknown arguments raise a ValueError.
        """
        kind = definition(identifier)
        present = {name: value for name, value in values.items() if value is not None}
        if exact and (unknown := next((name for name in present if name not in kind.readers), None)):
            raise ValueError(f"{kind.id} takes no {unknown!r}.{near_miss(unknown, kind.readers)} {_takes(kind)}")
        arguments = []
        for name, read in kind.readers.items():
            if name not in present:
                raise ValueError(f"{kind.id} lacks {name!r}. {_takes(kind)}")
            try:
                arguments.append((name, read(_plain(present[name]))))
            except ValueError as problem:
                raise ValueError(f"{kind.id}: {name!r} {problem}, got {shorten(present[name], 60)}") from None
        return cls(kind.id, tuple(arguments))

    @property
    def kind(self) -> Definition:
        return definition(self.id)

    def problem(self, passage: Passage) -> str:
        """Return the error in a text with visible characters; empty if the text follows the instruction."""
        return self.kind.function(passage, **dict(self.arguments))


def _takes(kind: Definition) -> str:
    return f"It takes {', '.join(kind.readers)}." if kind.readers else "It takes no arguments."


def _plain(value: Any) -> Any:
    """Convert numpy scalars and arrays to Python values."""
    return value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value


def instruction_ids(value: Any) -> tuple[str, ...]:
    """Return a row's instruction ids from a cell: a list, a JSON list, or a single id."""
    cell = _plain(value)
    if isinstance(cell, str):
        cell = _parsed(cell) if cell.lstrip().startswith(("[", '"')) else cell.strip()
    listed = [cell] if isinstance(cell, str) else cell
    if not isinstance(listed, Sequence) or not listed:
        raise ValueError("expected a list with the ids of one or more instructions")
    if len(listed) > MOST:
        raise ValueError(f"more than {MOST} instructions")
    return tuple(definition(identifier).id for identifier in listed)


def instruction_arguments(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return one mapping of arguments per instruction from a cell: a list or a JSON list. None is an empty mapping."""
    cell = _plain(value)
    if isinstance(cell, str):
        cell = _parsed(cell)
    listed = [cell] if isinstance(cell, Mapping) else cell
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise ValueError("expected a list with one mapping of arguments per instruction")
    if len(listed) > MOST:
        raise ValueError(f"more than {MOST} mappings")
    parsed = [_parsed(entry) if isinstance(entry, str) else entry for entry in listed]
    wrong = next((entry for entry in parsed if not (entry is None or isinstance(entry, Mapping))), None)
    if wrong is not None:
        raise ValueError(f"expected a mapping of arguments for each instruction, got {shorten(wrong, 60)}")
    # Arrow gives every mapping the keys of all of them, most with None.
    return tuple({name: value for name, value in (entry or {}).items() if value is not None} for entry in parsed)


def constraints(value: Any) -> tuple[Instruction, ...]:
    """Return the instructions from a cell with ids and arguments: ``{"instruction_id": [...], "kwargs": [...]}``."""
    cell = _plain(value)
    if isinstance(cell, str):
        cell = _parsed(cell)
    if isinstance(cell, Sequence) and len(cell) == 1:
        cell = cell[0]
    if not isinstance(cell, Mapping):
        raise ValueError('expected {"instruction_id": [...], "kwargs": [...]}')
    ids = cell.get("instruction_id_list") or cell.get("instruction_id")
    return paired(instruction_ids(ids), instruction_arguments(cell.get("kwargs")))


def paired(ids: Sequence[str], arguments: Sequence[Mapping[str, Any]]) -> tuple[Instruction, ...]:
    """Return a row's instructions, each with its arguments."""
    if len(ids) != len(arguments):
        raise ValueError(f"{len(ids)} instructions, but {len(arguments)} mappings of arguments")
    return tuple(map(Instruction.of, ids, arguments))


def _parsed(text: str) -> Any:
    """Return the value of JSON text or a Python literal."""
    try:
        check_json(text)
        return json.loads(text)
    except json.JSONDecodeError:
        return read_literal(text)


Reading = Literal["strict", "loose"]
Credit = Literal["partial", "binary"]

# IFEval's loose reading removes all asterisks; another reading keeps those that begin items of a list.
_EMPHASIS = re.compile(r"(^[ \t]*\*\s)|\*", re.MULTILINE)

_TOO_LONG = Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
_EMPTY = Score(0.0, "nothing visible")


def passages(text: str, reading: Reading) -> tuple[Passage, ...]:
    """Return the versions of `text` to check: one without surrounding line breaks, plus others for a loose reading.

    A loose reading adds the text without its first line, its last line, or both. It also adds each version without
    asterisks, and without asterisks that are not bullets.
    """
    text = text.strip("\r\n")
    if reading == "strict":
        return (Passage(text),)
    lines = text.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    texts = [text, *shorter]
    texts += [*(variant.replace("*", "") for variant in texts), *(_EMPHASIS.sub(r"\1", variant) for variant in texts)]
    return tuple(Passage(variant) for variant in dict.fromkeys(texts) if has_visible_character(variant))


def _problem(instruction: Instruction, read: tuple[Passage, ...]) -> str:
    """Return the error in the first passage; empty if any of the passages follows the instruction."""
    problems = [instruction.problem(read[0])]
    if not problems[0] or any(not instruction.problem(passage) for passage in read[1:]):
        return ""
    return problems[0]


@dataclass(frozen=True)
class FollowsAll:
    """A check for a row's instructions."""

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
        problems = [(instruction.kind.name, _problem(instruction, read)) for instruction in instructions]
        wrong = [f"{name}: {problem}" for name, problem in problems if problem]
        if not wrong:
            return 1.0
        share = 1.0 - len(wrong) / len(problems) if self.credit == "partial" else 0.0
        return Score(share, "; ".join(wrong))


@dataclass(frozen=True)
class Follows:
    """A check for instructions that are the same in all rows."""

    row: FollowsAll
    instructions: tuple[Instruction, ...]

    def __call__(self, text: str | None) -> float | Score:
        score = self.row(text, self.instructions)
        if isinstance(score, Score) and len(self.instructions) == 1:  # the component already has this name
            return Score(score.value, score.note.removeprefix(f"{self.instructions[0].kind.name}: "))
        return score


def instructions(
    ids: str = "instruction_id_list",
    arguments: str | None = "kwargs",
    *,
    only: str | Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    reading: Reading = "strict",
    credit: Credit = "partial",
    extract: Extractor | Any = None,
) -> Reward:
    """Score the fraction of a row's instructions that the visible text follows, as checked by IFEval and IFBench.

    With the columns ``instruction_id_list=["punctuation:no_comma", "startend:quotation"]`` and ``kwargs=[{}, {}]``,
    ``rk.instructions()`` gives 0.5 to ``"Well, no."`` in quotation marks. The note names the problem.
    ``rk.instructions(only="punctuation:no_comma")`` gives 0.0 to ``Well, no.`` and 1.0 to ``Well no.``

    This reward supports the 25 instructions in IFEval, the 58 in IFBench, and the 29 in IFBench's training set. A text
    without visible characters scores 0.0.

    Args:
        ids: the column with the instruction ids, as a list or a JSON list.
        arguments: the column with one mapping per instruction, as a list or a JSON list. Arguments that are None are
            ignored. Pass None if the column `ids` has both, as in ``{"instruction_id": [...], "kwargs": [...]}``.
        only: instructions that are the same in all rows, instead of columns: an id, a list of ids, or a map from ids to
            arguments, as in ``{"length_constraints:number_words": {"num_words": 3, "relation": "at least"}}``. For a
            single instruction, the component has the instruction's name.
        reading: ``"loose"`` also accepts a text that follows an instruction without its first line, its last line,
            both, or its asterisks: IFEval's loose accuracy.
        credit: ``"partial"``: the fraction of instructions followed; ``"binary"``: 1.0 if all are followed, else 0.0.
        extract: finds the text to check, by default the visible text, with its indentation.

    Raises:
        RewardDefinitionError: columns and `only` are combined, or `only` contains an unknown id or an argument that is
            missing, unknown, or of the incorrect type.
        MissingExtraError: the extra ``instructions`` is not installed.
        CoercionError: while scoring: an id is unknown, or an argument is missing or of the incorrect type.
    """
    _checked("instructions", reading, Reading, "reading")
    _checked("instructions", credit, Credit, "credit")
    for column in (ids, *([] if arguments is None else [arguments])):
        if not isinstance(column, str) or not column.strip():
            raise RewardDefinitionError(f"instructions: expected the name of a column, got {shorten(column)}")
    custom_columns = [] if (ids, arguments) == ("instruction_id_list", "kwargs") else [ids, arguments]
    if only is not None and custom_columns:
        raise RewardDefinitionError("instructions: pass either column names or only=, but not both")
    fixed = () if only is None else _fixed(only)
    for kind in CHECKS.values() if only is None else [instruction.kind for instruction in fixed]:
        kind.require()
    call_text = expression(
        "instructions",
        *custom_columns,
        only=(_written(fixed), None),
        reading=(reading, "strict"),
        credit=(credit, "partial"),
        extract=(extract and _view(extract), None),
    )
    text = Parameter("text", "completion", view=_view(extract))
    if only is not None:
        name = fixed[0].kind.name if len(fixed) == 1 else "instructions"
        return primitive(Follows(FollowsAll(reading, credit), fixed), name, call_text, text)
    if arguments is None:
        columns = [Parameter("ids", ids, annotation=Annotated[tuple[Any, ...], PlainValidator(constraints)])]
    else:
        columns = [
            Parameter("ids", ids, annotation=Annotated[tuple[Any, ...], PlainValidator(instruction_ids)]),
            Parameter(
                "arguments", arguments, annotation=Annotated[tuple[Any, ...], PlainValidator(instruction_arguments)]
            ),
        ]
    return primitive(FollowsAll(reading, credit), "instructions", call_text, text, *columns)


def _fixed(only: Any) -> tuple[Instruction, ...]:
    """Return the instructions that are the same in all rows, from any form of ``only=``."""
    listed = {only: {}} if isinstance(only, str) else only if isinstance(only, Mapping) else {id_: {} for id_ in only}
    try:
        bound = tuple(Instruction.of(id_, arguments, exact=True) for id_, arguments in listed.items())
    except ValueError as error:
        raise RewardDefinitionError(f"instructions: {error}") from None
    if not 1 <= len(bound) <= MOST:
        raise RewardDefinitionError(f"instructions: only must have 1 to {MOST} instructions, got {len(bound)}")
    return bound


def _written(fixed: Sequence[Instruction]) -> Any:
    """Return ``only=`` in its shortest form; None if there are no instructions."""
    arguments_by_id = {
        bound.id: {name: list(value) if isinstance(value, tuple) else value for name, value in bound.arguments}
        for bound in fixed
    }
    if any(arguments_by_id.values()):
        return arguments_by_id
    return next(iter(arguments_by_id), None) if len(arguments_by_id) < 2 else list(arguments_by_id)


def _view(extract: Extractor | Any) -> View:
    # The first line's indentation matters to some instructions, and rk.extract.whole() removes it.
    return THINKING if extract is None else as_extractor(extract, whole())


def _checked(name: str, value: object, options: Any, option: str) -> None:
    if value not in get_args(options):
        choices = ", ".join(map(repr, get_args(options)))
        raise RewardDefinitionError(f"{name}: {option} must be one of {choices}, got {shorten(value)}")
