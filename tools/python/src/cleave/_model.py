"""Models and what they say of an image."""

import pathlib
import tempfile
import warnings
from typing import Any, Callable, Dict, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, Range, as_array, as_bands, as_box, as_flag, as_image, as_whole, channels_first, copied, narrowed, npy_write, pointer
from ._errors import DataError, Error, Path, UsageError, as_path, call
from ._native import ffi, lib
from ._objects import Objects, objects_of
from ._pixels import VOID, Box, box_cut
from ._problems import Graph, found_in_graphs
from ._sequence import segment_slices
from ._work import Progress, Work, call_apart


def version() -> str:
    """The version of the library: "cleave 0.1.0"."""
    return str(ffi.string(lib.clv_version()).decode())


class Model:
    """A trained model: what `cleave train` writes, and cleave.train returns.

    labels          names of the labels, by value
    record          how it was learned, as the command tells it: learner, seed, parameters, losses, curve
    interrupted     whether the training was ended early

    Models can be pickled and copied.
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    @classmethod
    def load(cls, path: Path) -> "Model":
        """Reads a model file. Raises InputError if it is missing, DataError if it is not a model or damaged."""
        native = ffi.gc(ffi.new("struct clv_model *"), lib.clv_model_release)
        call(lib.clv_model_read, native, as_path(path), path=path)
        return cls(native)

    def save(self, path: Path) -> None:
        """Writes the model file, which is old or new, never half. Raises OutputError."""
        call(lib.clv_model_write, as_path(path), self._native, path=path)

    @overload
    def segment(self, image: npt.NDArray[Any], *, objects: Literal[True], **options: Any) -> Objects: ...

    @overload
    def segment(self, image: npt.NDArray[Any], *, objects: Literal[False] = False, **options: Any) -> Labels: ...

    def segment(self, image: npt.NDArray[Any], **options: Any) -> Any:
        """Labels of every pixel, uint8 [height, width], of an image, uint8 [height, width, 3] (cleave.read_image reads files).
        Options: refine, maps, box, and with sequence=True a volume in place of the image; objects=True gives (labels, objects, table)
        instead. help(cleave.segment) says more."""
        return segment(self, image, **options)

    def probabilities(self, image: npt.NDArray[Any], **options: Any) -> npt.NDArray[np.float32]:
        """Probabilities of the labels of every pixel, float32 [height, width, labels], of an image as segment takes it.
        help(cleave.probabilities) has the options."""
        return probabilities(self, image, **options)

    def features(self, image: npt.NDArray[Any], **options: Any) -> "Problem":
        """The graph of an image as learners use it: a cleave.Problem. See help(cleave.features)."""
        return features(self, image, **options)

    def predict(self, graphs: Sequence[Graph]) -> List[Labels]:
        """Labels of the nodes of graphs, a list of arrays uint8 [n], by a model of cleave.train_graphs or of a feature file: what
        `cleave segment --features` writes.

        graphs      a list with (features, edges) or (features, edges, edge_features) of each, as of train_graphs: numbers [n, d],
                    integers [m, 2] or None, and numbers [m, p] or [m], by default a 1 an edge, with the d and p learned from

            labels, = model.predict([(features, edges)])

        Ctrl-C ends it.
        """
        found = found_in_graphs(self._native, graphs, "int32_t", np.int32, 1,
                                lambda y, problem, oracle: call(lib.clv_model_predict, y, self._native, problem, oracle))
        return [labels[:, 0].astype(np.uint8) for labels in found]

    def predict_probabilities(self, graphs: Sequence[Graph], *, samples: int = 100, seed: int = 0) -> List[npt.NDArray[np.float32]]:
        """Probabilities of the labels of the nodes of graphs, as predict takes them: a list of arrays float32 [n, labels], as
        cleave.probabilities has them of an image's regions, and `cleave probabilities --features --all-labels` writes them.

        Exact, by sum-product, in every part of a graph that has no loops (chains, trees, single nodes), whatever `samples` is. Elsewhere
        samples, as help(cleave.probabilities) says. Probabilities are those of the model's scores; those of learners such as ssvm, which
        learn margins (model.record["scores"]), are rescaled first, and tell what is more or less certain, not how much.
        """
        n_samples, key = as_whole("samples", samples, 1, 2**32 - 1), as_whole("seed", seed, 0, 2**64 - 1)
        found = found_in_graphs(self._native, graphs, "double", np.float64, self._native.layout.n_labels, lambda shares, problem, oracle: call(
            lib.clv_model_marginals, shares, ffi.NULL, ffi.NULL, self._native, problem, oracle, key, n_samples))
        return [shares.astype(np.float32) for shares in found]

    def max_marginals(self, graphs: Union[Sequence[Graph], npt.NDArray[Any]], *, of: str = "scores") -> Any:
        """Max-marginals of the labels of the nodes of graphs, as predict takes them: a list of arrays float64 [n, labels], the score of
        the best labelling of the graph with that label at that node. Of an image, as segment takes it: an array [height, width, labels].

        of          "scores"; "margins": how much better that labelling is than the best one with any other label there, above 0 at the
                    labels of the best labelling, as `cleave probabilities --margins` writes; or "counts": in how many of all these
                    n * labels best labellings, their witnesses, the node has the label

        Exact: on chains and trees for any number of labels, on any graph for two labels whose model a minimum cut decodes; other models
        raise UsageError or DataError. Scores are the model's own. Ctrl-C ends it.
        """
        if of not in ("scores", "margins", "counts"):
            raise UsageError(f"of is {of!r}, must be 'scores', 'margins' or 'counts'")

        def find(found: Any, problem: Any, oracle: Any) -> None:
            best, counts = (ffi.NULL, found) if of == "counts" else (found, ffi.NULL)
            call(lib.clv_model_max_marginals, best, counts, self._native, problem, oracle)

        if isinstance(graphs, np.ndarray) and graphs.dtype != object:
            example = _extract(self, graphs, None, -1)
            values = np.empty((example.problem.n_nodes, self._native.layout.n_labels))
            _with_oracle(lambda oracle: find(pointer("double", values), ffi.addressof(example, "problem"), oracle))
            return (_margins(values) if of == "margins" else values)[_nodes(example)]
        found = found_in_graphs(self._native, graphs, "double", np.float64, self._native.layout.n_labels, find)
        return [_margins(values) for values in found] if of == "margins" else found

    def __reduce__(self) -> Tuple[Callable[[bytes], "Model"], Tuple[bytes]]:
        with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
            path = pathlib.Path(folder, "model")
            self.save(path)
            return _model_of_bytes, (path.read_bytes(),)

    @property
    def labels(self) -> List[str]:
        names = self._native.labels
        return [ffi.string(names.names[k]).decode(errors="replace") for k in range(names.n_labels)]

    @property
    def record(self) -> Dict[str, str]:
        record = self._native.record
        return {ffi.string(entry.key).decode(errors="replace"): ffi.string(entry.value).decode(errors="replace")
                for entry in (record.entries[i] for i in range(record.n))}

    @property
    def range(self) -> Optional[Range]:
        """(low, high) of 16-bit grey, as train was given them: segment takes integers [height, width] by it, and read_image(path,
        range=model.range) reads such files. None: there is none."""
        recipe = self._native.recipe
        return (recipe.grey16_low, recipe.grey16_high) if recipe.grey16_high else None

    @property
    def interrupted(self) -> bool:
        return self.record.get("interrupted") == "yes"

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """A copy of all weights, float64 [n]: those of the nodes, then those of the edges."""
        return copied(self._native.w, "double", np.float64, lib.clv_weight_layout_size(ffi.addressof(self._native, "layout")))

    def __repr__(self) -> str:
        return f"<cleave.Model {self.record.get('learner', '?')}, labels {', '.join(self.labels)}>"


def _model_of_bytes(content: bytes) -> Model:
    """A model from its file's content, for pickle."""
    with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
        path = pathlib.Path(folder, "model")
        path.write_bytes(content)
        return Model.load(path)


def load(path: Path) -> Model:
    """Reads a model file, as `cleave train` and Model.save write it."""
    return Model.load(path)


def _checked(model: Any) -> Model:
    if not isinstance(model, Model):
        raise UsageError(f"model is a {type(model).__name__}, a cleave.Model is needed; it comes first, then the image")
    return model


Maps = Mapping[str, npt.NDArray[Any]]


def as_maps(given: Any) -> Mapping[str, Any]:
    """A mapping; None is an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"maps is a {type(given).__name__}, {{name: map}} is needed")
    return given or {}


def map_planes(name: str, given: Any, channel_axis: int) -> npt.NDArray[Any]:
    """A map as [channels, height, width], whose type is kept."""
    values = as_array(f"map {name}", given)
    if values.dtype not in (np.uint8, np.uint16) and values.dtype.kind != "f":
        raise UsageError(f"map {name} is an array of {values.dtype}; floats, uint8 or uint16 are needed")
    if values.ndim not in (2, 3) or 0 in values.shape:
        raise UsageError(f"map {name} has shape {values.shape}; [height, width] or [height, width, channels] is needed")
    return channels_first(name, values, channel_axis) if values.ndim == 3 else values[None]


def _read_bands(model: Model, image: Any) -> Tuple[Any, Any]:
    """Colours and map of an image of bands, by the model's recipe, through a temporary file."""
    array = as_bands("image", image)
    shown = ffi.gc(ffi.new("struct clv_image *"), lib.clv_image_release)
    planes = ffi.gc(ffi.new("struct clv_map *"), lib.clv_map_release)
    limits = ffi.new("struct clv_image_limits *", {"bands": ffi.addressof(model._native.recipe, "bands")})
    with tempfile.TemporaryDirectory(prefix="cleave-") as folder:
        path = pathlib.Path(folder, "image.npy")
        npy_write(path, array)
        try:
            call(lib.clv_image_read, shown, as_path(path), limits)
            call(lib.clv_map_read, planes, as_path(path), lib.CLV_MAP_LAYOUT_BANDS, limits)
        except Error as error:
            shown_only = array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] == 3 != model._native.recipe.bands.n_bands
            hint = "; cleave.read_image gives what a file looks like, the model takes its own numbers" if shown_only else ""
            error.args = (str(error).replace(str(path), "image") + hint,)
            raise
    return shown, planes


def _seen(model: Model, image: Any, maps: Optional[Maps], channel_axis: int) -> Tuple[Any, Any, Any]:
    """An image and its maps as the library needs them, in the recipe's order; the third value keeps them alive."""
    if not model._native.has_recipe:
        raise UsageError("the model is of features made elsewhere, which no image has; Model.predict takes graphs")
    recipe = model._native.recipe
    names = [ffi.string(recipe.maps[k].name).decode() for k in range(recipe.n_maps)]
    shown, held = _read_bands(model, image) if recipe.bands.n_bands else as_image("image", image, range=model.range)
    own = {"bands": held} if recipe.bands.n_bands else {}
    given = dict(as_maps(maps))
    if sorted(name for name in names if name not in own) != sorted(given):
        raise UsageError(f"the model takes the maps {[name for name in names if name not in own]}, given are {list(given)}")
    native, keep = ffi.new("struct clv_map[]", max(1, len(names))), [held]
    for k, name in enumerate(names):
        if name in own:
            native[k] = own[name][0]
            continue
        values = map_planes(name, given[name], channel_axis)
        is_integer = values.dtype.kind == "u"
        if is_integer:
            values = values.astype(np.float32) / np.float32(np.iinfo(values.dtype).max)
        values = np.array(narrowed(f"map {name}", values, np.float32, channel_axis), order="C")
        if not np.isfinite(values).all():
            raise DataError(f"map {name} holds a value that is not finite")
        if recipe.maps[k].kind == lib.CLV_MAP_PROBABILITIES and (values.min() < -0.01 or values.max() > 1.01):
            warnings.warn(f"map {name} holds {values.min():g} .. {values.max():g}, those learned from are probabilities in 0..1", stacklevel=3)
        data = pointer("float", values)
        keep.append(data)
        native[k] = {"width": values.shape[2], "height": values.shape[1], "n_channels": values.shape[0],
                     "is_integer": is_integer, "values": data}
    return shown, (native if names else ffi.NULL), (native, keep)


@overload
def segment(model: Optional[Model], image: npt.NDArray[Any], *, maps: Optional[Maps] = None, channel_axis: int = -1, box: Optional[Box] = None,
            refine: Optional[bool] = None, objects: Literal[False] = False, sequence: bool = False, threads: int = 0,
            progress: Optional[Progress] = None) -> Labels: ...


@overload
def segment(model: Optional[Model], image: npt.NDArray[Any], *, maps: Optional[Maps] = None, channel_axis: int = -1, box: Optional[Box] = None,
            refine: Optional[bool] = None, objects: Literal[True], min_area: int = 0, clear_border: bool = False) -> Objects: ...


def segment(model: Optional[Model], image: npt.NDArray[Any], *, maps: Optional[Maps] = None, channel_axis: int = -1, box: Optional[Box] = None,
            refine: Optional[bool] = None, objects: bool = False, min_area: int = 0, clear_border: bool = False, sequence: bool = False,
            threads: int = 0, progress: Optional[Progress] = None) -> Any:
    """Labels of every pixel, uint8 [height, width]: what `cleave segment` writes.

    image       uint8 [height, width, 3]; of a model of bands (train) [height, width, bands] of any numbers; of one with a range of grey
                integers [height, width], too. Pixels whose bands are all NaN or infinite have no data: their label is VOID (255)
    maps        of a model that was learned with maps of networks: {name: array [height, width] or [height, width, channels]}, of
                any size, stretched over the image; uint8 and uint16 count as fractions of their largest value. channel_axis=0:
                [channels, height, width]
    refine      refine borders at the pixels: True always (`--refine`), False never (`--no-refine`), None in images of more pixels
                than features are made of
    box         (x, y, width, height): only what lies in it may be other than label 0. With model=None the same as
                cleave.box_cut.
    objects     True: three values (labels, objects, table), as `--objects` writes them. objects is int32 [height, width], the number
                of the object of each pixel from 1, 0 for none: as the model has learned to separate them, else connected pieces of
                each label. table has their measures (cleave.measure) and labels. Not with both a model and a box
    min_area    drop objects of fewer pixels; their labels stay
    clear_border
                drop objects that have a pixel in the first or last row or column
    sequence    True, of a model that was learned so: image is a volume [slices, height, width], with channels behind, or a list of
                slices, and so is the result, as `--sequence` writes it: slices hold together, window by window. Then threads (0: all
                processors) work on it, progress is called as in train, and Ctrl-C ends it
    """
    refine = refine if refine is None else as_flag("refine", refine)
    if as_flag("sequence", sequence):
        if maps or box is not None or objects:
            raise UsageError("sequence goes with a model and slices alone, without maps, box and objects")
        return segment_slices(_checked(model), image, refine, threads, progress)
    if threads or progress:
        raise UsageError("threads and progress are of sequences; one image is one thread's")
    if not as_flag("objects", objects) and (min_area or clear_border):
        raise UsageError("min_area and clear_border are of objects, which need objects=True")
    if model is None:
        if box is None:
            raise UsageError("segment needs a model or a box")
        labels: Labels = box_cut(image, box)
        native, keep = as_image("image", image)
        return objects_of(labels, ffi.NULL, native, keep, image, min_area, clear_border) if objects else labels
    _checked(model)
    if objects and box is not None:
        raise UsageError("objects are of the whole image by a model, or of a box without one")
    native, planes, keep = _seen(model, image, maps, channel_axis)
    left, top, width, height = (0.0, 0.0, 0.0, 0.0) if box is None else as_box("box", box, native.width, native.height)
    options = ffi.new("struct clv_segment_options *")
    lib.clv_segment_defaults(options)
    if refine is not None:
        options.refine = lib.CLV_REFINE_ALL if refine else lib.CLV_REFINE_NONE
    options.maps = planes
    labels = np.empty((native.height, native.width), np.uint8)
    call_apart(lib.clv_segment, pointer("uint8_t", labels), model._native, native, options, keep=keep)
    if model._native.recipe.bands.n_bands and np.asarray(image).dtype.kind == "f":
        known = np.isfinite(image)
        labels[~(known if known.ndim == 2 else known.any(axis=2))] = VOID
    if box is not None:
        centre_x, centre_y = np.arange(native.width) + 0.5, np.arange(native.height) + 0.5
        labels[~((centre_y >= top) & (centre_y < top + height)), :] = 0
        labels[:, ~((centre_x >= left) & (centre_x < left + width))] = 0
    return objects_of(labels, model._native, native, keep, image, min_area, clear_border) if objects else labels


class Problem(NamedTuple):
    """An image as the learners see it. Features are sparse rows: node i holds value[row[i]:row[i + 1]] in the columns
    column[row[i]:row[i + 1]] of n_features (scipy.sparse.csr_matrix((value, column, row)))."""

    nodes: npt.NDArray[np.int32]  # [height, width] of the image: the node under each pixel
    row: npt.NDArray[np.int64]  # [n_nodes + 1]
    column: npt.NDArray[np.int32]
    value: npt.NDArray[np.float32]
    n_features: int
    edges: npt.NDArray[np.int32]  # [n_edges, 2]
    edge_features: npt.NDArray[np.float32]  # [n_edges, n_edge_features]
    area: npt.NDArray[np.float32]  # [n_nodes] pixels


def _extract(model: Model, image: npt.NDArray[Any], maps: Optional[Maps], channel_axis: int) -> Any:
    native, planes, keep = _seen(_checked(model), image, maps, channel_axis)
    example = ffi.gc(ffi.new("struct clv_example *"), lib.clv_example_release)
    call_apart(lib.clv_example_extract_maps, example, native, planes, ffi.addressof(model._native, "recipe"), keep=(model, keep))
    return example


def _nodes(example: Any) -> npt.NDArray[np.int32]:
    """The node under each pixel of the original image: its centre, moved to the working size."""
    small = example.superpixels
    nodes = copied(small.labels, "int32_t", np.int32, small.height, small.width)
    rows = (2 * np.arange(example.height, dtype=np.int64) + 1) * small.height // (2 * example.height)
    columns = (2 * np.arange(example.width, dtype=np.int64) + 1) * small.width // (2 * example.width)
    found: npt.NDArray[np.int32] = nodes[rows[:, None], columns[None, :]]
    return found


def features(model: Model, image: npt.NDArray[Any], *, maps: Optional[Maps] = None, channel_axis: int = -1) -> Problem:
    """Computes graph and features of an image by the model's recipe."""
    example = _extract(model, image, maps, channel_axis)
    problem = example.problem
    n, m, p = problem.n_nodes, problem.n_edges, problem.n_edge_features
    row = copied(example.row, "int64_t", np.int64, n + 1)
    entries = int(row[-1])
    return Problem(_nodes(example), row, copied(example.index, "int32_t", np.int32, entries),
                   copied(example.value, "float", np.float32, entries), problem.n_features,
                   copied(example.edges, "int32_t", np.int32, m, 2),
                   copied(example.edge_features, "float", np.float32, m, p), copied(example.area, "float", np.float32, n))


def _margins(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each label's score minus the largest other score, [n, labels]."""
    ordered = np.sort(scores, axis=1)
    return np.where(scores < ordered[:, -1:], scores - ordered[:, -1:], scores - ordered[:, -2:-1])


def _with_oracle(function: Callable[[Any], None]) -> None:
    """Calls function(oracle); Ctrl-C ends it."""
    work, made = Work(None), ffi.new("struct clv_oracle **")
    call(lib.clv_oracle_new, made, lib.CLV_ENGINE_DEFAULT)
    oracle = ffi.gc(made[0], lib.clv_oracle_free)
    lib.clv_oracle_watch(oracle, work.stop_flag)
    work.run(lambda: function(oracle))
    if work.stop_flag[0]:
        raise KeyboardInterrupt


def probabilities(model: Model, image: npt.NDArray[Any], *, maps: Optional[Maps] = None, channel_axis: int = -1, samples: int = 100,
              seed: int = 0) -> npt.NDArray[np.float32]:
    """Probability of every label at every pixel, float32 [height, width, n_labels], as `cleave probabilities` writes it.

    Exact, by sum-product, where the graph of the image's regions has no loops, as in models without pairwise terms. Elsewhere samples:
    the share of perturb-and-MAP labellings in which the pixel's node has the label, with a standard error of at most .5 / sqrt(samples), which
    differs from the probability by more than that, however many samples there are; of models that no cut decodes (mssvm) loopy belief
    propagation, without samples. Scores of learners such as ssvm, which learn margins (model.record["scores"]), are rescaled: their
    probabilities tell what is more or less certain, not how much. Ctrl-C ends it.
    """
    n_samples, key = as_whole("samples", samples, 1, 2**32 - 1), as_whole("seed", seed, 0, 2**64 - 1)
    example = _extract(model, image, maps, channel_axis)
    found = np.empty((example.problem.n_nodes, model._native.layout.n_labels))
    _with_oracle(lambda oracle: call(lib.clv_model_marginals, pointer("double", found), ffi.NULL, ffi.NULL, model._native,
                                    ffi.addressof(example, "problem"), oracle, key, n_samples))
    return found.astype(np.float32)[_nodes(example)]
