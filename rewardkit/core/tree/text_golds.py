"""Text that a function compares with a number: the gold answer "42" of an argument without an annotation.

``def right(completion, answer): return float(len(completion) == answer)`` gives 0.0 to every completion, because "42"
is not 42: a column that holds text is text unless the argument is annotated. If all completions of a batch earn the
least, a few of them are scored again with the number. If that earns more, a warning says what to annotate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewardkit.core.errors import shorten, warn
from rewardkit.core.tree.binding import Arguments, Binding
from rewardkit.core.tree.parameters import MISSING, Parameter
from rewardkit.core.tree.results import as_number
from rewardkit.core.tree.scalars import DECIMAL, WHITESPACE

_MOST_BATCHES = 3
_MOST_CALLS = 8


class TextGolds:
    """Looks at the first batches of one function, and warns once."""

    def __init__(self, binding: Binding) -> None:
        self._suspects = [
            one.name
            for one in binding.columns
            if one.annotation is MISSING and not (binding.trusted or binding.foreign or binding.plain)
        ]
        cheap = binding.scope == "sample" and not binding.expensive and not binding.waits
        self._left = _MOST_BATCHES if cheap and self._suspects else 0

    def look(
        self,
        function: Callable[..., Any],
        parameters: Sequence[Parameter],
        arguments: Arguments,
        raw: Sequence[Any],
        lowest: float,
        name: str,
    ) -> None:
        """Look at what `function` returned for `arguments`."""
        if self._left == 0 or not raw:
            return
        self._left -= 1
        scores = [as_number(one) for one in raw if type(one) in (bool, int, float)]
        if len(scores) < len(raw) or any(score > max(lowest, 0.0) for score in scores):
            self._left = 0  # it copes with text, or does something else
            return
        for place, parameter in enumerate(parameters):
            if parameter.name in self._suspects and self._better(function, place, arguments, scores):
                self._left = 0
                text = arguments.columns[place][0]
                kind = "int" if isinstance(_number(text), int) else "float"
                warn(
                    f"reward {name!r}: the column {parameter.source!r} holds text such as {shorten(text, 40)}, and the "
                    f"function compares it with a number, so it never scores. Annotate the argument: "
                    f"`{parameter.name}: {kind}`"
                )
                return

    def _better(self, function: Callable[..., Any], place: int, arguments: Arguments, scores: Sequence[float]) -> bool:
        """Whether a completion earns more with the number than with the text."""
        rows = zip(*arguments.columns, scores, strict=True)
        for *values, score in list(rows)[:_MOST_CALLS]:
            number = _number(values[place])
            if number is None:
                return False
            try:
                if as_number(function(*values[:place], number, *values[place + 1 :])) > score:
                    return True
            except Exception:  # it needs text
                return False
        return False


def _number(text: object) -> int | float | None:
    bare = text.strip(WHITESPACE) if isinstance(text, str) else ""
    if not DECIMAL.fullmatch(bare) or len(bare) > 30:
        return None
    number = int(bare) if bare.lstrip("-").isdigit() else float(bare)
    return number if str(number) == bare else None  # "007" is a name
