"""Score how far a completion's JSON satisfies a schema.

With ``class Line(BaseModel): sku: str; qty: int``, the document ``{"sku": "a-7", "qty": "three"}`` scores 0.5
with ``credit="partial"``, with the note ``qty: "three" is not of type "integer"``, and 0.0 with
``credit="binary"``. The formula and its laws are in ``rewardkit.primitives.schema.credit``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, PlainValidator, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.text.extraction import as_extractor, document
from rewardkit.core.text.extractors import Extractor, Json
from rewardkit.core.text.json_text import Parsed
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.schema.cells import without_gaps
from rewardkit.primitives.schema.checks import read_schema
from rewardkit.primitives.schema.credit import credit_of
from rewardkit.primitives.schema.document import refusal
from rewardkit.primitives.schema.engine import SchemaEngine

COMPILED_SCHEMAS = 256
"""How many compiled schemas are kept; those that were used least recently make room."""

Credit = Literal["partial", "binary"]


@dataclass(frozen=True)
class JsonSchema:
    """A JSON schema that scores parsed JSON values; hashable, and pickled as its text.

    Example: ``JsonSchema.of({"required": ["a"]}).credit_of({}) == (0.0, "a: missing")``.
    `schema` is the schema as JSON text; make one with ``of``, which brings it into canonical form.
    Raises RewardDefinitionError for a schema or credit that cannot be used, and MissingExtraError without
    jsonschema-rs.
    """

    schema: str
    credit: Credit = "partial"
    formats: bool = True

    def __post_init__(self) -> None:
        if self.credit not in ("partial", "binary"):
            raise refusal(f'credit must be "partial" or "binary", got {shorten(self.credit)}.')
        _engine(self.schema, self.formats)

    @classmethod
    def of(cls, schema: Any, credit: Credit = "partial", formats: bool = True) -> JsonSchema:
        """Build one from a schema as dict or JSON text, or from a pydantic model, dataclass or TypedDict.

        Example: ``JsonSchema.of(Invoice)``, ``JsonSchema.of(list[Invoice], credit="binary")``,
        ``JsonSchema.of('{"type": "object"}')``.
        Every ``$ref`` must point to a place in the schema; ``format`` is checked if `formats` is True; patterns must
        not use lookaround. Supports drafts 4, 6, 7, 2019-09 and 2020-12 (the default).
        Raises RewardDefinitionError and MissingExtraError as the class does.
        """
        return cls(_canonical(schema), credit, bool(formats))

    def credit_of(self, value: object) -> tuple[float, str]:
        """Return (credit from 0.0 to 1.0, note) for a parsed JSON value; 1.0 exactly if the schema validates it.

        Example: for ``{"type": "integer"}``, ``"x"`` gives ``(0.0, '"x" is not of type "integer"')``.
        The note names violations by path: at most three, and how many more there are. It is empty for a valid value.
        Never raises for a value.
        """
        return credit_of(_engine(self.schema, self.formats), value, partial=self.credit == "partial")


@lru_cache(maxsize=COMPILED_SCHEMAS)
def _engine(schema: str, formats: bool) -> SchemaEngine:
    # Compiled once per process and schema, outside the frozen object: the compiled form cannot be pickled.
    return SchemaEngine(schema, formats)


class _SchemaGenerator(GenerateJsonSchema):
    """Pydantic's generator, with a pattern for decimals that the linear-time engine can run.

    Depending on its version, pydantic writes a pattern with lookahead, or none (any text would pass).
    """

    ignored_warning_kinds: ClassVar[set[JsonSchemaWarningKind]] = {  # type: ignore[misc]
        "skipped-choice",
        "non-serializable-default",
    }

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        made = super().decimal_schema(schema)
        for branch in made.get("anyOf", [made]):
            if branch.get("type") == "string":
                branch["pattern"] = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$"
        return made


@lru_cache(maxsize=COMPILED_SCHEMAS)
def _canonical_text(schema: str) -> str:
    # Every batch has its schemas as text again, and reading one takes longer than scoring a completion by it.
    return _canonical(schema)


def _canonical(schema: Any) -> str:
    if isinstance(schema, str):
        schema = read_schema(schema)
    elif isinstance(schema, bool | int | float | list | tuple | set | BaseModel | FunctionType) or schema is None:
        hint = " Pass its class." if isinstance(schema, BaseModel) else ""
        raise refusal(
            f"expected a schema as a dict, JSON text, or a type such as a model; got {shorten(schema)}.{hint}"
        )
    elif not isinstance(schema, Mapping):
        schema = _schema_of_type(schema)
    try:
        return json.dumps(schema if isinstance(schema, dict) else dict(schema), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise refusal(f"the schema cannot be written as JSON: {shorten(str(error))}.") from None


def _schema_of_type(kind: Any) -> dict[str, Any]:
    try:
        return TypeAdapter(kind).json_schema(schema_generator=_SchemaGenerator)
    except RewardDefinitionError:
        raise
    except Exception as error:
        raise refusal(f"cannot make a schema from {shorten(kind)}: {shorten(str(error))}.") from None


@dataclass(frozen=True)
class SchemaCredit:
    """Score a parsed completion by a schema."""

    schema: JsonSchema

    @cached_property
    def engine(self) -> SchemaEngine:
        return _engine(self.schema.schema, self.schema.formats)

    def __call__(self, document: Parsed) -> float | Score:
        return _scored(document, self.engine, self.schema.credit)

    def __reduce__(self) -> tuple[Any, ...]:
        return SchemaCredit, (self.schema,)  # without the engine, which cannot be pickled


@dataclass(frozen=True)
class SchemaCell:
    """Read a cell, a dict or JSON text, as a compiled schema."""

    formats: bool

    def __call__(self, value: object) -> SchemaEngine:
        if not isinstance(value, (str, Mapping)):
            raise ValueError(f"expected a schema as JSON text or a dict, not {type(value).__name__}")
        try:
            text = _canonical_text(value) if isinstance(value, str) else _canonical(without_gaps(value))
            if text == "{}":
                raise refusal("the schema is empty, so every value would pass. Use None where there is no schema.")
            return _engine(text, self.formats)
        except RewardDefinitionError as error:
            raise ValueError(str(error).removeprefix("rk.json_schema: ")) from None


@dataclass(frozen=True)
class RowSchemaCredit:
    """Score a parsed completion by the schema of its row."""

    credit: Credit

    def __call__(self, document: Parsed, schema: SchemaEngine) -> float | Score:
        return _scored(document, schema, self.credit)


def _scored(document: Parsed, schema: SchemaEngine, credit: Credit) -> float | Score:
    if document.error:
        return Score(0.0, document.error)
    value, note = credit_of(schema, document.value, partial=credit == "partial", parsed=True)
    return Score(value, note) if note else value


def json_schema(
    schema: Any = None,
    *,
    column: str | None = None,
    credit: Credit = "partial",
    formats: bool = True,
    extract: Extractor | Any = None,
) -> Reward:
    """Score how far the completion's JSON satisfies a schema; 1.0 exactly if it validates.

    ``rk.json_schema(Line)`` gives 0.5 to ``{"sku": "a-7", "qty": "three"}``: one of two required fields is right.

    Args:
        schema: a JSON schema (dict or text; draft 2020-12 unless it says otherwise), a pydantic model, dataclass or
            TypedDict. A model is checked by its JSON schema, which includes neither its validator functions nor the
            digits of a Decimal.
        column: a column with a schema for each row, instead of `schema`: JSON text or a dict; None abstains. Prefer
            text: Arrow gives all dicts of a column the same keys and fills the gaps with None, which are ignored here.
            Each schema is compiled once; the last 256 are kept.
        credit: ``"partial"``: credit by required property; ``"binary"``: 1.0 or 0.0. docs/json.md has the formula.
        formats: check ``format``, too; dates and times by RFC 3339 (with a time zone).
        extract: finds the JSON; by default the ``<answer>``, else the last fenced block, else the whole visible text.
            It is parsed strictly: no repair, no duplicate keys, no NaN.

    Raises:
        RewardDefinitionError: both or neither of schema and column; or the schema is invalid, needs a remote reference,
            or refers to itself endlessly.
        MissingExtraError: the extra ``json`` is not installed.
        CoercionError: while scoring: a cell of the column is not a schema that can be used.
    """
    if (schema is None) == (column is None):
        raise refusal('pass either a schema, as in rk.json_schema(Invoice), or column="schema".')
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise refusal(f"column must be the name of a column, got {shorten(column)}.")
    # With a column, any schema will do: it checks the options and that the extra is installed.
    judge = JsonSchema.of({"type": "object"} if column else schema, credit, formats)
    shown = "" if column else getattr(schema, "__name__", None) or shorten(schema, 60)
    options = expression(
        "", column=(column, None), credit=(credit, "partial"), formats=(formats, True), extract=(extract, None)
    )
    written = f"json_schema({', '.join(filter(None, (shown, options[1:-1])))})"
    found = Parameter("document", "completion", view=Json(as_extractor(extract, document())))
    if column is None:
        return primitive(SchemaCredit(judge), "json_schema", written, found)
    cell = Parameter("schema", column, annotation=Annotated[SchemaEngine, PlainValidator(SchemaCell(judge.formats))])
    return primitive(RowSchemaCredit(credit), "json_schema", written, found, cell)
