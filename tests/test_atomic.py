"""Files that are there whole or not at all."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from unflip import _atomic
from unflip._atomic import write_atomically

ENDLESS = """
import sys, time
from unflip import _atomic
if {named}:
    del _atomic.os.O_TMPFILE

def write(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)

_atomic.write_atomically(sys.argv[1], write)
"""


@pytest.fixture(params=["without a name", "with a name"])
def temporary_files(request, monkeypatch):
    """Linux writes to files without a name; other systems, and some file systems, cannot."""
    if request.param == "with a name":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


def test_a_file_is_replaced_whole_and_keeps_its_rights(tmp_path, temporary_files):
    path = tmp_path / "note.txt"
    path.write_text("old")
    path.chmod(0o600)

    def write(file):
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"

    write_atomically(path, write)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["note.txt"]


@pytest.mark.parametrize("name", ["note.txt", "x" * 255, "\u540d" * 85])
def test_a_new_file_may_have_any_name_and_has_the_rights_of_the_mask(tmp_path, temporary_files, name):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / name, lambda file: file.write(b"new"))
    finally:
        os.umask(before)
    assert (tmp_path / name).read_text() == "new"
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("pipe")
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        write_atomically(tmp_path / "link", lambda file: file.write(b"through"))
        assert reader.stdout.read() == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path, temporary_files):
    path = tmp_path / "note.txt"
    path.write_text("old")

    def write(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, write)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["note.txt"]


def test_a_link_stays_a_link(tmp_path, temporary_files):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_atomically(tmp_path / "link.txt", lambda file: file.write(b"new"))
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


@pytest.mark.parametrize("named", [False, True])
def test_a_kill_leaves_the_old_file_and_on_linux_nothing_else(tmp_path, named):
    path = tmp_path / "note.txt"
    path.write_text("old")
    command = [sys.executable, "-c", ENDLESS.format(named=named), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGKILL)
    assert path.read_text() == "old"
    left = [name for name in os.listdir(tmp_path) if name != "note.txt"]
    if named or not _has_nameless_files(tmp_path):
        assert [name.endswith(".part") for name in left] == [True]
    else:
        assert left == []


def _has_nameless_files(folder):
    with _atomic._new_file(folder / "probe"):
        return not (folder / "probe").exists()
