"""Tables that people have: read from files, each column with a type; the label column; columns as numbers.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
>>> _ = path.write_text("age,sick,since\\n30,no,2020-01-31\\n,yes,2021-05-01\\n")
>>> read_table(path).dtypes
[Float64, String, Date]
"""

from unflip.tables.read import read_as_written, read_table
from unflip.tables.wanted import Habits, Wanted

__all__ = ["Habits", "Wanted", "read_as_written", "read_table"]
