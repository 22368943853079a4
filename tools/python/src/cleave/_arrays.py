"""Arrays of numpy as the library's pointers, and back; what arguments must be. What `pointer` and `as_image` give keeps
its array alive."""

import io
import math
import os
import pathlib
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._errors import DataError, UsageError, call
from ._native import ffi, lib

Labels = npt.NDArray[np.uint8]


def pointer(ctype: str, array: npt.NDArray[Any]) -> Any:
    """A pointer to the elements of a contiguous array, which it keeps alive."""
    return ffi.from_buffer(ctype + "[]", array)


def as_number(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is {value!r}, a number is needed") from None
    if not least <= number <= most:
        raise UsageError(f"{name} is {value!r}, must be " + (
            f"in {least:.15g}..{most:.15g}" if math.isfinite(most) else f"at least {least:.15g}" if math.isfinite(least) else "a number"))
    return number


def as_whole(name: str, value: Any, least: int, most: int = 2**31 - 1) -> int:
    """A whole number; fractions, strings and bools are refused."""
    try:
        number = value.__index__() if not isinstance(value, bool) else None
    except AttributeError:
        number = None
    if number is None:
        raise UsageError(f"{name} is {value!r}, a whole number is needed")
    if not least <= number <= most:
        raise UsageError(f"{name} is {value!r}, must be in {least}..{most}")
    return int(number)


def as_flag(name: str, value: Any) -> bool:
    if not isinstance(value, (int, np.bool_)) or value not in (0, 1):
        raise UsageError(f"{name} is {value!r}, must be True or False")
    return bool(value)


def as_names(given: Any) -> Optional[List[str]]:
    """Names of labels, beginning with label 0; None: no names are given."""
    if given is None:
        return None
    if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__iter__"):
        raise UsageError(f"labels is {given!r}, a list of names is needed, that of label 0 first")
    names = [str(name) for name in given]
    if not 2 <= len(names) <= 255:
        raise UsageError(f"labels has {len(names)} names, 2 to 255 are needed, that of label 0 first")
    for name in names:
        if not 0 < len(name.encode()) < 64 or set(name) & set("\0\t\r\n"):
            raise UsageError(f"label name {name!r} must have 1 to 63 bytes, none of them a tab, a line break or a zero byte")
    return names


def hidden_entries(value: Any) -> Optional[npt.NDArray[np.bool_]]:
    """The masked entries of an array of numpy.ma; None: no entry is masked."""
    if not isinstance(value, np.ma.MaskedArray):
        return None
    hidden = np.broadcast_to(np.asarray(value.mask, bool), value.shape)
    return hidden if hidden.any() else None


def as_array(name: str, value: Any) -> npt.NDArray[Any]:
    """Converts a value to one array of numpy. Masked entries are refused."""
    if value is None:
        raise UsageError(f"{name} is None, an array is needed")
    hidden = hidden_entries(value)
    if hidden is not None:
        raise UsageError(f"{name} is a masked array, {int(hidden.sum())} of its entries have no value, which means nothing here; "
                         f"{name.split()[0].rstrip(':')}.filled(value) gives them one")
    try:
        return np.asarray(value)
    except ValueError:
        raise UsageError(f"{name} ({type(value).__name__}) has parts of different shapes, one array is needed") from None


def _shape_remedy(array: npt.NDArray[Any], shape: Tuple[int, ...]) -> str:
    """What makes values of colours, or of a mask that is smaller or larger by a whole factor."""
    if array.ndim == 3 and array.shape[:2] == shape and array.shape[2] in (1, 3, 4):
        return ("; mask[:, :, 0] is one channel" if array.shape[2] == 1 else
                "; to number its colours over all masks: numpy.unique(mask.reshape(-1, mask.shape[2]), axis=0, return_inverse=True)")
    if len(shape) != 2 or array.ndim != 2 or not array.size:
        return ""
    if array.shape == shape[::-1]:
        return "; is it to be turned, as by numpy.rot90?"
    up, down = shape[0] // array.shape[0], array.shape[0] // max(shape[0], 1)
    if up > 1 and (array.shape[0] * up, array.shape[1] * up) == shape:
        return f"; mask.repeat({up}, 0).repeat({up}, 1) has it"
    if down > 1 and (shape[0] * down, shape[1] * down) == array.shape:
        return f"; mask[::{down}, ::{down}] has it"
    return ""


def as_values(name: str, value: Any, shape: Tuple[int, ...], *, shared: bool = False, void: bool = False) -> Labels:
    """A copy of a mask's values, or of nodes' labels, as uint8, of an array of integers of any width or of bool that holds nothing else;
    `shared`: the array itself, if it is contiguous and of uint8. `void`: 255 may be void, which masked entries of numpy.ma are then; the
    foreground of 0 and 255 alone is 1 beside them."""
    hidden = hidden_entries(value) if void else None
    if hidden is not None:
        values = as_values(name, value.filled(0), shape)
        if np.isin(values, (0, 255)).all():
            values = (values == 255).astype(np.uint8)
        values[hidden] = 255
        return values
    if isinstance(value, (str, bytes, os.PathLike)):
        raise UsageError(f"{name} is {value!r}, an array is needed; numpy.array(PIL.Image.open(path)) is one")
    array = as_array(name, value)
    if array.dtype.kind not in "bui":
        is_whole = array.dtype.kind == "f" and bool((array == np.rint(array)).all())
        remedy = f"; its values are whole: {name.split()[0]}.astype('uint8')" if is_whole else ""
        raise UsageError(f"{name} is an array of {array.dtype}, integers in 0..255 or bool are needed{remedy}")
    if array.shape != shape:
        raise UsageError(f"{name} has shape {array.shape}, {shape} is needed{_shape_remedy(array, shape)}")
    other = (array < 0) | (array > 255)
    if other.any():
        index = tuple(np.argwhere(other)[0].tolist())
        where = f"pixel {index[::-1]}" if len(index) == 2 else f"node {index[0]}"
        raise DataError(f"{name}: value {array[index]} at {where} is not in 0..255")
    return np.ascontiguousarray(array, np.uint8) if shared else np.array(array, np.uint8, order="C")


def as_binary(arrays: Mapping[str, Labels], remedy: Optional[str] = None) -> Tuple[List[Labels], List[str]]:
    """Masks as files of them are read without labels.tsv, all together: 0 and 255 are 0 and 1. As they are where values are labels.
    The second list tells how they were read; `remedy` ends the message about a 255 that nobody can tell. Without it they are to be
    learned from, and values most of which would be labels that occur nowhere are refused."""
    given = list(arrays.values())
    notes: Dict[str, str] = {}
    names = [ffi.new("char[]", name.encode()) for name in arrays]
    values = ffi.new("struct clv_mask[]", [
        {"width": array.shape[1], "height": array.shape[0], "labels": pointer("uint8_t", array)} for array in given])
    made, are_binary = ffi.new("struct clv_mask[]", len(given)), ffi.new("bool *")
    call(lib.clv_masks_from_values, made, are_binary, values, ffi.new("char *[]", names), len(given), ffi.NULL if remedy is None else remedy.encode())
    if not are_binary[0]:
        return given, []
    try:
        for name, mask in zip(arrays, made):
            if mask.note != ffi.NULL:
                note = ffi.string(mask.note).decode()
                notes.setdefault(note, f"{name}: {note}")
        return [copied(mask.labels, "uint8_t", np.uint8, mask.height, mask.width) for mask in made], list(notes.values())
    finally:
        for mask in made:
            lib.clv_mask_release(ffi.addressof(mask))


def as_floats(name: str, value: Any, dtype: Any, shape: Optional[Tuple[int, ...]] = None) -> npt.NDArray[Any]:
    """Numbers of any type as a contiguous array of floats."""
    array = as_array(name, value)
    if array.dtype.kind not in "buif":
        raise UsageError(f"{name} is an array of {array.dtype}, numbers are needed")
    if shape is not None and array.shape != shape:
        raise UsageError(f"{name} has shape {array.shape}, {shape} is needed")
    return narrowed(name, array, dtype)


def narrowed(name: str, array: npt.NDArray[Any], dtype: Any, channel_axis: int = 0) -> npt.NDArray[Any]:
    """Numbers as a contiguous array of `dtype`. What is finite must stay so: an error names where the argument has it, whose first
    axis of three was channel_axis."""
    with np.errstate(over="ignore"):
        made = array.astype(dtype, order="C", copy=False)
    lost = np.isinf(made) & np.isfinite(array) if made is not array else np.zeros(0, bool)
    if lost.any():
        index = np.argwhere(lost)[0].tolist()
        value = array[tuple(index)]
        if len(index) == 3:
            index.insert(channel_axis % 3, index.pop(0))
        where = f"[{', '.join(map(str, index))}]" if index else ""
        raise DataError(f"{name}{where} is {value:g}, sizes of at most {np.finfo(dtype).max:.2g} are taken")
    return made


def as_edges(name: str, value: Any, n_nodes: int) -> npt.NDArray[np.int32]:
    """Pairs of nodes of a graph: a copy, int32 [m, 2]."""
    pairs = as_array(name, value)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "ui":
        if pairs.size == 0:
            return np.empty((0, 2), np.int32)
        remedy = f"; {name.split()[-1]}.T has that shape" if pairs.ndim == 2 and len(pairs) == 2 else ""
        raise UsageError(f"{name} is an array of {pairs.dtype} of shape {pairs.shape}, integers [m, 2] are needed{remedy}")
    wrong = (pairs < 0).any(axis=1) | (pairs >= n_nodes).any(axis=1) | (pairs[:, 0] == pairs[:, 1])
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        raise UsageError(f"{name}: edge {index} is {tuple(pairs[index].tolist())}, two different nodes of 0 .. {n_nodes - 1} are needed")
    return np.array(pairs, np.int32, order="C")


def npy_write(path: pathlib.Path, array: npt.NDArray[Any]) -> None:
    content = io.BytesIO()  # numpy leaks memory if it writes to a file itself
    np.save(content, array)
    path.write_bytes(content.getbuffer())


def as_bands(name: str, value: Any) -> npt.NDArray[Any]:
    """An image of bands: [height, width, bands], or [height, width] of one."""
    array = as_array(name, value)
    if array.dtype.kind not in "uif":
        raise UsageError(f"{name} is an array of {array.dtype}, numbers are needed")
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise UsageError(f"{name} has shape {array.shape}; [height, width, bands] is needed")
    return array


def channels_first(name: str, array: npt.NDArray[Any], channel_axis: int) -> npt.NDArray[Any]:
    """The planes [channels, height, width] of an array of three dimensions."""
    return np.moveaxis(array, as_whole("channel_axis", channel_axis, -3, 2), 0)


_REMEDIES = {
    "f": "values in 0..1 become that by (255 * image).round().astype('uint8')",
    "b": "255 * image.astype('uint8') makes black and white of it",
    "u2": "(image / 257).round().astype('uint8') keeps the upper 8 of 16 bits; grey of 16 bits is taken as it is by a model of train(range=(low, high))",
}


Range = Tuple[int, int]


def as_range(given: Any) -> Range:
    """Values of 16-bit grey that become black and white."""
    try:
        low, high = given
    except (TypeError, ValueError):
        raise UsageError(f"range is {given!r}, (low, high) is needed") from None
    low = as_whole("range[0]", low, 0, 65534)
    return low, as_whole("range[1]", high, low + 1, 65535)


def as_image(name: str, value: Any, *, shared: bool = False, range: Optional[Range] = None) -> Any:
    """A struct clv_image of a copy of an image's pixels; `shared`: over the pixels where they lie, if they are contiguous and of three
    channels. With a range integers [height, width] are taken as 16-bit grey. The second value keeps the pixels alive."""
    if isinstance(value, (str, bytes, os.PathLike)):
        raise UsageError(f"{name} is {value!r}, an array is needed; give cleave.read_image(path)")
    pixels = as_array(name, value)
    if pixels.ndim == 0:
        raise UsageError(f"{name} is {value!r}, an array is needed")
    is_grey = pixels.ndim == 2 or pixels.ndim == 3 and pixels.shape[2] == 1
    is_deep = pixels.dtype.kind in "iu" and pixels.dtype.itemsize > 1
    if range and is_deep and is_grey:
        low, high = range
        pixels = ((255 * (np.clip(pixels.astype(np.int64), low, high) - low) + (high - low) // 2) // (high - low)).astype(np.uint8)
    if pixels.dtype != np.uint8:
        kind = "u2" if is_deep and pixels.size and pixels.max() > 255 else pixels.dtype.kind
        remedy = _REMEDIES.get(kind, "image.astype('uint8') if its values are 0..255")
        raise UsageError(f"{name} is an array of {pixels.dtype}, uint8 in 0..255 is needed; {remedy}; train(bands=True) takes numbers of any kind")
    n_channels = pixels.shape[2] if pixels.ndim == 3 else 1
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or n_channels not in (1, 3, 4):
        remedy = "; np.moveaxis(image, 0, 2) puts channels last" if pixels.ndim == 3 and pixels.shape[0] in (1, 3, 4) else ""
        remedy = "; give one image at a time, or a volume with sequence=True" if pixels.ndim == 4 else remedy
        remedy = remedy or ("; train(bands=True) takes any number of bands" if pixels.ndim == 3 and 0 not in pixels.shape else "")
        raise UsageError(f"{name} has shape {pixels.shape}; [height, width] in grey, or [height, width, 3] in RGB (4: and alpha, 1: grey) is "
                         f"needed{remedy}")
    if max(pixels.shape) > 2**31 - 1:
        raise UsageError(f"{name} has shape {pixels.shape}; sides end at 2147483647")
    height, width = pixels.shape[:2]
    data = pointer("uint8_t", np.ascontiguousarray(pixels) if shared else np.array(pixels, order="C"))
    if n_channels == 3:
        return ffi.new("struct clv_image *", {"width": width, "height": height, "channels": 3, "pixels": data}), data
    native = ffi.gc(ffi.new("struct clv_image *"), lib.clv_image_release)
    call(lib.clv_image_from_pixels, native, data, width, height, n_channels)
    return native, data


def as_box(name: str, value: Any, width: int, height: int) -> Tuple[float, float, float, float]:
    """A box (x, y, width, height), cut at the border of an image of that size."""
    try:
        x, y, wide, high = (float(side) for side in value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is {value!r}, four numbers (x, y, width, height) are needed") from None
    left, top, right, bottom = max(x, 0.0), max(y, 0.0), min(x + wide, float(width)), min(y + high, float(height))
    if not (right > left and bottom > top):
        raise UsageError(f"{name} {value!r} does not meet the image of {width} x {height} pixels")
    return left, top, right - left, bottom - top


def copied(source: Any, ctype: str, dtype: Any, *shape: int) -> npt.NDArray[Any]:
    """A new array from memory of the library; a shape with a zero is an empty array."""
    n = int(np.prod(shape, dtype=np.int64))
    if n == 0 or source == ffi.NULL:
        return np.zeros(shape, dtype)
    return np.frombuffer(ffi.buffer(ffi.cast(ctype + " *", source), n * np.dtype(dtype).itemsize), dtype).reshape(shape).copy()
