"""What the site needs beyond its Markdown; `mkdocs.yml` loads this file.

- Recipes, measurements and the changelog, which are not in `docs/`, become pages of the site, and links follow.
- On the pages of `docs/api/`, ``::: rk.reward`` is the documentation of that public name. Members of a class follow
  a colon (``::: rk.Reward: named, clip``). A table at the top of the page lists them all.
- On all other pages, inline code such as `rk.gate` or `check_reward(...)` links to the reference.
- Blocks that the tests do not run are marked ``notest`` after their language, which is not Markdown.
- Docstrings introduce code with ``::``, which Markdown does not know.
- `llms.txt` lists the pages for language models, with links to their Markdown.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from os.path import normpath, relpath
from pathlib import Path
from textwrap import dedent
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

OUTSIDE = ["CHANGELOG.md", "benchmarks/*.md", "benchmarks/learning/*.png", "cookbook"]
UNTESTED = re.compile(r"^(```\w+) notest$", re.MULTILINE)
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]+)")
BLOCK = re.compile(r"^(.*)::\n\n((?: {4}.*\n?|\n)+)", re.MULTILINE)
NAME = re.compile(r"^::: (rk|rewardkit[\w.]*)\.([\w.]+)(?:: (.+))?$", re.MULTILINE)
FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
MENTION = re.compile(r"(?<!\[)`((?:rk\.)?[A-Za-z][\w.]*)(\([^`\n]*\))?`(?!\])")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Link to the repository, once `pyproject.toml` names it."""
    address = re.search(r'^Repository = "([^"]+)"', Path("pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    if address and "OWNER" not in address[1]:
        config.repo_url = address[1]
    return config


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
    if page.file.src_dir == ".":  # evidence and history, which would be the first answer to many questions
        page.meta["search"] = {"exclude": True}
    elif here.startswith("api/") or here in ("commands.md", "laws.md", "index.md"):
        page.meta["search"] = {"boost": 0.1}  # they have every word, and the names of a guide are more specific
    elif here.startswith("trainers/"):
        page.meta["search"] = {"boost": 2}  # a reader who names a trainer wants its page

    def moved(link: re.Match[str]) -> str:
        target = normpath(f"{source}/../{link[2]}").removeprefix("docs/")
        return link[1] + relpath(target, f"{here}/..")

    markdown = LINK.sub(moved, UNTESTED.sub(r"\1", markdown))
    if not here.startswith("api/"):
        return linked(markdown)
    title, _, rest = markdown.partition("\n\n")
    return f"{title}\n\n{summary(markdown)}\n\n{NAME.sub(documented, rest)}"


def documented(name: re.Match[str]) -> str:
    """Return the block with which mkdocstrings documents a name."""
    prefix, path, members = name.groups()
    options = [
        f"heading: {prefix}.{path}" if prefix == "rk" else f"heading: {path}",
        f"toc_label: {path}",
        f"members: [{members}]" if members else "members: false",
    ]
    return f"::: {home(prefix, path)}\n    options:\n" + "".join(f"      {option}\n" for option in options)


def home(prefix: str, path: str) -> str:
    """Return the full path of a name of the reference: ``("rk", "gate")`` is ``rewardkit.combine.gate.gate``."""
    first, dot, rest = path.partition(".")
    return PUBLIC[first] + dot + rest if prefix == "rk" else f"{prefix}.{path}"


def summary(markdown: str) -> str:
    """Return a table of the names that a page of the reference documents, with their first sentences."""
    rows = []
    for prefix, path, _ in NAME.findall(markdown):
        documentation = docstring(home(prefix, path)).split("\n\n")[0]
        sentence = " ".join(re.split(r"(?<=\.)\s|:$", documentation)[0].split()).replace("|", "\\|")
        shown = f"rk.{path}" if prefix == "rk" else path
        rows.append(f"| [`{shown}`][{home(prefix, path)}] | {sentence} |")
    return "\n".join(["| name | |", "|---|---|", *rows]) if rows else ""


@functools.cache
def sources() -> griffe.GriffeLoader:
    loader = griffe.GriffeLoader(search_paths=[".", "adapters"], allow_inspection=False)
    for package in ("rewardkit", "rewardkit_adapters"):
        loader.load(package)
    return loader


def docstring(path: str) -> str:
    """Return the docstring of the object at `path`."""
    documentation = sources().modules_collection[path].docstring
    return documentation.value if documentation else ""


def linked(markdown: str) -> str:
    """Link the names of the API in inline code to the reference, except in headings, links and blocks of code."""
    pieces = FENCE.split(markdown)
    return "".join(piece if index % 2 else "".join(linked_lines(piece)) for index, piece in enumerate(pieces))


def linked_lines(prose: str) -> Iterator[str]:
    for line in prose.splitlines(keepends=True):
        yield line if line.startswith("#") else MENTION.sub(link_to_reference, line)


def link_to_reference(mention: re.Match[str]) -> str:
    target = reference().get(mention[1])
    return f"[{mention[0]}][{target}]" if target else mention[0]


@functools.cache
def reference() -> dict[str, str]:
    """Return the path of every name in the reference: by ``rk.name``, and by ``name`` if it is not an everyday word."""
    names = {}
    for page in sorted(Path("docs/api").glob("*.md")):
        for prefix, path, _ in NAME.findall(page.read_text(encoding="utf-8")):
            names[f"{prefix}.{path}"] = home(prefix, path)
            if "_" in path or path != path.lower():
                names.setdefault(path, home(prefix, path))
    return names


NAVIGATION: list[Navigation] = []


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the navigation, which `llms.txt` lists at the end."""
    NAVIGATION[:] = [nav]
    return nav


def on_post_build(config: MkDocsConfig) -> None:
    """Write `llms.txt` (https://llmstxt.org), and the Markdown of each page beside its HTML."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    for item in NAVIGATION[0].items:
        lines += listed(item, Path(config.site_dir), 2)
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def listed(item: Any, site: Path, depth: int) -> Iterator[str]:
    """Yield the lines of `llms.txt` for a page or a section, and copy the Markdown of pages."""
    if isinstance(item, Section):
        yield f"\n{'#' * depth} {item.title}\n"
        for child in item.children:
            yield from listed(child, site, depth + 1)
    elif isinstance(item, Page):
        markdown = (Path(item.file.src_dir) / item.file.src_uri).read_text(encoding="utf-8")
        copy = site / item.file.src_uri
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(UNTESTED.sub(r"\1", markdown), encoding="utf-8")
        yield f"- [{item.title}]({item.file.src_uri}): {first_sentence(markdown)}"


def first_sentence(markdown: str) -> str:
    """Return the first sentence below the title, without links and code blocks."""
    for paragraph in FENCE.sub("", markdown).split("\n\n")[1:]:
        text = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph).split())
        if text and text[0] not in "#|-!<:":
            return re.split(r"(?<=[.:]) ", text)[0]
    return ""


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
