"""Models of whole tables, in files: how columns become numbers, and what was learned from them."""

from unflip.models.kernel_model import KernelModel
from unflip.models.load import load_model
from unflip.models.table_model import LEARNERS, TableModel

__all__ = ["LEARNERS", "KernelModel", "TableModel", "load_model"]
