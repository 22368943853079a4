"""Objects: their numbers at every pixel, and what there is to measure of them."""

from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, as_image, as_whole, copied, pointer
from ._errors import UsageError, call
from ._native import ffi, lib
from ._work import call_apart

Table = Dict[str, npt.NDArray[Any]]

_FORMATS = {"int32_t": "i4", "int64_t": "i8", "double": "f8", "double[3]": "(3,)f8"}
_FIELDS = dict(ffi.typeof("struct clv_object").fields)
_ROW = np.dtype({"names": list(_FIELDS), "formats": [_FORMATS[field.type.cname] for field in _FIELDS.values()],
                 "offsets": [field.offset for field in _FIELDS.values()], "itemsize": ffi.sizeof("struct clv_object")})


class Objects(NamedTuple):
    """What cleave.segment gives with objects=True."""

    labels: Labels  # [height, width], as without
    objects: npt.NDArray[np.int32]  # [height, width]: 1 .. n_objects, 0 for none
    table: Table  # columns of cleave.measure, each [n_objects]


def _table(native: Any, image: Any) -> Table:
    """Measures of a struct clv_object_map, by the names of objects.tsv."""
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
            table.update((f"{name}_{colour}", found[name][:, c].copy()) for c, colour in enumerate(("red", "green", "blue")))
        else:
            table[name] = found[name].copy()
    return table


def objects_of(labels: Labels, model: Any, image: Any, keep: Any, min_area: int, clear_border: bool) -> Objects:
    """Those of labels that a model (NULL: none, but a box) gave, filtered. `image` is a struct clv_image, whose pixels `keep` has."""
    native = ffi.gc(ffi.new("struct clv_object_map *"), lib.clv_object_map_release)
    if model == ffi.NULL:
        call(lib.clv_object_map_from_labels, native, pointer("uint8_t", labels), image.width, image.height, ffi.NULL)
    else:
        call_apart(lib.clv_segment_objects, native, pointer("uint8_t", labels), model, image, keep=keep)
    call(lib.clv_object_map_filter, native, as_whole("min_area", min_area, 0, 2**63 - 1), bool(clear_border))
    return Objects(labels, copied(native.objects, "int32_t", np.int32, image.height, image.width), _table(native, image))


def measure(objects: npt.NDArray[Any], image: Optional[Labels] = None) -> Table:
    """Measures the objects of an array of integers [height, width], 0 for none, each number one object in however many pieces: a dict
    of arrays [n_objects], defined as scikit-image's regionprops does.

    object                          the numbers, in their order
    label                           the label's value, -1 if not known; of cleave.segment (model.labels has its name)
    area                            pixels
    centroid_x, centroid_y          pixel (0, 0) has its centre there
    left, top, right, bottom        the box: pixels are in left .. right - 1 and top .. bottom - 1
    perimeter                       of a line through the centres of border pixels (neighbourhood 4)
    mean_red, mean_green, mean_blue, deviation_red, deviation_green, deviation_blue
                                    of the image's values, 0..255; NaN without an image
    eccentricity                    0..1: of the ellipse with the same second moments, 0 for a disk
    solidity                        0..1: the area, divided by that of the convex hull
    mean_probability                0..1: of its pixels, to be some object's; NaN but of cleave.segment with a model that learned objects
    """
    given = np.asarray(objects)
    if given.dtype.kind not in "ui" or given.ndim != 2 or 0 in given.shape:
        raise UsageError(f"objects is an array of {given.dtype} with shape {given.shape}; integers [height, width] are needed")
    if given.min() < 0:
        raise UsageError(f"objects holds {given.min()}; numbers are 0 and above")
    numbers, dense = np.unique(np.append(given.ravel(), given.dtype.type(0)), return_inverse=True)
    pixels = np.ascontiguousarray(dense[:-1], np.int32)
    height, width = given.shape
    native = ffi.new("struct clv_object_map *", {"width": width, "height": height, "n_objects": len(numbers) - 1,
                                                 "objects": pointer("int32_t", pixels)})
    shown, _keep = (ffi.NULL, None) if image is None else as_image("image", image, shared=True)
    table = _table(native, shown)
    table["object"] = numbers[1:]
    return table
