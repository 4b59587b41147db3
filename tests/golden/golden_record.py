"""What the flagship and the audit say of every table, as plain numbers.

`python tests/golden/golden_record.py` writes the files that the tests compare with.
Only what is a result is kept, no sentence: words may be bettered without a word here.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from golden_tables import FRAMES, TABLES

from unflip import RobustClassifierCV, find_suspects
from unflip.audit.table import audit_table
from unflip.report.audit import as_plain

HERE = Path(__file__).parent
ARRAYS, AUDITS = HERE / "robust.npz", HERE / "audits.json"


def of_table(name):
    """Everything that a fit to this table says, by name: arrays of numbers."""
    table = TABLES[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RobustClassifierCV(**table.parameters).fit(table.X, table.y, **table.extra)
        suspects = find_suspects(table.X, table.y, n_neighbours=0, **table.extra)
        found = {
            "scores": model.decision_function(table.new),
            "probabilities": model.predict_proba(table.new),
            "predictions": np.searchsorted(model.classes_, model.predict(table.new)),
            "left out": model.loo_scores_,
            "rows": model.loo_rows_,
            "errors": model.cv_results_["loo_squared_error"],
            "weights": model.cv_results_["weight"],
            "freedom": model.cv_results_["degrees_of_freedom"],
            "best": model.best_candidate_,
            "noisy error": model.noisy_error_,
            "noise": of_noise(model.noise_),
            "clean error": of_score(model.clean_error_),
            "wrong": np.sort(np.nan_to_num(suspects.probability, nan=-1.0)),
            "doubtful": np.sort(suspects.above(0.6).rows),
            "their noise": of_noise(suspects.noise),
        }
    return {key: np.asarray(value, dtype=np.float64) for key, value in found.items()}


def of_noise(noise):
    return [noise.rate, noise.low, noise.high, noise.outer, *np.ravel(list((noise.by_class or {}).values()))]


def of_score(score):
    return [] if score is None else [score.estimate, score.low, score.high, score.noisy]


def of_audit(name):
    """What an audit of this frame finds, without its sentences."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = as_plain(audit_table(FRAMES[name](), "label"))
    kept = ("rows", "missing", "classes", "noisy_accuracy", "clean_accuracy", "guess", "more_likely_wrong")
    noise = {key: found["noise"][key] for key in ("rate", "low", "high", "outer", "identified", "by_class")}
    learners = [
        {"name": each["name"], "clean": each["clean"], "curve": [point["mean"] for point in each["curve"]]}
        for each in found["learners"]
    ]
    doubtful = [row for row in found["suspects"] if row["probability"] > 0.6]
    return {
        **{key: found[key] for key in kept},
        "noise": noise,
        "learners": learners,
        "recommended": found["recommended"] and found["recommended"]["name"],
        "suspects": sorted(doubtful, key=lambda row: row["row"]),
        "differences": [
            {key: value for key, value in row.items() if key != "words"} for row in found["differences"]
        ],
        "left_out": list(found["left_out"]),
    }


def main():
    found = {f"{name}/{key}": values for name in TABLES for key, values in of_table(name).items()}
    np.savez_compressed(ARRAYS, **found)
    AUDITS.write_text(json.dumps({name: of_audit(name) for name in FRAMES}, indent=1) + "\n")
    print(f"{len(TABLES)} tables and {len(FRAMES)} frames written", file=sys.stderr)


if __name__ == "__main__":
    main()
