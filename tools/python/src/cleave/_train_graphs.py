"""Learning models of graphs with features of the caller's own, by a feature file without a name."""

import json
import tempfile
import warnings
from typing import IO, Any, Dict, List, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, as_names, as_values
from ._errors import Error, UsageError, call
from ._model import Model
from ._native import ffi, lib
from ._pixels import VOID
from ._problems import Arrays, Graph, as_graphs
from ._train import by_keyword, named, prepared
from ._work import Progress

_TYPES = {"float32": "F32", "int32": "I32", "int64": "I64", "uint8": "U8"}


def _as_truth(given: Any, graphs: Sequence[Arrays]) -> Labels:
    """The labels of all graphs, one after the other."""
    given = list(given) if isinstance(given, np.ndarray) and given.ndim else given
    if not isinstance(given, (list, tuple)) or len(given) != len(graphs):
        size = f" of {len(given)}" if isinstance(given, (list, tuple)) else ""
        raise UsageError(f"truth is a {type(given).__name__}{size}, a list of {len(graphs)} arrays of labels is needed, one a graph")
    return np.concatenate([as_values(f"truth[{index}]", labels, graphs[index][0].shape[:1], void=True) for index, labels in enumerate(given)])


def _write(file: IO[bytes], graphs: Sequence[Arrays], truth: Labels, n_labels: int, names: Optional[List[str]]) -> None:
    """A feature file, as cleave-formats(5) describes it."""
    features, edges, edge_features = zip(*graphs)
    arrays: Dict[str, npt.NDArray[Any]] = {
        "node_offset": np.cumsum([0, *map(len, features)], dtype=np.int64), "x": np.concatenate(features),
        "counts": (truth[:, None] == np.arange(n_labels)).astype(np.float32)}
    if any(map(len, edges)):
        arrays.update(edge_offset=np.cumsum([0, *map(len, edges)], dtype=np.int64), edges=np.concatenate(edges),
                      edge_features=np.concatenate([values for values in edge_features if len(values)]))
    texts = {"format": "cleave features 1", "n_labels": str(n_labels), "names": "\n".join(f"graphs[{index}]" for index in range(len(graphs)))}
    if names is not None:
        native, _keep = named(names)
        texts["labels"] = json.dumps({"names": names, "void_value": -1, "from_file": 1})
        arrays["palette"] = np.frombuffer(ffi.buffer(native.palette, 768), np.uint8).reshape(256, 3)
    header: Dict[str, Any] = {"__metadata__": texts}
    end = 0
    for name, array in arrays.items():
        header[name] = {"dtype": _TYPES[array.dtype.name], "shape": array.shape, "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    file.write(len(head).to_bytes(8, "little") + head)
    for array in arrays.values():
        file.write(np.ascontiguousarray(array).data)
    file.flush()


def train_graphs(graphs: Sequence[Graph], truth: Sequence[npt.NDArray[Any]], *, labels: Optional[Sequence[str]] = None,
                 learner: Optional[str] = None, threads: int = 0, progress: Optional[Progress] = None, **options: Any) -> Model:
    """Learns to label the nodes of graphs whose features are the caller's own: no images. Model.predict and Model.predict_probabilities
    take others.

        import cleave
        import numpy as np

        graphs, truth = [], []
        random = np.random.default_rng(0)
        for _ in range(20):                                   # chains of 30 nodes, neighbours alike
            labels = np.repeat(random.integers(0, 2, 6), 5)
            features = np.column_stack([labels + random.normal(size=30), np.ones(30)])
            edges = np.column_stack([np.arange(29), np.arange(1, 30)])
            graphs.append((features, edges))
            truth.append(labels)
        model = cleave.train_graphs(graphs[:15], truth[:15], seed=1)
        found = model.predict(graphs[15:])                    # a list of arrays [30]
        print(np.mean([f == t for f, t in zip(found, truth[15:])]))

    graphs      a list with (features, edges) or (features, edges, edge_features) of each: features are numbers [n, d], with a
                constant 1 among them if there is to be a bias; edges integers [m, 2], pairs of nodes 0 .. n - 1, each once, or None;
                edge_features numbers [m, p] or [m], by default a 1 an edge. Sizes n and m differ from graph to graph, d and p do not
    truth       a list with the labels of each graph: integers [n] of 0 .. k - 1, or bool; VOID (255) where nothing is known
    labels      names of the labels, that of label 0 first; default: as many as there are in truth
    learner     one of learners(); default: "ssvm" of two labels or without edges, else "mssvm"
    threads     0: all processors
    progress    called as progress(stage, done, total) now and then, from other threads

    **options   as of train, but for those of images. pairwise="full": a score for each pair of labels, times edge_features of any
                sign, in place of couplings, which take none below 0; in edges the lower node then comes first. loss="balanced": labels
                weigh the same in the loss, however rare; default: nodes do ("counts")

    The model is that of `cleave train` from a feature file of these arrays (cleave-formats(5)) with --loss counts. On Ctrl-C it is what
    was learned so far.
    """
    names = as_names(labels)
    form = options.get("pairwise")
    arrays = as_graphs(graphs, {"none": lib.CLV_PAIRWISE_NONE, "full": lib.CLV_PAIRWISE_FULL}.get(str(form), lib.CLV_PAIRWISE_POTTS))
    if not arrays:
        raise UsageError("graphs is empty: there is nothing to learn from")
    known = _as_truth(truth, arrays)
    highest = int(known[known != VOID].max(initial=1))
    n_labels = highest + 1 if names is None else len(names)
    if highest >= n_labels:
        raise UsageError(f"truth has label {highest}, but there are {n_labels} names")
    if learner is None:
        has_couplings = form != "none" and any(len(edges) for _, edges, _ in arrays)
        learner = "mssvm" if has_couplings and (form == "full" or n_labels > 2) else "ssvm"
    native, keep, work = prepared(learner, threads, progress, {"loss": "counts", **options})
    model = ffi.gc(ffi.new("struct clv_model *"), lib.clv_model_release)
    with tempfile.TemporaryFile(prefix="cleave-") as file:  # it has no name, so that it disappears in any case
        path = f"/proc/self/fd/{file.fileno()}"

        def plain(text: str) -> str:
            text = text.replace(f"{path} is a feature file", "the data is a list of graphs").replace(f"{path}: ", "")
            return by_keyword(text.replace(path, "the data"))

        _write(file, arrays, known, n_labels, names)
        keep.append(ffi.new("char[]", path.encode()))
        native.data = keep[-1]
        try:
            work.run(lambda: call(lib.clv_train_set, model, native))
        except Error as error:
            error.args = (plain(str(error)),)
            raise
        finally:
            for note in work.notes:
                warnings.warn(plain(note), stacklevel=2)
    for key in (b"data", b"data_digest"):
        call(lib.clv_record_set, ffi.addressof(model, "record"), key, b"arrays")
    return Model(model)
