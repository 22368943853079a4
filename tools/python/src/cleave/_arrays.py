"""Arrays of numpy as the library's pointers, and back. What `pointer` and `as_image` give keeps its array alive."""

from typing import Any, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._errors import UsageError
from ._native import ffi


def pointer(ctype: str, array: npt.NDArray[Any]) -> Any:
    """A pointer to the elements of a contiguous array, which it keeps alive."""
    return ffi.from_buffer(ctype + "[]", array)


def checked(name: str, value: Any, dtype: Any, shape: Optional[Tuple[int, ...]] = None) -> npt.NDArray[Any]:
    """value as a contiguous array of a dtype, which it must already have: nothing is rounded or cut off."""
    array = np.asarray(value)
    if array.dtype != dtype:
        raise UsageError(f"{name} is an array of {array.dtype}, {np.dtype(dtype).name} is needed")
    if shape is not None and array.shape != shape:
        raise UsageError(f"{name} has shape {array.shape}, {shape} is needed")
    return np.ascontiguousarray(array)


def as_image(name: str, value: Any) -> Any:
    """A struct clv_image over an image's pixels; grey images are copied into three channels. The second value keeps
    the pixels alive."""
    pixels = checked(name, value, np.uint8)
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or 0 in pixels.shape:
        raise UsageError(f"{name} has shape {pixels.shape}; [height, width, 3] or [height, width] is needed")
    if max(pixels.shape) > 2**31 - 1:
        raise UsageError(f"{name} has shape {pixels.shape}; sides end at 2147483647")
    data = pointer("uint8_t", pixels)
    return ffi.new("struct clv_image *", {"width": pixels.shape[1], "height": pixels.shape[0], "channels": 3,
                                          "pixels": data}), data


def copied(source: Any, ctype: str, dtype: Any, *shape: int) -> npt.NDArray[Any]:
    """A new array from memory of the library; zeros in a shape mean that there is nothing."""
    n = int(np.prod(shape, dtype=np.int64))
    if n == 0 or source == ffi.NULL:
        return np.zeros(shape, dtype)
    return np.frombuffer(ffi.buffer(ffi.cast(ctype + " *", source), n * np.dtype(dtype).itemsize), dtype).reshape(shape).copy()
