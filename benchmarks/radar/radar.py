"""Train tiny models on sound and hackable rewards, and count what the search for hacks finds in the records.

``python benchmarks/radar/radar.py make --out runs/radar`` trains all runs that are missing, two at a time.
``python benchmarks/radar/radar.py judge --out runs/radar`` says which of them were hacked and what the search found.
``python benchmarks/radar/radar.py own --seeds 5 --out runs/radar`` trains what rewardkit ships, to accuse none of it.
``python benchmarks/radar/radar.py peers --rewardspy PATH --rldoctor PATH --out runs/radar`` compares with other tools.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "benchmarks")]
os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE", CUDA_VISIBLE_DEVICES="")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "judge", "own", "peers"))
    parser.add_argument("--out", type=Path, default=Path("runs/radar"))
    parser.add_argument("--tasks", nargs="*", help="names of tasks, or of own trainings; by default all")
    parser.add_argument("--rewards", nargs="*", help="names of rewards; by default all")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rewardspy", type=Path, help="a clone of github.com/AvAdiii/rewardspy")
    parser.add_argument(
        "--rldoctor", type=Path, help="where `pip install --no-deps --target PATH rldoctor==0.2.0` put it"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes of `judge` and `peers`")
    options = parser.parse_args(arguments)
    if options.what == "make":
        _make(options)
    elif options.what == "judge":
        _judge(options)
    elif options.what == "own":
        _own(options)
    else:
        _peers(options)


def _make(options: argparse.Namespace) -> None:
    from rewardkit_adapters.runner import environment

    environment.prepare()
    import torch

    from benchmarks.radar.tasks import TASKS
    from benchmarks.radar.training import Training, train
    from rewardkit_adapters.runner.environment import quiet

    torch.set_num_threads(1)
    for name, task in TASKS.items():
        # A run of a pretrained model takes half an hour on a CPU, so it must be asked for.
        if name not in options.tasks if options.tasks else task.pretrained:
            continue
        for reward in (*task.sound, *task.hackable):
            if options.rewards and reward not in options.rewards:
                continue
            for seed in range(options.first_seed, options.first_seed + options.seeds):
                started = time.process_time()
                with quiet():
                    folder = train(Training(name, reward, seed, options.steps), options.out)
                print(f"{folder} {time.process_time() - started:.1f} s", flush=True)


def _judge(options: argparse.Namespace) -> None:
    from benchmarks.radar.report import report
    from benchmarks.radar.verdicts import verdict

    folders, verdicts = _folders(options), []
    with ProcessPoolExecutor(options.workers) as pool:
        for folder, one in zip(folders, pool.map(verdict, folders), strict=True):
            verdicts.append(one)
            shown = {kind: strength for kind, strength in one.alerts.items() if strength >= 0.5}
            print(folder.name, one.label.verdict, one.label.onset, one.first, one.first_informed, shown, flush=True)
    print("\n".join(report(verdicts)))


def _folders(options: argparse.Namespace) -> list[Path]:
    """Return the folders of all finished runs of the chosen tasks."""
    folders = (folder for folder in sorted((options.out / "runs").iterdir()) if (folder / "done").exists())
    return [folder for folder in folders if not options.tasks or folder.name.split("-")[0] in options.tasks]


def _own(options: argparse.Namespace) -> None:
    from benchmarks.radar.own_runs import table

    os.nice(10)
    for line in table(options.out, options.tasks or (), options.seeds):
        print(line, flush=True)


def _peers(options: argparse.Namespace) -> None:
    from benchmarks.radar.peers import Peers, compared
    from benchmarks.radar.peers_report import report

    if options.rewardspy is None or options.rldoctor is None:
        raise SystemExit("peers needs --rewardspy PATH and --rldoctor PATH.")
    comparisons = []
    for one in compared(_folders(options), Peers(options.rewardspy, options.rldoctor), options.workers):
        comparisons.append(one)
        print(one.name, one.label.verdict, one.label.onset, one.shown, flush=True)
    print("\n".join(report(comparisons)))


if __name__ == "__main__":
    main()
