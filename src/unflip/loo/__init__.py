"""Exact leave-one-out in closed form: for means, for least squares, and the threshold it suggests."""
