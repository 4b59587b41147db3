"""Generated pages are what their programs write, and the map of the paper has no white spots."""

import json
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.append(str(DOCS / "_tools"))

import layers  # noqa: E402
import pages  # noqa: E402
import paper_map  # noqa: E402
import results  # noqa: E402

from unflip.theory import propositions  # noqa: E402

CONTRACT = re.compile(r"imports flow down.*?layers = \[(.*?)\]", re.DOTALL)


def test_pages_are_up_to_date():
    assert [path.name for path, _ in pages.stale()] == [], "run `make pages`"


def test_every_numbered_statement_has_one_line_a_check_and_a_test():
    assert paper_map.gaps() == []


def test_the_map_lists_what_the_paper_numbers():
    listed = [statement.number for statement in paper_map.statements()]
    assert len(set(listed)) == len(listed)
    for kind, count in (("Equation", 14), ("Proposition", 9), ("Definition", 4)):
        assert {f"{kind} {i}" for i in range(1, count + 1)} == {n for n in listed if n.startswith(kind)}
    assert "Lemma" in listed


@pytest.mark.parametrize("lost", ["Equation 8", "Proposition 5", "Lemma"])
@pytest.mark.parametrize("where", ["src/unflip", "checks"])
def test_what_is_missing_is_named(lost, where, monkeypatch):
    marks, checks = paper_map.marks, paper_map.checks
    if where == "checks":
        left = tuple(check for check in checks() if check.number != lost)
        monkeypatch.setattr(paper_map, "checks", lambda: left)
    else:
        monkeypatch.setattr(
            paper_map,
            "marks",
            lambda folder: tuple(p for p in marks(folder) if (folder, p.number) != (where, lost)),
        )
    (gap,) = paper_map.gaps()
    assert gap.startswith(f"{lost}: ")


def test_a_second_line_for_one_statement_is_named(monkeypatch):
    marks = paper_map.marks
    monkeypatch.setattr(paper_map, "marks", lambda folder: marks(folder) + marks(folder)[:1])
    assert any("one line of src ends in" in gap for gap in paper_map.gaps())


def test_claims_are_read_as_they_will_be_printed():
    read = {check.name: check.claim for check in paper_map.checks()}
    for check in propositions():
        if check.__module__.endswith(("symmetry", "examples")):
            assert read[check.__name__] == check().claim


def test_marks_in_texts_and_on_lines_of_their_own_do_not_count(tmp_path):
    path = tmp_path / "some.py"
    path.write_text(
        '"""# Equation 1"""\n# Equation 2\nclass A:\n    def f(self):\n        return 1  # Equation 3: x\n'
    )
    paper_map.ROOT, root = tmp_path, paper_map.ROOT
    try:
        (place,) = paper_map._marks_of(path, tmp_path)
    finally:
        paper_map.ROOT = root
    assert (place.number, place.name, place.code) == ("Equation 3", "some.A.f", "return 1")


def test_the_table_of_layers_is_the_contract():
    text = (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r"unflip\.(\w+)", CONTRACT.search(text)[1])
    assert layers.packages() == named
    rows = re.findall(r"^\| \[`(\w+)`\]", layers.table(), re.MULTILINE)
    assert rows == named


def test_arrows_follow_the_contract_and_those_left_out_follow_from_the_others():
    order = layers.packages()
    assert all(order.index(a) < order.index(b) for a, b in layers.arrows())
    reached = set(layers.needed_arrows())
    assert reached < layers.arrows()
    while more := {(a, d) for a, b in reached for c, d in reached if b == c} - reached:
        reached |= more
    assert reached >= layers.arrows()


def test_results_say_where_they_come_from():
    entries = json.loads(results.FILE.read_text(encoding="utf-8"))
    root = results.FILE.parents[1]
    for name, entry in entries.items():
        assert set(entry) == results.ENTRY, name
        assert (root / entry["program"]).is_file(), name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"]), name


def test_every_result_is_printed_and_a_wrong_number_is_put_right():
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    used = " ".join(re.findall(r"<!--(?:=| table: )([^>]+)-->", text))
    assert [name for name in results.values() if not re.search(rf"\b{name}\b", used)] == []
    page = (DOCS / "comparison.md").read_text(encoding="utf-8")
    wrong = re.sub(r"[\d.]+<!--=fit_float64-->", "9.9<!--=fit_float64-->", page)
    assert wrong != page
    assert results.filled(wrong) == page


def test_links_of_written_pages_lead_somewhere():
    for name in ("paper_map.md", "whole_library.md", "notation.md"):
        for target in re.findall(r"\]\(([^)]+)\)", (DOCS / name).read_text(encoding="utf-8")):
            file, _, anchor = target.partition("#")
            if file.startswith("https:"):
                continue
            path = DOCS / (file or name)
            assert path.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)
                assert anchor in map(paper_map._slug, headings), target
