"""Arrays as a training has them in memory: images or their bands, and what is known of each."""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, Range, as_array, as_bands, as_box, as_image, as_values, pointer
from ._errors import UsageError
from ._model import map_planes
from ._native import ffi, lib

Pair = Tuple[npt.NDArray[Any], Optional[Labels]]

_NUMBERS: Dict[str, int] = {
    "u1": lib.CLV_NUMBER_U8, "u2": lib.CLV_NUMBER_U16, "u4": lib.CLV_NUMBER_U32, "i1": lib.CLV_NUMBER_I8, "i2": lib.CLV_NUMBER_I16,
    "i4": lib.CLV_NUMBER_I32, "f2": lib.CLV_NUMBER_F16, "f4": lib.CLV_NUMBER_F32, "f8": lib.CLV_NUMBER_F64,
}


class InMemory:
    """The data of each image, in the order of the images, and all memory that the library's pointers point into."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.keep: List[Any] = []

    def listed(self, what: str, entries: Any) -> Any:
        """A list with an entry for each image."""
        if not hasattr(entries, "__len__"):
            raise UsageError(f"{what} is {entries!r}, a list is needed, one entry an image")
        if len(entries) != self.n:
            raise UsageError(f"{what}: there are {len(entries)} for {self.n} images")
        return entries

    def kept(self, native: Any) -> Any:
        self.keep.append(native)
        return native

    def array(self, name: str, given: npt.NDArray[Any]) -> Dict[str, Any]:
        """The initialiser of a struct clv_array."""
        kind = _NUMBERS.get(given.dtype.str[1:])
        if kind is None:
            raise UsageError(f"{name} is an array of {given.dtype}; integers of up to 32 bits or floats of 16 to 64 are needed")
        whole = np.ascontiguousarray(given, given.dtype.newbyteorder("="))
        bytes_ = self.kept(pointer("unsigned char", whole.reshape(-1).view(np.uint8)))
        return {"type": kind, "n_dimensions": whole.ndim, "shape": list(whole.shape), "values": bytes_}

    def images(self, options: Any, pairs: Sequence[Pair], bands: bool, range: Optional[Range]) -> List[Tuple[int, int]]:
        """Returns their heights and widths."""
        if bands:
            arrays = [as_bands(f"image {index}", image) for index, (image, _) in enumerate(pairs)]
            options.image_bands = self.kept(ffi.new("struct clv_array[]", [
                self.array(f"image {index}", array) for index, array in enumerate(arrays)]))
            return [(array.shape[0], array.shape[1]) for array in arrays]
        natives = [self.kept(as_image(f"image {index}", image, shared=True, range=range))[0] for index, (image, _) in enumerate(pairs)]
        options.images = self.kept(ffi.new("struct clv_image[]", [native[0] for native in natives]))
        return [(native.height, native.width) for native in natives]

    def masks(self, options: Any, pairs: Sequence[Pair], sizes: Sequence[Tuple[int, int]]) -> None:
        made = []
        for index, ((_, mask), size) in enumerate(zip(pairs, sizes)):
            values = None if mask is None else as_values(f"mask {index}", mask, size, shared=True, void=True)
            made.append({"width": size[1], "height": size[0],
                         "labels": ffi.NULL if values is None else self.kept(pointer("uint8_t", values))})
        options.masks = self.kept(ffi.new("struct clv_mask[]", made))

    def boxes(self, options: Any, boxes: Any, sizes: Sequence[Tuple[int, int]], pairs: Sequence[Pair]) -> None:
        """Sets the boxes. Boxes of images with masks are not used."""
        made: List[Dict[str, Any]] = []
        for index, (given, (height, width), (_, mask)) in enumerate(zip(self.listed("boxes", boxes), sizes, pairs)):
            found = [] if mask is not None else _boxes_of(f"boxes[{index}]", given, width, height)
            native = self.kept(ffi.new("struct clv_box[]", [
                {"x": box[0], "y": box[1], "width": box[2], "height": box[3]} for box in found]))
            made.append({"boxes": native if found else ffi.NULL, "n_boxes": len(found)})
        options.image_boxes = self.kept(ffi.new("struct clv_image_boxes[]", made))

    def objects(self, options: Any, objects: Any, sizes: Sequence[Tuple[int, int]]) -> None:
        made = [ffi.NULL] * self.n
        for index, (given, size) in enumerate(zip(self.listed("objects", objects), sizes)):
            if given is None:
                continue
            numbers = as_array(f"objects[{index}]", given)
            if numbers.dtype.kind not in "ui" or numbers.shape != size:
                raise UsageError(f"objects[{index}] is an array of {numbers.dtype} of shape {numbers.shape}; integers of shape {size} are needed")
            if numbers.min() < 0 or numbers.max() > lib.CLV_MAX_OBJECT_NUMBER:
                raise UsageError(f"objects[{index}] has the number {max(numbers.max(), -numbers.min())}; 0 to {lib.CLV_MAX_OBJECT_NUMBER} are taken")
            made[index] = self.kept(pointer("int32_t", np.ascontiguousarray(numbers, np.int32)))
        options.image_objects = self.kept(ffi.new("int32_t *[]", made))

    def maps(self, options: Any, maps: Mapping[str, Any], channel_axis: int) -> None:
        if len(maps) > lib.CLV_MAX_MAPS:
            raise UsageError(f"there are {len(maps)} maps, at most {lib.CLV_MAX_MAPS} are taken")
        for number, (name, arrays) in enumerate(maps.items()):
            spelt = name.encode()
            if not 0 < len(spelt) <= lib.CLV_MAX_MAP_NAME or b"\0" in spelt:
                raise UsageError(f"map name {name!r} must have 1 to {lib.CLV_MAX_MAP_NAME} bytes")
            planes = [map_planes(f"{name}[{index}]", given, channel_axis) for index, given in enumerate(self.listed(f"maps of {name}", arrays))]
            options.image_maps[number].name = spelt
            options.image_maps[number].arrays = self.kept(ffi.new("struct clv_array[]", [
                self.array(f"map {name}[{index}]", plane) for index, plane in enumerate(planes)]))
        options.n_image_maps = len(maps)

    def sequences(self, options: Any, names: Sequence[str]) -> None:
        native = [self.kept(ffi.new("char[]", name.encode())) for name in names]
        options.image_sequences = self.kept(ffi.new("char *[]", native))


def _boxes_of(name: str, given: Any, width: int, height: int) -> List[Tuple[float, float, float, float]]:
    if given is None:
        return []
    if not hasattr(given, "__len__"):
        raise UsageError(f"{name} is {given!r}, (x, y, width, height) is needed, several of these, or None")
    boxes = [given] if len(given) and np.ndim(given[0]) == 0 else given
    return [as_box(name, box, width, height) for box in boxes]
