"""Settings that may be paths, relative to the folder of the configuration.

``data.jsonl`` and ``./model`` are local; ``openai/gsm8k`` is a hub id unless there is such a folder.
"""

from __future__ import annotations

from pathlib import Path

_SUFFIXES = (".py", ".jsonl", ".json", ".csv", ".parquet", ".yaml", ".yml", ".jinja", ".txt")
_BEGINNINGS = ("/", "./", "../", "~", ".\\", "..\\")


def is_local(text: str, base: Path | None = None) -> bool:
    """Return whether `text` is a path: it looks like one, or there is such a file or folder below `base`."""
    if "\n" in text or "://" in text:
        return False
    looks = text.startswith(_BEGINNINGS) or text in (".", "..") or text.lower().endswith(_SUFFIXES) or "*" in text
    return looks or (base is not None and _exists(located(text, base)))


def located(text: str, base: Path) -> Path:
    """Return `text` as an absolute path."""
    return (base.absolute() / Path(text).expanduser()).resolve()


def anchored(text: str, base: Path) -> str:
    """Return `text` as an absolute path if it is a path, else unchanged."""
    return str(located(text, base)) if is_local(text, base) else text


def checked_target(text: str, example: str) -> str:
    """Return a name in a file or module.

    Raises:
        ValueError: it is not of this form.
    """
    source, colon, name = text.rpartition(":")
    if not colon or not source or not name or "/" in name:
        raise ValueError(
            f"expected file and name ({example}) or module and name (module:{example.rpartition(':')[2]}), got {text!r}"
        )
    return text


def located_target(text: str, base: Path) -> str:
    """Return ``/absolute/path.py:name`` for a name in a file; ``module:name`` stays as it is."""
    source, _, name = text.rpartition(":")
    return f"{located(source, base)}:{name}" if is_local(source) else text


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the name is too long
        return False
