"""Test the adapters against the trainers' own packages, each in an environment of its own.

``python .ci/trainers.py`` installs what it can and runs ``tests/trainers/test_<trainer>.py``; ``python .ci/trainers.py
verl`` runs one. A trainer that cannot be installed is skipped, with the reason. REWARDKIT_CHECKOUTS is a folder with
checkouts of trainers that are not on the package index; without it they are cloned.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venv-trainers"


@dataclass(frozen=True)
class Trainer:
    """What a trainer's test needs: packages, installed without their dependencies, and a git repository."""

    packages: list[str] = field(default_factory=list)
    repository: str = ""
    commit: str = ""
    source: str | None = ""  # the folder of the repository that is imported; None: the test sees to it


_VERIFIERS = [
    "verifiers==0.4.0", "pyzmq", "renderers", "mcp==2.0.0", "tomli_w", "loguru", "anthropic", "docstring-parser",
    "distro", "openai<3", "prime-pydantic-config>=0.4.3",
]  # fmt: skip

TRAINERS = {
    "verl": Trainer(
        ["verl==0.9.1", "ray", "tensordict==0.10.0", "omegaconf", "codetiming", "protobuf", "pyvers", "cachetools",
         "msgpack", "requests", "urllib3", "charset-normalizer", "torchdata", "TransferQueue==0.1.10", "pyzmq",
         "msgspec"]
    ),
    "openrlhf": Trainer(
        ["openrlhf==0.11.2", "ray==2.55.0", "protobuf", "msgpack", "requests", "urllib3", "charset-normalizer"]
    ),
    "slime": Trainer([], "https://github.com/THUDM/slime", "624b824a898ab0ec1fcb4d373004c7f3852bf515"),
    "verifiers": Trainer(_VERIFIERS),
    "prime_rl": Trainer(
        [*_VERIFIERS, "msgspec"],
        "https://github.com/PrimeIntellect-ai/prime-rl", "559b44772e471d1538537b8805cc77f3824a5e64", "src"
    ),
    "openenv": Trainer(
        ["openenv-core==0.3.0"],
        "https://github.com/huggingface/OpenEnv", "83711aac1b35a77aef0d3c22ac824691fa539132", "envs"
    ),
    "axolotl": Trainer(["axolotl==0.19.0", "trl==1.9.0", "addict", "numba", "llvmlite", "requests", "urllib3"]),
    "swift": Trainer(
        ["ms-swift==4.6.0", "trl==0.29.1", "transformers==5.19.0", "datasets==4.8.4", "peft==0.20.0", "addict", "cffi",
         "cryptography", "dacite", "einops", "json_repair", "modelscope==1.40.2", "modelscope_hub==0.5.1", "msgspec",
         "requests", "simplejson", "urllib3"]
    ),
    "nemo_gym": Trainer(
        ["omegaconf==2.4.0", "openai==2.7.2", "anthropic==0.109.2", "docstring-parser", "distro", "itsdangerous",
         "requests", "urllib3", "charset-normalizer"],
        "https://github.com/NVIDIA-NeMo/Gym", "07d6b0d07b22fcf530b4c211dae2ee23100428e4", None
    ),
    "llamafactory": Trainer(["llamafactory==0.9.5", "requests", "urllib3", "charset-normalizer"]),
    "nemo_rl": Trainer(
        ["omegaconf==2.4.0", "requests", "urllib3", "charset-normalizer"],
        "https://github.com/NVIDIA-NeMo/RL", "7ea279abfbeb698b092856d0dab61e7cf39bc909", None
    ),
    "inspect": Trainer(
        ["inspect_ai==0.3.285", "inspect-evals==0.26.0", "agent-client-protocol", "backoff", "beautifulsoup4",
         "botocore", "charset-normalizer", "docstring-parser", "ijson", "jsonlines", "jsonpatch", "jsonpointer", "mmh3",
         "nest_asyncio2", "platformdirs", "requests", "semver", "shortuuid", "soupsieve", "textual", "tiktoken", "toml",
         "urllib3", "zipfile-zstd"]
    ),
    "skyrl": Trainer(
        ["skyrl-gym==0.4.0", "skyrl==0.3.0", "charset-normalizer", "func_timeout", "jaxtyping", "loguru", "omegaconf",
         "requests", "urllib3", "wadler_lindig"]
    ),
    "tinker": Trainer(["tinker-cookbook==0.6.1", "tinker==0.38.0", "chz", "distro", "protobuf", "termcolor"]),
    "hosted": Trainer(
        ["predibase==2025.10.3", "charset-normalizer", "dataclasses-json==0.5.7", "decorator", "marshmallow==3.26.1",
         "marshmallow-enum", "requests", "semantic-version", "typing-inspect", "urllib3"]
    ),
}  # fmt: skip


def main(names: list[str]) -> int:
    failed = False
    for name in names or list(TRAINERS):
        said = _prepared(name, TRAINERS[name])
        if said:
            print(f"{name}: skipped: {said}")
            continue
        outcome = _tested(name, TRAINERS[name])
        print(f"{name}: {outcome}")
        failed |= outcome != "passed"
    return int(failed)


def _prepared(name: str, trainer: Trainer) -> str:
    """Install a trainer; return why that is impossible, else an empty text."""
    folder = HOME / name
    wanted = "\n".join(trainer.packages)
    done = folder / ".installed"
    if trainer.packages and (not done.exists() or done.read_text() != wanted):
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
        run = subprocess.run([*command, *trainer.packages], capture_output=True, text=True)
        if run.returncode:
            return (run.stderr.strip().splitlines() or ["pip failed"])[-1]
        shutil.rmtree(folder / "tests", ignore_errors=True)  # a package would win over our folder
        done.write_text(wanted)
    if trainer.repository and not _checkout(name, trainer).is_dir():
        clone = ["git", "clone", "--quiet", "--filter=blob:none", trainer.repository, str(HOME / f"{name}-checkout")]
        run = subprocess.run(clone, capture_output=True, text=True)
        if run.returncode:
            return (run.stderr.strip().splitlines() or ["git clone failed"])[-1]
        subprocess.run(["git", "-C", str(HOME / f"{name}-checkout"), "checkout", "--quiet", trainer.commit], check=True)
    return ""


def _checkout(name: str, trainer: Trainer) -> Path:
    given = os.environ.get("REWARDKIT_CHECKOUTS")
    return Path(given, name) if given and Path(given, name).is_dir() else HOME / f"{name}-checkout"


def _tested(name: str, trainer: Trainer) -> str:
    paths = [str(ROOT), str(HOME / name)]  # some trainers have a folder "tests", too
    if trainer.repository and trainer.source is not None:
        paths.insert(1, str(_checkout(name, trainer) / trainer.source))
    environment = {
        **os.environ,
        "REWARDKIT_TRAINER": name,
        "REWARDKIT_CHECKOUT": str(_checkout(name, trainer)),
        "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]),
        "PYTHONSAFEPATH": "1",
    }
    # The trainers warn of much that is not ours to change.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "filterwarnings=default", "-m", ""]
    run = subprocess.run([*command, f"tests/trainers/test_{name}.py"], cwd=ROOT, env=environment)
    return "passed" if run.returncode == 0 else "failed"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
