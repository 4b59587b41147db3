"""Modules that come with an extra: imported where they are needed, and missed by the name of the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def extra(module: str, name: str) -> Any:
    """A module that the extra of this name brings.

    >>> extra("no_such_module", "magic")
    Traceback (most recent call last):
    ImportError: this needs no_such_module, which is not installed; pip install 'unflip[magic]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"this needs {error.name}, which is not installed; pip install 'unflip[{name}]'"
        ) from error
