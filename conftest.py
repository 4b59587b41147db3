"""Set what must be set before SciPy is imported: scikit-learn skips its array API checks without it."""

import os
from importlib.util import find_spec

os.environ.setdefault("SCIPY_ARRAY_API", "1")

pytest_plugins = ["tests.array_libraries", "tests.databases"]
collect_ignore = ["tests/arrays/in_triton.py"]  # a program that a test runs
# The gallery is run by `make docs`, which also keeps its pictures; `conf.py` speaks to Sphinx only.
collect_ignore_glob = ["docs/conf.py", "docs/examples/*.py", "docs/_tools/reference.py"]
if find_spec("torch") is None or find_spec("triton") is None:  # the extra gpu
    collect_ignore += ["src/unflip/kernels/triton_gaussian.py", "src/unflip/passes/triton_sums.py"]
