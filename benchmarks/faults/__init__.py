"""Promises at full size, each a program; `python -m benchmarks.faults` runs them all."""
