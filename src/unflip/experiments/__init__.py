"""The paper's experiments; so far, its data.

>>> from unflip.experiments.datasets import load
>>> load("car").X[0].tolist()
['vhigh', 'vhigh', '2', '2', 'small', 'low']
"""
