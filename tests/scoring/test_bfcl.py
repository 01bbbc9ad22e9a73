"""Questions of BFCL as rows: small files in its format, and all of its real files where they are at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.errors import DataError
from rewardkit.scoring.bfcl import bfcl_rows

REAL = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "bfcl"

QUESTION = [[{"role": "user", "content": "Book a table."}]]
FUNCTION = {
    "name": "tables.book",
    "description": "Book a table.",
    "parameters": {
        "type": "dict",
        "properties": {"guests": {"type": "integer"}, "at": {"type": "float"}, "note": {"type": "string"}},
        "required": ["guests"],
    },
}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def question(name: str = "simple_0", **fields: Any) -> dict[str, Any]:
    return {"id": name, "question": QUESTION, "function": [FUNCTION], **fields}


def gold(tmp_path: Path, allowed: dict[str, Any], **fields: Any) -> Any:
    """The arguments of the only gold call."""
    asked = lines(tmp_path / "BFCL_v4_simple.json", question(**fields))
    lines(tmp_path / "possible_answer" / asked.name, {"id": "simple_0", "ground_truth": [{"tables.book": allowed}]})
    (row,) = bfcl_rows(asked)
    ((call,),) = [json.loads(row["calls"])]
    assert call["name"] == "tables.book"
    return call["arguments"]


@pytest.mark.parametrize(
    ("allowed", "arguments"),
    [
        ({"guests": [4]}, {"guests": 4}),
        ({"guests": [4, 5]}, {"guests": {"any_of": [4, 5]}}),
        ({"guests": [4], "at": [7.5, ""]}, {"guests": 4, "at": {"optional": 7.5}}),
        ({"guests": [4], "at": ["", 7.5, 8]}, {"guests": 4, "at": {"optional": {"any_of": [7.5, 8]}}}),
        ({"guests": [4], "at": ["", None]}, {"guests": 4, "at": {"optional": None}}),
        ({"guests": [4], "note": [""]}, {"guests": 4}),
        ({"guests": [4, ""]}, {"guests": 4}),  # required: BFCL does not let it be left out
        ({"guests": [""]}, {"guests": ""}),
        ({"guests": ["", "four"]}, {"guests": {"any_of": ["", "four"]}}),
        ({"guests": []}, {"guests": []}),
        ({"guests": [[1, 2], [3]]}, {"guests": {"any_of": [[1, 2], [3]]}}),
        (
            {"guests": [{"min": [1, 2], "max": [9, ""]}]},
            {"guests": {"min": {"any_of": [1, 2]}, "max": {"optional": 9}}},
        ),
        ({"guests": [[{"who": ["Ann", "Anna"]}]]}, {"guests": [{"who": {"any_of": ["Ann", "Anna"]}}]}),
        ({"guests": [{"at": {"x": 1.5}, "unit": "m", "no": [""]}]}, {"guests": {"at": {"x": 1.5}, "unit": "m"}}),
    ],
)
def test_allowed_values_become_gold_values(tmp_path: Path, allowed: dict[str, Any], arguments: dict[str, Any]) -> None:
    assert gold(tmp_path, allowed) == arguments


def test_values_stay_as_they_are(tmp_path: Path) -> None:
    kept = {"guests": [1.0], "note": ["1.5", "Zürich, -5"]}
    assert gold(tmp_path, kept) == {"guests": 1.0, "note": {"any_of": ["1.5", "Zürich, -5"]}}


def test_rows_hold_prompt_tools_and_calls(tmp_path: Path) -> None:
    asked = lines(tmp_path / "q.json", question("simple_0"), question("irrelevance_0"), question("live_relevance_0"))
    answers = lines(tmp_path / "a.json", {"id": "simple_0", "ground_truth": [{"tables.book": {"guests": [4]}}]})
    rows = bfcl_rows(str(asked), answers)
    assert [row["id"] for row in rows] == ["simple_0", "irrelevance_0", "live_relevance_0"]
    assert rows[0]["prompt"] == QUESTION[0]
    (tool,) = json.loads(rows[0]["tools"])
    assert (tool["type"], tool["function"]["name"]) == ("function", "tables.book")
    assert tool["function"]["parameters"]["properties"]["at"] == {"type": "number"}
    assert [row["calls"] for row in rows[1:]] == ["[]", None]
    assert list(rows[0]) == ["id", "prompt", "tools", "calls"]


def test_several_turns_have_calls_for_each(tmp_path: Path) -> None:
    sort = {"name": "sort", "parameters": {"type": "dict", "properties": {"file_name": {"type": "string"}}}}
    lines(tmp_path / "multi_turn_func_doc" / "gorilla_file_system.json", {"name": "cd", "parameters": {}}, sort)
    asked = {
        "id": "multi_turn_miss_func_0",
        "question": [*QUESTION, [], QUESTION[0]],
        "involved_classes": ["GorillaFileSystem"],
        "missed_function": {"1": ["sort"]},
    }
    truth = [["cd(folder='a')"], ["sort('b.txt')", "cd(folder=['x', 1, -2.5, True, {'k': None}])"], []]
    answers = lines(tmp_path / "a.json", {"id": asked["id"], "ground_truth": truth})
    (row,) = bfcl_rows(lines(tmp_path / "q.json", asked), answers)
    assert json.loads(row["calls"]) == [
        [{"name": "cd", "arguments": {"folder": "a"}}],
        [
            {"name": "sort", "arguments": {"file_name": "b.txt"}},
            {"name": "cd", "arguments": {"folder": ["x", 1, -2.5, True, {"k": None}]}},
        ],
        [],
    ]
    turns = json.loads(row["turns"])
    assert [tool["function"]["name"] for tool in json.loads(row["tools"])] == ["cd"]
    assert [list(turn) for turn in turns] == [["messages"], ["messages", "tools"], ["messages"]]
    assert turns[1]["messages"][0]["content"].startswith("I have updated some more functions")
    assert turns[1]["tools"][0]["function"]["name"] == "sort"


@pytest.mark.parametrize(
    ("asked", "answer", "message"),
    [
        (question(), None, r"q\.json, line 1: there is no answer for 'simple_0': there is no .*q\.json.*answer_path="),
        (question(), {"id": "x", "ground_truth": []}, r"a\.json has no answer for it"),
        (question(), {"id": "simple_0", "ground_truth": ["Zhang Yiming"]}, "'Zhang Yiming', not a call"),
        (question(), {"id": "simple_0", "ground_truth": [["cd("]]}, r"cannot read the call 'cd\("),
        (question(), {"id": "simple_0", "ground_truth": [["cd(f(1))"]]}, "cannot read the call"),
        (question(), {"id": "simple_0", "ground_truth": [["cd('a')"]]}, "has 1 arguments without names"),
        (question(), {"id": "simple_0"}, r"a\.json, line 1: 'ground_truth' is missing"),
        (question(question="Book a table."), {"id": "simple_0", "ground_truth": []}, "'question' is missing"),
        (question(question=[{"role": "user"}]), {"id": "simple_0", "ground_truth": []}, "a list of turns"),
        (question(function="f"), {"id": "simple_0", "ground_truth": []}, "a list of functions"),
        ({"question": QUESTION}, None, "'id' is missing"),
        (
            {"id": "simple_0", "question": QUESTION, "involved_classes": ["MathAPI"]},
            {"id": "simple_0", "ground_truth": []},
            "Copy BFCL's folder multi_turn_func_doc",
        ),
        (
            {"id": "simple_0", "question": QUESTION, "involved_classes": ["MemoryAPI"]},
            {"id": "simple_0", "ground_truth": []},
            "another category",
        ),
    ],
)
def test_errors_name_the_line(
    tmp_path: Path, asked: dict[str, Any], answer: dict[str, Any] | None, message: str
) -> None:
    answers = None if answer is None else lines(tmp_path / "a.json", answer)
    with pytest.raises(DataError, match=message):
        bfcl_rows(lines(tmp_path / "q.json", asked), answers)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no BFCL data in {REAL}; set REWARDKIT_DATA")
@pytest.mark.parametrize("path", sorted(REAL.glob("BFCL_*.json")), ids=lambda path: str(path.stem))
def test_the_gold_calls_of_every_real_question_have_full_marks(path: Path) -> None:
    if any(word in path.name for word in ("memory", "web_search", "format_sensitivity")):
        pytest.skip("its answers are texts")
    rows = [row for row in bfcl_rows(path) if row["calls"] is not None]
    completions = [made(json.loads(row["calls"])) for row in rows]
    assert rk.score(rk.tool_calls("calls"), completions, calls=[row["calls"] for row in rows]).total.tolist() == [
        1.0
    ] * len(rows)


def made(calls: list[Any]) -> list[dict[str, Any]]:
    """A completion with the first allowed value of each argument, and a message of the user between two turns."""
    rounds = calls if calls and isinstance(calls[0], list) else [calls]
    messages: list[dict[str, Any]] = []
    for number, one in enumerate(rounds):
        said = [{"type": "function", "function": {**call, "arguments": first(call["arguments"])}} for call in one]
        messages += [{"role": "user", "content": "Go on."}] if number else []
        messages.append({"role": "assistant", "content": "", "tool_calls": said})
    return messages


def first(value: Any) -> Any:
    if isinstance(value, dict):
        if list(value) == ["any_of"]:
            return first(value["any_of"][0])
        return first(value["optional"]) if list(value) == ["optional"] else {k: first(v) for k, v in value.items()}
    return [first(item) for item in value] if isinstance(value, list) else value
