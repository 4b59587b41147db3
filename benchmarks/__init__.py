"""Speed and promises, measured. A package by name, for pyarrow 17 installs another `benchmarks`."""
