"""Losses from losses: the noise-corrected loss of Equation 4.

It keeps the even part and divides the odd part by 1 - 2 rho, so its risk on noisy labels is the
risk of the original on clean ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unflip.losses.base import Array, Loss, Traits


@dataclass(frozen=True)
class NoiseCorrected(Loss):
    """The loss of Equation 4; build it with `noise_corrected`.

    >>> from unflip.losses import Unhinged
    >>> NoiseCorrected(Unhinged(), 0.25).odd(1.0)
    -2.0
    """

    loss: Loss
    rate: Any

    def __post_init__(self) -> None:
        if not 0 < self.rate < 0.5:
            raise ValueError(f"the noise rate of a corrected loss lies in (0, 1/2), got {self.rate!r}")

    @property
    def exact(self) -> bool:  # type: ignore[override]  # inherited from the loss that is corrected
        """Fractions stay fractions if they do in the original."""
        return self.loss.exact

    @property
    def traits(self) -> Traits:  # type: ignore[override]  # they depend on the rate
        """What survives the correction: a linear odd part keeps convexity, little else does."""
        old = self.loss.traits
        bounded = old.bounded_below and old.bounded_above
        return replace(
            old,
            convex=old.convex and old.linear_odd,
            bounded_below=bounded or old.degree == 2,
            convex_potential=False,
        )

    def _value(self, y: Array, v: Array) -> Array:
        # Equation 4 as a correction to l itself, which keeps all digits at small rates.
        return self.loss._value(y, v) + 2 * self.rate / (1 - 2 * self.rate) * (y * self.loss._odd(v))

    def _derivative(self, y: Array, v: Array) -> Array:
        return self._corrected(self.loss._derivative, y, v)

    def _second_derivative(self, y: Array, v: Array) -> Array:
        return self._corrected(self.loss._second_derivative, y, v)

    def _corrected(self, function: Any, y: Array, v: Array) -> Array:
        here = function(y, v)
        result: Array = here + self.rate / (1 - 2 * self.rate) * (here - function(-y, v))
        return result

    def _even(self, v: Array) -> Array:
        return self.loss._even(v)

    def _odd(self, v: Array) -> Array:
        return self.loss._odd(v) / (1 - 2 * self.rate)

    def _clean(self, eta: Array) -> Array:
        """Equation 2 read backwards; outside [0, 1] where no clean distribution explains eta."""
        return (eta - self.rate) / (1 - 2 * self.rate)

    def _minimizer(self, eta: Array) -> Array:
        return self.loss._minimizer(self._clean(eta))

    def _conditional_risk(self, eta: Array, v: Array) -> Array:
        return self.loss._conditional_risk(self._clean(eta), v)


def noise_corrected(loss: Loss, rate: Any) -> Loss:
    """The loss whose risk under symmetric noise of this rate is the clean risk of `loss`.

    At rate zero that is the loss itself.

    >>> from unflip.losses import Hinge
    >>> slightly_unhinged = noise_corrected(Hinge(), 0.2)
    >>> round(slightly_unhinged.value(+1, 2.0), 12)
    -1.0
    """
    return loss if rate == 0 else NoiseCorrected(loss, rate)
