"""Measure what rewards of trajectories cost, and whether rewards of plain texts pay for them.

``python benchmarks/speed/trajectories.py [--quick] [--before FOLDER]`` measures CPU time. FOLDER holds the sources of
an earlier commit (``git worktree add FOLDER COMMIT``): then both score the same batches of plain texts and of chats
of one message, in processes that take turns, and ratios are taken round by round.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("OMP_NUM_THREADS", "1")

BATCH = 64
GENERATIONS = 8
CALLS = 5
TARGETS = {
    "reading 64 conversations of 11 messages": 4.0,
    "5 calls against 5, right": 6.0,
    "5 calls against 5, all wrong in part": 6.0,
}
_CHILD = """
import gc, json, sys, time, types
root, rounds = sys.argv[1], int(sys.argv[2])
sys.path[:0] = [root, root + "/adapters"]
import rewardkit as rk
assert rk.__file__.startswith(root), rk.__file__

reward = rk.exact("answer", extract=rk.extract.tag("answer")) + 0.2 * rk.tags("think", "answer")
functions = rk.to_trl(reward)


class Trainer:
    reward_funcs = functions
    num_generations = 8
    log_completions = False

    def log(self, name, value):
        pass


trainer = Trainer()
call = {"log_metric": trainer.log}


def batch(number, chat):
    texts = [f"<think>{number} {row} is so</think><answer>{row % 7}</answer>" for row in range(512)]
    return [[{"role": "assistant", "content": text}] for text in texts] if chat else texts


for number in range(rounds + 1):
    found = []
    for chat in (False, True):
        completions = batch(number, chat)
        prompts = [f"p{number} {row // 8}" for row in range(512)]
        ids = [[5, 6, 7, 1]] * 512
        gc.collect()
        start = time.process_time()
        for function in functions:
            function(completions=completions, prompts=prompts, completion_ids=ids, answer=["3"] * 512, **call)
        found.append((time.process_time() - start) * 1e3)
    print(json.dumps(found), flush=True)
    sys.stdin.readline()
"""


def conversation(number: int, *, messages: int = 11) -> list[dict[str, Any]]:
    """Return calls and results in turn, and an answer; no two are equal, and 8 in a row make the same calls."""
    found: list[dict[str, Any]] = []
    for place in range(messages // 2):
        arguments = {"query": f"{number // GENERATIONS} {place}", "limit": place, "exact": True}
        call = {"type": "function", "function": {"name": "search", "arguments": arguments}}
        found += [
            {"role": "assistant", "content": "Let me look.", "tool_calls": [call]},
            {"role": "tool", "name": "search", "content": f"{number} has {place} entries, of which the first is red"},
        ]
    return [*found, {"role": "assistant", "content": f"It is {number}."}]


def gold(number: int, wrong: str = "") -> str:
    queries = [f"{number // GENERATIONS} {place}{wrong}" for place in range(CALLS)]
    calls = [{"query": query, "limit": place, "exact": True} for place, query in enumerate(queries)]
    return json.dumps([{"name": "search", "arguments": arguments} for arguments in calls])


def milliseconds(prepare: Callable[[], Callable[[], Any]], rounds: int) -> list[float]:
    """Return the CPU milliseconds of each round; the first one does not count, and preparing is not timed."""
    times = []
    for _ in range(rounds + 1):
        work = prepare()
        gc.collect()
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1e3)
    return times[1:]


def measure(rounds: int) -> None:
    import rewardkit as rk

    fresh = iter(range(10**9))

    def conversations() -> list[Any]:
        return [conversation(next(fresh)) for _ in range(BATCH)]

    def reading() -> Callable[[], Any]:
        completions = conversations()
        return lambda: list(map(rk.Trajectory.of, completions))

    def scoring(reward: Any, wrong: str = "", *, read: bool = False) -> Callable[[], Callable[[], Any]]:
        scorer = rk.Scorer(reward)

        def prepare() -> Callable[[], Any]:
            numbers = [next(fresh) for _ in range(BATCH)]
            cells = [gold(number, wrong) for number in numbers]
            batch = rk.Batch([conversation(number) for number in numbers], columns={"gold": cells})
            if read:
                for row in range(BATCH):
                    batch.trajectory(row)
            return lambda: scorer.score(batch)

        return prepare

    cases = {
        "reading 64 conversations of 11 messages": reading,
        "5 calls against 5, right": scoring(rk.tool_calls("gold"), read=True),
        "5 calls against 5, all wrong": scoring(rk.tool_calls("gold"), "?", read=True),
        "5 calls against 5, all wrong in part": scoring(rk.tool_calls("gold", arguments="partial"), "?", read=True),
        "the same, in their order": scoring(rk.tool_calls("gold", arguments="partial", order="kept"), "?", read=True),
        "reading and 5 calls against 5": scoring(rk.tool_calls("gold")),
        "per_turn over 6 prefixes": scoring(rk.per_turn(rk.agents.tool_errors(), reduce="progress")),
    }
    print(f"CPU milliseconds for {BATCH} completions of {BATCH // GENERATIONS} prompts, median of {rounds} rounds")
    for name, prepare in cases.items():
        taken = statistics.median(milliseconds(prepare, rounds))
        target = TARGETS.get(name)
        said = "" if target is None else f"   target: at most {target:g}: {'PASS' if taken <= target else 'MISS'}"
        print(f"  {name:<44}{taken:8.2f}{said}")


def compare(before: Path, rounds: int) -> None:
    """Score plain texts with both commits, in turn."""
    children = [_child(root, rounds) for root in (before, ROOT)]
    times = [[next(children[0]), next(children[1])] if number % 2 else [next(children[1]), next(children[0])][::-1]
             for number in range(rounds + 1)][1:]  # fmt: skip
    print(f"\nCPU milliseconds for 512 completions of two rewards through to_trl, median of {rounds} rounds")
    for place, name in enumerate(("plain texts", "chats of one message")):
        old, new = ([one[side][place] for one in times] for side in (0, 1))
        ratio = statistics.median(after / earlier for earlier, after in zip(old, new, strict=True))
        print(
            f"  {name:<24} before {statistics.median(old):7.2f}   now {statistics.median(new):7.2f}   ratio {ratio:.3f}"
        )


def _child(root: Path, rounds: int) -> Iterator[list[float]]:
    command = [sys.executable, "-c", _CHILD, str(root.resolve()), str(rounds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/") as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for line in child.stdout:
            yield json.loads(line)
            child.stdin.write("\n")
            child.stdin.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="5 rounds instead of 41, for a quick look")
    parser.add_argument("--before", type=Path, help="folder with the sources of an earlier commit")
    options = parser.parse_args()
    rounds = 5 if options.quick else 41
    measure(rounds)
    if options.before is not None:
        compare(options.before, rounds)


if __name__ == "__main__":
    main()
