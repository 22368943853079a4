"""Arrays as a set of files, for what the library learns from files alone: boxes, images without masks, and maps."""

import contextlib
import os
import pathlib
import re
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, Range, as_bands, as_box, as_binary, as_image, as_values, npy_write, pointer
from ._errors import Error, UsageError, as_path, call
from ._model import map_planes
from ._native import ffi, lib
from ._pixels import VOID

Pair = Tuple[npt.NDArray[Any], Optional[Labels]]
TRAIN, BOXED, UNLABELLED = "masked", "boxed", "unlabelled"


def _boxes_of(name: str, given: Any, width: int, height: int) -> List[Tuple[float, float, float, float]]:
    if given is None:
        return []
    if not hasattr(given, "__len__"):
        raise UsageError(f"{name} is {given!r}, (x, y, width, height) is needed, several of these, or None")
    boxes = [given] if len(given) and np.ndim(given[0]) == 0 else given
    return [as_box(name, box, width, height) for box in boxes]


class StagedSet:
    """Images, masks, boxes and maps in a folder that goes away with the training."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.manifest = folder / "manifest.tsv"
        self.boxes = folder / "boxes.tsv"
        self.splits: List[str] = []
        self.notes: List[str] = []

    def write(self, pairs: Sequence[Pair], boxes: Optional[Sequence[Any]], maps: Mapping[str, Sequence[Any]], channel_axis: int,
              names: Optional[Sequence[str]], bands: bool, grey: Optional[Range], sequences: Optional[Sequence[str]] = None) -> None:
        for what, entries in [("boxes", boxes), *((f"maps of {name}", arrays) for name, arrays in maps.items())]:
            if entries is not None and not hasattr(entries, "__len__"):
                raise UsageError(f"{what} is {entries!r}, a list is needed, one entry an image")
            if entries is not None and len(entries) != len(pairs):
                raise UsageError(f"{what}: there are {len(entries)} for {len(pairs)} images")
        ending = "npy" if bands else "png"
        rows = ["\t".join(["image", "mask", "split", *(["sequence"] if sequences else []), *(f"maps.{name}" for name in maps)])]
        placed = ["image\tx\ty\tw\th"]
        masks: Dict[int, Labels] = {}
        for place, (image, mask) in enumerate(pairs):
            width, height = self._write_image(place, image, bands, grey)
            if mask is not None:
                masks[place] = as_values(f"mask {place}", mask, (height, width), shared=True, void=True)
            found = [] if boxes is None or mask is not None else _boxes_of(f"boxes[{place}]", boxes[place], width, height)
            placed += ["\t".join([f"image {place}.{ending}", *(repr(side) for side in box)]) for box in found]
            masked = "" if mask is None else f"mask {place}.png"
            self.splits.append(TRAIN if masked or sequences else BOXED if found else UNLABELLED)
            kept = [self._write_map(place, name, arrays[place], channel_axis) for name, arrays in maps.items()]
            own = [sequences[place]] if sequences else []
            rows.append("\t".join([f"image {place}.{ending}", masked, self.splits[-1], *own, *kept]))
        self.manifest.write_bytes(("\n".join(rows) + "\n").encode())
        self.boxes.write_bytes(("\n".join(placed) + "\n").encode())
        if masks and names is None:
            arrays, self.notes = as_binary({f"mask {place}": values for place, values in masks.items()})
            masks = dict(zip(masks, arrays))
        highest = max((self._write_mask(place, values) for place, values in masks.items()), default=0)
        if names is not None or highest > 1:
            listed_names = names if names is not None else [f"label {value}" for value in range(highest + 1)]
            listed = "".join(f"{value}\t{name}\n" for value, name in enumerate(listed_names))
            (self.folder / "labels.tsv").write_bytes(f"value\tname\n{listed}".encode())

    def options(self) -> List[Tuple[str, str]]:
        """What the options of training say of it."""
        said = [("split", TRAIN)] if TRAIN in self.splits else []
        said += [("weak_split", BOXED), ("boxes", str(self.boxes))] if BOXED in self.splits else []
        return said + ([("unlabelled_split", UNLABELLED)] if UNLABELLED in self.splits else [])

    def plain(self, text: str) -> str:
        """A message without the folder, which is nobody's, and without commands about its files."""
        text = re.sub(r"; [^;]*: cleave import masks .*", "", text)
        return text.replace(f"{self.manifest}: ", "").replace(f"{self.folder}{os.sep}", "")

    def _write_image(self, place: int, image: Any, bands: bool, grey: Optional[Range]) -> Tuple[int, int]:
        if bands:
            array = as_bands(f"image {place}", image)
            npy_write(self.folder / f"image {place}.npy", array)
            return array.shape[1], array.shape[0]
        native, _keep = as_image(f"image {place}", image, shared=True, range=grey)
        call(lib.clv_png_write, as_path(self.folder / f"image {place}.png"), native)
        return native.width, native.height

    def _write_mask(self, place: int, values: Labels) -> int:
        """Returns its highest label."""
        height, width = values.shape
        call(lib.clv_png_write_labels, as_path(self.folder / f"mask {place}.png"), width, height, pointer("uint8_t", values), ffi.NULL, 0)
        return int(values[values != VOID].max(initial=0))

    def _write_map(self, place: int, name: str, values: Any, channel_axis: int) -> str:
        file = f"{name} {place}.npy"
        npy_write(self.folder / file, map_planes(f"{name}[{place}]", values, channel_axis))
        return file


@contextlib.contextmanager
def staged() -> Iterator[StagedSet]:
    """An empty one, whose folder no error names."""
    with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
        made = StagedSet(pathlib.Path(folder))
        try:
            yield made
        except Error as error:
            error.args = (made.plain(str(error)),)
            raise
