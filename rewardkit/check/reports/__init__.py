"""Reports of checks, as text for a terminal and as a page for a browser.

A `Report` holds the results of the laws. A `Section` adds results from labels and samples. ``text_of(sections)``,
``page_of(sections)`` and ``dictionary_of(sections)`` show several sections.
"""

from __future__ import annotations

from rewardkit.check.reports.report import (
    Report as Report,
    Section as Section,
    dictionary_of as dictionary_of,
    json_of as json_of,
    law_as_text as law_as_text,
    page_of as page_of,
    text_of as text_of,
)
