"""What is wrong with a JSON value, in words that are safe to show: paths and values, cut short.

``path_text(("lines", 2, "qty")) == "lines[2].qty"`` and ``value_text("31") == '"31"'``. Keys and texts come
from completions: control characters, bidi marks and half characters are escaped.
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
    """The violations met so far: the first three in words, the others as a number.

    Example: after ``add(("qty",), "missing")``, ``note()`` is ``"qty: missing"``.
    """

    shown: list[str] = field(default_factory=list)
    count: int = 0
    counted_all: bool = True

    @property
    def wants_words(self) -> bool:
        """Whether the next violation will be shown, so that it is worth finding words for it."""
        return len(self.shown) < SHOWN_VIOLATIONS

    def add(self, path: Path, problem: str) -> None:
        """Notes that `problem` was met at `path` (property names and item numbers from the root)."""
        self.count += 1
        if self.wants_words:
            where = path_text(path)
            self.shown.append(f"{where}: {problem}" if where else problem)

    def note(self) -> str:
        """``"qty: missing; color: missing; and 4 more"``."""
        more = self.count - len(self.shown)
        at_least = "" if self.counted_all else "at least "
        return "; ".join(self.shown) + (f"; and {at_least}{more:,} more" if more > 0 else "")


def path_text(path: Sequence[str | int]) -> str:
    """A path for people: ``lines[2].qty``; keys with odd characters are quoted, long paths and keys cut."""
    text = ""
    for position, key in enumerate(path):
        if len(path) > SHOWN_STEPS and position == SHOWN_STEPS // 2:
            text += ".(...)"
        if len(path) > SHOWN_STEPS and SHOWN_STEPS // 2 <= position < len(path) - SHOWN_STEPS // 2:
            continue
        if isinstance(key, str) and key.isidentifier() and len(key) <= SHOWN_TEXT:
            text += f".{key}" if text else key
        else:
            text += f"[{value_text(key)}]"
    return text


def value_text(value: object) -> str:
    """A JSON value for people: ``"31"``, ``null``, ``array of 3``."""
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
    """`text` cut to `limit` characters, with everything escaped that a terminal or browser would act on."""
    cut = text if len(text) <= limit else f"{text[:limit]}..."
    return cut if cut.isprintable() else "".join(map(_visible, cut))


def _visible(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"
