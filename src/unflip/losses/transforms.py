"""Losses from losses: the noise-corrected loss of Equation 4.

It keeps the even part and divides the odd part by 1 - 2 rho, so its risk on noisy labels is the
risk of the original on clean ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unflip.border.arrays import AnyArray
from unflip.losses.base import Loss, Traits, constant


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
            raise ValueError(f"the noise rate of a corrected loss lies in (0, 1/2), got {self.rate}")

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
            steepest=old.steepest if old.linear_odd else old.steepest / (1 - 2 * float(self.rate)),
        )

    def _value(self, y: AnyArray, v: AnyArray) -> AnyArray:
        # As a correction to l itself, which keeps all digits at small rates.
        return self.loss._value(y, v) + self._more(v) * (y * self.loss._odd(v))  # Equation 4

    def _derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return self.loss._derivative(y, v) + self._more(v) * (y * self.loss._odd1(v))

    def _second_derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return self.loss._second_derivative(y, v) + self._more(v) * (y * self.loss._odd2(v))

    def _more(self, v: AnyArray) -> Any:
        return constant(2 * self.rate / (1 - 2 * self.rate), v)

    def _even(self, v: AnyArray) -> AnyArray:
        return self.loss._even(v)

    def _odd(self, v: AnyArray) -> AnyArray:
        return self.loss._odd(v) / constant(1 - 2 * self.rate, v)

    def _odd1(self, v: AnyArray) -> AnyArray:
        return self.loss._odd1(v) / constant(1 - 2 * self.rate, v)

    def _odd2(self, v: AnyArray) -> AnyArray:
        return self.loss._odd2(v) / constant(1 - 2 * self.rate, v)

    def _clean(self, eta: AnyArray) -> AnyArray:
        """Equation 2 read backwards; outside [0, 1] where no clean distribution explains eta."""
        return (eta - constant(self.rate, eta)) / constant(1 - 2 * self.rate, eta)

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return self.loss._minimizer(self._clean(eta))

    def _conditional_risk(self, eta: AnyArray, v: AnyArray) -> AnyArray:
        return self.loss._conditional_risk(self._clean(eta), v)


def noise_corrected(loss: str | Loss, rate: Any) -> Loss:
    """The loss whose risk under symmetric noise of this rate is the clean risk of `loss`.

    The loss may be given by its name. At rate zero the answer is the loss itself.

    >>> slightly_unhinged = noise_corrected("hinge", 0.2)
    >>> round(slightly_unhinged.value(+1, 2.0), 12)
    -1.0
    """
    from unflip.losses import get  # the list of names lies above all losses

    return get(loss) if rate == 0 else NoiseCorrected(get(loss), rate)
