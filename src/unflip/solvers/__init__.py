"""From sums to scorers."""
