"""Figures to the text that Prometheus reads; durations to the names they are counted under."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from bot.server.queue import Census

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


def observe(what: str, seconds: float) -> dict[str, float]:
    """A duration as figures to add up: every bucket that holds it, sum and count."""
    held = {f"{what}:le:{limit:g}": 1.0 for limit in BUCKETS_S if seconds <= limit}
    return {**held, f"{what}:sum": seconds, f"{what}:count": 1.0}


@dataclass
class Figures:
    """What the receiver counts while it lives; figures of the work are in the queue."""

    counted: Counter[str] = field(default_factory=Counter)
    times: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, name: str, seconds: float) -> None:
        """Count one request and the time that it took."""
        with self._lock:
            self.counted[name] += 1
            for key, value in observe("request", seconds).items():
                self.times[key] = self.times.get(key, 0.0) + value


def metrics_text(figures: Figures, census: Census, workers: int) -> str:
    """Everything, as Prometheus' text format has it."""
    refused = {
        name.partition(":")[2]: value
        for name, value in figures.counted.items()
        if name.startswith("refused:")
    }
    lines = [
        *_family("accepted_total", "counter", "Deliveries taken into the queue.",
                 [("", figures.counted["accepted"])]),
        *_family("duplicate_total", "counter", "Deliveries that were there already.",
                 [("", figures.counted["duplicate"])]),
        *_family("ignored_total", "counter", "Deliveries that nobody asked for.",
                 [("", figures.counted["ignored"])]),
        *_family("refused_total", "counter", "Requests that were refused.", _by("reason", refused)),
        *_family("queue_depth", "gauge", "Deliveries that wait.", [("", census.queued)]),
        *_family("queue_leased", "gauge", "Deliveries that are worked on.", [("", census.leased)]),
        *_family("queue_aside", "gauge", "Deliveries that were given up.", [("", census.aside)]),
        *_family("queue_oldest_seconds", "gauge", "Age of the oldest unfinished delivery.",
                 [("", census.oldest_s)]),
        *_family("done_total", "counter", "Deliveries done.",
                 _by("outcome", _below(census.tallies, "done:"))),
        *_family("failed_total", "counter", "Deliveries set aside.",
                 _by("reason", _below(census.tallies, "aside:"))),
        *_family("retried_total", "counter", "Attempts that are made again.",
                 [("", census.tallies.get("retried", 0))]),
        *_family("workers", "gauge", "Processes that work.", [("", workers)]),
        *_histogram("request_seconds", "Time to answer a delivery.", figures.times, "request"),
        *_histogram("work_seconds", "Time to work on a delivery.", census.tallies, "work"),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _family(name: str, kind: str, about: str, rows: Iterable[tuple[str, float]]) -> Iterable[str]:
    yield f"# HELP stratwright_{name} {about}"
    yield f"# TYPE stratwright_{name} {kind}"
    for labels, value in rows:
        yield f"stratwright_{name}{labels} {value!r}"


def _by(label: str, values: Mapping[str, float]) -> list[tuple[str, float]]:
    """One row for each; the names are codes of ours, without anything to escape."""
    return [(f'{{{label}="{name}"}}', value) for name, value in sorted(values.items())]


def _below(values: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {
        name.removeprefix(prefix): value
        for name, value in values.items()
        if name.startswith(prefix)
    }


def _histogram(name: str, about: str, values: Mapping[str, float], what: str) -> Iterable[str]:
    yield f"# HELP stratwright_{name} {about}"
    yield f"# TYPE stratwright_{name} histogram"
    count = values.get(f"{what}:count", 0.0)
    for limit in BUCKETS_S:
        held = values.get(f"{what}:le:{limit:g}", 0.0)
        yield f'stratwright_{name}_bucket{{le="{limit:g}"}} {held!r}'
    yield f'stratwright_{name}_bucket{{le="+Inf"}} {count!r}'
    yield f"stratwright_{name}_sum {values.get(f'{what}:sum', 0.0)!r}"
    yield f"stratwright_{name}_count {count!r}"
