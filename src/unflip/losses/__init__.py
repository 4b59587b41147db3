"""Losses: value, slope, even and odd part, Bayes scorer, and claims that the tests try to refute.

>>> loss = get("unhinged")
>>> loss.value(+1, 3.0), loss.traits.symmetric
(-2.0, True)
"""

from __future__ import annotations

from typing import Any

from unflip.losses.base import Loss, Traits
from unflip.losses.others import Square, TangentBoost, TLogistic
from unflip.losses.potentials import Exponential, Hinge, Logistic, SquaredHinge
from unflip.losses.symmetric import Ramp, Sigmoid, Unhinged, WeightedUnhinged, ZeroOne
from unflip.losses.transforms import NoiseCorrected, noise_corrected

__all__ = [
    "Exponential",
    "Hinge",
    "Logistic",
    "Loss",
    "NoiseCorrected",
    "Ramp",
    "Sigmoid",
    "Square",
    "SquaredHinge",
    "TLogistic",
    "TangentBoost",
    "Traits",
    "Unhinged",
    "WeightedUnhinged",
    "ZeroOne",
    "get",
    "names",
    "noise_corrected",
]

_BY_NAME: dict[str, type[Loss]] = {
    "zero_one": ZeroOne,
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "exponential": Exponential,
    "square": Square,
    "t_logistic": TLogistic,
    "tangent_boost": TangentBoost,
    "unhinged": Unhinged,
    "weighted_unhinged": WeightedUnhinged,
    "sigmoid": Sigmoid,
    "ramp": Ramp,
}


def names() -> list[str]:
    """The names that `get` knows.

    >>> "hinge" in names()
    True
    """
    return list(_BY_NAME)


def get(loss: str | Loss, **parameters: Any) -> Loss:
    """A loss by its name, with its parameters; a loss is handed back as it is.

    >>> get("weighted_unhinged", cost=0.25)
    WeightedUnhinged(cost=0.25)
    """
    if isinstance(loss, Loss):
        if parameters:
            raise TypeError(
                f"{', '.join(parameters)}: parameters go with a name, {loss!r} has its own already"
            )
        return loss
    if not isinstance(loss, str):
        raise TypeError(f"a loss is a name or an instance of Loss, got {loss!r}")
    if loss not in _BY_NAME:
        raise ValueError(f"no loss is called {loss!r}; choose one of {', '.join(_BY_NAME)}")
    return _BY_NAME[loss](**parameters)
