"""From a `Result` to a document: what is said in which order, and which numbers stand with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unflip.experiments.agreement import PRINTED_ROUNDING, PRINTED_TRIALS
from unflip.experiments.batch import CLOSED
from unflip.experiments.catalogue import CATALOGUE
from unflip.experiments.figures import FIGURES
from unflip.experiments.published import published
from unflip.experiments.result import Comparison, Figure, Result, certificate_summary
from unflip.report import document as doc
from unflip.report.paper.charts import curves, figure_chart
from unflip.report.paper.counts import (
    AgreementCounts,
    Share,
    Variants,
    agreement,
    distinct,
    shares,
    std_agrees,
    tried_everywhere,
    variants,
)
from unflip.report.paper.printed import PrintedTable, printed_tables
from unflip.report.paper.summary import summary
from unflip.report.paper.tables import (
    agreement_table,
    certificates_table,
    disagreements_table,
    errata_table,
    finding_table,
    records,
    series_table,
    variants_table,
)
from unflip.report.words import plain

NO_REASON = "No reason is known."
NOT_RUN = "missing"  # the place of what was not run
EXAMPLES = (
    doc.Pair("0.15 ± 0.27", True, "0.248 ± 0.012", "", "differs"),
    doc.Pair("0.25 ± 0.00", False, "0.251 ± 0.003", "", "agrees"),
)


def document(result: Result) -> doc.Document:
    """The report of a result; what the run did not have is left out.

    >>> report = document(Result(settings={"seed": 0, "command": "unflip reproduce iris"}))
    >>> [section.title for section in report.sections if section.blocks]
    ['In short', 'Errata of the paper', 'This run']
    """
    cells = distinct(result.cells)
    names = list(dict.fromkeys(cell.dataset for cell in published()))
    run = {cell.dataset for cell in cells}
    shown = [name for name in names if name in run]
    kinds = shares(cells)
    short = _short(summary(result, cells), kinds)
    counts = _agreement("means", agreement(cells, shown))
    deviations = _deviations(kinds, agreement(cells, shown, std_agrees))
    skipped = {str(entry.get("name", "")): str(entry.get("reason", "")) for entry in result.skipped}
    not_asked = _not_asked(result, names, {*run, *skipped})
    used = {(cell.protocol, cell.dataset) for cell in cells}
    return doc.Document(
        title="The Importance of Being Unhinged, run again",
        lede="The experiments of “Learning with Symmetric Label Noise: The Importance of Being Unhinged” "
        "(arXiv:1505.07634), with every printed number beside ours.",
        sections=(
            doc.Section("short", "In short", (*short, *_left_out(skipped, not_asked))),
            doc.Section("agreement", "Agreement", counts),
            doc.Section("reading", "How to read this", _reading(result) if cells else ()),
            doc.Section("curves", "Error by noise rate", _curves(cells)),
            doc.Section(
                "tables", "The printed tables", _printed(printed_tables(result.cells, list(skipped)))
            ),
            doc.Section("differ", "Where we differ", _differ(cells)),
            doc.Section("deviations", "Standard deviations", deviations),
            doc.Section("protocols", "Protocols", _protocols(result, compared(result, names, used))),
            doc.Section("certificates", "Certificates", _certificates(result)),
            doc.Section(
                "datasets",
                "Datasets",
                doc.given(records("The data as we have it, beside what the paper prints", result.datasets)),
            ),
            doc.Section(
                "figures", "Figures", tuple(block for each in result.figures for block in _figure(each))
            ),
            doc.Section("findings", "Findings", _findings(result)),
            doc.Section("errata", "Errata of the paper", _errata()),
            doc.Section("run", "This run", _run(result, skipped, not_asked)),
        ),
        headline=_headline(result, (*short, *counts, *deviations[1:]), skipped, not_asked),
    )


def compared(result: Result, datasets: list[str], used: set[tuple[str, str]]) -> tuple[Variants, ...]:
    """The protocols on the closed forms, then on the other losses, where every protocol was tried on them."""
    fair = tried_everywhere(result.tallies)
    closed = [tally for tally in fair if tally.loss in CLOSED]
    others = [tally for tally in fair if tally.loss not in CLOSED]
    found = (
        variants("square and unhinged", closed, datasets, used),
        variants("the other losses that were tried", others, datasets, used),
    )
    return tuple(each for each in found if each.rows)


def by_reason(cells: Iterable[Comparison]) -> list[tuple[str, list[Comparison]]]:
    """The cells that differ, by reason; the reason of most comes first."""
    groups: dict[str, list[Comparison]] = {}
    for cell in cells:
        if not cell.agrees:
            groups.setdefault(cell.reason or NO_REASON, []).append(cell)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def _not_asked(
    result: Result, datasets: Sequence[str], known: set[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Datasets and figures that were not asked for, where there are any."""
    drawn = {figure.name for figure in result.figures} | known
    found = {
        "Datasets": tuple(name for name in datasets if name not in known),
        "Figures": tuple(name for name in FIGURES if name not in drawn),
    }
    return tuple((what, names) for what, names in found.items() if names)


def _short(told: Sequence[str], kinds: Sequence[Share]) -> Any:
    tiles = (doc.Tile(kind.title, kind.means.percent, str(kind.means), kind.means.share) for kind in kinds)
    return doc.given(doc.said(" ".join(told)), doc.Tiles(tuple(tiles)) if kinds else None)


def _left_out(skipped: dict[str, str], not_asked: Any) -> Any:
    words = [f"Skipped: {', '.join(skipped)}. "] if skipped else []
    words += ["Some of the paper was not asked for. "] if not_asked else []
    link = doc.Span("What is missing, and how to get it", f"#{NOT_RUN}")
    return (doc.Page((doc.said(*words, link),)),) if words else ()


def _agreement(what: str, counts: AgreementCounts) -> Any:
    return doc.given(agreement_table(f"Printed {what} that agree with ours, by dataset and loss", counts))


def _reading(result: Result) -> Any:
    draws = result.settings.get("study_trials")
    few = (
        f" With {draws} noise draws a split, instead of {PRINTED_TRIALS}, our means scatter more; the "
        "range is narrowed by as much."
        if draws and draws < PRINTED_TRIALS
        else ""
    )
    key = doc.Key(
        EXAMPLES,
        (
            "Above, the printed number; bold if the paper has it as the best at that noise rate.",
            "Below, ours, with one digit more.",
            "✓ the printed mean agrees, ✗ and a tint: it differs. The range of ours shows on pointing at a "
            "cell, or with the switch below.",
        ),
    )
    return (
        doc.said(
            "The paper split each dataset once, in a way it does not tell, and drew the noise "
            f"{PRINTED_TRIALS} times. We draw many splits. A printed mean ",
            doc.Span("agrees", "em"),
            " if it lies in the central 95 % of our means, one mean a split, give or take its rounding of "
            f"{PRINTED_ROUNDING}. So a printed number may be unlike that of any one of our splits "
            "and still agree: "
            f"it is one draw among ours.{few}",
        ),
        doc.said(
            "Numbers are 0-1 errors and 1 − AUC on clean test labels, as mean ± standard deviation over "
            "the noise draws of one split. The hinge has two columns. One is its exact minimiser. The "
            "other stops the solver early, as the printed numbers suggest that the paper's did."
        ),
        key,
        doc.said(
            "In tables of counts, 11/12 means that 11 of 12 printed numbers agree; the disc shows the same "
            "share. A number that the main text repeats from the appendix counts once."
        ),
    )


def _curves(cells: Sequence[Comparison]) -> Any:
    choices = curves(cells)
    if not choices:
        return ()
    caption = doc.said(
        "Our means and their range over splits, and the printed means, for the chosen dataset and metric. "
        "The same numbers are in ",
        doc.Span("the printed tables", "#tables"),
        ".",
    )
    told = (
        "Error by noise rate, one panel a loss: our mean as a line within the range over splits, the printed "
        "means as diamonds. The printed tables below have the same numbers."
    )
    return (
        doc.FigureBlock("curves", (), (caption,), told=told, choices=choices, choice="dataset and metric"),
    )


def _printed(tables: Sequence[PrintedTable]) -> Any:
    if not tables:
        return ()
    folded = (
        doc.Folded(
            table.title,
            (table.numbers,),
            doc.Cell(f"{table.count} agree", share=table.count.share)
            if table.count.cells
            else doc.Cell("not run"),
            table.name,
            open=table is tables[0],
        )
        for table in tables
    )
    return (
        doc.said(
            "The two of the main text, then those of the appendix. Counts are of printed means that "
            "agree, the hinge being exact."
        ),
        doc.Switch("ranges", "show the range of ours in every cell"),
        *folded,
    )


def _differ(cells: Sequence[Comparison]) -> Any:
    reasons = by_reason(cells)
    if not reasons:
        return ()
    folded = (
        doc.Folded(
            reason,
            (disagreements_table(reason, group),),
            doc.Cell(f"{len(group)} number{'s' if len(group) > 1 else ''}"),
        )
        for reason, group in reasons
    )
    return (
        doc.said(
            "Printed means outside the range of ours, by reason. Each number counts once, the hinge once "
            "a solver."
        ),
        *folded,
    )


def _deviations(kinds: Sequence[Share], stds: AgreementCounts) -> Any:
    if not stds.rows:
        return ()
    counted = "; ".join(f"{kind.title}: {kind.stds} ({kind.stds.percent})" for kind in kinds)
    return (
        doc.said(
            "The same test for the printed standard deviations: does it lie in the central 95 % of ours, "
            f"one a split? {counted[0].upper()}{counted[1:]}."
        ),
        *_agreement("standard deviations", stds),
    )


def _protocols(result: Result, found: Sequence[Variants]) -> Any:
    if not found:
        return ()
    meanings = tuple((name, _meaning(settings)) for name, settings in result.protocols.items())
    return doc.given(
        doc.said(
            "The paper does not say how features were scaled and categories encoded, nor how rows were "
            "split. These are the ways that were tried, and how many printed means agree under each: ",
            doc.Span("most", "em"),
            " marks the best for a dataset, ",
            doc.Span("used", "em"),
            " the one of the tables above.",
        ),
        doc.said(
            "The protocol in use was found by its agreement on square and unhinged, so their share "
            "flatters. The printed standard deviations had no say in it, nor had the other losses, except "
            "on the drawn datasets: what the text says of Long's and Mease's data cannot give the printed "
            "numbers, and what was used instead was inferred from all columns."
        ),
        *map(variants_table, found),
        doc.Facts(meanings) if meanings else None,
    )


def _meaning(settings: dict[str, Any]) -> str:
    """What a protocol is: its summary and those of its datasets, or else all of its settings."""
    if "summary" not in settings:
        return plain(settings)
    inner = {name: each.get("summary", each) for name, each in settings.items() if isinstance(each, dict)}
    return "; ".join(
        [plain(settings["summary"]), *(f"{name}: {plain(text)}" for name, text in inner.items())]
    )


def _certificates(result: Result) -> Any:
    table = certificates_table(result.certificates)
    if not table.rows:
        return ()
    return (
        doc.said(
            "A fit counts as met if its certificate is within the limit, or if the classes are separable "
            "and no minimum exists. A duality gap is relative to the objective, the hinge's without the "
            "trace of ridge that picks one minimiser among several. For losses that are not convex the "
            "certificate is the norm of the gradient: a stationary point, reached from the zero scorer. "
            "Of its Hessian we give the smallest eigenvalue over all fits, and how many fits have one "
            "that is zero (flat: some rows could go on for ever) or negative (a saddle)."
        ),
        table,
    )


def _figure(figure: Figure) -> Any:
    facts = doc.Facts((("Printed", figure.printed), ("Found", figure.found)))
    numbers = doc.given(*(series_table(figure.title, name, rows) for name, rows in figure.series.items()))
    return (
        doc.Heading(figure.title, f"figure-{figure.name}"),
        doc.FigureBlock(figure.name, figure_chart(figure), (facts,)),
        doc.Page((doc.Folded("The numbers behind it", numbers),)),
    )


def _findings(result: Result) -> Any:
    return tuple(
        block
        for found in result.findings
        for block in (
            doc.Heading(found.title),
            doc.Facts((("Printed", found.printed), ("Found", found.found))),
            *doc.given(finding_table(found)),
        )
    )


def _errata() -> Any:
    return (
        doc.said(
            "Where the printed statement and the arithmetic differ. Each has a check that computes both "
            "sides; ",
            doc.Span("unflip verify", "code"),
            " runs them all.",
        ),
        errata_table(),
    )


def _run(result: Result, skipped: dict[str, str], not_asked: Any) -> Any:
    command = str(result.settings.get("command", ""))
    repeat = (doc.said("To repeat it:"), doc.Command(command)) if command else ()
    settings = doc.given(doc.settings_table("Settings, seed, versions and digest", result.settings))
    if not (skipped or not_asked):
        return (*repeat, *settings, doc.said("Nothing was left out."))
    items = [_skipped(name, reason) for name, reason in skipped.items()]
    items += [doc.Item((f"{what} not asked for: {', '.join(names)}.",)) for what, names in not_asked]
    return (*repeat, *settings, doc.Heading("What is missing", NOT_RUN), doc.Listed(tuple(items)))


def _skipped(name: str, reason: str) -> doc.Item:
    """What could not be run, why, and the command that would help, if the reason has none."""
    words: list[str | doc.Span] = [doc.Span(name, "strong"), f": {reason.rstrip('.')}."]
    if remedy := _remedy(name, reason):
        words += [" To get it: ", doc.Span(remedy, "code"), ", then run again with the same folder."]
    return doc.Item(tuple(words))


def _remedy(name: str, reason: str) -> str:
    elsewhere = name in CATALOGUE and CATALOGUE[name].origin == "elsewhere"
    return f"unflip datasets fetch {name} --data-dir FOLDER" if elsewhere and "unflip " not in reason else ""


def _headline(result: Result, short: Any, skipped: dict[str, str], not_asked: Any) -> Any:
    """For a terminal, after the short version: certificates, figures, findings, and what is missing."""
    found = [f"{each.title}: {each.found}" for each in result.figures]
    found += [f"{each.title}: {each.found}" for each in result.findings]
    lines: list[Any] = []
    for name, reason in skipped.items():
        lines.append(doc.said(f"Skipped: {name}, {reason}"))
        lines += [doc.Command(remedy)] if (remedy := _remedy(name, reason)) else []
    missing = "; ".join(", ".join(names) for _, names in not_asked)
    return doc.given(
        *short,
        *_met(result),
        doc.listed(found, "findings", "Found:") if found else None,
        *lines,
        doc.said(f"Not asked for: {missing}.") if missing else None,
    )


def _met(result: Result) -> tuple[doc.Listed, ...]:
    exact = tuple(row for row in result.certificates if row.solver == "exact")
    lines = []
    for kind, row in certificate_summary(exact).items():
        if kind == "rows":
            continue
        limit = f", limit {row['limit']:.0e}, worst {row['worst']:.1e}" if kind != "closed form" else ""
        separable = f", {row['separable']:,} separable" if row["separable"] else ""
        lines.append(f"{kind}: {row['met']:,} of {row['fits']:,} fits{limit}{separable}")
    return (doc.listed(lines, "findings", "Certificates met:"),) if lines else ()
