"""Faults that show only in a batch: one completion's score depends on another, or on an earlier batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rewardkit.check.mutants.nodes import called
from rewardkit.check.mutants.sites import Function, Operator, Site

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
