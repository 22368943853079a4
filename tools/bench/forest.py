"""A random forest for each pixel of a set of tools/multispectral: python3 forest.py TRAIN TEST prints its accuracy."""
import glob
import sys

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def load(folder):
    images = [np.load(path) for path in sorted(glob.glob(folder + "/images/*.npy"))]
    masks = [open(path, "rb").read() for path in sorted(glob.glob(folder + "/masks/*.pgm"))]
    n_pixels = images[0].shape[0] * images[0].shape[1]
    return (np.concatenate([image.reshape(n_pixels, -1) for image in images]),
            np.concatenate([np.frombuffer(mask[-n_pixels:], "u1") for mask in masks]))


values, labels = load(sys.argv[1])
chosen = np.random.default_rng(0).choice(len(values), 60000, replace=False)
forest = RandomForestClassifier(200, min_samples_leaf=5, n_jobs=-1, random_state=0).fit(values[chosen], labels[chosen])
values, labels = load(sys.argv[2])
print((forest.predict(values) == labels).mean())
