"""Models of whole tables, in files: how columns become numbers, and what was learned from them."""

from unflip.models.kernel_model import KernelModel
from unflip.models.load import load_model
from unflip.models.scaled_model import ScaledModel
from unflip.models.table_model import LEARNERS, TableModel

__all__ = ["LEARNERS", "KernelModel", "ScaledModel", "TableModel", "load_model"]
