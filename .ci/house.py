"""Checks that no linter makes: circles of imports, modules without need, siblings, nodes, the public API, names.

``python .ci/house.py`` prints what is wrong and exits with 1. All kinds of imports count: at the top of a module,
inside functions, and for type checking alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import grimp

PACKAGES = ("rewardkit", "rewardkit_adapters")
ROOTS = (Path("rewardkit"), Path("adapters/rewardkit_adapters"))
LONGEST_CIRCLE = 2
BUNDLED = "orders"
BASES = {"Reward", "Schedule", "PerformanceSchedule"}
"""What a concrete node of a tree, or a schedule, is a subclass of."""
SIBLINGS: dict[str, dict[str, set[str]]] = {
    "rewardkit.rewards": {
        "agents": {"tool_calls"},
        "code": {"sandbox"},
        "json_match": {"assignment"},
        "tool_calls": {"assignment"},
    },
    "rewardkit_adapters": {
        "trl": {"live"},
        "live": {"trl"},
        "axolotl": {"trl", "live"},
        "runner": {"trl", "live", "reasoning_gym"},
    },
}
"""The parts of a package that may know others; all other parts are independent."""
ALONE = {
    "rewardkit.alerts.*": "a registry: one file per pattern",
    "rewardkit.page.tabs.*": "a registry: one file per tab",
    "rewardkit.rewards.instructions.*": "a registry: one file per family of instructions",
    "rewardkit.rewards.sandbox.dialogue": "its source is sent into the sandbox",
    "rewardkit.rewards.tool_calls": "a ready reward, which `agents` offers as well",
    "rewardkit.rewards.choice.claims": "its engine, which is longer than the reward",
    "rewardkit.rewards.math_equal.statements": "its engine, which is longer than the reward",
    "rewardkit.rewards.number.final": "its engine, which is longer than the reward",
    "rewardkit.rewards.judges.endpoint.transport": "loads aiohttp",
    "rewardkit.report.html": "loaded for pages only",
    "rewardkit.online.recording": "loads the store, for record= only",
    "rewardkit.scoring.tables": "loads pyarrow, for its formats only",
    "rewardkit.serve.dispatcher": "the other half of the server, without HTTP",
    "rewardkit.check.collection": "pytest loads `pytest.py` in every run",
    "rewardkit.check.variants.strategies.contents": "contents are drawn apart from their layout; both are long",
    "rewardkit_adapters.openenv.rubrics": "imports OpenEnv",
    "rewardkit_adapters.ray.*": "imports Ray",
    "rewardkit_adapters.runner.interrupts": "imports torch",
    "rewardkit_adapters.runner.live_display": "imports transformers",
    "rewardkit_adapters.runner.memory_advice": "imports torch",
    "rewardkit_adapters.runner.launcher": "imports psutil, for several processes only",
    "rewardkit_adapters.runner.changes": "compares two configurations; the training only asks",
    "rewardkit_adapters.runner.preflight.*": "a registry: one file per part of the preflight",
    "rewardkit_adapters.trl.guard_callback": "imports transformers",
}
"""Modules that one other in their own folder imports alone, and why they are not a part of it."""
_PRONOUNS = """
one ones found said says place places seen known told shown held asked given made taken kept there these those theirs
ours mine own some others both whole way ways thing things wanted meant tried done gone heard beside apart what
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""Names that say nothing about a value: not what it is, not its type. A reader cannot search for them."""
MOST_PRONOUNS = 97
"""As many are left. Lower it when there are fewer; it never rises."""


def circles() -> Iterator[str]:
    """Files that import each other in a circle of more than two."""
    for circle in _strongly_connected(_imports()):
        if len(circle) > LONGEST_CIRCLE:
            yield f"{len(circle)} files import each other in a circle: {', '.join(sorted(circle))}"


def _imports() -> dict[str, set[str]]:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def siblings() -> Iterator[str]:
    """Ready rewards that know each other, and adapters that do."""
    for module, others in _imports().items():
        for package, allowed in SIBLINGS.items():
            depth = package.count(".") + 1
            if module.startswith(f"{package}."):
                own = module.split(".")[depth]
                for other in sorted(other for other in others if other.startswith(f"{package}.")):
                    part = other.split(".")[depth]
                    if part != own and part not in allowed.get(own, ()):
                        yield f"{module} imports {other}: {own} and {part} are independent parts of {package}"


def alone() -> Iterator[str]:
    """Modules that could be a part of the only one that imports them."""
    importers: dict[str, set[str]] = {}
    for module, others in _imports().items():
        if _path(module).name != "__init__.py":
            for other in others:
                importers.setdefault(other, set()).add(module)
    lonely = {
        module: importer
        for module, (importer, *more) in importers.items()
        if not more and importer.rpartition(".")[0] == module.rpartition(".")[0] and _path(module).name != "__init__.py"
    }
    for module, importer in sorted(lonely.items()):
        if not any(fnmatch(module, pattern) for pattern in ALONE):
            yield f"{module}: only {importer} imports it. Make it a part of that module, or give a reason in ALONE"
    for pattern in ALONE:
        if not any(fnmatch(module, pattern) for module in lonely):
            yield f"ALONE has a reason for {pattern}, which needs none: delete it"


def _path(module: str) -> Path:
    root = Path() if module.startswith("rewardkit.") or module == "rewardkit" else Path("adapters")
    package = root.joinpath(*module.split("."))
    return package / "__init__.py" if package.is_dir() else package.with_suffix(".py")


def _strongly_connected(imports: dict[str, set[str]]) -> Iterator[list[str]]:
    """Tarjan's strongly connected components (SIAM J. Comput. 1, 1972), without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    for start in imports:
        work = [] if start in number else [(start, iter(sorted(imports[start])))]
        if work:
            number[start] = low[start] = len(number)
            path.append(start)
        while work:
            module, others = work[-1]
            other = next(others, None)
            if other is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == number[module]:
                    cut = path.index(module)
                    yield path[cut:]
                    del path[cut:]
            elif other not in number:
                number[other] = low[other] = len(number)
                path.append(other)
                work.append((other, iter(sorted(imports[other]))))
            elif other in path:
                low[module] = min(low[module], number[other])


def questions() -> Iterator[str]:
    """``isinstance`` (or ``match``) of a concrete node or schedule outside its own file."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in _files()}
    concrete = {
        (_module(path), node.name)
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name not in BASES and BASES & {_name(base) for base in node.bases}
    }
    for path, tree in trees.items():
        imported = {
            name.asname or name.name: (node.module, name.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for place in ast.walk(tree):
            for name in sorted(_asked(place)):
                if imported.get(name) in concrete:
                    yield f"{path}:{place.lineno}: asks whether something is a {name}; let the node declare it"  # type: ignore[attr-defined]


def pronouns() -> Iterator[str]:
    """More variables and parameters with the name of a pronoun or a participle than there were."""
    count = 0
    for path in _files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg):
                count += node.arg.strip("_") in PRONOUNS
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                count += node.id.strip("_") in PRONOUNS
    if count > MOST_PRONOUNS:
        yield f"{count:,} names are pronouns (`one`, `found`, `said`, ...), {count - MOST_PRONOUNS} more than before"
    elif count < MOST_PRONOUNS - 20:
        yield f"only {count:,} names are pronouns now: lower MOST_PRONOUNS to that"


def _files() -> Iterator[Path]:
    """All source files but those of the bundled project, which is a user's."""
    for root in ROOTS:
        yield from (path for path in sorted(root.rglob("*.py")) if BUNDLED not in path.parts)


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[1:] if parts[0] == "adapters" else parts)


def _asked(place: ast.AST) -> set[str]:
    """The classes that a piece of code asks about."""
    if isinstance(place, ast.Call) and _name(place.func) in ("isinstance", "issubclass") and len(place.args) == 2:
        return {_name(node) for node in ast.walk(place.args[1])}
    return {_name(place.cls)} if isinstance(place, ast.MatchClass) else set()


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def face_users() -> Iterator[str]:
    """Files of the library that import the public API, which is lazy for users alone."""
    for path in _files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                through = any(name.name == "rewardkit" for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                through = node.module == "rewardkit" and not all(_is_module(name.name) for name in node.names)
            else:
                continue
            if through:
                yield f"{path}:{node.lineno}: imports the public API; import from where it is defined"


def _is_module(name: str) -> bool:
    return Path("rewardkit", name).is_dir() or name == "__version__"


def main() -> int:
    found = [*circles(), *siblings(), *alone(), *questions(), *face_users(), *pronouns()]
    print(
        "\n".join(found)
        or "In order: no circles, independent siblings, no module without need, no questions about concrete nodes, "
        "no use of the public API, no more pronouns as names."
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
