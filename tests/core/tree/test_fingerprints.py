"""Fingerprints tell rewards apart that score differently."""

from __future__ import annotations

import rewardkit as rk
from rewardkit.core.tree.fingerprints import fingerprint


class Cut:
    """Two of these cut differently."""

    def __init__(self, length: int) -> None:
        self.length = length

    def cut(self, text: str) -> str:
        return text[: self.length]

    def __call__(self, text: str) -> str:
        return text[: self.length]

    def __repr__(self) -> str:
        return "Cut"


first, second = lambda text: text[:1], lambda text: text[:2]


def prints(*extractors: object) -> set[str]:
    return {rk.exact("a", extract=extract).fingerprint for extract in extractors}


def test_what_differs_in_state_differs_in_its_fingerprint() -> None:
    assert len(prints(Cut(1).cut, Cut(2).cut, Cut(1), Cut(2), first, second)) == 6


def test_what_is_the_same_has_the_same() -> None:
    assert prints(Cut(1).cut) == prints(Cut(1).cut)
    assert prints(Cut(1)) == prints(Cut(1))
    assert fingerprint(first) == fingerprint(first)
    assert "0x" not in repr(prints(Cut(1)))
