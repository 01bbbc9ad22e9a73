"""Check the public reward functions of other packages, each in an environment of its own, and list what is found.

    python benchmarks/check/audit/audit.py                         # every package that needs no checkout
    python benchmarks/check/audit/audit.py --checkouts FOLDER --out FILE  # also those run from a clone in FOLDER

A line per function says which laws it breaks. Only a person can decide whether a finding is a fault, a matter of
contract or a false alarm: AUDIT.md has the verdicts, and `repros.py` runs the shortest proof of each fault.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AUDIT = Path(__file__).resolve().parent
ROOT = AUDIT.parents[2]
MARK = "AUDIT "
CHECKING = ("numpy==2.4.6", "pydantic==2.14.3", "hypothesis==6.170.15")
"""What a check needs in addition to the package."""
_MATH_VERIFY = ("math-verify==0.9.0", "latex2sympy2-extended==1.11.0", "antlr4-python3-runtime==4.13.2")


@dataclass(frozen=True)
class Package:
    """A package whose reward functions are checked.

    Attributes:
        name: of its file in audit/subjects.
        requirements: what to install, the package first; without its dependencies if `alone`.
        alone: whether its dependencies are left out, since a trainer's need a GPU.
        also: what its reward functions import.
        checkout: ``owner/name@commit`` if it is run from a clone, which has the last part of the name.
    """

    name: str
    requirements: tuple[str, ...] = ()
    alone: bool = False
    also: tuple[str, ...] = ()
    checkout: str = ""

    @property
    def python(self) -> Path:
        return ROOT / f".venv-audit-{self.name.replace('_', '-')}" / "bin" / "python"

    @property
    def version(self) -> str:
        return self.checkout or self.requirements[0]


PACKAGES = (
    Package("trl", ("trl==1.16.0",), alone=True, also=("transformers==5.17.0", "torch==2.13.0", *_MATH_VERIFY)),
    Package("reasoning_gym", ("reasoning-gym==0.1.25",)),
    Package("skyrl_gym", ("skyrl-gym==0.4.0",)),
    Package(
        "skyrl",
        (*_MATH_VERIFY, "skyrl-gym==0.4.0", "pylatexenc==2.10", "regex==2026.11.19"),
        checkout="NovaSky-AI/SkyRL@a9564572eb8e91076be43c1bd5e4615e3de17265",
    ),
    Package(
        "verl",
        ("verl==0.9.1",),
        alone=True,
        also=(*_MATH_VERIFY, "pylatexenc==2.10", "mathruler==0.1.0", "tqdm==4.70.1"),
    ),
    Package(
        "ms_swift",
        ("ms-swift==4.6.0",),
        alone=True,
        also=(*_MATH_VERIFY, "rouge==1.0.1", "transformers==5.17.0"),
    ),
    Package("verifiers", ("verifiers==0.4.0",)),
    Package("verifiers_rubric", ("verifiers==0.3.1",)),
    Package("eval_protocol", ("eval-protocol==0.3.33",)),
    Package(
        "openrlhf",
        ("torch==2.13.0", "sympy==1.14.0", "pylatexenc==2.10"),
        checkout="OpenRLHF/OpenRLHF@3c3be6234e0cb353e76bb8019947db9dfe99fca7",
    ),
    Package(
        "open_r1",
        ("math-verify==0.5.2", "latex2sympy2-extended==1.0.6", "antlr4-python3-runtime==4.13.2"),
        checkout="huggingface/open-r1@1416fa0cf21595d2083b399a2a0bbddd7f6e9563",
    ),
    Package(
        "slime",
        ("sympy==1.14.0", "pylatexenc==2.10", "nltk==3.10.4", "emoji==2.16.0", "syllapy==0.8.0"),
        checkout="THUDM/slime@624b824a898ab0ec1fcb4d373004c7f3852bf515",
    ),
    Package(
        "open_instruct",
        (
            *("sympy==1.14.0", "antlr4-python3-runtime==4.11.1"),
            *("nltk==3.10.4", "langdetect==1.0.9", "absl-py==2.5.1", "immutabledict==1.2.0"),
        ),
        checkout="allenai/open-instruct@e6c3044aa6201c8bfa4573c1b03142af599e730d",
    ),
    Package(
        "nemo_gym",
        (
            "fastapi==0.135.2",
            "openai==2.7.2",
            "aiohttp==3.14.1",
            "uvicorn==0.37.0",
            "requests==2.32.5",
            "orjson==3.11.3",
        ),
        also=(
            *("hydra-core==1.3.2", "omegaconf==2.3.0", "rich==14.3.2", "itsdangerous==2.2.0", "pandas==2.3.2"),
            *("math-verify==0.8.0", "latex2sympy2-extended==1.10.2", "reasoning-gym==0.1.25", "scipy==1.17.1"),
            *("editdistance==0.8.1", "jiwer==4.0.0", "whisper-normalizer==0.1.15", "sacrebleu==2.6.0"),
            *("rouge-score==0.1.2", "nltk==3.10.4", "langdetect==1.0.9", "immutabledict==4.3.1", "emoji==2.16.0"),
            *("syllapy==0.8.0", "absl-py==2.5.1", "regex==2026.11.19", "defusedxml==0.7.1", "tqdm==4.70.1"),
            *("openapi-schema-validator==0.6.3", "xmltodict==1.0.2", "toml==0.10.2", "PyYAML==6.0.4", "pillow==13.0.0"),
        ),
        checkout="NVIDIA-NeMo/Gym@07d6b0d07b22fcf530b4c211dae2ee23100428e4",
    ),
)


def install(package: Package) -> None:
    """Create the environment of a package, unless it is there."""
    if package.python.exists():
        return
    print(f"installing {package.version} ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(package.python.parent.parent)], check=True)
    pip = [str(package.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if package.requirements:
        subprocess.run([*pip, *(["--no-deps"] if package.alone else []), *package.requirements], check=True)
    subprocess.run([*pip, *package.also, *CHECKING], check=True)


def reports(package: Package, checkouts: Path | None, arguments: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the report of each function of a package."""
    install(package)
    path = os.pathsep.join(str(folder) for folder in (ROOT, ROOT / "adapters", AUDIT))
    variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "AUDIT_CHECKOUTS": str(checkouts or "")}
    command = [str(package.python), str(AUDIT / "check.py"), package.name, *arguments]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith(MARK):
                yield {"package": package.name, "version": package.version, **json.loads(line.removeprefix(MARK))}
    if running.returncode:
        print(f"{' '.join(command)} failed; the lines above say why", file=sys.stderr)


def line(report: dict[str, Any]) -> str:
    """Return one line about one function."""
    name = f"{report['package']} {report['name']}"
    if "error" in report:
        return f"{name}: not checked: {report['error']}"
    laws = [finding["law"] for finding in report["findings"]]
    return f"{name}: {', '.join(dict.fromkeys(laws)) or 'nothing'} ({report['seconds']:g} s)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", choices=[one.name for one in PACKAGES], help="default: all")
    parser.add_argument("--checkouts", type=Path, help="has clones of the packages that are not on the index")
    parser.add_argument("--only", default="", help="only functions whose name contains this")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds per function (default: %(default)g)")
    parser.add_argument("--workers", type=int, default=2, help="packages checked at a time (default: %(default)d)")
    parser.add_argument("--out", type=Path, help="add all findings to this file, one line of JSON per function")
    options = parser.parse_args()
    chosen = [one for one in PACKAGES if not options.packages or one.name in options.packages]
    missing = [one for one in chosen if one.checkout and options.checkouts is None]
    for package in missing:
        print(f"left out: {package.name} (clone {package.checkout} into a folder and pass --checkouts)")
    arguments = ["--budget", str(options.budget), "--only", options.only]

    def check(package: Package) -> int:
        broken = 0
        for report in reports(package, options.checkouts, arguments):
            broken += bool(report.get("findings"))
            print(line(report), flush=True)
            if options.out:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(report) + "\n")
        return broken

    with ThreadPoolExecutor(options.workers) as pool:
        found = sum(pool.map(check, [one for one in chosen if one not in missing]))
    print(f"{found} functions with findings")


if __name__ == "__main__":
    main()
