"""Parameters that are numbers: Python's whole numbers can be larger than any float."""

from __future__ import annotations

from typing import Any

LARGEST_PARAMETER = 1e300  # that a parameter may be: whole numbers can be larger than any float


def refuse_giant(name: str, value: Any) -> None:
    """Raise if a parameter is a whole number that no float can hold.

    >>> refuse_giant("noise", 10**400)
    Traceback (most recent call last):
    ValueError: noise is a whole number of 1329 bits, more than floats can hold
    """
    if isinstance(value, int) and abs(value) > LARGEST_PARAMETER:
        raise ValueError(f"{name} is a whole number of {value.bit_length()} bits, more than floats can hold")
