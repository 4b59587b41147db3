"""The old place of `unflip.robust`."""

from unflip.robust import Guarantee, RobustClassifierCV

__all__ = ["Guarantee", "RobustClassifierCV"]
