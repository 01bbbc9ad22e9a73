"""What the runner and the rewards do on one GPU, unattended and within eight minutes.

``python benchmarks/gpu.py --out FOLDER`` trains the demo's task with a larger model, measures what rewards take of a
step of a model of half a billion parameters, and continues a training that was killed. ``--cpu`` runs all of it small
on a processor, within three minutes. Nothing is downloaded. ``gpu.md`` and ``gpu.json`` in FOLDER (by default ``$OUT``,
else ``runs/gpu``) hold what was measured; a part that runs out of time leaves what it has.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PARTS = {"overhead": 220, "learning": 130, "resume": 120}
"""Name -> seconds on a GPU; what one leaves over goes to the next."""
ON_CPU = {"overhead": 50, "learning": 70, "resume": 60}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="everything small, on the processor")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT") or "runs/gpu"), help="%(default)s")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="all of them")
    parser.add_argument("--patience", type=float, default=1.0, help="times the seconds of each part: %(default)s")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)  # what a child is to do
    options = parser.parse_args(arguments)
    if options.part:
        return _do(options.part, options.out, small=options.cpu)
    options.out.mkdir(parents=True, exist_ok=True)
    limits = {name: options.patience * (ON_CPU if options.cpu else PARTS)[name] for name in options.parts}
    found: dict[str, Any] = {"machine": _machine(options.cpu)}
    if not options.cpu and not found["machine"]["gpu"]:
        print("no GPU is visible here: --cpu runs everything small on the processor", file=sys.stderr)
        return 2
    left = 0.0
    for name, limit in limits.items():
        began = time.perf_counter()
        found[name] = _run(name, limit + left, options)
        left += limit - (time.perf_counter() - began)
        _write(options.out, found)
    print((options.out / "gpu.md").read_text(encoding="utf-8"))
    return 0 if all(found[name]["ended"] == "whole" for name in limits) else 1


def _run(name: str, seconds: float, options: argparse.Namespace) -> dict[str, Any]:
    """One part in a process group of its own, which ends with its time; what it wrote until then counts."""
    print(f"{name}: at most {seconds:.0f} s", flush=True)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--part", name, "--out", folder, *(["--cpu"] if options.cpu else [])]
        log = options.out / f"{name}.log"
        with log.open("w", encoding="utf-8") as said:
            child = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True, env=_surroundings())
            try:
                ended = {0: "whole"}.get(code := child.wait(timeout=seconds), f"with exit code {code}")
            except subprocess.TimeoutExpired:
                ended = f"cut off after {seconds:.0f} s"
            finally:
                _end(child)
        written = Path(folder, "found.json")
        measured = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else {}
        for kept in Path(folder).glob("keep-*"):
            (options.out / kept.name.removeprefix("keep-")).write_bytes(kept.read_bytes())
    if ended == "whole":
        log.unlink()
    else:
        print("\n".join(log.read_text(encoding="utf-8").splitlines()[-15:]), file=sys.stderr)
    return {"ended": ended, "seconds": round(time.perf_counter() - began, 1), **measured}


def _end(child: subprocess.Popen[bytes]) -> None:
    """With everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _surroundings() -> dict[str, str]:
    """The repository's own packages, no network, reproducible matrix products."""
    from rewardkit_runner.environment import VARIABLES

    paths = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")]
    own = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    return {**VARIABLES, **own, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _do(name: str, out: Path, *, small: bool) -> int:
    """In the child: measures, and writes what is known so far at every call of `save`."""

    def save(found: dict[str, Any]) -> None:
        whole = out / "found.json.part"
        whole.write_text(json.dumps(found), encoding="utf-8")
        whole.replace(out / "found.json")

    importlib.import_module(f"gpu_{name}").measure(out, save, small=small)
    return 0


def _write(out: Path, found: dict[str, Any]) -> None:
    from gpu_report import report

    (out / "gpu.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    (out / "gpu.md").write_text(report(found), encoding="utf-8")


def _machine(small: bool) -> dict[str, Any]:
    import platform
    from importlib.metadata import version

    import torch

    gpu = None if small or not torch.cuda.is_available() else torch.cuda.get_device_properties(0)
    return {
        "gpu": gpu.name if gpu else "",
        "gpu_memory_gib": round(gpu.total_memory / 2**30, 1) if gpu else 0,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "transformers", "trl", "accelerate", "peft")},
    }


if __name__ == "__main__":
    sys.exit(main())
