"""What needs no model: reading images, superpixels, boxes and strokes to cuts, refining, scores."""

import os
import warnings
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import (
    Labels, Range, as_array, as_box, as_binary, as_image, as_number, as_range, as_values, as_whole, channels_first, copied, hidden_entries,
    narrowed, pointer)
from ._errors import DataError, Path, UsageError, as_path, call
from ._native import ffi, lib
from ._work import call_apart

VOID = 255
"""The mask value of pixels that never count."""

Box = Tuple[float, float, float, float]


def read_image(path: Path, *, range: Optional[Range] = None) -> Labels:
    """Any image file that the command reads, as uint8 [height, width, 3], its EXIF orientation applied.

    range       (low, high): which values of 16-bit grey become black and white, as those of model.range; None: 0 and 65535
    """
    low, high = as_range(range) if range is not None else (0, 0)
    limits = ffi.new("struct clv_image_limits *", {"grey16_low": low, "grey16_high": high})
    image = ffi.new("struct clv_image *")
    call(lib.clv_image_read, image, as_path(path), limits, path=path)
    try:
        return copied(image.pixels, "uint8_t", np.uint8, image.height, image.width, 3)
    finally:
        lib.clv_image_release(image)


def superpixels(image: Labels, n: int = 600, *, compactness: float = 10) -> npt.NDArray[np.int32]:
    """About n superpixels (SLIC): int32 [height, width] of numbers from 0. compactness, above 0: the larger the rounder."""
    native, keep = as_image("image", image)
    options = ffi.new("struct clv_slic_options *")
    lib.clv_slic_defaults(options)
    options.n_superpixels = as_whole("n", n, 1)
    options.compactness = as_number("compactness", compactness, 0)
    found = ffi.gc(ffi.new("struct clv_superpixels *"), lib.clv_superpixels_release)
    call_apart(lib.clv_slic, found, native, options, keep=keep)
    return copied(found.labels, "int32_t", np.int32, found.height, found.width)


def box_cut(image: Labels, box: Box, *, return_probability: bool = False) -> Any:
    """Cuts out the object in a box (x, y, width, height in pixels): labels uint8 [height, width], 1 on the object.

    With return_probability=True a pair: labels, and float32 [height, width] of how likely the object is at each pixel by colours and
    place. Colours of foreground and background are learned from the inside and the surroundings of that box alone; about 0.03 s for
    0.15 Mpixel. Raises UsageError for a box that does not meet the image.
    """
    native, keep = as_image("image", image)
    placed = ffi.new("struct clv_box *", dict(zip(("x", "y", "width", "height"), as_box("box", box, native.width, native.height))))
    labels = np.empty((native.height, native.width), np.uint8)
    likely = np.empty(labels.shape, np.float32) if return_probability else None
    call_apart(lib.clv_box_cut, pointer("uint8_t", labels), ffi.NULL if likely is None else pointer("float", likely), native, placed,
               ffi.NULL, keep=keep)
    return labels if likely is None else (labels, likely)


def _as_strokes(given: Any, shape: Tuple[int, int], has_before: bool) -> Labels:
    """Returns values 1, 0 and VOID; refuses others."""
    hidden = hidden_entries(given)
    given = given if hidden is None else given.filled(False if given.dtype == bool else VOID)
    seeds = as_values("strokes", given, shape)
    if as_array("strokes", given).dtype == bool:
        seeds = np.where(seeds == 1, seeds, np.uint8(VOID))
    if (seeds == VOID).all() and not has_before:
        raise DataError("strokes shows neither the object, by 1 or True, nor what is beside it: nothing is stroked")
    if (seeds <= 1).all():
        raise DataError("strokes holds no 255, which is elsewhere, and 0 is certain background, so nothing is left to cut; "
                        "strokes == 1 takes 1 as the object's and 0 as elsewhere")
    if np.isin(seeds, (0, VOID)).all() and (seeds == 0).any() and not has_before:
        raise DataError("strokes holds 0 and 255 and no 1: 0 is certain background, 255 is elsewhere, so no object is shown; strokes == 255 "
                        "takes 255 as the object's and 0 as elsewhere")
    return seeds


def click_cut(image: Labels, strokes: Labels, *, before: Optional[Labels] = None) -> Labels:
    """Cuts out the object that strokes show: labels uint8 [height, width], 1 on the object.

    strokes     [height, width]: 1 on the object, 0 beside it, VOID (255) elsewhere. What is stroked is certain. Of bool: True on the
                object, False elsewhere; masked entries of numpy.ma are elsewhere, too. Strokes that leave nothing to decide, or
                without `before` show no object, are refused
    before      labels of 0 and 1, or bool, to start from, such as those of fewer strokes; of 0 and 255 alone, 255 is the object
    """
    native, keep = as_image("image", image)
    shape = (native.height, native.width)
    earlier = None if before is None else as_values("before", before, shape)
    seeds = _as_strokes(strokes, shape, earlier is not None)
    if earlier is not None and (earlier == 255).any() and np.isin(earlier, (0, 255)).all():
        earlier //= 255
    labels = np.empty(shape, np.uint8)
    call_apart(lib.clv_click_cut, pointer("uint8_t", labels), native, pointer("uint8_t", seeds),
               ffi.NULL if earlier is None else pointer("uint8_t", earlier), keep=keep)
    return labels


def _warn_of_probabilities(planes: npt.NDArray[Any], are_all: bool) -> None:
    """Refuses values outside of 0..1 by more than rounding and resizing, and labels of a pixel that do not sum to 1."""
    low, high = float(planes.min()), float(planes.max())
    if low < -0.05 or high > 1.05:
        warnings.warn(f"probabilities holds {low:g} .. {high:g}, which is clipped to 0..1; of logits 1 / (1 + numpy.exp(-x)) or a softmax "
                      "makes probabilities", stacklevel=3)
    sums = planes.sum(axis=0, dtype=np.float64) if are_all else np.ones(1)
    index = int(np.abs(sums - 1).argmax())
    if abs(sums.flat[index] - 1) > 0.01:
        y, x = divmod(index, planes.shape[2])
        warnings.warn(f"probabilities of the {len(planes)} labels sum to {sums.flat[index]:g} at pixel ({x}, {y}), not to 1: are they those "
                      "of one softmax, along channel_axis?", stacklevel=3)


def refine(image: Labels, probabilities: npt.NDArray[Any], *, channel_axis: int = -1, prior: Optional[float] = None,
           nearby: Optional[float] = None, overall: Optional[float] = None, balance: Optional[float] = None,
           coupling: Optional[float] = None, rounds: Optional[int] = None) -> Labels:
    """Refines the borders of a network's map at the pixels, without a model: labels uint8 [height, width], by an exact minimum cut for
    two labels and by expansion for more. Without weights, how far colours may move a border depends on how soft the map
    makes it; borders sharp to two pixels stay, with a warning (`clv_refine_probabilities`).

    probabilities   floats in 0..1 of the image's size: [height, width] or [height, width, 1] of label 1, or [height, width,
                    n_labels], whose labels are along channel_axis (0: [n_labels, height, width]). What leaves 0..1 is clipped,
                    with a warning from 0.05 on; values below -0.5 or above 1.5 are refused. A warning names a pixel whose labels
                    do not sum to 1 within 0.01
    prior, nearby, overall, balance, coupling, rounds
                    weights of the map, of colours nearby and overall, of the areas, of borders, and how often: what is given
                    counts in full, and so do the defaults of the others, however sharp the map is
    """
    native, keep = as_image("image", image)
    given = as_array("probabilities", probabilities)
    if given.dtype.kind != "f":
        raise UsageError(f"probabilities is an array of {given.dtype}, floats in 0..1 are needed; bytes become that by probabilities / 255")
    planes = channels_first("probabilities", given, channel_axis) if given.ndim == 3 else given
    if given.ndim not in (2, 3) or planes.shape[-2:] != (native.height, native.width):
        raise UsageError(f"probabilities has shape {given.shape}, the image {(native.height, native.width)}; channel_axis is {channel_axis}" +
                         ("; channel_axis=0 is that of labels in front" if given.shape[1:] == (native.height, native.width) else ""))
    n_labels = 2 if given.ndim == 2 or len(planes) == 1 else len(planes)
    planes = narrowed("probabilities", planes, np.float32, channel_axis)
    _warn_of_probabilities(planes, given.ndim == 3 and len(planes) > 1)
    planes = np.array(planes[-1] if given.ndim == 3 and n_labels == 2 else planes, order="C")
    labels = np.empty((native.height, native.width), np.uint8)
    weights = {"prior": prior, "nearby": nearby, "overall": overall, "balance": balance, "coupling": coupling, "rounds": rounds}
    said = {name: value for name, value in weights.items() if value is not None}
    options = ffi.NULL
    if said:
        options = ffi.new("struct clv_refine_options *")
        lib.clv_refine_probabilities_defaults(options, n_labels)
        for name, value in said.items():
            setattr(options, name, as_whole(name, value, 1) if name == "rounds" else as_number(name, value, 0))
    call_apart(lib.clv_refine_probabilities, pointer("uint8_t", labels), native, pointer("float", planes), n_labels, options, keep=keep)
    share = ffi.new("double *", 1.0)
    if not said and labels.min() < labels.max():
        call(lib.clv_refine_share, share, pointer("float", planes), n_labels, native.width, native.height)
    if share[0] == 0:
        warnings.warn("the map's borders are sharp to two pixels, so nothing was refined; weights, such as coupling=1, do it all the "
                      "same", stacklevel=2)
    return labels


class Score(NamedTuple):
    """Metrics of labels against the ground truth."""

    weighted_hamming: float  # balanced error: the mean over true labels of the share of their pixels that is wrong
    hamming: float  # share of wrong pixels
    mean_iou: float  # intersection over union, the mean over labels >= 1 that occur
    n_pixels: int  # the number of pixels that are counted


def score(labels: Labels, truth: Labels, *, void: bool = False) -> Score:
    """Compares labels [height, width] with a mask, whose VOID (255) does not count.

    Foreground and background are read as the command reads files: in an array of 0 and 255 alone 255 is the foreground, with a warning. Raises
    DataError where one array has it so and the other beside 1. void=True: 255 does not count there either. Masked entries of numpy.ma
    are void.
    """
    shape = np.shape(truth) if hidden_entries(truth) is not None else as_array("truth", truth).shape
    if len(shape) != 2 and not isinstance(truth, (str, bytes, os.PathLike)):
        raise UsageError(f"truth has shape {shape}, [height, width] is needed; give one image at a time")
    true, predicted = as_values("truth", truth, shape, void=True), as_values("labels", labels, shape, void=True)
    if not void and (VOID in true or VOID in predicted):
        (true, predicted), notes = as_binary({"truth": true, "labels": predicted}, "void=True ignores it, or write foreground as 1")
        for note in notes:
            warnings.warn(note, stacklevel=2)
    both = np.concatenate([true[true != VOID], predicted[predicted != VOID]])
    confusion = ffi.gc(ffi.new("struct clv_confusion *"), lib.clv_confusion_release)
    call(lib.clv_confusion_init, confusion, int(max(1, both.max(initial=0))) + 1)
    lib.clv_confusion_add(confusion, pointer("uint8_t", true), pointer("uint8_t", predicted), true.size)
    found = lib.clv_confusion_score(confusion)
    return Score(found.weighted_hamming, found.hamming, found.mean_iou, found.n_pixels)
