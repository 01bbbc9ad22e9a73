"""Print how large the product is: code lines, modules, importers, names, verbs, packages, and what a command loads.

Code lines are those without docstrings, comments and blanks. An importer is a module of ours that names another in an
import statement, at the top or in a function; an ``__init__`` does not count.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOTS = (ROOT, ROOT / "adapters")
_REWARD = "import rewardkit as rk\nr = rk.number('gold')\nEXAMPLES = [{'gold': 1}]\nGOOD = ['1']\n"
_COMMANDS = {
    "check --laws total": "check {folder}/f.py:r --laws total --no-exploits",
    "score rows.jsonl": "score {folder}/rows.jsonl --reward {folder}/f.py:r --out {folder}/out.jsonl",
}
_RUN = "from rewardkit.cli.main import main\nassert main({}) == 0"
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def modules() -> dict[str, Path]:
    """Return the path of each module of the product, by its dotted name."""
    paths = list((ROOT / "rewardkit").rglob("*.py")) + list((ROOT / "adapters").rglob("*.py"))
    return {_dotted(path): path for path in paths}


def _dotted(path: Path) -> str:
    root = ROOTS[1] if path.is_relative_to(ROOTS[1]) else ROOTS[0]
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def code_lines(text: str) -> int:
    """Return the number of lines that hold code."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def imported(path: Path, names: set[str]) -> Iterator[str]:
    """Yield the modules of ours that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield whole if whole in names else node.module


def loaded(code: str) -> int:
    """Return how many modules of ours a fresh interpreter has loaded after running `code`."""
    after = "\nimport sys; print(sum(name.partition('.')[0].startswith('rewardkit') for name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code + after], capture_output=True, text=True, cwd=ROOT, check=True)
    return int(result.stdout.split()[-1])


def main() -> None:
    paths = modules()
    importers: dict[str, set[str]] = defaultdict(set)
    for module, path in paths.items():
        if path.name != "__init__.py":
            for name in imported(path, set(paths)):
                importers[name].add(module)
    once = [name for name, path in paths.items() if path.name != "__init__.py" and len(importers[name]) == 1]
    counted = [name for name, path in paths.items() if path.name != "__init__.py"]
    import rewardkit
    from rewardkit.cli.main import parser

    verbs = next(action.choices for action in parser()._actions if isinstance(action.choices, dict))
    packages = {name.partition(".")[0] for name in paths}
    print(f"code lines: {sum(code_lines(path.read_text(encoding='utf-8')) for path in paths.values()):,}")
    print(f"modules: {len(paths)}")
    print(f"modules with one importer: {len(once)} of {len(counted)}, {len(once) / len(counted):.1%}")
    print(f"public names: {len(rewardkit.__all__)}; verbs: {len(verbs)}; packages: {len(packages)}")
    print(f"modules loaded by import rewardkit: {loaded('import rewardkit')}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f.py").write_text(_REWARD)
        Path(folder, "rows.jsonl").write_text('{"completion": "1", "gold": 1}\n{"completion": "2", "gold": 1}\n')
        for verb, command in _COMMANDS.items():
            print(f"modules loaded by {verb}: {loaded(_RUN.format(command.format(folder=folder).split()))}")
    if "--once" in sys.argv:
        print(*sorted(f"{name} <- {next(iter(importers[name]))}" for name in once), sep="\n")


if __name__ == "__main__":
    main()
