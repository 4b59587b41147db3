"""From sums and rows to scorers: ridge regression from moments, and minimisers of Equation 7 for any loss.

Losses say what they need (`unflip.losses`). Minimisers work on many label columns over the same rows, one fit
being the case of one column, and say in a certificate how near they came.
"""
