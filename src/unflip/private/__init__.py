"""Learning from rows that must stay private (extra `private`): noise on the sums, or on the labels alone.

>>> labels, noise = private_labels(["no", "yes"] * 50, epsilon=1.0)
>>> sorted(set(labels.tolist())), round(noise.rate, 3)
(['no', 'yes'], 0.269)
"""

from unflip.moments.privacy import Budget
from unflip.private.labels import private_labels
from unflip.private.sums import private_moments

__all__ = ["Budget", "private_labels", "private_moments"]
