"""The datasets of the paper, as facts: where each comes from and what it must look like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """What is known of a dataset before it is loaded.

    origin: "shipped" with the package, from "scikit-learn", or "elsewhere": a folder of the user, or fetched.
    n_rows, n_columns, n_positives: checked after loading. positive: the class the paper counts as positive,
        inferred from its share; the paper does not name it. categorical: are the columns categories?
    digest: SHA-256 of the content, whatever the spelling of numbers and, unless `ordered`, the order of rows.
    openml: the data id at OpenML, where that serves.
    """

    origin: str
    n_rows: int
    n_columns: int
    positive: str
    n_positives: int
    categorical: bool = False
    ordered: bool = False
    digest: str = ""
    openml: int | None = None


CATALOGUE = {
    "iris": Entry(
        "scikit-learn",
        150,
        4,
        "setosa",
        50,
        digest="2e3a2bd7cbe34f1bc74dbb65780804e469a9aefa96abc97de4e037c4d49ed2c7",
    ),
    "ionosphere": Entry(
        "shipped",
        351,
        34,
        "b",
        126,
        digest="d7f519a6a2b286a542e7f475aacdbc465bbcb7246d93a43723f4ae624f7cd97b",
    ),
    "housing": Entry(
        "elsewhere",
        506,
        13,
        "1",
        35,
        digest="b5bd3e069b70addeac572efa8d5aa2c55f6e6a9abfdc30aafe372afe6c2a8c16",
        openml=531,
    ),
    "car": Entry(
        "shipped",
        1728,
        6,
        "vgood",
        65,
        categorical=True,
        digest="52235f455175fc77d335b6b7f689098746abca6516bd770e52eb50fe369ee9f1",
    ),
    "usps_0_vs_7": Entry(
        "elsewhere",
        2200,
        256,
        "0",
        1100,
        digest="cd0d927f8938e13fc3d443d286a438d79d76f695a9cbbb3bf1ca191299926ee8",
    ),
    "splice": Entry(
        "shipped",
        3190,
        60,
        "EI",
        767,
        categorical=True,
        digest="3fbd73833a8c02c4f87e6ed1d1bbd05d066f9fde9dc6cc7eb5d747e11a93f3eb",
    ),
    "splice_with_names": Entry(
        "elsewhere",
        3190,
        61,
        "EI",
        767,
        categorical=True,
        ordered=True,  # its rows are coded in order of appearance
        digest="dce51ac2b314b4367cb310f5d9dd60190fe617ecf16768c646e9995792b42199",
        openml=46,
    ),
    "spambase": Entry(
        "shipped",
        4601,
        57,
        "1",
        1813,
        digest="fd7d5a6dc9a15d64953a6ad143fba141f7f52793ae78b9183043c84a258396c0",
    ),
}
