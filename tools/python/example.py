"""Learns from half of a set's images and segments the others: python3 example.py SET

SET holds images/ and masks/; a network's maps would take the place of `blurred`."""

import pathlib
import sys

import numpy as np
from PIL import Image, ImageFilter

import cleave


if len(sys.argv) != 2:
    sys.exit(__doc__)


def read(path):
    mask = np.array(Image.open(path.parent.parent / "masks" / (path.stem + ".png")))
    return cleave.read_image(path), (mask > 0).astype(np.uint8)


def blurred(mask):
    """A map like that of a coarse network."""
    return np.asarray(Image.fromarray(mask * 255).filter(ImageFilter.GaussianBlur(6)), float) / 255


def iou(labels, mask):
    return (labels & mask).sum() / (labels | mask).sum()


pairs = [read(path) for path in sorted(pathlib.Path(sys.argv[1], "images").iterdir())]
model = cleave.train(pairs[::2], seed=1, words=100)
print("model      IoU", np.mean([iou(model.segment(image), mask) for image, mask in pairs[1::2]]))
print("map        IoU", np.mean([iou((blurred(mask) > 0.5).astype(np.uint8), mask) for _, mask in pairs[1::2]]))
print("map, cut   IoU", np.mean([iou(cleave.refine(image, blurred(mask)), mask) for image, mask in pairs[1::2]]))
