"""The package as a whole: what importing it costs, and what it offers."""

import subprocess
import sys

import pytest

import unflip


@pytest.mark.subprocess
def test_importing_unflip_imports_nothing_heavy():
    heavy = ["numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "typer", "rich", "matplotlib"]
    code = f"import sys, unflip; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.subprocess
def test_the_estimators_need_nothing_that_scikit_learn_does_not_import_or_vendor():
    code = """
import sklearn, sys
import sklearn.utils.validation
before = {m.split(".")[0] for m in sys.modules}
from unflip import UnhingedClassifier
print(sorted({m.split(".")[0] for m in sys.modules} - before - sys.stdlib_module_names))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "['array_api_compat', 'unflip']"


def test_every_public_name_is_there():
    for name in unflip.__all__:
        assert getattr(unflip, name).__doc__
        assert name in dir(unflip)
    for module in ("losses", "noise", "moments", "theory"):
        assert getattr(unflip, module).__doc__
    assert not hasattr(unflip, "nothing_of_the_kind")
