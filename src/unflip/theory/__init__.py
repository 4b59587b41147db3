"""The theory, executable: finite distributions, exact risks, minimisers, and a check for every claim.

>>> from fractions import Fraction
>>> world = long_servedio(Fraction(1, 12))
>>> for rate in (0, Fraction(2, 5)):
...     weights = linear_minimizer(world.corrupt(rate), "unhinged", regularization=1)
...     print(risk(world, "zero_one", world.points @ weights))
0
0
"""

from unflip.theory.bounds import (
    clean_regret,
    clean_regret_bound,
    deviation_bound,
    empirical_rademacher,
    rademacher_bound,
)
from unflip.theory.claims import propositions
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence
from unflip.theory.gallery import long_servedio, random_distribution, three_points
from unflip.theory.means import gaussian_kernel, linear_kernel, mmd, witness
from unflip.theory.minimizers import (
    ball_minimizer,
    bounded_minimizer,
    linear_minimizer,
    multiclass_square_scores,
    multiclass_unhinged_scores,
    programme_minimizer,
)
from unflip.theory.risks import regret, risk, stochastic_risk

__all__ = [
    "Evidence",
    "FiniteDistribution",
    "ball_minimizer",
    "bounded_minimizer",
    "clean_regret",
    "clean_regret_bound",
    "deviation_bound",
    "empirical_rademacher",
    "gaussian_kernel",
    "linear_kernel",
    "linear_minimizer",
    "long_servedio",
    "mmd",
    "multiclass_square_scores",
    "multiclass_unhinged_scores",
    "programme_minimizer",
    "propositions",
    "rademacher_bound",
    "random_distribution",
    "regret",
    "risk",
    "stochastic_risk",
    "three_points",
    "witness",
]
