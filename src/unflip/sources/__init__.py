"""Where rows come from.

>>> batch = arrays([[1.0], [2.0]], [0, 1])
>>> batch.X.shape
(2, 1)
"""

from unflip.sources.batch import Batch, arrays, batches
from unflip.sources.labels import Labels, encode
from unflip.sources.source import Source

__all__ = ["Batch", "Labels", "Source", "arrays", "batches", "encode"]
