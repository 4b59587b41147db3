"""What a long pass keeps, so that it can be interrupted: the moments so far, and how far that is."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unflip._files import brief, load_arrays, save_arrays
from unflip.features import Transformed
from unflip.moments.files import as_facts, as_fields, refuse_labels
from unflip.moments.moments import Moments

PARTS_BETWEEN = 8  # one saved state and the next


@dataclass(frozen=True)
class Checkpoint:
    """A file beside a pass, whose `identity` tells what is summed and how. Without a path it does nothing."""

    path: Path | None
    identity: str = ""

    @classmethod
    def beside(
        cls, path: str | os.PathLike[str] | None, source: Any, features: Any, degree: int, summation: str
    ) -> Checkpoint:
        """For one pass over one source."""
        if path is None:
            return cls(None)
        data = getattr(source, "fingerprint", "")
        key = "" if features is None else getattr(features, "key", None) or Transformed(features).key
        what = json.dumps([data, key, degree, summation])
        return cls(Path(path), hashlib.sha256(what.encode()).hexdigest())

    def load(self) -> tuple[int, Moments | None]:
        """How many parts were summed, and their moments; none of them if there is no file."""
        if self.path is None or not self.path.exists():
            return 0, None
        facts, arrays = load_arrays(self.path, "checkpoint")
        if facts.get("identity") != self.identity:
            raise ValueError(
                f"{self.path} belongs to other data, features or sums; delete it, or name another file"
            )
        position = facts.get("position")
        if set(facts) != {"identity", "position", "moments"} or type(position) is not int or position < 0:
            raise ValueError(f"{self.path} does not hold a checkpoint")
        try:
            return position, Moments(**as_fields(facts["moments"], arrays))
        except (TypeError, ValueError, LookupError, ArithmeticError, RecursionError) as error:
            raise ValueError(f"{self.path} does not hold moments: {brief(error)}") from None

    def save(self, position: int, moments: Moments | None) -> None:
        """Keep this, every few parts."""
        if self.path is None or moments is None:
            return
        refuse_labels(moments.classes)  # each time, for it is early to say so
        if position % PARTS_BETWEEN:
            return
        facts, arrays = as_facts(moments)
        save_arrays(
            self.path,
            "checkpoint",
            {"identity": self.identity, "position": position, "moments": facts},
            arrays,
        )

    def done(self) -> None:
        """The pass is complete: nothing is left to go on with."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
