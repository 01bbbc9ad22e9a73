"""The self-test of an isolation: a program that tries to escape, and the targets it tries to reach.

In a safe sandbox ``PROBE`` prints "tried everything"; otherwise it adds what it could do.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

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
    """Yield a file, a listening port and a process of the host, as the probe's input."""
    with ExitStack() as opened:
        name, port = __file__, 1
        with suppress(OSError):  # a full disk or a missing network is not a fault of the sandbox
            name = opened.enter_context(tempfile.NamedTemporaryFile()).name
            port = opened.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        yield f"{name}\n{port}\n{os.getpid()}\n"
