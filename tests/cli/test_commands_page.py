"""docs/commands.md quotes the help of every command exactly.

``python tests/cli/test_commands_page.py`` writes the page again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rewardkit.cli.main import parser

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
START = "# The command line\n\n`rewardkit COMMAND --help` prints the same. This page is generated.\n"


def page() -> str:
    verbs = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return "\n".join([START, *(section(verb, help_) for verb, help_ in verbs.choices.items())])


def section(verb: str, command: argparse.ArgumentParser) -> str:
    command.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=110)
    # The wording of usage lines differs between versions of Python; the options do not.
    text = command.format_help().partition("\n\n")[2]
    return f"## rewardkit {verb}\n\n```console\n$ rewardkit {verb} --help\n{text.rstrip()}\n```\n"


def test_the_page_quotes_the_current_help() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tests/cli/test_commands_page.py"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
