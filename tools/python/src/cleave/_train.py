"""Learning models from a folder, a manifest, or arrays."""

import difflib
import os
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _table
from ._arrays import Range, as_flag, as_names, as_number, as_range, as_whole
from ._errors import Error, Path, UsageError, as_path, as_text, call
from ._in_memory import InMemory, Pair
from ._model import Model, as_maps
from ._native import ffi, lib
from ._pixels import VOID
from ._sequence import as_masks
from ._table import helps, rows_of, set_maps, set_options
from ._work import Progress, Work


def learners() -> Dict[str, Dict[str, Any]]:
    """The learners by name, each with its parameters and their defaults."""
    found: Dict[str, Dict[str, Any]] = {}
    index = 0
    while lib.clv_learner_at(index) != ffi.NULL:
        learner = lib.clv_learner_at(index)
        parameters: Dict[str, Any] = {}
        number = 0
        while learner.parameters[number].name != ffi.NULL:
            parameter = learner.parameters[number]
            names = parameter.choices
            parameters[ffi.string(parameter.name).decode()] = (
                parameter.value if names == ffi.NULL else ffi.string(names[int(parameter.value)]).decode())
            number += 1
        found[ffi.string(learner.name).decode()] = parameters
        index += 1
    return found


def _value(learner: Any, index: int, name: str, value: Any) -> float:
    choices = learner.parameters[index].choices
    if choices == ffi.NULL:
        return as_number(name, value)
    names: List[str] = []
    while choices[len(names)] != ffi.NULL:
        names.append(ffi.string(choices[len(names)]).decode())
    if value not in names:
        raise UsageError(f"{name} is {value!r}, must be one of {', '.join(names)}")
    return float(names.index(value))


def _set_parameters(options: Any, learner: Any, parameters: Dict[str, Any]) -> None:
    for name, value in parameters.items():
        spelt = name[:-1] if name.endswith("_") else name  # lambda_ stands for lambda, which is reserved in Python
        index = lib.clv_learner_parameter(learner, spelt.replace("_", "-").encode())
        if index < 0:
            index = lib.clv_learner_parameter(learner, spelt.encode())
        if index < 0:
            own = ffi.string(learner.name).decode()
            near = difflib.get_close_matches(name, [*_own_rows(), *learners()[own]], 1)
            raise UsageError(f"{own} has no parameter {name}" + (f"; did you mean {near[0]}?" if near else "") +
                             "; cleave.learners() lists them, cleave.options() what all trainings take")
        options.parameters[index] = _value(learner, index, name, value)
        options.is_given[index] = True


def named(names: Sequence[str]) -> Any:
    """A struct clv_labels of these names, and the memory that it points into."""
    listed, palette = ffi.new("char[][64]", len(names)), ffi.new("uint8_t[256][3]")
    for k, name in enumerate(names):
        listed[k] = name.encode()
    lib.clv_default_palette(palette)
    labels = ffi.new("struct clv_labels *", {"n_labels": len(names), "from_file": True, "names": listed, "palette": palette})
    labels.is_void[VOID] = 1
    return labels, (listed, palette)


def _as_pairs(data: Any) -> List[Pair]:
    """Returns images with their masks, or images without masks, as pairs."""
    pairs: List[Pair] = []
    try:
        items = list(data)
    except TypeError:
        raise UsageError(f"data is {data!r}; a folder, a manifest or pairs of arrays are needed") from None
    hint = "; one pair alone is [(image, mask)]" if isinstance(data, tuple) and len(data) == 2 else ""
    for index, item in enumerate(items):
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise UsageError(f"data: item {index} is a {type(item).__name__}, a pair (image, mask) is needed, or (image, None){hint}")
        pairs.append((item[0], item[1]))
    if not pairs:
        raise UsageError("no images to learn from")
    return pairs


def _as_slices(data: Any) -> Tuple[List[Pair], List[str]]:
    """The slices of volumes with their masks, and the volume of each."""
    slices: List[Pair] = []
    names: List[str] = []
    for index, (volume, masks) in enumerate(_as_pairs(data)):
        images = list(volume)
        if isinstance(volume, np.ndarray) and volume.ndim not in (3, 4):
            raise UsageError(f"volume {index} has shape {volume.shape}; [slices, height, width] is needed, or with 3 channels behind")
        slices += zip(images, as_masks(f"masks {index}", masks, len(images)))
        names += [str(index)] * len(images)
    return slices, names


_OF_THE_COMMAND = ("data", "maps", "resume", "checkpoint_every")  # options that train has as arguments, or whose files it does not write


def _rows() -> Dict[str, Any]:
    """The keywords of train that are members of struct clv_train_options, with their rows of the table."""
    return rows_of(lib.clv_train_option_at)


def _own_rows() -> Dict[str, Any]:
    return {name: row for name, row in _rows().items() if name not in _OF_THE_COMMAND}


def options() -> Dict[str, str]:
    """The keywords of train besides those of its signature and the learner's parameters, with their purposes."""
    return helps(_own_rows())


def _is_of_features(row: Any) -> bool:
    return bool(ffi.string(row.section).startswith(b"Features"))


def by_keyword(note: str) -> str:
    """A message of the command, with the keywords of train for its options."""
    return _table.by_keyword(note, {*_rows(), "learner"})


def _use_set(native: Any, path: Any, maps: Mapping[str, Path], labels: Optional[Sequence[str]]) -> List[Any]:
    """Sets the files for training; returns the objects that must live as long as the options."""
    if labels is not None:
        raise UsageError("labels are those of the set; labels.tsv names them")
    keep = [ffi.new("char[]", as_path(path))]
    native.data = keep[0]
    return keep + set_maps(native, _rows()["maps"], maps)


def _use_arrays(native: Any, pairs: List[Pair], labels: Optional[Sequence[str]], boxes: Any, objects: Any, maps: Mapping[str, Any],
                channel_axis: int, bands: bool, range: Optional[Range], sequences: Sequence[str]) -> List[Any]:
    """Sets the arrays for training; returns the objects that must live as long as the options."""
    for name in ("split", "only", "weak_split", "unlabelled_split", "validate"):
        if getattr(native, name) != ffi.NULL:
            raise UsageError(f"{name} needs a manifest")
    for name, arrays in maps.items():
        if isinstance(arrays, (str, bytes, os.PathLike)):
            raise UsageError(f"maps: {name} is {os.fspath(arrays)!r}; of arrays it is a list of arrays, one an image")
    if isinstance(boxes, (str, bytes, os.PathLike)):
        raise UsageError(f"boxes is {os.fspath(boxes)!r}; of arrays it is a list, one entry an image")
    held = InMemory(len(pairs))
    native.n_images = len(pairs)
    if boxes is not None:
        held.listed("boxes", boxes)
    sizes = held.images(native, pairs, bands, range)
    held.masks(native, pairs, sizes)
    if boxes is not None:
        held.boxes(native, boxes, sizes, pairs)
    if objects is not None:
        held.objects(native, objects, sizes)
    if sequences:
        held.sequences(native, sequences)
    held.maps(native, maps, channel_axis)
    if labels is not None:
        native.labels = held.kept(named(labels))[0]
    return [held]


def prepared(learner: str, threads: int, progress: Optional[Progress], options: Mapping[str, Any]) -> Tuple[Any, List[Any], Work]:
    """A struct clv_train_options by names of options, the objects that must live as long, and the work to which it reports."""
    chosen = lib.clv_learner_find(as_text("learner", str(learner)))
    if chosen == ffi.NULL:
        raise UsageError(f"learner {learner!r} is not one of {', '.join(learners())}")
    native = ffi.new("struct clv_train_options *")
    lib.clv_train_defaults(native, chosen)
    if options.get("nodes") == "patches":
        lib.clv_recipe_init_patches(ffi.addressof(native, "recipe"))
    if "scale" in options:
        lib.clv_recipe_fix_scale(ffi.addressof(native, "recipe"), 1)
    keep, parameters = set_options(native, _own_rows(), options)
    _set_parameters(native, chosen, parameters)
    recipe = [row.name for name, row in _rows().items() if _is_of_features(row) and options.get(name) not in (None, False)]
    native.recipe_given = recipe[0] if recipe else ffi.NULL
    native.no_maps = "blocks" in options and not native.recipe.blocks & lib.CLV_BLOCK_MAPS
    native.n_threads = as_whole("threads", threads, 0)
    work = Work(progress)
    native.progress = work.native
    return native, keep, work


def train(data: Union[Path, Iterable[Pair]], *more: Any, learner: str = "ssvm", labels: Optional[Sequence[str]] = None,
          boxes: Any = None, objects: Any = None, maps: Optional[Mapping[str, Any]] = None, channel_axis: int = -1, bands: bool = False, range: Optional[Range] = None,
          threads: int = 0, progress: Optional[Progress] = None, **options: Any) -> Model:
    """Learns a model from images with masks, or with boxes.

    data        a folder with images/ and masks/, a manifest (.tsv), or pairs of arrays: image uint8 [height, width, 3] and mask
                [height, width], bool or integers, of labels 0 .. n - 1, VOID (255) where nothing is known, or None. Without `labels`,
                masks of foreground and background are read as their files are: 0 and 255 alone are 0 and 1, with a warning. Where one mask
                has 255 as foreground and another beside 1, they are refused: with `labels`, 255 is VOID in all.
                With sequence=True pairs of volumes: a volume is [slices, height, width], with 3 channels behind, or a list of slices,
                its masks [slices, height, width], a list with None where a slice has none, or {slice: mask}:
                train([(volume, masks)], sequence=True). Model.segment(volume, sequence=True) labels others
    learner     one of learners()
    labels      names, for arrays; default: "background" and "foreground", or "label 0" and so on
    boxes       of objects in images without masks: a file or folder of them (--boxes); for arrays a list with an entry for each image,
                (x, y, width, height) in pixels, several of these, or None
    objects     which objects touch, for arrays: a list with integers [height, width] for each image, the number of each pixel's object, 0 for
                none, or None; an image whose mask is None has that of its objects. Files: instances/ or the manifest's column
    maps        of networks: {name: folder}, as the command's --maps name=folder; a manifest's columns maps.NAME count as well. For
                arrays {name: list of arrays}, one an image, as segment takes them (channel_axis)
    bands       True: the arrays are images of bands, [height, width, bands] of integers of up to 32 bits or of floats, NaN where there
                is not data, as of satellites; what they mean is learned, and Model.segment takes the same
    range       (low, high): which values of 16-bit grey are black and white, of files and of arrays of integers [height, width]; the model
                keeps it (Model.range)
    threads     0: all processors
    progress    called as progress(stage, done, total) now and then, from other threads

    **options   those of options(), which are the command's: split="train,weak", nodes="patches", superpixels=300, stages=2, include_drafts=True,
                mirror=True, seed=1 (the same seed gives the same weights on any machine and at any number of threads).
                And the learner's own parameters, as learners() lists them: passes=50, lambda_=0.01

    Ctrl-C ends the training at the next safe point: with the model so far (model.interrupted), or, while features are made
    and there is none, by KeyboardInterrupt. O(images) time and memory. Arrays teach what files of them do: the model is the same.
    """
    if more:
        raise UsageError("train takes one argument by place: a folder, a manifest or pairs, as in train([(image, mask)]) or "
                         "train(zip(images, masks))")
    path = data if isinstance(data, (str, bytes, os.PathLike)) else None
    labels = as_names(labels)
    native, keep, work = prepared(learner, threads, progress, options if path is None else {**options, "boxes": boxes})
    if range is not None:
        native.limits.grey16_low, native.limits.grey16_high = range = as_range(range)
    model = ffi.gc(ffi.new("struct clv_model *"), lib.clv_model_release)
    if as_flag("bands", bands) and path is not None:
        raise UsageError("bands is for arrays; files say what they are")
    sequences: List[str] = []
    if path is None and (native.sequence or native.recipe.window):
        pairs, sequences = _as_slices(data)
    else:
        pairs = _as_pairs(data) if path is None else []
    by_name = as_maps(maps)
    if path is None:
        keep += _use_arrays(native, pairs, labels, boxes, objects, by_name, channel_axis, bands, range, sequences)
    elif objects is not None:
        raise UsageError("objects is for arrays; a set has them in instances/ or its manifest's column")
    else:
        keep += _use_set(native, path, by_name, labels)
    try:
        work.run(lambda: call(lib.clv_train_set, model, native, path=path))
    except Error as error:
        if path is None and not os.path.exists(error.path or ""):
            error.path = None  # the message begins with the name of an array
        if isinstance(error, UsageError):
            error.args = (by_keyword(str(error)),)
        raise
    finally:
        for note in work.notes:
            warnings.warn(by_keyword(note), stacklevel=2)
    if path is None:
        call(lib.clv_record_set, ffi.addressof(model, "record"), b"data", b"arrays")
    return Model(model)
