"""
How many labels are wrong?
==========================

The rate of wrong labels, estimated from a table and labels that are all suspect, with a 90 % interval. We
flip at known rates and see whether the intervals hold them.
"""

# %%
# Overlap of classes looks like noise, so intervals are wide where classes overlap. ``outer`` only assumes
# that no kind of row is labelled wrong more often than right: the rate is below it with 95 % confidence.

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from unflip import estimate_noise
from unflip.audit import NoiseEstimateDisplay
from unflip.noise import clean_accuracy, flip_labels

X, y = load_breast_cancer(return_X_y=True)
drawn = [flip_labels(y, rate, rng=1) for rate in (0.0, 0.1, 0.2, 0.3)]
rates = [float((noisy != y).mean()) for noisy in drawn]  # a coin for each label: not quite a tenth
found = [estimate_noise(X, noisy) for noisy in drawn]
for rate, one in zip(rates, found, strict=True):
    interval = f"[{one.low:.3f}, {one.high:.3f}]"
    print(f"flipped {rate:.3f}: estimate {one.rate:.3f} in {interval}, outer {one.outer:.3f}")

# %%
# Estimates against what we flipped. Labels that were wrong before count too, so a small excess at zero may be
# true.

figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.plot([0, 0.4], [0, 0.4], color="gray", linestyle="--", label="the truth")
for rate, one in zip(rates, found, strict=True):
    ax.plot([rate, rate], [one.low, one.high], color="C0", linewidth=3, alpha=0.4)
ax.plot(rates, [one.rate for one in found], "o", color="C0", label="estimate, 90 % interval")
ax.plot(rates, [one.outer for one in found], "v", color="C1", label="outer bound")
ax.set(xlabel="share of labels that we flipped", ylabel="share of labels that are wrong, estimated")
ax.legend()

# %%
# One of them in full: how likely each rate is, given the labels.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
NoiseEstimateDisplay.from_estimate(found[2], ax=ax)

# %%
# What the knowledge is good for: a score on noisy labels becomes a score on clean ones.

print(f"74 % on noisy labels are {clean_accuracy(0.74, found[2].noise):.0%} on clean ones")
