"""What stands above the progress bar of a training."""

from __future__ import annotations

import io
import logging

import pytest

pytest.importorskip("trl")
from rich.console import Console

from rewardkit_adapters.runner.live_display import log_to_console


def test_what_rewardkit_says_is_printed_while_it_lasts_and_cannot_act_on_the_terminal() -> None:
    logger = logging.getLogger("rewardkit")
    level, handlers = logger.level, list(logger.handlers)
    console = Console(file=io.StringIO(), width=40)
    with log_to_console(console):
        logger.info("step %d: guard: back again: kl above 0.5", 7)
        logger.warning("reward 'a' errored\nTraceback \x1b[2J [bold]")
        logger.debug("nobody wants to know")
        logging.getLogger("another").warning("elsewhere")
    logger.warning("afterwards")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "step 7: guard: back again: kl above 0.5",
        "reward 'a' errored",
        "Traceback \\x1b[2J [bold]",
    ]
    assert (logger.level, logger.handlers) == (level, handlers)
