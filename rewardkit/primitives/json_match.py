"""Compare a JSON answer with a gold one: ``rk.json_match("gold")`` scores the values that are right.

If the gold is ``{"sku": "a-7", "qty": 31}``, the answer ``{"sku": "a-7", "qty": 30}`` scores 0.5, with the note
``qty: 30 is not 31``. The formula and its laws are in ``rewardkit.primitives.json_comparison.credit``.
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
from rewardkit.core.text.extraction import as_extractor, document
from rewardkit.core.text.extractors import Extractor, Json
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
    """Read a gold cell as a document: a dict, list or number as it is, text as JSON."""

    rules: Rules
    extract: Extractor | None

    def __call__(self, value: object) -> GoldDocument:
        text = value if isinstance(value, str) else _as_json(value)
        if isinstance(value, str) and self.extract:
            found = self.extract(value)
            if found is None:
                raise ValueError(f"no gold answer found in {shorten(value)}")
            text = found
        parsed = parse_json(text)
        if parsed.error:
            raise ValueError(f"{parsed.error}; a gold cell must be JSON text, a dict or a list")
        return GoldDocument(parsed.value, self.rules)


def _as_json(value: object) -> str:
    # Every gold value takes the same path, so whatever JSON cannot hold, or our parser refuses, is refused here too.
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot be written as JSON ({shorten(str(error))}); store it as JSON text") from None


@dataclass(frozen=True)
class JsonMatch:
    """How much of the gold document the answer's document matches."""

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
    """Score how much of a gold JSON document the completion's JSON gets right; 1.0 only if everything matches.

    ``rk.json_match("gold")`` gives 0.5 to ``{"sku": "a-7", "qty": 30}`` if "gold" is ``{"sku": "a-7", "qty": 31}``.

    The score is ``right / (leaves - blanks + extra)``. The *leaves* of the gold are its texts, numbers, true, false,
    null, empty objects and empty arrays; *right* counts those that the answer matches. A blank leaf (null, "", {}, [])
    that is matched does not count (*blanks*); leaves that the gold does not have are *extra*. Presence, type and
    placeholders earn nothing; ``rk.json_schema`` rewards structure. docs/json.md has examples and the laws.

    Args:
        column: the column of the gold document: JSON text, or a dict or list. Prefer text: Arrow gives all dicts of a
            column the same keys and fills the gaps with None.
        arrays: how items are paired. ``"aligned"``: in any order, to get as much right as possible; ``"ordered"``: by
            position; one or more keys such as ``"sku"``: objects by the value of the first of these keys that they have
            (other items are aligned).
        tolerance: absolute distance from the gold that still counts as correct, for all numbers. By default numbers
            must be equal; 1 equals 1.0, but not true.
        relative: the same as a fraction of the gold number, 0.0 or more. The larger of the two tolerances applies.
        ignore: paths to leave out, such as ``"note"`` or ``"lines[].id"``.
        ignore_case: compare texts without case. White space and Unicode form (NFC) are always ignored; keys are
            compared exactly.
        extra: ``"cost"``, or ``"allow"`` for keys that the gold never has at their path. Extra items always cost.
        extract: finds the JSON; by default the ``<answer>``, else the last fenced block, else the whole visible text.
        gold: finds the JSON in a gold cell that is text, such as ``rk.extract.after("####")``.

    Returns:
        A reward in [0, 1]. Up to 100,000 pairs of leaves are compared (about 70 items that are all wrong); beyond that,
        array items that are not equal as a whole earn nothing.

    Raises:
        RewardDefinitionError: an invalid option, or a negative or infinite tolerance.
        MissingExtraError: the extra ``json`` is not installed.
        CoercionError: while scoring: a gold cell is not JSON.
    """
    if not isinstance(column, str):
        raise RewardDefinitionError(f"json_match: pass the name of the gold document's column, got {shorten(column)}")
    for name, value in (("tolerance", tolerance), ("relative", relative)):
        if number(value, f"json_match: {name}") < 0.0:
            raise RewardDefinitionError(f"json_match: {name} must be 0 or more, got {value}")
    if extra not in ("cost", "allow"):
        raise RewardDefinitionError(f'json_match: extra must be "cost" or "allow", got {shorten(extra)}')
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
    """Return the keys by which objects are paired."""
    if isinstance(arrays, str):
        if arrays in _ARRAYS:
            return ()
        hint = near_miss(arrays, _ARRAYS)
        if hint:
            raise RewardDefinitionError(
                f"json_match: arrays={arrays!r} is not an option.{hint} If it is a key, pass arrays=({arrays!r},)"
            )
        arrays = (arrays,)
    keys = tuple(arrays) if isinstance(arrays, Sequence) else ()
    if not keys or not all(isinstance(key, str) and key for key in keys):
        raise RewardDefinitionError(
            f'json_match: arrays must be "aligned", "ordered", or one or more keys of objects, got {shorten(arrays)}'
        )
    return keys
