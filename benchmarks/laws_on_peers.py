"""Check the public reward functions of TRL, verifiers and eval-protocol, and rewardkit's own, against the laws.

``python benchmarks/laws_on_peers.py --out FILE`` creates the missing environments, checks each function in its own
environment, and prints a table per peer: laws held and broken, and the most informative finding. Only a person can
decide whether a finding is a fault or a matter of contract; RESULTS.md has our verdicts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peers.environments import BENCHMARKS, PEERS, Peer, install

MARK = "LAWS-REPORT "
CHECKING = ("numpy==2.4.6", "hypothesis==6.170.15")
"""What a check needs in addition to the peer. Without Hypothesis the search is skipped, and the table says so."""

ENVIRONMENTS = {
    "trl": None,
    "verifiers-rubric": ".venv-verifiers-rubric",
    "verifiers": ".venv-verifiers",
    "eval-protocol": ".venv-eval-protocol",
}
INFORMATIVE = (
    "gold_above_perturbed_gold",
    "exploits",
    "search",
    "gold_gets_the_maximum",
    "separates_good_from_bad",
    "time_linear",
    "total",
    "thread_safe",
)
"""The laws that say most about a reward, in order; all other laws come after them."""


def lines(peer: str, ours: bool, budget: float) -> Iterator[dict[str, Any]]:
    """Yield the reports of a peer's functions, or of rewardkit's counterparts, which run in this environment."""
    environment = None if ours else ENVIRONMENTS[peer]
    python = sys.executable if environment is None else str(_installed(environment).python)
    command = [python, str(BENCHMARKS / "peers" / "laws.py"), peer, "--budget", str(budget)]
    root = BENCHMARKS.parent
    path = os.pathsep.join(str(folder) for folder in (root, root / "adapters", BENCHMARKS))
    environment_variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command += ["--ours"] if ours else []
    with subprocess.Popen(command, env=environment_variables, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith(MARK):
                report: dict[str, Any] = json.loads(line.removeprefix(MARK))
                print(f"  {report['name']}", file=sys.stderr)
                yield report
    if running.returncode:
        sys.exit(f"{' '.join(command)} failed; the lines above say why")


def _installed(environment: str) -> Peer:
    peer = next(peer for peer in PEERS if peer.environment == environment)
    install(peer, also=CHECKING)
    return peer


def table(reports: list[dict[str, Any]]) -> str:
    """Format one row per function, with rewardkit's counterpart below it."""
    rows = ["| function | held | broken | n/a | broken laws | most informative finding |", "|---|---|---|---|---|---|"]
    functions = [report for report in reports if not report["ours"]]
    for report in functions:
        rows.append(_row(f"`{report['name']}`", report))
        own = (
            one for one in reports if one["ours"] and one["name"] == report["name"] and one["peer"] == report["peer"]
        )
        rows += [_row(f"ours: `{one.get('reward', '')}`", one) for one in own]
    return "\n".join(rows)


def _row(name: str, report: dict[str, Any]) -> str:
    if "error" in report:
        return f"| {name} | | | | | not checked: {_cell(report['error'])} |"
    outcomes = [outcome for _, outcome, _, _ in report["laws"]]
    broken = [law for law, outcome, _, _ in report["laws"] if outcome == "broken"]
    counts = [str(outcomes.count(kind)) for kind in ("held", "broken", "skipped")]
    findings = sorted(report["findings"], key=lambda one: _rank(one["law"]))
    unfinished = [law for law, outcome, _, _ in report["laws"] if outcome == "unfinished"]
    cell = _shown(findings[0]) if findings else ""
    cell += f" (not finished: {', '.join(unfinished)})" if unfinished else ""
    return f"| {name} | {' | '.join(counts)} | {', '.join(broken)} | {cell} |"


def _shown(finding: dict[str, Any]) -> str:
    completion = finding["completion"]
    text = completion[0].get("content") if isinstance(completion, list) and len(completion) == 1 else completion
    kind = f" ({finding['family']})" if finding["family"] else ""
    return f"{finding['law']}{kind}: {_cell(finding['why'][:110])}: `{_cell(repr(text)[:60])}`"


def _rank(law: str) -> int:
    return INFORMATIVE.index(law) if law in INFORMATIVE else len(INFORMATIVE)


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|").replace("`", "'")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--peers", nargs="+", choices=list(ENVIRONMENTS), default=list(ENVIRONMENTS), help="default: all"
    )
    parser.add_argument("--budget", type=float, default=40.0, help="seconds per function (default: %(default)g)")
    parser.add_argument("--out", type=Path, help="write all findings to this file, one line of JSON per function")
    arguments = parser.parse_args()
    everything: list[dict[str, Any]] = []
    for peer in arguments.peers:
        reports = [*lines(peer, False, arguments.budget), *lines(peer, True, arguments.budget)]
        everything += reports
        print(f"\n{reports[0]['version']}\n\n{table(reports)}", flush=True)
    if arguments.out:
        arguments.out.write_text("".join(f"{json.dumps(report)}\n" for report in everything), encoding="utf-8")


if __name__ == "__main__":
    main()
