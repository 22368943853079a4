"""Many files in one call: what the commands segment, probabilities and propagate do with folders and sets."""

import difflib
import os
import re
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Union

from ._arrays import Range, as_flag, as_range, as_whole
from ._errors import Error, Path, UsageError, as_path, as_text, call, failure
from ._model import Model, as_maps
from ._native import ffi, lib
from ._table import by_keyword, helps, rows_of, set_maps, set_options
from ._work import Progress, Work

_ALL_LABELS_SIDE = 128  # the side of the command's maps of all labels

# Members that segment_files sets by its other arguments, and options of a terminal.
_NO_KEYWORDS = ("model", "no_refine", "null")

# Options that have an effect only with others, as in the commands.
_NEEDS = {
    "label": (("probabilities",), "probabilities=True, whose label it is"),
    "side": (("all_labels", "margins"), "all_labels=True or margins=True, whose maps it is of"),
    "from_split": (("propagate",), "propagate=True"),
    "tolerance": (("export",), "export, whose polygons it is of"),
}


class Outcome(NamedTuple):
    """The outcome of one input of segment_files."""

    name: str  # the path of the input as given, or as in its dataset
    mask: Optional[str]  # the path of its mask or map; None: it failed
    message: str  # the failure, or a warning; else ""
    error: Optional[BaseException]  # the exception of an input that failed; else None
    is_earlier: bool  # an earlier run finished it (resume=True)
    objects: int  # with objects=True: their number
    share: Optional[float]  # with probabilities=True: the expected share of the label's pixels
    entropy: Optional[float]  # with probabilities=True: mean entropy in bits
    bound: Optional[float]  # with probabilities=True: upper bound of the log-partition
    standard_error: Optional[float]  # of that bound
    method: Optional[str]  # with probabilities=True: the method that computed them, as in the command's --json


class Files(NamedTuple):
    """The result of segment_files."""

    outcomes: List[Outcome]  # of all inputs, in their order
    done: int  # inputs that this call finished
    earlier: int  # inputs that an earlier call had finished
    failed: int
    objects: int  # over all inputs


class _FilesWork(Work):
    """Work that finishes its inputs one by one."""

    def __init__(self, progress: Optional[Progress], each: Optional[Callable[[Outcome], Any]], has_shares: bool) -> None:
        super().__init__(progress)
        if each is not None and not callable(each):
            raise UsageError(f"each is {each!r}, a function is needed, that is called as each(outcome)")
        self._each = each
        self._has_shares = has_shares
        self.outcomes: List[Outcome] = []

    def _numbers(self, told: Any) -> List[Any]:
        if not self._has_shares or told.status != lib.CLV_OK or told.is_earlier:
            return [None] * 5
        return [told.share, told.entropy, told.bound, told.standard_error, ffi.string(lib.clv_marginals_name(told.kind)).decode()]

    def settled(self, told: Any) -> None:
        """Called by any thread of the library, one call at a time."""
        try:
            name, message = ffi.string(told.name), ffi.string(told.message)
            self.outcomes.append(Outcome(
                os.fsdecode(name), None if told.mask == ffi.NULL else os.fsdecode(ffi.string(told.mask)),
                message.decode(errors="replace"), failure(told.status, message, name) if told.status != lib.CLV_OK else None,
                bool(told.is_earlier), told.n_objects, *self._numbers(told)))
            if self._each and not self.raised:
                self._each(self.outcomes[-1])
        except BaseException as raised:  # the caller's thread raises it again
            self.raised = raised
            self.stop()


@ffi.def_extern()
def cleave_settled(context: Any, told: Any) -> None:
    ffi.from_handle(context).settled(told)


def _rows() -> Dict[str, Any]:
    return {name: row for name, row in rows_of(lib.clv_files_option_at).items() if name not in _NO_KEYWORDS}


def file_options() -> Dict[str, str]:
    """The keywords of segment_files besides those of its signature, with their purposes."""
    signature = ("boxes", "from_masks", "sequence", "output", "refine", "maps")
    return {name: text for name, text in helps(_rows()).items() if name not in signature}


def _by_keyword(text: str, start: int = 0) -> str:
    """A message with the keywords of segment_files for options, from index `start` on; a path precedes it."""
    said = by_keyword(text[start:], {*_rows(), "model"})
    return text[:start] + re.sub(r"(?<![\w-])-([mo])(?= )", lambda found: "model" if found[1] == "m" else "output", said)


def _as_paths(images: Union[Path, Iterable[Path], None]) -> List[bytes]:
    given = [images] if isinstance(images, (str, bytes, os.PathLike)) else images
    try:
        items = [] if given is None else list(given)
    except TypeError:
        raise UsageError(f"images is {images!r}; a path or a list of paths is needed") from None
    for index, item in enumerate(items):
        if not isinstance(item, (str, bytes, os.PathLike)):
            raise UsageError(f"images: item {index} is a {type(item).__name__}, the path of a file or a folder is needed; "
                             "Model.segment labels arrays")
    paths = [as_path(item) for item in items]
    if b"-" in paths:
        raise UsageError("images: '-' is the command's standard input; a file of this name is './-'")
    return paths


def _is_manifest(path: bytes, or_its_folder: bool) -> bool:
    return path.endswith(b".tsv") or (or_its_folder and os.path.exists(os.path.join(path, b"manifest.tsv")))


def _use_images(native: Any, paths: List[bytes], is_sequence: bool) -> List[Any]:
    """What is labelled: a manifest among the images is `data`, as the commands have it, and so is the one folder of a sequence."""
    keep: List[Any] = []
    if native.data == ffi.NULL:
        manifests = [path for path in paths if _is_manifest(path, native.split != ffi.NULL)]
        found = manifests[:1] or (paths[:] if is_sequence and len(paths) == 1 else [])
        if found:
            paths.remove(found[0])
            keep.append(ffi.new("char[]", found[0]))
            native.data = keep[-1]
    names = [ffi.new("char[]", path) for path in paths]
    listed = ffi.new("char *[]", names) if names else ffi.NULL
    native.images, native.n_images = listed, len(names)
    return keep + [names, listed]


def _use_model(native: Any, model: Union[Model, Path, None]) -> List[Any]:
    if isinstance(model, Model):
        native.model = model._native
    elif isinstance(model, (str, bytes, os.PathLike)):
        path = ffi.new("char[]", as_path(model))
        native.model_path = path
        return [path]
    elif model is not None:
        raise UsageError(f"model is a {type(model).__name__}; a cleave.Model or the path of its file is needed")
    return [model]


def _use_features(native: Any, files: Any) -> List[Any]:
    """One feature file or several."""
    paths = [files] if isinstance(files, (str, bytes, os.PathLike)) else list(files)
    if not paths:
        raise UsageError("features is empty; a feature file or a list of them is needed")
    names = [ffi.new("char[]", as_path(path)) for path in paths]
    listed = ffi.new("char *[]", names)
    native.features, native.feature_files, native.n_feature_files = names[0], listed, len(names)
    return [names, listed]


def _check_unknown(rest: Mapping[str, Any]) -> None:
    for name in rest:
        near = difflib.get_close_matches(name, [*_rows(), "probabilities", "propagate", "range", "max_pixels", "bands", "threads"], 1)
        raise UsageError(f"segment_files has no option {name}" + (f"; did you mean {near[0]}?" if near else "") +
                         "; cleave.file_options() lists them")


def _is_given(value: Any) -> bool:
    return value is not None and value is not False


def _check_together(given: Mapping[str, Any]) -> None:
    """Refuses options that exclude each other, and options that lack another one that they need."""
    rows = _rows()
    taken: Dict[int, str] = {}
    for name in given:
        if name in rows and _is_given(given[name]):
            before = taken.setdefault(rows[name].offset, name)
            if before != name:
                raise UsageError(f"{before} and {name} exclude each other; leave out one of them")
    for name, (others, why) in _NEEDS.items():
        if _is_given(given.get(name)) and not any(_is_given(given.get(other)) for other in others):
            raise UsageError(f"{name} needs {why}")
    is_probable = any(_is_given(given.get(name)) for name in ("probabilities", "all_labels", "margins"))
    for name in ("samples", "seed"):
        if _is_given(given.get(name)) and not is_probable and given.get("decode") != "min-loss":
            raise UsageError(f"{name} needs decode='min-loss' or probabilities=True, which sample")
    for name in ("decode", "refine"):
        if is_probable and given.get(name) is not None:
            raise UsageError(f"{name} cannot be used with probabilities: they are of no single labelling")
    for name in ("output", "status"):
        if given.get(name) in ("-", b"-"):
            raise UsageError(f"{name}: '-' is the command's standard output; name a file or a folder")
    if not any(_is_given(given.get(name)) for name in ("model", "boxes", "from_masks", "propagate")):
        raise UsageError("nothing says how images are labelled; give a model, boxes, from_masks or propagate=True")


def _choose_probabilities(native: Any, wanted: bool) -> None:
    if wanted and native.probabilities == lib.CLV_PROBABILITIES_NONE:
        native.probabilities = lib.CLV_PROBABILITIES_OF_LABEL
    if native.probabilities == lib.CLV_PROBABILITIES_OF_ALL and not native.side:
        native.side = _ALL_LABELS_SIDE


def _use_limits(native: Any, range: Optional[Range], max_pixels: Optional[int], bands: Any) -> List[Any]:
    """Sets how images are read, like the commands' options about images."""
    limits = native.limits
    if range is not None:
        limits.grey16_low, limits.grey16_high = as_range(range)
    if max_pixels is not None:
        limits.max_pixels = as_whole("max_pixels", max_pixels, 1, 2**63 - 1)
    if bands is None:
        return []
    ends = [bands] if isinstance(bands, str) else list(bands)
    keep = [ffi.new("char[]", b",".join(as_text("bands", str(end)) for end in ends))]
    limits.band_files = keep[0]
    return keep


def segment_files(images: Union[Path, Iterable[Path], None], output: Path, model: Union[Model, Path, None] = None, *, boxes: Any = None,
                  from_masks: Optional[Path] = None, propagate: bool = False, sequence: bool = False, probabilities: bool = False,
                  refine: Optional[bool] = None, maps: Optional[Mapping[str, Path]] = None, features: Any = None,
                  range: Optional[Range] = None, max_pixels: Optional[int] = None, bands: Any = None, threads: int = 0,
                  progress: Optional[Progress] = None, each: Optional[Callable[[Outcome], Any]] = None, **options: Any) -> Files:
    """Labels files and writes a mask of each, and what is asked for beside it: the same bytes as the commands `cleave segment`,
    `cleave probabilities` and `cleave propagate` write.

        done = cleave.segment_files("photos", "out", "horses.cleave", overlay=True, export="coco")
        for outcome in done.outcomes: print(outcome.name, outcome.mask, outcome.message)

    images      files and folders: a path or a list of paths. A manifest (.tsv) among them is `data`; None: what `data` or `features`
                name, or the set of from_masks
    output      a folder; FILE.png or FILE.tif of one image; FILE.tif of a sequence
    model       a cleave.Model or the path of its file. One of model, boxes, from_masks and propagate says how images are labelled
    boxes       a file or folder of boxes, or (x, y, width, height): what is in them is cut out
    from_masks  a set with masks, or a folder of masks for the images: these are the labels
    propagate   True: masks of some frames of `images`, one folder or manifest, are propagated to the others
    sequence    True: `images`, one folder or manifest, are slices that a model of train(sequence=True) labels together
    probabilities  True: how probable a label is, in place of masks; all_labels=True writes maps of all labels, margins=True their
                max-marginal margins
    refine      True or False: the borders of all images are refined at the pixels, or those of none; None: of large images
    maps        of networks: {name: folder}, as train takes them
    features    a feature file or several, in place of images
    range       (low, high): which values of 16-bit grey are black and white; None: the model's, else 0 and 65535
    max_pixels  larger images are refused, GeoTIFFs are labelled by tiles; None: 2**26
    bands       ends of the names of files that are bands of one image, such as ["red.tif", "nir.tif"]
    threads     0: all processors
    progress    called as progress(stage, done, total) now and then, from other threads
    each        called as each(outcome) for every input as it is finished, in their order, one at a time, from other threads: outcomes
                as they come. What it raises ends the work, and is raised

    **options   those of file_options(), which are the commands': data="set/manifest.tsv", split="test", objects=True, report="report",
                cutout=True, export=["coco", "voc"], min_area=20, mask_format="grey", resume=True, overwrite=True, shard=(1, 3)

    An input that fails is warned of, its outcome has the error, and the rest goes on, unless fail_fast=True; the failure of an only
    input is raised. Refused before anything is written: options that exclude each other, outputs that exist. Ctrl-C finishes the
    images in work and raises KeyboardInterrupt; the same call with resume=True then does the rest.
    """
    given = {**options, "output": output, "boxes": boxes, "from_masks": from_masks, "sequence": as_flag("sequence", sequence),
             "probabilities": as_flag("probabilities", probabilities), "propagate": as_flag("propagate", propagate), "refine": refine,
             "model": model}
    if not isinstance(output, (str, bytes, os.PathLike)):
        raise UsageError(f"output is {output!r}; the path of a folder or a file is needed; it comes second, then the model")
    if isinstance(options.get("shard"), (tuple, list)):
        options["shard"] = given["shard"] = "/".join(map(str, options["shard"]))
    if refine is not None:
        as_flag("refine", refine)
    _check_together(given)
    native = ffi.new("struct clv_files_options *")
    lib.clv_files_defaults(native)
    own = ("probabilities", "propagate", "model", "refine")
    keep, rest = set_options(native, _rows(), {name: value for name, value in given.items() if name not in own})
    _check_unknown(rest)
    keep += _use_model(native, model) + set_maps(native, _rows()["maps"], as_maps(maps)) + _use_limits(native, range, max_pixels, bands)
    keep += _use_images(native, _as_paths(images), propagate or sequence)
    if features is not None:
        keep += _use_features(native, features)
    if refine is not None:
        native.refine = lib.CLV_REFINE_ALL if refine else lib.CLV_REFINE_NONE
    native.propagates = propagate
    _choose_probabilities(native, probabilities)
    native.n_threads = as_whole("threads", threads, 0)
    work = _FilesWork(progress, each, native.probabilities == lib.CLV_PROBABILITIES_OF_LABEL)
    native.progress, native.settled, native.context = work.native, lib.cleave_settled, work.handle
    result = ffi.new("struct clv_files_result *")
    try:
        work.run(lambda: call(lib.clv_segment_files, result, native))
    except Error as error:
        if not result.is_complete or not result.n_failed:
            error.args = (_by_keyword(str(error), len(os.fsencode(error.path or ""))),)
            raise
    finally:
        failures = {outcome.message for outcome in work.outcomes if outcome.error}
        for note in work.notes:
            if note not in failures:
                warnings.warn(_by_keyword(note), stacklevel=2)
    if result.n_failed:
        first = next(outcome for outcome in work.outcomes if outcome.error)
        warnings.warn(f"{result.n_failed} of {result.n_inputs} inputs failed, the first: {first.message}", stacklevel=2)
    return Files(work.outcomes, result.n_done, result.n_earlier, result.n_failed, result.n_objects)
