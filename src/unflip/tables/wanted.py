"""What is wanted of a file, and what is known of it before it is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

DECIMALS = (",", ".")
ORDERS = ("day", "month")


@dataclass
class Habits:
    """How CSV writes what can be read in two ways; reading fills in what the values tell.

    dates: for each column of dates such as 02/12/2023, what comes first, "day" or "month". decimal: "," or
    "." in numbers; between commas it is always a point.

    >>> Habits.from_facts(Habits({"due": "day"}).as_facts())
    Habits(dates={'due': 'day'}, decimal=None)
    """

    dates: dict[str, str] = field(default_factory=dict)
    decimal: str | None = None

    def as_facts(self) -> dict[str, Any]:
        """What JSON keeps."""
        return {"dates": self.dates, "decimal": self.decimal}

    @classmethod
    def from_facts(cls, facts: Any) -> Self:
        """What `as_facts` gave; anything else raises `ValueError`."""
        dates, decimal = facts["dates"], facts["decimal"]
        known = isinstance(dates, dict) and all(order in ORDERS for order in dates.values())
        if not known or decimal not in (*DECIMALS, None):
            raise ValueError(f"dates and numbers are not written so: {facts!r}")
        return cls(dates, decimal)


@dataclass(frozen=True)
class Wanted:
    """Which columns of a file are wanted, and as what.

    text: columns of CSV that are text even if they look like numbers. drop: columns that are not wanted.
    labels: the column of labels: text, also "-" and "?". only: the columns that are wanted, if not all.
    levels: by column, texts that look like gaps, "NA" say, and are none. habits: see `Habits`.
    """

    text: Collection[str] = ()
    drop: Collection[str] = ()
    labels: str | None = None
    only: Collection[str] | None = None
    levels: Mapping[str, Collection[str]] = field(default_factory=dict)
    habits: Habits = field(default_factory=Habits)

    @property
    def required(self) -> list[str]:
        """The columns that must be there."""
        return [*self.text, *self.drop, *([] if self.labels is None else [self.labels]), *(self.only or ())]
