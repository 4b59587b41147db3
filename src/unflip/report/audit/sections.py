"""From an `Audit` to a document: what is said in which order, and which numbers and charts stand with it."""

from __future__ import annotations

from json import dumps
from pathlib import PurePath
from typing import Any

from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise import words as noise_words
from unflip.report import document as doc
from unflip.report.audit.charts import checking_chart, learners_chart, noise_chart
from unflip.report.audit.columns import ReadColumn, kinds, read_columns
from unflip.report.audit.csv import as_csv
from unflip.report.audit.means import means_in_words
from unflip.report.audit.rows import doubtful_rows, more_likely_wrong
from unflip.report.audit.tables import (
    LISTED_COLUMNS,
    accuracy_table,
    chance_table,
    checking_table,
    class_table,
    column_table,
    difference_table,
    learner_table,
    left_out_table,
    suspects_table,
)
from unflip.report.audit.verdict import assumption, bound, further, is_unsure, verdict, wrong_in_words
from unflip.report.words import counted, shown

GUARANTEED = "What is guaranteed"
GUARANTEES = {
    "exact": "Exact, on the population",
    "growing": "As rows grow in number",
    "heuristic": "Rules of thumb",
    "limits": "Limits",
}
TABLE_ROWS = 500  # suspects in the table of the page; the CSV has more
CSV_ROOM = 500_000  # characters for the CSV within the page
TERMINAL_NAME = 32  # letters of a column in a terminal
TERMINAL_LEFT_OUT = 5  # columns named there


def document(audit: Audit) -> doc.Document:
    """The report of an audit; where the columns tell nothing of the labels, nothing is said of them.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [int(i > 30) for i in range(60)]})
    >>> document(audit_table(frame, "y", source="some.csv")).title
    'Can the labels of some.csv be trusted?'
    """
    columns = read_columns(audit)
    told: tuple[doc.Section, ...] = ()
    if audit.informative:
        told = (
            doc.Section("noise", "How noisy the labels are", _noise(audit), "How noisy"),
            doc.Section("accuracy", "What clean labels would show", _accuracy(audit), "On clean labels"),
            doc.Section("learners", "Which learner to use", _learners(audit), "Which learner"),
            doc.Section("suspects", "Which rows are probably wrong", _suspects(audit), "Which rows"),
            doc.Section("means", "What tells the classes apart", _means(audit), "What tells classes apart"),
            doc.Section("guarantee", f"{GUARANTEED}, and what is not", _guarantee(audit), GUARANTEED),
        )
    return doc.Document(
        title=f"Can the labels of {shown(PurePath(audit.source).name or audit.source)} be trusted?",
        lede=about(audit),
        sections=(
            doc.Section("short", "In short", (headline(audit), *(_tiles(audit) if told else ()))),
            *told,
            doc.Section("columns", "How columns were read", _columns(audit, columns)),
            doc.Section("run", "How to repeat it", _run(audit)),
        ),
        headline=(headline(audit), *(_numbers(audit) if told else ()), *_left_out(audit)),
    )


def about(audit: Audit) -> str:
    """What was audited, in a line."""
    labels = audit.labels
    classes = ", ".join(
        f"{shown(label)} in {count:,}"
        for label, count in list(zip(labels.classes, labels.counts, strict=True))[:10]
    )
    more = f" and {len(labels.classes) - 10} more" if len(labels.classes) > 10 else ""
    missing = f" {counted(labels.missing, 'row')} without a label left aside." if labels.missing else ""
    rows = f"{counted(audit.rows, 'labelled row')}, {counted(len(audit.table.columns_), 'column')}"
    return f"{rows}; the label “{shown(labels.target)}” is {classes}{more}.{missing}"


def headline(audit: Audit) -> doc.Listed:
    """The three lines of the verdict, and what stands after them."""
    first, *others = *verdict(audit), *further(audit)
    strong = doc.Item((doc.Span(first, "strong"),))
    return doc.Listed((strong, *(doc.Item((line,)) for line in others)), "headline")


def _tiles(audit: Audit) -> Any:
    noise, clean, wrong = audit.noise, audit.clean_accuracy, more_likely_wrong(audit)
    told, condition = noise_words.is_told(noise), noise_words.condition(noise)
    known = f"{interval(noise.low, noise.high)} {condition}; " if noise.identified else ""
    bounds = interval(*audit.clean_bounds)
    right = doc.Tile("accuracy on clean labels", "unknown", f"{bounds} would fit", 0)
    if clean is not None and not is_unsure(audit):
        note = f"{interval(clean.low, clean.high)} {condition}; without that assumption {bounds}"
        right = doc.Tile("accuracy on clean labels", share(clean.estimate), note, clean.estimate)
    rows = doc.Tile("rows probably wrong", "unknown", "the list of rows is an order", 0, "wrong")
    if told:
        rows = doc.Tile(
            "rows probably wrong", f"{wrong:,}", f"of {audit.rows:,}", wrong / audit.rows, "wrong"
        )
    return (
        doc.Tiles(
            (
                doc.Tile(
                    "labels that are wrong",
                    share(noise.rate) if told else "unknown",
                    known + noise_words.bound(noise),
                    noise.rate if told else 0,
                    "wrong",
                ),
                doc.Tile(
                    "accuracy on these labels",
                    share(audit.noisy_accuracy),
                    f"by guessing {share(audit.guess)}",
                    audit.noisy_accuracy,
                ),
                right,
                rows,
            )
        ),
    )


def _noise(audit: Audit) -> Any:
    cautions = (
        doc.said(doc.Span("Caution:", "strong"), f" {words}.", kind="caution")
        for words in audit.noise.warnings
    )
    level = noise_words.level_in_words(audit.noise)
    caption = f"The {level} of the share of wrong labels."
    if len(audit.noise.masses):
        caption = (
            f"How likely each noise rate is, given the scores and the labels; blue within the {level}. "
            "The interval may be wider than the bars: it also admits rates that some shape of "
            "overlap explains nearly as well."
        )
    return doc.given(
        *cautions,
        doc.said(f"{assumption(audit)} {bound(audit)}"),
        doc.FigureBlock("noise", (noise_chart(audit),), (doc.said(caption),)),
        doc.behind(chance_table(audit)),
        class_table(audit),
    )


def _accuracy(audit: Audit) -> Any:
    known = (
        "How much that matters depends on how many labels are wrong, which these labels do not tell."
        if audit.clean_accuracy is None
        else f"The accuracy on clean labels is corrected for this, {noise_words.condition(audit.noise)}; the "
        "interval holds what is not known of the noise."
    )
    return (
        doc.said(
            f"Where a label is wrong, a right answer counts as an error, or an error as right. {known} "
            "Without that assumption it differs from the accuracy on these labels by at most "
            f"{share(audit.noise.outer)}, the most that may be wrong {noise_words.RIGHT}."
        ),
        accuracy_table(audit),
    )


def _learners(audit: Audit) -> Any:
    assert audit.recommended is not None
    splits, corrected = audit.learners[0].curve.scores.shape[1], audit.learners[0].corrected
    also = " Accuracies are corrected for the rates by class." if corrected else ""
    judged = ", corrected for the rates by class," if corrected else " as they are,"
    band = " The band is one standard deviation around the recommended learner." if splits > 1 else ""
    return (
        doc.said(
            "Recommended: ",
            doc.Span(shown(audit.recommended.name), "strong"),
            f", because {audit.recommended.why}. All learned from the same part of the rows and were "
            f"judged on others, in {counted(splits, 'split')}; with all rows to learn from, accuracies are "
            f"often higher.{also}",
        ),
        doc.FigureBlock(
            "learners",
            (learners_chart(audit),),
            (
                doc.said(
                    f"Accuracy on held-out labels{judged} when more training labels are flipped on "
                    "purpose; all learners meet the same splits and the same flips. The flatter, the more "
                    f"robust.{band}"
                ),
            ),
        ),
        learner_table(audit),
    )


def _suspects(audit: Audit) -> Any:
    doubtful = doubtful_rows(audit)
    held, content = len(doubtful), as_csv(audit, doubtful)
    while len(dumps(content)) + 5 * sum(map(content.count, "<>&'")) > CSV_ROOM:  # as it is escaped there
        held //= 2
        content = as_csv(audit, doubtful[:held])
    cut = len(doubtful) > TABLE_ROWS
    blocks = (
        doc.said(
            f"{wrong_in_words(audit)} Rows count from 0, the header not among them. The nearest rows have "
            "the likely label, and look like the row in question."
        ),
        doc.Download(
            f"Download {counted(held, 'row')} as CSV",
            "suspects.csv",
            content,
            f"{held} rows saved as suspects.csv.",
            f"The table shows the first {TABLE_ROWS}." if cut else "",
        ),
        suspects_table(audit, doubtful[:TABLE_ROWS]),
    )
    if not noise_words.is_told(audit.noise):
        return blocks
    caption = (
        "Wrong labels to expect among the first rows of the list, by their probabilities; dotted, if rows "
        "were checked in any order."
    )
    return doc.given(
        *blocks,
        doc.Heading("What checking them should find"),
        doc.FigureBlock("checking", (checking_chart(audit),), (doc.said(caption),)),
        doc.behind(checking_table(audit)),
    )


def _means(audit: Audit) -> Any:
    if not audit.differences:
        return ()
    largest = abs(audit.differences[0].deviations)
    items = (
        doc.Item((words,), abs(found.deviations) / largest, "higher" if found.deviations > 0 else "lower")
        for found, words in zip(audit.differences, means_in_words(audit), strict=True)
    )
    alike = (
        " Noise shrinks all of these differences alike, so their order is that of clean labels."
        if len(audit.labels.classes) == 2
        else ""
    )
    return doc.given(
        doc.said(
            "The columns whose class means differ most, on the labels as they are; a bar is as long as the "
            f"difference is large, in standard deviations.{alike}"
        ),
        doc.Listed(tuple(items), "bars"),
        doc.behind(difference_table(audit)),
    )


def _guarantee(audit: Audit) -> Any:
    groups = (
        (doc.Heading(title), doc.listed(getattr(audit.guarantee, name))) for name, title in GUARANTEES.items()
    )
    return (doc.Beside(tuple(groups)),)


def _columns(audit: Audit, columns: list[ReadColumn]) -> Any:
    found = kinds(columns)
    left_out = found.pop("left out", 0)
    named = ", ".join(f"{count:,} as {kind}" for kind, count in found.items())
    rest = f"; {left_out:,} left out" if left_out else ""
    unlisted = (
        " Lists below end early; the JSON twin has them all."
        if max(*found.values(), left_out) > LISTED_COLUMNS
        else ""
    )
    read = column_table(columns)
    return doc.given(
        doc.said(
            f"Columns read: {named}{rest}. They became {audit.table.width:,} numbers a row.{unlisted} No "
            "label was looked at for that."
        ),
        left_out_table(columns) if left_out else doc.said("No column was left out."),
        doc.Folded("Column by column", (read,)) if read.rows else None,
    )


def _run(audit: Audit) -> Any:
    command = shown(audit.settings.get("command") or "", 2000)
    found = doc.settings_table("Settings, seed and versions", audit.settings)
    rows = tuple(tuple(shown(text, 400) for text in row) for row in found.rows)
    return doc.given(
        doc.Command(command) if command else None,
        type(found)(found.caption, found.columns, rows),
        doc.said("The same table, seed and versions give the same page."),
    )


def _numbers(audit: Audit) -> Any:
    """For a terminal: the accuracies, the learners, and the rows to look at first."""
    first = suspects_table(audit, doubtful_rows(audit))
    return accuracy_table(audit), learner_table(audit), first


def _left_out(audit: Audit) -> Any:
    left_out = audit.table.left_out_.items()
    found = [f"{shown(name, TERMINAL_NAME)} ({reason})" for name, reason in left_out]
    if not found:
        return ()
    more = [f"{len(found) - TERMINAL_LEFT_OUT} more"] if len(found) > TERMINAL_LEFT_OUT else []
    return (doc.said(f"Columns left out: {', '.join([*found[:TERMINAL_LEFT_OUT], *more])}."),)
