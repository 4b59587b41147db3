"""The verdict of an audit: what a reader should know who reads one paragraph."""

from __future__ import annotations

from math import sqrt

from unflip.audit.table import Audit
from unflip.noise.estimate import NO_SIGNAL, is_identified
from unflip.report.audit.rows import more_likely_wrong
from unflip.report.audit.words import counted, interval, share, shown

VAGUE = 0.5  # of all that is possible: an interval that wide says nearly nothing


def verdict(audit: Audit) -> list[str]:
    """Sentences: how noisy, how accurate, which learner, how many rows, and the main caveat."""
    return [_noise(audit), *_accuracy(audit), _learner(audit), _suspects(audit), *_caveats(audit)]


def assumption(audit: Audit) -> str:
    """What the interval rests on."""
    alike = (
        "both classes are flipped alike"
        if len(audit.labels.classes) == 2
        else "a wrong label names any other class alike"
    )
    return (
        f"The interval assumes that a label is as likely to be wrong in one row as in another, that {alike}, "
        "and that some rows are certain: where classes overlap everywhere, overlap looks like noise."
    )


def bound(audit: Audit) -> str:
    """What holds without that assumption."""
    if audit.noise.outer >= _limit(audit):
        return "Without that, the labels set no useful bound: they could be pure noise."
    return (
        f"Without that, at most {share(audit.noise.outer)} of the labels are wrong (95 % confidence), as "
        "long as none is more likely wrong than right."
    )


def beats_guessing(audit: Audit) -> bool:
    """Whether the accuracy is clearly above that of always naming the most frequent label."""
    chance = sqrt(audit.guess * (1 - audit.guess) / audit.rows)
    return audit.noisy_accuracy > audit.guess + 2 * chance


def is_vague(audit: Audit) -> bool:
    """Whether the noise rate is hardly known."""
    return audit.noise.high - audit.noise.low > VAGUE * _limit(audit)


def is_unsure(audit: Audit) -> bool:
    """Whether the accuracy on clean labels is unknown or hardly known."""
    clean = audit.clean_accuracy
    return clean is None or clean.high - clean.low > VAGUE


def _limit(audit: Audit) -> float:
    """The rate at which labels carry nothing."""
    return 1 - 1 / len(audit.labels.classes)


def _noise(audit: Audit) -> str:
    noise, target = audit.noise, f"“{shown(audit.labels.target)}”"
    if not is_identified(noise):
        return f"How many labels of {target} are wrong cannot be told: the columns say too little about them."
    span = interval(noise.low, noise.high)
    if is_vague(audit):
        return f"How many labels of {target} are wrong is hardly known: the 90 % interval is {span}."
    if noise.low == 0:
        return (
            f"The labels of {target} may be clean: about {share(noise.rate)} look wrong, but the 90 % "
            f"interval, {span}, begins at none at all."
        )
    rows = "" if audit.labels.weight is not None else f", some {_rounded(noise.rate * audit.rows)} of them,"
    about = f"About {share(noise.rate)} of the {audit.rows:,} labels of {target}{rows} are wrong"
    return f"{about} (90 % interval {span})."


def _rounded(count: float) -> str:
    """A count with the digits that an estimate deserves.

    >>> _rounded(938.5), _rounded(7.2)
    ('940', '7')
    """
    return f"{round(count) if count < 100 else round(float(f'{count:.2g}')):,}"


def _accuracy(audit: Audit) -> list[str]:
    clean = audit.clean_accuracy
    if clean is None:
        there = "how good it would be on clean labels cannot be told"
    elif is_unsure(audit):
        there = f"on clean labels anything from {interval(clean.low, clean.high)} would fit"
    else:
        span = interval(clean.low, clean.high)
        there = f"on clean labels it would be right on about {share(clean.estimate)} ({span})"
    found = [f"A robust model agrees with {share(audit.noisy_accuracy)} of the labels as they are; {there}."]
    if not beats_guessing(audit):
        common = max(zip(audit.labels.counts, map(shown, audit.labels.classes), strict=True))[1]
        found.append(
            f"That is no better than always saying “{common}” ({share(audit.guess)}): the columns say "
            "little, so read the rest with care."
        )
    return found


def _learner(audit: Audit) -> str:
    name, why = f"“{shown(audit.recommended.name)}”", audit.recommended.why
    if not beats_guessing(audit):
        return f"No learner can be recommended with confidence; {name} comes first, as {why}."
    return f"Use the learner {name}: {why}."


def _suspects(audit: Audit) -> str:
    count = more_likely_wrong(audit)
    if not count:
        return "No single row is more likely wrong than right."
    those = "is" if count == 1 else "are"
    found = f"{counted(count, 'row')} {those} more likely wrong than right"
    return (
        f"{found}; look at those first." if beats_guessing(audit) else f"{found}, as far as the columns tell."
    )


def _caveats(audit: Audit) -> list[str]:
    said = [warning for warning in audit.noise.warnings if warning != NO_SIGNAL]
    found = [f"Caution: {warning}." for warning in said]
    if not found and is_identified(audit.noise):
        outer = audit.noise.outer
        rest = f"at most {share(outer)} are" if outer < _limit(audit) else "any share could be"
        found = [f"All this assumes that a flip does not depend on the row; without that, {rest} wrong."]
    if audit.labels.missing:
        those = "has no label and takes" if audit.labels.missing == 1 else "have no label and take"
        found.append(f"{counted(audit.labels.missing, 'row')} {those} no part.")
    return found
