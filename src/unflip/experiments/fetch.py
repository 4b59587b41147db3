"""Bring what may not be shipped: from OpenML by data id, or the USPS file from its author's page.

What arrives is checked like any other dataset, and only then written into the user's folder.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

from unflip._atomic import write_atomically
from unflip.experiments.catalogue import CATALOGUE, Entry
from unflip.experiments.datasets import checked

USPS = "https://cs.nyu.edu/~roweis/data/usps_all.mat"
HOUSING_LABEL = "CHAS"


def fetch(name: str, data_dir: str | os.PathLike[str]) -> Path:
    """Download a dataset into a folder and return its path; `ValueError` if it is not the paper's.

    >>> fetch("car", "anywhere")
    Traceback (most recent call last):
    ValueError: car needs no fetching: it comes with unflip or scikit-learn
    """
    if name not in CATALOGUE:
        raise ValueError(f"no dataset is called {name!r}; choose one of {', '.join(CATALOGUE)}")
    entry = CATALOGUE[name]
    if entry.origin != "elsewhere":
        raise ValueError(f"{name} needs no fetching: it comes with unflip or scikit-learn")
    columns, rows = _usps() if entry.openml is None else _openml(entry)
    checked(name, entry, columns, rows)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    content = gzip.compress(text.getvalue().encode(), mtime=0)
    path = Path(data_dir, f"{name}.csv.gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda file: file.write(content))
    return path


def _openml(entry: Entry) -> tuple[list[str], list[list[str]]]:
    from sklearn.datasets import fetch_openml

    frame = fetch_openml(data_id=entry.openml, as_frame=True).frame
    label = HOUSING_LABEL if HOUSING_LABEL in frame.columns else frame.columns[-1]
    columns = [column for column in frame.columns if column != label]
    return [*columns, "target"], frame[[*columns, label]].astype(str).to_numpy().tolist()


def _usps() -> tuple[list[str], list[list[str]]]:
    """Zeros and sevens of Sam Roweis' file, whose third index runs 1, 2, ..., 9, 0."""
    from urllib.request import urlopen

    from scipy.io import loadmat

    with urlopen(USPS, timeout=60) as answer:
        images = loadmat(io.BytesIO(answer.read()))["data"]
    rows = [[*map(str, image), digit] for digit, k in (("0", 9), ("7", 6)) for image in images[:, :, k].T]
    return [*(f"pixel_{i}" for i in range(len(images))), "target"], rows
