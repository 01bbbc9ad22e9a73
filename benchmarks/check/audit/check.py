"""Check the scorers of one package and print a line of JSON for each; `audit.py` runs it in their environment."""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import time
import warnings
from collections.abc import Iterable
from typing import Any

from subject import Subject

from rewardkit.testing import check_reward


def line(subject: Subject, budget: float) -> dict[str, Any]:
    """Check one scorer: its findings, each as law, family, why, completion and row."""
    started = time.monotonic()
    try:
        report = check_reward(
            subject.reward, examples=subject.examples, good=subject.good, bad=subject.bad, budget=budget
        )
    except Exception as error:
        return {"name": subject.name, "error": f"{type(error).__name__}: {error}"[:500]}
    findings = [one.to_dict() for one in report.findings]
    return {"name": subject.name, "findings": findings, "seconds": round(time.monotonic() - started, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", help="a file of subjects/")
    parser.add_argument("--budget", type=float, default=40.0)
    parser.add_argument("--only", default="", help="only scorers whose name contains this")
    parser.add_argument("--part", default="0/1", help="every nth: 0/2 and 1/2 share the work")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    subjects: Iterable[Subject] = importlib.import_module(f"subjects.{options.package}").subjects()
    part, parts = (int(number) for number in options.part.split("/"))
    for position, subject in enumerate(one for one in subjects if options.only in one.name):
        if position % parts == part:
            report = json.dumps(line(subject, options.budget))
            print(f"\nAUDIT {report}", flush=True)  # on a line of its own, whatever the package printed


if __name__ == "__main__":
    main()
