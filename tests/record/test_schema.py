"""Names of parts, and which parts count."""

from __future__ import annotations

from hypothesis import given, strategies as st

from rewardkit.record.schema import Part, widest, within

numbers = st.integers(0, 12)


@st.composite
def parts(draw: st.DrawFn) -> Part:
    first, last = sorted((draw(numbers), draw(numbers)))
    return Part(draw(st.integers(1, 2)), draw(st.integers(0, 1)), first, last)


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_part_is_read_back_from_its_name(attempt: int, rank: int, first: int, more: int) -> None:
    part = Part(attempt, rank, first, first + more)
    assert Part.read(part.name) == part


def test_names_have_the_documented_form() -> None:
    assert Part(1, 0, 12, 12).name == "a001-r000-00000012.parquet"
    assert Part(1, 0, 0, 99).name == "a001-r000-00000000-00000099.parquet"


@given(st.text())
def test_other_file_names_are_not_parts(name: str) -> None:
    part = Part.read(name)
    assert part is None or part.name == name


@given(st.lists(parts()))
def test_the_widest_parts_are_not_covered_by_others(found: list[Part]) -> None:
    expected = {part for part in found if not any(other.covers(part) and other != part for other in found)}
    assert set(widest(found)) == expected
    assert len(widest(found)) == len(expected)


@given(st.lists(parts()), st.lists(st.integers(0, 12)), st.lists(st.integers(0, 12)))
def test_only_parts_within_committed_parts_count(found: list[Part], cuts: list[int], others: list[int]) -> None:
    committed = [*frames(1, cuts), *frames(2, others)]
    inside = [part for part in found if any(frame.covers(part) for frame in committed)]
    assert within(found, committed) == widest(inside)


def frames(attempt: int, cuts: list[int]) -> list[Part]:
    """Return disjoint parts with gaps."""
    edges = sorted(set(cuts))
    return [Part(attempt, 0, first, last - 1) for first, last in zip(edges[::2], edges[1::2], strict=False)]
