"""Generate the data: messages that book a room, and the booking in each.

``python cookbook/json_extraction/bookings.py 300 > data.jsonl`` writes 300 rows, the same ones for the same ``--seed``.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
from typing import Any

FIRST = ("Mia", "Tom", "Ada", "Ben", "Eva", "Leo", "Zoe", "Max", "Ida", "Jon", "Kim", "Liv", "Ned", "Oda", "Pia", "Sam")
LAST = ("Okafor", "Lund", "Ferrari", "Novak", "Silva", "Haddad", "Ito", "Jansen", "Kaur", "Moreau", "Petrov", "Diaz")
EQUIPMENT = ("projector", "whiteboard", "camera")
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

# The model has to find six fields, in any order, and to reformat the day, the time and the number.
TEMPLATES = (
    "Hi, {name} here. Could we have {room} on {day} at {time}? There will be {people} of us.{equipment}",
    "Please book room {room} for {name}: {day}, {time}, {people} people.{equipment}",
    "{people} people, {day}, starting {time}. Room {room} would be best. Thanks, {name}.{equipment}",
    "{name} asks whether {room} is free on {day} from {time} for a group of {people}.{equipment}",
)


def bookings(count: int, *, seed: int = 0) -> list[dict[str, str]]:
    """Return rows with ``text`` and ``booking``; the gold is JSON text, because Arrow rewrites columns of objects."""
    return [_row(random.Random(f"{seed} {position}")) for position in range(count)]


def _row(chance: random.Random) -> dict[str, str]:
    day = datetime.date(2026, 1, 1) + datetime.timedelta(days=chance.randrange(365))
    hour, minute = chance.randrange(8, 18), chance.choice((0, 15, 30, 45))
    people = chance.randrange(2, 13)
    equipment = sorted(chance.sample(EQUIPMENT, chance.choice((0, 0, 1, 2))))
    booking: dict[str, Any] = {
        "name": f"{chance.choice(FIRST)} {chance.choice(LAST)}",
        "room": f"{chance.choice('ABCD')}{chance.randrange(1, 41)}",
        "day": day.isoformat(),
        "start": f"{hour:02}:{minute:02}",
        "people": people,
        "equipment": equipment,
    }
    text = chance.choice(TEMPLATES).format(
        name=booking["name"],
        room=booking["room"],
        day=chance.choice((day.isoformat(), f"{day.day} {day:%B %Y}", f"{day:%B} {day.day}, {day.year}")),
        time=chance.choice((booking["start"], f"{(hour - 1) % 12 + 1}:{minute:02} {'am' if hour < 12 else 'pm'}")),
        people=chance.choice((str(people), NUMBERS[people - 2])),
        equipment=f" We need a {' and a '.join(equipment)}." if equipment else "",
    )
    return {"text": text, "booking": json.dumps(booking)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many rows")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for row in bookings(options.count, seed=options.seed):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
