"""The promises of `make faults`, at a size that takes seconds: the same programs, with smaller numbers.

Each runs in a process of its own, as in `make faults`: some measure memory, some fork.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.faults.__main__ import PROGRAMS

ROOT = Path(__file__).parents[2]
ELSEWHERE = ("scikit_checks", "bad_input")  # tests/contracts walks their tables, case by case
pytestmark = pytest.mark.subprocess


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ELSEWHERE])
def test_a_promise_is_kept_at_small_size(name):
    command = [sys.executable, "-m", f"benchmarks.faults.{name}", "--small"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_COLOR": "1"}, capture_output=True, text=True
    )
    broken = [line for line in done.stdout.splitlines() if line.endswith("| NO |")]
    assert done.returncode == 0, broken or done.stderr[-2000:]
    assert "| yes |" in done.stdout


@pytest.mark.parametrize(("kept", "code"), [(True, 0), (False, 1)])
def test_the_table_has_every_program_and_one_broken_promise_is_enough_to_fail(tmp_path, kept, code):
    for name in PROGRAMS:
        row = {"promise": name, "size": "1", "result": "", "kept": kept or name != "files"}
        (tmp_path / f"{name}.json").write_text(json.dumps([row]))
    command = [sys.executable, "-m", "benchmarks.faults", "--resume", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()[2:]] == list(PROGRAMS)
    assert tmp_path.with_suffix(".md").read_text() == done.stdout
