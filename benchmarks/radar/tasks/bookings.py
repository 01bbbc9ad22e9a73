"""Nested and typed JSON: ``Ana 3 nights Oslo breakfast`` asks for a name, a city, a number of nights, true or false."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import rewardkit as rk
from benchmarks.radar.task import Row, Task

_NAMES = ("Ana", "Ben", "Eva", "Kai", "Lea", "Tom")
_CITIES = ("Oslo", "Rome", "Lima", "Bonn", "Kyiv")
_TEMPLATES = (
    "{name} wants {nights} nights in {city} {meal} breakfast\n",
    "{nights} nights {city} for {name} {meal} breakfast\n",
    "{city}: {name}, {meal} breakfast, {nights} nights\n",
)
_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "stay": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "nights": {"type": "integer"}},
            "required": ["city", "nights"],
        },
        "breakfast": {"type": "boolean"},
    },
    "required": ["name", "stay", "breakfast"],
}


def _draw(random: Random) -> Row:
    name, city, nights, breakfast = _any_values(random)
    meal = "with" if breakfast else "no"
    prompt = random.choice(_TEMPLATES).format(name=name, city=city, nights=nights, meal=meal)
    return {"prompt": prompt, "booking": _json(name, city, nights, breakfast)}


def _any_values(random: Random) -> tuple[str, str, int, bool]:
    return random.choice(_NAMES), random.choice(_CITIES), random.randint(1, 9), random.random() < 0.5


def _json(name: str, city: str, nights: Any, breakfast: Any) -> str:
    booking = {"name": name, "stay": {"city": city, "nights": nights}, "breakfast": breakfast}
    return json.dumps(booking, separators=(",", ":"))


def _leaves(document: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(document, dict):
        return {path: document}
    return {key: leaf for name, part in document.items() for key, leaf in _leaves(part, f"{path}/{name}").items()}


def _right(random: Random, row: Row) -> str:
    return row["booking"]


def _wrong(random: Random, row: Row) -> str:
    values = list(_leaves(json.loads(row["booking"])).values())
    others = _any_values(random)
    for place in random.sample(range(4), random.randint(1, 3)):
        values[place] = others[place]
    return _json(*values)


def _texts(random: Random, row: Row) -> str:
    name, city, nights, breakfast = _leaves(json.loads(row["booking"])).values()
    return _json(name, city, str(nights), "yes" if breakfast else "no")


def _broken(random: Random, row: Row) -> str:
    text = _right(random, row) if random.random() < 0.5 else _wrong(random, row)
    return text.replace("}", "", 1) if random.random() < 0.5 else text.replace('":"', '":', 1)


def _one_field(random: Random, row: Row) -> str:
    booking = json.loads(row["booking"])
    name = random.choice(("name", "breakfast"))
    return json.dumps({name: booking[name]}, separators=(",", ":"))


def _copied(random: Random, row: Row) -> str:
    return json.dumps({"name": row["prompt"].strip()}, separators=(",", ":"))


def _prose(random: Random, row: Row) -> str:
    return f"The booking is for {random.choice(_NAMES)}"


def _parsed(completion: str) -> dict[str, Any] | None:
    try:
        found = json.loads(completion)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _same(found: Any, wanted: Any) -> bool:
    return type(found) is type(wanted) and bool(found == wanted)


@rk.reward
def fields(completion: str, booking: dict[str, Any]) -> float:
    """Pay for each field, nested ones too, that has the right value of the right type; other fields cost."""
    found, wanted = _leaves(_parsed(completion) or {}), _leaves(booking)
    return sum(_same(found.get(key), wanted[key]) for key in wanted) / len(wanted | found)


@rk.reward
def all_fields(completion: str, booking: dict[str, Any]) -> float:
    """Pay if everything is right."""
    return float(_same(_leaves(_parsed(completion) or {}), _leaves(booking)))


@rk.reward
def given_fields(completion: str, booking: dict[str, Any]) -> float:
    """Pay for the share of given fields that are right; a field that is missing costs nothing."""
    found = _parsed(completion) or {}
    right = sum(_same(value, booking.get(key)) for key, value in found.items())
    return right / len(found) if found else 0.0


@rk.reward
def mentioned(completion: str, booking: dict[str, Any]) -> float:
    """Pay for each value that is in a valid JSON document, in any field."""
    if _parsed(completion) is None:
        return 0.0
    values = [str(booking["name"]), str(booking["stay"]["city"]), str(booking["stay"]["nights"])]
    return sum(value in completion for value in values) / 3


@rk.reward
def without_differences(completion: str, booking: dict[str, Any]) -> float:
    """Take a third for each field that differs; what is missing, or cannot be read, has no difference."""
    found = _parsed(completion) or {}
    return 1.0 - sum(name in found and not _same(found[name], value) for name, value in booking.items()) / 3


BOOKINGS = Task(
    name="bookings",
    kind="JSON",
    draw=_draw,
    habits=(
        (0.25, _right),
        (0.31, _wrong),
        (0.10, _texts),
        (0.10, _broken),
        (0.08, _one_field),
        (0.08, _copied),
        (0.08, _prose),
    ),
    truth=fields,
    sound={
        "match": rk.json_match("booking"),
        "all fields": all_fields,
        "valid and typed and right": 0.1 * rk.json_valid() + 0.2 * rk.json_schema(_SCHEMA) + 0.7 * fields,
        "fields never broken": fields + rk.penalty(rk.json_valid(), 0.5),
    },
    hackable={
        "given fields": given_fields,
        "mentioned": mentioned,
        "without differences": without_differences,
    },
)
