"""Counts what the server does, and writes it as Prometheus reads it."""

from collections.abc import Iterable, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from bot.server.queue import Census

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_ANSWERED = {
    "accepted": "Deliveries taken into the queue.",
    "duplicate": "Deliveries that were there already.",
    "ignored": "Deliveries that nobody asked for.",
}
disable_created_metrics()  # type: ignore[no-untyped-call]


def observe(what: str, seconds: float) -> dict[str, float]:
    """Turn a duration into figures to add up: every bucket that holds it, sum and count."""
    held = {f"{what}:le:{limit:g}": 1.0 for limit in BUCKETS_S if seconds <= limit}
    return {**held, f"{what}:sum": seconds, f"{what}:count": 1.0}


class Figures:
    """What the receiver counts while it lives; figures of the work are in the queue."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._answered = {
            name: Counter(f"stratwright_{name}", about, registry=self.registry)
            for name, about in _ANSWERED.items()
        }
        self._refused = Counter(
            "stratwright_refused", "Requests that were refused.", ["reason"], registry=self.registry
        )
        self._seconds = Histogram(
            "stratwright_request_seconds",
            "Time to answer a delivery.",
            buckets=BUCKETS_S,
            registry=self.registry,
        )

    def add(self, name: str, seconds: float) -> None:
        """Count one request and the time that it took."""
        kind, _, reason = name.partition(":")
        (self._refused.labels(reason) if kind == "refused" else self._answered[kind]).inc()
        self._seconds.observe(seconds)


def metrics_text(figures: Figures, census: Census, workers: int) -> bytes:
    """Write everything as Prometheus' text format has it."""
    work = CollectorRegistry()
    work.register(_Work(census, workers))
    return generate_latest(figures.registry) + generate_latest(work)


class _Work(Collector):
    """The figures that outlive the receiver."""

    def __init__(self, census: Census, workers: int) -> None:
        self._census = census
        self._workers = workers

    def collect(self) -> Iterable[Metric]:
        census, tallies = self._census, self._census.tallies
        for name, about, value in (
            ("queue_depth", "Deliveries that wait.", census.queued),
            ("queue_leased", "Deliveries that are worked on.", census.leased),
            ("queue_aside", "Deliveries that were given up.", census.aside),
            ("queue_oldest_seconds", "Age of the oldest unfinished delivery.", census.oldest_s),
            ("workers", "Processes that work.", self._workers),
        ):
            yield GaugeMetricFamily(f"stratwright_{name}", about, value)
        yield _by("outcome", "done", "Deliveries done.", tallies, "done:")
        yield _by("reason", "failed", "Deliveries set aside.", tallies, "aside:")
        yield CounterMetricFamily(
            "stratwright_retried", "Attempts that are made again.", tallies.get("retried", 0)
        )
        count = tallies.get("work:count", 0.0)
        held = [(f"{limit:g}", tallies.get(f"work:le:{limit:g}", 0.0)) for limit in BUCKETS_S]
        yield HistogramMetricFamily(
            "stratwright_work_seconds",
            "Time to work on a delivery.",
            buckets=[*held, ("+Inf", count)],
            sum_value=tallies.get("work:sum", 0.0),
        )


def _by(
    label: str, name: str, about: str, tallies: Mapping[str, float], prefix: str
) -> CounterMetricFamily:
    """Count by the codes that stand behind a prefix."""
    family = CounterMetricFamily(f"stratwright_{name}", about, labels=[label])
    for code, value in sorted(tallies.items()):
        if code.startswith(prefix):
            family.add_metric([code.removeprefix(prefix)], value)
    return family
