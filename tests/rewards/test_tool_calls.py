"""Tool calls against gold calls: F1 of the best pairing, compared with trying all pairings."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.batch.batch import Batch
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.check.variants import strategies
from rewardkit.check.variants.wild_texts import TEXTS
from tests.batch.text_forms import ALL, as_json
from tests.record.conversations import asks, result, says

Call = tuple[str, dict[str, Any]]
Message = dict[str, Any]

RED: Call = ("open", {"color": "red"})
BLUE: Call = ("open", {"color": "blue"})
LOOK: Call = ("look", {})


def cell(*calls: Call) -> str:
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


def made(*turns: Sequence[Call]) -> list[Message]:
    """A completion that makes the calls, turn by turn."""
    messages: list[Message] = []
    for turn in turns:
        messages += [asks(*turn), *[result(name, "ok") for name, _ in turn]]
    return [*messages, says("done")]


def table(gold: Any, completion: Any, **options: Any) -> rk.ScoreTable:
    return rk.score(rk.tool_calls("gold", **options), [completion], gold=[gold])


def value(gold: Any, completion: Any, **options: Any) -> float:
    return float(table(gold, completion, **options).total[0])


@pytest.mark.parametrize(
    ("gold", "completion", "score", "note"),
    [
        (cell(RED), made([RED]), 1.0, ""),
        (cell(RED), made([RED], [LOOK], [LOOK]), 0.5, "2 other calls"),
        (cell(RED), made([RED], [BLUE], [LOOK], [LOOK], [LOOK]), 2 / 6, "4 other calls"),
        (cell(RED), made([BLUE]), 0.0, 'not called as expected: open(color="red"); 1 other call'),
        (cell(RED, BLUE), made([RED]), 2 / 3, 'not called as expected: open(color="blue")'),
        (cell(RED, RED), made([RED]), 2 / 3, 'not called as expected: open(color="red")'),
        (cell(RED, RED), made([RED, RED]), 1.0, ""),
        (cell(RED), made([RED], [RED]), 2 / 3, "1 other call"),
        (cell(), made(), 1.0, ""),
        (cell(), made([LOOK]), 0.0, "1 other call"),
        (cell(RED), made(), 0.0, 'not called as expected: open(color="red")'),
        (cell(RED), "open red", 0.0, 'not called as expected: open(color="red")'),
        (cell(RED), [], 0.0, 'not called as expected: open(color="red")'),
        (
            cell(RED, BLUE, LOOK),
            made(),
            0.0,
            'not called as expected: open(color="red"), open(color="blue") and 1 more',
        ),
    ],
)
def test_f1_of_the_calls(gold: str, completion: Any, score: float, note: str) -> None:
    found = table(gold, completion)
    assert found.total.tolist() == pytest.approx([score])
    assert found.notes["tool_calls"] == [note]


def test_the_example_of_the_docs() -> None:
    assert value(cell(RED), made([RED], [LOOK], [LOOK], [LOOK], [LOOK])) == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    "completion",
    [
        [asks(RED)],  # no result
        [asks(RED), result("open", "{'error': 'stuck'}"), says("x")],
        [says("x"), asks(RED)],  # after an answer
        [asks(RED), says("x"), says("y")],
    ],
)
def test_a_call_counts_whatever_came_of_it(completion: Any) -> None:
    assert value(cell(RED), completion) == 1.0
    assert value(cell(), completion) == 0.0


@pytest.mark.parametrize("credit", ["exact", "partial", "names"])
def test_a_call_without_arguments_that_can_be_read_matches_nothing(credit: Any) -> None:
    for arguments in ('{"color": ', "[1]", 7):
        assert value(cell(RED), [asks(("open", arguments))], arguments=credit) == 0.0  # type: ignore[arg-type]
        assert value(cell(RED), [asks(RED, ("open", arguments))], arguments=credit) == pytest.approx(2 / 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "exact", "partial"),
    [
        ({"a": 1, "b": "x"}, 1.0, 1.0),
        ({"b": "x", "a": 1.0}, 1.0, 1.0),
        ({"a": True, "b": "x"}, 0.0, 1 / 2),
        ({"a": "1", "b": "x"}, 0.0, 1 / 2),
        ({"a": 1}, 0.0, 1 / 2),
        ({"a": 1, "b": "x", "c": None}, 0.0, 2 / 3),
        ({"a": 1, "b": "X"}, 0.0, 1 / 2),
        ({"c": 1}, 0.0, 0.0),
        ({}, 0.0, 0.0),
    ],
)
def test_arguments_are_compared_by_json_value(arguments: dict[str, Any], exact: float, partial: float) -> None:
    gold, completion = cell(("f", {"a": 1, "b": "x"})), made([("f", arguments)])
    assert value(gold, completion) == exact
    assert value(gold, completion, arguments="partial") == pytest.approx(partial)
    assert value(gold, completion, arguments="names") == 1.0


@pytest.mark.parametrize(
    ("wanted", "given_value", "right"),
    [
        ({"any_of": [2, 3]}, 3, True),
        ({"any_of": [2, 3]}, 3.0, True),
        ({"any_of": [2, 3]}, 4, False),
        ({"any_of": [2, 3]}, [2, 3], False),
        ({"any_of": []}, 2, False),
        ({"optional": 2}, 2, True),
        ({"optional": 2}, 3, False),
        ({"optional": {"any_of": ["", "none"]}}, "none", True),
        ([{"any_of": [1, 2]}, 3], [2, 3], True),
        ([{"any_of": [1, 2]}, 3], [2, 3, 4], False),
        ({"deep": {"optional": 1}, "b": 2}, {"b": 2}, True),
        ({"deep": {"optional": 1}, "b": 2}, {"b": 2, "deep": 1}, True),
        ({"deep": {"optional": 1}, "b": 2}, {"b": 2, "deep": 3}, False),
        ({"deep": {"optional": 1}, "b": 2}, {"b": 2, "other": 3}, False),
        ({"any_of": [1], "more": 2}, {"any_of": [1], "more": 2}, True),  # an object like any other
    ],
)
def test_choices(wanted: Any, given_value: Any, right: bool) -> None:
    assert value(cell(("f", {"a": wanted})), made([("f", {"a": given_value})])) == float(right)


def test_an_optional_argument_may_be_missing() -> None:
    gold = cell(("f", {"a": 1, "b": {"optional": 2}}))
    assert value(gold, made([("f", {"a": 1})])) == 1.0
    assert value(gold, made([("f", {"a": 1})]), arguments="partial") == 1.0
    assert value(gold, made([("f", {})]), arguments="partial") == 0.0


def test_one_argument_may_be_compared_by_a_function() -> None:
    def near(made_value: Any, gold: Any) -> bool:
        return isinstance(made_value, (int, float)) and abs(made_value - gold) <= 1

    gold = cell(("f", {"a": 10, "b": 10}))
    assert value(gold, made([("f", {"a": 11, "b": 10})]), same={"a": near}) == 1.0
    assert value(gold, made([("f", {"a": 10, "b": 11})]), same={"a": near}) == 0.0
    assert value(gold, made([("f", {"a": "x", "b": 10})]), same={"a": near}, arguments="partial") == 0.5


def test_surplus_calls_may_be_free() -> None:
    retried = made([("open", {"color": "rot"})], [RED])
    assert value(cell(RED), retried) == pytest.approx(2 / 3)
    assert value(cell(RED), retried, free=1) == 1.0
    assert value(cell(RED), made([BLUE]), free=1) == 0.0
    assert value(cell(), made([LOOK]), free=1) == 1.0
    assert value(cell(), made([LOOK], [LOOK]), free=1) == 0.0


def test_extra_calls_may_be_allowed() -> None:
    sprayed = made(*[[("open", {"color": color})] for color in ("red", "blue", "green")])
    assert value(cell(RED), sprayed, extra="allow") == 1.0
    assert value(cell(RED, LOOK), sprayed, extra="allow") == 0.5
    assert value(cell(), sprayed, extra="allow") == 1.0


def test_allowed_extra_calls_are_reported_unless_a_penalty_stands_beside() -> None:
    allowing = rk.tool_calls("gold", extra="allow")
    assert any("gains by trying everything" in trap for trap in rk.Scorer(allowing).traps())
    assert not any("trying everything" in trap for trap in rk.Scorer(allowing + rk.agents.calls_between(0, 4)).traps())
    assert not any("trying everything" in trap for trap in rk.Scorer(rk.tool_calls("gold")).traps())
    assert any("trying everything" in trap for trap in rk.Scorer(allowing + rk.agents.turns_between(0, 4)).traps())


@pytest.mark.parametrize(
    ("turns", "kept", "free"),
    [
        ([[RED], [BLUE]], 1.0, 1.0),
        ([[BLUE], [RED]], 0.5, 1.0),
        ([[BLUE, RED]], 1.0, 1.0),
        ([[RED, LOOK], [BLUE]], 4 / 5, 4 / 5),
        ([[LOOK], [BLUE], [RED], [BLUE]], 4 / 6, 4 / 6),
    ],
)
def test_order_may_be_kept(turns: Any, kept: float, free: float) -> None:
    assert value(cell(RED, BLUE), made(*turns), order="kept") == pytest.approx(kept)
    assert value(cell(RED, BLUE), made(*turns)) == pytest.approx(free)


USER = {"role": "user", "content": "And now the other."}


@pytest.mark.parametrize(
    ("completion", "score"),
    [
        ([*made([RED]), USER, *made([BLUE])], 1.0),
        ([*made([BLUE]), USER, *made([RED])], 0.0),
        ([*made([RED]), USER, *made()], 2 / 3),
        ([*made([RED, BLUE])], 0.5),
        ([*made([RED]), USER, *made([BLUE]), USER, *made([LOOK])], 4 / 5),
        ([], 0.0),
    ],
)
def test_gold_calls_of_each_round(completion: Any, score: float) -> None:
    gold = json.dumps([json.loads(cell(RED)), json.loads(cell(BLUE))])
    assert value(gold, completion) == pytest.approx(score)


def test_rounds_without_a_call() -> None:
    gold = json.dumps([[], json.loads(cell(RED))])
    assert value(gold, [*made(), USER, *made([RED])]) == 1.0
    assert value(gold, [*made([RED]), USER, *made()]) == 0.0


@pytest.mark.parametrize(
    "gold",
    [
        [{"name": "open", "arguments": {"color": "red"}}],
        [{"name": "open", "arguments": '{"color": "red"}'}],
        [{"id": "c", "type": "function", "function": {"name": "open", "arguments": '{"color": "red"}'}}],
        ({"name": "open", "arguments": {"color": "red"}},),
    ],
)
def test_forms_of_the_gold(gold: Any) -> None:
    assert value(gold, made([RED])) == 1.0
    assert value(json.dumps(gold), made([RED])) == 1.0
    assert value(gold, made([BLUE])) == 0.0


def test_a_gold_call_without_arguments() -> None:
    for gold in ([{"name": "look"}], [{"name": "look", "arguments": None}], [{"name": "look", "arguments": {}}]):
        assert value(gold, made([LOOK])) == 1.0
        assert value(gold, made([("look", {"a": 1})])) == 0.0


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        ("open red", "not valid JSON"),
        ('{"name": "open"}', "must be a list"),
        ("7", "must be a list"),
        ('["open"]', "a gold call must be"),
        ('[{"name": ""}]', "a gold call must be"),
        ('[{"arguments": {}}]', "a gold call must be"),
        ('[[{"name": "open"}], {"name": "open"}]', "a gold call must be"),
        ([{"name": "open", "arguments": [1]}], "must be an object"),
        ([{"name": "open", "arguments": "{"}], "the arguments of the gold call 'open'"),
        ([{"name": "open", "arguments": {"a": float("nan")}}], "are not JSON"),
        ([{"name": "open", "arguments": {"a": {1, 2}}}], "are not JSON"),
        ('[{"name": "open", "args": {"color": "red"}}]', "no 'arguments', but 'args'"),
        ('[{"name": "open", "parameters": {"color": "red"}}]', "no 'arguments', but 'parameters'"),
        ('[{"name": "open", "arguments": {"color": {"any_of": "red"}}}]', "any_of must be a list"),
        ('[{"name": "open", "arguments": {"color": "red"}, "optional": true}]', "Only an argument may be optional"),
    ],
)
def test_a_bad_gold_cell_is_an_error_of_the_data(gold: Any, problem: str) -> None:
    with pytest.raises(rk.errors.CoercionError, match=problem):
        value(gold, made([RED]))


def test_a_bad_gold_cell_names_a_remedy_that_exists() -> None:
    with pytest.raises(rk.errors.CoercionError) as caught:
        value("open red", made([RED]))
    assert "gold=" not in str(caught.value)


def test_gold_calls_whose_gaps_arrow_has_filled() -> None:
    datasets = pytest.importorskip("datasets")
    wanted = [{"name": "open", "arguments": {"color": "red"}}, {"name": "look", "arguments": {"at": {"x": 1}}}]
    (cell,) = datasets.Dataset.from_list([{"calls": wanted}])["calls"]
    assert cell[0]["arguments"] == {"color": "red", "at": None}
    assert value(cell, made([RED], [("look", {"at": {"x": 1}})])) == 1.0
    assert value(cell, made([RED], [("look", {"at": {"x": 2}})])) == 0.5
    text = json.dumps([{"name": "open", "arguments": {"color": None}}])
    assert value(text, made([("open", {})])) == 0.0


def test_a_missing_gold_cell_abstains() -> None:
    found = rk.score(rk.tool_calls("gold"), [made([RED])] * 2, gold=[None, cell(RED)])
    assert [str(outcome) for outcome in found.outcomes["tool_calls"]] == ["abstained", "scored"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"order": "keep"}, r'order must be one of "any", "kept", got \'keep\'. Did you mean'),
        ({"arguments": "some"}, "arguments must be one of"),
        ({"extra": True}, "extra must be one of"),
        ({"free": -1}, "free must be a number of calls"),
        ({"free": True}, "free must be a number of calls"),
        ({"form": "hermess"}, r'tool_calls: form must be one of "auto", "messages", .* Did you mean'),
        ({"form": None}, "form must be one of"),
        ({"same": {"a": "near"}}, "same= must map"),
        ({"same": {1: abs}}, "same= must map"),
    ],
)
def test_options_are_checked(options: Any, problem: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=problem):
        rk.tool_calls("gold", **options)
    with pytest.raises(rk.RewardDefinitionError, match="the name of the column"):
        rk.tool_calls([{"name": "open"}])  # type: ignore[arg-type]


def test_it_is_shown_and_pickled_as_it_was_written() -> None:
    reward = rk.tool_calls("gold", order="kept", arguments="partial", free=2)
    assert repr(reward) == "tool_calls('gold', order='kept', arguments='partial', free=2)"
    again = pickle.loads(pickle.dumps(reward))
    assert (repr(again), again == reward, hash(again) == hash(reward)) == (repr(reward), True, True)


def test_without_the_parser_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jiter", None)
    with pytest.raises(rk.errors.MissingExtraError, match=r"pip install .*\[json\]"):
        rk.tool_calls("gold")


# Laws

NAMES = st.sampled_from(["f", "g"])
ARGUMENTS = st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, 1, 1.0, True, "1", None]), max_size=2)
CALLS = st.tuples(NAMES, ARGUMENTS)
GOLD = st.lists(CALLS, max_size=3)
TURNS = st.lists(st.lists(CALLS, min_size=1, max_size=2), max_size=3)


def equal(one: Any, other: Any) -> bool:
    return (isinstance(one, bool) == isinstance(other, bool)) and one == other


def worth(gold: Call, call: Call, credit: str) -> float:
    if gold[0] != call[0]:
        return 0.0
    if credit == "names":
        return 1.0
    names = gold[1].keys() | call[1].keys()
    right = sum(name in gold[1] and name in call[1] and equal(gold[1][name], call[1][name]) for name in names)
    share = right / len(names) if names else 1.0
    return share if credit == "partial" else float(share == 1.0)


def pairings(gold: int, calls: int) -> Iterator[dict[int, int]]:
    """All ways to give some gold calls a call of their own."""
    if gold == 0:
        yield {}
        return
    for rest in pairings(gold - 1, calls):
        yield rest
        for call in set(range(calls)) - set(rest.values()):
            yield {**rest, gold - 1: call}


def best(gold: list[Call], turns: list[list[Call]], credit: str, kept: bool) -> float:
    calls = [(number, call) for number, turn in enumerate(turns) for call in turn]
    most = 0.0
    for pairing in pairings(len(gold), len(calls)):
        # Only pairs that are worth something have to keep the order.
        pairing = {g: c for g, c in pairing.items() if worth(gold[g], calls[c][1], credit) > 0}
        crossing = any(
            one < other and calls[pairing[one]][0] > calls[pairing[other]][0] for one in pairing for other in pairing
        )
        if not (kept and crossing):
            most = max(most, sum(worth(gold[g], calls[c][1], credit) for g, c in pairing.items()))
    return most


@settings(max_examples=150)
@given(GOLD, TURNS, st.sampled_from(["exact", "partial", "names"]), st.booleans())
def test_it_is_the_best_of_all_pairings(gold: list[Call], turns: list[list[Call]], credit: Any, kept: bool) -> None:
    made_calls = sum(map(len, turns))
    expected = 2 * best(gold, turns, credit, kept) / (len(gold) + made_calls) if gold or made_calls else 1.0
    order: Any = "kept" if kept else "any"
    found = value(cell(*gold), made(*turns), arguments=credit, order=order)
    assert found == pytest.approx(expected, abs=1e-9)
    # The same rules through functions, which takes another way.
    if credit != "names":
        by_function = value(cell(*gold), made(*turns), arguments=credit, order=order, same={"none": equal})
        assert by_function == pytest.approx(expected, abs=1e-9)


@given(
    strategies.trajectories(), GOLD, st.sampled_from(["exact", "partial", "names"]), st.sampled_from(["any", "kept"])
)
def test_range(messages: list[Message], gold: list[Call], credit: Any, order: Any) -> None:
    for extra in ("cost", "allow"):
        assert 0.0 <= value(cell(*gold), messages, arguments=credit, order=order, extra=extra) <= 1.0


@given(GOLD, TURNS)
def test_full_marks_exactly_for_the_gold_calls(gold: list[Call], turns: list[list[Call]]) -> None:
    def key(call: Call) -> str:
        return json.dumps([call[0], {name: [type(one) is bool, one] for name, one in call[1].items()}], sort_keys=True)

    flat = [call for turn in turns for call in turn]
    same = sorted(key(call).replace("1.0", "1") for call in flat) == sorted(key(c).replace("1.0", "1") for c in gold)
    assert (value(cell(*gold), made(*turns)) == 1.0) is same
    assert value(cell(*gold), made(*[[call] for call in gold]), order="kept") == 1.0
    assert value(cell(*gold), made(gold) if gold else made(), order="kept") == 1.0


@given(GOLD, TURNS, st.randoms())
def test_the_order_of_the_calls_of_a_turn_does_not_matter(gold: Any, turns: Any, chance: random.Random) -> None:
    shuffled = [chance.sample(turn, len(turn)) for turn in turns]
    for order in ("any", "kept"):
        for credit in ("exact", "partial"):
            options: Any = {"order": order, "arguments": credit}
            assert value(cell(*gold), made(*turns), **options) == value(cell(*gold), made(*shuffled), **options)


@given(GOLD, TURNS, st.data())
def test_the_form_of_calls_does_not_matter(gold: list[Call], turns: list[list[Call]], data: st.DataObject) -> None:
    completion = made(*turns)
    _, other = data.draw(strategies.edited(completion, "arguments", "ids", "parallel order"))
    assert value(cell(*gold), other) == value(cell(*gold), completion)


@given(strategies.trajectories(), st.data())
def test_further_calls_never_pay(messages: list[Message], data: st.DataObject) -> None:
    calls = rk.Trajectory.of(messages).calls
    gold = cell(*[(call.name, dict(call.arguments)) for call in calls if call.arguments is not None][:2])
    _, more = data.draw(strategies.edited(messages, "further calls"))
    before = value(gold, messages)
    assert value(gold, more) < before or before == 0.0
    assert value(gold, more) <= before
    _, idle = data.draw(strategies.edited(messages, "idle turns"))
    assert value(gold, idle) == value(gold, messages)


@given(st.lists(CALLS, min_size=1, max_size=3), st.integers(1, 4))
def test_each_repetition_costs_something(gold: list[Call], times: int) -> None:
    values = [value(cell(*gold), made(gold, *[[gold[0]]] * count)) for count in range(times + 1)]
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


@given(st.lists(CALLS, min_size=1, max_size=4), st.sampled_from(["any", "kept"]))
def test_a_prefix_of_the_gold_calls_is_below_the_whole(gold: list[Call], order: Any) -> None:
    messages = made(*[[call] for call in gold])
    values = [value(cell(*gold), messages[:stop], order=order) for stop in range(len(messages) + 1)]
    assert values == sorted(values)
    assert values[-1] == 1.0


# Calls that are written as text


def hermes(*calls: Call) -> str:
    return "\n".join(f"<tool_call>\n{as_json(*call)}\n</tool_call>" for call in calls)


@pytest.mark.parametrize(
    ("gold", "completion", "score", "note"),
    [
        (cell(RED), hermes(RED), 1.0, ""),
        (cell(RED), [says(hermes(RED))], 1.0, ""),
        (cell(RED), f"<think>Red.</think>\n{hermes(RED)}", 1.0, ""),
        (cell(RED), hermes(RED, LOOK, LOOK), 0.5, "2 other calls"),
        (cell(RED), hermes(BLUE), 0.0, 'not called as expected: open(color="red"); 1 other call'),
        (cell(RED, BLUE), hermes(BLUE, RED), 1.0, ""),
        (cell(RED, RED), hermes(RED), 2 / 3, 'not called as expected: open(color="red")'),
        (cell(), "I cannot do that.", 1.0, ""),
        (cell(), "[]", 1.0, ""),
        (cell(), hermes(RED), 0.0, "1 other call"),
        (cell(), f"A call would be <tool_call>{as_json(*RED)}</tool_call>, which I do not make.", 1.0, ""),
        (cell(), "<tool_call>", 0.0, "1 other call, which cannot be read: no call begins there"),
        (cell(), '{"name": "open", "arguments": {', 0.0, "1 other call, which cannot be read: not valid JSON: "),
        (
            cell(RED),
            '<tool_call>{"name": "open", "arguments": {"color": "red"}</tool_call>',
            0.0,
            'not called as expected: open(color="red"); 1 other call, which cannot be read: not valid JSON: ',
        ),
        (
            cell(RED),
            f"{hermes(RED)}\n<tool_call>{{}}</tool_call>\n{hermes(LOOK)}",
            0.5,
            "2 other calls (1 cannot be read: the call has no name)",
        ),
        (
            cell(RED),
            f"Here:\n```json\n{as_json(*RED)}\n```",
            0.0,
            'not called as expected: open(color="red"); a call in a fence next to other text does not count',
        ),
        (
            cell(RED),
            f"I am done.<|im_end|>\n{hermes(RED)}",
            0.0,
            'not called as expected: open(color="red"); a call after the end of the turn does not count',
        ),
        (cell(RED), [asks(RED, text=hermes(BLUE)), result("open", "ok"), says(hermes(BLUE))], 1.0, ""),
        (cell(RED), [asks(BLUE, text=hermes(RED))], 0.0, 'not called as expected: open(color="red"); 1 other call'),
    ],
)
def test_calls_in_text(gold: str, completion: Any, score: float, note: str) -> None:
    found = table(gold, completion)
    assert found.total.tolist() == pytest.approx([score])
    (said,) = found.notes["tool_calls"]
    assert said == note or (note.endswith(": ") and said.startswith(note))


def test_a_trainer_that_runs_calls_is_asked_for_none_in_text() -> None:
    completions = [[says(hermes(RED))], [says(BROKEN)], made([RED])]
    batch = Batch(completions, columns={"gold": [cell(RED)] * 3}, rollouts=RolloutInfo(runs_calls=True))
    found = rk.Scorer(rk.tool_calls("gold")).score(batch)
    assert found.total.tolist() == [0.0, 0.0, 1.0]
    assert found.notes["tool_calls"][0].endswith("does not count: the trainer runs the calls of messages")
    asked_for = rk.Scorer(rk.tool_calls("gold", form="hermes")).score(batch)
    assert asked_for.total.tolist() == [1.0, 0.0, 1.0]
    assert "cannot be read" in asked_for.notes["tool_calls"][1]
    free = Batch(completions, columns={"gold": [cell()] * 3}, rollouts=RolloutInfo(runs_calls=True))
    assert rk.Scorer(rk.tool_calls("gold")).score(free).total.tolist() == [1.0, 1.0, 0.0]


BROKEN = '<tool_call>{"name": "open", "arguments": {</tool_call>'


@pytest.mark.parametrize(
    ("form", "completion", "score", "note"),
    [
        ("messages", hermes(RED), 0.0, "the text begins like a call, which does not count: form='messages'"),
        ("messages", made([RED]), 1.0, ""),
        ("hermes", hermes(RED), 1.0, ""),
        ("hermes", made([RED]), 1.0, ""),
        ("hermes", as_json(*RED), 0.0, "which cannot be read: written in the form 'json', not 'hermes'"),
        ("llama", as_json(*RED), 1.0, ""),
        ("pythonic", "[open(color='red')]", 1.0, ""),
        ("xml", hermes(RED), 0.0, "which cannot be read: written in the form 'hermes', not 'xml'"),
    ],
)
def test_calls_of_one_form_alone(form: Any, completion: Any, score: float, note: str) -> None:
    found = table(cell(RED), completion, form=form)
    assert found.total.tolist() == [score]
    assert found.notes["tool_calls"][0].endswith(note)
    empty = value(cell(), completion, form=form)
    assert empty == float(form == "messages" and isinstance(completion, str))


@pytest.mark.parametrize(
    ("gold", "right"),
    [
        (2, True),
        ("2", True),
        (2.0, True),
        ({"any_of": [1, "2"]}, True),
        ({"optional": 2}, True),
        (3, False),
        ("02", False),
    ],
)
def test_an_argument_in_xml_is_compared_with_the_type_of_the_gold_one(gold: Any, right: bool) -> None:
    text = "<tool_call>\n<function=f>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>"
    wanted = cell(("f", {"days": gold}))
    for options in ({}, {"arguments": "partial"}, {"order": "kept"}, {"form": "xml"}):
        assert value(wanted, text, **options) == float(right)
    kinds: list[type] = []

    def near(made_value: Any, gold_value: Any) -> bool:
        kinds.append(type(made_value))
        return bool(type(made_value) is type(gold_value) and made_value == gold_value)

    if isinstance(gold, (int, str)):
        assert value(wanted, text, same={"days": near}) == float(right)
        assert set(kinds) <= {type(gold)}


def test_choices_inside_an_argument_in_xml() -> None:
    gold = cell(("f", {"at": {"x": {"any_of": [1, 2]}, "y": {"optional": "z"}}, "on": [True, None]}))
    written = "<function=f><parameter=at>{}</parameter><parameter=on>[true, null]</parameter></function>"
    assert value(gold, written.format('{"x": 2}')) == 1.0
    assert value(gold, written.format('{"x": "2"}')) == 0.0
    assert value(gold, written.format('{"x": 3}'), arguments="partial") == 0.5


def test_gold_calls_of_several_rounds_and_a_text_which_is_one() -> None:
    rounds = json.dumps([json.loads(cell(RED)), json.loads(cell(BLUE))])
    assert value(rounds, hermes(RED)) == pytest.approx(2 / 3)
    assert value(rounds, hermes(RED, BLUE)) == 0.5
    assert value(json.dumps([json.loads(cell(RED, BLUE))]), hermes(BLUE, RED), order="kept") == 1.0
    assert value(rounds, [says(hermes(RED)), USER, says(hermes(BLUE))]) == 1.0


PLAIN_NAMES = st.sampled_from(["f", "g_2", "h.open"])
PLAIN_CALLS = st.lists(
    st.tuples(PLAIN_NAMES, st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, 1.5, True, "x y", None, [1]]))),
    max_size=3,
)


@pytest.mark.parametrize("written", [written for _, written in ALL.values()], ids=ALL)
@given(PLAIN_CALLS, PLAIN_CALLS, st.sampled_from(["exact", "partial", "names"]))
def test_how_calls_are_written_does_not_matter(written: Any, gold: list[Call], calls: list[Call], credit: Any) -> None:
    completion = written(calls) if calls else "I cannot do that."
    expected = value(cell(*gold), [asks(*calls)] if calls else made(), arguments=credit)
    assert value(cell(*gold), completion, arguments=credit) == pytest.approx(expected)


@given(PLAIN_CALLS, st.sampled_from(["<tool_call>", BROKEN, "<function=f>", "[TOOL_CALLS] f", hermes(("no_such", {}))]))
def test_broken_and_further_calls_always_cost(gold: list[Call], more: str) -> None:
    right = hermes(*gold) if gold else "I cannot do that."
    assert value(cell(*gold), right) == 1.0
    for text in (f"{right}\n{more}", f"{more}\n{right}"):
        assert value(cell(*gold), text) < 1.0


# Hostile


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_names_and_arguments(text: str) -> None:
    if not text:
        return
    gold = [{"name": text, "arguments": {text: text}}]
    assert value(gold, made([(text, {text: text})])) == 1.0
    assert value(gold, made([RED])) == 0.0
    assert value(cell(RED), made([(text, {"color": text}), RED])) == pytest.approx(2 / 3)


def test_too_many_calls() -> None:
    assert value(cell(RED), made([RED] * 400)) == pytest.approx(2 / 401)
    found = table(cell(RED), made([RED] * 401))
    assert found.total.tolist() == [0.0]
    assert found.notes["tool_calls"] == ["401 calls, more than 400"]


def test_many_calls_in_order_against_many_gold_calls() -> None:
    gold = [("f", {"n": number}) for number in range(72)]
    turns = [gold[place : place + 2] for place in range(0, 72, 2)]
    for credit in ("exact", "partial", "names"):
        assert value(cell(*gold), made(*turns), order="kept", arguments=credit) == 1.0
        assert value(cell(*gold), made(*turns[::-1]), order="kept", arguments=credit) < 1.0 or credit == "names"


def test_what_judges_and_rewards_of_a_group_get_is_shared() -> None:
    group = [made([RED]), made([BLUE]), made([RED], [LOOK])]
    reward = rk.rank_in_group(rk.tool_calls("gold"))
    found = rk.score(reward, group, prompts=["p"] * 3, gold=[cell(RED)] * 3)
    assert found.total.argsort().tolist() == [1, 2, 0]
