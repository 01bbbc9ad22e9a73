"""``bfcl_rows``: questions from the Berkeley Function Calling Leaderboard as rows, with the correct calls as JSON.

``bfcl_rows("BFCL_v4_simple_python.json")[0]["calls"]`` is ``[{"name": "calculate_triangle_area", "arguments":
{"base": 10, "height": 5, "unit": {"optional": "units"}}}]``. BFCL is by Yan, Mao, Ji, Zhang, Patil, Stoica, and
Gonzalez (2024), https://gorilla.cs.berkeley.edu.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError, shorten
from rewardkit.scoring.files import lines_of

# BFCL's functions as tools: the schema ``{"type": "dict"}`` becomes ``{"type": "object"}``.


_TYPES = {
    "string": ("string", "String", "char", "Char"),
    "integer": ("integer", "int", "long", "short", "byte", "Bigint", "BigInt"),
    "number": ("number", "float", "double", "Number"),
    "boolean": ("boolean", "bool", "Boolean"),
    "array": ("array", "list", "tuple", "Array", "ArrayList", "Queue", "Stack", "Set", "set"),
    "object": ("object", "dict", "HashMap", "Hashtable", "Object"),
    "null": ("null",),
}
_JSON_TYPES = {theirs: ours for ours, names in _TYPES.items() for theirs in names}

_FOLDER = "multi_turn_func_doc"
_FILES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
    "WebSearchAPI": "web_search",
}
"""Function class -> the name of its file."""


def functions_of(location: str, line: Mapping[str, Any], folder: Path) -> dict[str, Mapping[str, Any]]:
    """Return a question's functions by name, from its line or from the files of its function classes.

    Raises:
        DataError: the question does not name any functions, or the file that contains them is missing.
    """
    listed = line.get("function")
    if listed is None:
        listed = [
            function for name in line.get("involved_classes") or () for function in _documented(location, name, folder)
        ]
    if not isinstance(listed, list) or not all(
        isinstance(function, Mapping) and "name" in function for function in listed
    ):
        raise DataError(f"{location}: expected a list of functions with names, got {shorten(listed)}")
    return {function["name"]: function for function in listed}


def tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a BFCL function as a tool in OpenAI's schema."""
    description = {name: function[name] for name in ("name", "description") if name in function}
    return {"type": "function", "function": {**description, "parameters": _schema(function.get("parameters") or {})}}


def _schema(schema: Any) -> Any:
    """Return a JSON schema. An unknown type, or one that allows anything, does not add a constraint."""
    if not isinstance(schema, Mapping):
        return schema
    json_schema: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "properties" and isinstance(value, Mapping):
            json_schema[name] = {property_name: _schema(inner) for property_name, inner in value.items()}
        elif name == "items":
            json_schema[name] = _schema(value)
        elif name == "type" and isinstance(value, str):
            if value in _JSON_TYPES:
                json_schema[name] = _JSON_TYPES[value]
        else:
            json_schema[name] = value
    return json_schema


def _documented(location: str, name: str, folder: Path) -> list[Any]:
    if name not in _FILES:
        raise DataError(
            f"{location}: the functions for {shorten(name)} are not in a file. Pass questions from another category"
        )
    path = folder / _FOLDER / f"{_FILES[name]}.json"
    if not path.is_file():
        raise DataError(f"{location}: the functions for {name} are missing. Copy BFCL's folder {_FOLDER} to {folder}")
    return [line for _, line in lines_of(path)]


_ANSWERS = "possible_answer"
_NEW_FUNCTIONS = "I have updated some more functions you can choose from. What about now?"
"""BFCL's user message for a turn that only adds functions."""
_ABSENT = object()


def bfcl_rows(question_path: str | Path, answer_path: str | Path | None = None) -> list[dict[str, Any]]:
    """Return questions from the Berkeley Function Calling Leaderboard as rows for ``rk.tool_calls("calls")``.

    The columns:

    - ``id``: the question's id in the file.
    - ``prompt``: the chat messages in the first turn.
    - ``tools``: the functions as JSON text, in OpenAI's schema. Types are renamed to their JSON Schema names. Functions
      keep their names (some contain dots, which some endpoints reject).
    - ``calls``: the correct calls as JSON text, a list of ``{"name": ..., "arguments": {...}}``. If several values are
      allowed for an argument, they are written as ``{"any_of": [...]}``. An optional argument is written as
      ``{"optional": value}``. The cell is ``[]`` if no call is correct, and None if BFCL does not have answers because
      every call is correct (``live_relevance``).
    - ``turns``: only for questions with several turns. It is a list as JSON text, with an item ``{"messages": [...]}``
      for each turn, which also has ``"tools"`` if the turn adds functions. For these questions, ``calls`` is a list of
      lists, one for each turn.

    Values are unchanged. When BFCL compares strings, it ignores case, spaces, and ``,./-_*^``, so "1.5" equals "15".
    ``rk.tool_calls`` does not ignore them. An empty string among the allowed values means that the argument is
    optional. If the schema requires the argument, the empty string is a normal value.

    Args:
        question_path: the questions file, such as ``BFCL_v4_parallel.json``, with one JSON object per line. If
            questions have several turns, the folder ``multi_turn_func_doc`` must be next to the file.
        answer_path: the file with the possible answers. The default is the file with the same name in the folder
            ``possible_answer`` next to the questions file.

    Raises:
        DataError: a line cannot be read, a question does not have an answer, or the answers are text instead of calls.
        OSError: a file does not exist.
    """
    path = Path(question_path)
    default_path = path.parent / _ANSWERS / path.name
    source = Path(answer_path) if answer_path is not None else default_path if default_path.is_file() else None
    answers: dict[str, Any] = {}
    for location, line in lines_of(source) if source is not None else ():
        answers[_field(location, line, "id", str)] = _field(location, line, "ground_truth", list)
    rows = []
    for location, line in lines_of(path):
        name = _field(location, line, "id", str)
        if name in answers:
            rows.append(_row(location, line, answers[name], path.parent))
        elif "relevance" not in name:
            where = f"{source} has no answer for it" if source else f"there is no {default_path}"
            raise DataError(f"{location}: there is no answer for {name!r}: {where}. Pass the file with answer_path=")
        else:
            rows.append(_row(location, line, [] if "irrelevance" in name else None, path.parent))
    return rows


def _field(location: str, line: Any, name: str, kind: type) -> Any:
    value = line.get(name) if isinstance(line, Mapping) else None
    if not isinstance(value, kind):
        raise DataError(
            f"{location}: {name!r} is missing. Expected a BFCL line that has a {kind.__name__} there: {shorten(line)}"
        )
    return value


def _row(location: str, line: Mapping[str, Any], answer: list[Any] | None, folder: Path) -> dict[str, Any]:
    turns = _field(location, line, "question", list)
    if not turns or not all(isinstance(turn, list) for turn in turns):
        raise DataError(f"{location}: the question must be a list of turns, got {shorten(turns)}")
    functions = functions_of(location, line, folder)
    late: Mapping[str, list[str]] = line.get("missed_function") or {}
    held_back = {name for names in late.values() for name in names}
    row = {
        "id": line["id"],
        "prompt": turns[0],
        "tools": _text([tool(function) for name, function in functions.items() if name not in held_back]),
        "calls": None if answer is None else _text(_calls(location, answer, functions)),
    }
    if len(turns) == 1:
        return row
    turn_entries: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        new = late.get(str(number)) or ()
        turn_entries.append({"messages": turn or [{"role": "user", "content": _NEW_FUNCTIONS}]})
        if new:
            turn_entries[-1]["tools"] = [tool(functions[name]) for name in new if name in functions]
    return {**row, "turns": _text(turn_entries)}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _calls(location: str, answer: Sequence[Any], functions: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    if all(isinstance(entry, list) for entry in answer):
        return [[_spelled(location, text, functions) for text in turn] for turn in answer]
    calls = []
    for entry in answer:
        if not isinstance(entry, Mapping):
            raise DataError(
                f"{location}: the answer is {shorten(entry)}, not a call. Pass questions whose answers are "
                "calls: in web_search and memory, answers are text"
            )
        calls += [
            {"name": name, "arguments": _arguments(arguments, functions.get(name, {}))}
            for name, arguments in entry.items()
        ]
    return calls


def _arguments(arguments: Mapping[str, Any], function: Mapping[str, Any]) -> dict[str, Any]:
    required = (function.get("parameters") or {}).get("required") or ()
    allowed = {name: _allowed(values, required=name in required) for name, values in arguments.items()}
    return {name: value for name, value in allowed.items() if value is not _ABSENT}


def _allowed(values: Any, *, required: bool = False) -> Any:
    """Return the allowed values for one argument; `_ABSENT` if the argument must be omitted."""
    if not isinstance(values, list) or not values:
        return _literal(values)  # an empty list is the value: BFCL lists no other for it
    texts = required and all(isinstance(value, str) for value in values)
    literals = [_literal(value) for value in values if value != "" or texts]
    if not literals:
        return _ABSENT
    value = literals[0] if len(literals) == 1 else {"any_of": literals}
    return {"optional": value} if "" in values and not required else value


def _literal(value: Any) -> Any:
    """Return an allowed value. The values inside an object are lists of allowed values."""
    if isinstance(value, Mapping):
        allowed = {name: _allowed(item) for name, item in value.items()}
        return {name: item for name, item in allowed.items() if item is not _ABSENT}
    return [_literal(item) for item in value] if isinstance(value, list) else value


def _spelled(location: str, text: str, functions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a call that was written in Python syntax, such as ``cd(folder='temp')``."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call):
            raise ValueError("not a call")
        name = ast.unparse(call.func)
        names = list(functions.get(name, {}).get("parameters", {}).get("properties", ()))
        if len(call.args) > len(names):
            raise ValueError(f"{name} has {len(call.args)} arguments without names")
        pairs = [*zip(names, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
        arguments = {str(key): ast.literal_eval(value) for key, value in pairs}
    except (SyntaxError, ValueError, RecursionError) as error:
        raise DataError(f"{location}: cannot read the call {shorten(text)} ({error})") from None
    return {"name": name, "arguments": arguments}
