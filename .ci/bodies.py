"""Compare the bodies of all functions with those of another commit: a move or a fold changes none.

    python .ci/bodies.py REV    # what is only there, and what is only here

A body is its syntax tree without docstrings, imports and positions. A name that was imported under another one counts
as the original.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("rewardkit", "adapters")


def bodies(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the body of each function in a module's source."""
    tree = ast.parse(text)
    aliases = {
        name.asname or name.name: name.name.rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in aliases:
            node.id = aliases[node.id]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            imports = (ast.Import, ast.ImportFrom)
            yield node.name, ast.dump(ast.Module([one for one in node.body if not isinstance(one, imports)], []))


def here() -> Counter[tuple[str, str]]:
    """Return the functions of the working tree."""
    files = (path for source in SOURCES for path in (ROOT / source).rglob("*.py"))
    return Counter(body for path in files for body in bodies(path.read_text(encoding="utf-8")))


def there(revision: str) -> Counter[tuple[str, str]]:
    """Return the functions of a commit."""
    listing = _git("ls-tree", "-r", "--name-only", revision, *SOURCES).splitlines()
    return Counter(
        body for path in listing if path.endswith(".py") for body in bodies(_git("show", f"{revision}:{path}"))
    )


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    before, after = there(sys.argv[1]), here()
    for title, rest in (("only there", before - after), ("only here", after - before)):
        print(f"{title}: {sum(rest.values())}", *sorted(f"  {name}" for name, _ in rest.elements()), sep="\n")
    sys.exit(before != after)
