"""The promises of `make faults`, at a size that takes seconds: the same programs, with smaller numbers."""

import importlib

import pytest
from benchmarks.faults.__main__ import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_promise_is_kept_at_small_size(name):
    program = importlib.import_module(f"benchmarks.faults.{name}")
    broken = [f"{found.promise}: {found.result}" for found in program.run(**program.SMALL) if not found.kept]
    assert not broken, broken
