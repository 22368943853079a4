"""Arrays of numpy as the library's pointers, and back. What `pointer` and `as_image` give keeps its array alive."""

from typing import Any, Tuple

import numpy as np
import numpy.typing as npt

from ._errors import DataError, UsageError
from ._native import ffi


def pointer(ctype: str, array: npt.NDArray[Any]) -> Any:
    """A pointer to the elements of a contiguous array, which it keeps alive."""
    return ffi.from_buffer(ctype + "[]", array)


def checked(name: str, value: Any, dtype: Any) -> npt.NDArray[Any]:
    """value as a contiguous array of a dtype, which it must already have: nothing is rounded or cut off."""
    array = np.asarray(value)
    if array.dtype != dtype:
        raise UsageError(f"{name} is an array of {array.dtype}, {np.dtype(dtype).name} is needed")
    return np.ascontiguousarray(array)


def as_values(name: str, value: Any, shape: Tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """A mask's values as uint8, of an array of integers of any width or of bool that holds nothing else."""
    array = np.asarray(value)
    if array.dtype.kind not in "bui":
        raise UsageError(f"{name} is an array of {array.dtype}, integers in 0..255 or bool are needed")
    if array.shape != shape:
        raise UsageError(f"{name} has shape {array.shape}, {shape} is needed")
    other = (array < 0) | (array > 255)
    if other.any():
        row, column = np.argwhere(other)[0]
        raise DataError(f"{name}: value {array[row, column]} at pixel ({column}, {row}) is not in 0..255")
    return np.ascontiguousarray(array, np.uint8)


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
