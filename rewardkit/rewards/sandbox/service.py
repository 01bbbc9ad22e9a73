"""A sandbox behind HTTP: ``Service("http://localhost:8080/run_code")`` uses the SandboxFusion protocol.

For each request, the service's Python interpreter runs rewardkit's own `supervisor` with a program and its inputs. The
supervisor sets the same limits as in a local sandbox and prints one line of text per trial. A request never contains
expected results, so neither a program nor another user of the service can see them. If the service returns an error,
`SandboxFailure` is raised, and the error does not affect scores.

The protocol: https://github.com/bytedance/SandboxFusion (``sandbox/server/sandbox_api.py``).
"""

from __future__ import annotations

import binascii
import json
import marshal
import os
import threading
import time
import zlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cache
from typing import final

from rewardkit.errors import SandboxFailure, shorten
from rewardkit.rewards.sandbox.limits import Limits
from rewardkit.rewards.sandbox.requests import post
from rewardkit.rewards.sandbox.runs import Job, Run, Trial, reported, source
from rewardkit.rewards.sandbox.supervisor import FRAME, READY

AT_ONCE = 16
"""The maximum number of concurrent requests. The limit is arbitrary: each request needs a thread in this process and a
process in the service."""

OUTPUT_BYTES = 60_000
"""The maximum size of one output in bytes. The service returns about 128 KB per request, and a process that writes more
hangs."""

_ROOM = 120_000
"""The maximum total number of characters in all outputs for one request. It is below the 128 KB that the service
returns."""
# Arbitrary: for the start of Python, the wait in the service's queue, and the programs of one request. They are long,
# so that the service does not end a request that is still useful.
_START_SECONDS = 10.0
_QUEUE_SECONDS = 30.0
_SECONDS_OF_TRIALS = 60.0
TIMED_OUT = ("took more than", "did not end within")
_SECONDS_OF_FAILURE = 5.0
"""The seconds between a failed probe and the next one. The number is arbitrary: the service may still be starting."""


@final
@dataclass(frozen=True)
class Service:
    """A sandbox behind HTTP, identified by its ``/run_code`` URL."""

    url: str

    def runs(self, job: Job) -> Generator[Run, None, None]:
        """Yield the trials' results, without trials that are skipped at the end.

        Raises:
            SandboxFailure: the service does not respond, or violates the protocol.
        """
        _check(self, os.getpid())()
        patience = job.limits.patience
        at_once = max(1, int(_SECONDS_OF_TRIALS / job.limits.wall))
        left = job.trials
        while left:
            part = replace(job, trials=left[:at_once], limits=replace(job.limits, patience=patience))
            results, more = self._ask(part)
            yield from results
            patience -= sum(run.problem.startswith(TIMED_OUT) for run in results)
            if patience <= 0 or (not more and len(results) < len(part.trials)):
                return
            left = left[len(results) :]

    def _ask(self, job: Job) -> tuple[list[Run], bool]:
        """Send one request, and return the results and whether the supervisor would have continued."""
        seconds = len(job.trials) * job.limits.wall + _START_SECONDS
        request = {
            "code": _script(job),
            "language": "python",
            "compile_timeout": _START_SECONDS,
            "run_timeout": seconds,
            "memory_limit_MB": -1,  # the supervisor limits the program
            "stdin": "",
            "files": {},
            "fetch_files": [],
        }
        answer = post(self.url, json.dumps(request).encode(), seconds + _QUEUE_SECONDS)
        try:
            lines = _output(answer).split("\n")
            first, *frames = [zlib.decompress(binascii.a2b_base64(line)) for line in lines[:-1]]
            if first != READY or lines[-1] or not 0 < len(frames) <= len(job.trials):
                raise ValueError("its report is incomplete")
            heads = [FRAME.unpack_from(frame) for frame in frames]
            bodies = [frame[FRAME.size :] for frame in frames]
            if any(head[0] + head[1] != len(body) for head, body in zip(heads, bodies, strict=True)):
                raise ValueError("its report is incomplete")
        except (ValueError, zlib.error, KeyError, TypeError, AttributeError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            raise SandboxFailure(
                f"the response from the sandbox at {self.url} cannot be used: {shorten(reason)}"
            ) from None
        results = [
            reported(body[: head[0]], body[head[0] :], head[2]) for head, body in zip(heads, bodies, strict=True)
        ]
        return results, heads[-1][3]


def _output(answer: bytes) -> str:
    """Return the script's output; raise ValueError if the script did not run to completion."""
    reply = json.loads(answer)
    run = reply["run_result"]
    if reply["status"] == "SandboxError" or run is None:
        raise ValueError(f"the service failed: {shorten(str(reply.get('message') or 'no message'))}")
    if run["status"] != "Finished" or run["return_code"] != 0:
        stderr = str(run.get("stderr") or "").strip().rpartition("\n")[2]
        raise ValueError(
            f"the service's Python exited with {run['status']}, {run['return_code']}: {stderr or 'no message'}"
        )
    output = run["stdout"]
    if not isinstance(output, str):
        raise ValueError("it has no output")
    return output


def _script(job: Job) -> str:
    described = marshal.dumps(job.described(output=OUTPUT_BYTES, room=_ROOM), 4)
    packed = binascii.b2a_base64(zlib.compress(described), newline=False).decode()
    return _SCRIPT.format(supervisor=source("supervisor"), limits=source("limits"), packed=packed)


# The script restarts itself with a fixed hash seed, so that sets print in the same order every time. If the service
# does not store it in a file, it continues without a restart.
_SCRIPT = """
import binascii, io, marshal, os, sys, types, zlib

if os.environ.get("PYTHONHASHSEED") != "0" and "__file__" in globals():
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-B", "-X", "utf8", os.path.abspath(__file__)])

def load(name, source):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)
    return module

supervisor = load("supervisor", {supervisor!r})
steps = load("limits", {limits!r}).kernel_filter()
job = marshal.loads(zlib.decompress(binascii.a2b_base64("{packed}")))
if steps and supervisor.filters(steps):
    job["filter"] = steps
supervisor.serve(io.BytesIO(marshal.dumps(job)))
"""


# --- The first use ----------------------------------------------------------------------------------------


@final
class _Check:
    """A check, made once per process, that a service runs programs correctly."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._works = False
        self._failure = ""
        self._until = 0.0

    def __call__(self) -> None:
        """Run a small program. If it fails, raise `SandboxFailure`, now and in all calls in the next few seconds."""
        with self._lock:
            if self._works:
                return
            if time.monotonic() < self._until:
                raise SandboxFailure(self._failure)
            try:
                results, _ = self._service._ask(Job(_PROBE, (Trial(b"works"),), Limits(timeout=10.0)))
                if results != [Run(b"the sandbox works\n")]:
                    outcome = results[0].problem or results[0].output.decode(errors="replace").strip()
                    raise SandboxFailure(
                        f"the sandbox at {self._service.url} does not run programs correctly: {shorten(outcome)}"
                    )
            except SandboxFailure as failure:
                self._failure, self._until = str(failure), time.monotonic() + _SECONDS_OF_FAILURE
                raise
            self._works = True


@cache
def _check(service: Service, process: int) -> _Check:
    # One per process, because a fork may copy a lock that is held.
    return _Check(service)


_PROBE = """
import resource

limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)]
print("the sandbox", input() if limits == [10, 0] else f"has the limits {limits}")
"""
