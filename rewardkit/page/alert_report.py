"""A recorded run's alerts as text for a terminal and as JSON.

``print(alert_report("runs/x").text())`` prints the content of the *Suspicious* tab.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from rewardkit.alerts import Alert, Evidence, suspicious
from rewardkit.alerts.second_opinion import RowVerdict, SecondOpinion, second_opinions
from rewardkit.alerts.series import STEPS
from rewardkit.batch.batch import Batch
from rewardkit.page.alerts import evidence_of, radar_remark, recorded_batch, watched_run
from rewardkit.page.watcher import Watched
from rewardkit.report.document import Block, Card, Document, Facts, Paragraph, Quote
from rewardkit.report.values import excerpt, json_ready
from rewardkit.rewards.judges.transcripts import Transcript
from rewardkit.tree.conversion import RewardLike

LEAST_STEPS = 2 * STEPS
"""The minimum number of steps for a search, which compares two windows."""
_CUT = 150
"""The maximum length of a completion in characters: about two lines on a terminal."""
_NO_ALERTS = (
    "No alerts. Nothing in the scores or completions looks unusual so far. This is not proof that the run is healthy."
)
_OBSERVATIONS = (
    "Observations about this run, without a strength, because healthy runs show them as often as runs that game "
    "their reward:"
)
_NOT_FOREIGN = (
    "No completion was scored again with the gold answers of other prompts. Pass --reward to do that. If these scores "
    "also rise, that is a strong alert."
)
_NOTHING_FOREIGN = (
    "No completion could be scored again with the gold answers of other prompts: the reward reads no column that "
    "differs between prompts, or every component that reads one is a judge, a reward model, a program test, or a "
    "function that waits, is not deterministic, or reads the training progress or an environment."
)
_VERDICTS = {"does": "does the task", "does_not": "does not do the task", "undecided": "undecided"}


@dataclass(frozen=True)
class Example:
    """An alert's completion, with a judge's verdict on it."""

    step: int
    total: float
    prompt_id: str
    prompt: str
    completion: str
    opinion: RowVerdict | None = None


@dataclass(frozen=True)
class AlertReport:
    """A run's alerts.

    Attributes:
        run: the run's folder.
        steps, completions: the number of training steps and training completions.
        alerts: the alerts, strongest first, followed by the observations.
        examples: each alert's completions, the most informative first.
        opinions: a judge's opinion on each alert, or None for observations or if there is no judge.
        remark: a note on skipped searches and the reason; empty if no searches were skipped.
    """

    run: str
    steps: int
    completions: int
    alerts: Sequence[Alert]
    examples: Sequence[Sequence[Example]]
    opinions: Sequence[SecondOpinion | None]
    remark: str = ""

    @property
    def strength(self) -> float:
        """The strongest alert's strength, or 0 if there are no alerts."""
        return max((alert.strength for alert in self.alerts), default=0.0)

    @property
    def too_short(self) -> str:
        """The reason why the run is too short for a search, or an empty string if it is long enough."""
        if self.steps >= LEAST_STEPS:
            return ""
        steps = f"{self.steps} training step{'' if self.steps == 1 else 's'}" if self.steps else "no training step yet"
        return (
            f"{self.run} has {steps}, which is too short for this search: it compares windows of at least {STEPS} "
            f"steps. Search again after step {LEAST_STEPS}"
        )

    def text(self, *, examples: int = 2) -> str:
        """Return the report as text, with up to `examples` completions per alert."""
        return self._document(examples).text()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON, with all of each alert's completions."""
        alert_values = [self._values(number) for number in range(len(self.alerts))]
        return {
            "run": self.run,
            "steps": self.steps,
            "completions": self.completions,
            "strength": self.strength,
            "alerts": [
                values for alert, values in zip(self.alerts, alert_values, strict=True) if not alert.is_observation
            ],
            "observations": [
                values for alert, values in zip(self.alerts, alert_values, strict=True) if alert.is_observation
            ],
            "remark": self.remark or self.too_short,
        }

    def _values(self, number: int) -> dict[str, Any]:
        alert, opinion = self.alerts[number], self.opinions[number]
        alert_fields = {field.name: getattr(alert, field.name) for field in fields(alert) if field.name != "rows"}
        examples = [
            {name: value for name, value in vars(example).items() if name != "opinion"}
            | ({} if (verdict := example.opinion) is None else {"verdict": verdict.verdict, "reason": verdict.reason})
            for example in self.examples[number]
        ]
        counts = {} if opinion is None else {"second_opinion": opinion.counts}
        values: dict[str, Any] = json_ready({**alert_fields, **counts, "examples": examples})
        return values

    def _document(self, examples: int) -> Document:
        cards = {True: list[Block](), False: list[Block]()}
        for number, alert in enumerate(self.alerts):
            cards[alert.is_observation].append(self._card(number, examples))
        size = f"{self.run}: {self.steps:,} steps, {self.completions:,} completions"
        if cards[False]:
            size += ". Alerts, strongest first. They are not verdicts: read the completions."
        blocks: list[Block] = [Paragraph(size)]
        if not cards[False] and not self.too_short:
            blocks.append(Paragraph(_NO_ALERTS))
        blocks += cards[False]
        if cards[True]:
            blocks += [Paragraph(_OBSERVATIONS), *cards[True]]
        return Document(self.run, [*blocks, Paragraph(self.remark, "note")] if self.remark else blocks)

    def _card(self, number: int, examples: int) -> Card:
        alert, opinion = self.alerts[number], self.opinions[number]
        strength = "observation" if alert.is_observation else f"{alert.strength:.2f}"
        rows: list[tuple[str, str | Quote]] = []
        for example in self.examples[number][:examples]:
            total = "no total" if example.total != example.total else f"total {example.total:.2f}"
            text = excerpt(" ".join(example.completion.split()), _CUT) or "(empty)"
            rows.append((f"step {example.step:,}, {total}", Quote(example.completion, line=text)))
            if example.opinion is not None:
                reason = f": {example.opinion.reason}" if example.opinion.reason else ""
                rows.append(("judge", f"{_VERDICTS[example.opinion.verdict]}{reason}"))
        if opinion is not None:
            rows.append(("judge", str(opinion)))
        title = f"{strength}  {alert.kind}, steps {alert.steps[0]:,} to {alert.steps[1]:,}: {alert.title}"
        return Card(title, [Paragraph(alert.text), Facts(rows)] if rows else [Paragraph(alert.text)])


def alert_report(
    path: str | os.PathLike[str], *, reward: RewardLike | None = None, judge: RewardLike | None = None
) -> AlertReport:
    """Search a recorded run for alerts, and optionally ask a judge about the completions in the alerts.

    Args:
        path: the run's folder, or a URL that fsspec supports.
        reward: a reward with which to rescore a sample, using the gold answers for other prompts. See
            `rewardkit.page.alerts.read_evidence`.
        judge: a judge for a second opinion on each alert, in addition to the alert's strength. See `second_opinions`.
            The judge receives the completions as they were recorded, with their columns.

    Raises:
        NotARun: `path` does not contain a recorded run.
        RewardKitError: the reward cannot score this run's completions.
    """
    watched = watched_run(path)
    evidence = evidence_of(watched, reward)
    alerts = suspicious(evidence)
    examples = _examples(watched, alerts)
    opinions: dict[int, SecondOpinion] = {}
    if judge is not None:
        numbers = [number for number, alert in enumerate(alerts) if not alert.is_observation]
        judge_opinions = second_opinions(
            [alerts[number] for number in numbers],
            evidence,
            judge,
            batch_of=lambda rows: recorded_batch(watched, rows),
        )
        opinions = dict(zip(numbers, judge_opinions, strict=True))
    return AlertReport(
        run=os.fspath(path),
        steps=len(np.unique(evidence.steps[watched.scores.training])),
        completions=int(watched.scores.training.sum()),
        alerts=alerts,
        examples=[_of_alert(alert, examples, opinions.get(number)) for number, alert in enumerate(alerts)],
        opinions=[opinions.get(number) for number in range(len(alerts))],
        remark=_remark(watched, evidence, has_reward=reward is not None),
    )


def _examples(watched: Watched, alerts: Sequence[Alert]) -> dict[int, Example]:
    """Return the completions in all alerts, by row in the scores."""
    scores = watched.scores
    rows = np.unique(np.array([row for alert in alerts for row in alert.rows], dtype=np.int64))
    if not len(rows):
        return {}
    batch = recorded_batch(watched, rows)
    return {
        row: Example(
            int(scores.step[row]),
            float(scores.total[row]),
            scores.prompt_ids[scores.prompt[row]],
            batch.prompt_texts[batch_row],
            _written(batch, batch_row),
        )
        for batch_row, row in enumerate(rows.tolist())
    }


def _written(batch: Batch, batch_row: int) -> str:
    """Return a completion as text: all turns if it calls tools; otherwise, only its text."""
    trajectory = batch.trajectory(batch_row)
    return Transcript(show_thinking=True)(trajectory) if trajectory.calls else batch.texts[batch_row]


def _of_alert(alert: Alert, examples: dict[int, Example], opinion: SecondOpinion | None) -> list[Example]:
    if opinion is None:
        return [examples[row] for row in alert.rows]
    return [replace(examples[row_opinion.row], opinion=row_opinion) for row_opinion in opinion.rows]


def _remark(watched: Watched, evidence: Evidence, *, has_reward: bool) -> str:
    was_rescored = evidence.foreign is not None and not np.isnan(evidence.foreign.foreign).all()
    if has_reward:
        return "" if was_rescored else _NOTHING_FOREIGN
    return radar_remark(watched) or ("" if was_rescored else _NOT_FOREIGN)
