"""Refactorings of the parts of a reward: constants get names, addends get names or another order.

``constants(tree, functions, chance)`` changes the tree, and returns whether it did.
"""

from __future__ import annotations

import ast
import random

Function = ast.FunctionDef | ast.AsyncFunctionDef


def has(function: Function, *kinds: type[ast.AST]) -> bool:
    return any(isinstance(node, kinds) for node in ast.walk(function))


def parameters(function: Function) -> set[str]:
    return {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}


class _Constants(ast.NodeTransformer):
    def __init__(self) -> None:
        self.made: dict[str, ast.Constant] = {}

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float, str)) or len(self.made) >= 3:
            return node
        name = f"_CONSTANT_{len(self.made)}"
        self.made[name] = node
        return ast.Name(name, ast.Load())


def constants(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """Numbers and texts of a function are constants of the module."""
    find = _Constants()
    for function in used:
        if has(function, ast.Match):
            continue
        body = function.body
        start = 1 if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else 0
        function.body = [*body[:start], *(find.visit(one) for one in body[start:])]
    place = next(
        (n for n, one in enumerate(tree.body) if isinstance(one, (ast.FunctionDef, ast.ClassDef, ast.Assign))), 0
    )
    tree.body[place:place] = [ast.Assign([ast.Name(name, ast.Store())], value) for name, value in find.made.items()]
    return bool(find.made)


class _Sums(ast.NodeTransformer):
    def __init__(self) -> None:
        self.done = 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        if not isinstance(node.op, ast.Add):
            return node
        self.done += 1
        return ast.BinOp(self.visit(node.right), ast.Add(), self.visit(node.left))


def other_order(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """The addends of a composed reward have another order."""
    swap = _Sums()
    for one in tree.body:
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "reward":
            one.value = swap.visit(one.value)
    return swap.done > 0


def named_parts(tree: ast.Module, used: list[Function], chance: random.Random) -> bool:
    """The addends of a composed reward are variables."""
    for number, one in enumerate(tree.body):
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "reward" and isinstance(one.value, ast.BinOp):
            left, right = one.value.left, one.value.right
            one.value = ast.BinOp(ast.Name("_first", ast.Load()), one.value.op, ast.Name("_second", ast.Load()))
            names = [
                ast.Assign([ast.Name(name, ast.Store())], value)
                for name, value in (("_first", left), ("_second", right))
            ]
            tree.body[number:number] = names
            return True
    return False
