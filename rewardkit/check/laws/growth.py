"""Laws of growth: time and memory must be proportional to the length of the completion.

Seconds mean little on a shared machine, so these laws measure how the time grows as a text gets longer. A law is broken
only if a long completion would also take long. A lazy pattern such as ``<answer>(.*?)</answer>`` takes quadratic time,
but only 1.5 s for 50,000 characters of ``<answer>``, so it is not reported. Tokens limit the length of a completion,
and many tokenizers make each digit a token. If only more digits than that take long, this is a lead.
"""

from __future__ import annotations

import re
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log

from rewardkit.check.completion.parsed_completion import ParsedCompletion
from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import Skip, Unfinished, finding, law
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import anatomies
from rewardkit.check.reward_under_test.trials import Trial, text_of, with_text
from rewardkit.check.variants.wild_texts import TEXTS
from rewardkit.check.variants.written_completions import written_completions
from rewardkit.errors import shorten

_STRONG = (" ", "a", "1", "\n", "a ")
"""Pieces whose repetition reveals most slow patterns: words, and matches of ``\\s``, ``\\w``, ``\\d``, and ``.``."""
_PIECES = (" ", "a", "\n", "1", "(", "[", "{", '"', "<", "a ", "x\n", "\\")
"""More pieces, with which parsers nest, quote, or escape text."""
_LONGEST_TEXT = 5_000
"""The number of characters of a correct completion in which tags are searched. Arbitrary: later tags are the same."""
_COUNTED = ("a{0} ", "a{0}\n", "Word a{0}. ", "{0}, ", "a{0}: {0}\n")


@dataclass(frozen=True)
class Growing:
    """A family of growing texts: a piece repeated between two texts, or a piece that contains a rising number."""

    piece: str
    before: str = ""
    after: str = ""
    counts: bool = False

    def sizes(self, copies: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """Return sizes to try. A long piece is repeated `copies` times first, so that an explosion is seen in time."""
        size = len(self.piece)
        short = [size * count for count in copies] if size > 4 and not self.counts else []
        return [*short, *(larger for larger in sizes if larger > max(short, default=0))]

    def __call__(self, size: int) -> str:
        """Return the text of about `size` characters."""
        if self.counts:
            return "".join(self.piece.format(number) for number in range(max(1, size // (len(self.piece) + 2))))
        return self.before + self.piece * max(1, size // len(self.piece)) + self.after


def families_of(subject: RewardUnderTest) -> Iterator[tuple[str, Growing]]:
    """Yield each family of growing texts once, with its name. Those that reveal the most slow patterns come first."""
    names: set[str] = set()
    for name, family in (*_strong(subject), *_growing_texts(subject)):
        if name not in names:
            names.add(name)
            yield name, family


def _strong(subject: RewardUnderTest) -> Iterator[tuple[str, Growing]]:
    """Yield the families that reveal most slow patterns."""
    for piece in _STRONG:
        yield f"{piece!r} * n between letters", Growing(piece, "a", "b")
        yield f"{piece!r} * n", Growing(piece)
    # Arbitrary limit: each tag adds families to measure.
    for tag in subject.mined.tags[:2]:
        for piece in ("a", " "):
            yield f"{piece!r} * n after <{tag}>", Growing(piece, f"<{tag}>", "!")
    for anatomy in _correct(subject):
        text = anatomy.text
        if text:
            yield "a correct completion * n", Growing(text, "", "!")
        # Repeat a single space between words: patterns with several "\s*" in a row take long there.
        space = re.search(r"(?<=\S)[ \n](?=\S)", text)
        if space is not None:
            inside = Growing(space.group(), text[: space.start()], text[space.end() :])
            yield "a space * n inside a correct completion", inside
        if anatomy.marked:
            # A policy in a loop, cut off by the token limit: nested repetition takes exponential time there.
            if answer := anatomy.region.of(text):
                yield "the answer * n, never closed", Growing(answer, text[: anatomy.region.start])
            for piece in _STRONG:
                yield f"{piece!r} * n instead of the answer", Growing(piece, *_split_at_answer(anatomy))
        yield from _cut_off(text)


def _correct(subject: RewardUnderTest) -> list[ParsedCompletion]:
    """Return the first correct completion, or one that the check has written, or none."""
    return anatomies(subject, 0)[:1] or [ParsedCompletion(text) for text in written_completions(subject)[:1]]


# Arbitrary limits: each block and each cut adds families to measure.
_MOST_BLOCKS = 6
_MOST_CUTS = 6
_TAG = re.compile(r"</?([A-Za-z_][\w-]{0,40})>")


def _cut_off(text: str) -> Iterator[tuple[str, Growing]]:
    """Yield families of completions that a policy in a loop writes until the token limit cuts them off.

    Nested repetition takes exponential time there: blocks or lines are repeated without an end, some without their
    closing tags, and one character is repeated behind each tag.
    """
    blocks: dict[str, tuple[int, int]] = {}
    for opening in _TAG.finditer(text[:_LONGEST_TEXT]):
        closing = text.find(f"</{opening[1]}>", opening.end())
        if not opening[0].startswith("</") and closing > 0:
            blocks.setdefault(opening[1], (opening.start(), closing + len(opening[1]) + 3))
    for name, (start, end) in list(blocks.items())[:_MOST_BLOCKS]:
        before, block, after = text[:start], text[start:end], text[end:]
        yield f"<{name}> * n, never closed", Growing(block, before)
        # A rest that does not fit, as after a typing error.
        yield f"<{name}> * n, with another end", Growing(block, before, f"{after[:-1]}!")
        for tag in dict.fromkeys(mark[0] for mark in _TAG.finditer(block) if mark[0].startswith("</")):
            yield f"<{name}> without {tag} * n", Growing(block.replace(tag, ""), before)
    lines = [line for line in text[:_LONGEST_TEXT].split("\n")[:-1] if line.strip() and not _TAG.search(line)]
    for line in list(dict.fromkeys(lines))[:2]:
        yield f"the line {shorten(line, 30)} * n, never ended", Growing(f"{line}\n", text[: text.find(line)])
    cuts = {text[: mark.end()]: mark[0] for mark in _TAG.finditer(text[:_LONGEST_TEXT])}
    for before, tag in list(cuts.items())[:_MOST_CUTS]:
        for piece in (" ", "\n", "(", "1"):
            yield f"{piece!r} * n, cut off after {tag}", Growing(piece, before)


def _growing_texts(subject: RewardUnderTest) -> Iterator[tuple[str, Growing]]:
    """Yield families that repeat other pieces, alone and in place of the answer, with a mismatch at the end."""
    tags = subject.mined.tags
    pieces = [*_PIECES, *(f"<{tag}>" for tag in tags), *(f"</{tag}>" for tag in tags)]
    pieces += [f"<{tag}>a</{tag}>" for tag in tags]
    # Arbitrary limits: long texts are messages, and each text takes another series of measurements.
    pieces += [text for text in subject.mined.texts if 1 < len(text) <= 30][:12]
    frames = {"": ("", ""), " before a mark": ("", "!\n?")}
    for anatomy in _correct(subject):
        before, after = _split_at_answer(anatomy)
        frames |= {" instead of the answer": (before, after), " in an open answer": (before, "")}
        if anatomy.text:
            last = anatomy.text[-1]
            yield "the last letter * n after a correct completion", Growing(last, anatomy.text, "!")
        if anatomy.marked and anatomy.region.end > anatomy.region.start:
            answer = anatomy.region.of(anatomy.text)
            yield "the last letter of the answer * n", Growing(answer[-1], before + answer, f"!{after}")
    # Arbitrary limit: each tag adds a frame for every piece.
    frames |= {f" after <{tag}>": (f"<{tag}>", "!") for tag in tags[:3]}
    for counted in _COUNTED:
        yield f"{counted!r} counted up", Growing(counted, counts=True)
    for piece in dict.fromkeys(pieces):
        for name, frame in frames.items():
            yield f"{piece!r} * n{name}", Growing(piece, *frame)


def _split_at_answer(anatomy: ParsedCompletion) -> tuple[str, str]:
    """Return the text before and after the answer in a correct completion."""
    return anatomy.text[: anatomy.region.start], anatomy.text[anatomy.region.end :]


LONGEST = 50_000
"""The number of characters in a long completion, about 12,000 tokens. Arbitrary, but about the length that reasoning
models write."""
_PER_TOKEN = 4
"""The number of characters in a token of ordinary text. Spaces, dashes, and repeated letters have more, but each digit
is a token in the tokenizers of Qwen and Gemma."""
_BEYOND = "If each digit is a token, no completion is that long"
SECONDS = 10.0
"""The maximum time for one completion, in seconds. Arbitrary: every process in a run waits for the slowest
completion. A single lazy group, which is harmless, takes 1.5 s."""
MEGABYTES = 256
"""The maximum memory for one completion. Arbitrary: `rk.code_tests` by default allows the same amount for a whole
program."""
_GLANCE = (24, 64, 1_000, 4_000, 16_000)
"""The sizes to try first. A family of texts that takes no time at these sizes is skipped. The small sizes show
exponential growth, the large ones quadratic growth."""
# Small steps up to 28 find exponential growth before it hangs; then two to four times as much each time.
_SIZES = (16, 20, 24, 28, 64, 250, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
_COPIES = (*range(1, 17), 18, 20, 22, 24, 26, 28)
"""The numbers of copies of a long piece to try first, such as a block. Each copy may double the time."""
_SUSPECT = 0.005
"""The number of seconds above which a family of texts is measured at a series of sizes. The linear rewards in the
tests take up to 5 ms for 16,000 characters."""
_MEASURABLE = 0.02
"""The number of seconds from which growth can be measured: four times `_SUSPECT`, so that a doubling of the time is
not just noise."""
_SPENT = 0.1
"""The number of seconds that other laws may spend on a completion once a reward is known to be slow. Arbitrary: a
fraction of the budget."""
_STEEP = 2.7
"""The allowed factor in time for twice the length. Linear growth gives 2, n log n about 2.2, and quadratic growth 4,
but measurements are noisy."""


@law(
    advice="Limit the length of what you parse, and use patterns without nested repetition. For a "
    "time limit, use @rk.reward(timeout=...)",
    turn=Turn.SOON,
)
def time_linear(subject: RewardUnderTest) -> Iterator[Finding]:
    """A policy will find a completion that takes minutes to score, and every process in the run will wait for it."""
    # A reward this slow at any length, such as a judge, would take seconds for the sizes of one family alone.
    if subject.cost > 0.05:
        raise Skip(f"scoring one completion takes {subject.cost:.2g} s at any length")
    # This law runs first, since a slow reward takes the time of all other laws. If it does not finish, it continues
    # in the time that they leave.
    first = subject.reached("time_linear")
    # Nearly all of the remaining time in the first run, a smaller share in the second.
    stop = time.monotonic() + subject.left * (0.9 if first else 0.3)
    families = list(families_of(subject))
    most_digits = inf  # a lead lowers it, so that other texts of digits take less time
    for tried_count, (name, family) in enumerate(families[first:], start=first):
        if time.monotonic() > stop:
            raise _unfinished(tried_count, len(families))
        times = _measure_times(subject, family, most_digits if _writable(family(1_000)) < LONGEST / 2 else inf)
        message = _too_steep(times)
        if message and _too_steep(
            [(size, _least_time(subject, family(size), seconds)) for size, seconds in times[-2:]]
        ):
            text = family(_size_for(times, SECONDS))
            is_lead = _projected(times, _writable(text)) < SECONDS
            if is_lead and most_digits < inf:
                continue
            if is_lead:
                most_digits = _size_for(times, _SPENT)
            else:
                subject.skip_longer(_size_for(times, _SPENT))
            trial = Trial(subject.formed(text), 0)
            message = f"for {name}, the time {message}" + f". {_BEYOND}" * is_lead
            yield finding(subject, trial, None, message, lead=is_lead)


def _writable(text: str) -> int:
    """Return the length of a text like `text` with as many tokens as `LONGEST` characters of ordinary text."""
    digits = sum(map(str.isdigit, text))
    return LONGEST * len(text) // max(1, len(text) + (_PER_TOKEN - 1) * digits)


def _measure_times(subject: RewardUnderTest, family: Growing, most: float) -> list[tuple[int, float]]:
    """Return the sizes, up to `most`, and times of growing texts. Stop once the growth is clear, or does not matter."""
    glance, sizes = (
        [size for size in series if size <= most]
        for series in (family.sizes(_COPIES[3::4], _GLANCE), family.sizes(_COPIES, _SIZES))
    )
    suspect = next((size for size in glance if _seconds(subject, family(size)) > _SUSPECT), None)
    times: list[tuple[int, float]] = []
    for size in sizes if suspect is not None else ():
        # Sizes far below the suspect size take no time.
        if suspect is not None and size * 8 < suspect:
            continue
        times.append((size, _seconds(subject, family(size))))
        # Arbitrary limit: the growth is clear by now, and the next size may take minutes.
        if times[-1][1] > 0.25 or _explodes(times) or _harmless(times):
            break
    return times


def _least_time(subject: RewardUnderTest, text: str, seconds: float) -> float:
    """Return the shortest of three times: `seconds` from the first try, and two more tries."""
    return min(seconds, *(_seconds(subject, text) for _ in range(2)))


_CERTAIN = 5.0
"""A completion that took more seconds than this is not measured again. Arbitrary: no pause is that long."""


def took_long(subject: RewardUnderTest) -> Iterator[Finding]:
    """Yield a finding if a completion from another law took a long time but shorter versions took far less."""
    if subject.slow is None:
        return
    slow, seconds = subject.slow
    text = text_of(slow.completion)
    times = []
    # The process may have paused in the first measurement. Without its last character, the completion is in no cache.
    whole = [len(text) - 1] if seconds < _CERTAIN else []
    for size in (len(text) // 4, len(text) // 2, *whole):
        started = time.process_time()
        subject.see([Trial(with_text(slow.completion, text[:size]), slow.example)], fresh=True)
        times.append((size, time.process_time() - started))
    if not whole:
        times.append((len(text), seconds))
    message = _too_steep(times) if len(text) >= _GLANCE[2] else ""
    if message:
        subject.skip_longer(_size_for(times, _SPENT))
        is_lead = _projected(times, _writable(text)) < SECONDS
        message = f"for a completion from another law, the time {message}" + f". {_BEYOND}" * is_lead
        yield finding(subject, slow, None, message, law=time_linear, lead=is_lead)


def _seconds(subject: RewardUnderTest, text: str) -> float:
    """Return the CPU time that this process takes to score `text`. Other processes do not affect it."""
    trial = Trial(subject.formed(text), 0)
    started = time.process_time()
    subject.see([trial], fresh=True)
    return time.process_time() - started


def _explodes(times: list[tuple[int, float]]) -> bool:
    # Eight times the time is an exponent of 3 if the length doubles. The sizes below 64 grow by about a fifth, where
    # it means that the time doubles with every letter or two.
    return len(times) > 1 and times[-1][1] > 0.05 and times[-1][1] > 8 * times[-2][1]


def _harmless(times: list[tuple[int, float]]) -> bool:
    """Return whether the longest completion would take little time, even if the growth became faster."""
    # Exponential growth is already slow long before 1,000 characters.
    if len(times) < 2 or times[-1][0] < 1_000 or times[-1][1] < _MEASURABLE:
        return False
    # Assume that the exponent rises by 0.7 from here on: patterns often become quadratic late.
    return _projected(times, LONGEST, more=0.7) < SECONDS


def _exponent(times: list[tuple[int, float]]) -> float:
    (size, last), (before, earlier) = times[-1], times[-2]
    # The clock may measure 0.
    return log(last / max(earlier, 1e-6)) / log(size / before)


def _projected(times: list[tuple[int, float]], size: int, more: float = 0.0) -> float:
    """Return the number of seconds that a text of `size` characters would take, with `more` added to the exponent."""
    # Arbitrary limit: a higher exponent means that the time explodes, and the power would overflow.
    exponent = max(1.0, min(_exponent(times) + more, 12.0))
    return float(times[-1][1] * (size / times[-1][0]) ** exponent)


def _size_for(times: list[tuple[int, float]], seconds: float) -> int:
    """Return the size, at most `LONGEST`, of a text that would take `seconds`."""
    # The same limit as in `_projected`.
    exponent = max(1.0, min(_exponent(times), 12.0))
    size = times[-1][0] * (seconds / times[-1][1]) ** (1.0 / exponent)
    return min(LONGEST, int(size) if size < 1_000 else round(int(size), -3))


def _too_steep(times: list[tuple[int, float]]) -> str:
    """Return a description of the growth if it is too steep, otherwise ""."""
    if len(times) < 2 or times[-1][1] < _MEASURABLE or 2 ** _exponent(times) < _STEEP:
        return ""
    (size, last), (before, earlier) = times[-1], times[-2]
    projected = _projected(times, LONGEST)
    if projected < SECONDS:
        return ""
    longest = f"more than {SECONDS * 1000:.0f} s" if projected > SECONDS * 1000 else f"{projected:.0f} s"
    return (
        f"grows like n^{_exponent(times):.1f} (n={before}: {earlier:.3g} s, n={size}: {last:.3g} s). "
        f"{LONGEST:,} characters would take {longest}"
    )


def _unfinished(tried_count: int, count: int) -> Unfinished:
    return Unfinished(f"only {tried_count} of {count} kinds of long completions were tried", tried_count, count)


@law(advice="Limit the size of numbers, ranges, and repetitions before you compute them", turn=Turn.LATE)
def memory_bounded(subject: RewardUnderTest) -> Iterator[Finding]:
    """A completion that makes the reward allocate gigabytes crashes the run and everything else on the machine."""
    # The same limit as in `time_linear`: measuring would use up the time of the check.
    if subject.cost > 0.05:
        raise Skip(f"scoring one completion takes {subject.cost:.2g} s at any length")
    if subject.skips(Trial(subject.formed("a" * 8_000))):
        raise Skip("the reward is too slow for long completions")
    first = subject.reached("memory_bounded")
    stop = time.monotonic() + subject.left * (0.9 if first else 0.15)
    explosive = [TEXTS[name] for name in ("a huge range", "a huge repetition", "a factorial", "a huge exponent")]
    framed = [frame.with_region(text) for frame in anatomies(subject, 0)[:1] for text in explosive]
    for text in (*explosive, *framed):
        peak = _peak(subject, text)
        # A short text: even an eighth of the limit is out of proportion.
        if peak > MEGABYTES * 1e6 / 8:
            message = f"a completion of {len(text)} characters takes {peak / 1e6:,.0f} MB"
            yield finding(subject, Trial(subject.formed(text)), None, message)
    # Arbitrary limit: the families that catch the most come first, and tracing slows each of them down.
    families = list(families_of(subject))[:40]
    for tried_count, (name, family) in enumerate(families[first:], start=first):
        if time.monotonic() > stop:
            raise _unfinished(tried_count, len(families))
        peaks = [_peak(subject, family(size)) for size in (2_000, 8_000)]
        # 8,000 characters take 0.15 MB if a reward only reads them (the linear rewards of the tests). Four times the
        # length takes 4 times the memory if it grows linearly, 16 times if it is quadratic: 8 is between.
        if peaks[1] < 4e6 or peaks[1] < 8 * peaks[0]:
            continue
        text = family(8_000)
        projected, writable = (peaks[1] * (size / 8_000) ** 2 / 1e6 for size in (LONGEST, _writable(text)))
        if projected > MEGABYTES:
            message = (
                f"for {name}, 2,000 characters take {peaks[0] / 1e6:.1f} MB and 8,000 take {peaks[1] / 1e6:.1f} MB: "
                f"{LONGEST:,} would take {projected:,.0f} MB"
            )
            is_lead = writable <= MEGABYTES
            message += f". {_BEYOND}" * is_lead
            yield finding(subject, Trial(subject.formed(text), 0), None, message, lead=is_lead)


def _peak(subject: RewardUnderTest, text: str) -> int:
    trial = Trial(subject.formed(text), 0)
    tracemalloc.start()
    try:
        subject.see([trial], fresh=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
