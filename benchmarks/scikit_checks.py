"""scikit-learn's estimator checks, counted: every estimator beside the peer nearest to it.

python benchmarks/scikit_checks.py [--json]
"""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported, or array API checks are skipped

import argparse
import json
import warnings
from collections import Counter

import sklearn
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import check_estimator

import unflip


def counts(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    return Counter(result["status"] for result in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    public = [getattr(unflip, name) for name in unflip.__all__]
    ours = [kind() for kind in public if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    estimators = [*ours, NearestCentroid(), GaussianNB()]
    table = {type(e).__name__: counts(e) for e in estimators}
    columns = ("passed", "skipped", "xfail", "failed")
    if args.json:
        print(json.dumps({name: {c: row[c] for c in columns} for name, row in table.items()}))
        return
    print(f"check_estimator of scikit-learn {sklearn.__version__}")
    print(f"{'':28}" + "".join(f"{c:>9}" for c in columns))
    for name, row in table.items():
        print(f"{name:28}" + "".join(f"{row[c]:9d}" for c in columns))


if __name__ == "__main__":
    main()
