"""Habits that make our English hard to read, as patterns over prose, with what to write instead.

``python -m tests.wording.english FILE...`` prints every line of the prose of Markdown files that has one of them;
without a file, it prints those of everything else that users read: `helps`, `strings`, `docstrings`, `checks`.

An error or a log line starts with a lower-case letter, unless its first word is a name ("TRL", "GitHub"), and ends
without a period. A period separates its sentences: "row 3: the cell is empty. Fill it, or drop the row".
"""

from __future__ import annotations

import argparse
import ast
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.wording import snapshot

CODE = re.compile(
    r"^([ >]*)```.*?^\1```$|`[^`\n]+`|(?<=\])\([^)\s]*\)|<!--.*?-->|https?://\S+", re.MULTILINE | re.DOTALL
)
"""Fenced and inline code, targets of links, comments: not prose."""

HABITS = {
    "noun clause with what": (
        r"\bwhat (it|is|a|the|they|was|can|cannot|has|does|only|counts|follows|waits|makes)\b",
        "the noun: findings, pending calls",
    ),
    "heading that is a question word": (
        r"^#+ (What|Where|How(?!-to)|When|Which|Why)\b",
        "the keyword: Supported inputs",
    ),
    "X is no Y": (r"(?<!there )\b(is|are|be) no (?!longer|more\b)\w+", "is not a Y"),
    "things that say": (r"\bsays\b", "shows, names"),
    "things that tell or know": (r"\btells?\b|\bknows\b", "contains, shows, reports"),
    "pay and earn": (r"\b(pays?|paid|earns?|earned)\b", "scores, gets"),
    "right and wrong": (
        r"\b(right|wrong) (completion|answer|one|value|program|call|number|result)s?\b",
        "correct, incorrect",
    ),
    "trailing too": (r", too\b", "also, before the verb"),
    "of its own": (
        r"\b(of|in|on) (its|their|your|one's) own\b(?! \w)|of their own|\bby itself\b",
        "separate, its own process",
    ),
    "where for if": (r"(?<!from )\bwhere (it|nothing|no|any|a|the|its|only)\b", "if, when"),
    "beside": (r"\bbeside\b", "next to, in addition to"),
    "texts": (r"(?<!\*)\btexts\b(?![.)\]:])", "strings"),
    "from X on": (r"\bfrom [^.,:()]{1,35} on(?=[.,:;)]| and\b)", "starting with, after"),
    "inverted clause": (r"(?<=[.:] )So (do|does|is|are)\b|\bnor (do|does|is|are|if|can|has)\b", "subject, then verb"),
    "fronted of": (r"(?:^|(?<=[.:] ))Of (a|the|two|such)\b", "subject first"),
    "semicolon": (
        r"(?:(?<=[^\s}]); (?=\S)|(?<=\}); (?=[^\s{]))(?![^.;:]{1,60}: |and \S+ more)",
        "two sentences, or two cells of a table; fine between items such as `0: done; 1: stopped`",
    ),
    "those that": (r"\bthose (that|which)\b", "the noun"),
    "left out": (r"\b(left|leaves?|leaving)( \w+)? out\b", "excluded, omitted, skipped"),
    "truth": (r"(?<!ground[- ])\btruths?\b(?! value)", "ground-truth metric"),
    "two words for one": (
        r"\bdata sets?\b|\bhacks?\b|\bprimitives?\b|\bgold keys?\b",
        "dataset, exploit, ready reward, gold answer",
    ),
    "units": (r"\d %|\d us\b", "5%, 5 µs"),
    "rare words": (
        r"\b(mend\w*|surely|in force|on the spot|but for|anew|alike|whoever|nobody|somewhere|goes on)\b",
        "fix, active, immediately, except, again, the same, anyone who, no one, continues",
    ),
}
PATTERNS = {name: (re.compile(pattern, re.IGNORECASE | re.MULTILINE), rule) for name, (pattern, rule) in HABITS.items()}
PATTERNS["fronted of"] = (re.compile(HABITS["fronted of"][0], re.MULTILINE), HABITS["fronted of"][1])


def prose(markdown: str) -> str:
    """Return `markdown` without code, with the same line breaks."""
    return CODE.sub(lambda code: "`" + "\n" * code[0].count("\n"), markdown)


def habits(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, habit and rule, the passage) for each habit in `text`."""
    for name, (pattern, rule) in PATTERNS.items():
        for match in pattern.finditer(text):
            start, end = max(0, match.start() - 30), match.end() + 30
            yield text.count("\n", 0, match.start()) + 1, f"{name} -> {rule}", " ".join(text[start:end].split())


NOT_OURS = re.compile(
    "check/exploits/families/|check/variants/|check/programs/|check/completion/|alerts/phrases|text/phrases"
    "|rewards/instructions/vocabulary|rewards/judges/(judge|prompts|shield|transcripts)|rewards/sandbox/isolation|runner/tiny/"
)
"""Files with completions, phrases, prompts of judges, word lists and programs."""
NAMES = {"Axolotl", "Python", "Ray"}
"""Names with which an error may start."""
_CODE = re.compile(
    r"^\s*(import|from \S+ import|def|create schema) |default-src|charset=|; --|HttpOnly|\(\?|: \{[^}]*\}%;"
    r"|environment = |; from |globals\(\)"
)
_COMPLETION = re.compile("Bananas grow|To say it once more|so now we look at|the old stone hotel|word after the other")
_API = re.compile(r"^::: (rk|rewardkit[\w.]*)\.([\w.]+)(?:: (.+))?$", re.MULTILINE)


def pages(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the prose of Markdown files."""
    for path in paths:
        yield str(path), prose(path.read_text(encoding="utf-8"))


def helps() -> Iterator[tuple[str, str]]:
    """Yield the texts of ``rewardkit VERB --help``."""
    from rewardkit.cli.main import VERBS, parser

    commands = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)).choices
    for verb, command in commands.items():
        yield f"rewardkit {verb}", f"{VERBS[verb]}\n{command.description}\n{command.epilog or ''}"
        yield from ((f"rewardkit {verb} {action.dest}", action.help or "") for action in command._actions)


def errors() -> Iterator[tuple[str, str]]:
    """Yield each error and log line, with ``{}`` for its values."""
    for path, tree in snapshot.sources():
        for line, wording in () if NOT_OURS.search(path) else snapshot.wordings(tree):
            yield f"{path}:{line}", _without_values(wording)


def strings() -> Iterator[tuple[str, str]]:
    """Yield each string of the source that is prose: messages, findings, alerts, labels of the page, reports."""
    for path, tree in snapshot.sources():
        if not NOT_OURS.search(path):
            yield from ((f"{path}:{line}", _without_values(text)) for line, text in _strings(tree, _docstrings(tree)))


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the docstrings of the objects that the pages of ``docs/api`` show, without code."""
    for page in sorted((snapshot.ROOT / "docs/api").glob("*.md")):
        for home, path, members in _API.findall(page.read_text(encoding="utf-8")):
            name = f"{home}.{path}".replace("rk.", "rewardkit.", 1) if home == "rk" else f"{home}.{path}"
            for where in (name, *(f"{name}.{member}" for member in members.split(", ") if member)):
                text = getattr(pkgutil.resolve_name(where), "__doc__", None) or ""
                text = re.sub(r"::\n\n(?: {4,}.*\n?|\n)+|``.+?``|`.+?`", "`", text, flags=re.DOTALL)
                yield where, " ".join(text.split())


def checks() -> Iterator[tuple[str, str]]:
    """Yield the docstrings of laws and mutation operators, and the names of exploits, which reports print."""
    from rewardkit.check import laws
    from rewardkit.check.exploits import CATALOG
    from rewardkit.check.mutants import operators

    yield from ((law.name, " ".join(law.__doc__.split())) for law in laws.ALL)
    yield from ((name, " ".join((operator.__doc__ or "").split())) for name, operator in operators.ALL.items())
    yield from ((exploit.family, exploit.name) for exploit in CATALOG)


def _strings(node: ast.AST, skipped: set[ast.AST]) -> Iterator[tuple[int, str]]:
    if node in skipped or (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "compile"):
        return
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)) and (text := snapshot.text_of(node)):
        if re.search(r"\w \S|\S \w", _without_values(text)) and not (_CODE.search(text) or _COMPLETION.search(text)):
            yield node.lineno, text
        children = [part.value for part in ast.walk(node) if isinstance(part, ast.FormattedValue)]
    for child in children:
        yield from _strings(child, skipped)


def _docstrings(tree: ast.Module) -> set[ast.AST]:
    """Return the strings that are statements."""
    return {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _without_values(text: str) -> str:
    shorter = re.sub(r"\{[^{}]*\}", "{}", text)
    return shorter if shorter == text else _without_values(shorter) if "{{" in shorter else shorter


def hits(kind: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each habit in the texts of one kind."""
    for where, text in kind:
        for line, habit, passage in sorted(habits(text)):
            yield f"{where}{f':{line}' if where.endswith('.md') else ''}: {habit}: ...{passage}..."


def misformed(messages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the errors and log lines that end with a period, or start with a capital letter without a name."""
    for where, wording in messages:
        kind, _, message = wording.partition(": ")
        if kind == "LiteralError":  # a sentence of a longer message
            continue
        if message.endswith(".") and not message.endswith("..."):
            yield f"{where}: ends with a period: {wording}"
        is_part = kind.startswith(" ")  # a later sentence
        if not is_part and re.match(r"[A-Z][a-z]+ ", message) and message.split()[0] not in NAMES:
            yield f"{where}: starts with a capital letter: {wording}"


if __name__ == "__main__":
    files = [Path(name) for name in sys.argv[1:]]
    for kind in [pages(files)] if files else [helps(), strings(), docstrings(), checks()]:
        print(*hits(kind), sep="\n")
