"""Operators: ordinary bugs in reward functions and programs, each as a change in one place.

An operator accepts a `Site` and yields replacement texts. Reports show the operator's name and its docstring, which
describes the bug. `OF_REWARDS` maps names to operators for reward functions, and `OF_SOLUTIONS` maps names to operators
for solutions to coding tasks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from rewardkit.check.mutants.sites import (
    Node,
    Operator,
    Site,
    called,
    calls_re,
    for_nodes,
    grouped,
    is_text,
    number,
    operator_of,
)

OF_REWARDS: dict[str, Operator] = {}
OF_SOLUTIONS: dict[str, Operator] = {}


def operator(
    kind: type[Node], *, rewards: bool = True, solutions: bool = False
) -> Callable[[Callable[[Site, Node], Iterator[str]]], Operator]:
    """Register a function as an operator for nodes of one kind. The function receives the site and the node.

    Args:
        kind: the type of syntax tree nodes.
        rewards: whether the bug is common in reward functions.
        solutions: whether the bug is common in solutions to coding tasks.
    """

    def register(change: Callable[[Site, Node], Iterator[str]]) -> Operator:
        apply = for_nodes(kind, change)
        if rewards:
            OF_REWARDS[change.__name__] = apply
        if solutions:
            OF_SOLUTIONS[change.__name__] = apply
        return apply

    return register


# Bugs in solutions of coding tasks: a wrong operator, a number off by one, a missing step.


_OTHER_OPERATOR: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_OTHER_COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_OF_LISTS, _OF_NUMBERS = ("sorted", "reversed", "set"), ("abs", "round", "int")


@operator(ast.BinOp, rewards=False, solutions=True)
def other_operator(site: Site, node: ast.BinOp) -> Iterator[str]:
    """Two numbers are added instead of subtracted, or multiplied instead of divided."""
    if type(node.op) in _OTHER_OPERATOR:
        yield grouped(f"{site.of(node.left)} {_OTHER_OPERATOR[type(node.op)]} {site.of(node.right)}")


@operator(ast.Compare, rewards=False, solutions=True)
def other_comparison(site: Site, node: ast.Compare) -> Iterator[str]:
    """A comparison is reversed."""
    if len(node.ops) == 1:
        sign = _OTHER_COMPARISON[type(node.ops[0])]
        yield grouped(f"{site.of(node.left)} {sign} {site.of(node.comparators[0])}")


@operator(ast.expr, rewards=False, solutions=True)
def nudged_number(site: Site, node: ast.expr) -> Iterator[str]:
    """A number is one too large or too small."""
    value = number(node)
    if value is not None and value == int(value) and not isinstance(site.parent, ast.UnaryOp):
        yield grouped(str(int(value) + 1))
        yield grouped(str(int(value) - 1))


@operator(ast.Return, rewards=False, solutions=True)
def nothing_returned(site: Site, node: ast.Return) -> Iterator[str]:
    """A result is computed, but not returned."""
    if node.value is not None:
        yield "return None"


@operator(ast.AST, rewards=False, solutions=True)
def lost_step(site: Site, node: ast.AST) -> Iterator[str]:
    """A step is missing: a call whose result is not used, or a function such as ``sorted``."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and called(node.value) != "print":
        yield "pass"
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Name):
        inside = site.of(node.args[0])
        if node.func.id in _OF_LISTS:
            yield f"list({inside})"
        if node.func.id in _OF_NUMBERS:
            yield grouped(inside)


@operator(ast.AST, rewards=False, solutions=True)
def lost_case(site: Site, node: ast.AST) -> Iterator[str]:
    """A loop ends early, or a case is never reached."""
    if isinstance(node, ast.Continue):
        yield "break"
    if isinstance(node, ast.Break):
        yield "continue"
    if isinstance(site.parent, ast.If) and site.parent.test is node:
        yield "False"


# Bugs in regular expressions: a missing flag, a search that finds too much, a greedy or an endless pattern.


_FLAGS = frozenset(("DOTALL", "S", "MULTILINE", "M", "IGNORECASE", "I"))
# "\d+", ".*", "(?:", "[^": text that is almost certainly a pattern.
_LOOKS_LIKE_A_PATTERN = re.compile(r"\\[dswbDSWAZ]|\.[*+]|\(\?|\[\^|[\])][*+?]")
# "(?is)".
_INLINE_FLAGS = re.compile(r"\(\?[ims]+\)")
# The "?" of ".*?", which makes it lazy, but not the "?" of "a?", which makes it optional.
_LAZY = re.compile(r"(?<=[*+}?])\?(?=[^?]|\Z)")
# An optional sign: "-?", "[-+]?".
_SIGN = re.compile(r"(?:\[(?:\\?-\\?\+|\\?\+\\?-|\\?-)\]|(?<![\[\\])\\?-)\?")
# "^", "$", "\b", "\A", "\Z", but not the "^" of "[^a]".
_ANCHOR = re.compile(r"\\[bAZ]|(?<![\[\\])\^|(?<!\\)\$")
# The comma of "[\d,]": without it, 1,000 is read as 1.
_SEPARATOR_IN_CLASS = re.compile(r"(?<=\[)([^\[\]]*)([,.])([^\[\]]*)(?=\])")
# "\d+", "\w*", ".*?".
_REPEATED = re.compile(r"\\[dsw][*+]|\.[*+]\??")


@operator(ast.expr)
def dropped_flag(site: Site, node: ast.expr) -> Iterator[str]:
    """A flag is missing: without re.DOTALL, "." does not match a line break."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        for flag, rest in ((node.left, node.right), (node.right, node.left)):
            if _is_flag(flag):
                yield site.of(rest)
    if _is_flag(node) and isinstance(site.parent, (ast.Call, ast.keyword)):
        yield "0"
    if _is_pattern(site) and _INLINE_FLAGS.search(site.text):
        yield _INLINE_FLAGS.sub("", site.text)


@operator(ast.Attribute)
def searched(site: Site, node: ast.Attribute) -> Iterator[str]:
    """A match anywhere is accepted, although the whole text, or its beginning, must match."""
    if site.is_called and node.attr in ("fullmatch", "match"):
        yield site.text[: -len(node.attr)] + "search"


@operator(ast.Constant)
def greedy(site: Site, node: ast.Constant) -> Iterator[str]:
    """A pattern matches as much as possible, that is, everything from the first mark to the last."""
    if _is_pattern(site):
        yield from _replace_each(_LAZY, site.text, "")


@operator(ast.Constant)
def lost_sign_in_pattern(site: Site, node: ast.Constant) -> Iterator[str]:
    """A pattern for numbers ignores the minus sign."""
    if _is_pattern(site):
        yield from _replace_each(_SIGN, site.text, "")


@operator(ast.Constant)
def lost_anchor(site: Site, node: ast.Constant) -> Iterator[str]:
    """A pattern also matches in the middle of a text or word."""
    if _is_pattern(site):
        yield from _replace_each(_ANCHOR, site.text, "")


@operator(ast.Constant)
def lost_separator(site: Site, node: ast.Constant) -> Iterator[str]:
    """A pattern for numbers does not allow the comma between thousands, or the decimal point."""
    if _is_pattern(site):
        yield from _replace_each(_SEPARATOR_IN_CLASS, site.text, r"\1\3")
        # "(?:\.\d+)?": the optional decimals of a number.
        yield from _replace_each(re.compile(r"\(\?:\\\.\\d[*+]\)\?|\(\\\.\\d[*+]\)\?"), site.text, "")


@operator(ast.Constant)
def endless_pattern(site: Site, node: ast.Constant) -> Iterator[str]:
    """A repetition is itself repeated, so that some strings take exponential time to match."""
    if _is_pattern(site):
        yield from _replace_each(_REPEATED, site.text, r"(?:\g<0>)+x?")


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _FLAGS and isinstance(node.value, ast.Name)


def _is_pattern(site: Site) -> bool:
    if not is_text(site.node):
        return False
    parent = site.parent
    if isinstance(parent, ast.Call) and calls_re(parent):
        return parent.args[:1] == [site.node]
    return isinstance(parent, (ast.Assign, ast.List, ast.Tuple)) and bool(_LOOKS_LIKE_A_PATTERN.search(site.text))


def _replace_each(pattern: re.Pattern[str], text: str, new: str) -> Iterator[str]:
    """Yield copies of the text, each with one match of `pattern` replaced."""
    for match in pattern.finditer(text):
        yield text[: match.start()] + match.expand(new) + text[match.end() :]


# Bugs in parsing text: the wrong one of several, a part instead of the whole, marks and spaces not removed.


_CLEANING = frozenset((
    "strip", "lstrip", "rstrip", "lower", "upper", "casefold", "replace", "removeprefix", "removesuffix", "title",
    "splitlines",
))  # fmt: skip
_FROM_THE_OTHER_END = {
    "rfind": "find", "rindex": "index", "rsplit": "split", "rpartition": "partition", "find": "rfind",
    "index": "rindex", "partition": "rpartition", "startswith": "endswith", "endswith": "startswith",
}  # fmt: skip


@operator(ast.expr, solutions=True)
def first_for_last(site: Site, node: ast.expr) -> Iterator[str]:
    """The first of several is used instead of the last, or vice versa."""
    if isinstance(node, ast.Subscript):
        index = number(node.slice)
        if index in (-1.0, 0.0):
            yield f"{site.of(node.value)}[{'0' if index else '-1'}]"
    if isinstance(node, ast.Attribute) and site.is_called and node.attr in _FROM_THE_OTHER_END:
        yield site.text[: -len(node.attr)] + _FROM_THE_OTHER_END[node.attr]


@operator(ast.expr, solutions=True)
def shifted_index(site: Site, node: ast.expr) -> Iterator[str]:
    """An index or a group number is off by one."""
    if isinstance(node, ast.Subscript):
        index = number(node.slice)
        if index is not None and index >= 0:
            yield f"{site.of(node.value)}[{int(index) + 1}]"
    if isinstance(node, ast.Call) and called(node) == "group" and len(node.args) == 1:
        index = number(node.args[0])
        if index is not None:
            yield f"{site.of(node.func)}({0 if index else 1})"


@operator(ast.Compare)
def contained(site: Site, node: ast.Compare) -> Iterator[str]:
    """The answer only has to occur in the text, or the text in the answer."""
    left, right = node.left, node.comparators[0]
    numeric = any(
        number(side) is not None or called(side) in ("len", "count", "float", "int", "abs") for side in (left, right)
    )
    if operator_of(node) is ast.Eq and not numeric:
        yield grouped(f"{site.of(right)} in {site.of(left)}")
        yield grouped(f"{site.of(left)} in {site.of(right)}")


@operator(ast.Call, solutions=True)
def lost_cleaning(site: Site, node: ast.Call) -> Iterator[str]:
    """Whitespace, case, units, or marks are not removed before the comparison."""
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in _CLEANING:
            yield site.of(node.func.value)
        if node.func.attr in ("sub", "subn") and len(node.args) >= 2:
            yield site.of(node.args[-1 if len(node.args) < 3 else 2])


@operator(ast.Subscript)
def lost_split(site: Site, node: ast.Subscript) -> Iterator[str]:
    """The text before a mark, such as the thinking, is not removed."""
    call = node.value
    splits = called(call) in ("split", "rsplit", "partition", "rpartition")
    if splits and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        yield site.of(call.func.value)


@operator(ast.Constant)
def half_a_mark(site: Site, node: ast.Constant) -> Iterator[str]:
    """The code looks for a tag without its brackets, or only for the opening tag."""
    text = node.value
    if not isinstance(text, str) or not isinstance(site.parent, (ast.Call, ast.Compare)):
        return
    if text.startswith("</") and text.endswith(">") and "\\" not in text:
        yield repr(text.replace("</", "<"))
        yield repr(text.strip("</>"))


@operator(ast.Call)
def evaluated(site: Site, node: ast.Call) -> Iterator[str]:
    """The completion is run as a program."""
    has_value = len(node.args) == 1 and not is_text(node.args[0])
    if has_value and isinstance(node.func, ast.Name) and node.func.id in ("float", "int"):
        yield f"{node.func.id}(eval(str({site.of(node.args[0])})))"


# Bugs in decisions and counting: a wrong or missing condition, an unlimited score, a reward for an error.


_BOUNDARY: dict[type[ast.cmpop] | None, str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_AGGREGATION = {"any": "all", "all": "any", "max": "min", "min": "max", "sum": "max"}


@operator(ast.expr)
def negated(site: Site, node: ast.expr) -> Iterator[str]:
    """A condition is negated."""
    parent = site.parent
    if isinstance(parent, (ast.If, ast.IfExp)) and parent.test is node:
        yield f"(not ({site.text}))"


@operator(ast.BoolOp, solutions=True)
def lost_condition(site: Site, node: ast.BoolOp) -> Iterator[str]:
    """One of several conditions is missing, or any one of them is enough."""
    joiner, other_joiner = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
    for condition in node.values:
        yield grouped(joiner.join(site.of(value) for value in node.values if value is not condition))
    yield grouped(other_joiner.join(map(site.of, node.values)))


@operator(ast.If, solutions=True)
def lost_guard(site: Site, node: ast.If) -> Iterator[str]:
    """A case that must be handled first is not handled."""
    if not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue)):
        yield "pass"


@operator(ast.Compare, solutions=True)
def shifted_boundary(site: Site, node: ast.Compare) -> Iterator[str]:
    """A value exactly at a limit is accepted or rejected by mistake."""
    if operator_of(node) in _BOUNDARY:
        yield grouped(f"{site.of(node.left)} {_BOUNDARY[operator_of(node)]} {site.of(node.comparators[0])}")


@operator(ast.Compare)
def any_number_of(site: Site, node: ast.Compare) -> Iterator[str]:
    """An exact number is required, but more are accepted."""
    if operator_of(node) is ast.Eq and (number(node.comparators[0]) or 0.0) > 0:
        yield grouped(f"{site.of(node.left)} >= {site.of(node.comparators[0])}")


@operator(ast.expr)
def wrong_tolerance(site: Site, node: ast.expr) -> Iterator[str]:
    """A tolerance is relative instead of absolute, or much too wide."""
    if isinstance(node, ast.Call) and called(node) in ("isclose", "allclose", "approx"):
        for keyword in node.keywords:
            if keyword.arg in ("abs_tol", "rel_tol"):
                other = "rel_tol" if keyword.arg == "abs_tol" else "abs_tol"
                if all(argument.arg != other for argument in node.keywords):
                    yield site.text.replace(keyword.arg, other)
                yield site.text.replace(site.of(keyword.value), "0.1")
    if isinstance(node, ast.Compare) and operator_of(node) in (ast.Lt, ast.LtE):
        limit = node.comparators[0]
        # A limit this small is a tolerance.
        if 0.0 < (number(limit) or 0.0) < 0.1:
            sign = "<" if operator_of(node) is ast.Lt else "<="
            yield grouped(f"{site.of(node.left)} {sign} {site.of(limit)} * 10_000")


@operator(ast.Call, solutions=True)
def lost_absolute_value(site: Site, node: ast.Call) -> Iterator[str]:
    """Every negative difference counts as small."""
    if called(node) in ("abs", "fabs") and len(node.args) == 1:
        yield grouped(site.of(node.args[0]))


@operator(ast.AST)
def paid_error(site: Site, node: ast.AST) -> Iterator[str]:
    """Text that cannot be parsed gets full marks."""
    if not any(isinstance(parent, ast.ExceptHandler) for parent in site.parents):
        return
    if isinstance(node, ast.Return) and (node.value is None or _is_low(node.value)):
        yield "return 1.0"
    if isinstance(node, ast.Constant) and _is_low(node) and called(site.parent) == "append":
        yield "1.0"
    if isinstance(node, ast.Raise):
        yield "return 1.0"


@operator(ast.expr)
def wrong_case(site: Site, node: ast.expr) -> Iterator[str]:
    """A case gets full marks instead of none, or none instead of full marks."""
    value, parent = number(node), site.parent
    is_result = isinstance(parent, (ast.Return, ast.IfExp)) or called(parent) == "append"
    if (
        is_result
        and value in (0.0, 1.0)
        and not any(isinstance(ancestor, ast.ExceptHandler) for ancestor in site.parents)
    ):
        yield "1.0" if value == 0.0 else "0.0"


@operator(ast.Call)
def unlimited(site: Site, node: ast.Call) -> Iterator[str]:
    """A score has no upper limit, or no lower limit."""
    if called(node) in ("min", "max") and len(node.args) == 2:
        for score, limit in (node.args, node.args[::-1]):
            if number(score) is None and number(limit) is not None:
                yield grouped(site.of(score))


@operator(ast.Name, solutions=True)
def wrong_aggregation(site: Site, node: ast.Name) -> Iterator[str]:
    """One is enough instead of all, or the best counts instead of the mean."""
    if isinstance(site.parent, ast.Call) and site.is_called:
        other = _AGGREGATION.get(node.id)
        arguments = site.parent.args
        if other and len(arguments) == 1 and not (node.id in ("min", "max") and number(arguments[0]) is not None):
            yield other


@operator(ast.AST, solutions=True)
def lost_term(site: Site, node: ast.AST) -> Iterator[str]:
    """A term or factor is missing."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        yield grouped(site.of(node.left))
        if isinstance(node.op, (ast.Add, ast.Mult)):
            yield grouped(site.of(node.right))
    if isinstance(node, ast.AugAssign):
        yield "pass"
        yield f"{site.of(node.target)} = {site.of(node.value)}"


@operator(ast.AST)
def wrong_sign(site: Site, node: ast.AST) -> Iterator[str]:
    """A penalty is added, or a bonus subtracted."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, (ast.Add, ast.Sub)):
        sign = "-" if isinstance(node.op, ast.Add) else "+"
        if isinstance(node, ast.AugAssign):
            yield f"{site.of(node.target)} {sign}= {site.of(node.value)}"
        elif not (is_text(node.left) or is_text(node.right)):
            yield grouped(f"{site.of(node.left)} {sign} {site.of(node.right)}")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(site.parent, ast.Subscript):
        yield grouped(site.of(node.operand))


@operator(ast.Call)
def swapped_arguments(site: Site, node: ast.Call) -> Iterator[str]:
    """Two arguments are swapped."""
    names = [argument for argument in node.args if isinstance(argument, (ast.Name, ast.Subscript, ast.Call))]
    if len(node.args) != 2 or len(names) != 2 or node.keywords:
        return
    if isinstance(node.func, ast.Name) and node.func.id not in ("zip", "min", "max", "isinstance", "range"):
        yield f"{node.func.id}({site.of(names[1])}, {site.of(names[0])})"


def _is_low(node: ast.expr) -> bool:
    value = number(node)
    is_none = isinstance(node, ast.Constant) and (node.value is None or node.value is False)
    return is_none or (value is not None and value <= 0.0)


# Bugs that show only in a batch: a completion's score depends on another completion, or on an earlier batch.


_COMPLETIONS = "completions"
_RESERVED = frozenset((_COMPLETIONS, "completion", "self", "trainer_state", "log_metric", "log_extra"))


@operator(ast.Return)
def best_for_all(site: Site, node: ast.Return) -> Iterator[str]:
    """All completions of a batch get the score of the best one."""
    if value := _scores_of(site, node):
        yield f"return (lambda scores: [max(scores)] * len(scores))(list({value}))"


@operator(ast.Return)
def sorted_scores(site: Site, node: ast.Return) -> Iterator[str]:
    """The scores are in a different order than the completions."""
    if value := _scores_of(site, node):
        yield f"return sorted({value})"


@operator(ast.Return)
def remembered(site: Site, node: ast.Return) -> Iterator[str]:
    """A cache is keyed by the completion alone, so an answer also scores for other questions."""
    if value := _scores_of(site, node):
        yield (
            "return [globals().setdefault('_paid', {}).setdefault(str(text), score) "
            f"for text, score in zip({_COMPLETIONS}, {value})]"
        )


@operator(ast.expr)
def kept_between_calls(site: Site, node: ast.expr) -> Iterator[str]:
    """A list or dict is kept between calls, like a mutable default argument."""
    statement = site.parent
    is_value = isinstance(statement, ast.Assign) and node is statement.value
    if is_value and site.functions and site.text in ("[]", "{}", "set()"):
        yield f"globals().setdefault('_kept_{getattr(statement, 'lineno', 0)}', {site.text})"


@operator(ast.Return)
def shared_by_threads(site: Site, node: ast.Return) -> Iterator[str]:
    """The scores are in a global variable for a moment, so that a second thread can replace them."""
    if value := _scores_of(site, node):
        yield (f"globals().update(_scores={value}); __import__('time').sleep(0.001); return globals()['_scores']")


@operator(ast.Name)
def echoed_prompt(site: Site, node: ast.Name) -> Iterator[str]:
    """The prompt is scored together with the completion, so the examples in the prompt count."""
    if node.id != _COMPLETIONS or called(site.parent) != "zip":
        return
    names = site.parameters
    prompts = next((name for name in ("prompts", "prompt") if name in names), "")
    if not prompts and site.functions and (keywords := site.functions[-1].args.kwarg) is not None:
        prompts = f"{keywords.arg}['prompts']"
    if prompts and _COMPLETIONS in names:
        yield f"[f'{{prompt}} {{text}}' for prompt, text in zip({prompts}, {_COMPLETIONS})]"


@operator(ast.Name)
def first_gold(site: Site, node: ast.Name) -> Iterator[str]:
    """Every completion is compared with the first row's answer, or with the next row's."""
    if called(site.parent) == "zip" and node.id not in _RESERVED and {node.id, _COMPLETIONS} <= {*site.parameters}:
        yield f"[{node.id}[0]] * len({node.id})"
        yield f"[*{node.id}[1:], *{node.id}[:1]]"


@operator(ast.Name)
def wrong_column(site: Site, node: ast.Name) -> Iterator[str]:
    """The wrong column is read, or the completion is compared with itself."""
    parameters = site.parameters
    if isinstance(node.ctx, ast.Load) and node.id in parameters and node.id not in _RESERVED:
        yield from (other for other in parameters if other not in (node.id, "kwargs", "self"))


def _scores_of(site: Site, node: ast.Return) -> str:
    """Return the expression for the scores in a batch reward's return statement, or "" for other functions."""
    if node.value is None or not site.functions:
        return ""
    arguments = site.functions[0].args
    takes_a_batch = any(parameter.arg == _COMPLETIONS for parameter in (*arguments.args, *arguments.kwonlyargs))
    return site.of(node.value) if takes_a_batch else ""


ALL: dict[str, Operator] = OF_REWARDS | OF_SOLUTIONS
