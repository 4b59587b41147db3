"""A command in a folder of its own, and a table for it."""

import sys

import numpy as np
import polars as pl
import pytest

from unflip.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run a command in this process, in a folder of its own; its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["unflip", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return command


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.5
    return pl.DataFrame(
        {
            "id": range(n),
            "age": (40 + 15 * sick + rng.normal(0, 6, n)).round(1),
            "city": rng.choice(["Bonn", "Köln", "Trier"], n).tolist(),
            "sick": ["yes" if s else "no" for s in sick],
        }
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path
