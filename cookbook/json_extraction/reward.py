"""Extract fields into a schema: valid JSON opens the gate, then the shape earns a little and the values the most.

``{"name": "Mia Okafor", "room": "B12", "day": "2026-05-03", "start": "14:30", "people": 6, "equipment": []}``
earns 1.0 for its own gold; the same after ``Sure, here it is:`` earns nothing, for a program could not read it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

import rewardkit as rk


class Booking(BaseModel):
    """The booking in a message."""

    model_config = ConfigDict(extra="forbid")

    name: str
    room: str = Field(pattern="^[A-D][0-9]{1,2}$")
    day: str = Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    start: str = Field(pattern="^[0-9]{2}:[0-9]{2}$")
    people: int = Field(ge=1)
    equipment: list[Literal["projector", "whiteboard", "camera"]]


readable = rk.json_valid(kind="object")
shape = rk.json_schema(Booking).named("shape")  # a share for each field of the right type
values = rk.json_match("booking").named("values")  # a share for each right value; invented values cost

# The gate's condition itself earns a tenth, so that the model has a reason to reach it. Values have the largest weight,
# because the shape can be right with all values wrong, but not the other way round.
reward = 0.1 * readable + rk.gate(when=readable, then=0.2 * shape + 0.7 * values)

_ASKED = '{"name": "Mia Okafor", "room": "B12", "day": "2026-05-03", "start": "14:30", "people": 6, "equipment": []}'
_OTHER = '{"name":"Tom Lund","room":"A4","day":"2026-11-20","start":"09:00","people":2,"equipment":["camera"]}'
EXAMPLES = [
    {"prompt": "Mia Okafor here: room B12 on 2026-05-03 at 14:30, six of us.", "booking": _ASKED},
    {"prompt": "Tom Lund needs A4 with a camera, 20 November 2026, 9 am, two people.", "booking": _OTHER},
]
GOOD = [_ASKED, _OTHER]
BAD = [_ASKED.replace("14:30", "02:30"), _OTHER.replace("A4", "A5").replace("Tom", "Tim")]
