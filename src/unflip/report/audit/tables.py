"""The tables of an audit as plain text, the same on the page and in Markdown."""

from __future__ import annotations

from pathlib import PurePath

from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise.words import is_by_class
from unflip.report.audit.charts import rate_chances
from unflip.report.audit.columns import kinds, read_columns
from unflip.report.audit.rows import found_by_checking
from unflip.report.audit.verdict import is_unsure
from unflip.report.audit.words import counted, shown
from unflip.report.tables import Plain, settings_table

GUARANTEES = {
    "exact": "Exact, on the population",
    "growing": "As rows grow in number",
    "heuristic": "Rules of thumb",
    "limits": "Limits",
}
COLUMNS = 300  # listed by name; tables can be far wider


def about(audit: Audit) -> str:
    """What was audited, in a line."""
    labels = audit.labels
    classes = ", ".join(
        f"{shown(label)} in {count:,}"
        for label, count in list(zip(labels.classes, labels.counts, strict=True))[:10]
    )
    more = f" and {len(labels.classes) - 10} more" if len(labels.classes) > 10 else ""
    missing = f" {counted(labels.missing, 'row')} without a label left aside." if labels.missing else ""
    columns = counted(len(audit.table.columns_), "column")
    rows = f"{counted(audit.rows, 'labelled row')}, {columns}"
    return f"{rows}; the label “{shown(labels.target)}” is {classes}{more}.{missing}"


def accuracy_table(audit: Audit) -> Plain:
    """The accuracy on the labels as they are, on clean ones, and by guessing."""
    clean = audit.clean_accuracy
    rows = (
        ("on the labels as they are", share(audit.noisy_accuracy), "–"),
        (
            "on clean labels",
            "unknown" if clean is None or is_unsure(audit) else share(clean.estimate),
            "–" if clean is None else interval(clean.low, clean.high),
        ),
        ("the same, without that assumption", "–", interval(*audit.clean_bounds)),
        ("by always naming the most frequent label", share(audit.guess), "–"),
    )
    return Plain("Accuracy", ("accuracy", "estimate", "90 % interval"), rows)


def class_table(audit: Audit) -> Plain:
    """For each class how many rows have it, and which share of them was flipped, where that is known."""
    rates = audit.noise.by_class if audit.noise.identified and is_by_class(audit.noise) else {}
    columns = (
        "class",
        "rows",
        "share of rows",
        *(("labelled otherwise, of those really in it", "90 % interval") if rates else ()),
    )
    rows = []
    for label, count in zip(audit.labels.classes, audit.labels.counts, strict=True):
        row = [shown(label), f"{count:,}", share(count / audit.rows)]
        if rates:
            known = rates.get(label)  # a class all of whose rows weigh nothing has no rate
            row += [share(known[0]), interval(*known[1:])] if known else ["–", "–"]
        rows.append(tuple(row))
    return Plain("Classes", columns, tuple(rows))


def chance_table(audit: Audit) -> Plain:
    """The numbers behind the chart of the noise rate."""
    rows = tuple((interval(a, b), share(mass)) for a, b, mass in rate_chances(audit))
    return Plain("How likely each noise rate is", ("share of wrong labels", "probability"), rows)


def learner_table(audit: Audit) -> Plain:
    """The learners: accuracy on held-out labels, that on clean ones, and with more labels flipped."""
    assert audit.recommended is not None
    rates, corrected = audit.learners[0].curve.rates[1:], audit.learners[0].corrected
    several = audit.learners[0].curve.scores.shape[1] > 1
    more = (f"with {100 * rate:.3g} % flipped" for rate in rates)
    rows = []
    for learner in audit.learners:
        curve = learner.curve
        name = shown(learner.name)
        if learner.name == audit.recommended.name:
            name += " (recommended)"
        held_out = [f"{share(learner.accuracy)} ± {100 * learner.error:.1f}"]
        if not corrected:
            held_out.append(share(learner.clean))
        flipped = zip(curve.mean[1:], curve.std[1:], strict=True)
        worse = (f"{share(mean)} ± {100 * std:.1f}" if several else share(mean) for mean, std in flipped)
        rows.append((name, *held_out, *worse, shown(learner.words)))
    held = ("clean labels",) if corrected else ("held-out labels", "clean labels")
    columns = ("learner", *held, *more, "what it is")
    return Plain("Learners", columns, tuple(rows))


def sample_words(audit: Audit) -> str:
    """How the learners were compared."""
    splits = counted(audit.learners[0].curve.scores.shape[1], "split")
    corrected = audit.learners[0].corrected
    also = " Accuracies are corrected for the rates by class." if corrected else ""
    return (
        f"All learned from the same part of the rows and were judged on others, in {splits}; with all "
        f"rows to learn from, accuracies are often higher.{also}"
    )


def spread_words(audit: Audit) -> str:
    """What the numbers after ± are; one split has no deviation."""
    if audit.learners[0].curve.scores.shape[1] == 1:
        return "± standard error, in percent"
    return "± standard error at first, then standard deviation over the splits, in percent"


def checking_table(audit: Audit) -> Plain:
    """How many wrong labels to expect among the first rows of the list."""
    rows = tuple(
        (f"{count:,}", f"{found:,.0f}", share(found / count)) for count, found in found_by_checking(audit)
    )
    return Plain("Checking rows", ("rows checked", "wrong labels expected", "of those checked"), rows)


def difference_table(audit: Audit) -> Plain:
    """The means of the columns that tell the classes apart."""
    rows = tuple(
        (
            shown(found.column),
            shown(found.label),
            f"{found.mean:.4g}",
            f"{found.others:.4g}",
            f"{found.deviations:+.2f}",
        )
        for found in audit.differences
    )
    return Plain("Class means", ("column", "label", "mean", "mean elsewhere", "standard deviations"), rows)


def column_table(audit: Audit) -> Plain:
    """How each column was read; of a wide table the first ones."""
    columns = [c for c in read_columns(audit) if c.kind != "left out"]
    rows = tuple((shown(column.name), column.kind, column.words) for column in columns[:COLUMNS])
    return Plain("How columns are read", ("column", "read as", "how"), rows)


def left_out_table(audit: Audit) -> Plain:
    """Which columns were left out, and why."""
    rows = [c for c in read_columns(audit) if c.kind == "left out"][:COLUMNS]
    named = tuple((shown(column.name), column.words) for column in rows)
    return Plain("Columns left out", ("column", "why"), named)


def column_words(audit: Audit) -> str:
    """How many columns there are of each kind."""
    found = kinds(read_columns(audit))
    left_out = found.pop("left out", 0)
    parts = ", ".join(f"{count:,} as {kind}" for kind, count in found.items())
    rest = f"; {left_out:,} left out" if left_out else ""
    unlisted = (
        " Lists below end early; the JSON twin has them all."
        if max(*found.values(), left_out) > COLUMNS
        else ""
    )
    return f"Columns read: {parts}{rest}. They became {audit.table.width:,} numbers a row.{unlisted}"


def run_table(audit: Audit) -> Plain:
    """Settings, versions and seed, beside the command."""
    found = settings_table({name: value for name, value in audit.settings.items() if name != "command"})
    rows = tuple((shown(name), shown(value, 400)) for name, value in found.rows)
    return Plain("Settings", found.columns, rows)


def command(audit: Audit) -> str:
    """The command that makes this audit again, if one made it."""
    return shown(audit.settings.get("command") or "", 2000)


def title(audit: Audit) -> str:
    """What the page is called."""
    return f"Can the labels of {shown(PurePath(audit.source).name or audit.source)} be trusted?"
