"""How shares and intervals are written wherever a person reads them."""

from __future__ import annotations


def share(value: float | None) -> str:
    """A share in percent, which says 0 and 100 only where that is exact.

    >>> share(0.2041), share(0.0001), share(0.9999), share(1.0), share(None)
    ('20.4 %', '0.1 %', '99.9 %', '100 %', '–')
    """
    if value is None:
        return "–"
    if value <= 0 or value >= 1:
        return "0 %" if value <= 0 else "100 %"
    return f"{min(max(100 * value, 0.1), 99.9):.1f} %"


def interval(low: float, high: float) -> str:
    """From here to there.

    >>> interval(0.181, 0.223)
    '18.1 % to 22.3 %'
    """
    return f"{share(low)} to {share(high)}"
