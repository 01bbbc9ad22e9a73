"""A reward for how well a completion's JSON satisfies a schema.

With ``class Line(BaseModel): sku: str; qty: int``, the document ``{"sku": "a-7", "qty": "three"}`` scores 0.5 with
``credit="partial"``, and 0.0 with ``credit="binary"``. The note is ``qty: "three" is not of type "integer"``.
docs/json.md has the formula.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, PlainValidator, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.rewards.json_schema.checks import read_schema, why_no_json
from rewardkit.rewards.json_schema.document import LISTS, MAPS, SINGLE, Node, refusal
from rewardkit.rewards.json_schema.engine import Key, Part, Rules, SchemaEngine
from rewardkit.text.extraction import as_extractor, document
from rewardkit.text.extractors import Extractor, Json
from rewardkit.text.json_text import Parsed, Path, Violations, printable, value_text
from rewardkit.tree.coercion import without_none
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

# Schemas from the cells of a dataset: dicts as Arrow returns them.


def without_gaps(schema: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a copy of `schema` without keywords, properties, and definitions that are None.

    ``without_gaps({"required": None, "properties": {"a": {}, "b": None}}) == {"properties": {"a": {}}}``. NumPy arrays
    become lists. Values that are not schemas (in ``enum``, ``default``, ...) stay unchanged.

    Raises:
        RewardDefinitionError: JSON cannot represent the schema, ``read_schema`` rejects it, or a ``const`` is None,
            which may be a gap or may require null.
    """
    try:
        text = json.dumps(dict(schema), allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise refusal(f"the schema cannot be written as JSON: {shorten(str(error))}.") from None
    return _filled(read_schema(text))


def _filled(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` without keywords, properties, and definitions that are None. Its depth is already limited."""
    filled: dict[str, Any] = {}
    for keyword, value in schema.items():
        if (value is None and keyword == "const") or (keyword in ("const", "enum") and without_none(value) != value):
            raise refusal(
                f'the value of "{keyword}" is or contains None, which may mean null or a missing value. '
                "Store the schemas as JSON text."
            )
        if value is None:
            continue
        if keyword in MAPS and isinstance(value, dict):
            filled[keyword] = {name: _part(part) for name, part in value.items() if part is not None}
        elif keyword in LISTS and isinstance(value, list):
            filled[keyword] = [_part(part) for part in value]
        elif keyword in SINGLE and isinstance(value, dict):
            part = _filled(value)
            if part or not value:  # a part with only gaps is also a gap
                filled[keyword] = part
        else:
            filled[keyword] = value
    return filled


def _part(part: Node) -> Node:
    return _filled(part) if isinstance(part, dict) else part


def _plain(value: Any) -> Any:
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{shorten(value, 60)} is not a JSON value")


# Compute the part of a JSON schema that a value satisfies, and describe the violations.


HIGHEST_INVALID = 1.0 - 1e-6
"""The highest credit for an invalid value. It is below 1 - 1e-9, the score at which a gate with threshold 1.0 opens."""

INVALID_ITEMS = 100
EXAMINED_VALUES = 2_000
"""The limits for examining one value, so that no completion takes seconds. An array with more than `INVALID_ITEMS`
invalid items scores 0, and so do invalid objects and arrays after the first `EXAMINED_VALUES`."""

# Arbitrary limit: a note is one line.
SHOWN_TAGS = 4


def credit_of(engine: SchemaEngine, value: object, *, partial: bool = True, parsed: bool = False) -> tuple[float, str]:
    """Return (credit in [0, 1], note) for a JSON value. The note is empty for a valid value.

    ``credit_of(SchemaEngine('{"type": "integer"}'), "x") == (0.0, '"x" is not of type "integer"')``. The function never
    raises an exception: a value that JSON cannot represent, or on which the validator fails, scores 0.

    Args:
        parsed: True if the value comes from rewardkit's own parser, so that JSON can represent it.
    """
    try:
        problem = ("" if parsed else why_no_json(value)) or engine.cost.exceeded(value)
        if problem:
            return 0.0, problem
        if engine.is_valid(value):
            return 1.0, ""
        violations = Violations()
        credit = _Walk(engine, violations).credit(engine.root, value, ())
        return (credit if partial else 0.0), violations.note()
    except Exception as error:
        return 0.0, f"could not be checked: {type(error).__name__}: {printable(str(error))}"
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # raised for a fault inside the Rust validator
            raise
        return 0.0, "could not be checked: the validator failed on this value"


class _Walk:
    """A walk over one invalid value that adds up its credit and collects its violations."""

    def __init__(self, engine: SchemaEngine, violations: Violations) -> None:
        self.engine = engine
        self.violations = violations
        self.left_to_examine = EXAMINED_VALUES
        self._around: frozenset[int] = frozenset()  # the parts of the schema that describe the enclosing values

    def credit(self, node: Node, value: Any, path: Path) -> float:
        """Return the credit for `value`, which is known to be invalid under `node`."""
        rules = self.engine.rules(node, value)
        level = rules.level
        if not level.takes:
            self._blame(rules, value, path)
            return 0.0
        self.left_to_examine -= 1
        if self.left_to_examine < 0:
            self.violations.counted_all = False
            self._blame(rules, value, path)
            return 0.0
        around, parts = self._around, level.parts
        self._around = around | parts
        if isinstance(value, list):
            credit = self._items_credit(rules, level.whole_array, value, enumerate(value), path)
        elif level.unions:
            credit = self._untagged_credit(rules, value, path)
        elif level.required:
            credit = self._object_credit(rules, value, path)
        else:
            credit = self._items_credit(rules, level.whole_map, value, value.items(), path)
        self._around = around
        return min(credit, HIGHEST_INVALID) if around.isdisjoint(parts) else 0.0

    def _object_credit(self, rules: Rules, value: dict[str, Any], path: Path) -> float:
        before = self.violations.count
        required = rules.level.required
        wrong = dict(rules.wrong(value.items()))
        credit_sum = 0.0
        for name in required:
            if name not in value:
                self.violations.add((*path, name), "missing")
            elif name in wrong:
                credit_sum += self._part_credit(rules.parts(name), wrong.pop(name), (*path, name))
            else:
                credit_sum += 1.0
        for name, part in wrong.items():
            self._part_credit(rules.parts(name), part, (*path, name))
        if self.violations.count == before:
            self._blame(rules, value, path)
        return credit_sum / (len(required) + len(wrong) + rules.level.whole_object)

    def _items_credit(
        self, rules: Rules, all_or_nothing: bool, value: Any, items: Iterable[tuple[Key, Any]], path: Path
    ) -> float:
        """Return the credit for an array, or for an object without required properties."""
        wrong = rules.wrong(items)
        worst = 1.0
        for key, item in wrong[: INVALID_ITEMS + 1]:
            worst = min(worst, self._part_credit(rules.parts(key), item, (*path, key)))
        if len(wrong) > INVALID_ITEMS:
            self.violations.counted_all = False
            return 0.0
        wrong_itself = bool(rules.plain_problem(value))
        if wrong_itself or not wrong:
            self._blame(rules, value, path)
        return 0.0 if wrong_itself or not wrong or all_or_nothing else worst / len(wrong)

    def _untagged_credit(self, rules: Rules, value: dict[str, Any], path: Path) -> float:
        """Return 0.0, and report that the object has no valid tag for a union, so nothing in it can be checked."""
        for union in rules.level.unions:
            tags = " or ".join(map(value_text, list(union.branches)[:SHOWN_TAGS]))
            actual = f"{value_text(value[union.tag])} is not" if union.tag in value else "missing;"
            self.violations.add((*path, union.tag), f"{actual} {tags}")
        return 0.0

    def _part_credit(self, parts: Sequence[Part], value: object, path: Path) -> float:
        """Return the lowest credit that an invalid property or item gets under the schemas that apply to it."""
        credit = 1.0
        for node, fits in parts:
            if node is False:
                self.violations.add(path, "not allowed")
                return 0.0
            if len(parts) == 1 or not fits(value):
                credit = min(credit, self.credit(node, value, path))
        return credit

    def _blame(self, rules: Rules, value: object, path: Path) -> None:
        # Describing a violation costs more than finding it, and only the first few are shown.
        words = rules.problem(value) if self.violations.wants_words else ""
        self.violations.add(path, words)


COMPILED_SCHEMAS = 256
"""The maximum number of compiled schemas in the cache. The least recently used ones are removed first."""

Credit = Literal["partial", "binary"]


@dataclass(frozen=True)
class JsonSchema:
    """A JSON schema that scores parsed JSON values. It is hashable and is pickled as its text.

    ``JsonSchema.of({"required": ["a"]}).credit_of({}) == (0.0, "a: missing")``.

    Attributes:
        schema: the schema as JSON text. ``of`` converts a schema to this canonical form.
        credit: ``"partial"`` or ``"binary"``.
        formats: True to also check ``format``.

    Raises:
        RewardDefinitionError: the schema or the credit cannot be used.
        MissingExtraError: jsonschema-rs is not installed.
    """

    schema: str
    credit: Credit = "partial"
    formats: bool = True

    def __post_init__(self) -> None:
        if self.credit not in ("partial", "binary"):
            raise refusal(f'credit must be "partial" or "binary", got {shorten(self.credit)}.')
        _ = self._engine  # a schema that cannot be used raises here

    @classmethod
    def of(cls, schema: Any, credit: Credit = "partial", formats: bool = True) -> JsonSchema:
        """Return a scorer for a schema: a dict, JSON text, or a pydantic model, dataclass, or TypedDict.

        ``JsonSchema.of(Invoice)``, ``JsonSchema.of(list[Invoice], credit="binary")``,
        ``JsonSchema.of('{"type": "object"}')``. Every ``$ref`` must point to a part of the schema. ``format`` is
        checked if `formats` is True. Patterns must not use lookaround. Drafts 4, 6, 7, 2019-09, and 2020-12 (the
        default) are supported.

        Raises:
            RewardDefinitionError: the schema or the credit cannot be used.
            MissingExtraError: jsonschema-rs is not installed.
        """
        return cls(_canonical(schema), credit, bool(formats))

    def credit_of(self, value: object) -> tuple[float, str]:
        """Return (credit from 0.0 to 1.0, note) for a parsed JSON value. The credit is 1.0 only if the value is valid.

        For ``{"type": "integer"}``, ``"x"`` gives ``(0.0, '"x" is not of type "integer"')``. The note lists up to three
        violations by path, and the number of further violations. It is empty for a valid value. The method never raises
        an exception.
        """
        return credit_of(self._engine, value, partial=self.credit == "partial")

    def __call__(self, document: Parsed) -> float | Score:
        """Score a parsed completion."""
        return _scored(document, self._engine, self.credit)

    @cached_property
    def _engine(self) -> SchemaEngine:
        return _engine(self.schema, self.formats)

    def __reduce__(self) -> tuple[Any, ...]:
        return JsonSchema, (self.schema, self.credit, self.formats)  # the compiled form cannot be pickled


@lru_cache(maxsize=COMPILED_SCHEMAS)
def _engine(schema: str, formats: bool) -> SchemaEngine:
    return SchemaEngine(schema, formats)


class _SchemaGenerator(GenerateJsonSchema):
    """Pydantic's schema generator, with a pattern for decimals that the linear-time engine supports.

    Depending on its version, pydantic writes a pattern with lookahead, or no pattern, in which case any text would be
    valid.
    """

    ignored_warning_kinds: ClassVar[set[JsonSchemaWarningKind]] = {  # type: ignore[misc]
        "skipped-choice",
        "non-serializable-default",
    }

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        generated = super().decimal_schema(schema)
        for branch in generated.get("anyOf", [generated]):
            if branch.get("type") == "string":
                branch["pattern"] = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$"
        return generated


@lru_cache(maxsize=COMPILED_SCHEMAS)
def _canonical_text(schema: str) -> str:
    # Every batch brings its schemas as text again, and reading a schema takes longer than scoring a completion with it.
    return _canonical(schema)


def _canonical(schema: Any) -> str:
    if isinstance(schema, str):
        schema = read_schema(schema)
    elif isinstance(schema, bool | int | float | list | tuple | set | BaseModel | FunctionType) or schema is None:
        hint = " Pass its class" if isinstance(schema, BaseModel) else ""
        raise refusal(
            f"expected a schema as a dict, JSON text, or a type such as a model, got {shorten(schema)}.{hint}"
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
        raise refusal(f"cannot create a schema from {shorten(kind)}: {shorten(str(error))}.") from None


@dataclass(frozen=True)
class SchemaCell:
    """A reader for cells with a schema as a dict or JSON text. It returns the compiled schema."""

    formats: bool

    def __call__(self, value: object) -> SchemaEngine:
        if not isinstance(value, (str, Mapping)):
            raise ValueError(f"expected a schema as JSON text or a dict, not {type(value).__name__}")
        try:
            text = _canonical_text(value) if isinstance(value, str) else _canonical(without_gaps(value))
            if text == "{}":
                raise refusal("the schema is empty, so every value would pass. Use None if a row has no schema.")
            return _engine(text, self.formats)
        except RewardDefinitionError as error:
            raise ValueError(str(error).removeprefix("rk.json_schema: ")) from None


@dataclass(frozen=True)
class RowSchemaCredit:
    """A scorer for parsed completions, each with its row's schema."""

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
    """Score how well the completion's JSON satisfies a schema: 1.0 if and only if it is valid.

    ``rk.json_schema(Line)`` gives 0.5 to ``{"sku": "a-7", "qty": "three"}`` because one of the two required fields is
    correct.

    Args:
        schema: a JSON schema (dict or text, draft 2020-12 unless it declares another), or a pydantic model, dataclass,
            or TypedDict. A model is checked against its JSON schema, which includes neither its validator functions nor
            a Decimal's digits.
        column: the column with each row's schema, instead of `schema`: JSON text or a dict. If the cell is None, the
            reward abstains. Text is preferable: Arrow gives all dicts in a column the same keys and fills the gaps with
            None, which this reward ignores. Each schema is compiled once. The 256 most recently used schemas are kept.
        credit: ``"partial"``: credit per required property; ``"binary"``: 1.0 or 0.0. docs/json.md has the formula.
        formats: if True, also check ``format`` (dates and times according to RFC 3339, with a time zone).
        extract: finds the JSON: by default, the ``<answer>``, else the last fenced block, else the whole visible text.
            It is parsed strictly: no repair, no duplicate keys, and no NaN.

    Raises:
        RewardDefinitionError: both or neither of `schema` and `column` are given, or the schema is invalid, needs a
            remote reference, or refers to itself endlessly.
        MissingExtraError: the extra ``json`` is not installed.
        CoercionError: while scoring: a cell in the column is not a usable schema.
    """
    if (schema is None) == (column is None):
        raise refusal('pass either a schema, as in rk.json_schema(Invoice), or column="schema".')
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise refusal(f"column must be the name of a column, got {shorten(column)}.")
    # With a column, any schema will do: it checks the options and that the extra is installed.
    judge = JsonSchema.of({"type": "object"} if column else schema, credit, formats)
    schema_text = "" if column else getattr(schema, "__name__", None) or shorten(schema, 60)
    options = expression(
        "", column=(column, None), credit=(credit, "partial"), formats=(formats, True), extract=(extract, None)
    )
    written = f"json_schema({', '.join(filter(None, (schema_text, options[1:-1])))})"
    parameter = Parameter("document", "completion", view=Json(as_extractor(extract, document())))
    if column is None:
        return primitive(judge, "json_schema", written, parameter)
    cell = Parameter("schema", column, annotation=Annotated[SchemaEngine, PlainValidator(SchemaCell(judge.formats))])
    return primitive(RowSchemaCredit(credit), "json_schema", written, parameter, cell)
