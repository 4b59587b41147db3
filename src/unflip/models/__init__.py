"""Models of whole tables, in files: how columns become numbers, and what was learned from them."""

from unflip.models.load import KernelModel, ScaledModel, load_model
from unflip.models.sums import LEARNERS
from unflip.models.table_model import TableModel

__all__ = ["LEARNERS", "KernelModel", "ScaledModel", "TableModel", "load_model"]
