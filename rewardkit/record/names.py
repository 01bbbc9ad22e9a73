"""Column names that contain component names: ``parts/<component>/<part>``, ``components/Judge``.

DuckDB ignores case in column names, so two names must not differ only in case: ``distinct(["terms/Judge",
"terms/judge"])`` renames the second to ``terms/judge~10e86c65``.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

_KINDS = ("components", "outcomes", "terms", "notes", "parts")


def part_column(component: str, part: str) -> str:
    """Return the column name for a part. In both names, ``/`` is written as ``%2F``, and ``%`` as ``%25``."""
    return f"parts/{_escaped(component)}/{_escaped(part)}"


def component_and_part(column: str) -> tuple[str, str]:
    """Return the component and part in a column name created by `part_column`."""
    component, _, part = column.removeprefix("parts/").rpartition("/")
    return _unescaped(component), _unescaped(part)


def distinct(columns: Iterable[str], names: Iterable[str] = ()) -> dict[str, str]:
    """Return column -> unique name, so that no two names differ only in case.

    If names differ only in case, the first name in sort order is unchanged, and ``~`` and a digest of the exact name
    are appended to the others. Therefore, a renamed column has the same name in every set of columns.

    Args:
        names: additional component and term names in the run.
    """
    exact_names = {column: _exact(column) for column in columns}
    named: defaultdict[str | None, set[str]] = defaultdict(set)
    named[None].update(names)
    for _, name, part in filter(None, exact_names.values()):
        named[None].add(name)
        if part is not None:
            named[name].add(part)
    plain = {(owner, name.casefold()): name for owner, owned in named.items() for name in sorted(owned, reverse=True)}

    def spelled(owner: str | None, name: str) -> str:
        return name if plain[owner, name.casefold()] == name else f"{name}~{_digest(name)}"

    spelling = {}
    for column, exact in exact_names.items():
        if exact is None:
            spelling[column] = column
            continue
        kind, name, part = exact
        spelled_name = spelled(None, name)
        spelling[column] = f"{kind}/{spelled_name}" if part is None else part_column(spelled_name, spelled(name, part))
    return spelling


def known_names(versions: Iterable[Mapping[str, Any]], kind: str) -> list[str]:
    """Return the names of ``components`` or ``terms`` in a reward's version files."""
    raw_names = (name["name"] if isinstance(name, dict) else name for version in versions for name in version[kind])
    return [name.encode("utf-8", "backslashreplace").decode() for name in raw_names]


def selection(files: Mapping[str, Iterable[str]], spelling: Mapping[str, str]) -> str:
    """Return the SQL query for all rows in Parquet files, with renamed columns.

    Args:
        files: the file's address in DuckDB -> the file's columns.
        spelling: column -> new name.
    """
    if all(spelling[column] == column for columns in files.values() for column in columns):
        return f"select * from read_parquet([{', '.join(map(literal, files))}], union_by_name = true)"
    return " union all by name ".join(
        f"select {', '.join(f'{quoted(column)} as {quoted(spelling[column])}' for column in columns)} "
        f"from read_parquet({literal(address)})"
        for address, columns in files.items()
    )


def literal(text: str) -> str:
    """Return a string as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted(column: str) -> str:
    """Return a column name quoted for SQL."""
    return '"' + column.replace('"', '""') + '"'


def _exact(column: str) -> tuple[str, str, str | None] | None:
    """Return the kind, name, and part that the reward uses for a column, or None for a column in the schema."""
    kind, slash, name = column.partition("/")
    if not slash or kind not in _KINDS:
        return None
    if kind != "parts":
        return kind, _unmarked(name), None
    component, part = component_and_part(column)
    return kind, _unmarked(component), _unmarked(part)


def _unmarked(name: str) -> str:
    exact, _, mark = name.rpartition("~")
    return exact if mark and mark == _digest(exact) else name


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def _unescaped(name: str) -> str:
    return name.replace("%2F", "/").replace("%25", "%")
