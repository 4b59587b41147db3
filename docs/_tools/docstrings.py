"""Our docstrings are plain text with `code` in backticks; Sphinx expects reStructuredText. This translates.

Bars around |phi| and stars between factors mean something else there, so everything is escaped but what we
use: paragraphs, lists, blocks of examples, indented formulas, and lists of parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_CODE = re.compile(r"``([^`]+)``|`([^`]+)`")
_SPECIAL = re.compile(r"([\\*|_`\[\]<>])")
_ENTRY = re.compile(r"([a-z_]\w*|X)(, ([a-z_]\w*|X))*: ")


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What Sphinx calls for every docstring; `lines` are replaced where they are."""
    if not any(line.startswith((":param", ".. ")) for line in lines):  # reStructuredText already
        lines[:] = translated(lines)


def translated(lines: Iterable[str]) -> list[str]:
    """A docstring as reStructuredText.

    >>> translated(["The norm |x| of `x`.", "", ">>> 1", "1"])
    ['The norm \\\\|x\\\\| of ``x``.', '', '.. code-block:: pycon', '', '   >>> 1', '   1', '']
    >>> translated(["rate: how many", "  labels are wrong", "seed: a number"])
    ['- ``rate``: how many labels are wrong', '- ``seed``: a number', '']
    """
    return [line for block in _blocks(lines) for line in _block(block)]


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """What lies between blank lines; an example begins a block of its own."""
    block: list[str] = []
    for line in [*lines, ""]:
        begins = line.startswith(">>>") and not (block and block[0].startswith(">>>"))
        if block and (not line.strip() or begins):
            yield block
            block = []
        if line.strip():
            block.append(line.rstrip())


def _block(block: list[str]) -> list[str]:
    first = block[0]
    if first.startswith(">>>"):
        return [".. code-block:: pycon", "", *(f"   {line}" for line in block), ""]
    if first.startswith("    "):
        return ["::", "", *(f"   {line}" for line in block), ""]
    if len(block) > 1 and re.fullmatch("-{3,}", block[1]):
        return [f"**{first}**", "", *_block(block[2:])] if block[2:] else [f"**{first}**", ""]
    if first.startswith("- "):
        return [*(f"- {_text(item)}" for item in _items(block, "- ")), ""]
    if _ENTRY.match(first):
        return [*(f"- {_entry(item)}" for item in _items(block, _ENTRY)), ""]
    return [_text(" ".join(line.strip() for line in block)), ""]


def _items(block: list[str], start: str | re.Pattern[str]) -> list[str]:
    """The entries of a list, each on one line."""
    items: list[str] = []
    for line in block:
        begins = line.startswith(start) if isinstance(start, str) else start.match(line)
        if begins:
            items.append(line.removeprefix("- "))
        else:
            items[-1] += f" {line.strip()}"
    return items


def _entry(item: str) -> str:
    names, text = item.split(": ", 1)
    return f"{', '.join(f'``{name}``' for name in names.split(', '))}: {_text(text)}"


def _text(text: str) -> str:
    """Escaped, but for code."""
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_SPECIAL.sub(r"\\\1", text[end : code.start()]), _role(code[1] or code[2], text, code)]
        end = code.end()
    return "".join([*parts, _SPECIAL.sub(r"\\\1", text[end:])])


def _role(code: str, text: str, match: re.Match[str]) -> str:
    """Code between characters that reStructuredText would not let it touch gets an escaped space."""
    before = text[match.start() - 1 : match.start()]
    after = text[match.end() : match.end() + 1]
    left = "\\ " if before and not before.isspace() and before not in "([{\"'" else ""
    right = "\\ " if after.isalnum() else ""
    return f"{left}``{code.strip()}``{right}"
