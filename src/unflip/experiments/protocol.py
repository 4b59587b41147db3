"""The choices that the paper leaves open, as data: `data/protocols.toml` holds them all."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from unflip.experiments.batch import CLOSED

DECLARED = "declared"


@dataclass(frozen=True)
class Protocol:
    """One way to run the experiments on one dataset; the file explains every field.

    source: the dataset to read, where it is not the one in the table.

    >>> Protocol().scaling
    'min-max'
    """

    summary: str = ""
    encoding: str = "one-hot"
    scaling: str = "min-max"
    bias: bool = True
    train_share: float = 0.8
    threshold: str = "tuned"
    gamma: str = "1/12"
    masses: tuple[str, ...] = ("1/4", "1/2", "1/4")
    features: str = "normal"
    source: str = ""


def protocol(dataset: str, name: str = DECLARED) -> Protocol:
    """The protocol of a dataset: the declared one, or a variant of it.

    >>> protocol("long").bias, protocol("iris").bias, protocol("iris", "no-bias").bias
    (False, True, False)
    """
    table = _file()
    chosen: dict[str, Any] = {**_settings(table[DECLARED]), **table[DECLARED].get(dataset, {})}
    if name != DECLARED:
        if name not in variants(dataset):
            known = ", ".join([DECLARED, *variants(dataset)])
            raise ValueError(f"{dataset} has no protocol called {name!r}; choose one of {known}")
        changes = table["variants"][name].items()
        chosen |= {key: value for key, value in changes if key not in ("datasets", "losses")}
    if "masses" in chosen:
        chosen["masses"] = tuple(chosen["masses"])
    return Protocol(**chosen)


def variants(dataset: str) -> list[str]:
    """The names of the variants that a dataset has.

    >>> variants("mease")
    ['text', 'uniform', 'normal-no-bias']
    """
    usual = () if dataset in ("long", "mease") else (dataset,)
    return [
        name for name, changes in _file()["variants"].items() if dataset in changes.get("datasets", usual)
    ]


def losses_of(name: str) -> tuple[str, ...]:
    """The losses that a variant is tried on.

    >>> losses_of("raw"), len(losses_of("uniform"))
    (('square', 'unhinged'), 5)
    """
    return tuple(_file()["variants"][name].get("losses", CLOSED))


def differs_in_threshold(dataset: str, name: str) -> bool:
    """Is the threshold all that a variant changes? Then the fits of the declared protocol serve it too.

    >>> differs_in_threshold("iris", "zero-threshold"), differs_in_threshold("iris", "raw")
    (True, False)
    """
    usual, other = protocol(dataset), protocol(dataset, name)
    return replace(other, threshold=usual.threshold, summary=usual.summary) == usual


def described(name: str) -> dict[str, Any]:
    """What the file says of a protocol, as plain data for a report.

    >>> described("uniform")["summary"]
    'uniform on [0, 1], with a bias'
    """
    return dict(_file()[DECLARED] if name == DECLARED else _file()["variants"][name])


def number(text: str) -> float:
    """A number that may be written as a fraction.

    >>> number("1/4")
    0.25
    """
    return float(Fraction(text))


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(files("unflip.experiments").joinpath("data", "protocols.toml").read_text())


def _settings(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if not isinstance(value, dict)}
