"""What a noise estimate says, in sentences: the same in Python, in a terminal, on a page and in a file.

Two numbers always stand together: the estimate with its interval, which rests on an assumption, and the
bound that holds without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unflip._words import interval, share
from unflip.noise.caveats import HIDDEN, Caveat
from unflip.noise.models import ClassConditionalNoise

if TYPE_CHECKING:
    from unflip.noise.estimate import NoiseEstimate

CLEAN = 0.02  # labels may be called clean only if no more can be wrong, whatever the mistakes are like
VAGUE_RATE = 0.5  # of all that is possible: an interval that wide says nearly nothing
OFTEN, NAMED = 0.05, 3  # mistakes of one class for another that are named: from so many on, and how many
UNTOLD = "the columns say too little about them"
RULES = "Mistakes of a rule that made labels from these columns would not show."
RIGHT = "as long as no kind of row is labelled wrong more often than right"  # what every bound rests on


def in_words(noise: NoiseEstimate, labels: str = "the labels", rows: float | None = None) -> str:
    """How many labels are wrong, on what assumption, and at most how many without it.

    labels: what they are called; rows: how many there are, where wrong ones are to be counted too.

    >>> from unflip.noise import NoiseEstimate, SymmetricNoise
    >>> print(in_words(NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))))
    About 20.0 % of the labels are wrong if mistakes do not depend on the row or its class (90 % interval
    15.0 % to 26.0 %); without that assumption up to 31.0 % may be wrong, as long as no kind of row is
    labelled wrong more often than right.
    """
    span, level = interval(noise.low, noise.high), level_in_words(noise)
    if not noise.identified:
        most = "" if noise.outer >= noise.limit else f"; {bound(noise, '')}"
        return f"How many of {labels} are wrong cannot be told: {UNTOLD}{most}."
    if _is_open(noise):
        return (
            f"Between none and {share(noise.outer)} of {labels} are wrong: at most {share(noise.high)} "
            f"{condition(noise)} ({level}), and up to {share(noise.outer)} if they do, {RIGHT}."
        )
    if is_vague(noise):
        known = f"{span} {condition(noise)}"
        if noise.half_wrong:
            known = f"{share(noise.low)} or more if mistakes depend on the class alone"
        return f"How many of {labels} are wrong is hardly known: {known} ({level}); {bound(noise)}."
    if noise.low > 0:
        count = (
            "" if rows is None or noise.rate * rows < 2 else f", some {_rounded(noise.rate * rows)} of them,"
        )
        about = f"About {share(noise.rate)} of {labels}{count} are wrong {condition(noise)}"
        return f"{about} ({level} {span}){_mistakes(noise)}; {bound(noise)}."
    # Of a rare class even a few wrong labels are many.
    clean = noise.outer < CLEAN * min(1.0, noise.rarest * noise.noise.n_classes)
    may = f"{labels[0].upper()}{labels[1:]} may be clean: between" if clean else "Between"
    of = "" if clean else f" of {labels}"
    return (
        f"{may} none and {share(noise.high)}{of} are wrong {condition(noise)} ({level}, estimate "
        f"{share(noise.rate)}); {bound(noise)}. {RULES}"
    )


def level_in_words(noise: NoiseEstimate) -> str:
    """What the interval is called: the 90 % interval, for example."""
    return f"{100 * noise.level:.3g} % interval"


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
    return f"{without}up to {share(noise.outer)} may be wrong, {RIGHT}"


def is_by_class(noise: NoiseEstimate) -> bool:
    """Whether every class has a rate of its own."""
    return isinstance(noise.noise, ClassConditionalNoise)


def half(names: tuple[Any, ...]) -> Caveat:
    """What to know where a class may be labelled wrong more often than right.

    >>> half(("hate",))[:46]
    'what is really “hate” seems to have another la'
    """
    words = (
        f"what is really {' or '.join(map(shown_class, names))} seems to have another label half of "
        "the time; overlap of classes looks alike, and where it is more than half, more labels are wrong "
        "than the interval says"
    )
    return Caveat("half wrong", words)


def is_vague(noise: NoiseEstimate) -> bool:
    """Whether the rate is hardly known: in a wide interval, or as half of a class or more may be wrong."""
    wide = noise.high - noise.low > VAGUE_RATE * noise.limit
    return wide or bool(noise.half_wrong) or _is_open(noise)


def _is_open(noise: NoiseEstimate) -> bool:
    """Whether all that is known is the bound: it is far away, and there may be no mistakes at all."""
    return HIDDEN in noise.warnings and noise.low == 0 and not noise.half_wrong


def is_told(noise: NoiseEstimate) -> bool:
    """Whether the rate is known well enough to count rows that are probably wrong."""
    return noise.identified and not is_vague(noise)


def shown_class(label: Any) -> str:
    """A class as it is named in a sentence: on one line, and not too long.

    >>> shown_class("a" * 50)
    '“aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…”'
    """
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(str(label).split()))
    return f"“{text if len(text) <= 40 else text[:39] + '…'}”"


def _mistakes(noise: NoiseEstimate) -> str:
    """Which classes are most often labelled as which others, as a part of a sentence.

    Only of classes that have mistakes for sure, and with the interval of all mistakes of the class.
    """
    if not is_by_class(noise) or len(noise.by_class) != noise.noise.n_classes:
        return ""
    names, rates = list(map(shown_class, noise.by_class)), np.array(list(noise.by_class.values()))
    sure = rates[:, 1] > 0
    wrong = np.where(np.eye(len(names), dtype=bool) | ~sure[:, None], 0.0, noise.noise.transition)
    pairs = [divmod(int(place), len(names)) for place in np.argsort(-wrong, axis=None, kind="stable")]
    in_all = "" if len(names) == 2 else "in all "
    said = [
        f"{share(wrong[k, to])} of what is really {names[k]} is labelled {names[to]} "
        f"({in_all}{interval(*rates[k, 1:])} of it is mislabelled)"
        for k, to in pairs
        if wrong[k, to] >= OFTEN
    ][:NAMED]
    if said:
        return f", and {', '.join(said)}"
    worst = int(np.argmax(np.where(sure, rates[:, 0], -1.0)))
    span = interval(*rates[worst, 1:])
    has = f", and {share(rates[worst, 0])} of what is really {names[worst]} has another label ({span})"
    return has if sure.any() else ""


def _rounded(count: float) -> str:
    """A count with the digits that an estimate deserves.

    >>> _rounded(938.5), _rounded(7.2)
    ('940', '7')
    """
    return f"{round(count) if count < 100 else round(float(f'{count:.2g}')):,}"
