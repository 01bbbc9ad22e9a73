"""Reports: what a check found, as text for a terminal and as a page for a browser.

``as_text(report)`` and ``as_html(report)`` show one report. A `Section` adds what labels and samples say to a report;
``text_of(sections)``, ``page_of(sections)`` and ``dictionary_of(sections)`` show several.
"""

from __future__ import annotations

from rewardkit.testing.findings import Report
from rewardkit.testing.reports.page import page_of as page_of
from rewardkit.testing.reports.sections import (
    Section as Section,
    dictionary_of as dictionary_of,
    json_of as json_of,
)
from rewardkit.testing.reports.text import law_as_text as law_as_text, text_of as text_of


def as_text(report: Report) -> str:
    """The laws, the findings below, a verdict at the end."""
    return text_of([Section(report)])


def as_html(report: Report) -> str:
    """A page that stands by itself."""
    return page_of([Section(report)])
