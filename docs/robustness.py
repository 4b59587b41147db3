"""Draws docs/robustness.svg: what label noise does to five learners on Long and Servedio's three points.

    python docs/robustness.py

Every number is the exact error of the minimiser on the noisy population, measured on clean labels.
"""

from pathlib import Path

import numpy as np

from unflip import LossClassifier
from unflip.theory.gallery import long_servedio

LEARNERS = {
    "unhinged": ("unhinged", "#0b7a75"),
    "square": ("square loss", "#7b6d8d"),
    "t_logistic": ("t-logistic, not convex", "#d68c45"),
    "logistic": ("logistic regression", "#2c699a"),
    "hinge": ("support vector machine", "#b3001b"),
}
RATES = np.linspace(0, 0.45, 46)


def errors(name: str) -> list[float]:
    """The clean error at each rate; each point is there once as a positive, once as a negative."""
    clean = long_servedio(1 / 24)
    points, masses = clean.points.astype(float), clean.masses.astype(float)
    result = []
    for rate in RATES:
        model = LossClassifier(name, regularization=1e-6, fit_intercept=False)
        model.fit(
            np.vstack([points, points]),
            np.repeat([1, -1], len(masses)),
            np.concatenate([masses * (1 - rate), masses * rate]) + 1e-15,
        )
        result.append(float(masses @ (model.predict(points) != 1)))
    return result


def main() -> None:
    """Write the picture."""
    left, top, width, height = 70, 30, 520, 250
    curves = {name: errors(name) for name in LEARNERS}

    def at(rate: float, error: float) -> str:
        return f"{left + rate / 0.45 * width:.1f},{top + (0.55 - error) / 0.55 * height:.1f}"

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 350" '
        'font-family="sans-serif" font-size="14">',
        '<rect width="860" height="350" fill="white"/>',
    ]
    for error in (0, 0.25, 0.5):
        a, b = at(0, error), at(0.45, error)
        parts.append(f'<polyline points="{a} {b}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{left - 10}" y="{float(a.split(",")[1]) + 5}" text-anchor="end">{error:g}</text>'
        )
    for rate in (0, 0.1, 0.2, 0.3, 0.4):
        x = at(rate, 0).split(",")[0]
        parts.append(f'<text x="{x}" y="{top + height + 22}" text-anchor="middle">{rate:.0%}</text>')
    parts.append(
        f'<text x="{left + width / 2}" y="{top + height + 48}" text-anchor="middle">labels flipped</text>'
    )
    parts.append(f'<text x="{left - 60}" y="{top - 10}">error on clean labels</text>')
    for i, (name, (label, color)) in enumerate(LEARNERS.items()):
        shift = 2.5 * (2 - i)  # so that curves on the same level stay visible
        points = " ".join(at(r, e) for r, e in zip(RATES, curves[name], strict=True))
        parts.append(
            f'<g transform="translate(0,{shift})"><polyline points="{points}" fill="none" stroke="{color}" '
            'stroke-width="2.5"/></g>'
        )
        y = top + 30 + 26 * i
        parts.append(f'<line x1="610" x2="634" y1="{y}" y2="{y}" stroke="{color}" stroke-width="3"/>')
        parts.append(f'<text x="642" y="{y + 5}">{label}</text>')
    parts.append("</svg>")
    Path(__file__).with_suffix(".svg").write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
