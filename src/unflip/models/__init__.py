"""Models of whole tables, in files: how columns become numbers, and the sums that were learned from them."""

from unflip.models.table_model import LEARNERS, TableModel

__all__ = ["LEARNERS", "TableModel"]
