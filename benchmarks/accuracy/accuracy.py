r"""Which answers verifiers pay: rewardkit and its peers on labeled answers that mostly others wrote.

    python benchmarks/accuracy/accuracy.py          # rewardkit, math-verify, TRL, public patterns: in this environment
    python benchmarks/accuracy/accuracy.py --peers  # also verifiers, rewardlint and open-r1, each in its own
    python benchmarks/accuracy/accuracy.py --out FILE  # writes each case that a contestant gets wrong
    python benchmarks/accuracy/accuracy.py --half dev  # half of each set: the other one stays unseen

Per set and contestant: wrong answers that are paid, right ones that are not, gold answers that are refused, and CPU
time. ``benchmarks/README.md`` says where the sets come from; a set that is not at hand is skipped, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

from benchmarks.accuracy import formats as accuracy_formats, sets
from benchmarks.accuracy.counting import Counted, counted, table
from benchmarks.accuracy.sets import Case, Half, Kind, LabeledSet, NotAtHand, Source
from benchmarks.peers.environments import ROOT, Peer, install
from benchmarks.peers.verdicts import MARK

OPEN_R1 = Source("huggingface/open-r1", "1416fa0cf21595d2083b399a2a0bbddd7f6e9563")
REWARDLINT = Peer("rewardlint==0.1.0", ".venv-rewardlint", "verdicts.py")


@dataclass(frozen=True)
class Contestant:
    r"""A verifier, and how it is run.

    Attributes:
        name: its name in the table.
        script: its name in ``peers/verdicts.py``, and arguments.
        peer: its environment; None is this one.
        also: more packages of that environment.
        source: a repository that it is read from; its folder is the last argument.
        kinds: the gold answers that it is for. One for formulas gets all, where a set does not say what is asked for.
        needs_marks: it reads a bare formula in the gold cell in part: ``2\sqrt{3}`` as 2. It gets such a gold answer
            in a box, except in the sets `AS_PUBLISHED` and where it is the letter of an option.
    """

    name: str
    script: tuple[str, ...]
    peer: Peer | None = None
    also: tuple[str, ...] = ()
    source: Source | None = None
    kinds: tuple[Kind, ...] = ("formula", "number")
    needs_marks: bool = False

    def is_for(self, case: Case) -> bool:
        return case.kind in self.kinds or (case.task is None and "formula" in self.kinds)


OURS = (
    Contestant("rk.math_equal", ("rewardkit", 'rk.math_equal("answer", {gold})')),
    Contestant("rk.number", ("rewardkit", 'rk.number("answer", {gold})'), kinds=("number",)),
    Contestant("rk.choice", ("rewardkit", 'rk.choice("answer", {gold}, {options})'), kinds=("letter",)),
    Contestant("rk.exact", ("rewardkit", 'rk.exact("answer", ignore_case=True, {gold})'), kinds=("words",)),
)
HERE = (
    Contestant("math-verify", ("math-verify",), kinds=("formula", "number", "letter"), needs_marks=True),
    Contestant("TRL accuracy_reward", ("trl",), needs_marks=True),
    Contestant("MMLU-Pro's patterns", ("mmlu-pro",), kinds=("letter",)),
    Contestant("lm-eval flexible-extract", ("flexible-extract",), kinds=("number",)),
    Contestant("lm-eval strict-match", ("strict-match",), kinds=("words",)),
)
PEERS = (
    Contestant(
        "verifiers 0.4 verify_boxed_math_answer",
        ("verifiers",),
        Peer("verifiers==0.4.0", ".venv-verifiers", "verdicts.py"),
        ("math-verify==0.9.0",),
    ),
    Contestant(
        "verifiers 0.3 MathRubric",
        ("verifiers-rubric",),
        Peer("verifiers==0.3.1", ".venv-verifiers-rubric", "verdicts.py"),
        ("math-verify==0.9.0",),
    ),
    Contestant("rewardlint robust_match", ("robust_match",), REWARDLINT),
    Contestant(
        "open-r1 accuracy_reward",
        ("open-r1",),
        Peer("math-verify==0.5.2", ".venv-open-r1", "verdicts.py"),
        source=OPEN_R1,
        needs_marks=True,
    ),
)
SETS: dict[str, Callable[[Path], list[Case]]] = {
    "HardVerify-Math": sets.hardverify,
    "rewardlint": partial(sets.rewardlint, python=REWARDLINT.python),
    "Math-Verify": sets.math_verify,
    "GSM8K": sets.gsm8k,
    "by hand (ours)": sets.by_hand,
    "bbh-cot": sets.bbh,
    "dynamic-cheatsheet": sets.dynamic_cheatsheet,
    "gaokao": sets.gaokao,
    "mathvista": sets.math_vista,
    "mgsm": sets.mgsm,
    "mmlu-pro": sets.mmlu_pro,
    "qwen-math": sets.qwen_math,
    "theoremqa": sets.theorem_qa,
    "zero-shot-cot": sets.zero_shot_cot,
    "formats": accuracy_formats.formats,
    "traps": accuracy_formats.traps,
}


AS_PUBLISHED = ("rewardlint", "Math-Verify")
"""Sets in which math-verify does best with gold answers as published. In the others they are bare formulas."""


def asked(contestant: Contestant, cases: Sequence[Case], folder: Path, *, bare: bool = False) -> dict[str, Any]:
    """Return a contestant's report about the cases: version, verdicts, seconds; `bare`: formulas have no marks.

    Raises:
        RuntimeError: it failed; the message has its error output.
    """
    python = str(contestant.peer.python) if contestant.peer else sys.executable
    arguments = [*contestant.script, *([str(contestant.source.folder(folder))] if contestant.source else [])]
    needs_marks = bare and contestant.needs_marks
    questions = [
        (marked(case.gold) if needs_marks and not case.options else case.gold, case.completion, case.options)
        for case in cases
    ]
    path = os.pathsep.join(str(one) for one in (ROOT, ROOT / "adapters"))
    done = subprocess.run(
        [python, str(ROOT / "benchmarks" / "peers" / "verdicts.py"), *arguments],
        input=json.dumps(questions),
        env={**os.environ, "OMP_NUM_THREADS": "1", **({} if contestant.peer else {"PYTHONPATH": path})},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not lines:
        raise RuntimeError(f"{contestant.name} failed:\n{done.stderr[-4_000:]}")
    report: dict[str, Any] = json.loads(lines[-1].removeprefix(MARK))
    return report


def marked(gold: str) -> str:
    """Return a gold answer in a box, unless it has marks."""
    return gold if "$" in gold or "\\boxed" in gold else f"\\boxed{{{gold}}}"


def asked_all(
    labeled: LabeledSet, contestants: Sequence[Contestant], folder: Path
) -> tuple[list[Counted], list[dict[str, Any]]]:
    """Return the lines of a set's table, and each case that a contestant gets wrong, with all verdicts."""
    counts = []
    verdicts: dict[str, dict[str, bool | None]] = {case.name: {} for case in labeled.cases}
    for task, contestant in product(dict.fromkeys(case.task for case in labeled.cases), contestants):
        cases = [case for case in labeled.cases if case.task == task and contestant.is_for(case)]
        if not cases:
            continue
        line = f"{task}: {contestant.name}" if task else contestant.name
        print(f"  {labeled.name}: {line} ...", file=sys.stderr)
        report = asked(contestant, cases, folder, bare=labeled.name not in AS_PUBLISHED)
        counts.append(counted(labeled.name, line, cases, report["verdicts"], report["seconds"]))
        for case, verdict in zip(cases, report["verdicts"], strict=True):
            verdicts[case.name][contestant.name] = verdict
    return counts, [
        {
            "set": labeled.name,
            "id": case.name,
            "kind": case.kind,
            "options": case.options,
            "gold": case.gold,
            "completion": case.completion,
            "label": case.right,
            "verdicts": verdicts[case.name],
        }
        for case in labeled.cases
        if any(bool(verdict) != case.right for verdict in verdicts[case.name].values())
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="also the contestants that need their own environment")
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS), help="default: all sets")
    parser.add_argument("--half", choices=get_args(Half), help="of each set; default: both")
    parser.add_argument("--ours", action="store_true", help="ask rewardkit alone")
    parser.add_argument("--sets", type=Path, default=ROOT / ".benchmarks" / "sets", help="folder of the public sets")
    parser.add_argument("--out", type=Path, help="write each case that a contestant gets wrong, as a line of JSON")
    options = parser.parse_args(arguments)
    contestants = [*OURS, *(() if options.ours else HERE), *(PEERS if options.peers else ())]
    for contestant in list(contestants):
        try:
            if contestant.source:
                contestant.source.folder(options.sets)
        except NotAtHand as error:
            print(f"{contestant.name}: left out: {error}")
            contestants.remove(contestant)
            continue
        if contestant.peer:
            install(contestant.peer, contestant.also)
    hard: list[dict[str, Any]] = []
    for name in options.only:
        try:
            labeled = sets.read(name, SETS[name], options.sets, options.half)
        except NotAtHand as error:
            print(f"\n{name}: skipped: {error}")
            continue
        counts, wrongly = asked_all(labeled, contestants, options.sets)
        left_out = f"; disputed and left out: {labeled.disputed}" if labeled.disputed else ""
        print(f"\n{name}: {len(labeled.cases):,} completions{left_out}\n\n{table(counts)}", flush=True)
        hard += wrongly
    if options.out:
        text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in hard)
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
