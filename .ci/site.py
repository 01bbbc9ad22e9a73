"""What the site needs beyond its Markdown; `mkdocs.yml` loads this file.

- Recipes, measurements and the changelog, which are not in `docs/`, become pages of the site, and links follow.
- On the pages of `docs/api/`, ``::: rk.reward`` is the documentation of that public name. Members of a class follow
  a colon (``::: rk.Reward: named, clip``).
- Blocks that the tests do not run are marked ``notest`` after their language, which is not Markdown.
- Docstrings introduce code with ``::``, which Markdown does not know.
"""

from __future__ import annotations

import ast
import re
import subprocess
from os.path import normpath, relpath
from pathlib import Path
from textwrap import dedent
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = ["CHANGELOG.md", "benchmarks/*.md", "benchmarks/learning/*.png", "cookbook"]
UNTESTED = re.compile(r"^(```\w+) notest$", re.MULTILINE)
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]+)")
BLOCK = re.compile(r"^(.*)::\n\n((?: {4}.*\n?|\n)+)", re.MULTILINE)
NAME = re.compile(r"^::: (rk|rewardkit[\w.]*)\.([\w.]+)(?:: (.+))?$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the tracked files outside `docs/` under their own paths."""
    tracked = subprocess.run(["git", "ls-files", *OUTSIDE], capture_output=True, text=True, check=True).stdout
    for path in tracked.splitlines():
        files.append(File(path, ".", config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at places in the site, and write out names of the API."""
    here = page.file.src_uri
    source = here if page.file.src_dir == "." else f"docs/{here}"

    def moved(link: re.Match[str]) -> str:
        target = normpath(f"{source}/../{link[2]}").removeprefix("docs/")
        return link[1] + relpath(target, f"{here}/..")

    def documented(name: re.Match[str]) -> str:
        prefix, path, members = name.groups()
        first, dot, rest = path.partition(".")
        home = PUBLIC[first] + dot + rest if prefix == "rk" else f"{prefix}.{path}"
        options = [
            f"heading: {prefix}.{path}",
            f"toc_label: {path}",
            f"members: [{members}]" if members else "members: false",
        ]
        return f"::: {home}\n    options:\n" + "".join(f"      {option}\n" for option in options)

    return NAME.sub(documented, LINK.sub(moved, UNTESTED.sub(r"\1", markdown)))


def public_names() -> dict[str, str]:
    """Return where each public name is defined: ``{"reward": "rewardkit.tree.decorator.reward"}``."""
    homes: dict[str, str] = {}
    for statement in ast.parse(Path("rewardkit/__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom):
            homes |= {name.name: f"{statement.module}.{name.name}" for name in statement.names}
        elif isinstance(statement, ast.Assign):  # extract = extraction
            homes[ast.unparse(statement.targets[0])] = homes.pop(ast.unparse(statement.value))
    return homes


PUBLIC = public_names()


class Fences(griffe.Extension):
    """Fence the code that ``::`` introduces."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = BLOCK.sub(fenced, obj.docstring.value)


def fenced(block: re.Match[str]) -> str:
    before = f"{block[1]}:" if block[1] else ""
    return f"{before}\n\n```python\n{dedent(block[2]).strip()}\n```\n\n"
