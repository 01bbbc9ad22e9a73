"""Check the rewards of agents in a set: which faults are found, and which sound rewards are blamed.

python benchmarks/check/agents.py first second
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import rewardkit as rk
from rewardkit.testing import Declarations, check_reward, play

Entry = Mapping[str, Any]


def entries(name: str) -> tuple[list[Entry], list[Entry]]:
    """Return the faulty and the sound rewards of a set."""
    module = importlib.import_module(f"tests.faults.agents.{name}")
    return module.FAULTY, module.SOUND


def reward_of(entry: Entry) -> Any:
    """Return the reward; a function of an environment becomes one of its final state."""
    return entry["reward"] if entry["environment"] is None else rk.agents.final_state(entry["reward"])


def value(entry: Entry, completion: Any, example: int) -> float:
    """Return what a completion earns; in an environment its calls are played."""
    row = dict(entry["examples"][example])
    prompt = row.pop("prompt", None)
    columns: dict[str, Any] = {name: [cell] for name, cell in row.items()}
    prompts = None if prompt is None else [prompt]
    if entry["environment"] is None:
        return float(rk.score(reward_of(entry), [completion], prompts=prompts, **columns).total[0])
    turns = [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": tool, "arguments": arguments}}]}
        for tool, arguments in completion["calls"]
    ]
    asked = [*turns, {"role": "assistant", "content": completion.get("answer", "")}]
    messages, environment = play(entry["environment"], asked, entry["examples"][example])
    table = rk.score(reward_of(entry), [messages], prompts=prompts, environments=[environment], **columns)
    return float(table.total[0])


def findings(entry: Entry, budget: float) -> Iterator[str]:
    """Yield what a check finds, as ``law: why``."""
    report = check_reward(
        reward_of(entry),
        examples=entry["examples"],
        good=[[one] for one in entry["good"]],
        bad=entry["bad"],
        declarations=Declarations(environment=entry["environment"], tools=entry["tools"] or ()),
        budget=budget,
    )
    yield from dict.fromkeys(f"{finding.law}: {finding.why}" for finding in report.findings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", help="names of folders beside this file")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds for one check")
    options = parser.parse_args()
    warnings.simplefilter("ignore", rk.errors.RewardKitWarning)
    for name in options.sets:
        for kind, listed in zip(("faulty", "sound"), entries(name), strict=True):
            found = 0
            for entry in listed:
                started = time.monotonic()
                said = list(findings(entry, options.budget))
                found += bool(said)
                print(f"{name} {kind} {entry['name']}: {len(said)} findings in {time.monotonic() - started:.1f} s")
                for line in said[:4]:
                    print(f"    {line[:160]}")
            print(f"{name}: {found} of {len(listed)} {kind} rewards have findings\n")


if __name__ == "__main__":
    main()
