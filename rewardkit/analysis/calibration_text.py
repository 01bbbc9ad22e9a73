"""The plain text of a calibration: tables of ranks and scales, the confusion table, misjudged cases, warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rewardkit.analysis.component_calibration import ComponentCalibration
from rewardkit.analysis.discrimination import Pairs
from rewardkit.analysis.misjudged import Case
from rewardkit.analysis.presentation import UNKNOWN, aligned, decimal, excerpt, percent, short
from rewardkit.analysis.reliability import Confusion


def as_text(
    headline: str, total: ComponentCalibration, components: Sequence[ComponentCalibration], warnings: Sequence[str]
) -> str:
    """Return the whole calibration as text, without a line break at the end."""
    parts = [*components, total]
    if len(components) == 1 and components[0].overall == total.overall:
        parts = [total]  # a single component is the total
    sections = [
        [headline],
        ["Does the better completion score higher?", *aligned(list(_ranks(parts)))],
        ["What does a score mean?", *aligned(list(_scales(parts)))],
        *(
            [f"Confusion of the total at {short(table.threshold)} ({why})", *_confusion(table)]
            for table, why in ((total.best, "the best threshold"), (total.given, "your threshold"))
            if table is not None
        ),
        _reliability(total),
        _cases("Bad completions with the highest total", total.too_high),
        _cases("Good completions with the lowest total", total.too_low),
        [f"! {warning}" for warning in warnings],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _ranks(parts: Sequence[ComponentCalibration]) -> Iterator[list[str]]:
    titles = ["right", "tied", "wrong"]
    yield ["", "AUC", "95 %", "pairs of one prompt", *titles, "all pairs", *titles]
    for part in parts:
        interval = UNKNOWN if part.interval is None else f"{part.interval[0]:.3f} to {part.interval[1]:.3f}"
        within, overall = _shares(part.within), _shares(part.overall)
        yield [
            part.name,
            decimal(part.auc),
            interval,
            *(f"{part.within.count:,}", *within),
            *(f"{part.overall.count:,}", *overall),
        ]


def _shares(pairs: Pairs) -> tuple[str, str, str]:
    return percent(pairs.accuracy), percent(pairs.ties), percent(pairs.inversions)


def _scales(parts: Sequence[ComponentCalibration]) -> Iterator[list[str]]:
    cut = ["best cut", "accuracy", "precision", "recall"]
    yield ["", "scored", "lowest", "at it", "highest", "at it", "Spearman", *cut, "calibration error"]
    for part in parts:
        scale, best = part.saturation, part.best
        yield [
            part.name,
            f"{part.scored:,}",
            *([UNKNOWN] * 4 if scale is None else [short(scale.lowest), percent(scale.at_lowest)]),
            *([] if scale is None else [short(scale.highest), percent(scale.at_highest)]),
            decimal(part.spearman),
            *(
                [UNKNOWN] * 4
                if best is None
                else [short(best.threshold), percent(best.accuracy), percent(best.precision), percent(best.recall)]
            ),
            decimal(part.calibration_error),
        ]


def _confusion(table: Confusion) -> list[str]:
    return aligned(
        [
            ["", "labeled good", "labeled bad"],
            ["score reaches it", f"{table.true_positives:,}", f"{table.false_positives:,}"],
            ["score does not", f"{table.false_negatives:,}", f"{table.true_negatives:,}"],
        ]
    )


def _reliability(total: ComponentCalibration) -> list[str]:
    """Return the lines of the reliability curve; none if a single bin holds everything."""
    if len(total.reliability) < 2:
        return []
    lines = [["score", "completions", "mean score", "mean label"]]
    for part in total.reliability:
        cells = (f"{part.count:,}", decimal(part.mean_score), decimal(part.mean_label))
        lines.append([f"{short(part.lowest)} to {short(part.highest)}", *cells])
    return ["How often is it good, by score of the total?", *aligned(lines)]


def _cases(title: str, cases: Sequence[Case]) -> list[str]:
    if not cases:
        return []
    lines = [title]
    for case in cases:
        parts = ", ".join(f"{name} {short(score)}" for name, score in case.scores.items())
        made_of = f" ({parts})" if len(case.scores) > 1 else ""
        lines.append(f"  row {case.row}, {short(case.score)}{made_of}: {excerpt(case.completion, 100)}")
        lines += [f"      {name}: {excerpt(note, 100)}" for name, note in case.notes.items()]
    return lines
