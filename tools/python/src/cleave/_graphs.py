"""Minimum cuts of arrays: no image, no model."""

from typing import Any, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import Labels, as_edges, as_floats, channels_first, narrowed, pointer
from ._errors import UsageError, call
from ._native import ffi, lib
from ._work import call_apart


SURELY_LABELS, MOST_LABELS = 8, 32  # along the last axis of an array of three, unless channel_axis says that labels are there


def graph_cut(unary: npt.NDArray[Any], couplings: Any, weights: Optional[npt.NDArray[Any]] = None, *, channel_axis: int = -1) -> Labels:
    """The best labels by scores of single nodes and losses between neighbours, uint8: an exact minimum cut for two labels,
    alpha-expansion for more. The labelling y is such that no other has more of

        sum_i unary[i, y[i]] - sum_(i, j) [y[i] != y[j]] weight(i, j)

    Weights may be so large that they must not be cut, such as 1e10 beside scores of 1: the cut stays exact. Fields like
    that take longer. A two-label grid's values are at most 3.4e38, the largest float32.

    On a grid: graph_cut(unary, couplings)
    unary       [height, width], how much better label 1 is than label 0, or [height, width, n_labels], scores of each
    couplings   >= 0: a number, between all 4-neighbours, or [height, width, 2], between a pixel and the ones to its right and
                below, or [height, width, 4], those to its lower right and lower left as well. Labels and neighbours are along
                channel_axis. An array of more than 32 labels, or of more than 8 and its height or width, is taken for a volume and
                refused unless channel_axis is given from the front (2)

    On a graph: graph_cut(unary, edges, weights)
    unary       [n] or [n, n_labels], likewise
    edges       integers [m, 2], pairs of different nodes 0 .. n - 1
    weights     [m] >= 0
    """
    scores = as_floats("unary", unary, np.float64)
    given = scores.shape
    if weights is not None:
        return _cut_graph(scores, couplings, weights)
    if scores.ndim == 3:
        scores = channels_first("unary", scores, channel_axis)
        if channel_axis == -1 and len(scores) > min(MOST_LABELS, max(SURELY_LABELS, min(given[:2]))):
            raise UsageError(f"unary has shape {given}, which would be an image of {len(scores)} labels; of a volume give edges and weights, "
                             "of so many labels channel_axis=2")
        if not 2 <= len(scores) <= 255:
            raise UsageError(f"unary has shape {given}, {len(scores)} labels along channel_axis {channel_axis}; 2 to 255 are needed")
    if scores.ndim not in (2, 3) or 0 in scores.shape:
        raise UsageError(f"unary has shape {given}, [height, width] or [height, width, n_labels] is needed (of a graph: weights, too)")
    shape = scores.shape[-2:]
    planes = as_floats("couplings", couplings, np.float32)
    if planes.ndim == 0:
        planes = np.broadcast_to(planes, (2, *shape))
    elif planes.ndim == 3:
        planes = channels_first("couplings", planes, channel_axis)
    if planes.shape not in ((2, *shape), (4, *shape)):
        raise UsageError(f"couplings has shape {np.shape(couplings)}; a number, {(*shape, 2)} or {(*shape, 4)} is needed "
                         "(of a graph or a volume: edges and weights)")
    if scores.ndim == 3:
        return _cut_graph(scores.reshape(len(scores), -1).T, *_grid_edges(planes)).reshape(shape)
    kept = [np.array(plane, order="C") for plane in planes]
    difference = narrowed("unary", scores, np.float32)
    grid = ffi.new("struct clv_grid *", {"width": shape[1], "height": shape[0], "n_neighbours": 2 * len(kept),
                                         "unary": pointer("float", difference), "coupling": [pointer("float", plane) for plane in kept]})
    labels = np.empty(shape, np.uint8)
    call_apart(lib.clv_grid_map, pointer("uint8_t", labels), grid, keep=(kept, difference))
    return labels


def _grid_edges(planes: npt.NDArray[Any]) -> Tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The pairs of pixels that have couplings, and the couplings."""
    height, width = planes.shape[1:]
    nodes = np.arange(height * width).reshape(height, width)
    edges, weights = [], []
    for plane, (down, right) in zip(planes, ((0, 1), (1, 0), (1, 1), (1, -1))):
        here = slice(0, height - down), slice(max(0, -right), width - max(0, right))
        there = slice(down, height), slice(max(0, right), width - max(0, -right))
        edges.append(np.stack([nodes[here].ravel(), nodes[there].ravel()], axis=1))
        weights.append(plane[here].ravel())
    return np.concatenate(edges), np.concatenate(weights)


def _cut_graph(scores: npt.NDArray[Any], edges: Any, weights: Any) -> Labels:
    if scores.ndim not in (1, 2) or 0 in scores.shape or (scores.ndim == 2 and not 2 <= scores.shape[1] <= 255):
        raise UsageError(f"unary has shape {scores.shape}, [n] or [n, n_labels] of 2 to 255 labels is needed")
    n, n_labels = len(scores), scores.shape[1] if scores.ndim == 2 else 2
    ends = as_edges("edges", edges, n)
    coupling = np.array(as_floats("weights", weights, np.float64, (len(ends),)))
    if scores.ndim == 2 and n_labels == 2:
        with np.errstate(over="ignore"):
            scores = scores[:, 1] - scores[:, 0]
    unary, labels = np.array(scores, order="C"), np.empty(n, np.int32)
    held = pointer("double", unary), pointer("int32_t", ends), pointer("double", coupling)
    field = ffi.new("struct clv_field *", {
        "n_nodes": n, "n_edges": len(ends), "n_labels": n_labels, "form": lib.CLV_PAIRWISE_POTTS, "unary": held[0],
        "edges": ffi.cast("int32_t(*)[2]", held[1]), "pairwise": held[2]})
    made = ffi.new("struct clv_oracle **")
    call(lib.clv_oracle_new, made, lib.CLV_ENGINE_DEFAULT)
    oracle = ffi.gc(made[0], lib.clv_oracle_free)
    call_apart(lib.clv_oracle_map if n_labels == 2 else lib.clv_oracle_expand, oracle, pointer("int32_t", labels), ffi.NULL, field, keep=held)
    return labels.astype(np.uint8)
