"""CSV for spreadsheets: ``csv_of(["step", "total"], [[1, 0.5]])``.

A cell that a spreadsheet would interpret as a formula (``=HYPERLINK(...)``) gets a leading apostrophe.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rewardkit.page.escapes import escape

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
# All other characters may be special in a file name on some system.
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def csv_of(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the rows as CSV. Numbers remain numbers, and missing values are empty."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(map(_cell, header))
    writer.writerows(map(_cell, row) for row in rows)
    return output.getvalue()


def file_name(*parts: str) -> str:
    """Return a safe download name created from `parts`."""
    return "-".join(filter(None, (_NAME.sub("-", part).strip("-.") for part in parts))) or "rewardkit"


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        return value
    text = escape(value)
    return f"'{text}" if text.lstrip(" \u00a0\u3000").startswith(_FORMULA) else text
