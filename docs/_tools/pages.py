"""Writes what is generated in docs, or says what is out of date. `make pages` runs it.

python docs/_tools/pages.py [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import import_graph
import layers
import paper_map
import results

DOCS = Path(__file__).resolve().parents[1]
_PART = re.compile(r"(<!-- (layers|places) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)
_PARTS = {"layers": layers.table, "places": layers.places}

# What becomes of each page, given its text.
PAGES: dict[str, Callable[[str], str]] = {
    "paper_map.md": lambda old: paper_map.page(),
    "imports.svg": lambda old: import_graph.svg(),
    "whole_library.md": lambda old: _PART.sub(
        lambda part: f"{part[1]}\n{_PARTS[part[2]]()}\n\n{part[3]}", old
    ),
    **dict.fromkeys(["comparison.md", "kernels.md", "scaling.md", "trust.md"], results.filled),
}


def stale() -> Iterator[tuple[Path, str]]:
    """The pages that are not what they should be, each with what it should be."""
    for name, write in PAGES.items():
        path = DOCS / name
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        if (new := write(old)) != old:
            yield path, new


def main() -> int:
    """Write, or with --check only name, what is out of date; name what the paper map lacks."""
    check = "--check" in sys.argv[1:]
    missing, found = paper_map.gaps(), list(stale())
    for path, new in found:
        print(f"{path.name}: {'out of date, run `make pages`' if check else 'written'}")
        if not check:
            path.write_text(new, encoding="utf-8")
    print("\n".join(missing), end="\n" * bool(missing))
    return 1 if missing or (check and found) else 0


if __name__ == "__main__":
    sys.exit(main())
