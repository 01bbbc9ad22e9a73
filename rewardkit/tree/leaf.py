"""Leaf: a reward that calls a function. It binds arguments, scores duplicates once, and checks the results.

``@rk.reward`` turns a function into a leaf. Ready rewards are leaves that wrap small frozen objects. Their arguments
may be views of the completion (its answer, its JSON), which all rewards share within a batch.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any, final

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Numbers, Rows
from rewardkit.batch.logs import OF_TRAINERS, RowLog
from rewardkit.batch.score import FAILED, Fault, Outcome
from rewardkit.errors import CoercionError, RewardTypeError, shorten, warn
from rewardkit.progress.bounds import Bounds
from rewardkit.tree.binding import Arguments, Binding, available_parameters, distinct, gather
from rewardkit.tree.coercion import DECIMAL, WHITESPACE
from rewardkit.tree.parameters import ENVIRONMENT, MISSING, SINGLE, WHOLE_BATCH, Parameter, Scope, shown_columns
from rewardkit.tree.results import (
    Raised,
    Results,
    ReturnPolicy,
    Unparsable,
    as_number,
    check_results,
    ordinary_results,
    unpacked,
)
from rewardkit.tree.reward import Calls, Evaluation, NodeSpec, Reward, Steps

# Text that a function compares with a number: the gold answer "42" of an argument without an annotation.


# Arbitrary limits: the function is called again to see whether a number scores more, and if a column holds text instead
# of numbers, the first rows show it.
_MOST_BATCHES = 3
_MOST_CALLS = 8


class UntypedGoldWarning:
    """A one-time warning that a function compares text with a number, based on the first batches.

    Attributes:
        left: the number of batches that are still to be checked.
    """

    def __init__(self, binding: Binding) -> None:
        self._suspects = [
            parameter.name
            for parameter in binding.columns
            if parameter.annotation is MISSING and not (binding.trusted or binding.foreign or binding.plain)
        ]
        cheap = binding.scope == "sample" and not binding.expensive and not binding.waits
        self.left = _MOST_BATCHES if cheap and self._suspects else 0

    def look(
        self,
        function: Callable[..., Any],
        parameters: Sequence[Parameter],
        arguments: Arguments,
        raw: Sequence[Any],
        lowest: float,
        name: str,
    ) -> None:
        """Check the `raw` results for one batch, and warn if a number would score higher than the text."""
        if not raw:
            return
        self.left -= 1
        scores = [as_number(result) for result in raw if type(result) in (bool, int, float)]
        if len(scores) < len(raw) or any(score > max(lowest, 0.0) for score in scores):
            self.left = 0  # the function works with text
            return
        for index, parameter in enumerate(parameters):
            if parameter.name in self._suspects and self._better(function, index, arguments, scores):
                self.left = 0
                text = arguments.columns[index][0]
                kind = "int" if isinstance(_number(text), int) else "float"
                warn(
                    f"reward {name!r}: the column {parameter.source!r} contains text such as {shorten(text, 40)}, but "
                    "the function compares it with a number, so no completion gets credit. Annotate the argument: "
                    f"`{parameter.name}: {kind}`"
                )
                return

    def _better(self, function: Callable[..., Any], index: int, arguments: Arguments, scores: Sequence[float]) -> bool:
        """Return whether a completion scores higher with the number than with the text."""
        rows = zip(*arguments.columns, scores, strict=True)
        for *values, score in list(rows)[:_MOST_CALLS]:
            number = _number(values[index])
            if number is None:
                return False
            try:
                if as_number(function(*values[:index], number, *values[index + 1 :])) > score:
                    return True
            except Exception:  # it needs text
                return False
        return False


def _number(text: object) -> int | float | None:
    bare = text.strip(WHITESPACE) if isinstance(text, str) else ""
    # Arbitrary limit: no plain number is this long, and its repr could not be the same.
    if not DECIMAL.fullmatch(bare) or len(bare) > 30:
        return None
    number = int(bare) if bare.lstrip("-").isdigit() else float(bare)
    return number if str(number) == bare else None  # "007" is a name


@final
@dataclass(frozen=True)
class Leaf(Reward):
    """A reward that calls a function, created by ``@rk.reward`` and by the ready rewards.

    Attributes:
        binding: the function, its arguments, and how to call it.
        contract: the allowed return values, and the behavior if the function returns something else.
        expression: the reward's ``repr``. The default is the component's name.
    """

    binding: Binding
    contract: ReturnPolicy
    expression: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        self.__dict__["__doc__"] = getattr(self.binding.function, "__doc__", None)
        self.__dict__["__name__"] = self.contract.name

    @cached_property
    def facts(self) -> NodeSpec:
        binding, contract = self.binding, self.contract
        stand_ins = [value for value in (contract.on_failure, contract.on_error) if isinstance(value, (int, float))]
        return NodeSpec(
            name=contract.name,
            call=self.expression if self.expression.startswith(f"{contract.name}(") else "",
            bounds=(min(contract.bounds[0], *stand_ins, math.inf), max(contract.bounds[1], *stand_ins, -math.inf)),
            sees=binding.scope,
            # A function with scope="batch" sees the batch of its own process, as in TRL.
            together="group" if binding.scope == "group" else "sample",
            columns=tuple(parameter.source for parameter in binding.columns),
            measures=binding.measures,
            limits=getattr(binding.function, "limits", ("answers",)) if binding.trusted else ("answers",),
            traps_unless=getattr(binding.function, "traps", {}) if binding.trusted else {},
            with_columns=self._with_columns,
            binding=binding,
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        batch, binding = evaluation.batch, self.binding
        label = evaluation.label(self)
        parameters = available_parameters(binding.parameters, batch)
        broken = {row: reason for row, reason in batch.rollouts.broken.items() if rows[row]}
        if broken and binding.scope != "batch":  # a batch function always gets all rows
            rows = rows.copy()
            rows[list(broken)] = False
        where = first = rows.nonzero()[0]
        inverse: Numbers | None = None
        if binding.scope == "sample" and binding.deterministic and not binding.logs:
            first, inverse = distinct(parameters, batch, where)
        arguments = gather(
            parameters,
            batch,
            first.tolist(),
            label,
            trusted=binding.trusted,
            on_unparsable_gold=evaluation.on_unparsable_gold,
        )
        ready = arguments.without_set_aside() if arguments.set_aside else arguments
        calls, sizes = self._calls(batch, ready, parameters)
        raw = (yield calls) if ready.rows else []
        if sizes is not None:
            raw = [result for returned, size in zip(raw, sizes, strict=True) for result in unpacked(returned, size)]
        if self._text_golds.left:
            self._text_golds.look(calls.function, parameters, ready, raw, self.contract.bounds[0], label)
        checked = None if arguments.set_aside else ordinary_results(raw, self.contract.bounds)
        if checked is None:
            checked = self._checked(evaluation, parameters, arguments, ready.rows, raw)
        column = _filled(batch.size, checked, where, inverse, evaluation)
        if broken:
            evaluation.faulted(_failed(column, broken, label))
        return column

    def _checked(
        self,
        evaluation: Evaluation,
        parameters: Sequence[Parameter],
        arguments: Arguments,
        called: Sequence[int],
        raw: list[Any],
    ) -> Results:
        """Return the checked results for all rows of `arguments`, given the `raw` results for the `called` rows."""
        batch, scope = evaluation.batch, self.binding.scope
        if self.binding.trusted:
            # A mismatch with the trajectory may be caused by the policy, which must not be able to avoid its score.
            fails = evaluation.on_unparsable_gold == "fail" and not self.binding.reads("trajectory")
            raw = _data_errors(raw, called, self.contract.name, raises=not fails)
        if arguments.set_aside:
            raw = _reinserted(raw, arguments)

        def context(position: int, size: int) -> str:
            if size > 1:
                article = "all" if size == batch.size else "the"
                unit = "the batch" if scope == "batch" else f"a prompt, from row {arguments.rows[position]} on"
                return f"  called with {article} {size} completions of {unit}"
            return _context(batch, arguments, parameters, position)

        def turns(position: int) -> int:
            return len(batch.trajectory(arguments.rows[position]).turns)

        contract = replace(self.contract, name=evaluation.label(self))
        return check_results(raw, contract, evaluation.strict, context, turns)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    @cached_property
    def _text_golds(self) -> UntypedGoldWarning:
        return UntypedGoldWarning(self.binding)

    def _with_columns(self, columns: Mapping[str, str]) -> Reward:
        binding = self.binding
        if binding.foreign:
            other = getattr(binding.function, "with_columns", None)
            changed = binding if other is None else replace(binding, function=other(columns))
        else:
            parameters = tuple(parameter.with_columns(columns) for parameter in binding.parameters)
            changed = binding if parameters == binding.parameters else replace(binding, parameters=parameters)
        if changed is binding:
            return self
        sources = {column_parameter.source for column_parameter in binding.columns}
        takes_all = binding.foreign or binding.reads("example")
        renames = {name: column for name, column in columns.items() if takes_all or name in sources}
        return replace(self, binding=changed, expression=f"{self!r}{shown_columns(renames)}")

    def _calls(
        self, batch: Batch, arguments: Arguments, parameters: Sequence[Parameter]
    ) -> tuple[Calls, list[int] | None]:
        """Return the calls for the rows of `arguments`, and each call's number of rows if calls have several rows."""
        function, scope = self._positional(parameters), self.binding.scope
        quiet = self.binding.trusted and not self.binding.waits  # primitives print nothing
        if scope == "sample":
            each = zip(*arguments.columns, strict=True) if arguments.columns else repeat((), len(arguments.rows))
            return Calls(self, function, each, arguments.rows, self.binding, quiet), None
        groups = batch.groups[arguments.rows] if scope == "group" else np.zeros(len(arguments.rows))
        cuts = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(arguments.rows)]
        lists = [
            tuple(
                _of_rows(parameter, column[start:stop], scope)
                for parameter, column in zip(parameters, arguments.columns, strict=True)
            )
            for start, stop in (pairwise(cuts) if arguments.rows else ())
        ]
        sizes = [stop - start for start, stop in pairwise(cuts)] if arguments.rows else []
        return Calls(self, function, lists, [None] * len(lists), self.binding, quiet), sizes

    def _positional(self, parameters: Sequence[Parameter]) -> Callable[..., Any]:
        """Return the function, wrapped if necessary so that it accepts the bound parameters in order."""
        binding = self.binding
        elsewhere = binding.timeout is not None and not binding.asynchronous
        if elsewhere:
            from rewardkit.workers.pickled_by_value import importable

            elsewhere = importable(binding.function)
        # Another process imports the function by its name, and finds the leaf that replaced it.
        function = _FunctionOf(self) if elsewhere else binding.function
        leading = 0
        for bound_parameter, declared in zip(parameters, binding.parameters, strict=False):
            if bound_parameter is not declared or declared.keyword_only:
                break
            leading += 1
        if leading == len(parameters):
            return function
        return _Keywords(function, leading, tuple(parameter.name for parameter in parameters[leading:]))

    def describe(self) -> str:
        """Return the leaf's name, options, and source code for its fingerprint."""
        from rewardkit.tree.fingerprints import described

        binding, contract = self.binding, self.contract
        policies = (contract.may_abstain, contract.on_failure, contract.on_error)
        options = (contract.name, binding.scope, contract.bounds, *policies, binding.timeout)
        sources = tuple(
            # Annotations may hold parsers, such as that of a primitive's gold column.
            (
                parameter.source,
                described(parameter.view),
                described(getattr(parameter.annotation, "__metadata__", ())),
                *([parameter.renamed] if parameter.renamed else []),
                *([parameter.on_unparsable_gold] if parameter.on_unparsable_gold else []),
            )
            for parameter in binding.parameters
        )
        return f"Leaf({options!r}, {sources!r}, {described(binding.function)})"

    def __reduce__(self) -> tuple[Any, ...]:
        function = self.binding.original
        if inspect.isroutine(function) and not inspect.ismethod(function):
            module, name = function.__module__, function.__qualname__
            resolved = _resolved(module, name)
            if isinstance(resolved, Leaf) and resolved == self:
                return _resolve_leaf, (module, name)
            if isinstance(resolved, Leaf) and replace(resolved, binding=self.binding) == self:  # with other columns
                parameters = self.binding.parameters
                if replace(resolved.binding, parameters=parameters) == self.binding:
                    return _resolve_leaf, (
                        module,
                        name,
                        tuple((parameter.source, parameter.renamed) for parameter in parameters),
                    )
            if resolved is not function:
                raise RewardTypeError(
                    f"reward {self.name!r} cannot be pickled: other processes import functions by name, but "
                    f"{module}.{name} is a different function. Define the function at the top level of a module, not "
                    "inside a function or as a lambda"
                )
        return Leaf, (self.binding, self.contract, self.expression)

    def __deepcopy__(self, memo: dict[int, Any]) -> Leaf:
        return self

    def __repr__(self) -> str:
        return self.expression or self.name


def primitive(
    function: Callable[..., Any],
    name: str,
    call_text: str,
    *parameters: Parameter,
    bounds: Bounds = (0.0, 1.0),
    expensive: bool = False,
    may_abstain: bool = False,
) -> Reward:
    """Return a leaf that wraps a small frozen callable. Without `parameters`, it gets the completion's text."""
    inputs = parameters or (Parameter("completion", "completion"),)
    return Leaf(
        Binding(function, inputs, expensive=expensive, trusted=True), ReturnPolicy(name, bounds, may_abstain), call_text
    )


def rebound(reward: Reward, **changes: Any) -> Reward:
    """Return the same leaf with a changed binding: ``rebound(leaf, trusted=True)``."""
    return replace(reward, binding=replace(reward.binding, **changes)) if isinstance(reward, Leaf) else reward


def written_as(reward: Reward, call: str) -> Reward:
    """Return the same leaf with `call`, the call that created it, as its `repr`."""
    return replace(reward, expression=call) if isinstance(reward, Leaf) else reward


def expression(name: str, *arguments: object, **options: tuple[object, object]) -> str:
    """Return the code for a ready reward: ``number('answer', relative=0.1)``. Options are (value, default) pairs."""
    parts = [repr(argument) for argument in arguments]
    parts += [f"{option}={value!r}" for option, (value, default) in options.items() if value != default]
    return f"{name}({', '.join(parts)})"


@dataclass(frozen=True)
class _FunctionOf:
    """The function of a leaf, pickled with the leaf."""

    reward: Leaf

    def __call__(self, *values: Any, **keywords: Any) -> Any:
        return self.reward.binding.function(*values, **keywords)


@dataclass(frozen=True)
class _Keywords:
    """A picklable function that passes the first values by position and the others by keyword."""

    function: Callable[..., Any]
    leading: int
    names: tuple[str, ...]

    def __call__(self, *values: Any) -> Any:
        keywords = dict(zip(self.names, values[self.leading :], strict=True))
        return self.function(*values[: self.leading], **keywords)


def _resolved(module: str, name: str) -> Any:
    try:
        resolved: Any = importlib.import_module(module)
        for part in name.split("."):
            resolved = getattr(resolved, part)
    except (ImportError, AttributeError):
        return None
    return resolved


def _resolve_leaf(module: str, name: str, columns: tuple[tuple[str, Any], ...] = ()) -> Leaf:
    leaf = _resolved(module, name)
    if not isinstance(leaf, Leaf):
        raise RewardTypeError(
            f"{module}.{name} is not a reward in this process, but it was when it was pickled. Apply @rk.reward to it "
            "at the top level of the module"
        )
    if not columns:
        return leaf
    pairs = zip(leaf.binding.parameters, columns, strict=True)
    parameters = tuple(replace(parameter, source=source, renamed=renamed) for parameter, (source, renamed) in pairs)
    return replace(leaf, binding=replace(leaf.binding, parameters=parameters))


def _of_rows(parameter: Parameter, values: list[Any], scope: Scope) -> Any:
    """Return the argument for a call with several rows: a list, or the one value that all rows share."""
    if parameter.source == "log_extra":
        return RowLog.joined(values)
    shared = parameter.source in SINGLE or parameter.source == ("prompt" if scope == "group" else WHOLE_BATCH)
    return values[0] if shared else values


def _data_errors(raw: list[Any], rows: Sequence[int | None], name: str, *, raises: bool) -> list[Any]:
    """Replace each CoercionError in `raw`, raised because a ready reward's columns do not match, with an `Unparsable`.

    Raises:
        CoercionError: the first such error, with its row, if `raises` is True.
    """
    checked = list(raw)
    for position, (result, row) in enumerate(zip(raw, rows, strict=False)):
        if type(result) is Raised and isinstance(result.error, CoercionError):
            if raises:
                raise CoercionError(f"reward {name!r}: row {row}: {result.error} Fix the data") from None
            checked[position] = Unparsable(f"{result.error} Fix the data.")
    return checked


def _reinserted(raw: list[Any], arguments: Arguments) -> list[Any]:
    """Return the results for all rows: `raw`, plus the results that were set aside, at their positions."""
    called = iter(raw)
    return [
        arguments.set_aside[position] if position in arguments.set_aside else next(called)
        for position in range(len(arguments.rows))
    ]


def _filled(size: int, checked: Results, where: Numbers, inverse: Numbers | None, evaluation: Evaluation) -> Column:
    """Return a leaf's column, with the result for each distinct row copied to all equal rows."""
    values = checked.values if inverse is None else checked.values[inverse]
    codes = checked.codes if inverse is None else checked.codes[inverse]
    if len(where) == size:
        column = Column(values, codes, complete=checked.complete)
    else:
        column = Column.empty(size)
        column.values[where], column.codes[where] = values, codes
    if not (checked.notes or checked.parts or checked.turns or checked.faults):
        return column
    sources = range(len(where)) if inverse is None else inverse.tolist()
    row_positions = list(zip(where.tolist(), sources, strict=True))
    notes = checked.notes
    column.notes = {row: notes[position] for row, position in row_positions if position in notes}
    if not (checked.parts or checked.turns or checked.faults):
        return column
    faults = []
    for row, position in row_positions:
        if position in checked.turns:
            column.turns[row] = checked.turns[position]
        for part, value in checked.parts.get(position, {}).items():
            column.parts.setdefault(part, np.full(size, math.nan))[row] = value
        if position in checked.faults:
            faults.append(replace(checked.faults[position], row=row))
    evaluation.faulted(faults)
    return column


def _failed(column: Column, broken: Mapping[int, str], name: str) -> list[Fault]:
    """Mark rows with broken environments as failed under any failure policy, because an outage must not get a score."""
    for row, reason in broken.items():
        column.values[row], column.codes[row], column.notes[row] = math.nan, FAILED, reason
        column.turns.pop(row, None)
    return [Fault(name, row, Outcome.FAILED, reason) for row, reason in broken.items()]


def _context(batch: Batch, arguments: Arguments, parameters: Sequence[Parameter], position: int) -> str:
    row = arguments.rows[position]
    lines = [f"  row {row}, completion {shorten(batch.texts[row])}"]
    lines += [
        f"  {parameter.name} = {shorten(column[position])}"
        for parameter, column in zip(parameters, arguments.columns, strict=True)
        if parameter.source not in ("completion", WHOLE_BATCH, ENVIRONMENT, *OF_TRAINERS)
    ]
    return "\n".join(lines)
