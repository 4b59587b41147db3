"""The paragraph at the top, in which every number is counted from the result."""

from __future__ import annotations

from collections.abc import Sequence

from unflip.experiments.published import PublishedCell, published
from unflip.experiments.result import Comparison, Result
from unflip.report.paper.counts import count, std_agrees


def summary(result: Result, cells: Sequence[Comparison]) -> tuple[str, ...]:
    """Sentences on what was compared, what agrees and how far the fits can be trusted.

    cells: those of the result, without repetitions.

    >>> from unflip.experiments.result import Result
    >>> summary(Result(settings={}), [])
    ('No table was run.',)
    """
    if not cells:
        return ("No table was run.", *_certificates(result))
    return (*_compared(result, cells), _deviations(cells), *_certificates(result))


def _compared(result: Result, cells: Sequence[Comparison]) -> list[str]:
    printed = published()
    places = {(cell.dataset, cell.metric, cell.noise_rate, cell.loss) for cell in printed}
    exact = [cell for cell in cells if cell.solver == "exact"]
    agreeing = count(exact)
    skipped = {entry.get("name") for entry in result.skipped}
    missing = sum(place[0] in skipped for place in places)
    rest = len(places) - len(exact) - missing
    sentences = [
        f"The paper prints {len(printed)} numbers, {len(printed) - len(places)} of them twice, in the main "
        f"text and in its appendix{_changed(printed)}.",
        f"Of the {len(places)} places in the appendix this run fills {agreeing.cells}, and in "
        f"{agreeing.agreeing} of them ({agreeing.percent}) the printed mean agrees with exact minimisers.",
    ]
    if missing:
        sentences.append(f"{missing} belong to data that could not be had.")
    if rest:
        sentences.append(f"{rest} were not asked for.")
    return sentences


def _changed(printed: Sequence[PublishedCell]) -> str:
    """How many of the repeated numbers are not the same in both places."""
    values: dict[tuple[str, str, float, str], set[tuple[float, float]]] = {}
    for cell in printed:
        place = (cell.dataset, cell.metric, cell.noise_rate, cell.loss)
        values.setdefault(place, set()).add((cell.mean, cell.std))
    changed = sum(len(found) > 1 for found in values.values())
    return f", {changed} of these with another value there" if changed else ""


def _deviations(cells: Sequence[Comparison]) -> str:
    stds = count((cell for cell in cells if cell.solver == "exact"), std_agrees)
    return f"The printed standard deviation agrees in {stds.agreeing} of {stds.cells} ({stds.percent})."


def _certificates(result: Result) -> list[str]:
    optimised = [row for row in result.certificates if row.solver == "exact" and row.kind != "closed form"]
    fits, met = sum(row.fits for row in optimised), sum(row.met for row in optimised)
    if not fits:
        return []
    but = f" but {fits - met:,}" if met < fits else ""
    return [f"An optimiser made {fits:,} fits; all{but} met their certificate."]
