"""The flagship and the audit say today what they said when these files were written, to a millionth.

Not a proof that it is right: other tests do that. A net under whoever moves code: a difference is a
mistake, or an improvement that the commit explains, which writes the files anew.
"""

import json

import numpy as np
import pytest
from golden_record import ARRAYS, AUDITS, of_audit, of_table
from golden_tables import FRAMES, TABLES

NEAR = 1e-6  # of the largest number of an array
# A table of noise for several classes is found by an optimiser, which stops within this of the best: machines
# that round otherwise stop at other places. (OPENBLAS_CORETYPE=Nehalem makes another machine of this one.)
SEARCHED = 1e-4
pytestmark = pytest.mark.usefixtures("two_threads")  # what threads share is in here
FROM_TABLES = {"noise", "their noise", "clean error", "wrong"}
CORRECTED = FROM_TABLES | {"scores", "probabilities", "left out", "noisy error"}  # by such a table


@pytest.mark.parametrize("name", TABLES)
def test_a_fit_says_what_it_said(name):
    with np.load(ARRAYS) as kept:
        expected = {key.partition("/")[2]: kept[key] for key in kept if key.partition("/")[0] == name}
    found = of_table(name)
    assert found.keys() == expected.keys()
    several, by_class = found["probabilities"].shape[1] > 2, found["noise"].size > 4
    searched = (CORRECTED if by_class else FROM_TABLES) if several else set()
    differ = [
        key for key in found if not close(found[key], expected[key], SEARCHED if key in searched else NEAR)
    ]
    assert not differ, f"{differ} of {name!r} differ from what is kept in {ARRAYS.name}"


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.slow
def test_an_audit_says_what_it_said(name):
    assert_alike(of_audit(name), json.loads(AUDITS.read_text())[name])


def close(found, expected, near):
    if found.shape != expected.shape:
        return False
    return np.allclose(found, expected, rtol=0, atol=near * np.abs(expected).max(initial=1e-300))


def assert_alike(found, expected, where="audit"):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            assert_alike(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{where}[{place}]")
    else:
        assert found == (
            pytest.approx(expected, rel=NEAR, abs=NEAR) if isinstance(expected, float) else expected
        ), where
