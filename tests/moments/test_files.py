"""Files: whole or not at all, checked before anything is allocated, and never code."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from unflip import _files
from unflip.moments import Moments, accumulate
from unflip.passes.checkpoint import Checkpoint


@pytest.fixture
def stored(tmp_path):
    rng = np.random.default_rng(0)
    moments = accumulate((rng.normal(size=(20, 3)) + np.array([0, 0, 1e12]), np.arange(20) % 2), degree=2)
    moments.save(tmp_path / "moments.npz")
    return moments, tmp_path / "moments.npz"


def test_what_is_saved_is_loaded_bit_by_bit(stored):
    moments, path = stored
    again = Moments.load(path)
    for name in ("counts", "sums", "second", "origin"):
        assert_array_equal(getattr(again, name), getattr(moments, name))
    assert (again.classes, again.key, again.unit, again.squares) == (
        moments.classes,
        moments.key,
        moments.unit,
        moments.squares,
    )


@pytest.mark.parametrize("labels", [["a", "ü"], [True, False], [-1, 1], [0.5, 1.5], ["", "x" * 1000]])
def test_labels_of_every_plain_type_survive(tmp_path, labels):
    moments = Moments(tuple(sorted(labels)), np.ones(2), np.ones((2, 1)))
    moments.save(tmp_path / "m.npz")
    assert Moments.load(tmp_path / "m.npz").classes == tuple(sorted(labels))


def test_labels_that_json_cannot_keep_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"\(1, 2\) is a tuple"):
        Moments(((1, 2),), np.ones(1), np.ones((1, 1))).save(tmp_path / "m.npz")
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_an_ordinary_npz_without_pickle(stored):
    moments, path = stored
    with np.load(path, allow_pickle=False) as archive:
        assert_array_equal(archive["sums"], moments.sums)


def test_every_flipped_byte_is_noticed(stored):
    _, path = stored
    sound = path.read_bytes()
    rng = np.random.default_rng(0)
    positions = np.concatenate([np.arange(0, 200), rng.integers(0, len(sound), 800)])
    for position in positions:
        damaged = bytearray(sound)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        try:
            again = Moments.load(path)
        except ValueError:
            continue
        # A few bytes of the archive (time stamps, attributes) carry nothing.
        assert_array_equal(again.sums, Moments.load(_write(path, sound)).sums)


def _write(path, data):
    path.write_bytes(data)
    return path


def test_truncated_empty_and_foreign_files_are_refused(stored):
    _, path = stored
    sound = path.read_bytes()
    for length in range(0, len(sound), max(1, len(sound) // 97)):
        with pytest.raises(ValueError, match="not a sound moments file"):
            Moments.load(_write(path, sound[:length]))
    for foreign in (b"hello", pickle.dumps([1, 2]), b"PK\x03\x04" + bytes(100)):
        with pytest.raises(ValueError, match="not a sound moments file"):
            Moments.load(_write(path, foreign))
    buffer = io.BytesIO()
    np.savez(buffer, sums=np.ones(3))
    with pytest.raises(ValueError, match="not a sound moments file"):
        Moments.load(_write(path, buffer.getvalue()))
    with pytest.raises(FileNotFoundError):
        Moments.load(path.parent / "none.npz")


def rewritten(path, change, compression=zipfile.ZIP_STORED):
    """The same archive with members changed by a function of name and content."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, change(name, data))
    return _write(path, buffer.getvalue())


def test_a_bomb_does_not_go_off(stored):
    _, path = stored
    with pytest.raises(ValueError, match="compressed"):
        Moments.load(rewritten(path, lambda _, data: data, zipfile.ZIP_DEFLATED))


def test_a_lie_about_the_shape_is_found_before_memory_is_asked_for(stored):
    _, path = stored
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10**6)}
    )
    with pytest.raises(ValueError, match="does not match its shape"):
        Moments.load(rewritten(path, lambda n, data: header.getvalue() if n == "sums.npy" else data))


def test_objects_are_refused_without_being_made(stored):
    _, path = stored
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="does not match its shape"):
        Moments.load(rewritten(path, lambda n, data: buffer.getvalue() if n == "sums.npy" else data))


def test_another_kind_or_version_is_named(stored):
    _, path = stored
    sound = path.read_bytes()

    def edit(**changes):
        def change(name, data):
            return json.dumps(json.loads(data) | changes).encode() if name == _files.HEADER else data

        return change

    with pytest.raises(ValueError, match="holds model, not moments"):
        Moments.load(rewritten(path, edit(kind="model")))
    with pytest.raises(ValueError, match="format 99"):
        Moments.load(rewritten(_write(path, sound), edit(format=99)))
    with pytest.raises(ValueError, match="checksum"):
        Moments.load(rewritten(_write(path, sound), edit(facts={"classes": [0, 2]})))


def test_a_forged_checksum_does_not_make_nonsense_into_moments(tmp_path):
    _files.save_arrays(tmp_path / "m.npz", "moments", {"classes": [0]}, {"counts": np.ones(3)})
    with pytest.raises(ValueError, match="does not hold moments"):
        Moments.load(tmp_path / "m.npz")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(stored, monkeypatch):
    moments, path = stored
    before = path.read_bytes()

    def broken(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(_files.np.lib.format, "write_array", broken)
    with pytest.raises(OSError, match="no space"):
        moments.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["moments.npz"]


SOUND = {"classes": [0, 1], "key": "columns:1", "unit": 1.0, "squares": 2.0, "names": None}
ARRAYS = {"counts": np.ones(2), "sums": np.ones((2, 1)), "origin": np.zeros(1)}


@pytest.mark.parametrize(
    ("facts", "arrays"),
    [
        ({"unit": 0}, {}),
        ({"unit": "a"}, {}),
        ({"unit": float("nan")}, {}),
        ({"squares": None}, {}),
        ({"key": 3}, {}),
        ({"classes": [0, 0]}, {}),
        ({"classes": [[0], [1]]}, {}),
        ({"classes": [None, 1]}, {}),
        ({"classes": [float("nan"), 1]}, {}),
        ({"classes": "ab"}, {}),
        ({"classes": 2}, {}),
        ({"names": ["a", "b"]}, {}),
        ({"names": [3]}, {}),
        ({"names": "a"}, {}),
        ({"counts": [1.0, 1.0]}, {}),
        ({"other": 1}, {}),
        ({}, {"other": np.ones(1)}),
        ({}, {"unit": np.ones(1)}),
        ({}, {"counts": np.array([-1.0, 1.0])}),
        ({}, {"counts": np.array([np.nan, 1.0])}),
        ({}, {"sums": np.array([["a"], ["b"]])}),
        ({}, {"sums": np.array(["a", "b"])}),
        ({}, {"second": np.full((1, 1), np.inf)}),
        ({}, {"origin": np.array([1j])}),
    ],
)
def test_a_sound_file_of_absurd_content_is_refused_by_name(tmp_path, facts, arrays):
    path = tmp_path / "m.npz"
    _files.save_arrays(path, "moments", SOUND, ARRAYS)
    Moments.load(path)
    _files.save_arrays(path, "moments", SOUND | facts, ARRAYS | arrays)
    with pytest.raises(ValueError, match=r"m\.npz does not hold moments"):
        Moments.load(path)


def test_facts_of_another_shape_and_missing_arrays_are_refused_by_name(tmp_path):
    path = tmp_path / "m.npz"
    _files.save_arrays(path, "moments", ["classes"], ARRAYS)
    with pytest.raises(ValueError, match=r"m\.npz is not a sound moments file: its facts are a list"):
        Moments.load(path)
    _files.save_arrays(path, "moments", SOUND | {"counts": [1.0, 1.0]}, {"sums": np.ones((2, 1))})
    with pytest.raises(ValueError, match=r"m\.npz does not hold moments"):
        Moments.load(path)


def test_names_are_saved_and_older_files_have_none(tmp_path):
    path = tmp_path / "m.npz"
    Moments((0, 1), np.ones(2), np.ones((2, 2)), names=("age", "größe")).save(path)
    assert Moments.load(path).names == ("age", "größe")
    older = {name: fact for name, fact in SOUND.items() if name != "names"}
    _files.save_arrays(path, "moments", older, ARRAYS)
    assert Moments.load(path).names is None


def test_errors_name_the_file_that_was_asked_for(stored, tmp_path):
    moments, _ = stored
    with pytest.raises(FileNotFoundError) as caught:
        moments.save(tmp_path / "missing" / "m.npz")
    assert caught.value.filename == str(tmp_path / "missing" / "m.npz")
    assert ".part" not in str(caught.value)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        moments.save(tmp_path / "folder")
    assert caught.value.filename == str(tmp_path / "folder")
    assert ".part" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "moments.npz"]


@pytest.mark.parametrize("gone", ["classes", "key", "unit", "squares", "counts", "sums", "origin"])
def test_what_a_file_leaves_out_is_not_made_up(tmp_path, gone):
    facts = {name: fact for name, fact in SOUND.items() if name != gone}
    arrays = {name: array for name, array in ARRAYS.items() if name != gone}
    _files.save_arrays(tmp_path / "m.npz", "moments", facts, arrays)
    with pytest.raises(ValueError, match=f"does not hold moments: '{gone}' is missing"):
        Moments.load(tmp_path / "m.npz")


@pytest.mark.parametrize("soft", [10**15, -1, 1.0, True, "2", None, [2], float("nan")])
def test_probabilities_are_of_as_many_classes_as_there_are(tmp_path, soft):
    facts = SOUND | {"classes": ["a", "b"], "probabilities": soft}
    _files.save_arrays(tmp_path / "m.npz", "moments", facts, ARRAYS)
    with pytest.raises(ValueError, match="there are probabilities of"):  # 10**15 was searched one by one
        Moments.load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("facts", "arrays"),
    [
        ({"squares": 24792868969209195}, {}),
        ({"unit": True}, {}),
        ({}, {"counts": np.array([2**53 + 1, 1])}),
        ({}, {"sums": np.ones((2, 1), dtype=np.longdouble)}),
    ],
)
def test_what_float64_would_round_is_refused(tmp_path, facts, arrays):
    _files.save_arrays(tmp_path / "m.npz", "moments", SOUND | facts, ARRAYS | arrays)
    with pytest.raises(ValueError, match=r"does not hold moments: the .* of moments must be"):
        Moments.load(tmp_path / "m.npz")


def test_no_rows_of_any_width_take_no_memory(tmp_path):
    arrays = {"counts": np.zeros(0), "sums": np.zeros((0, 10**15)), "origin": np.zeros(0)}
    _files.save_arrays(tmp_path / "m.npz", "moments", SOUND | {"classes": []}, arrays)
    with pytest.raises(ValueError, match="the origin and the sums have different widths"):
        Moments.load(tmp_path / "m.npz")


@pytest.mark.parametrize("change", [lambda limbs: limbs + (limbs > 0), lambda limbs: limbs[:, :-1]])
def test_exact_sums_that_contradict_the_rounded_ones_are_refused(tmp_path, change):
    accumulate((np.arange(6.0).reshape(3, 2), [0, 1, 1]), summation="exact").save(tmp_path / "m.npz")
    facts, arrays = _files.load_arrays(tmp_path / "m.npz", "moments")
    _files.save_arrays(tmp_path / "m.npz", "moments", facts, arrays | {"limbs": change(arrays["limbs"])})
    with pytest.raises(ValueError, match=r"does not hold moments: .*exact sums"):
        Moments.load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    "facts",
    [
        {"position": None},
        {"position": 2.7},
        {"position": -8},
        {"stranger": 1},
        {"moments": None},
        {"moments": [[1]]},
    ],
)
def test_a_forged_checkpoint_is_refused(tmp_path, facts):
    path = tmp_path / "m.npz"
    sound = {"identity": "data", "position": 8, "moments": SOUND}
    _files.save_arrays(path, "checkpoint", sound, ARRAYS)
    assert Checkpoint(path, "data").load()[0] == 8
    _files.save_arrays(path, "checkpoint", sound | facts, ARRAYS)
    with pytest.raises(ValueError, match=r"m\.npz does not hold"):
        Checkpoint(path, "data").load()


def test_what_is_said_of_moments_is_short(tmp_path):
    _files.save_arrays(tmp_path / "m.npz", "moments", SOUND | {"unit": "x" * 10**5}, ARRAYS)
    with pytest.raises(ValueError, match="does not hold moments") as caught:
        Moments.load(tmp_path / "m.npz")
    assert len(str(caught.value)) < 1000
