"""Graphs with features of the caller's own: arrays as the library's problems, and what a model says of them."""

from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, as_edges, as_floats, pointer
from ._errors import DataError, Error, UsageError, call
from ._native import ffi, lib
from ._work import Work

Graph = Sequence[Any]
"""(features, edges) or (features, edges, edge_features)."""

Arrays = Tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]
"""Features float32 [n, d], edges int32 [m, 2] with the lower node first, their features float32 [m, p]."""

_FORMS = "(features, edges) or (features, edges, edge_features)"


def _as_features(name: str, given: Any, n_rows: Optional[int], n_columns: Optional[int], what: str) -> npt.NDArray[Any]:
    """Finite numbers [n_rows, n_columns]; None: any number except 0."""
    array = as_floats(name, given, np.float32)
    if array.ndim != 2 or 0 in array.shape or len(array) != (n_rows or len(array)) or array.shape[1] != (n_columns or array.shape[1]):
        raise UsageError(f"{name} has shape {array.shape}, [{n_rows or 'n'}, {n_columns or ('p' if n_rows else 'd')}] is needed")
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        raise DataError(f"{name}: feature {wrong[0, 1]} of {what} {wrong[0, 0]} is {array[tuple(wrong[0])]}")
    return array


def _as_arrays(name: str, given: Any, pairwise: int, n_features: Optional[int], n_edge_features: Optional[int]) -> Arrays:
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise UsageError(f"{name} is a {type(given).__name__}, {_FORMS} is needed; one graph alone is [(features, edges)]")
    features = _as_features(f"{name}: features", given[0], None, n_features, "node")
    edges = as_edges(f"{name}: edges", () if given[1] is None else given[1], len(features))
    is_reversed = edges[:, 0] > edges[:, 1]
    if pairwise == lib.CLV_PAIRWISE_FULL and is_reversed.any():
        index = int(np.flatnonzero(is_reversed)[0])
        raise UsageError(f"{name}: edges: edge {index} is {tuple(edges[index].tolist())}; of full tables, which say which label is whose, "
                         "the lower node comes first")
    edges = np.sort(edges, axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    again = np.flatnonzero((edges[order[1:]] == edges[order[:-1]]).all(axis=1))
    if len(again):
        index = int(order[again[0] + 1])
        raise UsageError(f"{name}: edges: edge {index} is {tuple(edges[index].tolist())} a second time; each pair of nodes has one edge")
    values, own = np.ones((len(edges), n_edge_features or 1), np.float32), given[2] if len(given) > 2 else None
    if len(edges) and (own is not None or values.shape[1] > 1):
        own = own if np.ndim(own) != 1 or len(own) != len(edges) else as_array(f"{name}: edge_features", own)[:, None]
        values = _as_features(f"{name}: edge_features", own, len(edges), n_edge_features, "edge")
    if pairwise == lib.CLV_PAIRWISE_POTTS and (values < 0).any():
        edge, column = np.argwhere(values < 0)[0]
        raise DataError(f"{name}: edge_features: feature {column} of edge {edge} is {values[edge, column]}; couplings take 0 and above, "
                        "those of train_graphs(pairwise='full') any number")
    return features, edges, values


def as_graphs(given: Any, pairwise: int, n_features: Optional[int] = None, n_edge_features: Optional[int] = None) -> List[Arrays]:
    """Returns the arrays of the graphs; all must have those that the first one has."""
    if isinstance(given, np.ndarray) and given.dtype == object:
        given = list(given)
    if not isinstance(given, (list, tuple)):
        hint = "; an image is labelled by segment" if isinstance(given, np.ndarray) else ""
        raise UsageError(f"graphs is a {type(given).__name__}, a list of {_FORMS} is needed{hint}")
    graphs: List[Arrays] = []
    for index, graph in enumerate(given):
        graphs.append(_as_arrays(f"graphs[{index}]", graph, pairwise, n_features, n_edge_features))
        n_features = graphs[-1][0].shape[1]
        n_edge_features = graphs[-1][2].shape[1] if len(graphs[-1][1]) else n_edge_features
    return graphs


def _problem(features: npt.NDArray[Any], edges: npt.NDArray[Any], edge_features: npt.NDArray[Any]) -> Any:
    """A struct clv_problem, and the memory that it points into."""
    (n, d), (m, p) = features.shape, edge_features.shape
    held = {
        "row": pointer("int64_t", np.arange(n + 1, dtype=np.int64) * d),
        "index": pointer("int32_t", np.tile(np.arange(d, dtype=np.int32), n)),
        "value": pointer("float", np.ascontiguousarray(features)),
        "area": pointer("float", np.ones(n, np.float32)),
        "edge_features": pointer("float", np.ascontiguousarray(edge_features)),
    }
    ends = pointer("int32_t", edges)
    native = ffi.new("struct clv_problem *", {"n_nodes": n, "n_edges": m, "n_features": d, "n_edge_features": p,
                                              "edges": ffi.cast("int32_t(*)[2]", ends), **held})
    return native, (held, ends)


def found_in_graphs(model: Any, graphs: Any, ctype: str, dtype: Any, n_values: int, function: Callable[[Any, Any, Any], None]) -> List[Any]:
    """Calls `function(found, problem, oracle)` for each graph, which fills an array [n, n_values] by a struct clv_model. Ctrl-C ends it."""
    if model.has_recipe:
        raise UsageError("the model is of images, which segment and probabilities take; graphs are for models of cleave.train_graphs, or "
                         "of feature files")
    own = model.first.layout if model.first != ffi.NULL else model.layout
    arrays = as_graphs(graphs, own.pairwise, own.n_features, own.n_edge_features if own.pairwise != lib.CLV_PAIRWISE_NONE else None)
    found = [np.empty((len(graph[0]), n_values), dtype) for graph in arrays]
    work, made = Work(None), ffi.new("struct clv_oracle **")
    call(lib.clv_oracle_new, made, lib.CLV_ENGINE_DEFAULT)
    oracle = ffi.gc(made[0], lib.clv_oracle_free)
    lib.clv_oracle_watch(oracle, work.stop_flag)

    def run() -> None:
        for index, (array, graph) in enumerate(zip(found, arrays)):
            native, _keep = _problem(*graph)
            try:
                function(pointer(ctype, array), native, oracle)
            except Error as error:
                error.args = (f"graphs[{index}]: {error}",)
                raise
            if work.stop_flag[0]:
                raise KeyboardInterrupt

    work.run(run)
    return found
