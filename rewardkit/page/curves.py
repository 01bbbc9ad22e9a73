"""A run's graphs as plain series: ``panels(scores, metrics, ["format", "answer"])[0].lines[0].y``.

Each point is a training step. A `Panel` contains all points without smoothing or downsampling, as needed for exports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rewardkit.page.scores import OUTCOMES, Floats, Integers, Rows, Scores
from rewardkit.record.queries import mean_metrics
from rewardkit.record.run import Run

Series = tuple[Floats, Floats]
"""A pair of arrays: the steps and the values, (t,) each."""


@dataclass(frozen=True, eq=False)
class Line:
    """A line in a graph.

    Attributes:
        color: the component that determines the color, or "" for the total.
        by: the completions' column whose mean the line shows, as named in a selection, or "" for none.
        low, high: (t,) the band around the line.
        dashed, dotted: the line style, which distinguishes lines with the same color. Evaluations are dashed.
    """

    name: str
    x: Floats
    y: Floats
    color: str = ""
    low: Floats | None = None
    high: Floats | None = None
    dashed: bool = False
    dotted: bool = False
    by: str = ""


@dataclass(frozen=True, eq=False)
class Panel:
    """A graph with one or more lines.

    Attributes:
        about: a sentence about the graph's content.
        unit: the values' unit: ``""``, ``"share"``, or a word.
        exact: whether the user set these values. They are not smoothed, because an average would be misleading.
        section: the section on the page.
    """

    key: str
    title: str
    about: str
    lines: Sequence[Line]
    unit: str = ""
    exact: bool = False
    section: str = "Reward"

    @property
    def still(self) -> bool:
        """Whether every line is constant."""
        return all(len(set(line.y[np.isfinite(line.y)].tolist())) < 2 for line in self.lines)


SECTIONS = ("Reward", "Completions", "Trainer")
_ABOUT_ADVANTAGE = (
    "The share of the advantages, and therefore of the learning signal, that each term contributes. A term that works "
    "against the other terms has a negative share, and then the shares of the others sum to more than 100%."
)
_ABOUT_TOOLS = "The mean number of calls of each tool per completion."
_ABOUT_DIVERSITY = "The share of distinct completions within a group: 1 if all are different."


@dataclass(frozen=True, eq=False)
class Metrics:
    """The metrics logged for whole batches: name -> steps and values."""

    training: Mapping[str, Series] = field(default_factory=dict)
    evaluation: Mapping[str, Series] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> Metrics:
        """Read a run's metrics, averaged over each step's batches."""
        import pyarrow as pa

        table = mean_metrics(run)
        series: dict[bool, dict[str, Series]] = {True: {}, False: {}}
        if table.num_rows:
            names = table["name"].cast(pa.string()).combine_chunks().dictionary_encode()
            codes = np.asarray(names.indices) * 2 + np.asarray(table["training"].to_numpy(zero_copy_only=False))
            steps = np.asarray(table["step"], dtype=np.float64)
            values = np.asarray(table["value"], dtype=np.float64)
            starts = np.flatnonzero(np.r_[True, np.diff(codes) != 0])
            listed = names.dictionary.to_pylist()
            for start, end in zip(starts, [*starts[1:], len(codes)], strict=True):
                name, training = listed[codes[start] // 2], bool(codes[start] % 2)
                series[training][name] = steps[start:end], values[start:end]
        return cls(series[True], series[False])

    def named(self, prefix: str) -> dict[str, Series]:
        """Return the training metrics with a prefix, without the prefix: ``{"format": ...}`` for ``weights/``."""
        return {name[len(prefix) :]: series for name, series in self.training.items() if name.startswith(prefix)}


class ByStep:
    """Sums and averages over each step's rows. The rows are in step order."""

    def __init__(self, step: Integers, rows: Rows) -> None:
        self.rows = rows if not rows.all() else slice(None)
        row_steps = step[self.rows]
        self.starts = (
            np.flatnonzero(np.r_[True, np.diff(row_steps) != 0]) if len(row_steps) else np.empty(0, dtype=np.int64)
        )
        self.steps = row_steps[self.starts].astype(np.float64)

    def aligned(self, series: Series) -> Series:
        """Return the series with a point at every step. A step without a value is NaN, so that the line has a gap."""
        x, y = series
        steps = np.union1d(self.steps, x)
        values = np.full(len(steps), np.nan)
        values[np.searchsorted(steps, x)] = y
        return steps, values

    def sum(self, values: Floats | Rows) -> Floats:
        """Return the sum over each step's rows (t,)."""
        if not len(self.starts):
            return np.empty(0)
        return np.add.reduceat(np.asarray(values[self.rows], dtype=np.float64), self.starts)

    def mean(self, values: Floats) -> Floats:
        """Return the mean over each step's rows (t,), ignoring NaN."""
        finite = ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.sum(np.where(finite, values, 0.0)) / self.sum(finite.astype(np.float64)))

    def mean_and_deviation(self, values: Floats) -> tuple[Floats, Floats]:
        mean = self.mean(values)
        # Center before squaring, so that large rewards do not lose precision.
        center = float(np.nanmean(values)) if np.isfinite(values).any() else 0.0
        square = self.mean((values - center) ** 2)
        return mean, np.sqrt(np.maximum(square - (mean - center) ** 2, 0.0))


def panels(scores: Scores, metrics: Metrics, components: Sequence[str]) -> list[Panel]:
    """Return a run's graphs, except graphs without data."""
    training, evaluation = ByStep(scores.step, scores.training), ByStep(scores.step, ~scores.training)
    order = {name: index for index, name in enumerate(components)}

    def of_batches(
        prefix: str, key: str, title: str, about: str, unit: str = "", *, exact: bool = False, section: str = "Reward"
    ) -> Panel:
        """Return the graph of the batch metrics that have `prefix`, with gaps for steps without a value."""
        named = sorted(metrics.named(prefix).items(), key=lambda entry: order.get(entry[0], len(order)))
        lines = [Line(name, *training.aligned(series), name) for name, series in named]
        return Panel(key, title, about, lines, unit, exact, section)

    candidates = [
        _total(scores, training, evaluation),
        _components(scores, training, evaluation, components),
        Panel(
            "terms",
            "Weighted terms",
            "The contribution of each term to the total, including its weight.",
            _means(training, scores.terms, prefix="terms/"),
        ),
        of_batches(
            "parts/", "parts", "Parts", "The mean of each part of a score, over the completions that have the part."
        ),
        of_batches("weights/", "weights", "Weights", "The weight of each component at each step.", exact=True),
        of_batches("stage/", "stages", "Stages", "The stage of each curriculum.", exact=True),
        of_batches("gates/", "gates", "Gates", "The share of completions that pass each gate.", "share"),
        of_batches("threshold/", "thresholds", "Thresholds", "The score that opens each gate.", exact=True),
        _outcomes(scores, training),
        of_batches("advantage_share/", "advantage", "Advantage share", _ABOUT_ADVANTAGE, "share"),
        _flat_groups(scores, training),
        _length(scores, training, evaluation),
        _prompt_length(scores, training),
        *_trajectories(metrics, training),
        of_batches("trajectory/calls/", "tools", "Calls of each tool", _ABOUT_TOOLS, section="Completions"),
        of_batches("diversity/", "diversity", "Diversity", _ABOUT_DIVERSITY, "share", section="Completions"),
        of_batches("seconds/", "seconds", "Time", "Seconds spent in each component.", "seconds"),
        *_others(metrics),
    ]
    drawn = [replace(panel, lines=[line for line in panel.lines if np.isfinite(line.y).any()]) for panel in candidates]
    return [panel for panel in drawn if panel.lines]


def version_marks(scores: Scores) -> list[tuple[int, str]]:
    """Return the steps at which the reward version changed (at most 50), each with the new fingerprint."""
    rows = np.flatnonzero(scores.training)
    versions = scores.version[rows]
    changes = np.flatnonzero(np.diff(versions)) + 1
    return [(int(scores.step[rows[at]]), scores.versions[versions[at]]) for at in changes[:50]]


def smoothed(values: Floats, weight: float) -> Floats:
    """Return an exponential moving average, corrected for its bias toward 0 at the start. Gaps are kept."""
    if not weight:
        return values
    result = np.full(len(values), np.nan)
    last = norm = 0.0
    for index, value in enumerate(values.tolist()):
        if value == value:
            last = weight * last + (1 - weight) * value
            norm = weight * norm + (1 - weight)
            result[index] = last / norm
    return result


def thinned(x: Floats, columns: Sequence[Floats], most: int) -> tuple[Floats, list[Floats]]:
    """Downsample to at most `most` points. Each point is the mean of neighboring points."""
    if len(x) <= most:
        return x, list(columns)
    starts = np.unique(np.linspace(0, len(x), most, endpoint=False).astype(np.int64))

    def means(values: Floats) -> Floats:
        finite = np.isfinite(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(
                np.add.reduceat(np.where(finite, values, 0.0), starts) / np.add.reduceat(finite.astype(float), starts)
            )

    return means(x), [means(values) for values in columns]


def _means(steps: ByStep, columns: Mapping[str, Floats], dashed: bool = False, prefix: str = "") -> list[Line]:
    suffix = " (evaluation)" if dashed else ""
    return [
        Line(f"{name}{suffix}", steps.steps, steps.mean(values), name, dashed=dashed, by=prefix + name)
        for name, values in columns.items()
    ]


def _total(scores: Scores, training: ByStep, evaluation: ByStep) -> Panel:
    mean, deviation = training.mean_and_deviation(scores.total)
    totals = scores.total[~np.isnan(scores.total)]
    ends = (float(totals.min()), float(totals.max())) if len(totals) else (0.0, 0.0)
    low, high = (np.clip(mean + sign * deviation, *ends) for sign in (-1, 1))
    lines = [Line("total", training.steps, mean, low=low, high=high, by="total")]
    lines.append(Line("total (evaluation)", evaluation.steps, evaluation.mean(scores.total), dashed=True))
    about = "The mean over the completions of each step. The band is one standard deviation, cut to the observed range."
    return Panel("total", "Total reward", about, lines)


def _components(scores: Scores, training: ByStep, evaluation: ByStep, components: Sequence[str]) -> Panel:
    component_scores = {name: scores.components[name] for name in components if name in scores.components}
    lines = [*_means(training, component_scores), *_means(evaluation, component_scores, dashed=True)]
    return Panel("components", "Components", "The mean raw score of each component, before weighting.", lines)


def _trajectories(metrics: Metrics, training: ByStep) -> Iterator[Panel]:
    """Yield the graphs about conversations: turns, tool calls, and endings."""
    named = metrics.named("trajectory/")

    def lines(*names: str) -> list[Line]:
        return [Line(name.replace("_", " "), *training.aligned(named[name]), name) for name in names if name in named]

    about = "The mean number of turns, tool calls, and failed tool calls per completion."
    yield Panel("turns", "Turns and tool calls", about, lines("turns", "calls", "errors"), section="Completions")
    about = (
        "The shares of completions that end without an answer, with calls that never ran, with a call "
        "that could not be read, or with a failed environment."
    )
    ends = lines("unfinished", "pending", "malformed_calls", "broken")
    yield Panel("endings", "Without an answer", about, ends, "share", section="Completions")


def _outcomes(scores: Scores, training: ByStep) -> Panel:
    lines = []
    for name, codes in scores.outcomes.items():
        for code, outcome in enumerate(OUTCOMES[1:], start=1):
            if (codes == code).any():
                usual = outcome in ("abstained", "skipped")
                existed = training.sum(codes < len(OUTCOMES)) > 0
                counts = np.where(existed, training.sum(codes == code), np.nan)
                # All outcomes of a component have its color: failures are solid, errors dashed, usual outcomes dotted.
                dashed = outcome == "errored"
                lines.append(Line(f"{name}: {outcome}", training.steps, counts, name, dashed=dashed, dotted=usual))
    unscorable = np.isnan(scores.total)
    if unscorable.any():
        lines.append(Line("no total", training.steps, training.sum(unscorable)))
    about = "The number of completions per step that a component did not score, by reason."
    return Panel("outcomes", "Outcomes", about, lines, "completions")


def _flat_groups(scores: Scores, training: ByStep) -> Panel:
    """Return the graph of the share of groups in which all totals are equal."""
    about = "The share of groups in which all completions get the same reward, so the model learns nothing from them."
    title = "Groups without variance"
    rows = np.flatnonzero(scores.training)
    if not len(rows):
        return Panel("flat", title, about, [], "share")
    keys = [getattr(scores, name)[rows] for name in ("step", "attempt", "rank", "part", "group")]
    if any((np.diff(key) < 0).any() for key in keys[:1]) or not _together(keys):
        order = np.lexsort(keys[::-1])
        rows, keys = rows[order], [key[order] for key in keys]
    starts = np.flatnonzero(np.r_[True, np.logical_or.reduce([np.diff(key) != 0 for key in keys])])
    totals = scores.total[rows]
    high = np.fmax.reduceat(totals, starts)
    low = np.fmin.reduceat(totals, starts)
    size = np.diff(np.r_[starts, len(rows)])
    counted = (size > 1) & ~np.isnan(high)
    # A relative tolerance: equal totals that were summed in another order differ in their last digits.
    flat = (high - low) <= 1e-9 * np.maximum(1.0, np.abs(high))
    by_step = ByStep(keys[0][starts], counted)
    return Panel("flat", title, about, [Line("share", by_step.steps, by_step.mean(flat.astype(np.float64)))], "share")


def _together(keys: Sequence[Integers]) -> bool:
    """Return whether group numbers never decrease within a batch, so that each group's rows are adjacent."""
    new_batch = np.logical_or.reduce([np.diff(key) != 0 for key in keys[:-1]])
    return bool((new_batch | (np.diff(keys[-1]) >= 0)).all())


def _length(scores: Scores, training: ByStep, evaluation: ByStep) -> Panel:
    mean, deviation = training.mean_and_deviation(scores.length)
    low = np.maximum(mean - deviation, 0.0)
    lines = [Line("length", training.steps, mean, low=low, high=mean + deviation, by="length")]
    lines.append(Line("length (evaluation)", evaluation.steps, evaluation.mean(scores.length), dashed=True))
    about = f"The mean length of the completions in {scores.length_unit}. The band is one standard deviation."
    return Panel("length", "Completion length", about, lines, scores.length_unit, section="Completions")


def _prompt_length(scores: Scores, training: ByStep) -> Panel:
    lines = [Line("prompt length", training.steps, training.mean(scores.prompt_length))]
    about = "The mean length of the prompts in tokens, as the trainer tokenizes them."
    return Panel("prompt_length", "Prompt length", about, lines, "tokens", section="Completions")


_DRAWN = (
    *("components/", "parts/", "weights/", "stage/", "gates/", "threshold/", "advantage_share/"),
    *("seconds/", "diversity/", "trajectory/"),
)
_COUNTED = (
    *("contributions/", "failed/", "unparsable_gold/", "errored/", "abstained/", "skipped/", "unscorable"),
    *("recorder/", "rewardkit/"),
)
_SETTINGS = ("limit/",)


def _others(metrics: Metrics) -> Iterator[Panel]:
    """Yield a graph for each other metric: the trainer's log, and the judges' time and cost."""
    for name, series in metrics.training.items():
        if not name.startswith((*_DRAWN, *_COUNTED, *_SETTINGS)):
            lines = [Line(name.removeprefix("trainer/"), *series)]
            if name in metrics.evaluation:
                lines.append(Line("evaluation", *metrics.evaluation[name], dashed=True))
            about = f"{name}, as logged."
            yield Panel(f"metric/{name}", name.removeprefix("trainer/"), about, lines, section="Trainer")
