"""unflip: learn classifiers from labels you cannot trust."""

__version__ = "0.1.0"
