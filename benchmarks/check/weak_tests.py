"""How many coding problems have tests that accept a wrong program? HumanEval, side by side with gameability.

    python benchmarks/check/weak_tests.py HumanEval.jsonl.gz                          # from openai/human-eval, data/
    python benchmarks/check/weak_tests.py HumanEval.jsonl.gz --peer PYTHON --out FILE

The assertions of a problem that call its function with literal arguments are its tests. PYTHON has gameability
installed; it gets the same problems, solutions and assertions. FILE gets a line of JSON for each problem.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import rewardkit as rk  # noqa: E402
from rewardkit.check.programs.suites import suite_in  # noqa: E402
from rewardkit.check.programs.survivors import survival  # noqa: E402


@dataclass(frozen=True)
class Problem:
    """A coding problem with its solution and its assertions."""

    name: str
    program: str
    tests: tuple[str, ...]


def problems(path: Path) -> Iterator[Problem]:
    """Yield the problems of HumanEval that have at least one plain assertion."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            tests = tuple(_assertions(row["test"], row["entry_point"]))
            if tests:
                yield Problem(row["task_id"], row["prompt"] + row["canonical_solution"], tests)


def _assertions(source: str, function: str) -> Iterator[str]:
    """Yield ``assert f(1) == 2`` for each such assertion in ``def check(candidate)``."""
    check = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    for node in check.body:
        if not isinstance(node, ast.Assert) or not isinstance(node.test, ast.Compare):
            continue
        called, expected = node.test.left, node.test.comparators[0]
        plain = isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and len(node.test.ops) == 1
        literal = isinstance(called, ast.Call) and all(map(_is_literal, (*called.args, expected)))
        if plain and isinstance(node.test.ops[0], ast.Eq) and literal:
            arguments = ast.unparse(called).removeprefix("candidate")
            yield f"assert {function}{arguments} == {ast.unparse(expected)}"


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def judged(problem: Problem, most: int, seed: int) -> dict[str, Any]:
    """Return how many wrong programs the tests of a problem accept, and the tests that would reject them."""
    started = time.monotonic()
    reward = rk.code_tests("tests", credit="binary")
    text = f"```python\n{problem.program}\n```"
    tests = list(problem.tests)

    def pays(completion: str) -> bool:
        return float(rk.score(reward, [completion], tests=[tests]).total[0]) == 1.0

    suite = suite_in(text, {"tests": tests})
    entry: dict[str, Any] = {"problem": problem.name, "tests": len(tests)}
    if suite is None or not pays(text):
        return {**entry, "said": "its own solution fails"}
    found = survival(suite, pays, most=most, seed=seed)
    if found is None:
        return {**entry, "said": "no fresh input, or nothing to break"}
    shown = [{"fault": str(one.mutant), "test": one.missing_test(suite), "found": one.found} for one in found.survivors]
    return {**entry, "wrong": found.wrong, "accepted": shown, "seconds": round(time.monotonic() - started, 1)}


def gameability(python: str, chosen: list[Problem]) -> dict[str, Any]:
    """Return gameability's report on the same problems."""
    with tempfile.TemporaryDirectory() as folder:
        path, report = Path(folder) / "problems.jsonl", Path(folder) / "report.json"
        rows = [{"id": one.name, "reference": one.program, "tests": list(one.tests)} for one in chosen]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        command = [python, "-m", "gameability", "check", str(path), "--json", str(report)]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--most", type=int, default=24, help="wrong programs for each problem (default: %(default)d)")
    parser.add_argument("--first", type=int, help="only the first problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--peer", help="a Python with gameability")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    chosen = list(problems(options.path))[: options.first]
    with ProcessPoolExecutor(options.workers) as pool:
        found = list(pool.map(partial(judged, most=options.most, seed=options.seed), chosen))
    if options.out:
        options.out.write_text("".join(f"{json.dumps(one)}\n" for one in found), encoding="utf-8")
    known = [one for one in found if "wrong" in one]
    weak = [one for one in known if one["accepted"]]
    wrong, accepted = sum(one["wrong"] for one in known), sum(len(one["accepted"]) for one in known)
    print(f"problems judged            {len(known)} of {len(chosen)}, {sum(one['seconds'] for one in known):.0f} s")
    print(f"accept a wrong program     {len(weak)} ({len(weak) / len(known):.1%})")
    print(f"wrong programs accepted    {accepted} of {wrong} ({accepted / wrong:.1%})")
    if options.peer:
        theirs = gameability(options.peer, chosen)
        print("gameability                " + json.dumps({k: v for k, v in theirs.items() if not isinstance(v, list)}))
        if options.out:
            options.out.with_suffix(".gameability.json").write_text(json.dumps(theirs, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
