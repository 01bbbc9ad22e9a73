"""No error changes its wording unnoticed: ``python -m tests.wording.snapshot`` takes over what is meant."""

from __future__ import annotations

from tests.wording import snapshot


def test_errors_say_what_the_snapshot_says() -> None:
    expected = snapshot.FILE.read_text(encoding="utf-8")
    assert snapshot.snapshot() == expected, "run python -m tests.wording.snapshot, and read what it changed"


def test_every_room_is_in_it() -> None:
    text = snapshot.FILE.read_text(encoding="utf-8")
    for place in (
        "rewardkit/tree/",
        "rewardkit/rewards/judges/",
        "rewardkit/record/",
        "adapters/rewardkit_adapters/trl/",
    ):
        assert f"\n{place}" in text or text.startswith(place)
