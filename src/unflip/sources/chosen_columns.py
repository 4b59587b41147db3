"""Which columns of a named table are features, label and weight; what is not there is refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def chosen_columns(
    available: Sequence[str], target: str, columns: Sequence[str] | None = None, weight: str | None = None
) -> tuple[str, ...]:
    """The feature columns: those that were asked for, or all but target and weight.

    >>> chosen_columns(["age", "height", "sick"], "sick")
    ('age', 'height')
    >>> chosen_columns(["age", "height", "sick"], "sik")
    Traceback (most recent call last):
    ValueError: there is no column 'sik'; did you mean 'sick'?
    """
    if isinstance(columns, str):
        raise TypeError(f"columns is a list of names, got the string {columns!r}")
    aside = [target] if weight is None else [target, weight]
    chosen = tuple(name for name in available if name not in aside) if columns is None else tuple(columns)
    for name in (*aside, *chosen):
        if name not in available:
            near = get_close_matches(str(name), available, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, available))}"
            raise ValueError(f"there is no column {name!r}; {hint}")
    for name in chosen:
        if name in aside:
            raise ValueError(f"column {name!r} is the target or the weight, so it cannot be a feature")
        if chosen.count(name) > 1:
            raise ValueError(f"column {name!r} is named {chosen.count(name)} times")
    if not chosen:
        raise ValueError("there are no feature columns beside the target")
    return chosen
