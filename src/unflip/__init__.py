"""unflip: learn classifiers from labels you cannot trust.

>>> from unflip import UnhingedClassifier
>>> UnhingedClassifier().fit([[0.0], [1.0], [5.0]], ["no", "no", "yes"]).predict([[4.0]]).tolist()
['yes']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unflip.audit import (
        RobustnessCurveDisplay,
        SuspectsDisplay,
        estimate_noise,
        find_suspects,
        robustness_curve,
    )
    from unflip.audit.denoise import DenoisedClassifier, denoise
    from unflip.audit.table import audit_table
    from unflip.estimators import (
        BoundedUnhingedClassifier,
        LossClassifier,
        SquareClassifier,
        UnhingedClassifier,
    )
    from unflip.estimators.kernel import KernelUnhingedClassifier
    from unflip.estimators.kernel_square import KernelSquareClassifier
    from unflip.estimators.noise_corrected import NoiseCorrectedClassifier
    from unflip.estimators.probing import ProbingClassifier
    from unflip.robust import RobustClassifierCV

__version__ = "0.1.0"

__all__ = [
    "BoundedUnhingedClassifier",
    "DenoisedClassifier",
    "KernelSquareClassifier",
    "KernelUnhingedClassifier",
    "LossClassifier",
    "NoiseCorrectedClassifier",
    "ProbingClassifier",
    "RobustClassifierCV",
    "RobustnessCurveDisplay",
    "SquareClassifier",
    "SuspectsDisplay",
    "UnhingedClassifier",
    "audit_table",
    "denoise",
    "estimate_noise",
    "find_suspects",
    "robustness_curve",
]

_HOMES = {  # of what costs more to import than the plain classifiers
    "KernelSquareClassifier": "unflip.estimators.kernel_square",
    "KernelUnhingedClassifier": "unflip.estimators.kernel",
    "NoiseCorrectedClassifier": "unflip.estimators.noise_corrected",
    "ProbingClassifier": "unflip.estimators.probing",
    "RobustClassifierCV": "unflip.robust",
    "RobustnessCurveDisplay": "unflip.audit",
    "DenoisedClassifier": "unflip.audit.denoise",
    "SuspectsDisplay": "unflip.audit",
    "audit_table": "unflip.audit.table",
    "denoise": "unflip.audit.denoise",
    "estimate_noise": "unflip.audit",
    "find_suspects": "unflip.audit",
    "robustness_curve": "unflip.audit",
}

_MODULES = (
    "audit",
    "compress",
    "estimators",
    "experiments",
    "export",
    "features",
    "kernels",
    "losses",
    "models",
    "moments",
    "noise",
    "private",
    "report",
    "selection",
    "sources",
    "tables",
    "theory",
)


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import unflip` costs nothing that is not needed."""
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "unflip.estimators")), name)
    if name in _MODULES:
        return import_module(f"unflip.{name}")
    raise AttributeError(f"module 'unflip' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
