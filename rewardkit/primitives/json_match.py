"""A JSON answer against a gold one: ``rk.json_match("gold")`` counts what is right, by value.

Against the gold ``{"sku": "a-7", "qty": 31}`` the answer ``{"sku": "a-7", "qty": 30}`` earns 0.5, with the note
``qty: 30 is not 31``. The formula and its laws stand in ``rewardkit.primitives.json_comparison.credit``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import PlainValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, near_miss, shorten
from rewardkit.core.progress.bounds import number
from rewardkit.core.text.extraction import Extractor, Json, as_extractor, document
from rewardkit.core.text.json_text import Parsed, parse_json
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.json_comparison.credit import GoldDocument, Matching, credit
from rewardkit.primitives.json_comparison.document import Rules, steps_of

Extra = Literal["cost", "allow"]

_ARRAYS = ("aligned", "ordered")


@dataclass(frozen=True)
class GoldJson:
    """A gold cell as a document: a dict, list or number as it is, text as JSON text."""

    rules: Rules
    extract: Extractor | None

    def __call__(self, value: object) -> GoldDocument:
        text = value if isinstance(value, str) else _as_json(value)
        if isinstance(value, str) and self.extract:
            found = self.extract(value)
            if found is None:
                raise ValueError(f"no gold answer is found in {shorten(value)}")
            text = found
        parsed = parse_json(text)
        if parsed.error:
            raise ValueError(f"{parsed.error}; a gold cell is JSON text, or a dict or list")
        return GoldDocument(parsed.value, self.rules)


def _as_json(value: object) -> str:
    # One way in for all gold: what JSON cannot hold, or our parser would refuse, is refused here too.
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"it cannot be written as JSON ({shorten(str(error))}); store it as JSON text") from None


@dataclass(frozen=True)
class JsonMatch:
    """How much of the gold document the answer's document meets."""

    matching: Matching

    def __call__(self, document: Parsed, gold: GoldDocument) -> float | Score:
        if document.error:
            return Score(0.0, document.error)
        value, note = credit(gold, document.value, self.matching)
        return Score(value, note) if note else value


def json_match(
    column: str,
    *,
    arrays: Literal["aligned", "ordered"] | str | Sequence[str] = "aligned",
    tolerance: float = 0.0,
    relative: float = 0.0,
    ignore: str | Sequence[str] = (),
    ignore_case: bool = False,
    extra: Extra = "cost",
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    """How much of a gold JSON document the completion's JSON gets right, by value; 1.0 exactly when all of it.

    ``rk.json_match("gold")`` gives 0.5 to ``{"sku": "a-7", "qty": 30}`` where "gold" is ``{"sku": "a-7", "qty": 31}``.

    The score is ``right / (leaves - blanks + extra)``: of the *leaves* of the gold (texts, numbers, true, false, null,
    empty objects and arrays) those that are *right*; what is blank in the gold (null, "", {}, []) and met does not
    count (*blanks*); leaves that the gold does not have are *extra*. Presence and type earn nothing, nor do
    placeholders; ``rk.json_schema`` rewards structure. docs/json.md has examples and the laws that hold.

    Args:
        column: the gold document's column: JSON text, or a dict or list. Keep it as text: Arrow gives all dicts of a
            column the same keys and fills them with None.
        arrays: how items are paired. ``"aligned"``: in any order, so that as much as possible is right; ``"ordered"``:
            by position; one or more keys such as ``"sku"``: objects by the value of the first of these that they have
            (other items are aligned).
        tolerance: absolute distance from the gold that still counts as right, for all numbers. By default they must be
            equal; 1 and 1.0 are, 1 and true are not.
        relative: the same as a share of the gold number, 0.0 and up. The larger of both tolerances counts.
        ignore: paths that are not looked at, such as ``"note"`` or ``"lines[].id"``.
        ignore_case: compare texts without case. White space and Unicode form (NFC) never count; keys are compared as
            they are.
        extra: ``"cost"``, or ``"allow"`` for keys that the gold has nowhere at their path. Extra items always cost.
        extract: finds the JSON; by default the ``<answer>``, else the last fenced block, else the whole visible text.
        gold: finds the JSON in a gold cell that is text, such as ``rk.extract.after("####")``.

    Returns:
        A reward within [0, 1]. Up to 100,000 comparisons are made part by part (some 70 items that are all wrong);
        beyond that, items of arrays that are not equal as a whole earn nothing.

    Raises:
        RewardDefinitionError: an option is no such option, or a tolerance is negative or infinite.
        MissingExtraError: the extra ``json`` is not installed.
        CoercionError: while scoring: a gold cell is no JSON.
    """
    if not isinstance(column, str):
        raise RewardDefinitionError(f"json_match takes the name of the gold document's column, got {shorten(column)}")
    for name, value in (("tolerance", tolerance), ("relative", relative)):
        if number(value, f"json_match: {name}") < 0.0:
            raise RewardDefinitionError(f"json_match: {name} is negative: {value}")
    if extra not in ("cost", "allow"):
        raise RewardDefinitionError(f'json_match: extra is "cost" or "allow", got {shorten(extra)}')
    try:
        import jiter  # noqa: F401
    except ImportError:
        raise MissingExtraError.of("rk.json_match", "json") from None
    paths = tuple(ignore) if isinstance(ignore, Sequence) and not isinstance(ignore, str) else (ignore,)
    rules = Rules(frozenset(map(steps_of, paths)), bool(ignore_case), arrays == "ordered")
    matching = Matching(
        rules, _keys(arrays), Decimal(repr(float(tolerance))), Decimal(repr(float(relative))), extra == "cost"
    )
    where = as_extractor(extract, document())
    gold_where = None if gold is None else as_extractor(gold, document())
    shown = expression(
        "json_match",
        column,
        arrays=(arrays if isinstance(arrays, str) else tuple(arrays), "aligned"),
        tolerance=(tolerance, 0.0),
        relative=(relative, 0.0),
        ignore=(ignore if isinstance(ignore, str) else paths, ()),
        ignore_case=(ignore_case, False),
        extra=(extra, "cost"),
        extract=(extract and where, None),
        gold=(gold_where, None),
    )
    return primitive(
        JsonMatch(matching),
        "json_match",
        shown,
        Parameter("document", "completion", view=Json(where)),
        Parameter("gold", column, annotation=Annotated[GoldDocument, PlainValidator(GoldJson(rules, gold_where))]),
    )


def _keys(arrays: object) -> tuple[str, ...]:
    """The keys by which objects are paired."""
    if isinstance(arrays, str):
        if arrays in _ARRAYS:
            return ()
        hint = near_miss(arrays, _ARRAYS)
        if hint:
            raise RewardDefinitionError(f"json_match: arrays={arrays!r}.{hint} If it is a key: arrays=({arrays!r},)")
        arrays = (arrays,)
    keys = tuple(arrays) if isinstance(arrays, Sequence) else ()
    if not keys or not all(isinstance(key, str) and key for key in keys):
        raise RewardDefinitionError(
            f'json_match: arrays is "aligned", "ordered", or one or more keys of objects, got {shorten(arrays)}'
        )
    return keys
