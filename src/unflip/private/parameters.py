"""What private functions are told: numbers within limits, and the classes there may be."""

from __future__ import annotations

import math
from contextlib import suppress
from numbers import Real
from typing import Any

from unflip.border.arrays import Array
from unflip.sources import encode


def as_number(value: Any, least: float, most: float, rule: str) -> float:
    """A number of any type between the limits, as a float; the rule says which, by name.

    >>> as_number("1", 0, 2, "a share is a number between 0 and 2")
    Traceback (most recent call last):
    ValueError: a share is a number between 0 and 2, got '1'
    """
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # a whole number beyond floats
        number = math.inf
    if not least <= number <= most:
        raise ValueError(f"{rule}, got {value!r}")
    return number


def as_epsilon(epsilon: Any, most: float) -> float:
    """An epsilon that hides something, and is not so small that nothing is left.

    >>> as_epsilon(1, most=20)
    1.0
    """
    rule = f"epsilon is a number between 1e-6 and {most:g} (beyond it nothing is private)"
    return as_number(epsilon, 1e-6, most, rule)


def as_classes(classes: Any) -> Array:
    """All labels there may be, in sorted order, under the rules for labels.

    >>> as_classes({"yes", "no"}).tolist()
    ['no', 'yes']
    """
    with suppress(TypeError, ValueError):
        found = encode(list(classes))
        if found.codes is not None:
            return found.classes
    raise ValueError(
        f"classes is a list of all labels there may be, all words or all whole numbers, got {classes!r}"
    )
