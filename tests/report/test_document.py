"""The counts are counted again by other means, and the pieces hold what the result has."""

from collections import Counter
from dataclasses import replace

import pytest
from sample import SKIPPED, comparison

from unflip.experiments.figures import FIGURES
from unflip.experiments.published import published
from unflip.experiments.result import Result, Tally
from unflip.report.document import NO_REASON, document
from unflip.report.tables import errata_table
from unflip.theory import propositions


def recounted(result, agrees):
    """Agreeing and all cells by dataset, loss and solver, from the appendix alone."""
    hits, cells = Counter(), Counter()
    for cell in result.cells:
        if cell.table.startswith("full-"):
            cells[cell.dataset, cell.loss, cell.solver] += 1
            hits[cell.dataset, cell.loss, cell.solver] += agrees(cell)
    return {key: (hits[key], cells[key]) for key in cells}


@pytest.mark.parametrize(("name", "agrees"), [("means", "agrees"), ("stds", "std_agrees")])
def test_counts_by_dataset_and_loss(result, name, agrees):
    table = getattr(document(result), name)
    found = {
        (dataset, column.loss, column.solver): (count.agreeing, count.cells)
        for dataset, counts in table.rows
        for column, count in zip(table.columns, counts, strict=True)
    }
    assert found == recounted(result, lambda cell: getattr(cell, agrees))


def test_totals_and_shares(result):
    report, counts = document(result), recounted(result, lambda cell: cell.agrees)
    for column, total in zip(report.means.columns, report.means.totals, strict=True):
        parts = [count for key, count in counts.items() if key[1:] == (column.loss, column.solver)]
        assert (total.agreeing, total.cells) == (sum(a for a, _ in parts), sum(b for _, b in parts))
    kinds = [
        lambda key: key[1] in ("square", "unhinged"),
        lambda key: key[1] in ("logistic", "t_logistic", "tangent_boost"),
        lambda key: key[1:] == ("hinge", "exact"),
        lambda key: key[1:] == ("hinge", "liblinear"),
    ]
    for share, belongs in zip(report.shares, kinds, strict=True):
        parts = [count for key, count in counts.items() if belongs(key)]
        assert (share.means.agreeing, share.means.cells) == (
            sum(a for a, _ in parts),
            sum(b for _, b in parts),
        )


def test_the_summary_counts_what_was_compared(result):
    exact = [cell for cell in result.cells if cell.solver == "exact" and cell.table.startswith("full-")]
    agreeing = sum(cell.agrees for cell in exact)
    text = " ".join(document(result).summary)
    assert f"The paper prints {len(published())} numbers, 90 of them twice" in text
    assert f"Of the 612 places in the appendix this run fills {len(exact)}, and in {agreeing} of them" in text
    assert "72 belong to data that could not be had." in text
    assert "not asked for" not in text


def test_every_printed_number_has_its_place(result):
    tables = document(result).tables
    entries = [entry for table in tables for block in table.blocks for entry in block.entries]
    assert {entry.printed for entry in entries} == set(published())
    assert sum(entry.column.solver == "exact" for entry in entries) == len(published())
    assert {entry.printed.dataset for entry in entries if entry.verdict == "not run"} == {SKIPPED}
    for entry in entries:
        if entry.ours:
            assert entry.ours.published_mean == entry.printed.mean
            assert (entry.ours.dataset, entry.ours.loss) == (entry.printed.dataset, entry.printed.loss)


def test_every_disagreement_has_its_reason(result):
    wrong = [cell for cell in result.cells if not cell.agrees and cell.table.startswith("full-")]
    expected = Counter(cell.reason or NO_REASON for cell in wrong)
    found = {reason: len(table.rows) for reason, table in document(result).disagreements}
    assert found == expected
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_the_most_of_a_dataset_is_marked():
    tallies = (Tally("a", "iris", "square", 5, 12), Tally("b", "iris", "square", 7, 12))
    tallies += (Tally("a", "car", "square", 3, 12), Tally("b", "car", "square", 3, 12))
    (found,) = document(Result(settings={}, tallies=tallies)).variants
    assert found.datasets == ("iris", "car")
    first, second = found.rows
    assert (first.best, second.best) == ((False, True), (True, True))
    assert str(second.total) == "10/24"


def test_protocols_are_compared_on_the_same_losses(result):
    closed, others = document(result).variants
    declared, raw, codes = closed.rows
    assert all(count.cells == 24 for count in (*declared.counts, *raw.counts))
    assert [count is not None for count in codes.counts] == [
        name in ("car", "splice") for name in closed.datasets
    ]
    assert all(declared.used)
    assert not any(raw.used)
    assert others.datasets == ("long", "mease")
    assert all(count.cells == 36 for row in others.rows for count in row.counts)


def test_a_partial_run_says_what_was_not_asked_for(result):
    part = replace(
        result, cells=tuple(cell for cell in result.cells if cell.dataset == "iris"), figures=(), skipped=()
    )
    report = document(part)
    assert [table.title for table in report.tables] == ["Table 2: UCI datasets", "Appendix: iris"]
    assert report.not_asked[1] == tuple(FIGURES)
    assert "iris" not in report.not_asked[0]
    assert SKIPPED in report.not_asked[0]
    assert "540 were not asked for." in " ".join(report.summary)


def test_numbers_of_the_main_text_count_where_the_appendix_was_not_run():
    cell = next(cell for cell in published() if cell.table == "uci-matlab")
    report = document(Result(settings={}, cells=(comparison(cell, "exact"),)))
    assert sum(total.cells for total in report.means.totals) == 1


def test_every_erratum_names_a_check():
    names = {check.__name__ for check in propositions()}
    assert {row[-1] for row in errata_table().rows} <= names
