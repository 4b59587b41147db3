"""The paper's experiments: every table and figure, run again, with each printed number beside ours.

>>> from unflip.experiments import names, run
>>> result = run(["counterexample"])
>>> result.figures[0].found
'The unhinged line errs on 1/3 of the mass, that of the square loss on 0, that of the linear programme on 0.'
"""

from unflip.experiments.result import Certified, Comparison, Figure, Finding, Result, Tally
from unflip.experiments.study import names, run

__all__ = ["Certified", "Comparison", "Figure", "Finding", "Result", "Tally", "names", "run"]
