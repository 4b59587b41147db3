"""Threads of ours and processes that are forked in their midst."""

import multiprocessing
import threading

import pytest

from unflip._threads import workers


def _sweep(answers):
    with workers(2) as spread:
        answers.send(list(spread(abs, [-1, 2])))


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing forks here")
def test_a_process_forked_during_a_sweep_can_sweep_too():
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with workers(1):
            inside.set()
            leave.wait()

    other = threading.Thread(target=hold)
    other.start()
    inside.wait()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_sweep, args=(theirs,))
    child.start()
    try:
        assert ours.poll(60)
        assert ours.recv() == [1, 2]
    finally:
        leave.set()
        other.join()
        child.kill()
        child.join()
