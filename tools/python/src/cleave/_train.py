"""Learning models from a folder, a manifest, or arrays."""

import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import as_image, as_values, copied, pointer
from ._errors import DataError, UsageError, call
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
        self._stop = ffi.new("int *")
        self._handle = ffi.new_handle(self)
        self.native = ffi.new("struct clv_progress *", {
            "report": lib.cleave_report if progress else ffi.NULL, "context": self._handle, "stop": self._stop})

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


def _apply(training: Any, learner: Any, parameters: Dict[str, Any]) -> None:
    lib.clv_training_defaults(training, learner)
    for name, value in parameters.items():
        index = lib.clv_learner_parameter(learner, name.replace("_", "-").encode())
        if index < 0:
            index = lib.clv_learner_parameter(learner, name.encode())
        if index < 0:
            raise UsageError(f"{ffi.string(learner.name).decode()} has no parameter {name}; cleave.learners() lists them")
        training.parameters[index] = _value(learner, index, name, value)


class _Set:
    """A set of images on disk: recipe and dataset as `cleave train` makes them."""

    def __init__(self, path: Path, split: Optional[str], drafts: bool, maps: Mapping[str, Path]) -> None:
        self._set = ffi.gc(ffi.new("struct clv_set *"), lib.clv_set_release)
        call(lib.clv_set_read, self._set, os.fsencode(path))
        n_all = self._set.n_items
        call(lib.clv_set_select_training, self._set, ffi.NULL if split is None else split.encode())
        if split is None and self._set.n_items < n_all:
            warnings.warn(f"{os.fspath(path)}: {self._set.n_items} of {n_all} images are learned from, those of the split "
                          "train; split= chooses others", stacklevel=4)
        n_drafts = 0 if drafts else lib.clv_set_drop_drafts(self._set)
        if n_drafts:
            warnings.warn(f"{os.fspath(path)}: {n_drafts} masks are drafts that `cleave label` has not accepted, and were left "
                          "out; drafts=True learns from them, too", stacklevel=4)
        self._keep_masks(os.fspath(path), n_drafts)
        for name, folder in maps.items():
            call(lib.clv_set_add_maps, self._set, name.encode(), os.fsencode(folder))
        self.labels = self._set.labels
        self.n_labels = self._set.labels.n_labels

    def _keep_masks(self, path: Any, n_drafts: int) -> None:
        """Leaves out images without a mask, as the command does."""
        items, n_kept = self._set.items, 0
        for i in range(self._set.n_items):
            if items[i].mask == ffi.NULL:
                lib.clv_item_release(ffi.addressof(items, i))
            else:
                items[n_kept] = items[i]
                n_kept += 1
        n_without = self._set.n_items - n_kept - n_drafts
        self._set.n_items = n_kept
        if not n_kept:
            raise UsageError(f"{path}: no image has a mask to learn from")
        if n_without:
            warnings.warn(f"{path}: {n_without} images have no mask and were left out", stacklevel=5)

    def learn(self, recipe: Any, seed: int, threads: int, work: _Work) -> None:
        paths = [self._set.items[i].image for i in range(self._set.n_items)]
        if self._set.n_maps:
            recipe.blocks |= lib.CLV_BLOCK_MAPS
            recipe.n_maps, recipe.map_pool = self._set.n_maps, lib.CLV_MAP_MEAN
            for k in range(recipe.n_maps):
                recipe.maps[k].name = ffi.string(self._set.map_names[k])
        call(lib.clv_recipe_learn, recipe, ffi.new("char *[]", paths), len(paths), seed, threads, ffi.NULL, work.native)
        call(lib.clv_recipe_learn_maps, recipe, self._set, threads, ffi.NULL, work.native)
        for k in range(recipe.n_maps):
            if recipe.maps[k].n_groups > 1 and recipe.maps[k].use == lib.CLV_MAP_USE_IGNORED:
                warnings.warn(f"maps {ffi.string(recipe.maps[k].name).decode()}: training images fall into "
                              f"{recipe.maps[k].n_groups} groups, in each of which the channels tell figure from ground in "
                              "another way, as if by another network; these maps are ignored", stacklevel=4)

    def extract(self, recipe: Any, threads: int, work: _Work) -> Any:
        made = ffi.new("struct clv_dataset **")
        call(lib.clv_dataset_extract, made, self._set, recipe, threads, ffi.NULL, work.native)
        return ffi.gc(made[0], lib.clv_dataset_free)

    def learn_refining(self, model: Any, learner: Any, training: Any) -> None:
        call(lib.clv_train_refining, model, learner, training, self._set, ffi.NULL)


class _Pairs:
    """Images and masks in memory."""

    def __init__(self, pairs: Iterable[Pair], names: Optional[Sequence[str]]) -> None:
        self._images, self._masks, self._keep = [], [], []
        for place, (image, mask) in enumerate(pairs):
            native, data = as_image(f"image {place}", image)
            self._images.append(native)
            self._keep.append(data)
            if mask is None:
                raise UsageError(f"image {place} has no mask")
            self._masks.append(as_values(f"mask {place}", mask, (native.height, native.width)))
        if not self._images:
            raise UsageError("no images to learn from")
        self.labels = ffi.gc(ffi.new("struct clv_labels *"), lib.clv_labels_release)
        call(lib.clv_labels_binary, self.labels)
        if names is None:
            self._read_figure()
        known = np.unique(np.concatenate([np.unique(mask) for mask in self._masks]))
        known = known[known != VOID]
        if known.size < 2:
            only = f"know no label but {known[0]}" if known.size else "know no label"
            raise UsageError(f"the masks {only}: there is nothing to tell apart ({VOID} is void)")
        highest = int(known[-1])
        if names is not None and len(names) <= highest:
            raise UsageError(f"a mask has label {highest}, but there are {len(names)} names")
        self.n_labels = len(names) if names is not None else highest + 1
        if names is not None or self.n_labels > 2:
            self._name([str(name) for name in names or [f"label {k}" for k in range(self.n_labels)]])

    def _read_figure(self) -> None:
        """Masks of figure and ground as their files are read; where they are not, or where their figures have different
        values, values are labels."""
        notes: Dict[str, str] = {}
        figures, made = set(), []
        for place, mask in enumerate(self._masks):
            native = ffi.gc(ffi.new("struct clv_mask *"), lib.clv_mask_release)
            try:
                call(lib.clv_mask_from_values, native, pointer("uint8_t", mask), mask.shape[1], mask.shape[0], self.labels,
                     f"mask {place}".encode())
            except DataError:
                return
            made.append(copied(native.labels, "uint8_t", np.uint8, *mask.shape))
            own = np.unique(mask[made[-1] == 1])
            figures.update(own[own != VOID] if own.size == 1 else [])
            if native.note != ffi.NULL:
                notes.setdefault(ffi.string(native.note).decode(), f"mask {place}")
        if len(figures) > 1:
            return
        self._masks = made
        for note, first in notes.items():
            warnings.warn(f"{note}, first in {first}", stacklevel=4)

    def _name(self, names: List[str]) -> None:
        listed, palette = ffi.new("char[][64]", len(names)), ffi.new("uint8_t[256][3]")
        for k, name in enumerate(names):
            if not 0 < len(name.encode()) < 64:
                raise UsageError(f"label name {name!r} must have 1 to 63 bytes")
            listed[k] = name.encode()
        lib.clv_default_palette(palette)
        own = ffi.new("struct clv_labels *", {"n_labels": len(names), "from_file": True, "names": listed, "palette": palette})
        own.is_void[VOID] = 1
        call(lib.clv_labels_copy, self.labels, own)

    def learn(self, recipe: Any, seed: int, threads: int, work: _Work) -> None:
        images = ffi.new("struct clv_image[]", [image[0] for image in self._images])
        call(lib.clv_recipe_learn_images, recipe, images, len(self._images), seed, threads, work.native)

    def extract(self, recipe: Any, threads: int, work: _Work) -> Any:
        made = ffi.new("struct clv_dataset **")
        call(lib.clv_dataset_new, made, self.n_labels)
        dataset = ffi.gc(made[0], lib.clv_dataset_free)

        def one(place: int) -> Any:
            if work.is_stopped:
                raise KeyboardInterrupt
            example = ffi.gc(ffi.new("struct clv_example *"), lib.clv_example_release)
            call(lib.clv_example_extract, example, self._images[place], recipe)
            mask = self._masks[place]
            data = pointer("uint8_t", mask)
            call(lib.clv_example_set_truth, example,
                 ffi.new("struct clv_mask *", {"width": mask.shape[1], "height": mask.shape[0], "labels": data}), self.n_labels)
            return example

        with ThreadPoolExecutor(threads if threads > 0 else os.cpu_count()) as pool:
            for place, example in enumerate(pool.map(one, range(len(self._images)))):
                call(lib.clv_dataset_add_example, dataset, example, f"image {place}".encode())
                work.report("features", place + 1, len(self._images))
        return dataset

    def learn_refining(self, model: Any, learner: Any, training: Any) -> None:
        """Nothing: images in memory come without maps."""


def _learn(source: Any, learner: Any, nodes: str, sizes: Dict[str, Optional[int]], stages: int, label_costs: float, seed: int,
           threads: int, parameters: Dict[str, Any], work: _Work) -> Model:
    model = ffi.gc(ffi.new("struct clv_model *"), lib.clv_model_release)
    recipe = ffi.addressof(model, "recipe")
    (lib.clv_recipe_init_patches if nodes == "patches" else lib.clv_recipe_init)(recipe)
    recipe.slic.n_superpixels = sizes["superpixels"] or recipe.slic.n_superpixels
    recipe.n_words = sizes["words"] or recipe.n_words
    recipe.working_pixels = sizes["working_pixels"] or recipe.working_pixels
    training = ffi.new("struct clv_training *")
    _apply(training, learner, parameters)
    source.learn(recipe, seed, threads, work)
    model.has_recipe = 1
    dataset = source.extract(recipe, threads, work)
    labelled = [i for i in range(lib.clv_dataset_size(dataset)) if lib.clv_dataset_problem(dataset, i).theta != ffi.NULL]
    if not labelled:
        raise UsageError("no image has a mask to learn from")
    if nodes == "patches" and source.n_labels > 2 and len(labelled) == lib.clv_dataset_size(dataset):  # as the command's --loss auto
        call(lib.clv_dataset_weigh, dataset, lib.CLV_LOSS_COUNTS)
    examples = ffi.new("int32_t[]", labelled)
    training.dataset, training.examples, training.n_examples = dataset, examples, len(labelled)
    training.seed, training.n_threads, training.progress = seed, threads, work.native
    call(lib.clv_learner_shape, ffi.addressof(training, "shape"), learner, dataset)
    result = ffi.gc(ffi.new("struct clv_training_result *"), lib.clv_training_result_release)
    if stages == 2:
        call(lib.clv_train_two_stages, result, model, dataset, learner, training, label_costs)
    else:
        call(lib.clv_train, result, learner, training)
    record = {"version": ffi.string(lib.clv_version()).decode(), "seed": str(seed), "learner": ffi.string(learner.name).decode(),
              "images": str(len(labelled)), "interrupted": "yes" if result.interrupted else "no"}
    for key, value in record.items():
        call(lib.clv_record_set, ffi.addressof(model, "record"), key.encode(), value.encode())
    call(lib.clv_labels_copy, ffi.addressof(model, "labels"), ffi.addressof(source.labels)
         if ffi.typeof(source.labels).kind == "struct" else source.labels)
    model.shape, model.decoding, model.w = training.shape, result.decoding, result.w
    result.w = ffi.NULL  # the model's now
    if not result.interrupted:
        source.learn_refining(model, learner, training)
    return Model(model)


def train(data: Union[Path, Iterable[Pair]], *, learner: str = "ssvm", split: Optional[str] = None, drafts: bool = False,
          nodes: str = "superpixels",
          superpixels: Optional[int] = None, words: Optional[int] = None, working_pixels: Optional[int] = None,
          labels: Optional[Sequence[str]] = None, maps: Optional[Mapping[str, Path]] = None, stages: int = 1,
          label_costs: float = 0, seed: int = 0, threads: int = 0, progress: Optional[Progress] = None, **parameters: Any) -> Model:
    """Learns a model from images with masks.

    data        a folder with images/ and masks/, a manifest (.tsv), or pairs of arrays: image uint8 [height, width, 3] and mask
                [height, width], bool or integers, of labels 0 .. n - 1, VOID (255) where nothing is known. Without `labels`, masks
                of figure and ground are read as their files are: 0 and 255 alone are 0 and 1, with a warning
    learner     one of learners(); **parameters are its own: lambda_ is written `**{"lambda": 0.01}`
    split       of a manifest: only images of these splits, "train" or "train,weak"; by default "train" where there is one
    drafts      masks that `cleave label` has not accepted teach, too
    nodes       "superpixels", or "patches" for many classes
    superpixels, words, working_pixels    as the command's --superpixels, --words, --working-pixels
    labels      names, for arrays; default: "background" and "foreground", or "label 0" and so on
    maps        of networks, of a folder's or a manifest's images: {name: folder}, as the command's --maps name=folder; a manifest's
                columns maps.NAME count as well
    stages      2: a second model sees what a first one, learned without the image, says nearby, as the command's --stages 2
    label_costs with stages=2, of three labels or more: what a label costs by being in an image at all, as the command's --label-costs
    seed        the same seed gives the same weights on any machine and at any number of threads
    threads     0: all processors
    progress    called as progress(stage, done, total) now and then, from other threads

    Ctrl-C ends the training at the next safe point: with the model so far (model.interrupted), or, while features are made
    and there is none, by KeyboardInterrupt. O(images) time and memory.
    """
    chosen = lib.clv_learner_find(learner.encode())
    if chosen == ffi.NULL:
        raise UsageError(f"learner {learner!r} is none of {', '.join(learners())}")
    if stages not in (1, 2):
        raise UsageError(f"stages is {stages!r}, must be 1 or 2")
    if label_costs and stages < 2:
        raise UsageError("label_costs need stages=2: its first stage tells what an image has")
    if nodes not in ("superpixels", "patches"):
        raise UsageError(f"nodes is {nodes!r}, must be superpixels or patches")
    if isinstance(data, (str, bytes, os.PathLike)):
        if labels is not None:
            raise UsageError("labels are those of the set; labels.tsv names them")
        source: Any = _Set(data, split, drafts, maps or {})
    else:
        if split is not None:
            raise UsageError("split needs a manifest")
        if maps:
            raise UsageError("maps need a folder or a manifest")
        source = _Pairs(data, labels)
    sizes = {"superpixels": superpixels, "words": words, "working_pixels": working_pixels}
    work = _Work(progress)
    return work.run(lambda: _learn(source, chosen, nodes, sizes, stages, label_costs, seed, threads, parameters, work))
