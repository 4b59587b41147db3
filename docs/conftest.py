"""What the examples on these pages need when they are run as tests."""

import pytest

# The gallery is run by `make docs`, which also keeps its pictures; `conf.py` speaks to Sphinx only.
collect_ignore_glob = ["conf.py", "examples/*.py", "_tools/reference.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """ibis 12 calls something of DuckDB 2 that is going away."""
    for item in items:
        if item.path.name == "database.md":
            item.add_marker(pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"))
