"""JSON comparison: ``rk.json_match("gold")`` scores the fraction of correct values in a JSON answer.

If the gold is ``{"sku": "a-7", "qty": 31}``, the answer ``{"sku": "a-7", "qty": 30}`` scores 0.5, with the note
``qty: 30 is not 31``. docs/json.md has the formula.
"""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property
from typing import Annotated, Any, Final, Literal, final

from pydantic import PlainValidator

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.progress.bounds import number
from rewardkit.rewards.assignment import Pairs, assigned
from rewardkit.text.extraction import as_extractor, document
from rewardkit.text.extractors import Extractor, Json
from rewardkit.text.json_text import Parsed, Path, Violations, json_parser, parse_json, value_text
from rewardkit.tree.coercion import GAPS
from rewardkit.tree.gold import normal
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

# A JSON document in parts: a number for every value, which equal values share, and the leaves by path.


Steps = tuple[str | None, ...]
"""A path without positions: ``lines[].sku`` is ``("lines", None, "sku")``."""

LEAF: Final = 1 << 20
"""The worth of a leaf. A blank leaf (null, "", {}, or []) is worth 1, so that no number of blanks outweighs a leaf."""

_BLANK: tuple[Any, ...] = (None, "", {}, [])
# "items[].price": a name, or "[]" for all items of an array.
_STEP = re.compile(r"\.?([^.\[\]]+)|(\[\])")


@final
@dataclass(slots=True, eq=False)
class Part:
    """One value of a document.

    Attributes:
        value: a leaf, or a dict or list of parts.
        number: an identifier. Values in one document, or in an answer and its gold document, have the same identifier
            if and only if they are equal.
        worth: the total worth of the leaves in the value.
    """

    value: Any
    number: int
    worth: int


@final
@dataclass(frozen=True)
class Rules:
    """The rules for the equality of values, and the ignored paths."""

    ignore: frozenset[Steps]
    ignore_case: bool
    ordered: bool


@final
@dataclass(slots=True, eq=False)
class Document:
    """A JSON value split into parts, created by ``Document.of``."""

    rules: Rules
    numbers: dict[object, int]
    known: frozenset[Steps] | None = None
    leaves: Counter[Steps] = field(default_factory=Counter)
    root: Part = field(init=False)

    @classmethod
    def of(cls, value: Any, rules: Rules, *, gold: Document | None = None, extra: bool = True) -> Document:
        """Return `value` split into parts. The parts of an answer share the identifiers of its `gold`.

        Args:
            gold: the gold document, if `value` is an answer.
            extra: True to keep keys that the gold document never has at their path.
        """
        gold_paths = None if extra or gold is None else gold.paths()
        tree = cls(rules, dict(gold.numbers) if gold else {}, gold_paths)
        tree.root = tree._part(value, ())
        return tree

    def paths(self) -> frozenset[Steps]:
        """Return the paths of all values, including values that are not leaves."""
        return frozenset(path[:length] for path in self.leaves for length in range(len(path) + 1))

    def _part(self, value: Any, path: Steps) -> Part:
        if isinstance(value, dict):
            parts = {key: self._part(part, below) for key, part in value.items() if self._counts(below := (*path, key))}
            if parts:
                keys = sorted((key, part.number) for key, part in parts.items())
                return Part(parts, self._number(("{}", *keys)), sum(part.worth for part in parts.values()))
            value = {}
        elif isinstance(value, list) and value:
            items = [self._part(item, (*path, None)) for item in value]
            numbers = [item.number for item in items]
            order = numbers if self.rules.ordered else sorted(numbers)
            return Part(items, self._number(("[]", *order)), sum(item.worth for item in items))
        elif isinstance(value, str):
            value = normal(value, ignore_case=self.rules.ignore_case)
        self.leaves[path] += 1
        return Part(value, self._number(_word(value)), 1 if value in _BLANK else LEAF)

    def _counts(self, path: Steps) -> bool:
        return path not in self.rules.ignore and (self.known is None or path in self.known)

    def _number(self, key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers))


def _word(leaf: Any) -> str:
    """Return a leaf as text, the same for 1 and 1.0. Text is used because the hashes of numbers are predictable."""
    if isinstance(leaf, float) and leaf.is_integer():
        return repr(int(leaf))
    return repr(leaf)


def steps_of(path: Any) -> Steps:
    """Return the steps in a path: ``steps_of("lines[].sku") == ("lines", None, "sku")``.

    Raises:
        RewardDefinitionError: `path` is not a valid path.
    """
    matches = list(_STEP.finditer(path)) if isinstance(path, str) else []
    if not matches or "".join(match.group() for match in matches) != path or path.startswith("."):
        raise RewardDefinitionError(
            f"json_match: ignore must be paths such as 'note' or 'lines[].sku', got {shorten(path)}. Keys that contain "
            "a dot or a bracket are not supported"
        )
    return tuple(match[1] for match in matches)


# Pair numbers with the ranges that contain them: ``near([(1, 3), (2, 2)], [2, 2])`` pairs both.


def near(ranges: Iterable[tuple[Decimal, Decimal]], numbers: Iterable[Decimal]) -> Pairs:
    """Return as many pairs (range, number) as possible, by position, in which the range contains the number.

    In ascending order, each number is paired with the range that ends first among the unpaired ranges that contain it.
    No other choice leaves more ranges for the remaining numbers.
    """
    pending_ranges = sorted(((low, high, position) for position, (low, high) in enumerate(ranges)), reverse=True)
    open_ranges: list[tuple[Decimal, int]] = []
    pairs = []
    for value, position in sorted((value, position) for position, value in enumerate(numbers)):
        while pending_ranges and pending_ranges[-1][0] <= value:
            _, high, of_range = pending_ranges.pop()
            heapq.heappush(open_ranges, (high, of_range))
        while open_ranges and open_ranges[0][0] < value:
            heapq.heappop(open_ranges)
        if open_ranges:
            pairs.append((heapq.heappop(open_ranges)[1], position))
    return pairs


# Compute the part of a gold document that an answer matches, and describe the differences.


COMPARISONS = 100_000
"""The maximum number of comparisons. Beyond it, unequal array items get no credit and are not split."""

_EXACT = Context(prec=1_000)
"""A context with more digits than the difference between any two numbers in a document can have."""

_CONTAINERS = ("{}", "[]")


@final
@dataclass(frozen=True)
class Matching:
    """The rules for equality and for pairing array items.

    Attributes:
        rules: the rules for the equality of values.
        keys: the pairing keys. Objects in arrays are paired only if they agree on the first of these keys that they
            have.
        tolerance: the allowed difference from a gold number.
        relative: the allowed difference as a fraction of the gold number.
        extra: True if keys that are not in the gold document lower the credit.
    """

    rules: Rules
    keys: tuple[str, ...] = ()
    tolerance: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)
    extra: bool = True

    @property
    def tolerant(self) -> bool:
        return bool(self.tolerance or self.relative)

    def margin(self, gold: Decimal) -> Decimal:
        """Return the allowed distance from the number `gold`."""
        return max(self.tolerance, _EXACT.multiply(self.relative, abs(gold)))

    def close(self, gold: Any, answer: Any) -> bool:
        """Return whether two numbers are within the tolerance of each other."""
        if not self.tolerant or not _is_number(gold) or not _is_number(answer):
            return False
        gold_number = _decimal(gold)
        return abs(_EXACT.subtract(_decimal(answer), gold_number)) <= self.margin(gold_number)


@final
@dataclass(frozen=True, eq=False)
class GoldDocument:
    """A gold JSON value, which is split into parts only when an answer differs from it.

    Attributes:
        from_text: whether the cell contains JSON text, in which a null is intended.
    """

    value: Any
    rules: Rules
    from_text: bool = True

    @cached_property
    def text(self) -> str:
        return _canonical(self.value)

    @cached_property
    def document(self) -> Document:
        return Document.of(self.value, self.rules)


def credit(gold: GoldDocument, answer: Any, matching: Matching, comparisons: int = COMPARISONS) -> tuple[float, str]:
    """Return (credit from 0.0 to 1.0, note) for a parsed JSON value. The note is empty only if the credit is 1.0."""
    if _canonical(answer) == gold.text:  # the usual case of a correct answer, fast
        return 1.0, ""
    gold_document = gold.document
    answer_document = Document.of(answer, matching.rules, gold=gold_document, extra=matching.extra)
    comparison = _Comparison(matching, comparisons)
    try:
        worth = comparison.worth(gold_document.root, answer_document.root)
    except _TooMany:
        comparison = _Comparison(matching, comparisons, whole=True)
        worth = comparison.worth(gold_document.root, answer_document.root)
    extra = (answer_document.leaves - gold_document.leaves).total()
    if worth == gold_document.root.worth and not extra:
        return 1.0, ""
    right, blanks = divmod(worth, LEAF)
    violations = Violations()
    comparison.explain(gold_document.root, answer_document.root, (), violations)
    note = violations.note()
    if comparison.gave_up:
        note = "; ".join(filter(None, (note, "too many items to compare part by part")))
    if comparison.misses_null and not gold.from_text:
        note = f"{note}. A key that is missing from the answer is None in the gold cell. {GAPS}"
    return right / (gold_document.leaves.total() - blanks + extra), note


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


class _TooMany(Exception):
    """The error that is raised if there are more comparisons than the limit."""


@final
@dataclass(eq=False)
class _Comparison:
    """The comparison of one answer with its gold document.

    The order of array items does not affect the number of comparisons, and therefore does not affect the limit.
    """

    matching: Matching
    left: int
    whole: bool = False
    gave_up: bool = False
    misses_null: bool = False
    arrays: dict[tuple[int, int], tuple[int, Pairs]] = field(default_factory=dict)

    def worth(self, gold: Part, answer: Part) -> int:
        """Return the total worth of the leaves in `gold` that `answer` has in the same place."""
        self._spend(1)
        if gold.number == answer.number:
            return gold.worth
        gold_value, answer_value = gold.value, answer.value
        if isinstance(gold_value, dict) and isinstance(answer_value, dict):
            self._spend(len(gold_value))
            return sum(self.worth(part, answer_value[key]) for key, part in gold_value.items() if key in answer_value)
        if isinstance(gold_value, list) and isinstance(answer_value, list):
            key = id(gold), id(answer)
            if key not in self.arrays:
                self._spend(len(gold_value) + len(answer_value))
                pairs = self._paired(gold_value, answer_value)
                self.arrays[key] = (
                    sum(self.worth(gold_value[row], answer_value[column]) for row, column in pairs),
                    pairs,
                )
            return self.arrays[key][0]
        return gold.worth if self.matching.close(gold_value, answer_value) else 0

    def _spend(self, comparisons: int) -> None:
        self.left -= comparisons
        if self.left < 0 and not self.whole:
            raise _TooMany

    def _paired(self, gold: list[Part], answer: list[Part]) -> Pairs:
        if self.matching.rules.ordered:
            return list(zip(range(len(gold)), range(len(answer)), strict=False))
        pairs: Pairs = []
        for kind, (rows, columns) in _grouped(gold, answer, range(len(gold)), range(len(answer)), self._kind).items():
            if kind in _CONTAINERS or isinstance(kind, tuple):
                pairs += self._paired_containers(gold, answer, rows, columns)
            elif kind == "number":
                pairs += self._paired_numbers(gold, answer, rows, columns)
            else:
                pairs += zip(rows, columns, strict=False)
        return pairs

    def _kind(self, part: Part) -> object:
        """Return the kind of an item. Only items of the same kind are paired. Equal leaves have the same kind."""
        if isinstance(part.value, dict) and part.value:
            key = next((key for key in self.matching.keys if key in part.value), None)
            return "{}" if key is None else (key, part.value[key].number)
        if isinstance(part.value, list) and part.value:
            return "[]"
        return "number" if self.matching.tolerant and _is_number(part.value) else part.number

    def _paired_containers(self, gold: list[Part], answer: list[Part], rows: list[int], columns: list[int]) -> Pairs:
        pairs: Pairs = []
        # Without a tolerance, pairing equal items is always optimal, because they are equally close to any other item.
        if self.whole or not self.matching.tolerant:
            for same in _grouped(gold, answer, rows, columns, _number).values():
                pairs += zip(*same, strict=False)
            paired_rows, paired_columns = map(set, zip(*pairs, strict=True)) if pairs else (set(), set())
            rows = [row for row in rows if row not in paired_rows]
            columns = [column for column in columns if column not in paired_columns]
        if self.whole and rows and columns:
            self.gave_up = True
        if self.whole or not rows or not columns:
            return pairs
        # A tenth: finding the assignment takes n^3 steps, each much cheaper than a comparison of values.
        self._spend(min(len(rows), len(columns)) * len(rows) * len(columns) // 10)
        worths = [[self.worth(gold[row], answer[column]) for column in columns] for row in rows]
        return pairs + [(rows[row], columns[column]) for row, column in assigned(worths)]

    def _paired_numbers(self, gold: list[Part], answer: list[Part], rows: list[int], columns: list[int]) -> Pairs:
        gold_numbers = [_decimal(gold[row].value) for row in rows]
        margins = map(self.matching.margin, gold_numbers)
        ranges = [(_EXACT.subtract(n, m), _EXACT.add(n, m)) for n, m in zip(gold_numbers, margins, strict=True)]
        pairs = near(ranges, [_decimal(answer[column].value) for column in columns])
        return [(rows[row], columns[column]) for row, column in pairs]

    def explain(self, gold: Part, answer: Part, path: Path, violations: Violations) -> None:
        """Add the differences between `gold` and `answer` to `violations`, using the pairs that `worth` found."""
        gold_value, answer_value = gold.value, answer.value
        if gold.number == answer.number:
            return
        if isinstance(gold_value, dict) and isinstance(answer_value, dict):
            for key, part in gold_value.items():
                if key in answer_value:
                    self.explain(part, answer_value[key], (*path, key), violations)
                else:
                    self.misses_null |= part.value is None
                    violations.add((*path, key), "missing")
            for key in answer_value:
                if key not in gold_value:
                    violations.add((*path, key), "extra")
        elif isinstance(gold_value, list) and isinstance(answer_value, list):
            _, pairs = self.arrays.get((id(gold), id(answer)), (0, []))
            rows, columns = map(set, zip(*pairs, strict=True)) if pairs else (set(), set())
            missing_rows = [row for row in range(len(gold_value)) if row not in rows]
            extra_columns = [column for column in range(len(answer_value)) if column not in columns]
            for row, column in [*pairs, *zip(missing_rows, extra_columns, strict=False)]:
                self.explain(gold_value[row], answer_value[column], (*path, column), violations)
            for row in missing_rows[len(extra_columns) :]:
                violations.add((*path, row), "missing")
            for column in extra_columns[len(missing_rows) :]:
                violations.add((*path, column), "extra")
        elif not self.matching.close(gold_value, answer_value):
            violations.add(path, f"{value_text(answer_value)} is not {value_text(gold_value)}")


def _grouped(
    gold: list[Part], answer: list[Part], rows: Iterable[int], columns: Iterable[int], kind: Callable[[Part], object]
) -> dict[object, tuple[list[int], list[int]]]:
    """Return the positions of items by kind, for kinds that occur on both sides."""
    groups: dict[object, tuple[list[int], list[int]]] = {}
    for row in rows:
        groups.setdefault(kind(gold[row]), ([], []))[0].append(row)
    for column in columns:
        group = groups.get(kind(answer[column]))
        if group:
            group[1].append(column)
    return {key: group for key, group in groups.items() if group[1]}


def _number(part: Part) -> int:
    return part.number


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))  # Decimal(0.1) would be 0.1000000000000000055...


# The engine of ``rk.json_match``: the leaves of a document, the pairing of items, and the credit of an answer.


Extra = Literal["cost", "allow"]

_ARRAYS = ("aligned", "ordered")


@dataclass(frozen=True)
class GoldJson:
    """A reader for gold cells with a document: a dict, a list, a number, or JSON text."""

    rules: Rules
    extract: Extractor | None

    def __call__(self, value: object) -> GoldDocument:
        text = value if isinstance(value, str) else _as_json(value)
        if isinstance(value, str) and self.extract:
            extracted = self.extract(value)
            if extracted is None:
                raise ValueError(f"no gold answer found in {shorten(value)}")
            text = extracted
        parsed = parse_json(text)
        if parsed.error:
            raise ValueError(f"{parsed.error}. A gold cell must be JSON text, a dict, or a list")
        return GoldDocument(parsed.value, self.rules, isinstance(value, str))


def _as_json(value: object) -> str:
    # Every gold value is parsed, so a value that JSON cannot represent, or that our parser refuses, is also refused.
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot be written as JSON ({shorten(str(error))}). Store it as JSON text") from None


@dataclass(frozen=True)
class JsonMatch:
    """The fraction of the gold document that the answer matches."""

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
    """Score the fraction of a gold JSON document that the completion's JSON matches: 1.0 only if everything matches.

    ``rk.json_match("gold")`` gives 0.5 to ``{"sku": "a-7", "qty": 30}`` if "gold" is ``{"sku": "a-7", "qty": 31}``.

    The score is ``right / (leaves - blanks + extra)``. The *leaves* of the gold document are its strings, numbers,
    true, false, null, empty objects, and empty arrays. *right* counts the leaves that the answer matches. A matched
    blank leaf (null, "", {}, []) does not count (*blanks*). Leaves that the gold document does not have are *extra*.
    The presence and type of a value get no credit, and neither do placeholders. ``rk.json_schema`` rewards structure.
    docs/json.md has examples.

    Args:
        column: the column with the gold document: JSON text, or a dict or list. Text is preferable: Arrow gives all
            dicts in a column the same keys and fills the gaps with None.
        arrays: how array items are paired. ``"aligned"``: in any order, so that as much as possible matches;
            ``"ordered"``: by position; one or more keys such as ``"sku"``: objects are paired by the value of the first
            of these keys that they have, and other items are aligned.
        tolerance: the absolute distance from a gold number that still counts as correct, for all numbers. By default,
            numbers must be equal. 1 equals 1.0, but not true.
        relative: the tolerance as a fraction of the gold number, at least 0.0. The larger of the two tolerances
            applies.
        ignore: paths to exclude, such as ``"note"`` or ``"lines[].id"``.
        ignore_case: if True, ignore the case of strings. White space and Unicode form (NFC) are always ignored. Keys
            are compared exactly.
        extra: ``"cost"``: extra leaves lower the score; ``"allow"``: keys that the gold document never has at that path
            are ignored. Extra array items always lower the score.
        extract: finds the JSON: by default, the ``<answer>``, else the last fenced block, else the whole visible text.
        gold: finds the JSON in a gold cell that is text, such as ``rk.extract.after("####")``.

    Returns:
        A reward in [0, 1]. Up to 100,000 pairs of leaves are compared (enough for about 70 items that are all
        incorrect). Beyond this limit, array items count only if they are completely equal.

    Raises:
        RewardDefinitionError: an option is invalid, or a tolerance is negative or infinite.
        MissingExtraError: the extra ``json`` is not installed.
        CoercionError: while scoring: a gold cell is not JSON.
    """
    if not isinstance(column, str):
        raise RewardDefinitionError(
            f"json_match: pass the name of the column with the gold document, got {shorten(column)}"
        )
    for name, value in (("tolerance", tolerance), ("relative", relative)):
        if number(value, f"json_match: {name}") < 0.0:
            raise RewardDefinitionError(f"json_match: {name} must be 0 or more, got {value}")
    if extra not in ("cost", "allow"):
        raise RewardDefinitionError(f'json_match: extra must be "cost" or "allow", got {shorten(extra)}')
    json_parser("rk.json_match")
    paths = tuple(ignore) if isinstance(ignore, Sequence) and not isinstance(ignore, str) else (ignore,)
    rules = Rules(frozenset(map(steps_of, paths)), bool(ignore_case), arrays == "ordered")
    matching = Matching(
        rules, _keys(arrays), Decimal(repr(float(tolerance))), Decimal(repr(float(relative))), extra == "cost"
    )
    where = as_extractor(extract, document())
    gold_where = None if gold is None else as_extractor(gold, document())
    call_text = expression(
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
        call_text,
        Parameter("document", "completion", view=Json(where)),
        Parameter("gold", column, annotation=Annotated[GoldDocument, PlainValidator(GoldJson(rules, gold_where))]),
    )


def _keys(arrays: object) -> tuple[str, ...]:
    """Return the keys by which objects are paired; empty if `arrays` is "aligned" or "ordered"."""
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
