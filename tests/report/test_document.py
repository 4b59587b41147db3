"""The counts are counted again by other means, and the pieces hold what the result has."""

from collections import Counter
from dataclasses import replace

import pytest
from sample import SKIPPED, comparison

from unflip.experiments.figures import FIGURES
from unflip.experiments.published import published
from unflip.experiments.result import Result, Tally
from unflip.report import document as doc
from unflip.report.paper.counts import agreement, distinct, shares, std_agrees
from unflip.report.paper.printed import printed_tables
from unflip.report.paper.sections import NO_REASON, by_reason, compared, document
from unflip.report.paper.summary import summary
from unflip.report.paper.tables import agreement_table, disagreements_table, errata_table
from unflip.report.words import METRIC_NAMES, loss_label
from unflip.theory import propositions

NAMES = list(dict.fromkeys(cell.dataset for cell in published()))


def counted(result, *test):
    cells = distinct(result.cells)
    run = {cell.dataset for cell in cells}
    return agreement(cells, [name for name in NAMES if name in run], *test)


def section(result, place):
    return next(each for each in document(result).sections if each.place == place)


def every(blocks, kind):
    """All blocks of a kind, those within others too."""
    for block in blocks:
        if isinstance(block, kind):
            yield block
        yield from every(getattr(block, "blocks", ()), kind)


def recounted(result, agrees):
    """Agreeing and all cells by dataset, loss and solver, from the appendix alone."""
    hits, cells = Counter(), Counter()
    for cell in result.cells:
        if cell.table.startswith("full-"):
            cells[cell.dataset, cell.loss, cell.solver] += 1
            hits[cell.dataset, cell.loss, cell.solver] += agrees(cell)
    return {key: (hits[key], cells[key]) for key in cells}


@pytest.mark.parametrize(
    ("place", "agrees", "test"), [("agreement", "agrees", ()), ("deviations", "std_agrees", (std_agrees,))]
)
def test_counts_by_dataset_and_loss(result, place, agrees, test):
    table = counted(result, *test)
    found = {
        (dataset, column.loss, column.solver): (count.agreeing, count.cells)
        for dataset, counts in table.rows
        for column, count in zip(table.columns, counts, strict=True)
    }
    assert found == recounted(result, lambda cell: getattr(cell, agrees))
    (shown,) = every(section(result, place).blocks, doc.Table)
    assert shown == agreement_table(shown.caption, table)


def test_totals_and_shares(result):
    means, counts = counted(result), recounted(result, lambda cell: cell.agrees)
    for column, total in zip(means.columns, means.totals, strict=True):
        parts = [count for key, count in counts.items() if key[1:] == (column.loss, column.solver)]
        assert (total.agreeing, total.cells) == (sum(a for a, _ in parts), sum(b for _, b in parts))
    kinds = [
        lambda key: key[1] in ("square", "unhinged"),
        lambda key: key[1] in ("logistic", "t_logistic", "tangent_boost"),
        lambda key: key[1:] == ("hinge", "exact"),
        lambda key: key[1:] == ("hinge", "liblinear"),
    ]
    (tiles,) = every(section(result, "short").blocks, doc.Tiles)
    found = shares(distinct(result.cells))
    assert [tile.note for tile in tiles.tiles] == [str(share.means) for share in found]
    for share, belongs in zip(found, kinds, strict=True):
        parts = [count for key, count in counts.items() if belongs(key)]
        assert (share.means.agreeing, share.means.cells) == (
            sum(a for a, _ in parts),
            sum(b for _, b in parts),
        )


def test_the_summary_counts_what_was_compared(result):
    exact = [cell for cell in result.cells if cell.solver == "exact" and cell.table.startswith("full-")]
    agreeing = sum(cell.agrees for cell in exact)
    text = " ".join(summary(result, distinct(result.cells)))
    assert section(result, "short").blocks[0] == doc.said(text)
    assert f"The paper prints {len(published())} numbers, 90 of them twice" in text
    assert f"Of the 612 places in the appendix this run fills {len(exact)}, and in {agreeing} of them" in text
    assert "72 belong to data that could not be had." in text
    assert "not asked for" not in text


def test_every_printed_number_has_its_place(result):
    ours = {
        (c.table, c.dataset, c.metric, c.noise_rate, c.loss): c for c in result.cells if c.solver == "exact"
    }
    tables = {table.name: table for table in printed_tables(result.cells, [SKIPPED])}
    pairs = {
        (table.name, block.dataset, block.metric, rate, name): pair
        for table in tables.values()
        for block in table.numbers.blocks
        for rate, cells in block.rows
        for name, pair in zip(block.columns, cells, strict=True)
    }
    assert sum(name != "hinge, stopped early" for *_, name in pairs) == len(published())
    for cell in published():
        column, rate = loss_label(cell.loss), f"{cell.noise_rate:g}"
        pair = pairs[cell.table, cell.dataset, METRIC_NAMES[cell.metric], rate, column]
        assert pair.printed == f"{cell.mean:.2f} ± {cell.std:.2f}"
        found = ours.get((cell.table, cell.dataset, cell.metric, cell.noise_rate, cell.loss))
        assert (pair.verdict == "not run") == (cell.dataset == SKIPPED) == (found is None)
        if found:
            assert found.published_mean == cell.mean
            assert pair.ours == f"{found.mean:.3f} ± {found.std:.3f}"
            assert pair.verdict == ("agrees" if found.agrees else "differs")
    shown = [folded.blocks for folded in every(section(result, "tables").blocks, doc.Folded)]
    assert shown == [(table.numbers,) for table in tables.values()]


def test_every_disagreement_has_its_reason(result):
    wrong = [cell for cell in result.cells if not cell.agrees and cell.table.startswith("full-")]
    expected = Counter(cell.reason or NO_REASON for cell in wrong)
    reasons = by_reason(distinct(result.cells))
    found = {reason: len(group) for reason, group in reasons}
    assert found == expected
    assert list(found.values()) == sorted(found.values(), reverse=True)
    shown = [folded.blocks for folded in every(section(result, "differ").blocks, doc.Folded)]
    assert shown == [(disagreements_table(*each),) for each in reasons]


def test_the_most_of_a_dataset_is_marked():
    tallies = (Tally("a", "iris", "square", 5, 12), Tally("b", "iris", "square", 7, 12))
    tallies += (Tally("a", "car", "square", 3, 12), Tally("b", "car", "square", 3, 12))
    (found,) = compared(Result(settings={}, tallies=tallies), NAMES, set())
    assert found.datasets == ("iris", "car")
    first, second = found.rows
    assert (first.best, second.best) == ((False, True), (True, True))
    assert str(second.total) == "10/24"


def test_protocols_are_compared_on_the_same_losses(result):
    used = {(cell.protocol, cell.dataset) for cell in result.cells}
    closed, others = compared(result, NAMES, used)
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
    titles = [folded.title for folded in every(section(part, "tables").blocks, doc.Folded)]
    assert titles == ["Table 2: UCI datasets", "Appendix: iris"]
    (missing,) = every(section(part, "run").blocks, doc.Listed)
    assert [item.words[0] for item in missing.items] == [
        f"Datasets not asked for: {', '.join(name for name in NAMES if name != 'iris')}.",
        f"Figures not asked for: {', '.join(FIGURES)}.",
    ]
    assert "540 were not asked for." in section(part, "short").blocks[0].words[0]


def test_numbers_of_the_main_text_count_where_the_appendix_was_not_run():
    cell = next(cell for cell in published() if cell.table == "uci-matlab")
    means = counted(Result(settings={}, cells=(comparison(cell, "exact"),)))
    assert sum(total.cells for total in means.totals) == 1


def test_every_erratum_names_a_check():
    names = {check.__name__ for check in propositions()}
    assert {row[-1] for row in errata_table().rows} <= names


def test_a_way_to_get_data_is_told_once(result):
    """Where the reason has the command already, it is not said again."""
    told = {
        "It is not shipped": "It is not shipped. To get it: unflip datasets fetch housing --data-dir FOLDER",
        "fetch it: unflip datasets fetch housing": "fetch it: unflip datasets fetch housing.",
    }
    for reason, words in told.items():
        part = replace(result, skipped=({"name": SKIPPED, "reason": reason},))
        (missing,) = every(section(part, "run").blocks, doc.Listed)
        said = "".join(each if isinstance(each, str) else each.text for each in missing.items[0].words)
        assert said.startswith(SKIPPED + ": " + words)
        assert said.count("datasets fetch") == 1
