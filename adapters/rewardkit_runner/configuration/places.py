"""Texts of a configuration that may be paths: relative ones start at the folder of the configuration.

``data.jsonl`` and ``./model`` are local, ``openai/gsm8k`` is a hub id unless there is such a folder.
"""

from __future__ import annotations

from pathlib import Path

_SUFFIXES = (".py", ".jsonl", ".json", ".csv", ".parquet", ".yaml", ".yml", ".jinja", ".txt")
_BEGINNINGS = ("/", "./", "../", "~", ".\\", "..\\")


def is_local(text: str, base: Path | None = None) -> bool:
    """Whether `text` is meant as a path: it looks like one, or there is something of that name below `base`."""
    if "\n" in text or "://" in text:
        return False
    looks = text.startswith(_BEGINNINGS) or text in (".", "..") or text.lower().endswith(_SUFFIXES) or "*" in text
    return looks or (base is not None and _exists(located(text, base)))


def located(text: str, base: Path) -> Path:
    """The absolute path that `text` stands for."""
    return (base.absolute() / Path(text).expanduser()).resolve()


def anchored(text: str, base: Path) -> str:
    """`text` as an absolute path where it is one, else as it is."""
    return str(located(text, base)) if is_local(text, base) else text


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long for a file
        return False
