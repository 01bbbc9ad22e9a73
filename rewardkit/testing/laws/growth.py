"""Laws of growth: time and memory must be proportional to the length of the completion.

Seconds mean little on a shared machine, so these laws measure how the time grows as a text gets longer. A law is broken
only if a long completion would also take long. A lazy pattern such as ``<answer>(.*?)</answer>`` is quadratic, too, but
takes 1.5 s for 50,000 characters of ``<answer>``: that is not reported.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator

from rewardkit.testing.anatomy import Anatomy
from rewardkit.testing.findings import Finding
from rewardkit.testing.laws.base import Skip, Unfinished, finding, law
from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import anatomies
from rewardkit.testing.trials import Trial
from rewardkit.testing.wild_texts import TEXTS

LONGEST = 50_000
"""Characters of a long completion, about 12,000 tokens."""
SECONDS = 10.0
MEGABYTES = 256
_GLANCE = (24, 64, 1_000, 16_000)
"""Sizes tried first: a family of texts that takes no time at these sizes is skipped."""
_SIZES = (16, 20, 24, 28, 64, 250, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
_SUSPECT = 0.005
_MEASURABLE = 0.02
_STEEP = 2.7
"""Allowed factor in time for twice the length: linear growth gives 2, quadratic growth 4."""
_PIECES = (" ", "a", "\n", "1", "(", "[", "{", '"', "<", "a ", "x\n", "\\")

_COUNTED = ("a{0} ", "a{0}\n", "Word a{0}. ", "{0}, ", "a{0}: {0}\n")

Grown = Callable[[int], str]


def _families(subject: Subject) -> Iterator[tuple[str, Grown]]:
    """Yield texts that grow: a repeated piece, alone and in place of the answer, with a mismatch at the end."""
    pieces = [*_PIECES, *(f"<{tag}>" for tag in subject.mined.tags), *(f"</{tag}>" for tag in subject.mined.tags)]
    pieces += [f"<{tag}>a</{tag}>" for tag in subject.mined.tags]
    pieces += [text for text in subject.mined.texts if 1 < len(text) <= 30][:12]
    frames: list[tuple[str, Callable[[str], str]]] = [
        ("", lambda body: body),
        (" before a mark", lambda body: body + "!\n?"),
    ]
    for number in range(min(1, len(subject.examples))):
        for anatomy in anatomies(subject, number)[:1]:
            frames.append((" in the place of the answer", anatomy.with_region))
            frames.append((" in an open answer", _opened(anatomy)))
            if anatomy.text:
                yield "the last letter * n after a right completion", _pumped(anatomy.text, anatomy.text[-1])
                yield "a right completion * n", _pumped("", anatomy.text)
            if anatomy.marked and anatomy.region.end > anatomy.region.start:
                answer = anatomy.region.of(anatomy.text)
                yield "the last letter of the answer * n", _pumped(answer, answer[-1], anatomy.with_region)
    opened = subject.mined.tags[:3]
    frames += [(f" after <{tag}>", _behind(f"<{tag}>")) for tag in opened]
    for counted in _COUNTED:
        yield f"{counted!r} counted up", _counted(counted)
    for piece in dict.fromkeys(pieces):
        for name, frame in frames:
            yield f"{piece!r} * n{name}", _grown(piece, frame)


def _counted(piece: str) -> Grown:
    return lambda size: "".join(piece.format(number) for number in range(max(1, size // (len(piece) + 2))))


def _grown(piece: str, frame: Callable[[str], str]) -> Grown:
    return lambda size: frame(piece * max(1, size // len(piece)))


def _pumped(text: str, piece: str, frame: Callable[[str], str] = str) -> Grown:
    return lambda size: frame(f"{text}{piece * max(1, size // len(piece))}!")


def _opened(anatomy: Anatomy) -> Callable[[str], str]:
    return lambda body: anatomy.text[: anatomy.region.start] + body


def _behind(opening: str) -> Callable[[str], str]:
    return lambda body: opening + body + "!"


@law
def time_linear(subject: Subject) -> Iterator[Finding]:
    """A policy finds the completion that takes minutes to score, and every process of the run waits for it."""
    if subject.cost > 0.05:
        raise Skip(f"one completion takes {subject.cost:.2g} s at any length")
    stop = time.monotonic() + subject.left * 0.4
    families = list(_families(subject))
    for tried, (name, grown) in enumerate(families):
        if time.monotonic() > stop:
            raise Unfinished(_incomplete(tried, len(families)))
        if not any(_seconds(subject, grown(size)) > _SUSPECT for size in _GLANCE):
            continue
        times: list[tuple[int, float]] = []
        for size in _SIZES:
            times.append((size, _seconds(subject, grown(size))))
            if times[-1][1] > 0.4 or _explodes(times):
                break
        why = _too_steep(times)
        if why and _too_steep(
            [(size, min(_seconds(subject, grown(size)) for _ in range(3))) for size, _ in times[-3:]]
        ):
            shown = Trial(subject.formed(grown(min(64, times[-1][0]))), 0)
            yield finding("time_linear", subject, shown, None, f"for {name}, the time {why}")
            return


def _seconds(subject: Subject, text: str) -> float:
    """Measure the CPU time of this process, which other processes do not affect."""
    trial = Trial(subject.formed(text), 0)
    started = time.process_time()
    subject.see([trial], fresh=True)
    return time.process_time() - started


def _explodes(times: list[tuple[int, float]]) -> bool:
    return len(times) > 1 and times[-1][1] > 0.05 and times[-1][1] > 8 * times[-2][1]


def _too_steep(times: list[tuple[int, float]]) -> str:
    """Describe the growth if it is too steep; otherwise return an empty string."""
    (size, last), (before, earlier) = times[-1], times[-2]
    if last < _MEASURABLE:
        return ""
    growth = last / max(earlier, 1e-6)
    doubled = growth ** (0.6931 / _log(size / before))
    if doubled < _STEEP:
        return ""
    exponent = _log(doubled) / 0.6931
    projected = last * (LONGEST / size) ** min(exponent, 12.0)
    if projected < SECONDS:
        return ""
    longest = f"more than {SECONDS * 1000:.0f} s" if projected > SECONDS * 1000 else f"{projected:.0f} s"
    return (
        f"grows like n^{exponent:.1f} (n={before}: {earlier:.3g} s, n={size}: {last:.3g} s); "
        f"{LONGEST:,} characters would take {longest}"
    )


def _incomplete(tried: int, count: int) -> str:
    return f"only {tried} of {count} kinds of long completions were tried: raise budget="


def _log(value: float) -> float:
    from math import log

    return log(value)


@law
def memory_bounded(subject: Subject) -> Iterator[Finding]:
    """A completion that makes the reward allocate gigabytes kills the run and everything else on the machine."""
    if subject.cost > 0.05:
        raise Skip(f"one completion takes {subject.cost:.2g} s at any length")
    stop = time.monotonic() + subject.left * 0.15
    explosive = [TEXTS[name] for name in ("a huge range", "a huge repetition", "a factorial", "a huge exponent")]
    framed = [frame.with_region(text) for frame in anatomies(subject, 0)[:1] for text in explosive]
    for text in (*explosive, *framed):
        peak = _peak(subject, text)
        if peak > MEGABYTES * 1e6 / 8:
            why = f"a completion of {len(text)} characters takes {peak / 1e6:,.0f} MB"
            yield finding("memory_bounded", subject, Trial(subject.formed(text)), None, why)
            return
    families = list(_families(subject))[:40]
    for tried, (name, grown) in enumerate(families):
        if time.monotonic() > stop:
            raise Unfinished(_incomplete(tried, len(families)))
        peaks = [_peak(subject, grown(size)) for size in (2_000, 8_000)]
        if peaks[1] < 4e6 or peaks[1] < 8 * peaks[0]:
            continue
        projected = peaks[1] * (LONGEST / 8_000) ** 2 / 1e6
        if projected > MEGABYTES:
            why = (
                f"for {name}, 2,000 characters take {peaks[0] / 1e6:.1f} MB and 8,000 take {peaks[1] / 1e6:.1f} MB: "
                f"{LONGEST:,} would take {projected:,.0f} MB"
            )
            yield finding("memory_bounded", subject, Trial(subject.formed(grown(64)), 0), None, why)
            return


def _peak(subject: Subject, text: str) -> int:
    trial = Trial(subject.formed(text), 0)
    tracemalloc.start()
    try:
        subject.see([trial], fresh=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


ALL = (time_linear, memory_bounded)
