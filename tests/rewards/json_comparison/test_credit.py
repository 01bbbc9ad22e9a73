"""Credit by a gold document: the formula and its laws."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from itertools import permutations
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, example, given, strategies as st

from rewardkit.rewards import json_match as module
from rewardkit.rewards.json_match import _BLANK, GoldDocument, Matching, Part, Rules

Json: TypeAlias = Any
Path: TypeAlias = tuple[Any, ...]

ALIGNED = Matching(Rules(frozenset(), ignore_case=False, ordered=False))
ORDERED = Matching(Rules(frozenset(), ignore_case=False, ordered=True))
KEYED = replace(ALIGNED, keys=("b", "a"))
TOLERANT = replace(ALIGNED, tolerance=Decimal(1))
RELATIVE = replace(ALIGNED, relative=Decimal("0.1"))
WAYS = {"aligned": ALIGNED, "ordered": ORDERED, "keyed": KEYED, "tolerant": TOLERANT, "relative": RELATIVE}

GOLD: Json = {
    "sku": "a-7",
    "total": 12.5,
    "lines": [{"sku": "x", "qty": 1}, {"sku": "y", "qty": 2}],
    "note": None,
    "tags": ["new", "red"],
}


def score(gold: Json, answer: Json, matching: Matching = ALIGNED, comparisons: int = module.COMPARISONS) -> float:
    value, why = module.credit(GoldDocument(gold, matching.rules), answer, matching, comparisons)
    assert 0.0 <= value <= 1.0
    assert bool(why) is (value < 1.0)
    assert value == 1.0 or value < 1.0 - 1e-7
    return value


def note(gold: Json, answer: Json, matching: Matching = ALIGNED) -> str:
    return module.credit(GoldDocument(gold, matching.rules), answer, matching)[1]


# --- The formula ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (GOLD, 1.0),
        ({**GOLD, "sku": "b"}, 7 / 8),
        ({**GOLD, "total": "12.5"}, 7 / 8),
        ({key: part for key, part in GOLD.items() if key != "sku"}, 7 / 8),
        ({key: part for key, part in GOLD.items() if key != "note"}, 8 / 9),
        ({**GOLD, "note": "none"}, 8 / 9),
        ({**GOLD, "more": 1}, 8 / 9),
        ({**GOLD, "more": {"a": 1, "b": [2, {}]}}, 8 / 11),
        ({**GOLD, "tags": ["red", "new"]}, 1.0),
        ({**GOLD, "tags": ["red", "old"]}, 7 / 8),
        ({**GOLD, "tags": ["red", "red"]}, 7 / 8),
        ({**GOLD, "tags": ["red", "new", "new"]}, 8 / 9),
        ({**GOLD, "tags": ["red"]}, 7 / 8),
        ({**GOLD, "tags": "red"}, 6 / 9),
        ({**GOLD, "tags": []}, 6 / 9),
        ({**GOLD, "lines": [{"qty": 2, "sku": "y"}, {"qty": 3, "sku": "x"}]}, 7 / 8),
        ({**GOLD, "lines": [{"qty": 1, "sku": "x"}, {"qty": 2}]}, 7 / 8),
        ({**GOLD, "lines": [{"qty": 1, "sku": "x"}] * 2}, 6 / 8),
        ({**GOLD, "lines": [{"qty": 1, "sku": "x", "more": 1}]}, 6 / 9),
        ({"sku": "a-7"}, 1 / 9),
        ({"note": None}, 0.0),
        (dict.fromkeys(GOLD), 0.0),
        ({}, 0.0),
        ([], 0.0),
        ([GOLD], 0.0),
        (None, 0.0),
        ("a-7", 0.0),
        ({f"spam{index}": 1 for index in range(50)}, 0.0),
    ],
)
def test_the_formula(answer: Json, expected: float) -> None:
    assert score(GOLD, answer) == pytest.approx(expected)


@pytest.mark.parametrize("gold", [1, "a", True, None, {}, [], "", [None], {"a": []}, [[1], [[2]]]])
def test_any_json_value_can_be_gold(gold: Json) -> None:
    for way in WAYS.values():
        assert score(gold, gold, way) == 1.0
        assert score(gold, {"z": gold}, way) == 0.0


def test_numbers_within_a_tolerance() -> None:
    near = replace(ALIGNED, tolerance=Decimal("0.1"), relative=Decimal("0.01"))
    assert score(1.1, 1.2) == 0.0
    assert score(1.1, 1.2, near) == score(1.2, 1.1, near) == 1.0  # in decimal arithmetic, where 1.2 - 1.1 is 0.1
    assert score(1.1, 1.2000001, near) == 0.0
    assert score(1000, 1010, near) == score(-1000, -990, near) == 1.0
    assert score(1000, 1010.5, near) == 0.0
    assert score(0, 0.1, near) == 1.0
    assert score(0, 1e-9, RELATIVE) == 0.0
    assert score(1, True, near) == score(True, 1, near) == score(1, "1", near) == 0.0
    assert score(10**399, 10**399 + 1, TOLERANT) == 1.0
    assert score(10**399, 1e308, TOLERANT) == 0.0


def test_a_tolerance_pairs_as_many_as_possible() -> None:
    near = replace(ALIGNED, tolerance=Decimal("0.1"))
    assert score([1.0, 1.1], [1.1, 1.2], near) == 1.0
    assert score([{"a": 1.0}, {"a": 1.1}], [{"a": 1.1}, {"a": 1.2}], near) == 1.0
    assert score([1.0, 1.1], [1.1, 1.3], near) == 0.5
    assert score([1.0, "x"], ["x", 1.05], near) == 1.0


def test_keys_pair_objects() -> None:
    gold = [{"a": "x", "q": 1, "r": 1}, {"a": "y", "q": 2, "r": 2}, [5]]
    swapped = [{"a": "y", "q": 1, "r": 1}, [5], {"a": "x", "q": 2, "r": 2}]
    assert score(gold, swapped) == 5 / 7
    assert score(gold, swapped, KEYED) == 3 / 7
    assert score(gold, [{"a": "z", "q": 1, "r": 1}, *gold[1:]], KEYED) == 4 / 7
    assert score([{"b": 1, "a": 1}, {"a": 1, "c": 2}], [{"a": 1, "c": 2}, {"a": 2, "b": 1}], KEYED) == 3 / 4
    assert score([{"a": [1, 2], "c": 2}], [{"a": [2, 1], "c": 3}], KEYED) == 2 / 3


def test_order_counts_on_request() -> None:
    assert score([1, 2, 3], [1, 3, 2], ORDERED) == 1 / 3
    assert score([1, 2, 3], [1, 2], ORDERED) == 2 / 3
    assert score([1, 2], [0, 1, 2], ORDERED) == 0.0


def test_extra_keys_may_be_free_but_extra_items_never_are() -> None:
    free = replace(ALIGNED, extra=False)
    assert score(GOLD, {**GOLD, "more": [1, 2]}, free) == 1.0
    assert score(GOLD, {**GOLD, "lines": [{**line, "more": 1} for line in GOLD["lines"]]}, free) == 1.0
    assert score(GOLD, {**GOLD, "tags": ["new", "red", "x"]}, free) == 8 / 9
    assert score(GOLD, {**GOLD, "lines": [*GOLD["lines"], {"more": 1}]}, free) == 8 / 9


# --- Laws ----------------------------------------------------------------------------------------------

scalars = st.sampled_from([None, True, False, 0, 1, 1.5, 2, "", "x", "y"])
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=14,
)
ways = st.sampled_from(sorted(WAYS)).map(WAYS.__getitem__)
budgets = st.sampled_from([module.COMPARISONS, module.COMPARISONS, 0])


def shuffled(value: Json, chance: random.Random, items: bool) -> Json:
    """Return `value` with its keys, and optionally its items, in another order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], chance, items) for key in chance.sample(sorted(value), len(value))}
    if isinstance(value, list):
        parts = [shuffled(item, chance, items) for item in value]
        return chance.sample(parts, len(parts)) if items else parts
    return value


def standard(value: Json, ordered: bool) -> Json:
    """Return a value that is the same for all documents that count as equal."""
    if isinstance(value, dict):
        return json.dumps({key: standard(part, ordered) for key, part in value.items()}, sort_keys=True)
    if isinstance(value, list):
        parts = [standard(item, ordered) for item in value]
        return json.dumps(parts if ordered else sorted(parts))
    return json.dumps(float(value) if type(value) in (int, float) else value)


@given(documents, documents, st.sampled_from([ALIGNED, ORDERED, KEYED]), budgets)
def test_one_is_for_what_is_equal(gold: Json, answer: Json, way: Matching, budget: int) -> None:
    same = standard(gold, way.rules.ordered) == standard(answer, way.rules.ordered)
    assert (score(gold, answer, way, budget) == 1.0) is same


@given(documents, documents, ways, budgets, st.randoms(use_true_random=False))
def test_the_order_of_keys_and_aligned_items_does_not_count(
    gold: Json, answer: Json, way: Matching, budget: int, chance: random.Random
) -> None:
    items = not way.rules.ordered
    assert score(gold, shuffled(gold, chance, items), way, budget) == 1.0
    assert score(gold, shuffled(answer, chance, items), way, budget) == score(gold, answer, way, budget)
    assert score(shuffled(gold, chance, items), answer, way, budget) == score(gold, answer, way, budget)


def at(value: Json, path: Path) -> Json:
    return reduce(lambda inner, key: inner[key], path, value)


def paths_of(value: Json, path: Path = ()) -> Iterator[Path]:
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        yield from paths_of(part, (*path, key))


def broken(document: Json, faults: dict[Path, str]) -> Json:
    """Yield `document` with each place replaced by a value that occurs nowhere else, or removed."""
    made = json.loads(json.dumps(document))
    for path, kind in sorted(faults.items(), key=lambda fault: repr(fault[0]), reverse=True):
        around, key = at(made, path[:-1]), path[-1]
        if kind == "remove" and isinstance(around, dict):
            del around[key]
        else:
            around[key] = [{"fresh": repr(path)}] if kind == "wrap" else f"fresh {path}"
    return made


@st.composite
def faulty_documents(draw: st.DrawFn) -> tuple[Json, list[Path], dict[Path, str]]:
    """Draw (document, independent places in the order in which they are fixed, their faults)."""
    document = draw(documents)
    places = [path for path in paths_of(document) if path]
    assume(places)
    chosen: dict[Path, str] = {}
    for path in draw(st.lists(st.sampled_from(places), min_size=1, max_size=6)):
        if all(path[: len(other)] != other and other[: len(path)] != path for other in chosen):
            chosen[path] = draw(st.sampled_from(["replace", "remove", "wrap"]))
    return document, draw(st.permutations(list(chosen))), chosen


@given(faulty_documents(), ways, budgets)
def test_fixing_never_lowers_and_breaking_never_raises_the_score(
    case: tuple[Json, list[Path], dict[Path, str]], way: Matching, budget: int
) -> None:
    document, order, faults = case
    earned = []
    for count in range(len(order) + 1):
        left = {path: faults[path] for path in order[count:]}
        earned.append(score(document, broken(document, left), way, budget))
    assert earned == sorted(earned)
    assert earned[-1] == 1.0
    assert earned[0] < 1.0


@given(documents, documents, ways, budgets, st.data())
def test_what_is_extra_never_raises(gold: Json, answer: Json, way: Matching, budget: int, data: st.DataObject) -> None:
    # An empty one is itself a leaf, which the addition replaces.
    containers = [path for path in paths_of(answer) if isinstance(at(answer, path), dict | list) and at(answer, path)]
    assume(containers)
    place = data.draw(st.sampled_from(containers))
    more = data.draw(st.sampled_from(["fresh", [["fresh"]], {"fresh": 1}]))
    made = json.loads(json.dumps(answer))
    around = at(made, place)
    if isinstance(around, dict):
        around["fresh"] = more
    else:
        around.append(more)
    before, after = score(gold, answer, way, budget), score(gold, made, way, budget)
    assert after <= before
    if (
        before and isinstance(around, dict) and len(around) > 1
    ):  # an extra item may match a missing one; an unknown key cannot
        assert after < before


@given(st.lists(scalars, min_size=1, max_size=5), st.lists(scalars, max_size=5), st.data())
def test_repeating_an_item_never_raises_the_score(gold: Json, answer: Json, data: st.DataObject) -> None:
    item = data.draw(st.sampled_from(gold))
    enough = [item] * sum(standard(item, True) == standard(other, True) for other in gold)
    assert score(gold, [*answer, *enough, item]) <= score(gold, [*answer, *enough])
    assert score(gold, [*gold, item]) < 1.0


@given(documents, ways, budgets)
@example({"a": 1, "b": None, "c": ""}, ALIGNED, module.COMPARISONS)
def test_placeholders_earn_nothing(gold: Json, way: Matching, budget: int) -> None:
    def blanked(value: Json, blank: Json) -> Json:
        if isinstance(value, dict):
            return {key: blanked(part, blank) for key, part in value.items()}
        return [blanked(item, blank) for item in value] if isinstance(value, list) else blank

    def blank_everywhere(value: Json) -> bool:
        if isinstance(value, dict | list):
            return all(map(blank_everywhere, value.values() if isinstance(value, dict) else value))
        return value in (None, "")

    assume(not blank_everywhere(gold))
    for blank in _BLANK:
        assert score(gold, blank, way, budget) == score(gold, blanked(gold, blank), way, budget) == 0.0


def most_right(gold: Json, answer: Json) -> int:
    """Return the maximum number of right leaves, without blanks, by trying every pairing."""
    if isinstance(gold, dict) and isinstance(answer, dict):
        return sum(most_right(part, answer[key]) for key, part in gold.items() if key in answer)
    if isinstance(gold, list) and isinstance(answer, list):
        short, long = sorted((gold, answer), key=len)
        swap = short is not gold
        return max(
            sum(most_right(*((other, one) if swap else (one, other))) for one, other in zip(short, chosen, strict=True))
            for chosen in permutations(long, len(short))
        )
    return int(type(gold) is type(answer) and gold == answer)


values = st.integers(1, 2) | st.lists(st.integers(1, 2), min_size=1, max_size=2)
items = st.lists(st.dictionaries(st.sampled_from("abc"), values, min_size=1, max_size=3), min_size=1, max_size=4)


@given(items, items)
def test_no_other_pairing_makes_more_right(gold: Json, answer: Json) -> None:
    wanted, found = (GoldDocument(value, ALIGNED.rules).document.leaves for value in (gold, answer))
    expected = most_right(gold, answer) / (wanted | found).total()
    assert score(gold, answer) == pytest.approx(expected)


# --- Limits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        {"lines": [{"a": 2, "b": 3}] * 15_000},
        {"lines": [[[index] for index in range(10)]] * 3_000},
        {"lines": [{"a": {"a": {"a": index}}} for index in range(9_000)]},
        {"lines": [{}] * 60_000},
        {"lines": [{str(index): index} for index in range(15_000)]},
    ],
)
def test_the_comparisons_of_a_hostile_answer_are_bounded(answer: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    worth = module._Comparison.worth

    def counting(self: module._Comparison, gold: Part, found: Part) -> int:
        nonlocal made
        made += 1
        return worth(self, gold, found)

    monkeypatch.setattr(module._Comparison, "worth", counting)
    gold = {"lines": [{"a": {"a": {"a": -index}}, "b": index} for index in range(50)] + [[[1, 2, 3], [4]]] * 20}
    score(gold, answer)
    assert 1 < made <= module.COMPARISONS + 1_000


def test_depth_does_not_multiply_comparisons() -> None:
    gold: Json = ["y"]
    answer: Json = ["z"]
    for _ in range(40):
        gold, answer = [gold, "x"], ["x", answer]
    assert score(gold, answer) == 40 / 41


def test_beyond_the_limit_items_count_whole() -> None:
    gold = {"lines": [{"a": index, "b": -index} for index in range(400)]}
    answer = {"lines": [*gold["lines"][1:], {"a": 0, "b": 1}]}
    assert score(gold, answer) == 799 / 800
    assert score(gold, answer, comparisons=0) == 798 / 800
    assert score(gold, {"lines": [{**line, "b": 1} for line in gold["lines"]]}) == 0.0
    keyed = replace(ALIGNED, keys=("a",))
    assert score(gold, {"lines": [{**line, "b": 1} for line in gold["lines"]]}, keyed) == 0.5
    assert "too many items" in note(gold, {"lines": [{**line, "b": 1} for line in gold["lines"]]})
    assert "too many items" not in note(list(range(60_000)), list(range(1, 60_001)))
    near = module.credit(GoldDocument([{"a": 1}], TOLERANT.rules), [{"a": 1.5}], TOLERANT, 0)
    assert near == (0.0, "too many items to compare part by part")


def test_notes_name_paths_and_stay_short() -> None:
    answer = {**GOLD, "sku": 5, "lines": [{"sku": "y", "qty": 2}, {"sku": "x", "qty": 9, "more": 1}], "note": "n"}
    assert note(GOLD, answer) == 'sku: 5 is not "a-7"; lines[1].qty: 9 is not 1; lines[1].more: extra; and 1 more'
    assert note([1, 2, 3], [3]) == "[0]: missing; [1]: missing"
    assert note([1], [2, 1, 3]) == "[0]: extra; [2]: extra"
    assert note({"a": {"b": 1}}, {"a": []}) == "a: array of 0 is not object of 1"
    assert note([1.0, 9], [8, 1.5], TOLERANT) == ""
    assert note(["a"], ["\x1b[2J" + "b" * 10**5]).isprintable()
    assert len(note(["a" * 10**5], ["b" * 10**5])) < 300
