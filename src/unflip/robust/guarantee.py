"""What may be relied on after a fit, in words: exact, as the sample grows, heuristic, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass

from unflip.noise.estimate import NoiseEstimate
from unflip.noise.words import condition, is_by_class


@dataclass(frozen=True)
class Guarantee:
    """The promises of one fitted `RobustClassifierCV`; `print(model.guarantee_)` shows them.

    >>> from unflip.noise import SymmetricNoise
    >>> noise = NoiseEstimate(0.2, 0.1, 0.3, 0.35, SymmetricNoise(0.2))
    >>> print(Guarantee(rows=100, label_free=True, noise=noise, classes=2).exact[0])
    Features, kernel and landmarks never saw a label: noise cannot move them.
    """

    rows: int
    label_free: bool
    noise: NoiseEstimate
    classes: int

    @property
    def exact(self) -> list[str]:
        """What holds on the population, for every rate below the point where labels carry nothing."""
        found = ["Features, kernel and landmarks never saw a label: noise cannot move them."]
        found = found if self.label_free else []
        if is_by_class(self.noise):
            alike = "in one order" if self.classes == 2 else "as on clean labels, times the table of noise"
            return [
                *found,
                "If mistakes depend on the class alone, the square loss scores rows of noisy and of clean "
                f"labels {alike}, at every ridge.",
            ]
        kind = "symmetric" if self.classes == 2 else "uniform"
        return [
            *found,
            f"Under {kind} noise the square loss has the same classifier on noisy and on clean labels, at "
            "every ridge.",
            f"Under {kind} noise the error of a fixed classifier on noisy labels rises with that on clean "
            "ones.",
        ]

    @property
    def growing(self) -> list[str]:
        """What holds as the number of rows grows."""
        choice = f"The choice by leave-one-out on {self.rows:,} rows tends to the best of the candidates"
        if is_by_class(self.noise):
            return [
                "Scores tend to those exact ones. Corrected for the rates by class, they tell classes apart "
                "where clean labels do, as far as these rates are known.",
                f"{choice} on noisy labels.",
            ]
        if not self.noise.identified:
            return [f"{choice}."]
        shrink = 1 - self.noise.rate * self.classes / (self.classes - 1)
        more = f"{1 / shrink**2:.1f}" if shrink > 0.05 else "more than 400"
        found = [
            f"The fit tends to the clean one; noise of rate {self.noise.rate:.2f} makes its variance as "
            f"large as that of {more} times fewer rows.",
            f"{choice}.",
        ]
        if not self.label_free:
            found.append("Weights of columns tend to those of clean labels: noise only rescales a gradient.")
        return found

    @property
    def heuristic(self) -> list[str]:
        """What is a good rule and no theorem."""
        return [
            "Candidates are compared by the squared error of their scores, which stands in for the error.",
            "The average within one standard error, the shrunk intercept and the number of landmarks.",
            *self._of_the_rate,
        ]

    @property
    def _of_the_rate(self) -> list[str]:
        if not self.noise.identified:
            return []
        return [
            f"The noise rate: it holds {condition(self.noise)}, and some rows are certain; without that it "
            f"is only known to be at most {self.noise.outer:.2f} (95 % confidence)."
        ]

    @property
    def limits(self) -> list[str]:
        """Where it ends."""
        depends = "" if is_by_class(self.noise) else "the class or on "
        found = [
            "Selection on the rows that were fitted makes the stated error slightly optimistic.",
            "Noise that was in the labels already counts: noise added in an experiment composes with it.",
            f"Noise that depends on {depends}the row needs more than this.",
        ]
        if not self.label_free:
            found.append(
                "Not label-free: columns were weighed by a fit to the labels, half by half, so that no row "
                "can be forgotten or made private without a new fit."
            )
        return found

    def __str__(self) -> str:
        parts = {
            "Exact, on the population": self.exact,
            "As rows grow in number": self.growing,
            "Rules of thumb": self.heuristic,
            "Limits": self.limits,
        }
        lines = [line for title, said in parts.items() for line in (title, *(f"- {words}" for words in said))]
        return "\n".join(lines)
