"""Operators: the ordinary bugs of reward functions and of programs, each as a change of one place.

An operator takes a `Site` and yields other texts for it. Its name is what a report shows, its docstring says what goes
wrong. `OF_REWARDS` has those for reward functions by name, `OF_SOLUTIONS` those for solutions of coding tasks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rewardkit.check.mutants.sites import Function, Operator, Site

# What several operators ask about a node.


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


# Faults that show only in a batch: one completion's score depends on another, or on an earlier batch.


_COMPLETIONS = "completions"
_RESERVED = frozenset((_COMPLETIONS, "completion", "self", "trainer_state", "log_metric", "log_extra"))


def one_for_all(site: Site) -> Iterator[str]:
    """All completions of a batch earn what the best one earns."""
    if value := _result(site):
        yield f"return (lambda scores: [max(scores)] * len(scores))(list({site.of(value)}))"


def sorted_scores(site: Site) -> Iterator[str]:
    """The scores come in another order than the completions."""
    if value := _result(site):
        yield f"return sorted({site.of(value)})"


def remembered(site: Site) -> Iterator[str]:
    """A cache is keyed by the completion alone, and so pays an answer to another question."""
    if value := _result(site):
        yield (
            "return [globals().setdefault('_paid', {}).setdefault(str(text), score) "
            f"for text, score in zip({_COMPLETIONS}, {site.of(value)})]"
        )


def kept_between_calls(site: Site) -> Iterator[str]:
    """A list or dict lives on after a call, as one that is made once in the default of a parameter does."""
    node, statement = site.node, site.parent
    if not isinstance(statement, ast.Assign) or node is not statement.value:
        return
    in_function = any(isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) for one in site.parents)
    text = site.of(node)
    if in_function and text in ("[]", "{}", "set()"):
        yield f"globals().setdefault('_kept_{statement.lineno}', {text})"


def shared_by_threads(site: Site) -> Iterator[str]:
    """The scores are in a global variable for a moment, where a second thread replaces them."""
    if value := _result(site):
        yield (
            f"globals().update(_scores={site.of(value)}); __import__('time').sleep(0.001); return globals()['_scores']"
        )


def echoed_prompt(site: Site) -> Iterator[str]:
    """The prompt is scored together with the completion, and so its examples are paid."""
    node = site.node
    if not (isinstance(node, ast.Name) and node.id == _COMPLETIONS and called(site.parent) == "zip"):
        return
    functions = [one for one in site.parents if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    names = site.parameters
    prompts = next((name for name in ("prompts", "prompt") if name in names), "")
    if not prompts and functions[-1:] and (keywords := functions[-1].args.kwarg) is not None:
        prompts = f"{keywords.arg}['prompts']"
    if prompts and _COMPLETIONS in names:
        yield f"[f'{{prompt}} {{text}}' for prompt, text in zip({prompts}, {_COMPLETIONS})]"


def first_gold(site: Site) -> Iterator[str]:
    """Every completion is compared with the first row's answer, or with the next row's."""
    node = site.node
    if not (isinstance(node, ast.Name) and called(site.parent) == "zip" and node.id not in _RESERVED):
        return
    if node.id in site.parameters and _COMPLETIONS in site.parameters:
        yield f"[{node.id}[0]] * len({node.id})"
        yield f"[*{node.id}[1:], *{node.id}[:1]]"


def wrong_column(site: Site) -> Iterator[str]:
    """Another column is read, or the completion is compared with itself."""
    node = site.node
    if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
        return
    parameters = site.parameters
    if node.id in parameters and node.id not in _RESERVED:
        yield from (other for other in parameters if other not in (node.id, "kwargs", "self"))


def _result(site: Site) -> ast.expr | None:
    """Return the scores that a function of a batch returns; None for other nodes."""
    node = site.node
    function = next((one for one in site.parents if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if not isinstance(node, ast.Return) or node.value is None or function is None:
        return None
    return node.value if _takes_a_batch(function) else None


def _takes_a_batch(function: Function) -> bool:
    return any(one.arg == _COMPLETIONS for one in (*function.args.args, *function.args.kwonlyargs))


OF_BATCHES: tuple[Operator, ...] = (
    one_for_all, sorted_scores, remembered, kept_between_calls, shared_by_threads, echoed_prompt, first_gold,
    wrong_column,
)  # fmt: skip


# Faults of regular expressions: a flag is missing, a search finds too much, a pattern is greedy or never ends.


_FLAGS = frozenset(("DOTALL", "S", "MULTILINE", "M", "IGNORECASE", "I"))
_FUNCTIONS = frozenset(("compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"))
_LOOKS_LIKE_A_PATTERN = re.compile(r"\\[dswbDSWAZ]|\.[*+]|\(\?|\[\^|[\])][*+?]")
_INLINE_FLAGS = re.compile(r"\(\?[ims]+\)")
_LAZY = re.compile(r"(?<=[*+}?])\?(?=[^?]|\Z)")
_SIGN = re.compile(r"(?:\[(?:\\?-\\?\+|\\?\+\\?-|\\?-)\]|(?<![\[\\])\\?-)\?")
_ANCHOR = re.compile(r"\\[bAZ]|(?<![\[\\])\^|(?<!\\)\$")
_SEPARATOR_IN_CLASS = re.compile(r"(?<=\[)([^\[\]]*)([,.])([^\[\]]*)(?=\])")
_REPEATED = re.compile(r"\\[dsw][*+]|\.[*+]\??")


def dropped_flag(site: Site) -> Iterator[str]:
    """A flag is missing: without re.DOTALL, "." does not match a line break."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and _is_flag(node.left):
        yield site.of(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and _is_flag(node.right):
        yield site.of(node.left)
    if _is_flag(node) and isinstance(site.parent, (ast.Call, ast.keyword)):
        yield "0"
    if _is_pattern(site) and _INLINE_FLAGS.search(site.text):
        yield _INLINE_FLAGS.sub("", site.text)


def searched(site: Site) -> Iterator[str]:
    """A match anywhere is enough where the whole text, or its beginning, must match."""
    node, parent = site.node, site.parent
    if not (isinstance(node, ast.Attribute) and isinstance(parent, ast.Call) and parent.func is node):
        return
    if node.attr in ("fullmatch", "match"):
        yield site.text[: -len(node.attr)] + "search"


def greedy(site: Site) -> Iterator[str]:
    """A pattern takes as much as possible, and so everything between the first mark and the last."""
    if _is_pattern(site):
        yield from _each(_LAZY, site.text, "")


def lost_sign_in_pattern(site: Site) -> Iterator[str]:
    """A pattern for numbers does not read the minus sign."""
    if _is_pattern(site):
        yield from _each(_SIGN, site.text, "")


def lost_anchor(site: Site) -> Iterator[str]:
    """A pattern matches in the middle of a text or word."""
    if _is_pattern(site):
        yield from _each(_ANCHOR, site.text, "")


def lost_separator(site: Site) -> Iterator[str]:
    """A pattern for numbers does not know the comma between thousands, or the decimal point."""
    if _is_pattern(site):
        yield from _each(_SEPARATOR_IN_CLASS, site.text, r"\1\3")
        yield from _each(re.compile(r"\(\?:\\\.\\d[*+]\)\?|\(\\\.\\d[*+]\)\?"), site.text, "")


def endless_pattern(site: Site) -> Iterator[str]:
    """A repetition is repeated, so that some texts take exponential time."""
    if _is_pattern(site):
        yield from _each(_REPEATED, site.text, r"(?:\g<0>)+x?")


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _FLAGS and isinstance(node.value, ast.Name)


def _is_pattern(site: Site) -> bool:
    if not is_text(site.node):
        return False
    parent = site.parent
    if called(parent) in _FUNCTIONS and isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        owner = parent.func.value
        return isinstance(owner, ast.Name) and owner.id in ("re", "regex") and parent.args[:1] == [site.node]
    return isinstance(parent, (ast.Assign, ast.List, ast.Tuple)) and bool(_LOOKS_LIKE_A_PATTERN.search(site.text))


def _each(pattern: re.Pattern[str], text: str, new: str) -> Iterator[str]:
    """Yield the text with each occurrence replaced, one at a time."""
    for match in pattern.finditer(text):
        yield text[: match.start()] + match.expand(new) + text[match.end() :]


OF_PATTERNS: tuple[Operator, ...] = (
    dropped_flag, searched, greedy, lost_sign_in_pattern, lost_anchor, lost_separator, endless_pattern,
)  # fmt: skip


# Faults of solutions of coding tasks: another operator, a number off by one, a step left out.


_OTHER_OPERATOR: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_OTHER_COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_OF_LISTS, _OF_NUMBERS = ("sorted", "reversed", "set"), ("abs", "round", "int")


def other_operator(site: Site) -> Iterator[str]:
    """Two numbers are added instead of subtracted, multiplied instead of divided."""
    node = site.node
    if isinstance(node, ast.BinOp) and type(node.op) in _OTHER_OPERATOR:
        yield grouped(f"{site.of(node.left)} {_OTHER_OPERATOR[type(node.op)]} {site.of(node.right)}")


def other_comparison(site: Site) -> Iterator[str]:
    """A comparison is the wrong way around."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign = _OTHER_COMPARISON[type(node.ops[0])]
        yield grouped(f"{site.of(node.left)} {sign} {site.of(node.comparators[0])}")


def nudged_number(site: Site) -> Iterator[str]:
    """A number is one too large or too small."""
    value = number(site.node)
    if value is not None and value == int(value) and not isinstance(site.parent, ast.UnaryOp):
        yield grouped(str(int(value) + 1))
        yield grouped(str(int(value) - 1))


def nothing_returned(site: Site) -> Iterator[str]:
    """A result is not returned."""
    if isinstance(site.node, ast.Return) and site.node.value is not None:
        yield "return None"


def lost_step(site: Site) -> Iterator[str]:
    """A step is left out: a call whose result is not used, or a function such as ``sorted``."""
    node = site.node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and called(node.value) != "print":
        yield "pass"
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Name):
        inside = site.of(node.args[0])
        if node.func.id in _OF_LISTS:
            yield f"list({inside})"
        if node.func.id in _OF_NUMBERS:
            yield grouped(inside)


def lost_case(site: Site) -> Iterator[str]:
    """A loop ends early, or a case is never reached."""
    node = site.node
    if isinstance(node, ast.Continue):
        yield "break"
    if isinstance(node, ast.Break):
        yield "continue"
    if isinstance(site.parent, ast.If) and site.parent.test is node:
        yield "False"


OF_PROGRAMS: tuple[Operator, ...] = (
    other_operator, other_comparison, nudged_number, nothing_returned, lost_step, lost_case,
)  # fmt: skip


# Faults of reading texts: the wrong one of several, a part for the whole, marks and spaces that stay.


_CLEANING = frozenset((
    "strip", "lstrip", "rstrip", "lower", "upper", "casefold", "replace", "removeprefix", "removesuffix", "title",
    "splitlines",
))  # fmt: skip
_FROM_THE_OTHER_END = {
    "rfind": "find", "rindex": "index", "rsplit": "split", "rpartition": "partition", "find": "rfind",
    "index": "rindex", "partition": "rpartition", "startswith": "endswith", "endswith": "startswith",
}  # fmt: skip


def first_for_last(site: Site) -> Iterator[str]:
    """The first of several is taken for the last one, or the other way around."""
    node = site.node
    if isinstance(node, ast.Subscript):
        place = number(node.slice)
        if place in (-1.0, 0.0):
            yield f"{site.of(node.value)}[{'0' if place else '-1'}]"
    if isinstance(node, ast.Attribute) and isinstance(site.parent, ast.Call) and site.parent.func is node:
        other = _FROM_THE_OTHER_END.get(node.attr)
        if other:
            yield site.text[: -len(node.attr)] + other


def shifted_index(site: Site) -> Iterator[str]:
    """An index or the number of a group is off by one."""
    node = site.node
    if isinstance(node, ast.Subscript):
        place = number(node.slice)
        if place is not None and place >= 0:
            yield f"{site.of(node.value)}[{int(place) + 1}]"
    if called(node) == "group" and isinstance(node, ast.Call) and len(node.args) == 1:
        place = number(node.args[0])
        if place is not None:
            yield f"{site.of(node.func)}({0 if place else 1})"


def contained(site: Site) -> Iterator[str]:
    """It is enough that the answer occurs in the text, or the text in the answer."""
    node = site.node
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)):
        return
    left, right = node.left, node.comparators[0]
    if any(
        number(side) is not None or called(side) in ("len", "count", "float", "int", "abs") for side in (left, right)
    ):
        return
    yield grouped(f"{site.of(right)} in {site.of(left)}")
    yield grouped(f"{site.of(left)} in {site.of(right)}")


def lost_cleaning(site: Site) -> Iterator[str]:
    """White space, case, units or marks are not removed before the comparison."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr in _CLEANING:
        yield site.of(node.func.value)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("sub", "subn") and len(node.args) >= 2:
        yield site.of(node.args[-1 if len(node.args) < 3 else 2])


def lost_split(site: Site) -> Iterator[str]:
    """What comes before a mark, such as the thinking, is not removed."""
    node = site.node
    if isinstance(node, ast.Subscript) and called(node.value) in ("split", "rsplit", "partition", "rpartition"):
        assert isinstance(node.value, ast.Call)
        if isinstance(node.value.func, ast.Attribute):
            yield site.of(node.value.func.value)


def half_a_mark(site: Site) -> Iterator[str]:
    """A tag is looked for without its brackets, or only its opening one."""
    node = site.node
    if not is_text(node) or not isinstance(node, ast.Constant) or not isinstance(site.parent, (ast.Call, ast.Compare)):
        return
    text = node.value
    if isinstance(text, str) and text.startswith("</") and text.endswith(">") and "\\" not in text:
        yield repr(text.replace("</", "<"))
        yield repr(text.strip("</>"))


def evaluated(site: Site) -> Iterator[str]:
    """The completion is run as a program."""
    node = site.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "int")):
        return
    if len(node.args) == 1 and not is_text(node.args[0]):
        yield f"{node.func.id}(eval(str({site.of(node.args[0])})))"


OF_TEXTS: tuple[Operator, ...] = (
    first_for_last, shifted_index, contained, lost_cleaning, lost_split, half_a_mark, evaluated,
)  # fmt: skip


# Faults of deciding and counting: a condition is wrong or missing, a score has no limit, an error is paid.


_BOUNDARY: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_AGGREGATION = {"any": "all", "all": "any", "max": "min", "min": "max", "sum": "max"}


def negated(site: Site) -> Iterator[str]:
    """A condition is the wrong way around."""
    parent = site.parent
    if isinstance(parent, (ast.If, ast.IfExp)) and parent.test is site.node:
        yield f"(not ({site.text}))"


def lost_condition(site: Site) -> Iterator[str]:
    """One of several conditions is missing, or one is enough."""
    node = site.node
    if not isinstance(node, ast.BoolOp):
        return
    for one in node.values:
        rest = [site.of(value) for value in node.values if value is not one]
        yield grouped((" and " if isinstance(node.op, ast.And) else " or ").join(rest))
    other = " or " if isinstance(node.op, ast.And) else " and "
    yield grouped(other.join(map(site.of, node.values)))


def lost_guard(site: Site) -> Iterator[str]:
    """A case that must be handled first is not."""
    node = site.node
    if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue)):
        yield "pass"


def shifted_boundary(site: Site) -> Iterator[str]:
    """A limit counts as inside, or no longer does."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BOUNDARY:
        left, right = site.of(node.left), site.of(node.comparators[0])
        yield grouped(f"{left} {_BOUNDARY[type(node.ops[0])]} {right}")


def any_number_of(site: Site) -> Iterator[str]:
    """Exactly one is asked for, and several are enough."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        wanted = number(node.comparators[0])
        if wanted is not None and wanted > 0:
            yield grouped(f"{site.of(node.left)} >= {site.of(node.comparators[0])}")


def wrong_tolerance(site: Site) -> Iterator[str]:
    """A tolerance is relative instead of absolute, or much too wide."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in ("isclose", "allclose", "approx"):
        for keyword in node.keywords:
            if keyword.arg in ("abs_tol", "rel_tol"):
                other = "rel_tol" if keyword.arg == "abs_tol" else "abs_tol"
                if all(one.arg != other for one in node.keywords):
                    yield site.text.replace(keyword.arg, other)
                yield site.text.replace(site.of(keyword.value), "0.1")
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Lt, ast.LtE)):
        limit = node.comparators[0]
        value = number(limit)
        if value is not None and 0.0 < value < 0.1:
            sign = "<" if isinstance(node.ops[0], ast.Lt) else "<="
            yield grouped(f"{site.of(node.left)} {sign} {site.of(limit)} * 10_000")


def lost_absolute_value(site: Site) -> Iterator[str]:
    """A difference counts as small if it is negative."""
    node = site.node
    if called(node) in ("abs", "fabs") and isinstance(node, ast.Call) and len(node.args) == 1:
        yield grouped(site.of(node.args[0]))


def paid_error(site: Site) -> Iterator[str]:
    """What could not be read is paid."""
    node = site.node
    if not any(isinstance(parent, ast.ExceptHandler) for parent in site.parents):
        return
    if isinstance(node, ast.Return) and (node.value is None or _is_low(node.value)):
        yield "return 1.0"
    if isinstance(node, ast.Constant) and _is_low(node) and called(site.parent) == "append":
        yield "1.0"
    if isinstance(node, ast.Raise):
        yield "return 1.0"


def wrong_case(site: Site) -> Iterator[str]:
    """A case earns full marks instead of none, or none instead of full marks."""
    node, parent = site.node, site.parent
    value = number(node)
    if value is None or any(isinstance(one, ast.ExceptHandler) for one in site.parents):
        return
    is_result = isinstance(parent, (ast.Return, ast.IfExp)) or called(parent) == "append"
    if is_result and value in (0.0, 1.0):
        yield "1.0" if value == 0.0 else "0.0"


def unlimited(site: Site) -> Iterator[str]:
    """A score is not limited from above, or from below."""
    node = site.node
    if not (isinstance(node, ast.Call) and called(node) in ("min", "max") and len(node.args) == 2):
        return
    for one, other in (node.args, node.args[::-1]):
        if number(one) is None and number(other) is not None:
            yield grouped(site.of(one))


def wrong_aggregation(site: Site) -> Iterator[str]:
    """One is enough where all must hold; the best counts where the mean should."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(site.parent, ast.Call) and site.parent.func is node:
        other = _AGGREGATION.get(node.id)
        arguments = site.parent.args
        if other and len(arguments) == 1 and not (node.id in ("min", "max") and number(arguments[0]) is not None):
            yield other


def lost_term(site: Site) -> Iterator[str]:
    """A term or factor is missing."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        yield grouped(site.of(node.left))
        if isinstance(node.op, (ast.Add, ast.Mult)):
            yield grouped(site.of(node.right))
    if isinstance(node, ast.AugAssign):
        yield "pass"
        yield f"{site.of(node.target)} = {site.of(node.value)}"


def wrong_sign(site: Site) -> Iterator[str]:
    """A penalty is added, a bonus subtracted."""
    node = site.node
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))
    if isinstance(node, ast.BinOp) and is_sum and not (is_text(node.left) or is_text(node.right)):
        sign = "-" if isinstance(node.op, ast.Add) else "+"
        yield grouped(f"{site.of(node.left)} {sign} {site.of(node.right)}")
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)):
        sign = "-=" if isinstance(node.op, ast.Add) else "+="
        yield f"{site.of(node.target)} {sign} {site.of(node.value)}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(site.parent, ast.Subscript):
        yield grouped(site.of(node.operand))


def swapped_arguments(site: Site) -> Iterator[str]:
    """Two arguments are the wrong way around."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in ("zip", "min", "max"):
        names = [one for one in node.args if isinstance(one, (ast.Name, ast.Subscript, ast.Call))]
        if len(node.args) == len(names) == 2 and not node.keywords and node.func.id not in ("isinstance", "range"):
            yield f"{node.func.id}({site.of(names[1])}, {site.of(names[0])})"


def _is_low(node: ast.expr) -> bool:
    value = number(node)
    is_none = isinstance(node, ast.Constant) and (node.value is None or node.value is False)
    return is_none or (value is not None and value <= 0.0)


OF_VALUES: tuple[Operator, ...] = (
    negated, lost_condition, lost_guard, shifted_boundary, any_number_of, wrong_tolerance, lost_absolute_value,
    paid_error, wrong_case, unlimited, wrong_aggregation, lost_term, wrong_sign, swapped_arguments,
)  # fmt: skip


def _named(*operators: Operator) -> dict[str, Operator]:
    return {one.__name__: one for one in operators}


OF_REWARDS: dict[str, Operator] = _named(*OF_PATTERNS, *OF_TEXTS, *OF_VALUES, *OF_BATCHES)
OF_SOLUTIONS: dict[str, Operator] = _named(
    *OF_PROGRAMS, shifted_boundary, first_for_last, shifted_index, lost_cleaning, lost_condition, lost_guard, lost_term,
    lost_absolute_value, wrong_aggregation,
)  # fmt: skip
ALL: dict[str, Operator] = OF_REWARDS | OF_SOLUTIONS
