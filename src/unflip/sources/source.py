"""Rows that live elsewhere: in parts that can be read again, in any order, by several threads at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


class Elsewhere(ABC):
    """Rows that stay where they are, on a cluster or in a database: only their sums come here.

    A pass hands itself over, and the source calls what fits the place: `of_partitions` if functions can be
    sent to the rows, `of_aggregates` if only queries can.
    """

    @abstractmethod
    def summed_by(self, sums: Any) -> Any:
        """What the pass makes of the rows."""


@contextmanager
def naming_the_partition(number: int) -> Iterator[None]:
    """Tell in which partition something was wrong.

    >>> with naming_the_partition(3):
    ...     raise ValueError("row 0 is odd")
    Traceback (most recent call last):
    ValueError: partition 3: row 0 is odd
    """
    try:
        yield
    except (ValueError, TypeError, KeyError) as error:
        kind = type(error) if type(error) in (ValueError, TypeError) else ValueError
        reason = f"KeyError: {error}" if isinstance(error, KeyError) else error  # which is the key alone
        raise kind(f"partition {number}: {reason}") from error
