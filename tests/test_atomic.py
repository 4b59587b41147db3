"""Files that are there whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
import zipfile

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

INTO_STDOUT = """
import sys, zipfile
from unflip import _atomic

def write(file):
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("note.txt", "all of it")

print("before", flush=True)
_atomic.write_atomically(sys.argv[1], write)
print("after", flush=True)
"""


@pytest.fixture(params=["without a name", "with a name", "never with a name"])
def temporary_files(request, monkeypatch):
    """Linux writes to files without a name; others, and some file systems, cannot, or cannot name them."""
    if request.param == "with a name":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    if request.param == "never with a name":

        def refused(*places, **options):
            raise OSError(errno.ENOTSUP, "Operation not supported")

        monkeypatch.setattr(os, "link", refused)
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


def test_what_takes_the_place_of_a_private_file_is_private_all_the_time(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "note.txt"
    path.write_text("old")
    path.chmod(0o600)
    modes = []

    def write(file):
        modes.extend(stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir())

    write_atomically(path, write)
    assert modes == [0o600, 0o600]


@pytest.mark.skipif(not hasattr(os, "fchown"), reason="files have no owners")
def test_a_file_keeps_its_owner_and_group_where_the_user_may_give_it_away(
    tmp_path, temporary_files, monkeypatch
):
    path, given = tmp_path / "note.txt", []
    path.write_text("old")

    def refused(handle, owner, group):
        given.append((owner, group))
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    owners = (path.stat().st_uid, path.stat().st_gid)
    write_atomically(path, lambda file: file.write(b"new"))
    assert given[-2:] == [(owners[0], -1), (-1, owners[1])]
    assert path.read_text() == "new"
    monkeypatch.undo()
    if os.geteuid() == 0:
        os.chown(path, 1000, 1001)
        write_atomically(path, lambda file: file.write(b"newer"))
        assert (path.stat().st_uid, path.stat().st_gid) == (1000, 1001)


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


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files are not shown in a folder")
def test_an_open_file_without_a_name_is_written_into(tmp_path):
    with open(tmp_path / "gone.txt", "w+b") as file:
        os.unlink(tmp_path / "gone.txt")
        write_atomically(f"/dev/fd/{file.fileno()}", lambda file: file.write(b"into it"))
        file.seek(0)
        assert file.read() == b"into it"
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files are not shown in a folder")
@pytest.mark.parametrize("mode", ["wb", "ab"])
@pytest.mark.parametrize("place", ["/dev/stdout", "link"])
@pytest.mark.subprocess
def test_what_goes_to_stdout_stands_between_what_is_printed(tmp_path, place, mode):
    (tmp_path / "link").symlink_to("/dev/stdout")
    with open(tmp_path / "out.txt", mode) as out:
        command = [sys.executable, "-c", INTO_STDOUT, place]
        subprocess.run(command, cwd=tmp_path, stdout=out, check=True)
    found = (tmp_path / "out.txt").read_bytes()
    assert found.startswith(b"before\nPK")
    assert found.endswith(b"after\n")
    with zipfile.ZipFile(tmp_path / "out.txt") as archive:
        assert archive.read("note.txt") == b"all of it"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files are not shown in a folder")
@pytest.mark.parametrize("name", ["01", "\N{ARABIC-INDIC DIGIT ONE}", "99999999999999"])
def test_what_is_no_open_file_is_not_taken_for_one(name):
    with pytest.raises(FileNotFoundError):
        write_atomically(f"/dev/fd/{name}", lambda file: file.write(b"astray"))


def test_links_in_a_circle_and_folders_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels of symbolic links") as caught:
        write_atomically(tmp_path / "a", lambda file: file.write(b"new"))
    assert caught.value.filename == str(tmp_path / "a")
    for folder in (f"{tmp_path}/new/", tmp_path):
        with pytest.raises(IsADirectoryError):
            write_atomically(folder, lambda file: file.write(b"new"))
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert (tmp_path / "a").is_symlink()


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
@pytest.mark.subprocess
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
    return _atomic._written_without_a_name(folder / "probe", lambda file: None, None)
