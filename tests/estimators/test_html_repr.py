"""In a notebook an estimator is shown as scikit-learn shows its own, fitted or not."""

from html.parser import HTMLParser

import numpy as np
import pytest

from unflip import RobustClassifierCV, SquareClassifier, UnhingedClassifier
from unflip.features import Standardize

X = np.random.default_rng(0).normal(size=(80, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")
MODELS = {
    "unhinged": UnhingedClassifier(),
    "square": SquareClassifier(features=Standardize(), regularization=0.5),
    "chosen": RobustClassifierCV(),
}


class Words(HTMLParser):
    """The visible text of a page, and whether its tags are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.words = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in ("input", "path", "br", "meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words += data.split()


@pytest.mark.parametrize("name", MODELS)
def test_the_page_names_the_estimator_its_parameters_and_whether_it_is_fitted(name):
    model = MODELS[name]
    before = Words(model._repr_html_())
    model.fit(X, Y)
    after = Words(model._repr_html_())
    for page in (before, after):
        assert not page.open
        assert type(model).__name__ in page.words
        assert set(model.get_params(deep=False)) <= set(page.words)
    said = [" ".join(page.words) for page in (before, after)]
    assert "Not fitted" in said[0]
    assert "Not fitted" not in said[1]
    assert "Fitted" in said[1]


def test_a_parameter_that_was_set_is_shown_with_its_value():
    words = Words(SquareClassifier(regularization=0.125)._repr_html_()).words
    assert words[words.index("regularization") + 1] == "0.125"


def test_a_map_inside_is_shown_too():
    assert "Standardize()" in " ".join(Words(MODELS["square"]._repr_html_()).words)
