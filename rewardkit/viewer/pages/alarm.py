"""The line above every tab of a run whose strongest lead is strong: the reward may be gamed."""

from __future__ import annotations

import asyncio
import logging

from rewardkit.viewer import elements as put
from rewardkit.viewer.addresses import Address
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.leads import Search
from rewardkit.viewer.watcher import Watched

_LOG = logging.getLogger("rewardkit")
STRONG = 0.8
"""The strength from which on a lead is shown above every tab: healthy runs rarely have one."""


class Alarm:
    """Searches a run for leads while its page is shown, and shows the strongest one if it is strong."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.search: Search = watched.cached_for_run("leads", Search)
        self._searching = False
        self.line = put.Alarm(str(watched.run.info["id"]), Address(watched.name, "suspicious").url)
        self._fill()

    async def update(self) -> None:
        """Search again if there is new data, in a thread."""
        if self._searching or self.search.is_fresh(self.watched):
            return
        self._searching = True
        try:
            await asyncio.to_thread(self.search.run, self.watched)
        except Exception:
            _LOG.warning("the search for leads failed", exc_info=True)
        finally:
            self._searching = False
        if not self.line.is_deleted:
            self._fill()

    def _fill(self) -> None:
        strong = next((lead for lead in self.search.leads if lead.strength >= STRONG), None)
        self.line.show("" if strong is None else one_line(strong.title, 160))
