"""What the server counts, for Prometheus: ``GET /metrics``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rewardkit.online.rows import RowScore

_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


Meter = TypeVar("Meter")


def _named(registry: CollectorRegistry, kind: Callable[..., Meter], name: str, *about: Any, **options: Any) -> Meter:
    return kind(name, *about, namespace="rewardkit", registry=registry, **options)


class Meters:
    """The meters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = partial(_named, self.registry)
        self.requests = own(Counter, "requests", "Requests answered", ["path", "status"])
        self.seconds = own(Histogram, "request_seconds", "Time from a request to its answer", ["path"])
        self.rows = own(Counter, "rows", "Rows answered: scored, failed, or abstained as a whole", ["outcome"])
        self.components = own(Counter, "component_outcomes", "Outcomes by component", ["component", "outcome"])
        self.batch = own(Histogram, "batch_rows", "Rows in a batch for a worker", buckets=_SIZES)
        self.alike = own(Counter, "rows_alike", "Rows that waited for an equal row in flight")
        self.deaths = own(Counter, "worker_batches_lost", "Batches whose worker process died; they are scored again")
        self.waiting = own(Gauge, "rows_waiting", "Rows that wait or are being scored")
        self.workers = own(Gauge, "workers_ready", "Worker processes that have loaded the reward")

    def watch(self, waiting: Callable[[], float], workers: Callable[[], float]) -> None:
        """Read two gauges whenever they are asked for."""
        self.waiting.set_function(waiting)
        self.workers.set_function(workers)

    def answered(self, scores: Sequence[RowScore]) -> None:
        """Count the outcomes of rows."""
        for score in scores:
            self.rows.labels("scored" if score.scored else "failed" if score.failed else "abstained").inc()
            for name, outcome in score.outcomes.items():
                if outcome != "scored":
                    self.components.labels(name, outcome).inc()

    def page(self) -> bytes:
        """Return all meters in Prometheus' text format."""
        return generate_latest(self.registry)
