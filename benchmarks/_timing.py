"""Times of calls that take turns, so that a busy spell of the machine meets them all."""

import time


def interleaved(calls, times=3):
    """The least time of each call."""
    spent = {name: [] for name in calls}
    for _ in range(times):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            spent[name].append(time.perf_counter() - start)
    return {name: min(seconds) for name, seconds in spent.items()}
