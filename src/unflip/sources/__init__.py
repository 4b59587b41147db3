"""Where rows come from.

>>> batch = arrays([[1.0], [2.0]], [0, 1])
>>> batch.X.shape
(2, 1)
"""

from unflip.border.labels import Labels, encode
from unflip.sources.arrow import arrow
from unflip.sources.batch import Batch, arrays, batches
from unflip.sources.csv import csv
from unflip.sources.dask import dask
from unflip.sources.frame import frame
from unflip.sources.parquet import parquet
from unflip.sources.source import Source, Stream
from unflip.sources.sql import sql

__all__ = [
    "Batch",
    "Labels",
    "Source",
    "Stream",
    "arrays",
    "arrow",
    "batches",
    "csv",
    "dask",
    "encode",
    "frame",
    "parquet",
    "sql",
]
