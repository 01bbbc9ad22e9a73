"""Programs in the sandbox: what honest programs can do, what others cannot, and that no process is left."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import SandboxFailure
from rewardkit.rewards.sandbox.isolation import Isolation, bare, chosen
from rewardkit.rewards.sandbox.limits import OUTPUT_BYTES, Limits
from rewardkit.rewards.sandbox.runs import Job, Run, Trial, runs

SHORT = Limits(timeout=0.5, memory=128)


def run(program: str, given: str = "", limits: Limits = SHORT, shut_in: Isolation | None = None) -> Run:
    shut_in = shut_in or chosen(packages=False, unsafe=False)
    (found,) = runs(Job(program, (Trial(given.encode()),), limits), shut_in.command)
    return found


HONEST = {
    "print": ("print(input()[::-1])", "cba\n"),
    "no newline at the end": ("import sys\nsys.stdout.write(sys.stdin.read()[::-1])", "\ncba"),
    "bytes": ("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.readline())", "abc\n"),
    "lines": ("import sys\nfor line in sys.stdin:\n    print(line.strip() * 2)", "abcabc\n"),
    "main block": ("def main():\n    print(1)\nif __name__ == '__main__':\n    main()", "1\n"),
    "exit": ("import sys\nprint(1)\nsys.exit()", "1\n"),
    "quit": ("print(1)\nraise SystemExit(0)", "1\n"),
    "hard exit": ("import os, sys\nprint(1)\nsys.stdout.flush()\nos._exit(0)", "1\n"),
    "descriptor 0": ("import os\nprint(os.read(0, os.fstat(0).st_size).decode(), end='')", "abc\n"),
    "open 0": ("print(open(0).read(), end='')", "abc\n"),
    "mapped": ("import mmap\nprint(mmap.mmap(0, 0, prot=mmap.PROT_READ)[:3])", "b'abc'\n"),
    "recursion": (
        "import sys\nsys.setrecursionlimit(10**6)\ndef f(n):\n    return n and 1 + f(n - 1)\nprint(f(20_000))",
        "20000\n",
    ),
    "thread with a deep stack": (
        "import sys, threading\nsys.setrecursionlimit(10**5)\nthreading.stack_size(2**26)\n"
        "def f(n):\n    return n and 1 + f(n - 1)\nthreading.Thread(target=lambda: print(f(9_000))).start()",
        "9000\n",
    ),
    "pool of threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n    print(*pool.map(abs, [-1, 2]))",
        "1 2\n",
    ),
    "asyncio": ("import asyncio\nasync def main():\n    print(1)\nasyncio.run(main())", "1\n"),
    "libraries": (
        "import re, collections, itertools, math, heapq, bisect, functools, string, random, decimal, fractions, json\n"
        "import typing, dataclasses, statistics, operator, datetime, copy, array, struct, enum, queue, time\nprint(1)",
        "1\n",
    ),
    "dataclass": (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
        "print(A(1))",
        "A(x=1)\n",
    ),
    "generator": ("print(sum(x for x in range(5)))", "10\n"),
    "pickle": ("import pickle\nclass A:\n    pass\nprint(type(pickle.loads(pickle.dumps(A()))).__name__)", "A\n"),
    "at the end": ("import atexit\natexit.register(print, 'bye')\nprint('hi')", "hi\nbye\n"),
    "other letters": ("print('é２\\U0001f600')", "é２\U0001f600\n"),
    "windows lines": ("a = 1\r\nprint(a)\r\n", "1\n"),
    "memory within limits": ("print(len(bytearray(50_000_000)))", "50000000\n"),
    "errors to stderr": ("import sys\nprint('x' * 10**5, file=sys.stderr)\nprint(1)", "1\n"),
    "much output": ("print('x' * 3_000_000)", "x" * 3_000_000 + "\n"),
    "sets in one order": ("print({'a', 'b', 'c', 'd'} and 1)", "1\n"),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_run(name: str, shut_in: Isolation) -> None:
    program, output = HONEST[name]
    found = run(program, "abc\n", Limits(memory=256), shut_in)
    assert (found.problem, found.output.decode()) == ("", output)


WRONG = {
    "x =": "SyntaxError: invalid syntax (line 1)",
    "\n1 / 0": "ZeroDivisionError: division by zero (line 2)",
    "print(hello)": "NameError: name 'hello' is not defined (line 1)",
    "input()": "EOFError: EOF when reading a line (line 1)",
    "import sys\nsys.exit(3)": "ended by SystemExit: 3",
    "import os\nos._exit(3)": "ended with exit code 3",
    "import sys\nsys.exit('no')": "ended by SystemExit: no",
    "while True: pass": "took more than 0.5 s",
    "import time\ntime.sleep(60)": "did not end within 2 s",
    "import threading\nthreading.Event().wait()": "did not end within 2 s",
    "import threading\nthreading.Thread(target=threading.Event().wait).start()": "did not end within 2 s",
    "import atexit, time\natexit.register(time.sleep, 60)": "did not end within 2 s",
    "import os, time\nos.close(1)\ntime.sleep(60)": "did not end within 2 s",
    "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): 0\nwhile True: pass": "took more than 0.5 s",
    "x = [0] * 10**9": "MemoryError (line 1)",
    "x = []\nwhile True: x.append(bytearray(10**6))": "MemoryError (line 2)",
    "x = b'x' * 10**9": "MemoryError (line 1)",
    "while True: print('x' * 1000)": f"wrote more than {OUTPUT_BYTES:,} bytes",
    "import ctypes\nctypes.string_at(0)": "was killed by signal 11",
    "import os\nos.abort()": "was killed by signal",
    "def f(): return f()\nf()": "RecursionError: maximum recursion depth exceeded",
    "x = 1\x00": "source code string cannot contain null bytes",
    "raise Exception('\x1b]52;c;x\x07\u202e')": r"Exception: \x1b]52;c;x\x07\u202e (line 1)",
    "raise Exception('x' * 10**6)": "Exception: xxx",
    "class E(Exception):\n    def __str__(self): raise SystemExit(0)\nraise E": "E (line 3)",
    "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E": "took more than 0.5 s",
    "raise KeyboardInterrupt": "KeyboardInterrupt (line 1)",
    "print('\\ud800')": "UnicodeEncodeError",
    "import sys\nsys.stdout = None\nprint(1)\n1 / 0": "ZeroDivisionError",
    "import builtins, os\nbuiltins.open('/tmp/x', 'w')": "Error: [Errno",
    "(" * 10_000: "too many nested parentheses",
    "x = " + "-" * 100_000 + "1": "",  # however the compiler treats it
    "x = " + "1 + " * 100_000 + "1": "",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", WRONG, ids=lambda program: program[:40])
def test_problems_are_reported(program: str) -> None:
    found = run(program)
    assert WRONG[program] in found.problem
    assert found.problem.isprintable()
    assert len(found.problem) < 1_000
    assert not found.finished or not WRONG[program] or "did not end" in found.problem


FORBIDDEN = {
    "fork": "os.fork()",
    "forkpty": "os.forkpty()",
    "spawn": "os.posix_spawn('/bin/sh', ['sh'], {})",
    "exec": "os.execv('/bin/sh', ['sh'])",
    "system": "assert os.system('true') == 0",
    "subprocess": "__import__('subprocess').run(['true'])",
    "multiprocessing": "__import__('multiprocessing').Process(target=print).start()",
    "kill all": "os.kill(-1, 9)",
    "kill the parent": "os.kill(os.getppid(), 9)",
    "kill the group": "os.killpg(0, 9)",
    "network": "__import__('socket').create_connection(('1.1.1.1', 53), 1)",
    "unix socket": "__import__('socket').socket(__import__('socket').AF_UNIX)",
    "name server": "__import__('socket').getaddrinfo('example.com', 80)",
    "memory file": "os.memfd_create('x')",
    "user namespace": "assert libc.unshare(0x10000000) == 0",
    "trace the parent": "assert libc.ptrace(16, os.getppid(), 0, 0) == 0",
    "read the parent": "assert libc.process_vm_readv(os.getppid(), None, 0, None, 0, 0) == 0",
    "shared memory": "assert libc.shmget(0, 4096, 0o1600) >= 0",
    "raw clone": "assert libc.syscall(56, 17, 0, 0, 0, 0) >= 0",
    "raw clone3": "assert libc.syscall(435, 0, 0) >= 0 or ctypes.get_errno() != 38",
    "calls of x32": "assert libc.syscall(0x40000000 | 57) >= 0",
    "mount": "assert libc.mount(b'x', b'/usr', b'tmpfs', 0, None) == 0",
    "root": "os.setuid(0)",
    "chroot": "os.chroot('/usr')",
    "more memory": "resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))",
    "more time": "resource.setrlimit(resource.RLIMIT_CPU, (60, 60))",
    "priority": "os.nice(-5)",
    "limits of the parent": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))",
    "priority of the parent": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "signals by a pipe": "__import__('fcntl').fcntl(os.pipe()[0], 8, os.getppid())",
    "parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "own memory": "open('/proc/self/mem', 'rb')",
    "symlink": "os.symlink('/etc', '/tmp/x')",
    "write": "open('/tmp/x', 'w')",
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_a_program_may_not_ask_of_the_kernel(name: str, shut_in: Isolation) -> None:
    imports = "import os, ctypes, resource\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    found = run(f"{imports}{FORBIDDEN[name]}\nprint('done')", shut_in=shut_in)
    assert found.output == b""
    assert found.problem


def test_without_isolation_the_filter_still_refuses_calls() -> None:
    for name in ("fork", "exec", "kill all", "network", "memory file", "limits of the parent", "signals by a pipe"):
        found = run(f"import os, resource\n{FORBIDDEN[name]}\nprint('done')", shut_in=bare(()))
        assert found.output == b"", name


@pytest.mark.slow
def test_threads_are_bounded_by_memory() -> None:
    bomb = "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()"
    assert run(bomb).problem


def test_every_trial_starts_afresh() -> None:
    program = "import builtins\nprint(getattr(builtins, 'seen', 0))\nbuiltins.seen = 1\nprint(input())"
    job = Job(program, tuple(Trial(b"%d" % number) for number in range(5)))
    found = [run.output for run in runs(job, chosen(packages=False, unsafe=False).command)]
    assert found == [b"0\n%d\n" % number for number in range(5)]


def test_what_does_not_compile_is_tried_once() -> None:
    job = Job("x =", (Trial(),) * 5)
    assert len(list(runs(job, chosen(packages=False, unsafe=False).command))) == 1


@pytest.mark.slow
def test_patience_ends() -> None:
    job = Job(
        "if input() == 'slow':\n    while True: pass",
        tuple(map(Trial, [b"slow", b"fast", b"slow", b"fast", b"fast"])),
        SHORT,
    )
    found = list(runs(job, chosen(packages=False, unsafe=False).command))
    assert [bool(run.problem) for run in found] == [True, False, True]


def test_no_trials_need_no_sandbox() -> None:
    assert list(runs(Job("x", ()), ["/nowhere"])) == []


def test_a_big_input_is_read() -> None:
    assert run("import sys\nprint(len(sys.stdin.read()))", "x" * 10_000_000).output == b"10000000\n"


@pytest.mark.parametrize("command", [["/nowhere"], ["false"], ["true"], ["sh", "-c", "kill -9 $$"], ["echo", "ready"]])
def test_a_failed_launch_is_not_a_run(command: list[str]) -> None:
    with pytest.raises(SandboxFailure):
        list(runs(Job("print(1)", (Trial(),)), command))


def children() -> set[int]:
    listed = Path("/proc/self/task").glob("*/children")
    return {int(number) for one in listed for number in one.read_text().split()}


def test_a_sandbox_ended_from_outside_is_not_a_run(shut_in: Isolation) -> None:
    before = children()
    results = runs(Job("import time\ntime.sleep(1)", (Trial(),)), shut_in.command)
    found: list[object] = []

    def collect() -> None:
        try:
            found.extend(results)
        except SandboxFailure as error:
            found.append(error)

    thread = threading.Thread(target=collect)
    thread.start()
    time.sleep(0.4)
    for child in children() - before:
        os.killpg(child, signal.SIGKILL)
    thread.join()
    assert [type(one) for one in found] == [SandboxFailure]


@pytest.mark.slow
def test_no_process_is_left(shut_in: Isolation) -> None:
    descriptors, threads = sorted(os.listdir("/proc/self/fd")), threading.active_count()
    others = children()  # such as the workers of rewards that were tested before
    for program in ("print(1)", "x =", "while True: pass", "while True: print('x' * 10**5)"):
        run(program, shut_in=shut_in)
    with closing(runs(Job("print(1)", (Trial(),) * 3), shut_in.command)) as unfinished:
        next(unfinished)
    with pytest.raises(SandboxFailure):
        run("print(1)", shut_in=Isolation("broken", ("false",)))
    assert sorted(os.listdir("/proc/self/fd")) == descriptors
    assert threading.active_count() == threads
    assert children() <= others


def _in_a_child(queue: multiprocessing.SimpleQueue[bytes]) -> None:
    queue.put(run("print(6 * 7)").output)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_daemonic_children_can_launch(method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    process = context.Process(target=_in_a_child, args=(queue,), daemon=True)
    process.start()
    assert queue.get() == b"42\n"
    process.join()


def test_threads_can_launch_at_the_same_time() -> None:
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(run("print(6 * 7)", limits=Limits()).output)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"42\n"] * 8
