"""The tables of an audit."""

from __future__ import annotations

from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise.words import is_by_class, level_in_words
from unflip.report.audit.charts import rate_chances
from unflip.report.audit.columns import ReadColumn
from unflip.report.audit.rows import Doubtful, found_by_checking
from unflip.report.audit.verdict import is_unsure
from unflip.report.document import Cell, Line, Table
from unflip.report.words import shown

LISTED_COLUMNS = 300  # by name; tables can be far wider


def accuracy_table(audit: Audit) -> Table:
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
    caption = "Accuracy of the robust model, each row judged by a fit to the others"
    return Table(caption, ("accuracy", "estimate", level_in_words(audit.noise)), rows)


def class_table(audit: Audit) -> Table:
    """For each class how many rows have it, and which share of them was flipped, where that is known."""
    rates = audit.noise.by_class if audit.noise.identified and is_by_class(audit.noise) else {}
    otherwise = ("labelled otherwise, of those really in it", level_in_words(audit.noise)) if rates else ()
    columns = ("class", "rows", "share of rows", *otherwise)
    rows = []
    for label, count in zip(audit.labels.classes, audit.labels.counts, strict=True):
        row = [shown(label), f"{count:,}", share(count / audit.rows)]
        if rates:
            known = rates.get(label)  # a class all of whose rows weigh nothing has no rate
            row += [share(known[0]), interval(*known[1:])] if known else ["–", "–"]
        rows.append(tuple(row))
    caption = "The classes and how much of each is labelled otherwise" if rates else "The classes"
    return Table(caption, columns, tuple(rows))


def chance_table(audit: Audit) -> Table:
    """The numbers behind the chart of the noise rate."""
    rows = tuple((interval(a, b), share(mass)) for a, b, mass in rate_chances(audit))
    return Table("How likely each noise rate is", ("share of wrong labels", "probability"), rows)


def learner_table(audit: Audit) -> Table:
    """The learners: accuracy on held-out labels, that on clean ones, and with more labels flipped."""
    assert audit.recommended is not None
    rates, corrected = audit.learners[0].curve.rates[1:], audit.learners[0].corrected
    several = audit.learners[0].curve.scores.shape[1] > 1
    rows: list[Line] = []
    for learner in audit.learners:
        name = Cell(shown(learner.name), tag="recommended" if learner.name == audit.recommended.name else "")
        clean = [] if corrected else [share(learner.clean)]
        flipped = zip(learner.curve.mean[1:], learner.curve.std[1:], strict=True)
        worse = (f"{share(mean)} ± {100 * std:.1f}" if several else share(mean) for mean, std in flipped)
        held_out = f"{share(learner.accuracy)} ± {100 * learner.error:.1f}"
        rows.append((name, held_out, *clean, *worse, shown(learner.words)))
    held = ("clean labels",) if corrected else ("held-out labels", "clean labels")
    spread = (  # one split has no deviation
        "± standard error at first, then standard deviation over the splits, in percent"
        if several
        else "± standard error, in percent"
    )
    return Table(
        f"The learners, with more and more labels flipped ({spread})",
        ("learner", *held, *(f"with {100 * rate:.3g} % flipped" for rate in rates), "what it is"),
        tuple(rows),
        kind="unwrapped",
    )


def suspects_table(audit: Audit, rows: list[Doubtful]) -> Table:
    """The most suspicious rows; near ones have the likely label."""
    named = audit.ids is not None
    columns = ("given label", "likely label", "probability wrong", "nearest rows with it")
    return Table(
        "Suspicious rows, counted from 0",
        ("row", *([shown(audit.ids[0], 30)] if audit.ids else []), *columns),
        tuple(
            (
                Cell(str(row.row), "num"),
                *([Cell(shown(row.id))] if named else []),
                Cell(shown(row.given)),
                Cell(shown(row.likely)),
                Cell(share(row.probability), "num chance", row.probability, row.probability),
                Cell(", ".join(map(str, row.neighbours)) or "–", "short"),
            )
            for row in rows
        ),
        kind="sorted",
        name="suspects-table",
        sortable=4 + named,
    )


def checking_table(audit: Audit) -> Table:
    """How many wrong labels to expect among the first rows of the list."""
    rows = tuple(
        (f"{count:,}", f"{found:,.0f}", share(found / count)) for count, found in found_by_checking(audit)
    )
    columns = ("rows checked", "wrong labels expected", "of those checked")
    return Table("Wrong labels to expect among the first rows", columns, rows)


def difference_table(audit: Audit) -> Table:
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
    return Table("Class means", ("column", "label", "mean", "mean elsewhere", "standard deviations"), rows)


def column_table(columns: list[ReadColumn]) -> Table:
    """How each column was read; of a wide table the first ones."""
    rows = [(shown(c.name), c.kind, c.words) for c in columns if c.kind != "left out"]
    return Table("How each column was read", ("column", "read as", "how"), tuple(rows[:LISTED_COLUMNS]))


def left_out_table(columns: list[ReadColumn]) -> Table:
    """Which columns were left out, and why."""
    rows = [(shown(c.name), c.words) for c in columns if c.kind == "left out"]
    return Table("Columns left out, and why", ("column", "why"), tuple(rows[:LISTED_COLUMNS]))
