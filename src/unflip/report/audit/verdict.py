"""The verdict of an audit: what a reader should know who reads three lines, and what to read after them."""

from __future__ import annotations

from math import sqrt

from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise.words import RIGHT, in_words, is_by_class, is_told
from unflip.noise.words import bound as bound_of
from unflip.report.audit.rows import more_likely_wrong
from unflip.report.words import counted, shown

FEW_ROWS = 40  # too few to tell by themselves
VAGUE_ACCURACY = 0.5  # an interval of the accuracy that wide says nearly nothing


def verdict(audit: Audit) -> list[str]:
    """Three lines: how many labels are wrong, how sure that is, and what to do.

    Where the columns predict the labels no better than guessing, they say just that.
    """
    if not audit.informative:
        return _untold(audit)
    known, cut, without = noise_in_words(audit).partition("; ")
    sure = [f"{without[:1].upper()}{without[1:]}"] if cut else []
    cautions = [f"Caution: {warning}." for warning in audit.noise.warnings]
    return [
        known + ("." if cut else ""),
        " ".join([*sure, *cautions]) or _firm(audit),
        f"{wrong_in_words(audit)} {_learner(audit)}",
    ]


def further(audit: Audit) -> list[str]:
    """What stands after the three lines: how accurate a model is, and rows without a label."""
    return [*([_accuracy(audit)] if audit.informative else []), *_missing(audit)]


def noise_in_words(audit: Audit) -> str:
    """The estimate and the bound, in the words that Python uses too."""
    rows = None if audit.labels.weight is not None else float(audit.doubted)
    beside = " that are not trusted" if audit.trusted else ""
    labels = f"the {audit.doubted:,} labels of “{shown(audit.labels.target)}”{beside}"
    return in_words(audit.noise, labels, rows)


def assumption(audit: Audit) -> str:
    """What the interval rests on."""
    if is_by_class(audit.noise):
        right = (
            "more likely right than wrong"
            if len(audit.labels.classes) == 2
            else "more often right than any one mistake"
        )
        alike = f"in each class a label is as likely to be wrong in one row as in another, and {right},"
    else:
        among = (
            "both classes are flipped alike"
            if len(audit.labels.classes) == 2
            else "a wrong label names any other class alike"
        )
        alike = f"a label is as likely to be wrong in one row as in another, that {among},"
    return (
        f"The interval assumes that {alike} and that some rows are certain: where classes overlap "
        "everywhere, overlap looks like noise. Equal rows are taken for copies, labels included."
    )


def bound(audit: Audit) -> str:
    """What holds without that assumption."""
    said = bound_of(audit.noise)
    return f"{said[0].upper()}{said[1:]} (95 % confidence)."


def beats_guessing(audit: Audit) -> bool:
    """Whether the accuracy is clearly above that of always naming the most frequent label."""
    chance = sqrt(audit.guess * (1 - audit.guess) / audit.rows)
    return audit.noisy_accuracy > audit.guess + 2 * chance


def is_unsure(audit: Audit) -> bool:
    """Whether the accuracy on clean labels is unknown or hardly known."""
    clean = audit.clean_accuracy
    return clean is None or clean.high - clean.low > VAGUE_ACCURACY or not is_told(audit.noise)


def _firm(audit: Audit) -> str:
    """Where the words of the rate hold the bound already."""
    return f"At most {share(audit.noise.outer)} may be wrong, {RIGHT} (95 % confidence)."


def _untold(audit: Audit) -> list[str]:
    accuracy, guess = share(audit.noisy_accuracy), share(audit.guess)
    labels = f"the {audit.rows:,} labels of “{shown(audit.labels.target)}”"
    if audit.rows < FEW_ROWS:
        return [
            f"Nothing can be said of {labels}.",
            "So few rows do not show whether the columns predict them better than guessing.",
            "Add rows, and audit again.",
        ]
    better = f"{'hardly' if beats_guessing(audit) else 'no'} better than guessing"
    return [
        f"Nothing can be said of {labels}.",
        f"The columns predict them {better}: a robust model matches {accuracy} of them, always saying "
        f"“{_common(audit)}” {guess}.",
        "Add columns that tell something about the label, and audit again.",
    ]


def _common(audit: Audit) -> str:
    return max(zip(audit.labels.counts, map(shown, audit.labels.classes), strict=True))[1]


def _accuracy(audit: Audit) -> str:
    clean = audit.clean_accuracy
    if clean is None:
        there = "how good it would be on clean labels cannot be told"
    else:
        span, wider = interval(clean.low, clean.high), interval(*audit.clean_bounds)
        match = f"anything from {span}" if is_unsure(audit) else f"about {share(clean.estimate)} ({span})"
        there = f"on clean labels it would, on the same assumption, match {match}, and without it {wider}"
        if audit.trusted:
            there = f"of the {audit.trusted:,} trusted ones it matches {share(clean.estimate)} ({span})"
    found = f"A robust model matches {share(audit.noisy_accuracy)} of the labels as they are; {there}."
    if beats_guessing(audit):
        return found
    return (
        f"{found} Of the labels as they are, always saying “{_common(audit)}” matches hardly fewer "
        f"({share(audit.guess)}), though the columns do tell which rows look more like which class."
    )


def _learner(audit: Audit) -> str:
    assert audit.recommended is not None
    return f"Use the learner “{shown(audit.recommended.name)}”: {audit.recommended.why}."


def wrong_in_words(audit: Audit) -> str:
    """How many rows are probably wrong, or that it is not known."""
    if not is_told(audit.noise):
        return "The list of doubtful rows is an order: how many of them are wrong is not known."
    count = more_likely_wrong(audit)
    if not count:
        return "On the same assumption no single row is more likely wrong than right."
    those, them = ("is", "it") if count == 1 else ("are", "those")
    found = f"{counted(count, 'row')} {those} more likely wrong than right"
    # Where the interval begins at none at all, the rows hang on the estimate too.
    given = "At the estimated rate" if audit.noise.low == 0 else "On the same assumption"
    return f"{given} {found}; check {them} first."


def _missing(audit: Audit) -> list[str]:
    if not audit.labels.missing:
        return []
    those = "has no label and takes" if audit.labels.missing == 1 else "have no label and take"
    return [f"{counted(audit.labels.missing, 'row')} {those} no part."]
