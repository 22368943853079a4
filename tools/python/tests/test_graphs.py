"""Graphs without images: trained on and labelled as the command does with feature files, and errors that say what is wrong."""

import inspect
import itertools
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import textwrap
import warnings

import numpy as np
import pytest

import cleave

QUICK = {"seed": 1, "passes": 5}


def chains(n_graphs, n_labels, n_edge_features=1, seed=0):
    """Chains of different lengths, in which labels come in runs, with features [n, n_labels + 1]."""
    random = np.random.default_rng(seed)
    graphs, truth = [], []
    for index in range(n_graphs):
        labels = np.repeat(random.integers(0, n_labels, 6), 4)[:24 - index % 3]
        n = len(labels)
        features = np.column_stack([np.eye(n_labels)[labels] + random.normal(size=(n, n_labels)), np.ones(n)])
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
        graphs.append((features, edges, random.random((n - 1, n_edge_features)) + 0.5))
        truth.append(labels)
    return graphs, truth


def write_features(path, graphs, truth, n_labels, names):
    """A feature file, as cleave-formats(5) has it."""
    sizes = [[len(graph[part]) for graph in graphs] for part in (0, 1)]
    arrays = {
        "node_offset": np.cumsum([0, *sizes[0]]), "edge_offset": np.cumsum([0, *sizes[1]]),
        **{name: np.concatenate([graph[part] for graph in graphs]).astype(kind)
           for part, (name, kind) in enumerate([("x", np.float32), ("edges", np.int32), ("edge_features", np.float32)])},
        "counts": np.eye(256, n_labels, dtype=np.float32)[np.concatenate(truth)],
    }
    kinds = {"int64": "I64", "int32": "I32", "float32": "F32"}
    header, end = {"__metadata__": {"format": "cleave features 1", "n_labels": str(n_labels), "names": "\n".join(names)}}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": kinds[array.dtype.name], "shape": array.shape, "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(array.tobytes() for array in arrays.values()))


@pytest.fixture(scope="module")
def small():
    return chains(6, 2)


@pytest.fixture(scope="module")
def learned(small):
    return cleave.train_graphs(*small, **QUICK)


@pytest.mark.parametrize("n_labels, n_edge_features, options", [
    (2, 1, {}),
    (2, 2, {"stages": 2}),
    (3, 2, {"learner": "mssvm", "pairwise": "full"}),
    (3, 1, {"learner": "mssvm", "loss": "balanced"}),
])
def test_graphs_are_learned_and_labelled_as_the_command_does(command, tmp_path, n_labels, n_edge_features, options):
    from PIL import Image

    graphs, truth = chains(12, n_labels, n_edge_features)
    truth[0][:3] = cleave.VOID
    made = cleave.train_graphs(graphs[:8], truth[:8], **QUICK, **options)
    write_features(tmp_path / "train.features", graphs[:8], truth[:8], n_labels, map(str, range(8)))
    flags = [word for key, value in {"loss": "counts", **QUICK, **options}.items() for word in (f"--{key}", value)]
    command("train", "-d", tmp_path / "train.features", *flags, "-o", tmp_path / "m.cleave")
    theirs = cleave.load(tmp_path / "m.cleave")
    np.testing.assert_array_equal(made.weights, theirs.weights)
    assert made.labels == theirs.labels and made.record["loss"] == theirs.record["loss"] == options.get("loss", "counts")

    names = [f"g{index}" for index in range(4)]
    write_features(tmp_path / "new.features", graphs[8:], truth[8:], n_labels, names)
    command("segment", "-m", tmp_path / "m.cleave", "--features", tmp_path / "new.features", "-o", tmp_path / "out")
    command("probabilities", "-m", tmp_path / "m.cleave", "--features", tmp_path / "new.features", "-o", tmp_path / "soft", "--all-labels",
            "--samples", 20, "--seed", 3)
    found, soft = made.predict(graphs[8:]), made.predict_probabilities(graphs[8:], samples=20, seed=3)
    for name, labels, shares in zip(names, found, soft):
        mask = np.array(Image.open(tmp_path / "out" / f"{name}.png"))
        np.testing.assert_array_equal(labels, mask[0])
        assert shares.dtype == np.float32 and labels.dtype == np.uint8 and mask.shape == (1, len(labels))
        theirs = np.load(tmp_path / "soft" / f"{name}.npy").reshape(n_labels, -1)
        assert theirs.dtype == np.uint16
        np.testing.assert_allclose(theirs.T / 65535, shares, atol=1 / 65535)


def enumerated(model, features, edges):
    """All labellings of a graph by a model of full tables or couplings, [labellings, n], and their scores."""
    k, (n, d) = len(model.labels), features.shape
    rows = 1 if k == 2 else k
    unary, pairwise = np.split(model.weights, [rows * d])
    table = pairwise.reshape(k, k) if len(pairwise) == k * k else -pairwise * (1 - np.eye(k))
    labellings = np.array(list(itertools.product(range(k), repeat=n)))
    scores = features @ unary.reshape(rows, d).T
    scores = scores if k > 2 else np.hstack([np.zeros((n, 1)), scores])
    return labellings, scores[np.arange(n), labellings].sum(1) + table[labellings[:, edges[:, 0]], labellings[:, edges[:, 1]]].sum(1)


TREE = np.array([[0, 3], [1, 3], [2, 4], [3, 4], [4, 5]])


@pytest.mark.parametrize("n_labels, learner, pairwise, edges, scale", [
    (2, "crf", "full", None, 1), (3, "crf", "full", None, 1), (3, "crf", "full", TREE, 1), (4, "mssvm", "potts", TREE, 0), (3, "ssvm", "full", None, 0),
    (2, "ssvm", "potts", TREE, 0),
])
def test_marginals_and_max_marginals_of_chains_and_trees_are_exact(n_labels, learner, pairwise, edges, scale):
    random = np.random.default_rng(n_labels)
    edges = np.column_stack([np.arange(5), np.arange(1, 6)]) if edges is None else edges
    truth = [random.integers(0, n_labels, 6) for _ in range(30)]
    graphs = [((np.eye(n_labels)[y] + random.normal(0, 1, (6, n_labels))).astype(np.float32), edges) for y in truth]
    model = cleave.train_graphs(graphs[:24], truth[:24], learner=learner, pairwise=pairwise, seed=1, passes=20) if learner != "crf" \
        else cleave.train_graphs(graphs[:24], truth[:24], learner=learner, pairwise=pairwise, seed=1)
    assert model.record["scores"] == ("weighted likelihood" if scale else "margin")
    found = model.predict_probabilities(graphs[24:], samples=1)
    best, margins, counts = (model.max_marginals(graphs[24:], of=of) for of in ("scores", "margins", "counts"))
    for index, graph in enumerate(graphs[24:]):
        labellings, score = enumerated(model, *graph)
        unary = graph[0] @ model.weights[:(n_labels if n_labels > 2 else 1) * n_labels].reshape(-1, n_labels).T
        weight = np.exp((score - score.max()) * (1 if scale else 3 / np.abs(unary).mean()))
        has = labellings[:, :, None] == np.arange(n_labels)  # [labellings, n, labels]
        np.testing.assert_allclose(found[index], np.tensordot(weight / weight.sum(), has, 1), atol=1e-6)
        expected = np.where(has, score[:, None, None], -np.inf).max(0)
        np.testing.assert_allclose(best[index], expected, atol=1e-9)
        others = np.array([[np.delete(row, label).max() for label in range(n_labels)] for row in expected])
        np.testing.assert_allclose(margins[index], expected - others, atol=1e-9)
        witnesses = labellings[np.where(has, score[:, None, None], -np.inf).argmax(0).ravel()]
        np.testing.assert_array_equal(counts[index], (witnesses[:, :, None] == np.arange(n_labels)).sum(0))


def test_max_marginals_of_a_loop_are_of_two_labels_alone(small):
    features, edges = np.random.default_rng(3).normal(size=(4, 2)), np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
    truth = [(graph[:, 0] > 0).astype(int) for graph in (features, -features)]
    model = cleave.train_graphs([(features, edges), (-features, edges)], truth, seed=1, passes=5)
    labellings, score = enumerated(model, features, edges)
    best, = model.max_marginals([(features, edges)])
    expected = np.where(labellings[:, :, None] == np.arange(2), score[:, None, None], -np.inf).max(0)
    np.testing.assert_allclose(best, expected, atol=1e-6)
    three = cleave.train_graphs([(features, edges)], [[0, 1, 2, 0]], learner="mssvm", seed=1, passes=5)
    with pytest.raises(cleave.UsageError, match="no exact max-marginals for a field with loops and 3 labels"):
        three.max_marginals([(features, edges)])
    with pytest.raises(cleave.UsageError, match="of is 'best'"):
        model.max_marginals([(features, edges)], of="best")


def test_what_learns_no_couplings_names_what_does():
    chain, tree, loop = ([[0, 1], [1, 2], [2, 3]], [[0, 1], [0, 2], [0, 3]], [[0, 1], [1, 2], [2, 3], [0, 3]])
    features, truth = np.eye(4)[:, :3], [[0, 1, 2, 0]]
    for learner, edges, says in ("ssvm", chain, "pairwise='full'"), ("crf", tree, "pairwise='full'"), ("ssvm", tree, "learner='mssvm'"), ("crf", loop, "learner='mssvm'"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cleave.train_graphs([(features, edges)], truth, learner=learner, seed=1)
        assert any("learns no potts couplings of 3 labels" in str(w.message) and says in str(w.message) for w in caught), (learner, [str(w.message) for w in caught])


def test_the_example_of_the_manual_runs_and_labels_most_nodes(capsys):
    text = inspect.getdoc(cleave.train_graphs)
    exec(textwrap.dedent(text[text.index("    import cleave"):text.index("graphs      a list")]), {})
    assert float(capsys.readouterr().out) > 0.75


def test_neighbours_help_where_labels_come_in_runs():
    graphs, truth = chains(40, 3)
    share = {}
    for options in {}, {"pairwise": "none"}:
        model = cleave.train_graphs(graphs[:30], truth[:30], seed=1, **options)
        share[bool(options)] = np.mean(np.concatenate([a == b for a, b in zip(model.predict(graphs[30:]), truth[30:])]))
    assert share[False] > share[True] + 0.05 and model.record["learner"] == "ssvm"


def test_what_edges_leave_open_is_filled_in(small, learned):
    """Either node first; a 1 an edge; a feature an edge in a row; no edges at all; lists of numpy."""
    graphs, truth = small
    turned = [(features, edges[:, ::-1], values[:, 0]) for features, edges, values in graphs]
    np.testing.assert_array_equal(cleave.train_graphs(turned, truth, **QUICK).weights, learned.weights)
    plain = [graph[:2] for graph in graphs]
    ones = [(*graph[:2], np.ones(len(graph[1]))) for graph in graphs]
    np.testing.assert_array_equal(cleave.train_graphs(plain, truth, **QUICK).weights, cleave.train_graphs(ones, truth, **QUICK).weights)
    np.testing.assert_array_equal(learned.predict(plain)[0], learned.predict(ones)[0])
    alone = [(graph[0], None) for graph in graphs]
    made = cleave.train_graphs(alone, truth, **QUICK)
    for a, b in zip(made.predict(alone), made.predict(graphs)):
        np.testing.assert_array_equal(a, b)
    objects = np.empty(len(graphs), object)
    objects[:] = graphs
    np.testing.assert_array_equal(cleave.train_graphs(objects, truth, **QUICK).weights, learned.weights)


def test_models_of_graphs_have_names_and_are_kept(small, tmp_path):
    made = cleave.train_graphs(*small, labels=["Grund", "Tier", "Bäume"], **QUICK)
    assert made.labels == ["Grund", "Tier", "Bäume"] and made.record["data"] == "arrays" and made.record["learner"] == "mssvm"
    made.save(tmp_path / "m.cleave")
    for again in cleave.load(tmp_path / "m.cleave"), pickle.loads(pickle.dumps(made)):
        np.testing.assert_array_equal(again.predict(small[0])[0], made.predict(small[0])[0])


def changed(graphs, index, part, value):
    graph = list(graphs[index])
    graph[part] = value
    return [*graphs[:index], tuple(graph), *graphs[index + 1:]]


@pytest.mark.parametrize("change, error, says", [
    (lambda g, t: (g[0], t), cleave.UsageError, r"graphs\[0\] is a ndarray, .*; one graph alone is \[\(features, edges\)\]"),
    (lambda g, t: (g[0][0], t), cleave.UsageError, "graphs is a ndarray, a list of"),
    (lambda g, t: ([], []), cleave.UsageError, "graphs is empty"),
    (lambda g, t: (g, None), cleave.UsageError, "truth is a NoneType, a list of 6 arrays"),
    (lambda g, t: (g, t[1:]), cleave.UsageError, "truth is a list of 5, a list of 6 arrays"),
    (lambda g, t: (g, [t[0][1:], *t[1:]]), cleave.UsageError, r"truth\[0\] has shape \(23,\), \(24,\) is needed"),
    (lambda g, t: (g, [t[0], t[1] - 2, *t[2:]]), cleave.DataError, r"truth\[1\]: value -[12] at node 0 is not in 0..255"),
    (lambda g, t: (g, [values / 1.0 for values in t]), cleave.UsageError, r"truth\[0\] is an array of float64, .* truth\[0\].astype"),
    (lambda g, t: (g, [values * 0 + 3 for values in t]), cleave.UsageError, "all that is known of 6 examples is label 3"),
    (lambda g, t: (changed(g, 1, 0, g[1][0][:, 1:]), t), cleave.UsageError, r"graphs\[1\]: features has shape \(23, 2\), \[n, 3\] is needed"),
    (lambda g, t: (changed(g, 1, 0, g[1][0] * np.nan), t), cleave.DataError, r"graphs\[1\]: features: feature 0 of node 0 is nan"),
    (lambda g, t: (changed(g, 1, 1, g[1][1].T), t), cleave.UsageError, r"graphs\[1\]: edges is an array of int64 of shape \(2, 22\), .*edges.T"),
    (lambda g, t: (changed(g, 1, 1, g[1][1] + 1), t), cleave.UsageError, r"graphs\[1\]: edges: edge 21 is \(22, 23\), two .* of 0 .. 22"),
    (lambda g, t: (changed(g, 1, 2, g[1][2][1:]), t), cleave.UsageError, r"graphs\[1\]: edge_features has shape \(21, 1\), \[22, 1\]"),
    (lambda g, t: (changed(g, 1, 2, -g[1][2]), t), cleave.DataError, r"graphs\[1\]: edge_features: feature 0 of edge 0 is -\S+; couplings take"),
])
def test_graphs_that_are_none_are_named(small, change, error, says):
    with pytest.raises(error, match=says):
        cleave.train_graphs(*change(*small), **QUICK)


@pytest.mark.parametrize("options, says", [
    ({"labels": "ab"}, "labels is 'ab', a list of names is needed"),
    ({"labels": ["one"]}, "labels has 1 names, 2 to 255 are needed"),
    ({"superpixels": 30}, "superpixels: the data is a list of graphs, its features are made already"),
    ({"split": "train"}, "split: the data is a list of graphs, which has no splits"),
    ({"pixel_net": True}, "pixel_net: the data is a list of graphs, and the network looks at images"),
    ({"maps": {}}, "ssvm has no parameter maps"),
    ({"C": 1}, "ssvm has no parameter C"),
])
def test_options_that_graphs_do_not_take_are_named(small, options, says):
    with pytest.raises(cleave.UsageError, match=says):
        cleave.train_graphs(*small, **{**QUICK, **options})


def test_options_of_features_are_refused_of_feature_files_too(small, tmp_path):
    write_features(tmp_path / "x.features", *small, 2, map(str, range(6)))
    with pytest.raises(cleave.UsageError, match="superpixels: .*x.features is a feature file, its features are made already"):
        cleave.train(tmp_path / "x.features", superpixels=30)


def test_full_tables_take_the_lower_node_first(small):
    graphs, truth = small
    made = cleave.train_graphs(graphs, truth, pairwise="full", **QUICK)
    turned = [(features, edges[:, ::-1], values) for features, edges, values in graphs]
    for call in (lambda: made.predict(turned), lambda: cleave.train_graphs(turned, truth, pairwise="full", **QUICK)):
        with pytest.raises(cleave.UsageError, match=r"graphs\[0\]: edges: edge 0 is \(1, 0\); .* the lower node comes first"):
            call()
    assert made.predict([(*graphs[0][:2], -graphs[0][2])])[0].shape == (24,)


def test_what_a_model_does_not_take_is_named(small, learned, model, pairs):
    graphs, _ = small
    features, edges, values = graphs[0]
    for given, error, says in [
        (graphs[0], cleave.UsageError, r"graphs\[0\] is a ndarray"),
        (pairs[0][0], cleave.UsageError, "graphs is a ndarray, .*; an image is labelled by segment"),
        ([(features[:, 1:], edges)], cleave.UsageError, r"graphs\[0\]: features has shape \(24, 2\), \[n, 3\] is needed"),
        ([(features, edges, np.ones((23, 2)))], cleave.UsageError, r"graphs\[0\]: edge_features has shape \(23, 2\), \[23, 1\]"),
        ([graphs[1], (features, edges, -values)], cleave.DataError, r"graphs\[1\]: edge_features: feature 0 of edge 0 is -"),
    ]:
        with pytest.raises(error, match=says):
            learned.predict(given)
        with pytest.raises(error, match=says):
            learned.predict_probabilities(given)
    with pytest.raises(cleave.UsageError, match="samples is 0"):
        learned.predict_probabilities(graphs, samples=0)
    two = cleave.train_graphs(*chains(6, 2, 2), **QUICK)
    with pytest.raises(cleave.UsageError, match=r"graphs\[0\]: edge_features is None"):
        two.predict([graphs[0][:2]])
    with pytest.raises(cleave.UsageError, match="the model is of images, which segment and probabilities take"):
        model.predict(graphs)
    for call in learned.segment, learned.probabilities, learned.features:
        with pytest.raises(cleave.UsageError, match="features made elsewhere, which no image has; Model.predict takes graphs"):
            call(pairs[0][0])


def test_no_file_is_left_or_even_seen(small, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []

    def look(*_told):
        seen.append(os.listdir(tmp_path))

    def fail(*_told):
        look()
        raise KeyError

    cleave.train_graphs(*small, progress=look, **QUICK)
    with pytest.raises(KeyError):
        cleave.train_graphs(*small, progress=fail, **QUICK)
    with pytest.raises(cleave.UsageError):
        cleave.train_graphs(*small, split="train")
    assert len(seen) > 1 and not any(seen) and not os.listdir(tmp_path)


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import cleave
random = np.random.default_rng(0)
features = random.normal(size=(20000, 2))
edges = np.vstack([np.column_stack([np.arange(19999), np.arange(1, 20000)]), [[0, 19999]]])  # a loop: draws
model = cleave.train_graphs([(features, edges)], [features[:, 0] > 0], passes=2)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    model.predict_probabilities([(features, edges)], samples=10**8)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_draws():
    told = subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, capture_output=True, text=True, timeout=60).stdout
    assert told == "interrupted\n"


def test_an_edge_is_there_once(small, learned):
    graphs, truth = small
    features, edges, values = graphs[0]
    twice = [(features, np.vstack([edges, edges[3:4, ::-1]]), np.vstack([values, values[3:4]]))]
    with pytest.raises(cleave.UsageError, match=r"edge \d+ is \(3, 4\) a second time"):
        learned.predict(twice)
    with pytest.raises(cleave.UsageError, match="a second time"):
        cleave.train_graphs(twice + list(graphs[1:]), truth, **QUICK)
