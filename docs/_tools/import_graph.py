"""Draws the packages and their imports as docs/imports.svg: importing above, imported below.

A package stands one row above the highest of those that it imports. Arrows that follow from others are left
out. Long arrows bend round the packages between their ends: in each row they cross they take a place of
their own, and places are ordered so that arrows cross little (by the mean place of their neighbours).
Colours are readable on white and on black.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from layers import below, needed_arrows, packages

WIDTH, ROW, BOX = 820, 74, 32
LETTER, PAD, GAP, LANE = (
    9.2,
    26,
    22,
    12,
)  # pixels: a letter, around a name, between boxes, for an arrow passing

Node = tuple[str, ...]  # (package,), or (from, to, row) where an arrow passes a row


def svg() -> str:
    """The picture, as text."""
    chains = _chains(_rows())
    places = _places(_rows(), chains)
    height = (1 + max(y for _, y in places.values())) * ROW
    lines = [_curve([_at(places, node) for node in chain]) for chain in chains]
    boxes = [_box(name, *_at(places, (name,))) for name in packages()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            'font-family="system-ui, sans-serif" font-size="16">',
            "<title>The packages of unflip, each above those that it imports</title>",
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0L10 5L0 10z" fill="#858c96"/></marker></defs>',
            '<g fill="none" stroke="#858c96" stroke-width="1.6" marker-end="url(#tip)">',
            *lines,
            "</g>",
            *boxes,
            "</svg>",
            "",
        ]
    )


def _rows() -> dict[str, int]:
    """The row of each package, from 0 at the top."""
    height: dict[str, int] = {}
    for name, imported in below().items():
        height[name] = max((height[other] + 1 for other in imported), default=0)
    top = max(height.values())
    return {name: top - height[name] for name in packages()}


def _chains(rows: dict[str, int]) -> list[list[Node]]:
    """Each arrow as the places it runs through, one in each row."""
    order = packages()
    pairs = sorted(needed_arrows(), key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
    return [[(a,), *((a, b, str(row)) for row in range(rows[a] + 1, rows[b])), (b,)] for a, b in pairs]


def _places(rows: dict[str, int], chains: list[list[Node]]) -> dict[Node, tuple[float, int]]:
    """Where each node stands: x in pixels and row."""
    row_of: dict[Node, int] = {(name,): rows[name] for name in packages()}
    row_of |= {node: int(node[2]) for chain in chains for node in chain if len(node) == 3}
    beside: dict[Node, list[Node]] = {node: [] for node in row_of}
    for chain in chains:
        for upper, lower in pairwise(chain):
            beside[upper].append(lower)
            beside[lower].append(upper)
    table: list[list[Node]] = [
        [node for node in row_of if row_of[node] == row] for row in range(1 + max(rows.values()))
    ]
    x: dict[Node, float] = {}
    for nodes in table:
        _spread(nodes, dict.fromkeys(nodes, WIDTH / 2), x)
    best, least = dict(x), _cost(table, x, beside, row_of)
    for sweep in range(60):
        for step in range(len(table)):
            row = step if sweep % 2 == 0 else len(table) - 1 - step
            wish = {node: _mean([x[other] for other in beside[node]]) for node in table[row]}
            if sweep < 30:
                table[row].sort(key=lambda node: wish[node])
            _spread(table[row], wish, x)
        cost = _cost(table, x, beside, row_of)
        if cost < least:
            best, least = dict(x), cost
    left = min(best[node] - _width(node) / 2 for node in best)
    right = max(best[node] + _width(node) / 2 for node in best)
    shift = (WIDTH - left - right) / 2
    return {node: (best[node] + shift, row_of[node]) for node in best}


def _spread(nodes: list[Node], wish: dict[Node, float], x: dict[Node, float]) -> None:
    """Put a row of nodes, in their order, as near to where they wish to be as they have room.

    Less the room that those before it take, the places of a row rise: an isotonic regression of the wishes.
    """
    steps = [(_width(a) + _width(b)) / 2 + GAP for a, b in pairwise(nodes)]
    offsets = list(accumulate(steps, initial=0.0))
    groups: list[list[float]] = []
    for node, offset in zip(nodes, offsets, strict=True):
        groups.append([wish[node] - offset])
        while len(groups) > 1 and _mean(groups[-1]) < _mean(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    starts = [_mean(group) for group in groups for _ in group]
    x.update((node, start + offset) for node, start, offset in zip(nodes, starts, offsets, strict=True))


def _cost(
    table: list[list[Node]], x: dict[Node, float], beside: dict[Node, list[Node]], row_of: dict[Node, int]
) -> tuple[int, float]:
    """Crossings first, then the length of arrows sideways."""
    pieces = [(a, b) for a in x for b in beside[a] if row_of[b] == row_of[a] + 1]
    crossings = sum(
        (x[a] - x[c]) * (x[b] - x[d]) < 0
        for i, (a, b) in enumerate(pieces)
        for c, d in pieces[:i]
        if row_of[a] == row_of[c]
    )
    return crossings, sum(abs(x[a] - x[b]) for a, b in pieces)


def _width(node: Node) -> float:
    return len(node[0]) * LETTER + PAD if len(node) == 1 else LANE


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _at(places: dict[Node, tuple[float, int]], node: Node) -> tuple[float, float]:
    x, row = places[node]
    return x, (row + 0.5) * ROW


def _curve(points: list[tuple[float, float]]) -> str:
    """A smooth line from below the first box to above the last one."""
    (x0, y0), *middle, (x1, y1) = points
    stops = [(x0, y0 + BOX / 2), *middle, (x1, y1 - BOX / 2 - 1)]
    path = f"M{stops[0][0]:.0f} {stops[0][1]:.0f}"
    for (ax, ay), (bx, by) in pairwise(stops):
        half = (by - ay) / 2
        path += f"C{ax:.0f} {ay + half:.0f} {bx:.0f} {by - half:.0f} {bx:.0f} {by:.0f}"
    return f'<path d="{path}"/>'


def _box(name: str, x: float, y: float) -> str:
    width = _width((name,))
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y - BOX / 2:.0f}" width="{width:.0f}" height="{BOX}" rx="6" '
        f'fill="#2a5f9e"/><text x="{x:.0f}" y="{y + 5.5:.0f}" fill="#fff" text-anchor="middle">{name}</text>'
    )
