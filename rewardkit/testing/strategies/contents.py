"""Contents: what a component accepts in its place, and what violates only that.

``asked_by(leaf, {"answer": "42"})`` for ``rk.number("answer")`` has ``42`` as right, ``427`` and ``nan`` as wrong. The
reward is not asked, so a test can show that it does not pay right contents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import singledispatch
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rewardkit.core.errors import RewardKitError
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.gold import AcceptedGolds, GoldTexts
from rewardkit.core.tree.parameters import Parameter
from rewardkit.primitives.choice import Choice
from rewardkit.primitives.code import CodeRuns, CodeTests
from rewardkit.primitives.json_match import JsonMatch
from rewardkit.primitives.json_schema import RowSchemaCredit, SchemaCredit
from rewardkit.primitives.json_valid import JsonValid
from rewardkit.primitives.math_equal import MathEqual
from rewardkit.primitives.number import Number
from rewardkit.primitives.schema.engine import SchemaEngine
from rewardkit.primitives.steps import FixedSteps
from rewardkit.testing.strategies.columns import columns
from rewardkit.testing.strategies.documents import json_documents, unlike
from rewardkit.testing.strategies.texts import bodies, numbers, wrong_answers
from rewardkit.testing.strategies.wordings import Contents, of_wording

_PROGRAMS = ("print(0)", "print(input())", "def f(x):\n    return x", "n = int(input())\nprint(n + 1)")
_NO_PROGRAMS = ("print(", "def f(:\n    pass", "import no_such_module_here", "raise ValueError(0)")
_FORMULAS = ("0", "x", "1/2", "\\frac{1}{2}", "2\\sqrt{3}", "x^2+1", "\\pi")
_NO_ANSWERS = ("I am not sure.", "?", "...", "N/A")


@dataclass(frozen=True)
class Part:
    """What one component asks for in a completion.

    Attributes:
        view: its extractor; None for the whole text.
        contents: right and wrong ones.
        rank: if several components read one place, the contents with the highest rank are used.
    """

    view: Any
    contents: Contents
    rank: int = 0


def asked_by(binding: Binding, row: Mapping[str, Any], others: Iterable[str] = ()) -> Part | None:
    """Return what a leaf asks for; None for a user's function, and for rewards that count tokens.

    Args:
        binding: of a leaf of the tree.
        row: columns; without the column of the gold answer, right contents are only of the right kind.
        others: gold answers of other rows.
    """
    place = next((one for one in binding.parameters if one.source == "completion"), None)
    gold = next((one for one in binding.parameters if one.is_column), None)
    if not binding.trusted or place is None:
        return None
    known = of_wording(binding.function)
    if known is not None:
        return Part(place.view, known, 1 if known.loose else 5)
    made = of(binding.function, _Gold(gold, row, tuple(others)))
    if made is not None:
        return Part(place.view, made, 4 if gold is not None else 3)
    return Part(place.view, _against(_Gold(gold, row, tuple(others))), 2) if gold is not None else None


@dataclass(frozen=True)
class _Gold:
    """The column that a component compares with, and its cell in this row."""

    parameter: Parameter | None
    row: Mapping[str, Any]
    others: tuple[str, ...]

    @property
    def cell(self) -> Any:
        return None if self.parameter is None else self.row.get(self.parameter.source)

    @property
    def _readers(self) -> list[Any]:
        metadata = getattr(self.parameter and self.parameter.annotation, "__metadata__", ())
        return [getattr(item, "func", None) for item in metadata]

    @property
    def text(self) -> str | None:
        """The gold answer as a completion would write it; None if unknown."""
        if self.parameter is None or self.cell is None:
            return None
        cell = self.cell
        for read in self._readers:
            if isinstance(read, (AcceptedGolds, GoldTexts)) and isinstance(cell, (list, tuple)) and cell:
                cell = cell[0]
            extract = getattr(read, "extract", None)
            if extract is not None and isinstance(cell, str):
                return str(extract(cell) or "") or None
        return gold_text(cell)

    @property
    def meant(self) -> Any:
        """The cell as the component reads it; the first of several accepted answers."""
        if self.parameter is None or self.cell is None:
            return None
        try:
            value = self.parameter.coercer(self.cell)
        except RewardKitError:
            return None
        several = any(isinstance(read, AcceptedGolds) for read in self._readers)
        return value[0] if several else value

    def wrong(self, *, honest: bool = False) -> SearchStrategy[str]:
        return wrong_answers(self.text or "", value=self.cell, others=self.others, honest=honest)


def gold_text(cell: Any) -> str:
    """Write a cell as a completion would."""
    if isinstance(cell, (list, tuple, set, frozenset)):
        items = [gold_text(item) for item in cell]
        return json.dumps(list(cell), default=str) if any("," in item for item in items) else ", ".join(items)
    return json.dumps(cell, default=str) if isinstance(cell, Mapping) else str(cell).strip()


def _against(gold: _Gold) -> Contents:
    """Return contents for any component that compares with a column."""
    if gold.text is None:
        annotation = gold.parameter.annotation if gold.parameter is not None else Any
        try:
            right = columns(annotation).map(gold_text).filter(lambda text: bool(text.strip()))
        except RewardKitError:
            right = bodies()
        return Contents(right, st.sampled_from(_NO_ANSWERS))
    # Other wrong answers may be paid in full by design: recall pays for extra items.
    return Contents(st.just(gold.text), gold.wrong(honest=True))


@singledispatch
def of(function: object, gold: _Gold) -> Contents | None:
    """Return what a primitive asks for; None if its column says everything."""
    return None


@of.register
def _(function: JsonValid, gold: _Gold) -> Contents:
    kinds = {"object": "{", "array": "["}
    opening = kinds.get(function.kind or "", "{[")
    right = json_documents().filter(lambda text: text.lstrip()[0] in opening)
    other = [json_documents().filter(lambda text: text.lstrip()[0] not in opening)] if function.kind else []
    return Contents(right, st.one_of(json_documents(valid=False), *other))


@of.register
def _(function: SchemaCredit, gold: _Gold) -> Contents:
    schema = function.schema.schema
    return Contents(json_documents(schema), json_documents(schema, valid=False))


@of.register
def _(function: RowSchemaCredit, gold: _Gold) -> Contents:
    schema = gold.meant.root if isinstance(gold.meant, SchemaEngine) else True
    return Contents(json_documents(schema), json_documents(schema, valid=False))


@of.register
def _(function: JsonMatch, gold: _Gold) -> Contents:
    if gold.text is None:
        return Contents(json_documents(), json_documents(valid=False))
    try:
        value = json.loads(gold.text)
    except ValueError:
        return _against(gold)
    return Contents(st.just(gold.text), unlike(value).map(json.dumps))


@of.register
def _(function: Number, gold: _Gold) -> Contents:
    if gold.text is None:
        return Contents(numbers(), st.sampled_from(["seven", "1/0", "nan", "?", "12 or 13"]))
    meant = gold.meant
    plain = format(meant, "f") if isinstance(meant, Decimal) else gold.text
    # With slowly falling credit, near numbers are hardly violations; these are far away.
    far = [format(Decimal(str(meant)) * 10 + step, "f") for step in (7, 1000)] if isinstance(meant, Decimal) else []
    return Contents(st.sampled_from([plain, gold.text]), st.one_of(gold.wrong(), *map(st.just, far)))


@of.register
def _(function: Choice, gold: _Gold) -> Contents:
    names = list(function.options.names)
    right = gold.meant if isinstance(gold.meant, str) else None
    one = st.sampled_from(names) if right is None else st.just(right)
    several = st.permutations(names).map(lambda order: " or ".join(order))
    nothing = st.one_of(several, st.sampled_from(_NO_ANSWERS))
    others = [name for name in names if name != right]
    return Contents(one, st.one_of(st.sampled_from(others), nothing) if right is not None else nothing)


@of.register
def _(function: MathEqual, gold: _Gold) -> Contents | None:
    return None if gold.text else Contents(st.sampled_from(_FORMULAS), st.sampled_from(_NO_ANSWERS))


@of.register(CodeRuns)
@of.register(CodeTests)
def _(function: CodeRuns | CodeTests, gold: _Gold) -> Contents:
    return Contents(st.sampled_from(_PROGRAMS), st.sampled_from(_NO_PROGRAMS))


@of.register
def _(function: FixedSteps, gold: _Gold) -> Contents:
    steps = list(function.milestones)
    fewer = [steps[:place] + steps[place + 1 :] for place in range(len(steps))]
    return Contents(
        st.sampled_from(["\n", ", then "]).map(lambda joint: joint.join(steps)),
        st.sampled_from([", then ".join(some) or "?" for some in fewer]),
    )
