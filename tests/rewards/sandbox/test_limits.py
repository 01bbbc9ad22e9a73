"""The kernel filter, run by a small BPF interpreter: which calls it allows."""

from __future__ import annotations

import platform
import struct

import pytest

from rewardkit.rewards.sandbox import limits
from rewardkit.rewards.sandbox.limits import Limits, kernel_filter

ALLOWED, REFUSED, UNKNOWN = 0x7FFF0000, 0x50001, 0x50026
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def decision(code: bytes, number: int, architecture: int, flags: int = 0, second: int = 0) -> int:
    """Return what the kernel does with a call, by the rules of classic BPF."""
    data = struct.pack("=IIQQQ", number, architecture, 0, flags, second)
    steps = [struct.unpack_from("=HBBI", code, place) for place in range(0, len(code), 8)]
    at = loaded = 0
    while True:
        operation, if_true, if_false, value = steps[at]
        at += 1
        if operation == 0x06:
            return int(value)
        if operation == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        else:
            held = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[operation]
            at += if_true if held else if_false


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_decides_call_by_call(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    kernel_filter.cache_clear()
    code = kernel_filter()
    kernel_filter.cache_clear()
    own = ARCHITECTURES[machine]
    refused = {*limits._OTHERS[machine].values(), *limits._EVERYWHERE.values()}
    clone, thread, process = limits._CLONE[machine], 0x3D0F00, 0x11
    for number in range(1_000):
        if number not in (clone, 435):
            assert decision(code, number, own) == (REFUSED if number in refused else ALLOWED), number
        assert decision(code, number, 0x40000003) == REFUSED
        assert decision(code, number | 0x40000000, own) == REFUSED
    assert decision(code, clone, own, thread) == ALLOWED
    assert decision(code, clone, own, process) == REFUSED
    assert decision(code, 435, own) == UNKNOWN
    prlimit, fcntl = limits._PRLIMIT[machine], limits._FCNTL[machine]
    assert decision(code, prlimit, own, 0) == ALLOWED
    assert decision(code, prlimit, own, 1) == REFUSED
    for command in range(2_000):
        assert decision(code, fcntl, own, 1, command) == (REFUSED if command in (8, 10, 15) else ALLOWED), command


def test_another_machine_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    kernel_filter.cache_clear()
    assert kernel_filter() == b""
    kernel_filter.cache_clear()


def test_the_clock_allows_for_a_busy_machine() -> None:
    assert Limits(timeout=2.0).wall == 5.0
