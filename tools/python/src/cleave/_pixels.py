"""What needs no model: reading images, boxes to cuts, refining."""

import os
import warnings
from typing import Any, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._arrays import as_image, copied, pointer
from ._errors import UsageError, call
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


def refine(image: Labels, probabilities: npt.NDArray[Any], **weights: float) -> Labels:
    """Sharpens a network's map at the pixels, without a model: labels uint8 [height, width], by an exact minimum cut for
    two labels and by expansion for more. Without weights, how far colours may move a border depends on how soft the map
    makes it; borders sharp to two pixels stay, with a warning (`clv_refine_probabilities`).

    probabilities   floats in 0..1 of the image's size: [height, width] of label 1, or [height, width, n_labels]
    **weights       prior (of the map), nearby and overall (of colours), balance, coupling (of borders), rounds: what is given counts in
                    full, and so do the defaults of the others, however sharp the map is
    """
    native, _keep = as_image("image", image)
    given = np.asarray(probabilities)
    if given.dtype.kind != "f":
        raise UsageError(f"probabilities is an array of {given.dtype}, floats in 0..1 are needed")
    if given.shape[:2] != (native.height, native.width) or given.ndim > 3:
        raise UsageError(f"probabilities has shape {given.shape}, the image {(native.height, native.width)}")
    n_labels = given.shape[2] if given.ndim == 3 else 2
    planes = given[:, :, 1] if given.ndim == 3 and n_labels == 2 else given
    planes = np.ascontiguousarray(np.moveaxis(planes, 2, 0) if planes.ndim == 3 else planes, np.float32)
    labels = np.empty(given.shape[:2], np.uint8)
    options = ffi.NULL
    if weights:
        options = ffi.new("struct clv_refine_options *")
        lib.clv_refine_probabilities_defaults(options, n_labels)
        for name, value in weights.items():
            setattr(options, name, value)
    call(lib.clv_refine_probabilities, pointer("uint8_t", labels), native, pointer("float", planes), n_labels, options)
    share = ffi.new("double *", 1.0)
    if not weights and labels.min() < labels.max():
        call(lib.clv_refine_share, share, pointer("float", planes), n_labels, native.width, native.height)
    if share[0] == 0:
        warnings.warn("the map's borders are sharp to two pixels, so nothing was refined; weights, such as coupling=1, do it all the "
                      "same", stacklevel=2)
    return labels
