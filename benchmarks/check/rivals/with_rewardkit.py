"""Check the cases with `check_reward`, and print a line of JSON for each.

Each finding says how many completions the check had scored when it found it, so that it can be compared at the number
of calls that another tool made. Of a law with several findings, that is known of the first one; the others count from
the end of the law.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

from rewardkit.testing import Report, check_reward

LONGEST = 300
"""Longer completions are cut in the output."""


def findings_of(report: Report, before: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the findings law by law, then those of the components, each with the calls made until it was found."""
    for result in report.results:
        began, before = before, before + result.tries
        for place, one in enumerate(result.findings):
            yield {
                "probe": one.law,
                "kind": one.family,
                "completion": str(one.completion)[:LONGEST],
                "score": None if one.score is None else str(one.score),
                "detail": one.why,
                "calls": before if place else began + result.first,
            }
    for part in report.components:
        yield from findings_of(part, before)
        before += calls_of(part)


def calls_of(report: Report) -> int:
    """Return how many completions were scored."""
    return sum(one.tries for one in report.results) + sum(calls_of(part) for part in report.components)


def line(case: Any, budget: float) -> dict[str, Any]:
    """Check one case."""
    started = time.monotonic()
    try:
        report = check_reward(case.reward, examples=case.examples, good=case.good, bad=case.bad, budget=budget)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:300]
        return {"name": case.name, "calls": 0, "findings": [], "seconds": 0.0, "not_checked": said}
    return {
        "name": case.name,
        "calls": calls_of(report),
        "findings": list(findings_of(report)),
        "seconds": round(time.monotonic() - started, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package")
    parser.add_argument("kind", choices=["faulty", "sound"])
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("--budget", type=float, default=40.0)
    options = parser.parse_args()
    sys.path[:0] = options.path
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for case in getattr(importlib.import_module(options.package), options.kind)():
        print(json.dumps(line(case, options.budget)), flush=True)


if __name__ == "__main__":
    main()
