"""Limits on a program's resources and system calls: ``Limits(timeout=2.0).wall`` is 5.0.

The filter blocks new processes, signals, sockets, namespaces, shared memory, and access to other processes. A program
that reads, computes, and prints needs none of these. As a result, a program is a single process, the limit on address
space bounds its memory, and nothing remains after it exits. A limit on the number of processes would not work, because
it counts all of the user's processes on the machine. Limits for trusted code are in `rewardkit.workers.limits`.
"""

from __future__ import annotations

import platform
import struct
from dataclasses import dataclass
from functools import cache
from typing import final

MEGABYTE = 1 << 20
OUTPUT_BYTES = 4_000_000
"""The maximum size of a program's output in bytes. The limit is arbitrary: output is kept in memory, and a program may
print forever.
"""

_THREAD = 0x10000  # CLONE_THREAD
_REFUSED, _UNKNOWN = 1, 38  # EPERM; ENOSYS, which makes the C library fall back to the older call

# Constants of Linux: AUDIT_ARCH and the numbers of system calls differ between architectures.
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_FCNTL = {"x86_64": 72, "aarch64": 25}
_SIGNALING = (8, 10, 15)  # F_SETOWN, F_SETSIG and F_SETOWN_EX, which let a pipe send signals to any process
_LISTED = {
    "x86_64": """
        socket 41, fork 57, vfork 58, execve 59, execveat 322, kill 62, tkill 200, tgkill 234, rt_sigqueueinfo 129,
        rt_tgsigqueueinfo 297, setpriority 141, sched_setparam 142, sched_setscheduler 144, sched_setattr 314,
        ioprio_set 251, shmget 29, semget 64, msgget 68, mq_open 240, memfd_create 319, ptrace 101,
        process_vm_readv 310, process_vm_writev 311, unshare 272, setns 308, add_key 248, request_key 249, keyctl 250,
        perf_event_open 298, bpf 321, userfaultfd 323
    """,
    "aarch64": """
        socket 198, execve 221, execveat 281, kill 129, tkill 130, tgkill 131, rt_sigqueueinfo 138,
        rt_tgsigqueueinfo 240, setpriority 140, sched_setparam 118, sched_setscheduler 119, sched_setattr 274,
        ioprio_set 30, shmget 194, semget 190, msgget 186, mq_open 180, memfd_create 279, ptrace 117,
        process_vm_readv 270, process_vm_writev 271, unshare 97, setns 268, add_key 217, request_key 218, keyctl 219,
        perf_event_open 241, bpf 280, userfaultfd 282
    """,
}
_OTHERS = {
    machine: {name: int(number) for name, number in map(str.split, listed.split(","))}
    for machine, listed in _LISTED.items()
}
"""A map from machines to the names and numbers of the other blocked system calls."""

# Newer system calls have the same numbers on all architectures.
_EVERYWHERE = {"pidfd_send_signal": 424, "io_uring_setup": 425, "pidfd_open": 434, "pidfd_getfd": 438}


@final
@dataclass(frozen=True)
class Limits:
    """The limits on one program run.

    Attributes:
        timeout: the maximum processor time in seconds.
        memory: the maximum address space in megabytes.
        patience: the number of timeouts after which the remaining runs are skipped.
    """

    # Arbitrary: right programs for public datasets take a fraction of this, and after two timeouts a third would tell
    # nothing new.
    timeout: float = 2.0
    memory: int = 256
    patience: int = 2

    @property
    def wall(self) -> float:
        """The maximum elapsed seconds. This is more than `timeout` so that a busy machine does not lower a score."""
        return 2 * self.timeout + 1


USUAL = Limits()


@cache
def kernel_filter() -> bytes:
    """Return the seccomp filter (BPF) for this machine; empty if the machine's system call numbers are unknown."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        return b""
    refused = sorted({**_OTHERS[machine], **_EVERYWHERE}.values())
    # BPF codes: BPF_LD|ABS, BPF_JEQ, BPF_JGE, BPF_JSET and BPF_RET; on the next line, SECCOMP_RET_ERRNO and _ALLOW.
    load, equal, above, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    refuse, allow = (give, 0, 0, 0x50000 | _REFUSED), (give, 0, 0, 0x7FFF0000)
    code = [
        (load, 0, 0, 4),  # load the architecture, which determines the call numbers
        (equal, 1, 0, _ARCHITECTURES[machine]),
        refuse,
        (load, 0, 0, 0),  # load the number of the call
        (above, 0, 1, 0x40000000),  # numbers of the x32 ABI
        refuse,
        (equal, 0, 1, _CLONE3),
        (give, 0, 0, 0x50000 | _UNKNOWN),
        (equal, 0, 4, _CLONE[machine]),
        (load, 0, 0, 16),  # load the flags of clone
        (any_bit, 1, 0, _THREAD),
        refuse,
        allow,
        (equal, 0, 4, _PRLIMIT[machine]),
        (load, 0, 0, 16),  # load the process id: another process may be the supervisor
        (equal, 1, 0, 0),
        refuse,
        allow,
        (equal, 0, 3 + len(_SIGNALING), _FCNTL[machine]),
        (load, 0, 0, 24),  # load the command of fcntl
        *((equal, len(_SIGNALING) - index, 0, command) for index, command in enumerate(_SIGNALING)),
        allow,
        refuse,
    ]
    for number in refused:
        code += [(equal, 0, 1, number), refuse]
    return b"".join(struct.pack("=HBBI", *step) for step in [*code, allow])
