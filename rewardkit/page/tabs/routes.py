"""The table of tabs and the NiceGUI routes for them."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI
from nicegui import ui
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from rewardkit.page.addresses import Address
from rewardkit.page.library import Library
from rewardkit.page.style import style_sheet
from rewardkit.page.tabs.compare import Compare
from rewardkit.page.tabs.completions import Completions
from rewardkit.page.tabs.explanation import Explanation
from rewardkit.page.tabs.graphs import Graphs
from rewardkit.page.tabs.layout import Page, Tab
from rewardkit.page.tabs.logs import Logs
from rewardkit.page.tabs.runs import Runs
from rewardkit.page.tabs.suspicious import Suspicious
from rewardkit.page.tabs.versions import Versions
from rewardkit.page.watcher import Watched, Watcher

_TABS: dict[str, Callable[[Page, Watched], Tab]] = {
    "graphs": Graphs,
    "completions": Completions,
    "logs": Logs,
    "suspicious": Suspicious,
    "compare": Compare,
    "explain": Explanation,
    "versions": Versions,
}
_GRAPHS_SOON = '<script type="module">import("nicegui-echart")</script>'
"""A script that loads the graph code (a megabyte) early, while the page is being built and the run is being read."""
_NOT_FOUND = """<!doctype html><html lang="en"><title>rewardkit</title>
<body><h1>Page not found</h1><p><a href="/">All runs</a></p></body></html>"""


def make_app(library: Library, watcher: Watcher) -> FastAPI:
    """Return the web app with all pages."""
    ui.add_css(style_sheet(), shared=True)

    async def page(request: Request) -> Response | None:
        raw = request.scope.get("raw_path", b"/").decode("latin-1")
        if not Address.is_known(raw):
            return HTMLResponse(_NOT_FOUND, 404)
        address = Address.parse(raw, request.url.query)
        if address.tab in ("graphs", "explain"):
            ui.add_head_html(_GRAPHS_SOON)
        await Page(library, watcher, address, _open_tab).build()
        return None

    for path in ("/", "/run/{rest:path}"):
        # NiceGUI gives up after 3 seconds, and a large run takes longer to open.
        ui.page(path, response_timeout=30.0)(page)
    app = FastAPI(openapi_url=None)
    ui.run_with(
        app,
        root=page,  # handles all other paths
        title="rewardkit",
        tailwind=False,
        gzip_middleware_factory=None,
        message_history_length=50,
        show_welcome_message=False,
        binding_refresh_interval=None,
    )
    return app


def _open_tab(page: Page, watched: Watched | None) -> Tab:
    return Runs(page) if watched is None else _TABS[page.address.tab](page, watched)
