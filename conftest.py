"""Set what must be set before SciPy is imported: scikit-learn skips its array API checks without it."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
