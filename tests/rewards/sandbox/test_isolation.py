"""Isolation: it works, and no program runs if it does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rewardkit.errors import RewardFailure, SandboxFailure
from rewardkit.rewards.sandbox import isolation
from rewardkit.rewards.sandbox.isolation import Isolation, bare, check, chosen
from rewardkit.rewards.sandbox.runs import Job, Run, Trial, runs

ROOT = Path(isolation.__file__).parents[3]


def run(program: str, shut_in: Isolation, given: str = "") -> Run:
    return next(runs(Job(program, (Trial(given.encode()),), path=shut_in.packages), shut_in.command))


@pytest.fixture
def nothing_known() -> None:
    isolation._working.cache_clear()


def test_nothing_can_be_reached_from_inside(shut_in: Isolation) -> None:
    check(shut_in)


def test_without_isolation_the_self_test_says_what_is_open() -> None:
    with pytest.raises(SandboxFailure, match=r"it could read files of the host.*see the host's processes"):
        check(bare(()))
    check(bare(()), shut_in=False)


SECRETS = [str(Path(__file__)), str(ROOT / "pyproject.toml"), "/etc/passwd", "/etc/shadow", "/root", "/home", "/proc/1"]


@pytest.mark.parametrize("path", [*SECRETS, "/tmp", "/var", "/sys", "/dev/shm", "/dev/sda", "/dev/kmsg"])
def test_files_of_the_host_are_not_there(path: str, shut_in: Isolation) -> None:
    # The folders on the path to the interpreter exist, with nothing else in them.
    program = (
        "import os\npath = input()\nprint(os.path.isfile(path) or os.path.isdir(path) and sorted(os.listdir(path)))"
    )
    found = run(program, shut_in, path).output.decode().strip()
    assert found in ("False", "[]") or (path in ("/root", "/home") and sys.base_prefix.startswith(path))


def test_nothing_can_be_written(shut_in: Isolation) -> None:
    places = ["/x", "/tmp/x", "/dev/x", "/usr/x", f"{sys.base_prefix}/x", "x"]
    program = f"""
for place in {places!r}:
    try:
        open(place, "w").write("x")
    except OSError as error:
        continue
    print(place)
"""
    assert run(program, shut_in) == Run(b"")


def test_a_program_has_no_privileges(shut_in: Isolation) -> None:
    program = "import os, socket\nprint(os.getuid(), os.getgid(), os.getgroups() in ([], [65534]), sorted(os.environ))"
    said = run(program, shut_in).output.decode()
    assert said.startswith("65534 65534 True")
    assert "HOME" not in said


def test_the_environment_of_the_host_stays_outside(shut_in: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    assert "hunter2" not in run("import os\nprint(os.environ)", shut_in).output.decode()


def test_installed_packages_are_there_where_they_are_asked_for() -> None:
    program = "import numpy\nprint(int(numpy.arange(3).sum()))"
    without, within = (run(program, chosen(packages=packages, unsafe=False)) for packages in (False, True))
    assert "No module named" in without.problem
    assert within == Run(b"3\n")


def test_the_first_that_works_is_taken(nothing_known: None) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("apt-get install bubblewrap")
    assert chosen(packages=False, unsafe=False).name == "bubblewrap"
    assert chosen(packages=False, unsafe=True).name == "bare"


def test_where_none_works_nothing_runs(nothing_known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(RewardFailure, match=r"bwrap is not installed.*needs root.*apt-get install bubblewrap"):
        chosen(packages=False, unsafe=False)
    assert chosen(packages=False, unsafe=True).name == "bare"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions to create new namespace"),
        ("exit 0", "did not start"),
        ("echo ready", "did not run|ended"),
        ("echo nonsense", "did not start"),
        ("kill -9 $$", "did not start"),
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "it could read files of the host"),
    ],
)
def test_a_launcher_that_does_not_isolate_is_not_used(
    script: str, why: str, tmp_path: Path, nothing_known: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "bwrap"
    launcher.write_text(f"#!/bin/sh\n{script}\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxFailure, match=why):
        check(isolation.bubblewrap(()))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(RewardFailure, match=f"bubblewrap: .*({why})"):
        chosen(packages=False, unsafe=False)


OUTSIDE = """
import sys
sys.path.insert(0, sys.argv[1])
from rewardkit.rewards.sandbox.isolation import chosen
from rewardkit.rewards.sandbox.runs import Job, Trial, runs

try:
    isolation = chosen(packages=False, unsafe=False)
except Exception as error:
    print(type(error).__name__)
else:
    print(isolation.name, *runs(Job("print(6 * 7)", (Trial(),)), isolation.command))
"""


@pytest.mark.parametrize(
    ("around", "said"),
    [
        ("setpriv --reuid=65534 --regid=65534 --clear-groups", "bubblewrap Run(output=b'42\\n'"),
        ("bwrap --unshare-all --bind / / --dev /dev --proc /proc", "bubblewrap Run(output=b'42\\n'"),
        ("bwrap --unshare-all --unshare-user --disable-userns --cap-drop ALL --uid 1 --bind / /", "RewardFailure"),
    ],
    ids=["another user", "a sandbox", "a sandbox without namespaces"],
)
def test_inside(around: str, said: str) -> None:
    """Launch as another user, from inside a sandbox, and where no sandbox works."""
    python = "/usr/bin/python3"  # one that every user can read
    if os.geteuid() != 0 or not all(map(shutil.which, ("bwrap", "setpriv", python))):
        pytest.skip("needs root, bubblewrap, setpriv and the system's Python")
    code = "import sys; sys.exit(sys.version_info < (3, 10))"
    if subprocess.run([python, "-c", code], check=False).returncode:
        pytest.skip("the system's Python is too old")
    found = subprocess.run(
        [*around.split(), python, "-c", OUTSIDE, str(ROOT)], capture_output=True, text=True, check=False
    )
    if "Permission denied" in found.stderr or "No module named" in found.stderr:
        pytest.skip("the source is not readable for others")
    assert found.stdout.startswith(said), found.stderr
