"""A model of noise from what JSON holds: a rate, rates, a table, or an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unflip.noise.models import ClassConditionalNoise, Noise, as_noise


def noise_from_json(found: Any, classes: Sequence[Any]) -> Noise:
    """The noise of these classes.

    Parameters
    ----------
    found : number, list, or dict
        One rate; a rate or a row of the table for each class, in their order; rates by the names of classes;
        or what `unflip audit --json` prints.
    classes : sequence of labels
        In their order.

    Returns
    -------
    Noise
        Of as many classes.

    Examples
    --------
    >>> noise_from_json({"no": 0.0, "yes": 0.3}, ["no", "yes"])
    ClassConditionalNoise([[1.0, 0.0], [0.3, 0.7]])
    >>> noise_from_json(0.2, ["no", "yes"])
    SymmetricNoise(rate=0.2)
    """
    names = [str(label) for label in classes]
    if isinstance(found, dict) and "noise" in found and "classes" in found:
        _refuse_other_classes([str(each["label"]) for each in found["classes"]], names)
        found = found["noise"]["table"]
        if found is None:
            raise ValueError("this audit could not tell the noise, so there is nothing to correct")
    elif isinstance(found, dict):
        if not found:
            raise ValueError(f"the noise names no class; the model has {', '.join(names)}")
        odd = next((name for name, rate in found.items() if not _is_rate(rate)), None)
        if odd is not None:
            raise ValueError(f"the rate of class {odd!r} is {found[odd]!r}; rates lie between 0 and 1")
        _refuse_other_classes(sorted(map(str, found)), sorted(names))
        found = [found[name] for name in names]
    if isinstance(found, bool) or not isinstance(found, int | float | list):
        raise ValueError(f"noise is a rate, a list of rates, or a table, got {found!r}")
    return as_noise(ClassConditionalNoise(found) if isinstance(found, list) else found, len(names))


def _is_rate(rate: Any) -> bool:
    return isinstance(rate, int | float) and not isinstance(rate, bool) and 0 <= rate <= 1


def _refuse_other_classes(given: list[str], wanted: list[str]) -> None:
    if given != wanted:
        raise ValueError(f"the noise is of the classes {', '.join(given)}, the model of {', '.join(wanted)}")
