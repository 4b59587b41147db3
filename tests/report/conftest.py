import pytest
from sample import sample

from unflip.experiments.result import Result
from unflip.report import as_html


@pytest.fixture(scope="session")
def result() -> Result:
    return sample()


@pytest.fixture(scope="session")
def page(result: Result) -> str:
    return as_html(result)
