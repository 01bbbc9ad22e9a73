"""Ask a reference package about instructions. Runs in its own environment, with plain Python and no rewardkit.

Reads one JSON object per line from standard input ({"id", "kwargs", "completion"}) and writes one per line:
{"strict": true, "loose": true, "seconds": 0.001}; a verdict is null where the package raises or does not know the id.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any


def variants(text: str) -> list[str]:
    lines = text.split("\n")
    cut = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return [*cut, *(one.replace("*", "") for one in cut)]


def verdict(checker: Any, texts: list[str]) -> bool | None:
    try:
        return any(bool(text.strip() and checker.check_following(text)) for text in texts)
    except Exception:
        return None


def main(registry: str) -> None:
    checkers = importlib.import_module(registry).INSTRUCTION_DICT
    for line in sys.stdin:
        question = json.loads(line)
        identifier, text = question["id"], question["completion"]
        if identifier not in checkers:
            print(json.dumps({"strict": None, "loose": None, "seconds": 0.0}))
            continue
        start = time.perf_counter()
        checker = checkers[identifier](identifier)
        checker.build_description(**{name: value for name, value in question["kwargs"].items() if value is not None})
        strict = verdict(checker, [text])
        seconds = time.perf_counter() - start
        print(json.dumps({"strict": strict, "loose": verdict(checker, variants(text)), "seconds": seconds}))


if __name__ == "__main__":
    sys.path[:0] = sys.argv[2:]
    main(sys.argv[1])
