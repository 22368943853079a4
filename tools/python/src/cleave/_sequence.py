"""Slices of a volume and frames of a video, whose labels hold together."""

import os
import warnings
from typing import Any, List, Mapping, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, Range, as_image, as_values, as_whole, pointer
from ._errors import UsageError, call
from ._native import ffi, lib
from ._work import Progress, Work


def as_volume(name: str, value: Any, range: Optional[Range] = None) -> List[Tuple[Any, Any]]:
    """Its slices as as_image gives them: of an array [slices, height, width], or with channels behind, or of a list of images."""
    if isinstance(value, np.ndarray) and value.ndim not in (3, 4):
        raise UsageError(f"{name} has shape {value.shape}; [slices, height, width] is needed, or [slices, height, width, 3]")
    try:
        if isinstance(value, (str, bytes, os.PathLike)):
            raise TypeError
        slices = list(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r}; an array [slices, height, width] is needed, or a list of images") from None
    if not slices:
        raise UsageError(f"{name} has no slices")
    return [as_image(f"{name}: slice {index}", one, shared=True, range=range) for index, one in enumerate(slices)]


def as_masks(name: str, given: Any, n: int) -> List[Any]:
    """A mask or None for each slice, from {slice: mask}, a list, or an array [slices, height, width]."""
    if isinstance(given, Mapping):
        places = {as_whole(f"{name}: slice", index, 0, n - 1): mask for index, mask in given.items()}
        return [places.get(index) for index in range(n)]
    if given is not None and not hasattr(given, "__len__"):
        raise UsageError(f"{name} is {given!r}; {{slice: mask}} is needed, or a list with an entry for each slice")
    masks = list(given) if given is not None else [None] * n
    if len(masks) != n:
        raise UsageError(f"{name}: there are {len(masks)} for {n} slices; {{slice: mask}} gives those of some")
    return masks


def _pointers(labels: Labels, is_wanted: List[bool]) -> Any:
    start, size = pointer("uint8_t", labels), labels[0].size
    return ffi.new("uint8_t *[]", [start + index * size if wanted else ffi.NULL for index, wanted in enumerate(is_wanted)]), start


def _options(work: Work, refine: Optional[bool], threads: int) -> Any:
    options = ffi.new("struct clv_sequence_options *")
    lib.clv_sequence_defaults(options)
    if refine is not None:
        options.refine = lib.CLV_REFINE_ALL if refine else lib.CLV_REFINE_NONE
    options.n_threads = as_whole("threads", threads, 0)
    options.progress = work.native
    return options


def segment_slices(model: Any, volume: Any, refine: Optional[bool], threads: int, progress: Optional[Progress]) -> Labels:
    """Segments a volume by a model that was trained with sequence=True."""
    slices, work = as_volume("volume", volume, model.range), Work(progress)
    images = ffi.new("struct clv_image[]", [native[0] for native, _ in slices])
    labels = np.empty((len(slices), images[0].height, images[0].width), np.uint8)
    places, _start = _pointers(labels, [True] * len(slices))
    options = _options(work, refine, threads)
    work.run(lambda: call(lib.clv_segment_sequence, places, model._native, images, len(slices), options))
    return labels


def propagate(frames: npt.NDArray[Any], masks: Any, *, threads: int = 0, progress: Optional[Progress] = None) -> Labels:
    """Masks of all frames from those of some, without any training: what `cleave propagate` writes, uint8 [frames, height,
    width].

    frames      [frames, height, width, 3] or [frames, height, width] of uint8, or a list of images of one size
    masks       {0: mask}: of some frames, or a list with an entry for each, None where none is known. 1 or True is foreground, 0 background,
                other values are neither, but of masks of 0 and 255 alone 255 is foreground. These masks stay as they are; each other
                frame's is propagated from the nearest of them, before or after it
    threads     0: all processors; they share the ways from one given mask to the next
    progress    called as progress(stage, done, total) now and then, from other threads

    Ctrl-C ends it.
    """
    images, work = as_volume("frames", frames), Work(progress)
    height, width = images[0][0].height, images[0][0].width
    given = [None if mask is None else as_values(f"masks: frame {index}", mask, (height, width), shared=True, void=True)
             for index, mask in enumerate(as_masks("masks", masks, len(images)))]
    known_masks = [mask for mask in given if mask is not None]
    if any((mask == 255).any() for mask in known_masks) and all(np.isin(mask, (0, 255)).all() for mask in known_masks):
        warnings.warn("masks: 255 is foreground, as there is nothing else but 0", stacklevel=2)
        given = [mask if mask is None else (mask == 255).astype(np.uint8) for mask in given]
    labels = np.empty((len(images), height, width), np.uint8)
    for index, mask in enumerate(given):
        if mask is not None:
            labels[index] = mask
    if all(mask is not None for mask in given):
        return labels
    native = ffi.new("struct clv_image[]", [image[0] for image, _ in images])
    held = [ffi.NULL if mask is None else pointer("uint8_t", mask) for mask in given]
    places, _start = _pointers(labels, [mask is None for mask in given])
    options, known = _options(work, None, threads), ffi.new("uint8_t *[]", held)
    work.run(lambda: call(lib.clv_propagate_masks, places, known, native, len(images), options))
    return labels
