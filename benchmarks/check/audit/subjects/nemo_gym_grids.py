"""NeMo Gym's servers for grids, places and calendars."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from subject import Subject
from subjects.nemo_gym_server import judged

GRIDS: tuple[list[list[int]], ...] = ([[3, 2], [7, 8]], [[1, 0, 0], [0, 5, 2]], [[4]])
OTHER_GRIDS: tuple[list[list[int]], ...] = ([[3, 2], [8, 7]], [[1, 0, 0], [0, 2, 5]], [[6]])
_TURN = "def transform(grid):\n    return [row[::-1] for row in grid[::-1]]"
_FLIP = "def transform(grid):\n    return grid[::-1]"


def subjects() -> Iterator[Subject]:
    rows: list[dict[str, Any]] = [
        {"prompt": f"Solve ARC task {place}.", "answer": grid} for place, grid in enumerate(GRIDS)
    ]
    right, wrong = (
        [f"I turn it around.\n\\boxed{{{json.dumps(grid)}}}" for grid in grids] for grids in (GRIDS, OTHER_GRIDS)
    )
    yield Subject("arc_agi", judged("arc_agi", "expected_output"), rows, right, wrong)
    right, wrong = ([f"\\boxed{{{_spaced(grid)}}}" for grid in grids] for grids in (GRIDS, OTHER_GRIDS))
    yield Subject("nvarc (transductive)", judged("nvarc", "expected_output"), rows, right, wrong)
    rows = [{**row, "task": {"test_input": [line[::-1] for line in row["answer"][::-1]]}} for row in rows[:2]]
    reward = judged("nvarc", "expected_output", agent_mode="inductive", python_timeout_seconds=5)
    right, wrong = ([f"The grid is turned.\n```python\n{code}\n```"] * 2 for code in (_TURN, _FLIP))
    yield Subject("nvarc (inductive)", reward, rows, right, wrong)
    places = (("0.1200,0.5110", "(120, 511)", "(662, 396)"), ("0.8830,0.1600", "(883, 160)", "(192, 168)"))
    rows = [
        {"prompt": "Point to the center of the circle.", "answer": gold, "task": {"max_dist": 0.15}}
        for gold, _, _ in places
    ]
    right, wrong = ([f"<point>{one}</point>" for one in ones] for ones in list(zip(*places, strict=True))[1:])
    yield Subject("gui_coordinate", judged("gui_coordinate"), rows, right, wrong)
    yield _calendar()


def _spaced(grid: list[list[int]]) -> str:
    return "\n".join(" ".join(str(cell) for cell in line) for line in grid)


def _calendar() -> Subject:
    """Events to place within their constraints; the second row has two events."""

    def expected(number: int, duration: int, constraint: str | None) -> dict[str, Any]:
        hours = {"min_time": "10:00", "max_time": "16:00"}
        return {"event_id": number, "duration": duration, "constraint": constraint, **hours}

    def event(number: int, start: str, duration: int) -> dict[str, Any]:
        return {"event_id": number, "event_name": f"Review {number}", "start_time": start, "duration": duration}

    rows = [
        {
            "prompt": "Add a review of 60 minutes at 11:15am. (event id: 0)",
            "answer": {"0": expected(0, 60, "at 11:15am")},
        },
        {
            "prompt": "Add reviews: 60 minutes before 11:45 am (event id: 0), 30 after 1 pm (event id: 1).",
            "answer": {"0": expected(0, 60, "before 11:45am"), "1": expected(1, 30, "after 1pm")},
        },
    ]
    right = [json.dumps([event(0, "11:15", 60)]), json.dumps([event(0, "10:00", 60), event(1, "13:00", 30)])]
    wrong = [json.dumps([event(0, "12:00", 60)]), json.dumps([event(0, "10:00", 60), event(1, "12:30", 30)])]
    return Subject("calendar", judged("calendar", "exp_cal_state"), rows, right, wrong)
