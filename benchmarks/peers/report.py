"""Print a peer's report, its version and its times and the floor's, as one line of JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib.metadata import version

from benchmarks.speed.rubric_measurement import Contestant, measure_all

MARK = "RUBRIC-REPORT "
"""The start of the report's line; peers print other lines, too."""


def print_report(distribution: str, contestants: Sequence[Contestant], empty: Sequence[Contestant]) -> None:
    """Measure for as many rounds as the command line says, and print the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--empty-rounds", type=int, required=True)
    arguments = parser.parse_args()
    times = measure_all(contestants, empty, arguments.rounds, arguments.empty_rounds)
    print(MARK + json.dumps({"version": f"{distribution} {version(distribution)}", "times": times}))
