"""The server's metrics for Prometheus: ``GET /metrics``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from rewardkit.errors import MissingExtraError
from rewardkit.online.rows import RowScore

try:
    import prometheus_client as prometheus
except ImportError as missing:
    raise MissingExtraError.of("the reward server", "serve") from missing

# The buckets of the batch size histogram: powers of two up to the largest batch.
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


Meter = TypeVar("Meter")


def _named(
    registry: prometheus.CollectorRegistry, kind: Callable[..., Meter], name: str, *about: Any, **options: Any
) -> Meter:
    return kind(name, *about, namespace="rewardkit", registry=registry, **options)


class Metrics:
    """A server's metrics."""

    def __init__(self) -> None:
        self.registry = prometheus.CollectorRegistry()
        metric = partial(_named, self.registry)
        self.requests = metric(prometheus.Counter, "requests", "Answered requests", ["path", "status"])
        self.seconds = metric(prometheus.Histogram, "request_seconds", "Time from a request to its answer", ["path"])
        self.rows = metric(
            prometheus.Counter,
            "rows",
            "Answered rows: scored, failed, with a gold answer that cannot be read, or with all components abstaining",
            ["outcome"],
        )
        self.components = metric(
            prometheus.Counter, "component_outcomes", "Outcomes by component", ["component", "outcome"]
        )
        self.batch = metric(prometheus.Histogram, "batch_rows", "Rows in a batch for a worker", buckets=_SIZES)
        self.duplicates = metric(
            prometheus.Counter, "duplicate_rows", "Rows that waited for an identical row that was being scored"
        )
        self.deaths = metric(
            prometheus.Counter,
            "worker_batches_lost",
            "Batches that were scored again because their worker process crashed",
        )
        self.waiting = metric(prometheus.Gauge, "rows_waiting", "Rows that are waiting or being scored")
        self.workers = metric(prometheus.Gauge, "workers_ready", "Worker processes that have loaded the reward")

    def watch(self, waiting: Callable[[], float], workers: Callable[[], float]) -> None:
        """Read the two gauges from these functions for every ``GET /metrics``."""
        self.waiting.set_function(waiting)
        self.workers.set_function(workers)

    def answered(self, scores: Sequence[RowScore]) -> None:
        """Count the outcomes of rows and components."""
        rows = Counter(
            "scored" if row.scored else "failed" if row.failed else "unparsable" if row.unparsable else "abstained"
            for row in scores
        )
        for outcome, count in rows.items():
            self.rows.labels(outcome).inc(count)
        outcome_counts = Counter(
            pair for row_score in scores for pair in row_score.outcomes.items() if pair[1] != "scored"
        )
        for pair, count in outcome_counts.items():
            self.components.labels(*pair).inc(count)

    def page(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return prometheus.generate_latest(self.registry)
