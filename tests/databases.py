"""Databases to test against: DuckDB in this process, and a PostgreSQL server started for the occasion."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

# ibis 10 writes tables to PostgreSQL by way of pandas, and pandas 2 tries whether infinities are integers.
CASTS = pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning:pandas")


POSTGRES = [CASTS, pytest.mark.cluster, pytest.mark.xdist_group("postgres")]  # one server a run


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=POSTGRES)])
def database(request):
    """An ibis connection with no tables in it."""
    ibis = pytest.importorskip("ibis")
    if request.param == "duckdb":
        con = ibis.duckdb.connect()
        yield con
        con.disconnect()
    else:
        yield request.getfixturevalue("postgres")


@pytest.fixture
def postgres(postgres_server):
    """A connection to the server, whose tables are dropped afterwards."""
    ibis = pytest.importorskip("ibis")
    con = ibis.postgres.connect(**postgres_server)
    yield con
    con.disconnect()
    admin = ibis.postgres.connect(**postgres_server)
    admin.raw_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public").close()
    admin.disconnect()


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server on a free port of 127.0.0.1, with a password and a data folder of its own."""
    pytest.importorskip("psycopg", reason="PostgreSQL is tested with psycopg")
    binaries = _postgres_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is tested where its server is installed: no initdb found")
    folder = Path(tempfile.mkdtemp(prefix="unflip-postgres-"))
    log = folder / "log"
    as_user = _somebody_but_root(folder)
    password = secrets.token_hex(16)
    (folder / "password").write_text(password)
    if as_user:
        shutil.chown(folder / "password", *as_user.values())
    data, port = str(folder / "data"), _free_port()
    process = None
    try:
        with log.open("wb") as output:
            told = {"stdout": output, "stderr": subprocess.STDOUT, "cwd": folder, **as_user}
            made = subprocess.run(
                [
                    binaries / "initdb",
                    *("-D", data, "-U", "unflip", "--auth=scram-sha-256", f"--pwfile={folder / 'password'}"),
                    *("--encoding=UTF8", "--locale=C", "--no-sync"),
                ],
                timeout=60,
                **told,
            )
            if made.returncode == 0:
                listen = ["-c", "listen_addresses=127.0.0.1", "-p", str(port), "-k", str(folder)]
                process = subprocess.Popen([binaries / "postgres", "-D", data, "-F", *listen], **told)
        if process is None or not _answers(process, port):
            pytest.skip(f"PostgreSQL did not start; its log ends: {log.read_text()[-2000:]}")
        yield {
            "host": "127.0.0.1",
            "port": port,
            "user": "unflip",
            "password": password,
            "database": "postgres",
        }
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # a fast shutdown
            process.wait(timeout=30)
        print(log.read_text())
        if "UNFLIP_POSTGRES_LOG" in os.environ:
            shutil.copy(log, os.environ["UNFLIP_POSTGRES_LOG"])
        shutil.rmtree(folder)


def _postgres_binaries():
    found = shutil.which("initdb")
    usual = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folders = [Path(found).parent] if found else usual
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def _somebody_but_root(folder):
    """The server refuses to be root: whom to start it as, and the folder belongs to them."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        shutil.chown(folder, entry.pw_uid, entry.pw_gid)
        return {"user": entry.pw_uid, "group": entry.pw_gid}
    return {}


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(process, port):
    for _ in range(200):
        if process.poll() is not None:
            return False
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False
