"""Objects: their numbers at every pixel, and what there is to measure of them."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, as_array, as_bands, as_image, as_whole, copied, pointer
from ._errors import UsageError, call
from ._native import ffi, lib
from ._work import call_apart

Table = Dict[str, npt.NDArray[Any]]

_FORMATS = {"int32_t": "i4", "int64_t": "i8", "double": "f8", "double[3]": "(3,)f8"}
_FIELDS = dict(ffi.typeof("struct clv_object").fields)
_ROW = np.dtype({"names": list(_FIELDS), "formats": [_FORMATS[field.type.cname] for field in _FIELDS.values()],
                 "offsets": [field.offset for field in _FIELDS.values()], "itemsize": ffi.sizeof("struct clv_object")})


class Objects(NamedTuple):
    """The result of cleave.segment with objects=True."""

    labels: Labels  # [height, width], as without objects=True
    objects: npt.NDArray[np.int32]  # [height, width]: 1 .. n_objects, 0 for none
    table: Table  # columns of cleave.measure, each [n_objects]


def _samples(objects: npt.NDArray[np.int32], n: int, values: npt.NDArray[Any]) -> Tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Means and deviations [n, bands] of values [height, width, bands]; NaN is not counted."""
    inside, found = objects.ravel(), np.full((2, n, values.shape[2]), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        for band in range(values.shape[2]):
            samples = values[:, :, band].ravel().astype(np.float64)
            known = (inside > 0) & np.isfinite(samples)
            numbers, samples = inside[known] - 1, samples[known]
            count = np.bincount(numbers, minlength=n)
            mean = np.bincount(numbers, samples, n) / count
            found[:, :, band] = mean, np.sqrt(np.bincount(numbers, (samples - mean[numbers]) ** 2, n) / count)
    return found[0], found[1]


def _table(native: Any, image: Any, values: Any = None, bands: bool = False) -> Table:
    """Measures of a struct clv_object_map, by the names of objects.tsv; intensities are those of the image, or of an array of values:
    with `bands`, or of other than one or three of them, by number."""
    means = None
    if values is not None:
        values = as_bands("image", values)
        values = values if values.ndim == 3 else values[:, :, None]
        if values.shape[:2] != (native.height, native.width):
            raise UsageError(f"objects of {native.width}x{native.height}, an image of {values.shape[1]}x{values.shape[0]}")
        bands = bands or values.shape[2] not in (1, 3)
        values = values if bands else np.broadcast_to(values, (*values.shape[:2], 3))
        objects = copied(native.objects, "int32_t", np.int32, native.height, native.width)
        means = dict(zip(("mean", "deviation"), _samples(objects, native.n_objects, values)))
    rows = ffi.new("struct clv_object **")
    call(lib.clv_objects_measure, rows, native, image, ffi.NULL)
    found = np.empty(native.n_objects, _ROW)
    try:
        ffi.memmove(pointer("char", found), rows[0], found.nbytes)
    finally:
        lib.clv_free(rows[0])
    table: Table = {"object": np.arange(1, native.n_objects + 1, dtype=np.int32)}
    for name in _ROW.names or ():
        if name in ("mean", "deviation"):
            columns = found[name] if means is None else means[name]
            names = map(str, range(1, columns.shape[1] + 1)) if bands else ("red", "green", "blue")
            table.update((f"{name}_{colour}", columns[:, c].copy()) for c, colour in enumerate(names))
        else:
            table[name] = found[name].copy()
    return table


def objects_of(labels: Labels, model: Any, image: Any, keep: Any, given: Any, min_area: int, clear_border: bool) -> Objects:
    """Those of labels that a model (NULL: none, but a box) gave, filtered. `image` is a struct clv_image, whose pixels `keep` has, of the
    array `given`."""
    native = ffi.gc(ffi.new("struct clv_object_map *"), lib.clv_object_map_release)
    if model == ffi.NULL:
        call(lib.clv_object_map_from_labels, native, pointer("uint8_t", labels), image.width, image.height, ffi.NULL)
    else:
        call_apart(lib.clv_segment_objects, native, pointer("uint8_t", labels), model, image, keep=keep)
    call(lib.clv_object_map_filter, native, as_whole("min_area", min_area, 0, 2**63 - 1), bool(clear_border))
    bands = model != ffi.NULL and model.recipe.bands.n_bands > 0
    table = _table(native, image, None if np.asarray(given).dtype == np.uint8 and not bands else given, bands)
    return Objects(labels, copied(native.objects, "int32_t", np.int32, image.height, image.width), table)


def measure(objects: npt.NDArray[Any], image: Optional[npt.NDArray[Any]] = None) -> Table:
    """Measures the objects of an array of integers [height, width], 0 for none, each number one object in however many pieces: a dict
    of arrays [n_objects], defined as scikit-image's regionprops does.

    object                          the numbers, in their order
    label                           the label's value, -1 if not known; of cleave.segment (model.labels has its name)
    area                            pixels
    centroid_x, centroid_y          pixel (0, 0) has its centre there
    left, top, right, bottom        the box: pixels are in left .. right - 1 and top .. bottom - 1
    perimeter                       of a line through the centres of border pixels (neighbourhood 4)
    mean_red, mean_green, mean_blue, deviation_red, deviation_green, deviation_blue
                                    of the image's values; NaN without an image. An image is uint8 as everywhere, or an array of any numbers
                                    [height, width] or [height, width, bands], NaN where there is no data: of other than one or three
                                    bands, and of a model of bands, mean_1, mean_2 .. deviation_1 ..
    eccentricity                    0..1: of the ellipse with the same second moments, 0 for a disk
    solidity                        0..1: the area, divided by that of the convex hull
    mean_probability                0..1: of its pixels, to be some object's; NaN but of cleave.segment with a model that learned objects
    """
    given = as_array("objects", objects)
    if given.dtype.kind not in "ui" or given.ndim != 2 or 0 in given.shape:
        raise UsageError(f"objects is an array of {given.dtype} with shape {given.shape}; integers [height, width] are needed")
    if given.min() < 0:
        raise UsageError(f"objects holds {given.min()}; numbers are 0 and above")
    numbers, dense = np.unique(np.append(given.ravel(), given.dtype.type(0)), return_inverse=True)
    pixels = np.ascontiguousarray(dense[:-1], np.int32)
    height, width = given.shape
    native = ffi.new("struct clv_object_map *", {"width": width, "height": height, "n_objects": len(numbers) - 1,
                                                 "objects": pointer("int32_t", pixels)})
    if image is None or np.asarray(image).dtype == np.uint8:
        shown, _keep = (ffi.NULL, None) if image is None else as_image("image", image, shared=True)
        table = _table(native, shown)
    else:
        table = _table(native, ffi.NULL, image)
    table["object"] = numbers[1:]
    return table
