"""The border: rows, labels, weights and parameters as they come in, and what is said where they cannot.

What kind of array something is, whether labels are soft, whether integers are longer than 64 bits: all this
is asked here, once. Behind the border rows are arrays of numbers, dense or CSR, labels are places among
sorted classes, and weights are finite and not negative.
"""
