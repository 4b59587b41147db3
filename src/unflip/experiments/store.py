"""Results as they come, in one SQLite file: a killed run loses at most the split in flight.

A row is one loss on one split of one dataset: all trials of all rates, as exact float64 bytes. Each split is
written in one transaction, so it is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from unflip.experiments.trials import Outcome

Array = np.ndarray[Any, Any]

SCHEMA = """
create table if not exists settings (name text primary key, value text not null);
create table if not exists outcomes (
    dataset text not null, split integer not null, loss text not null,
    rates integer not null, error blob not null, one_less_auc blob not null, certificate real not null,
    primary key (dataset, split, loss)
);
"""


class Store:
    """Outcomes by dataset, split and loss.

    >>> store = Store(":memory:", {"seed": "0"})
    >>> store.done("iris")
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

    def add(self, dataset: str, split: int, outcomes: dict[str, Outcome]) -> None:
        """Write the outcomes of one split, all or none."""
        rows = [
            (dataset, split, loss, len(o.error), _bytes(o.error), _bytes(o.one_less_auc), o.certificate)
            for loss, o in outcomes.items()
        ]
        with self._connected() as connection:
            connection.executemany("insert or replace into outcomes values (?, ?, ?, ?, ?, ?, ?)", rows)

    def done(self, dataset: str) -> set[int]:
        """The splits of a dataset that are already here."""
        with self._connected() as connection:
            found = connection.execute("select distinct split from outcomes where dataset = ?", (dataset,))
            return {split for (split,) in found}

    def outcomes(self, dataset: str) -> dict[str, list[Outcome]]:
        """All outcomes of a dataset by loss, in the order of splits."""
        result: dict[str, list[Outcome]] = {}
        query = "select * from outcomes where dataset = ? order by loss, split"
        with self._connected() as connection:
            for _, _, loss, rates, error, area, certificate in connection.execute(query, (dataset,)):
                outcome = Outcome(_array(error, rates), _array(area, rates), certificate)
                result.setdefault(loss, []).append(outcome)
        return result

    def digest(self) -> str:
        """SHA-256 of all results, whatever the order in which they came."""
        total = hashlib.sha256()
        with self._connected() as connection:
            for row in connection.execute("select * from outcomes order by dataset, split, loss"):
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


def _bytes(values: Array) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def _array(content: bytes, rates: int) -> Array:
    return np.frombuffer(content, dtype="<f8").reshape(rates, -1)
