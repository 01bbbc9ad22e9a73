"""What several operators ask about a node."""

from __future__ import annotations

import ast


def called(node: ast.AST | None) -> str:
    """Return the last name of what a call calls: ``search`` for ``re.search(...)``; "" if it is no call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def number(node: ast.AST | None) -> float | None:
    """Return the value of a number that is written out, with its sign; None for everything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    written = node.value if isinstance(node, ast.Constant) else None
    return float(written) if isinstance(written, (int, float)) and not isinstance(written, bool) else None


def is_text(node: ast.AST | None) -> bool:
    """Return whether it is text that is written out."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def grouped(text: str) -> str:
    """Return an expression that can stand anywhere."""
    return f"({text})"
