"""What a noise estimate says, in sentences: the same in Python, in a terminal, on a page and in a file.

Two numbers always stand together: the estimate with its interval, which rests on an assumption, and the
bound that holds without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unflip._words import interval, share
from unflip.noise.models import ClassConditionalNoise

if TYPE_CHECKING:
    from unflip.noise.estimate import NoiseEstimate

CLEAN = 0.02  # labels may be called clean only if no more can be wrong, whatever the mistakes are like
VAGUE = 0.5  # of all that is possible: an interval that wide says nearly nothing
OFTEN, NAMED = 0.05, 3  # mistakes of one class for another that are named: from so many on, and how many
UNTOLD = "the columns say too little about them"
RULES = "Mistakes of a rule that made labels from these columns would not show."


def in_words(noise: NoiseEstimate, labels: str = "the labels", rows: float | None = None) -> str:
    """How many labels are wrong, on what assumption, and at most how many without it.

    labels: what they are called; rows: how many there are, where wrong ones are to be counted too.

    >>> from unflip.noise import NoiseEstimate, SymmetricNoise
    >>> print(in_words(NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))))
    About 20.0 % of the labels are wrong if mistakes do not depend on the row or its class (90 % interval
    15.0 % to 26.0 %); without that assumption up to 31.0 % may be wrong, as long as none is more likely
    wrong than right.
    """
    span = interval(noise.low, noise.high)
    if not noise.identified:
        most = "" if noise.outer >= noise.limit else f"; {bound(noise, '')}"
        return f"How many of {labels} are wrong cannot be told: {UNTOLD}{most}."
    if is_vague(noise):
        return (
            f"How many of {labels} are wrong is hardly known: {span} {condition(noise)} (90 % interval); "
            f"{bound(noise)}."
        )
    # Of a rare class even a few wrong labels are many.
    if noise.low == 0 and noise.outer < CLEAN * min(1.0, noise.rarest * noise.noise.n_classes):
        return (
            f"{labels[0].upper()}{labels[1:]} may be clean: about {share(noise.rate)} look wrong (90 % "
            f"interval {span}) {condition(noise)}; {bound(noise)}. {RULES}"
        )
    zero = ", so possibly none" if noise.low == 0 else ""
    count = "" if rows is None else f", some {_rounded(noise.rate * rows)} of them,"
    about = f"About {share(noise.rate)} of {labels}{count} are wrong {condition(noise)}"
    found = f"{about} (90 % interval {span}{zero}){_mistakes(noise)}; {bound(noise)}."
    return f"{found} {RULES}" if noise.low == 0 else found


def condition(noise: NoiseEstimate) -> str:
    """What the interval assumes, in a few words."""
    if is_by_class(noise):
        return f"if mistakes depend on the class alone and {dominance(noise.noise.n_classes)}"
    return "if mistakes do not depend on the row or its class"


def dominance(n_classes: int) -> str:
    """Without which nobody could tell what the classes are called.

    >>> dominance(3)
    'in each class the right label is the most frequent'
    """
    return (
        "hit fewer than half of each"
        if n_classes == 2
        else "in each class the right label is the most frequent"
    )


def bound(noise: NoiseEstimate, without: str = "without that assumption ") -> str:
    """What holds without the assumption, as a part of a sentence."""
    if noise.outer >= noise.limit:
        return f"{without}they could be pure noise"
    return (
        f"{without}up to {share(noise.outer)} may be wrong, as long as none is more likely wrong than right"
    )


def is_by_class(noise: NoiseEstimate) -> bool:
    """Whether every class has a rate of its own."""
    return isinstance(noise.noise, ClassConditionalNoise)


def is_vague(noise: NoiseEstimate) -> bool:
    """Whether the rate is hardly known."""
    return noise.high - noise.low > VAGUE * noise.limit


def shown_class(label: Any) -> str:
    """A class as it is named in a sentence: on one line, and not too long.

    >>> shown_class("a" * 50)
    '“aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…”'
    """
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(str(label).split()))
    return f"“{text if len(text) <= 40 else text[:39] + '…'}”"


def _mistakes(noise: NoiseEstimate) -> str:
    """Which classes are most often labelled as which others, as a part of a sentence."""
    if not is_by_class(noise) or len(noise.by_class) != noise.noise.n_classes:
        return ""
    names = list(map(shown_class, noise.by_class))
    wrong = np.where(np.eye(len(names), dtype=bool), 0.0, noise.noise.transition)
    pairs = [divmod(int(place), len(names)) for place in np.argsort(-wrong, axis=None, kind="stable")]
    often = [(k, to) for k, to in pairs if wrong[k, to] >= OFTEN][:NAMED]
    if not often:
        rates = [rate for rate, *_ in noise.by_class.values()]
        worst = int(np.argmax(rates))
        return f", and {share(rates[worst])} of what is really {names[worst]} has another label"
    said = [f"{share(wrong[k, to])} of what is really {names[k]} is labelled {names[to]}" for k, to in often]
    return f", and {', '.join(said)}"


def _rounded(count: float) -> str:
    """A count with the digits that an estimate deserves.

    >>> _rounded(938.5), _rounded(7.2)
    ('940', '7')
    """
    return f"{round(count) if count < 100 else round(float(f'{count:.2g}')):,}"
