"""Learning models from a folder, a manifest, or arrays."""

import os
import threading
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import as_image, as_values, pointer
from ._errors import UsageError, call
from ._model import Model, Path
from ._native import ffi, lib
from ._pixels import VOID, Labels

Progress = Callable[[str, int, int], None]
Pair = Tuple[Labels, Optional[Labels]]


class _Work:
    """One piece of long work: its struct clv_progress, and what the caller's function raised."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self._progress = progress
        self.raised: Optional[BaseException] = None
        self.notes: List[str] = []
        self._stop = ffi.new("int *")
        self._handle = ffi.new_handle(self)
        self.native = ffi.new("struct clv_progress *", {
            "report": lib.cleave_report if progress else ffi.NULL, "context": self._handle, "stop": self._stop,
            "say": lib.cleave_say})

    @property
    def is_stopped(self) -> bool:
        return bool(self._stop[0])

    def stop(self) -> None:
        self._stop[0] = 1

    def report(self, what: str, done: int, total: int) -> None:
        try:
            if self._progress and not self.raised:
                self._progress(what, done, total)
        except BaseException as raised:  # it goes on in the caller's thread
            self.raised = raised
            self.stop()

    def run(self, function: Callable[[], Any]) -> Any:
        """The function on a thread of its own, so that Ctrl-C is heard: a first one stops the work, which then ends by itself."""
        outcome: Dict[str, Any] = {}
        done = threading.Event()

        def work() -> None:
            try:
                outcome["value"] = function()
            except BaseException as raised:
                outcome["raised"] = raised
            done.set()

        worker = threading.Thread(target=work, name="cleave")
        worker.start()
        while not done.is_set():
            try:
                done.wait(0.2)  # a signal that another thread took is seen then
            except KeyboardInterrupt:
                self.stop()
        worker.join()
        if self.raised:
            raise self.raised
        if "raised" in outcome:
            raise outcome["raised"]
        return outcome["value"]


@ffi.def_extern()
def cleave_report(context: Any, what: Any, done: int, total: int, _note: Any) -> None:
    ffi.from_handle(context).report(ffi.string(what).decode(errors="replace"), done, total)


@ffi.def_extern()
def cleave_say(context: Any, kind: int, text: Any) -> None:
    if kind != lib.CLV_SUMMARY:
        ffi.from_handle(context).notes.append(ffi.string(text).decode(errors="replace"))


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
            names = lib.clv_learner_choices(learner, number)
            parameters[ffi.string(parameter.name).decode()] = (
                parameter.value if names == ffi.NULL else ffi.string(names[int(parameter.value)]).decode())
            number += 1
        found[ffi.string(learner.name).decode()] = parameters
        index += 1
    return found


def _value(learner: Any, index: int, name: str, value: Any) -> float:
    choices = lib.clv_learner_choices(learner, index)
    if choices == ffi.NULL:
        return float(value)
    names: List[str] = []
    while choices[len(names)] != ffi.NULL:
        names.append(ffi.string(choices[len(names)]).decode())
    if value not in names:
        raise UsageError(f"{name} is {value!r}, must be one of {', '.join(names)}")
    return float(names.index(value))


def _set_parameters(options: Any, learner: Any, parameters: Dict[str, Any]) -> None:
    for name, value in parameters.items():
        index = lib.clv_learner_parameter(learner, name.replace("_", "-").encode())
        if index < 0:
            index = lib.clv_learner_parameter(learner, name.encode())
        if index < 0:
            raise UsageError(f"{ffi.string(learner.name).decode()} has no parameter {name}; cleave.learners() lists them")
        options.parameters[index] = _value(learner, index, name, value)
        options.is_given[index] = True


def _named(names: Sequence[str]) -> Any:
    """Labels of these names: a struct clv_labels, and what it points into."""
    listed, palette = ffi.new("char[][64]", len(names)), ffi.new("uint8_t[256][3]")
    for k, name in enumerate(names):
        if not 0 < len(name.encode()) < 64:
            raise UsageError(f"label name {name!r} must have 1 to 63 bytes")
        listed[k] = name.encode()
    lib.clv_default_palette(palette)
    labels = ffi.new("struct clv_labels *", {"n_labels": len(names), "from_file": True, "names": listed, "palette": palette})
    labels.is_void[VOID] = 1
    return labels, (listed, palette)


def _take_pairs(options: Any, pairs: Iterable[Pair], names: Optional[Sequence[str]]) -> Any:
    """Images and masks in memory; returns what must live as long as the options."""
    images, masks, keep = [], [], []
    for place, (image, mask) in enumerate(pairs):
        native, data = as_image(f"image {place}", image)
        if mask is None:
            raise UsageError(f"image {place} has no mask")
        values = as_values(f"mask {place}", mask, (native.height, native.width))
        images.append(native[0])
        masks.append({"width": values.shape[1], "height": values.shape[0], "labels": pointer("uint8_t", values)})
        keep.append((native, data, values))
    if not images:
        raise UsageError("no images to learn from")
    own = ffi.new("struct clv_image[]", images), ffi.new("struct clv_mask[]", masks)
    options.images, options.masks, options.n_images = *own, len(images)
    labels, held = _named([str(name) for name in names]) if names is not None else (ffi.NULL, None)
    options.labels = labels
    return keep, own, labels, held


_OF_THE_COMMAND = ("data", "maps", "resume", "checkpoint_every")  # arguments of train, and files that it does not write


def _rows() -> Dict[str, Any]:
    """What struct clv_train_options takes by name: the keywords of train with their rows of the table."""
    rows: Dict[str, Any] = {}
    while lib.clv_train_option_at(len(rows)) != ffi.NULL:
        row = lib.clv_train_option_at(len(rows))
        rows[ffi.string(row.name).decode().replace("-", "_")] = row
    return rows


def options() -> Dict[str, str]:
    """The keywords that train takes besides those of its signature and the learner's parameters, and what each is for."""
    return {name: ffi.string(row.help).decode() for name, row in _rows().items() if name not in _OF_THE_COMMAND}


def _typed(value: Any) -> bytes:
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsencode(value)
    if isinstance(value, (list, tuple)):
        return b",".join(_typed(part) for part in value)
    return str(value).encode()


def _set_options(native: Any, given: Mapping[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
    """Sets what the table knows; returns what must live as long as the options, and what is left for the learner."""
    rows, keep, rest = _rows(), [], {}
    for name, value in given.items():
        if name not in rows or name in _OF_THE_COMMAND:
            rest[name] = value
        elif value is not None and value is not False:
            has_value = rows[name].argument != ffi.NULL
            if has_value == (value is True):
                raise UsageError(f"{name} is {value!r}, must be {'a value' if has_value else 'True or False'}")
            keep.append(ffi.new("char[]", _typed(value)) if has_value else ffi.NULL)
            call(lib.clv_option_set, native, rows[name], keep[-1])
    return keep, rest


def train(data: Union[Path, Iterable[Pair]], *, learner: str = "ssvm", labels: Optional[Sequence[str]] = None,
          maps: Optional[Mapping[str, Path]] = None, threads: int = 0, progress: Optional[Progress] = None, **options: Any) -> Model:
    """Learns a model from images with masks.

    data        a folder with images/ and masks/, a manifest (.tsv), or pairs of arrays: image uint8 [height, width, 3] and mask
                [height, width], bool or integers, of labels 0 .. n - 1, VOID (255) where nothing is known. Without `labels`, masks
                of figure and ground are read as their files are: 0 and 255 alone are 0 and 1, with a warning
    learner     one of learners()
    labels      names, for arrays; default: "background" and "foreground", or "label 0" and so on
    maps        of networks, of a folder's or a manifest's images: {name: folder}, as the command's --maps name=folder; a manifest's
                columns maps.NAME count as well
    threads     0: all processors
    progress    called as progress(stage, done, total) now and then, from other threads

    **options   those of options(), which are the command's: split="train,weak", nodes="patches", superpixels=300, stages=2, drafts=True,
                boxes=path, mirror=True, seed=1 (the same seed gives the same weights on any machine and at any number of threads).
                And the learner's own parameters, as learners() lists them: `passes=50, **{"lambda": 0.01}`

    Ctrl-C ends the training at the next safe point: with the model so far (model.interrupted), or, while features are made
    and there is none, by KeyboardInterrupt. O(images) time and memory.
    """
    chosen = lib.clv_learner_find(learner.encode())
    if chosen == ffi.NULL:
        raise UsageError(f"learner {learner!r} is none of {', '.join(learners())}")
    native = ffi.new("struct clv_train_options *")
    lib.clv_train_defaults(native, chosen)
    if options.get("nodes") == "patches":
        lib.clv_recipe_init_patches(ffi.addressof(native, "recipe"))
    keep, parameters = _set_options(native, options)
    _set_parameters(native, chosen, parameters)
    native.no_maps = "blocks" in options and not native.recipe.blocks & lib.CLV_BLOCK_MAPS
    native.n_threads = threads
    if native.label_costs and native.stages < 2:
        raise UsageError("label_costs need stages=2: its first stage tells what an image has")
    if isinstance(data, (str, bytes, os.PathLike)):
        if labels is not None:
            raise UsageError("labels are those of the set; labels.tsv names them")
        keep.append(ffi.new("char[]", os.fsencode(data)))
        native.data = keep[-1]
        for name, folder in (maps or {}).items():
            keep.append(ffi.new("char[]", name.encode() + b"=" + os.fsencode(folder)))
            call(lib.clv_option_set, native, _rows()["maps"], keep[-1])
    else:
        if native.split != ffi.NULL:
            raise UsageError("split needs a manifest")
        if maps:
            raise UsageError("maps need a folder or a manifest")
        keep.append(_take_pairs(native, data, labels))
    work = _Work(progress)
    native.progress = work.native
    model = ffi.gc(ffi.new("struct clv_model *"), lib.clv_model_release)
    try:
        work.run(lambda: call(lib.clv_train_set, model, native))
    finally:
        del keep
        for note in work.notes:
            warnings.warn(note, stacklevel=2)
    return Model(model)
