"""Does a completion's JSON fulfill a schema, and how far does it get?

With ``class Line(BaseModel): sku: str; qty: int``, the document ``{"sku": "a-7", "qty": "three"}`` earns 0.5
under ``credit="partial"``, with the note ``qty: "three" is not of type "integer"``, and 0.0 under
``credit="binary"``. The formula and its laws stand in ``rewardkit.primitives.schema.credit``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.text.extraction import Extractor, Json, as_extractor, document
from rewardkit.core.text.json_text import Parsed
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.schema.checks import read_schema
from rewardkit.primitives.schema.credit import SchemaEngine
from rewardkit.primitives.schema.document import refusal

COMPILED_SCHEMAS = 1_024

Credit = Literal["partial", "binary"]


@dataclass(frozen=True)
class JsonSchema:
    """A JSON schema that gives credit to parsed JSON values; hashable, and pickled as its text.

    Example: ``JsonSchema.of({"required": ["a"]}).credit_of({}) == (0.0, "a: missing")``.
    `schema` is the schema as JSON text; make one by ``of``, which brings it into one canonical form.
    Raises RewardDefinitionError for a schema or credit that cannot be used, and MissingExtraError without
    jsonschema-rs.
    """

    schema: str
    credit: Credit = "partial"
    formats: bool = True

    def __post_init__(self) -> None:
        if self.credit not in ("partial", "binary"):
            raise refusal(f'credit must be "partial" or "binary", not {shorten(self.credit)}.')
        _engine(self.schema, self.formats)

    @classmethod
    def of(cls, schema: Any, credit: Credit = "partial", formats: bool = True) -> JsonSchema:
        """Makes one from a schema as dict or JSON text, or from a pydantic model, dataclass or TypedDict.

        Example: ``JsonSchema.of(Invoice)``, ``JsonSchema.of(list[Invoice], credit="binary")``,
        ``JsonSchema.of('{"type": "object"}')``.
        Every ``$ref`` must lead to a place in the schema; ``format`` is checked if `formats` says so; patterns may
        have no lookaround. Drafts 4, 6, 7, 2019-09 and 2020-12 (the default) are read.
        Raises RewardDefinitionError and MissingExtraError as the class does.
        """
        return cls(_canonical(schema), credit, bool(formats))

    def credit_of(self, value: object) -> tuple[float, str]:
        """(credit from 0.0 to 1.0, note) of a parsed JSON value; 1.0 exactly when the schema validates it.

        Example: under ``{"type": "integer"}``, ``"x"`` has ``(0.0, '"x" is not of type "integer"')``.
        The note names what is wrong by path, at most three violations and how many more; it is empty for
        a valid value. Never raises for a value.
        """
        return _engine(self.schema, self.formats).credit_of(value, self.credit == "partial")


@lru_cache(maxsize=COMPILED_SCHEMAS)
def _engine(schema: str, formats: bool) -> SchemaEngine:
    # Once per process and schema, beside the frozen object: what is compiled cannot be pickled.
    return SchemaEngine(schema, formats)


class _SchemaGenerator(GenerateJsonSchema):
    """Pydantic's generator, with a pattern for decimals that the linear-time engine can run.

    Depending on its version, pydantic writes one with lookahead, or none at all (any text would pass).
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


def _canonical(schema: Any) -> str:
    if isinstance(schema, str):
        schema = read_schema(schema)
    elif isinstance(schema, bool | int | float | list | tuple | set | BaseModel | FunctionType) or schema is None:
        hint = " Pass its class." if isinstance(schema, BaseModel) else ""
        raise refusal(f"{shorten(schema)} is no schema: give a dict, JSON text, or a type such as a model.{hint}")
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
        raise refusal(f"no schema can be made of {shorten(kind)}: {shorten(str(error))}.") from None


@dataclass(frozen=True)
class SchemaCredit:
    """A parsed completion to its score under a schema."""

    schema: JsonSchema

    @cached_property
    def engine(self) -> SchemaEngine:
        return _engine(self.schema.schema, self.schema.formats)

    def __call__(self, document: Parsed) -> float | Score:
        if document.error:
            return Score(0.0, document.error)
        credit, note = self.engine.credit_of(document.value, self.schema.credit == "partial", parsed=True)
        return Score(credit, note) if note else credit

    def __reduce__(self) -> tuple[Any, ...]:
        return SchemaCredit, (self.schema,)  # without the engine, which cannot be pickled


def json_schema(
    schema: Any, *, credit: Credit = "partial", formats: bool = True, extract: Extractor | Any = None
) -> Reward:
    """How far the completion's JSON fulfills a schema; 1.0 exactly when it validates.

    ``rk.json_schema(Line)`` gives 0.5 to ``{"sku": "a-7", "qty": "three"}``: one of two required fields is right.

    Args:
        schema: a JSON schema (dict or text; draft 2020-12 unless it says otherwise), a pydantic model, dataclass or
            TypedDict. Of a model its JSON schema judges, which holds neither its validator functions nor the digits of
            a Decimal.
        credit: ``"partial"``: credit by required property; ``"binary"``: 1.0 or 0.0. docs/json.md has the formula.
        formats: check ``format`` too, dates and times by RFC 3339 (with a time zone).
        extract: finds the JSON; by default the ``<answer>``, else the last fenced block, else the whole visible text.
            It is parsed as it is: no repair, no duplicate keys, no NaN.

    Raises:
        RewardDefinitionError: the schema is invalid, needs a remote reference, or refers to itself without end.
        MissingExtraError: the extra ``json`` is not installed.
    """
    engine = JsonSchema.of(schema, credit, formats)
    shown = getattr(schema, "__name__", None) or shorten(schema, 60)
    options = expression("", credit=(credit, "partial"), formats=(formats, True), extract=(extract, None))[1:-1]
    return primitive(
        SchemaCredit(engine),
        "json_schema",
        f"json_schema({', '.join(filter(None, (shown, options)))})",
        Parameter("document", "completion", view=Json(as_extractor(extract, document()))),
    )
