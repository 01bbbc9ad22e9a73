"""Colors and the style sheet. Each component has the same color everywhere, and colors also differ in lightness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

# Okabe and Ito (2008), then Tol's muted colors, each with a lighter variant for dark mode.
_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#b5579b", "#c98a00", "#3d9bd1", "#882255", "#5e7a1f", "#6a4fb3", "#8a6d5a")
_DARK = ("#4fa8e0", "#ff8a4c", "#2fc79b", "#e08cc6", "#f0b84a", "#7cc8f5", "#d4709f", "#a9c96a", "#a994ee", "#c7aa96")
COLORS = len(_LIGHT)
_INK = ("#1c2733", "#e6ebf0")


def color_of(name: str, components: Sequence[str]) -> str:
    """Return the CSS color for a component, a term, or a gate."""
    return f"var(--series-{number_of(name, components)})"


def number_of(name: str, components: Sequence[str]) -> int:
    """Return a name's color number; 0 is the text color. The term ``answer/2`` has the same color as ``answer``."""
    for candidate in (name, name.split("/")[0], name.split(":")[0]):
        if candidate in components:
            return 1 + list(components).index(candidate) % len(_LIGHT)
    return 0 if not name else 1 + sum(map(ord, name)) % len(_LIGHT)


@cache
def style_sheet() -> str:
    """Return all of the CSS."""
    light = "".join(f"--series-{number}:{color};" for number, color in enumerate((_INK[0], *_LIGHT)))
    dark = "".join(f"--series-{number}:{color};" for number, color in enumerate((_INK[1], *_DARK)))
    rules = (Path(__file__).parent / "browser" / "viewer.css").read_text(encoding="utf-8")
    return f":root{{{light}}}\nbody.dark{{{dark}}}\n{rules}"
