"""The URL of a view: ``Address.parse("/run/x/completions", "prompt=8e80").state["prompt"]`` is ``"8e80"``.

The URL contains all choices made on the page, so each view has a permalink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

TABS = {
    "graphs": "Graphs",
    "completions": "Completions",
    "logs": "Reward logs",
    "suspicious": "Suspicious",
    "compare": "Compare",
    "explain": "Explain",
    "versions": "Versions",
}
"""The tabs of a run: name in the URL -> title on the page."""

_LONGEST = 8_000
"""The maximum length of a query in characters. The limit is arbitrary: browsers and proxies also truncate longer
URLs."""


@dataclass(frozen=True)
class Address:
    """A run's tab, or the list of runs if `run` is None. `state` contains the choices made on the tab."""

    run: str | None = None
    tab: str = "runs"
    state: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, path: str, query: str = "") -> Address:
        """Parse a percent-encoded path and a query. A path that does not name a run leads to the list of runs."""
        state = dict(parse_qsl(query[:_LONGEST], errors="replace"))
        parts = [unquote(part, errors="replace") for part in path.strip("/").split("/")]
        if parts[0] != "run" or len(parts) < 2:
            return cls(state=state)
        if parts[-1] in TABS and len(parts) > 2:
            return cls("/".join(parts[1:-1]), parts[-1], state)
        return cls("/".join(parts[1:]), "graphs", state)

    @staticmethod
    def is_known(path: str) -> bool:
        """Return whether a path refers to the list of runs or a run."""
        parts = path.split("?")[0].strip("/").split("/")
        return parts == [""] or (parts[0] == "run" and len(parts) > 1)

    @classmethod
    def of_url(cls, url: str) -> Address:
        """Parse the part of a URL after the host. An invalid URL leads to the list of runs."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return cls()
        return cls.parse(parts.path, parts.query)

    @property
    def url(self) -> str:
        path = "/" if self.run is None else f"/run/{quote(self.run)}/{self.tab}"
        chosen = {name: value for name, value in self.state.items() if value != ""}
        return f"{path}?{urlencode(chosen, errors='replace')}" if chosen else path

    def get(self, name: str, default: str = "") -> str:
        return self.state.get(name, default)

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """Return a number in the query, clipped to `low` and `high`; `default` if the value is not a number."""
        try:
            value = float(self.get(name))
        except ValueError:
            return default
        return min(max(value, low), high) if value == value else default

    def with_state(self, **changes: str | None) -> Address:
        """Return the address of the same tab with different choices. None removes a choice."""
        state = {**self.state, **{name: value for name, value in changes.items() if value}}
        for name, value in changes.items():
            if not value:
                state.pop(name, None)
        return replace(self, state=state)

    def to(self, tab: str, **state: str) -> Address:
        """Return the address of another tab for the same run."""
        return Address(self.run, tab, state)


def parse_names(text: str) -> list[str]:
    """Parse a list of names such as ``"first,sweep%2Fa"``."""
    return [unquote(name, errors="replace") for name in text.split(",") if name]


def format_names(names: Iterable[str]) -> str:
    """Format names as a list that `parse_names` can parse."""
    return ",".join(quote(name, safe="") for name in names)
