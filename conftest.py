"""What holds for all tests: settings, what is not collected, and which tests are the quick ones.

`make check` runs pytest with `--quick`, which leaves out what is marked slow, subprocess, browser or cluster
(a decorator, or one line `pytestmark = pytest.mark.slow` for a file), and of each parametrised test all but a
few members, evenly spread. A quick test that starts another Python fails, and says which mark it lacks.
"""

import os
import sys
from collections import defaultdict
from importlib.util import find_spec

import pytest

# Before SciPy is imported: scikit-learn skips its array API checks without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Processes that share the cores wait for each other's threads of BLAS: what takes a second alone takes nine.
# Tests that walk threaded code ask for `two_threads`.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

NOT_QUICK = {"slow", "subprocess", "browser", "cluster"}
FEW_MEMBERS = 4

pytest_plugins = ["tests.array_libraries", "tests.databases"]
collect_ignore = ["tests/arrays/in_triton.py"]  # a program that a test runs
# The gallery is run by `make docs`, which also keeps its pictures; `conf.py` speaks to Sphinx only.
collect_ignore_glob = ["docs/conf.py", "docs/examples/*.py", "docs/_tools/reference.py"]
if find_spec("torch") is None or find_spec("triton") is None:  # the extra gpu
    collect_ignore += ["src/unflip/kernels/triton_gaussian.py", "src/unflip/passes/triton_sums.py"]


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out what takes long, as `make check` does")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.cluster)
            item.add_marker(pytest.mark.xdist_group("cluster"))  # one cluster a run
    if config.getoption("quick"):
        quick = quick_ones(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in quick])
        items[:] = [item for item in items if item in quick]


def quick_ones(items):
    """Those without a mark, and of each parametrised test a few members, first and last among them."""
    members = defaultdict(list)
    for item in items:
        if not NOT_QUICK & {mark.name for mark in item.iter_markers()}:
            members[item.nodeid.partition("[")[0]].append(item)
    chosen = set()
    for family in members.values():
        n = min(len(family), FEW_MEMBERS)
        chosen.update(family[k * (len(family) - 1) // max(n - 1, 1)] for k in range(n))
    return chosen


@pytest.fixture
def two_threads():
    """Whatever goes by threads goes by two, on any machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(2, "blas"):
        yield


@pytest.fixture(autouse=True)
def no_other_python(request):
    """Whether a quick test starts another Python, which takes a second by itself."""
    guard.watching = request.config.getoption("quick")
    yield
    guard.watching = False


class Guard:
    """An audit hook, which Python does not let us remove."""

    watching = False

    def __call__(self, event, arguments):
        if self.watching and event == "subprocess.Popen" and str(arguments[0]) == sys.executable:
            self.watching = False
            pytest.fail("a quick test started another Python: mark it with pytest.mark.subprocess")


guard = Guard()
sys.addaudithook(guard)
