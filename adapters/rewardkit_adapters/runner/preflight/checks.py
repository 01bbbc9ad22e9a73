"""Run all preflight checks. None of them loads a model or calls a judge."""

from __future__ import annotations

import difflib
import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import MethodType
from typing import TYPE_CHECKING, Any

from rewardkit.batch.batch import Batch
from rewardkit.batch.environments import tools_of
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.check.check import check_reward
from rewardkit.check.declarations import with_declarations
from rewardkit.check.findings import Finding as Broken
from rewardkit.check.reports.report import Report
from rewardkit.check.run.execution import OnProgress
from rewardkit.check.run.status import Show, law_progress
from rewardkit.errors import BindingError, RewardKitError, shorten
from rewardkit.tree.evaluation.plan import check_node
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.loading import load
from rewardkit.tree.parameters import ENVIRONMENT
from rewardkit.tree.reward import Reward, bindings, child_rows, walk
from rewardkit_adapters.runner.config import PreflightConfig, RunConfig
from rewardkit_adapters.runner.preflight.batches import (
    Batches,
    Shape,
    batches_of,
    grpo_settings,
    lengths,
    shape_of,
    split_groups,
)
from rewardkit_adapters.runner.preflight.cells import cells, duplicates, prompts, shown
from rewardkit_adapters.runner.preflight.findings import HIDDEN, Finding, Preflight, Table
from rewardkit_adapters.runner.preflight.golds import Form, Golds, golds
from rewardkit_adapters.runner.rewards import environment_of, trained
from rewardkit_adapters.runner.trl_arguments import LARGE
from rewardkit_adapters.trl.environments import environments
from rewardkit_adapters.trl.layout import checked_tree

if TYPE_CHECKING:
    from datasets import Dataset


# Check the columns: does the data have those that the reward needs, and does TRL pass them to rewards?


_TWICE = ("prompts", "completions")
_OVERWRITTEN = ("trainer_state", "log_metric", "log_extra", "environments")
_PICTURES = ("image", "images")


def columns(
    tree: Reward,
    table: Table,
    *,
    acts: bool = False,
    renamed: Mapping[str, str] | None = None,
    training: Table | None = None,
) -> Iterator[Finding]:
    """Find missing columns, and column names with a special meaning in TRL.

    Args:
        acts: whether the policy acts in an environment, whose ``reset`` receives all columns.
        renamed: the run's ``dataset.columns``.
        training: the training data. Columns that are also missing there are not reported again.
    """
    for name in table.columns:
        yield from _trap(name)
    errors = _lacking(tree, table, acts)
    reported = [] if training is None else _lacking(tree, training, acts)
    for column in dict.fromkeys(error.column or str(error) for error in errors):
        if column not in [error.column or str(error) for error in reported]:
            of_column = [error for error in errors if column in (error.column, str(error))]
            yield _missing(column, of_column, table, renamed or {})
    yield from _mappings(table)
    unused = [name for name in table.given if name not in table.read]
    unnamed = " and possibly others" if table.read != table.named else ""
    if table.name == "training" and not errors:
        unread = "only the environment gets" if acts else "unused"
        summary = f"the reward reads {', '.join(table.named) or 'none'}{unnamed}"
        yield Finding("fact", "columns", summary + (f"; {unread}: {', '.join(unused)}" if unused else ""))


def _lacking(tree: Reward, table: Table, acts: bool) -> list[BindingError]:
    """Return an error for each column that a node needs but the data lacks, and for other missing requirements."""
    reserved = {*_TWICE, *_OVERWRITTEN}
    batch_columns: dict[str, list[Any]] = {name: [] for name in table.given if name not in reserved}
    rollouts = RolloutInfo(environments=[] if acts else None)
    batch = Batch([], prompts=[], completion_ids=[], columns=batch_columns, rollouts=rollouts)
    errors: list[BindingError] = []
    for node in dict.fromkeys(node for node, _, _ in walk(tree)):
        try:
            check_node(node, batch, table.label(node))
            child_rows(node, batch, _nowhere())
        except BindingError as error:
            error.component = table.label(node)
            errors.append(error)
    return errors


def _missing(column: str, errors: Sequence[BindingError], table: Table, renamed: Mapping[str, str]) -> Finding:
    """Return one finding for all components that require a missing column."""
    where = f"{table.name} data"
    if not errors[0].column:
        return Finding("error", where, str(errors[0]), "add the missing data")
    labels = list(dict.fromkeys(repr(error.component) for error in errors))
    readers = f"{' and '.join(labels)} read{'s' if len(labels) == 1 else ''}"
    close = difflib.get_close_matches(column, table.given, n=1)
    names = ", ".join(f"{name}: {source}" for name, source in {**renamed, column: (*close, "NAME")[0]}.items())
    line = f"under dataset in run.yaml, write columns: {{{names}}}"
    return Finding(
        "error",
        where,
        f"there is no column {column!r}, which {readers}. Columns: {', '.join(table.given) or 'none'}.{errors[0].hint}",
        line if close else f"add the column to the data. If the data has it under another NAME: {line}",
    )


def _nowhere() -> Any:
    import numpy as np

    return np.zeros(0, dtype=np.bool_)


def _trap(name: str) -> Iterator[Finding]:
    where = f"column {name!r}"
    rename = f"rename it, as in dataset.columns: {{gold_{name}: {name}}}"
    if name in _TWICE:
        yield Finding(
            "error", where, "TRL passes an argument with the same name, and then fails on the second one", rename
        )
    elif name in _OVERWRITTEN:
        yield Finding("error", where, "TRL overwrites it with its own object", rename)
    elif name in HIDDEN:
        yield Finding("warning", where, "TRL does not pass a column of this name to rewards", rename)
    elif name in _PICTURES:
        problem = "TRL treats data with this column as multimodal and loads an image processor"
        yield Finding("warning", where, problem, f"keep it only for a vision model, else {rename}")


def _mappings(table: Table) -> Iterator[Finding]:
    import pyarrow as pa

    for column in table.dataset.features.arrow_schema:
        if column.name in table.given and _holds_mappings(column.type, pa):
            yield Finding(
                "warning",
                f"column {column.name!r}",
                "contains mappings, and Arrow gives all of them the same keys: missing values become None",
                "store such cells as JSON text, which the reward's annotation parses",
            )


def _holds_mappings(kind: Any, pa: Any) -> bool:
    if pa.types.is_struct(kind):
        return True
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _holds_mappings(kind.value_type, pa)


# Check the environment: packages that the settings need, and an existing run in the output folder.


_TRACKERS = {"tensorboard": ("tensorboard", "tensorboardX"), "wandb": ("wandb",), "trackio": ("trackio",)}


def packages(config: RunConfig) -> Iterator[Finding]:
    """Find packages that the settings require and that are not installed."""
    requirements = {
        "lora": (config.lora is not None, ("peft",), ""),
        "quantize": (config.quantize is not None, ("bitsandbytes",), ""),
        "vllm": (config.vllm is not None, ("vllm",), ", or write vllm: null to generate with transformers"),
        "model.attention": (config.model.attention == "flash_attention_2", ("flash_attn",), "; or write sdpa"),
        "grpo.use_liger_kernel": (bool(config.grpo.get("use_liger_kernel")), ("liger_kernel",), ""),
        **{f"report_to {name}": (name in config.report_to, modules, "") for name, modules in _TRACKERS.items()},
    }
    for key, (is_needed, modules, alternative) in requirements.items():
        if is_needed and all(find_spec(module) is None for module in modules):
            package = modules[0].replace("_", "-")
            yield Finding(
                "error", key, f"needs {package}, which is not installed", f"pip install {package}{alternative}"
            )


def output(config: RunConfig) -> Iterator[Finding]:
    """Report an existing run in the output folder."""
    folder = config.output_path()
    steps = [
        int(path.name.rpartition("-")[2])
        for path in (folder / "checkpoints").glob("checkpoint-*")
        if path.name.rpartition("-")[2].isdigit()
    ]
    if steps:
        yield Finding("fact", "output", f"{config.output} contains a run with a checkpoint at step {max(steps)}")
    elif (folder / "run.json").is_file():
        yield Finding("fact", "output", f"{config.output} contains the record of a run without checkpoints")


# Check the judges: the number of calls in a training, and whether the budget is enough.


def asks(tree: Reward) -> bool:
    """Return whether the reward calls a judge or a model, so that a check would cost money or time."""
    return any(node.facts.measures for node, _, _ in walk(tree)) or any(
        binding.asynchronous for _, binding in bindings(tree)
    )


def judges(tree: Reward, batches: Batches, evaluated: int) -> Iterator[Finding]:
    """Report the maximum number of calls to each judge, and budgets that will be exhausted during training.

    Args:
        evaluated: the total number of completions in all evaluations.
    """
    completions = batches.completions + evaluated
    budgets: dict[Any, list[tuple[str, int]]] = {}
    for node, binding in bindings(tree):
        if binding.measures:
            calls = completions // batches.generations if binding.scope == "group" else completions
            unit = "group" if binding.scope == "group" else "completion"
            yield Finding(
                "fact",
                f"judge {node.name!r}",
                f"at most {calls:,} calls: one per {unit}, fewer if gates are closed or completions are repeated",
            )
            service = getattr(getattr(binding.function, "brief", None), "service", None)
            budget = getattr(service, "budget", None)
            if budget is not None:
                budgets.setdefault(budget, []).append((node.name, calls))
    for budget, uses in budgets.items():
        calls = sum(count for _, count in uses)
        names = ", ".join(repr(name) for name, _ in uses)
        if budget.calls is not None and budget.calls < calls:
            yield Finding(
                "warning",
                f"judge {names}",
                f"the budget of {budget.calls:,} calls is less than the {calls:,} calls that training may "
                f"make: it runs out around step {batches.steps * budget.calls // calls:,} of "
                f"{batches.steps:,}. After that: {budget.on_exhausted}",
                "raise the budget, put the judge behind a gate, or train for fewer steps",
            )
        elif budget.calls is None:
            limits = {"tokens": budget.tokens, "money": budget.money}
            finite_limits = {name: limit for name, limit in limits.items() if limit is not None}
            allowance = " and ".join(f"{limit:g} {name}" for name, limit in finite_limits.items())
            per_call = " and ".join(f"{limit / max(calls, 1):.3g} {name}" for name, limit in finite_limits.items())
            yield Finding("fact", f"judge {names}", f"the budget of {allowance} allows only {per_call} per call")


# Test the laws of ``rewardkit check`` on a few rows, in a few seconds.


ROWS = 3
"""The number of rows on which the laws are tested. The number is arbitrary, but small because training starts only
after the tests."""
STOPPING = ("total", "finite", "bounded", "inputs_not_mutated", "time_linear", "memory_bounded")
"""The laws that are essential for training. If one is broken, training may crash, hang, or learn from NaN."""
_SHOWN = 5
"""The maximum number of broken laws that are listed. The limit is arbitrary and keeps reports readable."""
_LONGEST = 300
"""The maximum length of a line that reproduces a fault. The limit is arbitrary, because `rewardkit check` also shows
longer lines."""


def laws(
    reward: Any,
    tree: Reward,
    table: Table,
    constants: Mapping[str, Any],
    best: Form | None,
    budget: float,
    seed: int,
    on_progress: OnProgress = lambda law, number, count: None,
) -> Iterator[Finding]:
    """Find broken laws.

    Args:
        constants: the constants in the reward's module: ``examples``, ``good``, ``bad``, and so on.
        best: the format for a correct completion, if scoring the gold answers found one.
        budget: the time limit in seconds.
        on_progress: a function that is called when the test of a law starts, as in `check_reward`.
    """
    try:
        options = with_declarations(constants)
        if "examples" not in options:
            options |= _check_options(table, best)
        options["without"] = [*options.get("without", ()), "exploits", "search"]
        report = check_reward(reward, **options, budget=budget, seed=seed, on_progress=on_progress)
    except RewardKitError as error:
        yield Finding("error", "laws", str(error), "fix EXAMPLES, GOOD, and BAD next to the reward")
        return
    yield Finding("fact", "laws", _summary(report, "examples" in constants))
    slow = next((result for result in report.merged if result.law == "time_linear"), None)
    if slow is not None and slow.outcome == "unfinished":
        yield Finding(
            "warning",
            "law time_linear",
            f"the check of the scoring time for long completions did not finish: {slow.reason} within {budget:g} s",
            f"raise preflight.budget to about {report.needs or 2 * budget:g}, or run rewardkit check",
        )
    for broken in report.findings[:_SHOWN]:
        yield _finding(broken)
    if len(report.findings) > _SHOWN:
        more = len(report.findings) - _SHOWN
        yield Finding("warning", "laws", f"{more} more laws are broken", "run rewardkit check to see them")


def _check_options(table: Table, best: Form | None) -> dict[str, Any]:
    rows = table.spread(ROWS)
    examples = [
        {"prompt": table.prompts[row], **{name: table.values(name)[row] for name in table.read}} for row in rows
    ]
    if best is None:
        return {"examples": examples}
    conversational = bool(rows) and not isinstance(table.prompts[rows[0]], str)
    cells = table.values(best.column)
    return {"examples": examples, "good": [[best.completion(cells[row], conversational)] for row in rows]}


def _finding(broken: Broken) -> Finding:
    return Finding(
        "error" if broken.law in STOPPING else "warning",
        f"law {broken.law}",
        f"{broken.component}: {broken.why}",
        broken.matters,
        (broken.reproduce,) if len(broken.reproduce) <= _LONGEST else (),
    )


def _summary(report: Report, has_examples: bool) -> str:
    counts = {
        outcome: sum(result.outcome == outcome for result in report.results)
        for outcome in ("held", "broken", "unfinished", "skipped")
    }
    tally = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    source = (
        "the module's examples"
        if has_examples
        else "rows from the data. EXAMPLES, GOOD, and BAD next to the reward would test more"
    )
    return f"{tally} in {report.seconds:.0f} s, on {source}"


# Check the environment that the policy acts in: can it be loaded, what are its tools, and does the data fit?


CHOICE = "environment"
"""The column that selects an environment from a dictionary."""


def tools(config: RunConfig, tree: Reward, table: Table) -> Iterator[Finding]:
    """Find errors in ``environment:``. If there is no environment, yield nothing."""
    if config.environment is None:
        return
    try:
        loaded = environment_of(config)
        environments(loaded, tree, timeout=None, outages=())
    except RewardKitError as error:
        yield Finding("error", "environment", str(error), "name a class that has a reset method and a tool")
        return
    kinds = dict(loaded) if isinstance(loaded, Mapping) else {None: loaded}
    yield from _unchosen(kinds, table)
    for kind in dict.fromkeys(kinds.values()):
        if isinstance(kind, type):  # a function would have to create one, which may start a sandbox
            yield from _reset(kind, table)
            yield from _tools(kind)
    texts = [row for row, prompt in enumerate(table.prompts) if isinstance(prompt, str)]
    if texts:
        problem = (
            f"{len(texts):,} prompts are strings, but TRL's tools need chats: TRL would raise AttributeError: 'str' "
            "object has no attribute 'get'"
        )
        yield Finding("error", f"prompts ({table.name})", problem, "write dataset.messages instead of dataset.prompt")


def _unchosen(kinds: Mapping[Any, Any], table: Table) -> Iterator[Finding]:
    """Find rows that do not select one of several environments."""
    if None in kinds:
        return
    kind_names = ", ".join(map(repr, kinds))
    if CHOICE not in table.columns:
        problem = f"the data has no column {CHOICE!r}, which chooses from {kind_names}"
        yield Finding("error", "environment", problem, "add it to the data, or name one class")
        return
    unmatched = {row: shorten(name) for row, name in enumerate(table.values(CHOICE)) if name not in kinds}
    if unmatched:
        problem = f"{len(unmatched):,} rows choose none of the environments ({kind_names})"
        remedy = "fix these rows, or exclude them with dataset.filter"
        yield Finding("error", f"column {CHOICE!r} ({table.name})", problem, remedy, shown(unmatched, table))


def _reset(kind: type, table: Table) -> Iterator[Finding]:
    """Find a ``reset`` that does not accept the columns of a row."""
    columns = [name for name in table.columns if name != CHOICE]
    try:
        inspect.signature(MethodType(kind.reset, object())).bind(**dict.fromkeys(columns))  # type: ignore[attr-defined]
    except TypeError as error:
        problem = f"reset does not accept a row with the columns {', '.join(columns)}: {error}"
        yield Finding("error", f"environment {kind.__name__}", problem, "write def reset(self, **row)")


def _tools(kind: type) -> Iterator[Finding]:
    from transformers.utils import get_json_schema

    names = []
    for name, function in tools_of(kind):
        static = isinstance(inspect.getattr_static(kind, name), staticmethod)
        try:
            get_json_schema(function if static else MethodType(function, object()))
            names.append(name)
        except Exception as error:
            problem = f"the tool {name!r} cannot be described to the model: {' '.join(str(error).split())}"
            remedy = "add type hints and a docstring with a description of each argument under Args:"
            yield Finding("error", f"environment {kind.__name__}", problem, f"{remedy}, or put _ before its name")
    if names:
        yield Finding("fact", f"environment {kind.__name__}", f"its tools are {', '.join(names)}")


# Estimate the GPU memory of one training process from the shape of the model.


GIB = 2**30
# Bytes per parameter. With 4 bits, about a tenth is added for the scales of the blocks.
_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "8bit": 1.0, "4bit": 0.55}
_WIDTHS, _INNER = 11, 4
"""The numbers of activations per token and layer, as multiples of the layer's width and of its MLP's width. They are
estimates for a decoder whose attention needs no additional memory."""


@dataclass(frozen=True)
class Memory:
    """The memory for one process, in bytes.

    Attributes:
        weights, gradients, optimizer, reference: the memory that is always allocated.
        copies: the memory for 16-bit copies of 32-bit weights, during updates and generation.
        logits, activations: the memory that is allocated during updates.
        cache: the memory that is allocated during generation.
        how: the formula for each part, as a string.
    """

    weights: float
    gradients: float
    optimizer: float
    reference: float
    copies: float
    logits: float
    activations: float
    cache: float
    how: dict[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> float:
        return self.weights + self.gradients + self.optimizer + self.reference

    @property
    def peak(self) -> float:
        return self.kept + self.copies + max(self.logits + self.activations, self.cache)


def memory_of(config: RunConfig, shape: Shape, batches: Batches, prompt: int, gpu: bool) -> Memory:
    """Return an estimate of the memory for one process.

    Args:
        prompt: the number of tokens in the longest prompt.
        gpu: whether the run computes in 16 bits and recomputes activations.
    """
    settings = grpo_settings(config)
    weight_type = config.quantize or _dtype(config, shape, gpu)
    # Adapters are trained in float32.
    trained_bytes = 4.0 if config.lora is not None else _BYTES[weight_type]
    compute_bytes = 2.0 if gpu or settings["bf16"] or settings["fp16"] else 4.0
    answer = settings["max_completion_length"] or 0
    tokens = batches.per_device * (prompt + answer)
    checkpointing = config.grpo.get("gradient_checkpointing", gpu and shape.parameters > LARGE)
    layer = tokens * (_WIDTHS * shape.hidden + _INNER * shape.inner) * compute_bytes
    activations = (
        tokens * shape.hidden * compute_bytes * shape.layers + layer if checkpointing else layer * shape.layers
    )
    copies = shape.parameters * compute_bytes if compute_bytes < _BYTES[weight_type] else 0.0
    reference = shape.parameters * _BYTES[weight_type] if settings["beta"] and config.lora is None else 0.0
    per_state = 2.0 if "8bit" in str(settings["optim"]) else 2 * trained_bytes
    liger = settings["use_liger_kernel"]
    logits = 0.0 if liger else 2.0 * batches.per_device * (answer + 1) * shape.vocabulary * compute_bytes
    cached = batches.per_device * batches.slices * (prompt + answer)
    return Memory(
        weights=shape.parameters * _BYTES[weight_type],
        gradients=shape.trainable * trained_bytes,
        optimizer=shape.trainable * per_state,
        reference=reference,
        copies=copies,
        logits=logits,
        activations=activations,
        cache=0.0 if config.vllm is not None else cached * shape.cached * shape.layers * compute_bytes,
        how={
            "weights": f"{shape.parameters:,} parameters x {_BYTES[weight_type]:g} bytes",
            "gradients": f"{shape.trainable:,} trained x {trained_bytes:g}",
            "optimizer": f"{shape.trainable:,} x {per_state:g}",
            "reference": "a copy of the weights, because beta is above 0",
            "copies": f"{shape.parameters:,} parameters x {compute_bytes:g}, in the computation's precision",
            "logits": f"2 x {batches.per_device} x {answer + 1:,} tokens x {shape.vocabulary:,} x {compute_bytes:g}",
            "activations": f"{tokens:,} tokens x {shape.layers} layers x {shape.hidden:,} wide"
            + (", recomputed" if checkpointing else ""),
            "cache": f"{cached:,} tokens x {shape.layers} layers x {shape.cached:,} x {compute_bytes:g}",
        },
    )


def _dtype(config: RunConfig, shape: Shape, gpu: bool) -> str:
    """Return the dtype of the weights: the saved dtype if an adapter is trained on a GPU, or float32 otherwise."""
    if config.model.dtype != "auto":
        return config.model.dtype
    return shape.dtype if config.lora is not None and gpu and shape.dtype in _BYTES else "float32"


def memory(config: RunConfig, shape: Shape | None, batches: Batches, prompt: int | None) -> Iterator[Finding]:
    """Report the memory estimate with its formula, and warn if this GPU does not have enough memory."""
    if shape is None:
        if config.model.name != "tiny":
            yield Finding("fact", "memory", "not estimated, because the model's config.json is not on this machine yet")
        return
    import torch

    gpu = torch.cuda.is_available()
    # If this machine has no GPU, estimate the memory for the GPU that the run will use.
    estimate = memory_of(config, shape, batches, prompt or 0, gpu=True)
    parts = {name: getattr(estimate, name) for name in estimate.how}
    details = [f"{name} {size / GIB:.2f} GiB = {estimate.how[name]}" for name, size in parts.items() if size]
    summary = f"about {estimate.peak / GIB:.1f} GiB per process on a GPU, an estimate that may be off by a third"
    if prompt is None:
        summary += " (without prompts, whose tokens are unknown)"
    yield Finding(
        "fact",
        "memory",
        f"{summary}: {estimate.kept / GIB:.1f} always, plus the larger share of updating and generating",
        rows=tuple(details),
    )
    capacity = torch.cuda.get_device_properties(0).total_memory if gpu else None
    if capacity is not None:
        vllm_share = float(grpo_settings(config)["vllm_gpu_memory_utilization"]) if _colocated(config) else 0.0
        if estimate.peak > capacity * (1 - vllm_share):
            vllm_note = f", of which vLLM uses {vllm_share:.0%}" if vllm_share else ""
            yield Finding(
                "warning",
                "memory",
                f"the estimate is {estimate.peak / GIB:.1f} GiB, but the GPU has {capacity / GIB:.1f} GiB{vllm_note}",
                "halve per_device_train_batch_size and double gradient_accumulation_steps, shorten "
                "max_completion_length, or write lora: true",
            )


def _colocated(config: RunConfig) -> bool:
    return config.vllm is not None and config.vllm.get("mode") == "colocate"


_GOLD_SHARE = 0.3
"""The maximum share of the time limit for the laws that scoring the gold answers may use first. The share is arbitrary,
but low because the laws find more faults and should get most of the time."""


def preflight(
    config: RunConfig,
    *,
    reward: Any,
    training: Dataset,
    held_out: Dataset | None,
    locations: Sequence[Callable[[int], str]] = (),
    show: Show = lambda text: None,
) -> Preflight:
    """Check a training run before the model is loaded.

    ``found = preflight(config, reward=reward, training=rows, held_out=None)``; ``print(found.text())``.

    Args:
        config: the run's configuration.
        reward: the object specified by ``reward:``: a Reward, a TRL reward function, or a list of them.
        training: rows with a column ``prompt``.
        held_out: the rows for the evaluation, or None if there is no evaluation.
        locations: two functions, for `training` and `held_out`, that return the location of a row in the data, such as
            ``"line 18"``. By default, rows are numbered.
        show: a function that is called with the name of each check when it starts, because the checks may take a
            minute.
    """
    options = config.preflight or PreflightConfig()
    if not len(training):
        return Preflight((Finding("error", "data", "the dataset has no rows", "fix dataset.path or dataset.filter"),))
    where, remedy = "reward", "name a reward, a function, or a list of them"
    try:
        checked_tree(reward)
        if config.reward_weights is not None:
            where, remedy = (
                "grpo.reward_weights",
                ("give each item in the list a weight, or delete the list and put the weights into the reward"),
            )
        tree = trained(config, reward)
    except RewardKitError as error:
        return Preflight((Finding("error", where, str(error), remedy),))
    table = Table(training, tree, "training", options.rows, *locations[:1])
    other = None if held_out is None else Table(held_out, tree, "held out", options.rows, *locations[1:])
    show("checking the data")
    findings = [*_guard_check("settings", packages(config)), *_guard_check("data", _data(config, tree, table, other))]
    findings += _guard_check("environment", tools(config, tree, table))
    if not any(finding.kind == "error" for finding in findings):
        findings += _guard_check("reward", _reward(config, options, reward, tree, table, show))
    show("checking the settings")
    findings += _guard_check("training", _training(config, tree, table, other))
    findings += _guard_check("output", output(config))
    return Preflight(tuple(dict.fromkeys(findings)))  # report a problem of both training and held-out rows once


def _guard_check(where: str, check: Iterator[Finding]) -> Iterator[Finding]:
    """Yield the findings from a check. If the check itself fails, yield a warning instead of stopping the run."""
    try:
        yield from check
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"the check itself failed: {type(error).__name__}: {error} ({frame.name}:{frame.lineno})"
        yield Finding("warning", where, problem, "report it as a bug (the run can start)")


def _data(config: RunConfig, tree: Reward, table: Table, other: Table | None) -> Iterator[Finding]:
    acts = config.environment is not None
    for checked_table in (table, other) if other is not None else (table,):
        training = None if checked_table is table else table
        yield from columns(tree, checked_table, acts=acts, renamed=config.dataset.columns, training=training)
        yield from prompts(checked_table)
        yield from cells(tree, checked_table)
    yield from duplicates(table, other, acts=acts)


def _reward(
    config: RunConfig, options: PreflightConfig, reward: Any, tree: Reward, table: Table, show: Show
) -> Iterator[Finding]:
    """Score the gold answers and test the laws, unless the reward calls a judge."""
    if asks(tree):
        note = "gold answers and laws were not tested, because the reward calls judges or models. Use rewardkit check"
        yield Finding("fact", "reward", note)
        return
    if any(binding.reads(ENVIRONMENT) for _, binding in bindings(tree)):
        note = "gold answers and laws were not tested, because the reward reads the environment. Use rewardkit check"
        yield Finding("fact", "reward", note)
        return
    show("scoring the gold answers")
    gold_check: Golds = golds(tree, table, options.budget * _GOLD_SHARE)
    yield from gold_check.findings
    if options.laws and not any(finding.kind == "error" for finding in gold_check.findings):
        constants = load(config.reward_target())[0].constants
        on_progress = law_progress(show, "laws", options.budget)
        yield from laws(reward, tree, table, constants, gold_check.best, options.budget, config.seed, on_progress)


def _training(config: RunConfig, tree: Reward, table: Table, other: Table | None) -> Iterator[Finding]:
    batches, batch_findings = batches_of(config, table.total)
    shape = shape_of(config)
    longest, length_findings = lengths(config, table, shape)
    yield from length_findings
    yield from batch_findings
    if batches is None:
        return
    for late in Scorer(tree).late(batches.steps):
        problem, _, remedy = late.rpartition(". ")
        yield Finding("error", "reward", problem, remedy[:1].lower() + remedy[1:])
    yield from split_groups(batches, any(node.facts.together == "group" for node, _, _ in walk(tree)))
    yield from memory(config, shape, batches, longest)
    every = config.eval.every if config.eval is not None else None
    times = 0 if other is None else 2 + (batches.steps // every if every else 0)
    yield from judges(tree, batches, times * (0 if other is None else other.total))
