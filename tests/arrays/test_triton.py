"""Our kernels for GPUs, by Triton's interpreter on the CPU, in a process that is told so from the start."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("in_triton.py")


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("what", ["sums", "fits", "scores"])
def test_kernels_agree_with_the_plain_way(what):
    run = subprocess.run(
        [sys.executable, PROGRAM, what],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if "only 0-dimensional arrays can be converted to Python scalars" in run.stderr:
        pytest.skip("the interpreter of this Triton does not work with this NumPy")
    assert run.returncode == 0, run.stderr
