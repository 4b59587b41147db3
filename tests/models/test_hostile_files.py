"""Model files from strangers: a right checksum lets no nonsense in, and no file costs more than its size."""

import io
import json
import os
import subprocess
import tracemalloc
import zipfile

import numpy as np
import pytest
from tests.models.test_table_model import frame

from unflip import _files
from unflip.features import Tabular
from unflip.features.levels import Levels
from unflip.models import KernelModel, ScaledModel, TableModel, load_model, table_facts
from unflip.models.table_facts import as_facts, from_facts
from unflip.moments import Moments, accumulate
from unflip.tables.column_kinds import Categories

MODELS = {
    "model": lambda data: TableModel.fit(data, "label"),
    "kernel model": lambda data: KernelModel.fit(data, "label"),
    "scaled model": lambda data: ScaledModel.fit(data, "label", "kernel"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of one file of each kind."""
    path, found = tmp_path_factory.mktemp("models") / "model.npz", {}
    for kind, fit in MODELS.items():
        fit(frame(80)).save(path)
        found[kind] = path.read_bytes()
    return found


def zipped(members, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda members: zipped([(_files.HEADER, b" " * 10**8)], zipfile.ZIP_DEFLATED), "it is compressed"),
        (lambda members: zipped([*members.items(), *members.items()]), "have the same name"),
        (lambda members: zipped([*members.items(), ("../x", b"")]), "'../x' is out of place"),
        (
            lambda members: zipped([*members.items(), *((f"{k}.npy", b"") for k in range(1001))]),
            "too many members",
        ),
        (
            lambda members: zipped((members | {_files.HEADER: b" " * (17 << 20)}).items()),
            "header is longer than",
        ),
        (lambda members: lying(zipped(members.items())), "larger than itself"),
        (lambda members: zipped((members | {_files.HEADER: with_more(members)}).items()), "has other parts"),
    ],
    ids=[
        "a bomb",
        "a name twice",
        "a path",
        "many members",
        "a long header",
        "a lie about a size",
        "a part more",
    ],
)
@pytest.mark.parametrize("kind", MODELS)
def test_archives_that_are_not_ours_are_refused_at_no_cost(sound, tmp_path, kind, forge, said):
    path, data = tmp_path / "model.npz", forge(members_of(sound[kind]))
    path.write_bytes(data)
    tracemalloc.start()
    with pytest.raises(ValueError, match=said):
        load_model(path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000 + 4 * len(data)
    tracemalloc.stop()


def lying(data):
    """2 GiB, packed and not, for the first member."""
    at = data.index(b"PK\1\2")
    return data[: at + 20] + (2**31 - 1).to_bytes(4, "little") * 2 + data[at + 28 :]


def with_more(members):
    return json.dumps(json.loads(members[_files.HEADER]) | {"more": 1})


def test_what_is_said_of_a_file_is_one_short_line_that_can_be_printed(sound, tmp_path):
    path, members = tmp_path / "model.npz", members_of(sound["model"])
    header = json.loads(members[_files.HEADER]) | {"kind": "\x1b[2J\n" * 1000}
    path.write_bytes(zipped((members | {_files.HEADER: json.dumps(header)}).items()))
    with pytest.raises(ValueError, match=r"it holds \?\[2J") as caught:
        load_model(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400 + len(str(path))


def test_facts_that_could_not_be_read_again_are_not_saved(tmp_path):
    with pytest.raises(ValueError, match=r"the names and other facts take \d+ bytes"):
        _files.save_arrays(tmp_path / "a.npz", "model", {"history": "x" * (17 << 20)}, {})
    assert list(tmp_path.iterdir()) == []


def test_the_names_and_levels_of_a_wide_table_can_be_saved(tmp_path):
    levels = Levels(tuple(f"level {k}" for k in range(100)))
    wide = Tabular()
    wide.n_features_in_, wide.left_out_ = 5000, {}
    wide.feature_names_in_ = np.array([f"a name of column {j}" for j in range(5000)], dtype=object)
    wide.columns_, wide.kept_ = [Categories(levels)] * 5000, np.arange(500_000)
    _files.save_arrays(tmp_path / "a.npz", "model", as_facts(wide), {})
    assert from_facts(_files.load_arrays(tmp_path / "a.npz", "model")[0]).width == 500_000


@pytest.mark.parametrize(
    "load", [load_model, TableModel.load, KernelModel.load, ScaledModel.load, Moments.load]
)
def test_devices_which_may_have_no_end_are_refused_unread(load):
    with pytest.raises(ValueError, match=f"{os.devnull} is a device"):
        load(os.devnull)


def test_a_pipe_is_read_to_its_end(tmp_path):
    accumulate(([[1.0], [3.0]], ["no", "yes"])).save(tmp_path / "moments.npz")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cp", "moments.npz", "pipe"], cwd=tmp_path):
        assert Moments.load(tmp_path / "pipe").classes == ("no", "yes")


@pytest.mark.parametrize("kind", MODELS)
def test_loading_makes_no_names_of_columns(sound, tmp_path, monkeypatch, kind):
    # A few bytes may stand for a thousand columns: as names they would take a thousand times the file.
    monkeypatch.setattr(Categories, "names", lambda column, label: pytest.fail("names were made"))
    path = tmp_path / "model.npz"
    path.write_bytes(sound[kind])
    assert load_model(path).table.width > 1


def test_columns_without_names_are_refused_unread(sound, tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    path.write_bytes(sound["model"])
    facts, arrays = _files.load_arrays(path, "model")
    facts["table"]["columns"].append({"kind": "levels", "levels": [], "buckets": 1000})
    _files.save_arrays(path, "model", facts, arrays)
    monkeypatch.setattr(table_facts, "_column", lambda fact: pytest.fail("a column was read"))
    with pytest.raises(ValueError, match="columns and their names do not match"):
        load_model(path)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"kind": "left out", "reason": [[]] * 10_000}, "left out for no reason"),
        ({"kind": "numbers", "fill": [[]] * 10_000, "marks": False, "dates": False}, "that cannot be"),
    ],
    ids=["left out", "numbers"],
)
def test_what_is_said_of_a_column_does_not_quote_it(column, said):
    facts = {"names": ["a"], "columns": [column], "kept": [0], "left_out": {}}
    with pytest.raises(ValueError, match=said) as caught:
        from_facts(facts)
    assert len(str(caught.value)) < 100


def deep(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


FORGERIES = [
    *[(kind, "history", value) for kind in MODELS for value in ("fitted", [1], {}, deep(900))],
    *[(kind, "stranger", 1) for kind in MODELS],
    *[(kind, "habits.stranger", 1) for kind in MODELS],
    ("model", "table.stranger", 1),
    ("model", "table.names", "abcde"),
    ("model", "table.columns.4.reason", 3),
    ("model", "table.columns.0.stranger", 3),
    ("model", "table.columns.1.levels", [float("nan"), "A"]),
    ("model", "table.columns.1.levels.0", float("inf")),
    ("model", "table.columns.1.levels.0", "\ud800"),
    ("model", "table.names.4", "\ud800"),
    ("model", "moments.classes.0", "\ud800"),
    ("model", "moments.classes.0", 0),
    ("model", "positive", "\ud800"),
    ("model", "table.left_out.id", 3),
    ("model", "table.left_out", ["id"]),
    ("scaled model", "learner", "robust"),
    ("scaled model", "learner", ["kernel"]),
    ("scaled model", "learner", "logistic"),
    *[
        (kind, place, value)
        for kind in ("kernel model", "scaled model")
        for place, value in (
            ("classes.0", "\ud800"),
            ("classes", [1, "yes"]),
            ("classes", ["no", "no"]),
            ("classes", ["no", "yes", "maybe"]),
            ("classes", "ny"),
            ("table.columns.1.levels.0", "\ud800"),
            ("target", "\ud800"),
            ("target", 3),
            ("counts", [40.0, 40.0]),
            ("counts.no", 10**400),
            ("counts.no", "40"),
            ("counts.no", float("nan")),
        )
    ],
]


@pytest.mark.parametrize(("kind", "place", "value"), FORGERIES)
def test_facts_are_what_they_should_be_or_refused(sound, tmp_path, kind, place, value):
    path = tmp_path / "model.npz"
    path.write_bytes(sound[kind])
    facts, arrays = _files.load_arrays(path, kind)
    *way, last = (int(key) if key.isdigit() else key for key in place.split("."))
    inside = facts
    for key in way:
        inside = inside[key]
    inside[last] = value
    _files.save_arrays(path, kind, facts, arrays)
    with pytest.raises(ValueError, match=r"model\.npz does not hold a model|model\.npz is not a sound"):
        load_model(path)


@pytest.mark.parametrize("kind", MODELS)
def test_what_would_be_refused_in_a_file_is_not_saved(tmp_path, kind):
    odd = frame(80).to_pandas()
    odd["label"] = odd["label"].astype(object) + "\ud800"
    with pytest.raises(ValueError, match=r"'no\\ud800' can be no name, class or level"):
        MODELS[kind](odd).save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("kernel model", "intercept", lambda array: array.astype(np.int64)),
        ("kernel model", "dual0", lambda array: array.astype(np.complex128)),
        ("kernel model", "mean", lambda array: array.astype("M8[s]")),
        ("kernel model", "weights0", lambda array: array - 1e9),
        ("kernel model", "calibration", lambda array: array * np.nan),
        ("kernel model", "calibration", lambda array: array[:, :0]),
        ("kernel model", "stranger", None),
        ("scaled model", "intercept", lambda array: array.astype(np.int64)),
        ("scaled model", "intercept", lambda array: np.ones(2)),
        ("scaled model", "dual", lambda array: array.astype(np.complex128)),
        ("scaled model", "dual", lambda array: array[:-1]),
        ("scaled model", "mean", lambda array: array.astype("M8[s]")),
        ("scaled model", "mean", lambda array: array[0]),
        ("scaled model", "scale", lambda array: -array),
        ("scaled model", "scale", lambda array: array[:, None]),
        ("scaled model", "rows", lambda array: array * np.nan),
        ("scaled model", "rows", lambda array: array * 1e200),
        ("scaled model", "rows", lambda array: array[:, :-1]),
        ("scaled model", "bandwidth", lambda array: -array),
        ("scaled model", "bandwidth", lambda array: array[:0]),
        ("scaled model", "stranger", None),
    ],
)
def test_arrays_of_a_model_are_finite_numbers_and_no_others(sound, tmp_path, kind, name, change):
    path = tmp_path / "model.npz"
    path.write_bytes(sound[kind])
    facts, arrays = _files.load_arrays(path, kind)
    arrays[name] = np.ones(3) if change is None else change(arrays[name])
    _files.save_arrays(path, kind, facts, arrays)
    with pytest.raises(ValueError, match=r"model\.npz does not hold a model"):
        load_model(path)


def test_a_classifier_of_another_width_than_the_table_is_refused(sound, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(sound["scaled model"])
    facts, arrays = _files.load_arrays(path, "scaled model")
    narrow = {name: arrays[name][..., :-1] for name in ("mean", "scale", "rows")}
    _files.save_arrays(path, "scaled model", facts, arrays | narrow)
    with pytest.raises(ValueError, match="its parts do not belong together"):
        load_model(path)


@pytest.mark.parametrize("name", ["mean", "intercept", "rows", "dual", "bandwidth"])
def test_a_model_without_one_of_its_arrays_is_refused(sound, tmp_path, name):
    path = tmp_path / "model.npz"
    path.write_bytes(sound["scaled model"])
    facts, arrays = _files.load_arrays(path, "scaled model")
    del arrays[name]
    _files.save_arrays(path, "scaled model", facts, arrays)
    with pytest.raises(ValueError, match=f"does not hold a model: '{name}'"):
        load_model(path)


def test_sums_of_another_width_than_the_table_are_refused(sound, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(sound["model"])
    facts, arrays = _files.load_arrays(path, "model")
    narrow = {name: arrays[name][..., :-1] for name in ("sums", "origin")}
    _files.save_arrays(path, "model", facts, arrays | narrow | {"second": arrays["second"][:-1, :-1]})
    with pytest.raises(ValueError, match="its parts do not belong together"):
        load_model(path)
