"""The choice of a sandbox: ``chosen(packages=False, unsafe=False)`` is the first isolation that passes the self-test.

Inside a sandbox, a program sees a read-only file system with the interpreter and the system's libraries. It has no
network access, no other processes, no environment variables, and no privileges. The self-test checks this once per
process.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import final

from rewardkit.errors import RewardFailure, SandboxFailure
from rewardkit.rewards.sandbox.interpreter import site_packages, visible
from rewardkit.rewards.sandbox.limits import Limits
from rewardkit.rewards.sandbox.runs import Job, Trial, runs

# Self-test of an isolation: a program that tries to escape, and the targets that it tries to reach.


PROBE = """
import os, socket, sys

path, port, parent = input(), int(input()), int(input())
done = []

def attempt(what, function, *arguments):
    try:
        function(*arguments)
    except (OSError, MemoryError):
        return
    done.append(what)

def write(path):
    open(path, "x").close()  # without a sandbox, a file or link of this name must keep what it has
    os.remove(path)

attempt("read files of the host", os.stat, path)
attempt("see the host's processes", os.stat, f"/proc/{parent}")
attempt("write files", write, f"/tmp/rewardkit-{parent}")
attempt("write files", write, f"/rewardkit-{parent}")
attempt("start processes", os.fork)
attempt("use the network", socket.create_connection, ("127.0.0.1", port), 1.0)
attempt("take more memory than it may", bytearray, 400_000_000)
if os.getppid() != 1:
    done.append("be one of the host's processes")
if os.getuid() == 0:
    done.append("be root")
if set(os.environ) - {"PYTHONHASHSEED", "OMP_NUM_THREADS", "LC_CTYPE", "PWD"}:
    done.append("read the environment")
print("tried everything" + (": it could " + ", ".join(dict.fromkeys(done)) if done else ""))
"""


@contextmanager
def traps() -> Iterator[str]:
    """Yield the probe's input: a file, a listening port, and a process on the host, which the probe tries to reach."""
    with ExitStack() as opened:
        name, port = __file__, 1
        with suppress(OSError):  # a full disk or a missing network is not the sandbox's fault
            name = opened.enter_context(tempfile.NamedTemporaryFile()).name
            port = opened.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        yield f"{name}\n{port}\n{os.getpid()}\n"


# The user "nobody" on nearly all systems.
_NOBODY = 65534
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")

_ADVICE = (
    "Install bubblewrap (apt-get install bubblewrap) and allow user namespaces; in a container they need "
    "--security-opt seccomp=unconfined or --privileged."
)
_ELSEWHERE = "Or run programs in a SandboxFusion service: pass its address, as in sandbox='http://localhost:8080'."
_UNSAFE = (
    "unsafe=True runs programs with only limits on time and memory: use it only for programs that you would run "
    "yourself."
)


@final
@dataclass(frozen=True)
class Isolation:
    """A sandbox: a command that isolates the command after it, and the package directories that are visible inside."""

    name: str
    command: tuple[str, ...]
    packages: tuple[str, ...] = ()


def chosen(*, packages: bool, unsafe: bool) -> Isolation:
    """Return the first isolation that works on this machine or, if `unsafe`, one that only sets limits.

    Raises:
        RewardFailure: no isolation works. The message contains the reason and the fix.
    """
    return _working(os.getpid(), packages, unsafe)


@cache
def _working(process: int, packages: bool, unsafe: bool) -> Isolation:
    if sys.platform != "linux":
        raise RewardFailure(f"programs can run only on Linux. {_ELSEWHERE}")
    reasons = []
    for make in [bare] if unsafe else [bubblewrap, namespaces]:
        try:
            isolation = make(site_packages() if packages else ())
            check(isolation, shut_in=not unsafe)
        except SandboxFailure as error:
            reasons.append(f"{make.__name__}: {error}")
        else:
            return isolation
    advice = "" if unsafe else f"{_ADVICE} {_ELSEWHERE} {_UNSAFE}"
    raise RewardFailure(f"no sandbox works on this machine: {'; '.join(reasons)}. {advice}".strip())


def check(isolation: Isolation, *, shut_in: bool = True) -> None:
    """Run a program that tries to escape from `isolation`.

    Raises:
        SandboxFailure: the program does not run or, if `shut_in`, one of its attempts succeeds.
    """
    with traps() as trap_text:
        # Arbitrary: the probe takes a fraction of a second, but the machine may be busy.
        job = Job(PROBE, (Trial(trap_text.encode()),), Limits(timeout=10.0), isolation.packages)
        with closing(runs(job, isolation.command)) as results:
            run = next(results)
    output = run.output.decode(errors="replace").strip()
    if run.problem or not output.startswith("tried everything"):
        raise SandboxFailure(f"a test program did not run: {run.problem or output or 'it wrote nothing'}")
    if shut_in and output != "tried everything":
        raise SandboxFailure(output.removeprefix("tried everything: "))


# --- Isolations ----------------------------------------------------------------------------------------


def bubblewrap(packages: tuple[str, ...]) -> Isolation:
    """Return an isolation with bubblewrap, which needs user namespaces or root privileges."""
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxFailure("bwrap is not installed")
    command = [program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--as-pid-1"]
    command += ["--uid", str(_NOBODY), "--gid", str(_NOBODY), "--hostname", "sandbox", "--chdir", "/"]
    for path in visible(packages):
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        else:
            command += ["--ro-bind", path, path]
    for device in _DEVICES:
        command += ["--dev-bind", device, device]
    return Isolation("bubblewrap", (*command, "--remount-ro", "/", "--"), packages)


def namespaces(packages: tuple[str, ...]) -> Isolation:
    """Return an isolation with unshare and setpriv, which every Linux system has but which need root privileges."""
    tools = ("unshare", "setpriv", "mount", "chroot", "sh")
    missing = [tool for tool in tools if shutil.which(tool, path=_TOOLS) is None]
    if missing:
        raise SandboxFailure(f"not installed: {', '.join(missing)}")
    if os.geteuid() != 0:
        raise SandboxFailure("needs root")
    unshare = ["unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child=KILL"]
    command = ["/usr/bin/env", f"PATH={_TOOLS}", *unshare, "sh", "-c", _ROOM, "sh", *visible(packages), *_DEVICES, "--"]
    return Isolation("namespaces", tuple(command), packages)


def bare(packages: tuple[str, ...]) -> Isolation:
    """Return an empty isolation, in which programs only have limits."""
    return Isolation("bare", (), packages)


_TOOLS = "/usr/sbin:/usr/bin:/sbin:/bin"

# Create a new root directory with read-only bind mounts. The script's arguments are the paths, "--", and the command.
_ROOM = f"""
set -e
cd /
mount -t tmpfs -o size=1m,mode=755 sandbox /mnt
while [ "$1" != -- ]; do
    if [ -L "$1" ]; then
        ln -s "$(readlink "$1")" "/mnt$1"
    elif [ -d "$1" ]; then
        mkdir -p "/mnt$1"; mount --bind "$1" "/mnt$1"; mount -o remount,bind,ro,nosuid "/mnt$1"
    else
        mkdir -p "/mnt$(dirname "$1")"; : > "/mnt$1"; mount --bind "$1" "/mnt$1"
    fi
    shift
done
shift
mount -o remount,ro /mnt
exec chroot /mnt setpriv --reuid {_NOBODY} --regid {_NOBODY} --clear-groups --bounding-set=-all --inh-caps=-all \\
    --no-new-privs --pdeathsig KILL \\
    env -i PYTHONHASHSEED=0 "$@"
"""
