"""Check the reward functions of one peer against the laws, and print a line of JSON for each.

    PYTHONPATH=.:adapters:benchmarks .venv-verifiers/bin/python benchmarks/peers/laws.py verifiers

`laws_on_peers.py` runs this in each peer's environment. ``--ours`` checks rewardkit's counterparts instead (in .venv).
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
import warnings
from importlib.metadata import version
from typing import Any, get_args

# Without this, importing litellm tries to download a price list.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from laws_on_peers_cases import CASES, Case, Peer

from rewardkit.testing import Report, check_reward

MARK = "LAWS-REPORT "
DISTRIBUTIONS = {"verifiers-rubric": "verifiers"}


def check(case: Case, ours: bool, budget: float) -> Report:
    """Check one case. TRL's functions get chat messages, because they are written for them."""
    if ours:
        from laws_on_peers_ours import OURS

        mine = OURS[case.peer, case.name]
        rights, wrongs = mine.good or case.good, mine.bad or case.bad
        return check_reward(mine.make(), examples=mine.examples(case), good=rights, bad=wrongs, budget=budget)
    made = case.make()
    if case.peer == "trl":
        good, bad = ([[{"role": "assistant", "content": text}] for text in texts] for texts in (case.good, case.bad))
        return check_reward(made, examples=case.examples, good=good, bad=bad, budget=budget)
    from peers.reward_functions import as_reward

    return check_reward(as_reward(case, made), examples=case.examples, good=case.good, bad=case.bad, budget=budget)


def line(case: Case, ours: bool, budget: float) -> dict[str, Any]:
    started = time.monotonic()
    distribution = DISTRIBUTIONS.get(case.peer, case.peer)
    entry: dict[str, Any] = {"peer": case.peer, "name": case.name, "ours": ours}
    entry["version"] = "rewardkit" if ours else f"{distribution} {version(distribution)}"
    try:
        report = check(case, ours, budget)
    except Exception as error:
        return {**entry, "error": f"{type(error).__name__}: {error}"[:500]}
    entry["reward"] = report.reward
    entry["laws"] = [[result.law, result.outcome, result.reason, result.tries] for result in report.results]
    entry["findings"] = [finding.to_dict() for finding in report.findings]
    entry["seconds"] = round(time.monotonic() - started, 1)
    return entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=get_args(Peer))
    parser.add_argument("--ours", action="store_true", help="check rewardkit's counterparts instead")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds per function (default: %(default)g)")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for case in CASES:
        if case.peer != arguments.peer or arguments.only not in case.name:
            continue
        if arguments.ours:
            from laws_on_peers_ours import OURS

            if (case.peer, case.name) not in OURS:
                continue
        print(MARK + json.dumps(line(case, arguments.ours, arguments.budget)), flush=True)


if __name__ == "__main__":
    main()
