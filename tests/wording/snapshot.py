"""The wording of all errors and warnings, read from the source: one text file that a person can read top to bottom.

``python -m tests.wording.snapshot`` writes ``errors.txt`` again. Values are shown as in the code: ``{shorten(value)}``.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("errors.txt")
_SOURCES = ("rewardkit", "adapters")
_RAISED = re.compile(
    r"(Error|Bug|Failure|Stopped|InvalidReturn|LiteralError|Malformed|Skip|Unfinished|Refusal|Exit|Warning)$"
)
_LOGGED = {"warn", "warning", "error"}
_WIDTH = 118


def snapshot() -> str:
    """All wordings by file, in the order of the source."""
    result: list[str] = []
    for path, tree in sources():
        lines = list(dict.fromkeys(line for _, line in wordings(tree)))
        if lines:
            result += [path, *(_wrapped(line) for line in lines), ""]
    return "\n".join(result)


@cache
def sources() -> list[tuple[str, ast.Module]]:
    """Return the path and the syntax tree of each file of the product."""
    paths = sorted(path for source in _SOURCES for path in (ROOT / source).rglob("*.py"))
    return [(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def wordings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the wording of each error and log line of a file, its kind first."""
    for function in _functions(tree):
        texts = {
            target.id: text
            for node in _own(function)
            if isinstance(node, ast.Assign) and (text := text_of(node.value))
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in _own(function):
            if isinstance(node, ast.Call) and (kind := _kind(node)):
                message = " ".join(filter(None, map(text_of, node.args[:1])))
                if " " in message:
                    yield node.lineno, f"{kind}: {message}"
                    for name in re.findall(r"\{(\w+)\}", message):
                        if " " in texts.get(name, ""):
                            yield node.lineno, f"    {name}: {texts[name]}"


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    yield from (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, or of a module, without those of the functions inside; in the order of the source."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
            yield from _own(node)


def _kind(call: ast.Call) -> str:
    """The class of the error that a call makes, or how it is logged; empty for any other call."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id if _RAISED.search(function.id) or function.id in _LOGGED else ""
    if isinstance(function, ast.Attribute):
        if function.attr in _LOGGED:
            return f"log {function.attr}"
        return function.attr if _RAISED.search(function.attr) and not function.attr.startswith("_") else ""
    return ""


def text_of(node: ast.expr) -> str:
    """Return the text of an expression, its values in braces; empty if it has none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else _placeholder(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (text_of(node.left) or _braced(node.left)) + (text_of(node.right) or _braced(node.right))
    if isinstance(node, ast.IfExp):
        return f"[{text_of(node.body) or _braced(node.body)} | {text_of(node.orelse) or _braced(node.orelse)}]"
    return ""


def _placeholder(part: ast.expr) -> str:
    return _braced(part.value) if isinstance(part, ast.FormattedValue) else ast.unparse(part)


def _braced(node: ast.expr) -> str:
    return f"{{{ast.unparse(node)}}}"


def _wrapped(line: str) -> str:
    indent = "      " if line.startswith("    ") else "  "
    shown = line.strip().replace("\n", "\\n")
    return textwrap.fill(
        shown,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


if __name__ == "__main__":
    FILE.write_text(snapshot(), encoding="utf-8")
