"""Moments as facts and arrays, which is what files keep, and back, with every doubt a `ValueError`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from unflip.moments.exact import Windows
from unflip.moments.exact_floats import in_floats
from unflip.moments.privacy import Budget
from unflip.noise.models import ClassConditionalNoise

if TYPE_CHECKING:
    from unflip.moments.moments import Moments

# What a file keeps as JSON, and as arrays.
MOMENTS_FACTS = (
    "classes",
    "key",
    "unit",
    "squares",
    "names",
    "first",
    "probabilities",
    "privacy",
    "outliers",
    "noise",
)
ARRAYS = ("counts", "sums", "second", "origin", "limbs")
NEEDED_FACTS = ("classes", "key", "unit", "squares", "counts", "sums", "origin")  # the others came later
PLAIN_LABEL = str | int | float  # labels that JSON keeps


def as_facts(moments: Moments) -> tuple[dict[str, Any], dict[str, Any]]:
    """JSON facts and arrays.

    >>> from unflip.moments import accumulate
    >>> facts, arrays = as_facts(accumulate(([[1.0], [3.0]], ["no", "yes"])))
    >>> facts["classes"], sorted(arrays)
    (('no', 'yes'), ['counts', 'origin', 'sums'])
    """
    refuse_labels(moments.classes)
    exact = moments.exact
    kept: dict[str, Any]
    kept = {"first": None, "limbs": None} if exact is None else {"first": exact.first, "limbs": exact.limbs}
    kept["privacy"] = None if moments.privacy is None else moments.privacy.as_facts()
    kept["noise"] = None if moments.noise is None else moments.noise.transition.astype(float).tolist()
    found = {name: getattr(moments, name) for name in (*MOMENTS_FACTS, *ARRAYS) if name not in kept} | kept
    if moments.noise is None:  # as in files that knew of none
        del found["noise"]
    return (
        {name: found[name] for name in MOMENTS_FACTS if name in found},
        {name: found[name] for name in ARRAYS if found[name] is not None},
    )


def refuse_labels(classes: Iterable[Any]) -> None:
    """Raise if a label is nothing that a file keeps."""
    for label in classes:
        if not isinstance(label, PLAIN_LABEL):
            raise ValueError(
                f"the label {label!r} is a {type(label).__name__}; files keep strings and numbers"
            )


def as_fields(facts: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """The fields of moments."""
    if not isinstance(facts, dict):
        raise ValueError(f"the facts are a {type(facts).__name__}")
    strangers = [*(set(facts) - set(MOMENTS_FACTS)), *(set(arrays) - set(ARRAYS))]
    if strangers:
        raise ValueError(f"{strangers[0]!r} is out of place")
    missing = [name for name in NEEDED_FACTS if name not in facts and name not in arrays]
    if missing:
        raise ValueError(f"{missing[0]!r} is missing")
    for name, kind in (("classes", PLAIN_LABEL), ("names", str)):
        values = facts.get(name) or []
        if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
            raise ValueError(f"the {name} are {values!r}")
    fields = facts | arrays
    if fields["origin"].shape != fields["sums"].shape[-1:]:  # an empty one would become zeros, of any length
        raise ValueError("the origin and the sums have different widths")
    for name in ("unit", "squares"):
        if type(facts[name]) is not float:  # a large whole number would be rounded
            raise ValueError(f"the {name} of moments must be a finite number, got {facts[name]!r}")
    for name, array in arrays.items():
        if name != "limbs" and (array.dtype.kind, array.dtype.itemsize) != ("f", 8):
            raise ValueError(f"the {name} of moments must be numbers of 64 bits, got {array.dtype}")
    soft = facts.get("probabilities", 0)
    if type(soft) is not int or not 0 <= soft <= len(facts["classes"]):  # a search in a range may never end
        raise ValueError(f"there are probabilities of {soft!r} classes")
    first, limbs = fields.pop("first", None), fields.pop("limbs", None)
    if (first is None) != (limbs is None):
        raise ValueError("exact sums have a first window and limbs, or neither")
    if limbs is not None:
        fields["exact"] = Windows.checked(first, limbs)
        _refuse_contradictions(fields)
    if fields.get("privacy") is not None:
        fields["privacy"] = Budget.from_facts(fields["privacy"])
    if fields.get("noise") is not None:
        fields["noise"] = ClassConditionalNoise(fields["noise"])
        if fields["noise"].n_classes != len(facts["classes"]):
            raise ValueError("the noise speaks of other classes")
    return fields


def _refuse_contradictions(fields: dict[str, Any]) -> None:
    """Raise unless the rounded sums are those of the exact ones."""
    exact = fields["exact"]
    if exact.limbs.shape[:2] != (len(fields["counts"]), fields["sums"].shape[-1] + 2):
        raise ValueError("exact sums and rounded ones have different shapes")
    for name, value in in_floats(exact)._asdict().items():
        if not np.array_equal(fields[name], value):
            raise ValueError(f"the {name} are not those of the exact sums")
