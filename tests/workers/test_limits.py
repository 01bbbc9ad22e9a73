"""Limits of memory, tested in separate processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rewardkit.workers.limits import free_bytes, held_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel knows these limits on Linux alone")


def _run(code: str) -> str:
    code = f"from rewardkit.workers.limits import limit_memory, held_bytes\n{code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize("of", ["address space", "data"])
def test_more_than_the_limit_is_a_memory_error_and_less_is_not(of: str) -> None:
    code = f"""
limit_memory(64_000_000, of={of!r})
small = bytearray(16_000_000)
try:
    bytearray(128_000_000)
except MemoryError:
    print("refused")
"""
    assert _run(code) == "refused\n"


def test_a_limit_is_taken_back() -> None:
    assert _run("limit_memory(1_000_000)\nlimit_memory(None)\nprint(len(bytearray(64_000_000)))") == "64000000\n"


def test_held_and_free_memory() -> None:
    assert held_bytes("address space") > held_bytes("data") > 1_000_000
    assert free_bytes() > 0
