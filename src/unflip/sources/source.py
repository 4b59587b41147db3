"""Rows that live elsewhere: in parts that can be read again, in any order, by several threads at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from unflip.sources.batch import Batch


class Source(ABC):
    """A table in parts, such as the row groups of Parquet files.

    A new source says how many parts it has and how one is read. `fingerprint` tells it from others, so that a
    pass that was interrupted goes on with the same data or not at all.
    """

    @property
    @abstractmethod
    def parts(self) -> Sequence[Any]:
        """What `read` takes, in the order of the rows."""

    @abstractmethod
    def read(self, part: Any) -> Iterator[Batch]:
        """The rows of a part, in batches small enough for memory. Threads may read several at once."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Something that changes when the data do: names, sizes, times of change, columns."""

    def __iter__(self) -> Iterator[Batch]:
        for part in self.parts:
            yield from self.read(part)


class Stream(ABC):
    """Rows that come one after another and cannot be cut into parts: a CSV file, a query, a reader.

    A pass that was interrupted reads them again from the first row on, and sums from where it had stopped.
    """

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Something that changes when the data do, as that of a `Source`."""

    @abstractmethod
    def __iter__(self) -> Iterator[Batch]:
        """All rows, in the same batches each time."""
