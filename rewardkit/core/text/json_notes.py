"""Notes about problems in a JSON value: paths and values, shortened and safe to show.

``path_text(("lines", 2, "qty")) == "lines[2].qty"`` and ``value_text("31") == '"31"'``. Keys and texts come from
completions, so control characters, bidirectional marks and lone surrogates are escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

SHOWN_VIOLATIONS = 3
SHOWN_TEXT = 40
SHOWN_STEPS = 8

Path = tuple[str | int, ...]


@dataclass
class Violations:
    """The violations found so far: the first three as text, the others as a number.

    Example: after ``add(("qty",), "missing")``, ``note()`` is ``"qty: missing"``.
    """

    shown: list[str] = field(default_factory=list)
    count: int = 0
    counted_all: bool = True

    @property
    def wants_words(self) -> bool:
        """Whether the next violation will be shown, so that it needs a text."""
        return len(self.shown) < SHOWN_VIOLATIONS

    def add(self, path: Path, problem: str) -> None:
        """Record `problem` at `path` (property names and item numbers from the root)."""
        self.count += 1
        if len(self.shown) < SHOWN_VIOLATIONS:
            where = path_text(path)
            self.shown.append(f"{where}: {problem}" if where else problem)

    def note(self) -> str:
        """Return the note, such as ``"qty: missing; color: missing; and 4 more"``."""
        more = self.count - len(self.shown)
        at_least = "" if self.counted_all else "at least "
        return "; ".join(self.shown) + (f"; and {at_least}{more:,} more" if more > 0 else "")


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as text: ``lines[2].qty``. Unusual keys are quoted, long paths and keys are cut."""
    if len(path) <= SHOWN_STEPS:
        return "".join(map(_step, path)).removeprefix(".")
    half = SHOWN_STEPS // 2
    return f"{path_text(path[:half])}.(...){''.join(map(_step, path[-half:]))}"


def _step(key: str | int) -> str:
    if isinstance(key, str) and key.isidentifier() and len(key) <= SHOWN_TEXT:
        return f".{key}"
    return f"[{value_text(key)}]"


def value_text(value: object) -> str:
    """Return a short text for a JSON value: ``"31"``, ``null``, ``array of 3``."""
    if isinstance(value, str):
        cut = f"... ({len(value):,} characters)" if len(value) > SHOWN_TEXT else ""
        return f'"{printable(value[:SHOWN_TEXT])}"{cut}'
    if isinstance(value, dict | list):
        return f"{'object' if isinstance(value, dict) else 'array'} of {len(value):,}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > 128:
        return f"integer of about {round(value.bit_length() * 0.30103):,} digits"
    return printable(repr(value)[:SHOWN_TEXT])


def printable(text: str, limit: int = 120) -> str:
    """Return `text` cut to `limit` characters, with all characters escaped that are not printable."""
    cut = text if len(text) <= limit else f"{text[:limit]}..."
    return cut if cut.isprintable() else "".join(map(_visible, cut))


def _visible(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"
