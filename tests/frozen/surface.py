"""What users see of the code: the signature of every public name and the help of every verb, as one text file.

After an intended change, list it in CHANGELOG.md and run ``python -m tests.frozen.surface``.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import rewardkit as rk
from rewardkit import schedules, testing
from rewardkit.cli.main import parser

FILE = Path(__file__).with_name("surface.txt")
_PUBLIC = {
    "rk": rk,
    "agents": rk.agents,
    "errors": rk.errors,
    "length": rk.length,
    "schedules": schedules,
    "testing": testing,
}


def surface() -> str:
    """Return the text of the whole surface."""
    names = [f"{home}.{line}" for home, module in _PUBLIC.items() for line in _names(module)]
    return "\n".join([*names, "", *_helps()])


def _names(module: ModuleType) -> Iterator[str]:
    for name in sorted(module.__all__):
        value = getattr(module, name)
        yield f"{name}{_signature(value)}"
        if inspect.isclass(value):
            yield from (f"{name}.{member}" for member in _members(value))


def _members(cls: type) -> Iterator[str]:
    for name in sorted(dir(cls)):
        home = next((base for base in cls.__mro__ if name in vars(base)), object)
        if not name.startswith("_") and home.__module__.startswith("rewardkit"):
            yield name + _signature(inspect.getattr_static(cls, name))


def _signature(value: object) -> str:
    value = getattr(value, "__func__", value)
    try:
        return str(inspect.signature(value)) if callable(value) else ""
    except ValueError:
        return "(...)"


def _helps() -> Iterator[str]:
    yield from _help(parser())
    for action in parser()._actions:
        for verb in (action.choices or {}).values() if isinstance(action.choices, dict) else ():
            assert isinstance(verb, ArgumentParser)
            yield from ("", *_help(verb))


def _help(verb: ArgumentParser) -> Iterator[str]:
    """Yield what ``--help`` says, in a form of our own: that of argparse changes with Python."""
    yield f"{verb.prog}: {verb.description}"
    for action in verb._actions:
        names = [*(action.option_strings or [action.dest]), *([str(action.metavar)] if action.metavar else [])]
        yield f"  {' '.join(names)}: {action.help} [{action.default}]"
    if verb.epilog:
        yield verb.epilog


if __name__ == "__main__":
    FILE.write_text(surface(), encoding="utf-8")
