"""What needs no model: reading images, boxes to cuts, refining."""

import os
from typing import Any, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._arrays import as_image, copied, pointer
from ._errors import DataError, UsageError, call
from ._native import ffi, lib

VOID = 255
"""The mask value of pixels that never count."""

Labels = npt.NDArray[np.uint8]
Box = Tuple[float, float, float, float]


def read_image(path: Union[str, "os.PathLike[str]"]) -> Labels:
    """Any image file that the command reads, as uint8 [height, width, 3], its EXIF orientation applied."""
    image = ffi.new("struct clv_image *")
    call(lib.clv_image_read, image, os.fsencode(path), ffi.NULL)
    try:
        return copied(image.pixels, "uint8_t", np.uint8, image.height, image.width, 3)
    finally:
        lib.clv_image_release(image)


def box_cut(image: Labels, box: Box, *, probability: bool = False) -> Any:
    """Cuts out the object in a box (x, y, width, height in pixels): labels uint8 [height, width], 1 on the object.

    With probability=True a pair: labels, and float32 [height, width] of how likely the object is at each pixel by colours and place.
    Colours of figure and ground are learned from the inside and the surroundings of that box alone; about 0.03 s for
    0.15 Mpixel. Raises UsageError for a box that does not meet the image.
    """
    native, _keep = as_image("image", image)
    x, y, width, height = (float(side) for side in box)
    first_x, first_y = max(x, 0.0), max(y, 0.0)
    last_x, last_y = min(x + width, native.width), min(y + height, native.height)
    if not (last_x > first_x and last_y > first_y):
        raise UsageError(f"box {tuple(box)} does not meet the image of {native.width} x {native.height} pixels")
    placed = ffi.new("struct clv_box *", {"x": first_x, "y": first_y, "width": last_x - first_x, "height": last_y - first_y})
    labels = np.empty((native.height, native.width), np.uint8)
    likely = np.empty(labels.shape, np.float32) if probability else None
    call(lib.clv_box_cut, pointer("uint8_t", labels), ffi.NULL if likely is None else pointer("float", likely), native, placed,
         ffi.NULL)
    return labels if likely is None else (labels, likely)


# Weights of refine: of the map's log odds, scaled to a mean size of 1 and bent towards 3, so that its certainty counts and
# not its calibration; of colours nearby and overall; of the borders. Chosen on the training images of the horses.
_WEIGHTS = {"prior": 8.0, "nearby": 0.5, "overall": 0.25, "balance": 0.0, "coupling": 1.0}


def _scaled_odds(probability: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    inside = np.clip(probability, 0.0025, 0.9975).astype(np.float64)
    odds = np.log(inside) - np.log(1 - inside)
    size = np.abs(odds).mean()
    return (3 * np.tanh(odds / (3 * size)) if size > 0 else odds).astype(np.float32)


def refine(image: Labels, probabilities: npt.NDArray[Any], **weights: float) -> Labels:
    """Sharpens a network's map at the pixels: labels uint8 [height, width], by an exact minimum cut for two labels and by
    expansion for more.

    probabilities   floats in 0..1 of the image's size: [height, width] of label 1, or [height, width, n_labels]
    **weights       prior (of the map), nearby and overall (of colours), balance, coupling (of borders)
    """
    native, _keep = as_image("image", image)
    given = np.asarray(probabilities)
    if given.dtype.kind != "f":
        raise UsageError(f"probabilities is an array of {given.dtype}, floats in 0..1 are needed")
    if given.shape[:2] != (native.height, native.width) or given.ndim > 3:
        raise UsageError(f"probabilities has shape {given.shape}, the image {(native.height, native.width)}")
    if not (np.isfinite(given).all() and given.min() >= 0 and given.max() <= 1):
        raise DataError("probabilities holds a value that is not in 0..1")
    options = ffi.new("struct clv_refine_options *")
    lib.clv_refine_defaults(options)
    if given.ndim == 2:
        for name, value in {**_WEIGHTS, **weights}.items():
            setattr(options, name, value)
        labels, prior = (given > 0.5).astype(np.uint8), _scaled_odds(given)
        call(lib.clv_refine, pointer("uint8_t", labels), native, pointer("float", prior), ffi.NULL, options)
        return labels
    for name, value in weights.items():
        setattr(options, name, value)
    votes = np.ascontiguousarray(np.moveaxis(given, 2, 0), np.float32)
    labels = votes.argmax(axis=0).astype(np.uint8)
    call(lib.clv_refine_labels, pointer("uint8_t", labels), native, pointer("float", votes), given.shape[2], options)
    return labels
