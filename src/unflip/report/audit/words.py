"""How counts and texts from files are written in every form of an audit."""

from __future__ import annotations

from typing import Any

LONGEST = 80  # characters of a label, a name or an identifier


def shown(value: Any, most: int = LONGEST) -> str:
    """Any value as one line that can be read: no control characters, not too long.

    >>> shown("two\\nlines"), shown("\\x1b[31mred"), shown("abcdef", 4), shown(None)
    ('two lines', '\ufffd[31mred', 'abc…', '–')
    """
    if value is None:
        return "–"
    text = " ".join(str(value)[: 10 * most].split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return text if len(text) <= most else text[: most - 1] + "…"


def counted(count: int, one: str, many: str = "") -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
