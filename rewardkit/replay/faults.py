"""Why rows could not be scored, grouped: 1,203 rows with the same fault are one entry, whatever their values are.

``faults.add(7, "reward 'number': column 'answer': 'many' is not a number")`` and the same with ``'a few'`` in row 9 are
one kind with a count of 2, shown with the whole reason of row 7.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

from rewardkit.core.batch.table_text import visible
from rewardkit.core.errors import shorten_line

_SHOWN = 10
_MOST = 1_000
"""The number of kinds to remember; later ones are counted together."""
_WIDTH = 110
_LIMIT = 3_000
_VALUES = re.compile(
    r"\b(?:column|reward|judge) '[^']*'"  # a name, which stays
    r"|(?<!\w)'(?:[^'\\]|\\.)*(?:'|$)"
    r'|(?<!\w)"(?:[^"\\]|\\.)*(?:"|$)'
    r"|\d[\d.,]*",
    re.DOTALL,
)
_RAISED = re.compile(r".*? raised \w+(?=:)|.*?: raised \w+(?=:)")


@dataclass
class _Kind:
    """Rows with one kind of fault.

    Attributes:
        reason, row: of the first one.
        differ: whether other rows have another reason: other values, or another message of the same exception.
    """

    reason: str
    row: int
    count: int = 0
    differ: bool = False

    def add(self, reason: str, row: int, count: int = 1, differ: bool = False) -> None:
        if row < self.row:
            self.reason, self.row = reason, row
        self.differ |= differ or reason != self.reason
        self.count += count

    def text(self) -> str:
        rows = f"{self.count:,} row{'' if self.count == 1 else 's'}"
        place = f"row {self.row:,}" if self.count == 1 else f"first: row {self.row:,}"
        others = "; the values of the others differ" if self.differ else ""
        lines = shorten_line(self.reason, _LIMIT).split("\n")
        reason = "; ".join(visible(line.strip()) for line in lines)
        return textwrap.fill(
            f"{rows}: {reason} ({place}{others})",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )


@final
class Faults:
    """The faults of all rows by kind; its size is bounded."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}

    def add(self, row: int, reason: str) -> None:
        """Add the reason why a row could not be scored."""
        name = _kind(reason)
        if name not in self._kinds and len(self._kinds) >= _MOST:
            name = _broad(name)
        self._kinds.setdefault(name, _Kind(reason, row)).add(reason, row)

    def extend(self, other: Faults, start: int) -> None:
        """Add the faults of later rows, whose first one is row `start`."""
        for name, kind in other._kinds.items():
            if name not in self._kinds and len(self._kinds) >= _MOST:
                name = _broad(name)
            mine = self._kinds.setdefault(name, _Kind(kind.reason, start + kind.row))
            mine.add(kind.reason, start + kind.row, kind.count, kind.differ)

    def state(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {name: asdict(kind) for name, kind in self._kinds.items()}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Faults:
        """Return the faults with this `state`."""
        found = cls()
        found._kinds = {name: _Kind(**kind) for name, kind in state.items()}
        return found

    def lines(self) -> Iterator[str]:
        """Yield one paragraph for each kind, the most frequent first."""
        kinds = self._kinds
        if len(kinds) > _SHOWN:  # messages with values that no quotes mark: one exception is one kind
            kinds = _merged(kinds.items())
        order = sorted(kinds.values(), key=lambda kind: (-kind.count, kind.row))
        yield from (kind.text() for kind in order[:_SHOWN])
        if rest := order[_SHOWN:]:
            yield f"  ... and {sum(kind.count for kind in rest):,} rows with {len(rest):,} other kinds of errors"


def _kind(reason: str) -> str:
    """Return the first line of `reason` without its values."""
    return _VALUES.sub(lambda found: found[0] if found[0][0].isalpha() else "_", reason.partition("\n")[0])


def _broad(name: str) -> str:
    found = _RAISED.match(name)
    return name[: found.end()] if found else ""


def _merged(kinds: Iterable[tuple[str, _Kind]]) -> dict[str, _Kind]:
    """Return the kinds with all messages of one exception of a component as one kind."""
    merged: dict[str, _Kind] = {}
    for name, kind in kinds:
        broad = merged.setdefault(_broad(name) or name, _Kind(kind.reason, kind.row))
        broad.add(kind.reason, kind.row, kind.count, kind.differ)
    return merged
