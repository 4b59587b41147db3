"""The command as a user meets it: exit codes, one sentence for mistakes, JSON and nothing else."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import unflip.theory
from unflip import __version__
from unflip.cli import main
from unflip.cli.verify import as_text, summary
from unflip.theory import Evidence

pytestmark = pytest.mark.subprocess

TRUE = Evidence("Equation 0: one is one", 1.0, 1.0, 0.0, True)
FALSE = Evidence("Lemma 0: one is two, whatever anybody may say", 1.0, 2.0, 1.0, False)


def run(monkeypatch, *arguments):
    """The exit code of the command, run in this process."""
    monkeypatch.setattr(sys, "argv", ["unflip", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code or 0


def plant(monkeypatch, *evidence):
    monkeypatch.setattr(unflip.theory, "propositions", lambda: iter([lambda e=e: e for e in evidence]))


def test_all_claims_holding_is_success_with_one_line_a_claim(monkeypatch, capsys):
    plant(monkeypatch, TRUE, TRUE)
    assert run(monkeypatch, "verify") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "holds  Equation 0: one is one  [left 1, right 1, gap 0]",
        "holds  Equation 0: one is one  [left 1, right 1, gap 0]",
        "2 claims: 2 hold, 0 fail",
    ]
    assert err == ""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_failing_claim_is_shown_and_exits_with_one(monkeypatch, capsys, options):
    plant(monkeypatch, TRUE, FALSE)
    assert run(monkeypatch, "verify", *options) == 1
    out = capsys.readouterr().out
    assert ("FAILS  Lemma 0" in out) or (json.loads(out)["claims"][1]["holds"] is False)


def test_json_is_the_whole_of_stdout_and_has_the_promised_shape(monkeypatch, capsys):
    plant(monkeypatch, TRUE, FALSE)
    run(monkeypatch, "verify", "--json")
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "claims": [
            {"claim": e.claim, "left": e.left, "right": e.right, "gap": e.gap, "holds": e.holds}
            for e in (TRUE, FALSE)
        ]
    }
    assert err == ""


@pytest.mark.parametrize(
    "arguments", [["verifi"], ["--nonsense"], ["verify", "--nonsense"], ["verify", "more"]]
)
def test_bad_usage_is_one_sentence_and_exits_with_two(monkeypatch, capsys, arguments):
    assert run(monkeypatch, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("unflip: ")
    assert len(err.splitlines()) == 1


def test_the_bare_command_shows_its_help(monkeypatch, capsys):
    assert run(monkeypatch) == 0
    bare = capsys.readouterr().out
    assert "verify" in bare
    assert run(monkeypatch, "--help") == 0
    assert capsys.readouterr().out.split() == bare.split()


def test_the_version(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"unflip {__version__}\n"


def test_an_interrupt_exits_with_130(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(unflip.theory, "propositions", lambda: iter([interrupted]))
    assert run(monkeypatch, "verify") == 130


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_check_that_breaks_down_fails_and_the_others_go_on(monkeypatch, capsys, options):
    def broken():
        raise RuntimeError("a bug\nof two lines")

    monkeypatch.setattr(unflip.theory, "propositions", lambda: iter([broken, lambda: TRUE]))
    assert run(monkeypatch, "verify", *options) == 1
    out = capsys.readouterr().out
    reason = "broken broke down, RuntimeError: a bug of two lines"
    if options:
        first, second = json.loads(out, parse_constant=pytest.fail)["claims"]
        assert first == {"claim": reason, "left": None, "right": None, "gap": None, "holds": False}
        assert second["holds"] is True
    else:
        assert out.splitlines() == [
            f"FAILS  {reason}  [left nan, right nan, gap nan]",
            "holds  Equation 0: one is one  [left 1, right 1, gap 0]",
            "2 claims: 1 hold, 1 fail",
        ]


def test_evidence_without_numbers_is_valid_json(monkeypatch, capsys):
    plant(monkeypatch, Evidence("Lemma: none", float("nan"), float("inf"), float("nan"), False))
    assert run(monkeypatch, "verify", "--json") == 1
    claim = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["claims"][0]
    assert (claim["left"], claim["right"], claim["gap"]) == (None, None, None)


@pytest.mark.parametrize("error", [RuntimeError("a bug"), OSError(2, "No such file")])
def test_a_mistake_of_ours_is_not_dressed_up_as_bad_usage(monkeypatch, error):
    def broken():
        raise error

    monkeypatch.setattr(unflip.theory, "propositions", broken)
    monkeypatch.setattr(sys, "argv", ["unflip", "verify"])
    with pytest.raises(type(error), match=r"a bug|No such file"):
        main()


MANY = (
    "import sys, unflip.theory; from unflip.theory import Evidence; sys.argv = ['unflip', *sys.argv[1:]]\n"
    "claim = lambda: Evidence('Lemma: a', 1.0, 1.0, 0.0, True)\n"
    "unflip.theory.propositions = lambda: iter([claim] * 5000)\n"
    "from unflip.cli import main; main()"
)


def shell(redirection, *arguments):
    """The command with 5000 claims, run by a shell that does this to its output."""
    command = f'"$0" -c "$1" {" ".join(arguments)} {redirection}'
    return subprocess.run(["bash", "-c", command, sys.executable, MANY], capture_output=True, text=True)


@pytest.mark.skipif(os.name == "nt", reason="there is no bash")
@pytest.mark.parametrize("arguments", [["verify"], ["verify", "--json"]])
def test_a_reader_that_leaves_is_no_failure_of_a_claim(arguments):
    done = shell("| head -2; exit ${PIPESTATUS[0]}", *arguments)
    assert done.returncode == 141
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("arguments", [["verify"], ["verify", "--json"], ["--help"], ["--version"]])
def test_output_that_cannot_be_written_is_one_sentence(arguments):
    done = shell("> /dev/full", *arguments)
    assert done.returncode == 2
    assert done.stderr == "unflip: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="there is no bash")
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("arguments", [["verify"], ["verify", "--json"], ["--help"]])
def test_closed_streams_do_not_matter(redirection, arguments):
    done = shell(redirection, *arguments)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_a_missing_extra_is_named_in_one_sentence(monkeypatch, capsys, missing):
    monkeypatch.setitem(sys.modules, missing, None)  # makes its import fail
    assert run(monkeypatch, "verify") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert 'pip install "unflip[cli]"' in err
    assert len(err.splitlines()) == 1


def test_lines_fit_eighty_columns_and_keep_their_numbers_whole():
    long = Evidence("Section 1: " + "word " * 30, -1.23456789e-10, 123456.789, 1e-300, False)
    text = as_text(long, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.endswith("[left -1.23457e-10, right 123457, gap 1e-300]")
    assert as_text(TRUE, 80) == as_text(TRUE)
    assert as_text(FALSE, 60).splitlines()[1] == "       [left 1, right 2, gap 1]"


def test_the_summary_counts():
    assert summary([TRUE, FALSE, TRUE]) == "3 claims: 2 hold, 1 fail"


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['unflip', '--help']\n"
        "from unflip.cli import main\n"
        "try: main()\n"
        "except SystemExit as left: assert not left.code\n"
        "print([name for name in ('numpy', 'scipy', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_the_bar_goes_to_a_terminal_on_stderr_and_leaves_stdout_clean():
    import pty

    code = (
        "import sys, unflip.theory; from unflip.theory import Evidence; sys.argv = ['unflip', 'verify']\n"
        "unflip.theory.propositions = lambda: iter([lambda: Evidence('Lemma: a', 1.0, 1.0, 0.0, True)] * 3)\n"
        "from unflip.cli import main; main()"
    )
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, text=True, check=True
    )
    os.close(theirs)
    drawn = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "100%" in drawn
    assert done.stdout.splitlines() == ["holds  Lemma: a  [left 1, right 1, gap 0]"] * 3 + [
        "3 claims: 3 hold, 0 fail"
    ]


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_a_real_ctrl_c_exits_with_130_and_no_traceback():
    code = (
        "import signal, sys, time, unflip.theory; sys.argv = ['unflip', 'verify']\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
        "def slow(): print('started', file=sys.stderr, flush=True); time.sleep(60)\n"
        "unflip.theory.propositions = lambda: iter([slow])\n"
        "from unflip.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr.readline() == "started\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
