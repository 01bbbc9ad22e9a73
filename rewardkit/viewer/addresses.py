"""Where a person is, as a URL: ``Address.parse("/run/x/completions", "prompt=8e80").state["prompt"]`` is ``"8e80"``.

All that can be chosen on a page stands in its address, so every view is a permalink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

TABS = {"graphs": "Graphs", "completions": "Completions", "logs": "Reward logs", "suspicious": "Suspicious"}
"""The tabs of a run: the name in the address, and the title on the page."""

_LONGEST = 8_000


@dataclass(frozen=True)
class Address:
    """A tab of a run, or the list of runs (`run` is None), with what was chosen on it."""

    run: str | None = None
    tab: str = "runs"
    state: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, path: str, query: str = "") -> Address:
        """From the (percent-encoded) path and the query; what names no tab is the list of runs."""
        state = dict(parse_qsl(query[:_LONGEST], errors="replace"))
        parts = [unquote(part, errors="replace") for part in path.strip("/").split("/")]
        if parts[0] != "run" or len(parts) < 2:
            return cls(state=state)
        if parts[-1] in TABS and len(parts) > 2:
            return cls("/".join(parts[1:-1]), parts[-1], state)
        return cls("/".join(parts[1:]), "graphs", state)

    @staticmethod
    def is_known(path: str) -> bool:
        """Whether a path names the list of runs or a run."""
        parts = path.split("?")[0].strip("/").split("/")
        return parts == [""] or (parts[0] == "run" and len(parts) > 1)

    @classmethod
    def of_url(cls, url: str) -> Address:
        """From what stands behind the host."""
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
        """A number of the query within its limits; `default` where it is none."""
        try:
            value = float(self.get(name))
        except ValueError:
            return default
        return min(max(value, low), high) if value == value else default

    def with_state(self, **changes: str | None) -> Address:
        """The same tab with other choices; None takes one away."""
        state = {**self.state, **{name: value for name, value in changes.items() if value}}
        for name, value in changes.items():
            if not value:
                state.pop(name, None)
        return replace(self, state=state)

    def to(self, tab: str, **state: str) -> Address:
        """Another tab of the same run."""
        return Address(self.run, tab, state)


def listed(text: str) -> list[str]:
    """The names in ``"first,sweep%2Fa"``."""
    return [unquote(name, errors="replace") for name in text.split(",") if name]


def as_list(names: Iterable[str]) -> str:
    """The opposite."""
    return ",".join(quote(name, safe="") for name in names)
