"""Every claim of the paper holds, is complete, and can be written down."""

import inspect
import json
import re
from dataclasses import asdict
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from unflip.theory import Evidence, propositions
from unflip.theory.evidence import agree, at_most, exceeds

CHECKS = list(propositions())
CHAPTERS = sorted({check.__module__ for check in CHECKS})
pytestmark = pytest.mark.xdist_group("claims")  # one process runs them all, so that none is run twice


@pytest.fixture(scope="session")
def evidence_of():
    """What a check says; each is run once, whoever asks."""
    return cache(lambda check: check())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_claim_holds(check, evidence_of):
    evidence = evidence_of(check)
    assert evidence.holds, evidence
    assert evidence.gap >= 0
    assert all(
        type(value) is float and np.isfinite(value) for value in (evidence.left, evidence.right, evidence.gap)
    )
    assert type(evidence.holds) is bool
    assert json.loads(json.dumps(asdict(evidence)))["claim"] == evidence.claim
    assert re.match(
        r"(Equation|Proposition|Lemma|Section|Appendix|Figure|Proof|Multiclass|Scores)", evidence.claim
    )


@pytest.mark.slow
def test_every_numbered_statement_of_the_paper_is_among_the_claims(evidence_of):
    claims = [evidence_of(check).claim for check in CHECKS]
    for label in (
        [f"Equation {i}" for i in range(1, 15)] + [f"Proposition {i}" for i in range(1, 10)] + ["Lemma"]
    ):
        assert any(re.match(rf"{label}\b", claim) for claim in claims), label
    for label in ("Proposition 3", "Proposition 4"):
        assert any(claim.startswith(f"{label} (if)") for claim in claims)
        assert any(claim.startswith(f"{label} (only if)") for claim in claims)
    assert len(set(claims)) == len(claims)


def test_no_check_is_left_out_of_the_list():
    for chapter in CHAPTERS:
        module = import_module(chapter)
        written = [
            value
            for name, value in inspect.getmembers(module, inspect.isfunction)
            if value.__module__ == chapter
            and not name.startswith("_")
            and inspect.signature(value).return_annotation == "Evidence"
        ]
        assert set(written) == set(module.CLAIMS)


def test_a_check_needs_no_arguments_and_says_what_it_checks():
    assert [
        check for check in CHECKS if inspect.signature(check).parameters or not inspect.getdoc(check)
    ] == []


def test_checks_that_draw_numbers_repeat_themselves(evidence_of):
    drawing = [check for check in CHECKS if check.__module__.endswith(("sampling", "robustness", "beyond"))]
    assert [check() for check in drawing] == [evidence_of(check) for check in drawing]


def test_agreement_shows_the_worst_pair_and_fails_beyond_its_tolerance():
    assert agree("A: b", [(1.0, 1.0), (2.0, 2.5)], 0.4) == Evidence("A: b", 2.0, 2.5, 0.5, False)
    assert agree("A: b", [(1.0, 1.0), (2.0, 2.5)], 0.5).holds
    assert not agree("A: b", [(np.nan, 1.0)], 0.5).holds


@pytest.mark.parametrize("compare", [agree, at_most, exceeds])
def test_a_pair_without_a_value_does_not_hide_behind_one_that_holds(compare):
    fine = (2.0, 1.0) if compare is exceeds else (1.0, 1.0)
    for pairs in ([fine, (np.nan, 1.0)], [(np.nan, 1.0), fine]):
        assert not compare("A: b", pairs).holds


def test_bounds_show_the_tightest_pair_and_fail_when_crossed():
    assert at_most("A: b", [(1, 5), (2, 3)]) == Evidence("A: b", 2.0, 3.0, 0.0, True)
    assert at_most("A: b", [(1, 5), (4, 3)]) == Evidence("A: b", 4.0, 3.0, 1.0, False)
    assert exceeds("A: b", [(2, 1), (9, 1)]) == Evidence("A: b", 2.0, 1.0, 0.0, True)
    assert exceeds("A: b", [(1, 1)]).holds is False
