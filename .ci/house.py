"""Checks that no linter makes: circles of imports, siblings, nodes that answer for themselves, the lazy public API.

``python .ci/house.py`` prints what is wrong and exits with 1. All kinds of imports count: at the top of a module,
inside functions, and for type checking alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
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
    found = [*circles(), *siblings(), *questions(), *face_users()]
    print(
        "\n".join(found)
        or "In order: no circles, independent siblings, no questions about concrete nodes, no use of the public API."
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
