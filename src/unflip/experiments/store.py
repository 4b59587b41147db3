"""Results as they come, in one SQLite file: a killed run loses at most what was in flight.

A row is one learner on one split of one dataset under one protocol: all trials of all rates, as exact float64
bytes. What a task returns is written in one transaction, so it is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.experiments.trials import PAPER_RATES, Outcome

SCHEMA = """
create table if not exists settings (name text primary key, value text not null);
create table if not exists outcomes (
    dataset text not null, protocol text not null, trials integer not null, split integer not null,
    learner text not null, error blob not null, one_less_auc blob not null,
    certificate blob not null, separable blob not null, curvature blob not null,
    primary key (dataset, protocol, trials, split, learner)
);
"""


@dataclass(frozen=True)
class Place:
    """Where outcomes belong: a dataset, a protocol, the number of trials on each split, a split."""

    dataset: str
    protocol: str
    trials: int
    split: int


class Store:
    """Outcomes by place and learner.

    >>> store = Store(":memory:", {"seed": "0"})
    >>> store.done()
    set()
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, str]) -> None:
        self.path, self.settings = path, settings
        self._memory = sqlite3.connect(":memory:") if str(path) == ":memory:" else None
        with self._connected() as connection:
            connection.executescript(SCHEMA)
            kept = dict(connection.execute("select name, value from settings"))
            if kept and kept != settings:
                changed = sorted(name for name in kept | settings if kept.get(name) != settings.get(name))
                raise ValueError(
                    f"{path} holds results of other settings ({', '.join(changed)}); name another file"
                )
            if not kept:
                connection.executemany("insert into settings values (?, ?)", sorted(settings.items()))

    def add(self, found: dict[Place, dict[str, Outcome]]) -> None:
        """Write outcomes by place and learner, all or none."""
        rows = [
            (*astuple(place), learner, *map(_bytes, astuple(outcome)))
            for place, outcomes in found.items()
            for learner, outcome in outcomes.items()
        ]
        with self._connected() as connection:
            connection.executemany(f"insert or replace into outcomes values ({', '.join('?' * 10)})", rows)

    def done(self) -> set[tuple[Place, str]]:
        """The places and learners that are already here."""
        query = "select dataset, protocol, trials, split, learner from outcomes"
        with self._connected() as connection:
            return {(Place(*place), learner) for *place, learner in connection.execute(query)}

    def outcomes(self, dataset: str, protocol: str, trials: int, splits: range) -> dict[str, list[Outcome]]:
        """Outcomes of some splits of a dataset by learner, in the order of splits."""
        result: dict[str, list[Outcome]] = {}
        query = (
            "select learner, error, one_less_auc, certificate, separable, curvature from outcomes"
            " where dataset = ? and protocol = ? and trials = ? and split between ? and ?"
            " order by learner, split"
        )
        key = (dataset, protocol, trials, splits[0], splits[-1])
        with self._connected() as connection:
            for learner, *blobs in connection.execute(query, key):
                error, area, *rest = (np.frombuffer(blob, dtype="<f8") for blob in blobs)
                outcome = Outcome(
                    error.reshape(len(PAPER_RATES), -1), area.reshape(len(PAPER_RATES), -1), *rest
                )
                result.setdefault(learner, []).append(outcome)
        return result

    def digest(self, places: Collection[Place] | None = None) -> str:
        """SHA-256 of the results, of some places or of all, whatever the order in which they came."""
        total = hashlib.sha256()
        query = "select * from outcomes order by dataset, protocol, trials, split, learner"
        with self._connected() as connection:
            for row in connection.execute(query):
                if places is None or Place(*row[:4]) in places:
                    for value in row:
                        total.update(value if isinstance(value, bytes) else repr(value).encode())
        return total.hexdigest()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are kept together, or not at all."""
        connection = self._memory or sqlite3.connect(self.path)
        try:
            with connection:
                yield connection
        finally:
            if connection is not self._memory:
                connection.close()


def _bytes(values: AnyArray) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()
