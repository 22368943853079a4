"""Every call again and again, as it succeeds and as it fails: no object may be left behind.

tools/check-python runs it under Debian's debug interpreter, which ends where a count of references goes wrong or memory is
written past its end. Objects are counted by their memory: the interpreter's sum of references (sys.gettotalrefcount) leaves
out what numpy does, which is built without it.
"""

import copy
import gc
import pathlib
import sys
import tempfile
import time

import numpy as np

import cleave

ANIMALS = pathlib.Path(__file__).resolve().parents[3] / "assets" / "animals"
WARM, FEW, MANY = 2, 6, 60


def fails(kind, call, *arguments, **named):
    """What an error leaves behind, the exception's frames among it."""
    try:
        call(*arguments, **named)
    except kind:
        return
    raise AssertionError(f"{call} raised no {kind}")


def stop(stage, done, total):
    raise KeyboardInterrupt


def stop_at(outcome):
    raise KeyboardInterrupt


def calls(folder):
    rows = [line.split("\t") for line in (ANIMALS / "manifest.tsv").read_text().splitlines()]
    pairs = [(cleave.read_image(ANIMALS / row[0])[::2, ::2], cleave.read_image(ANIMALS / row[1])[::2, ::2, 0].astype(bool).astype(np.uint8))
             for row in rows[1:4]]
    model = cleave.train(pairs, words=10, passes=2, superpixels=40)
    path = pathlib.Path(folder) / "m.cleave"
    image, mask = pairs[0]
    image_file, out = ANIMALS / rows[1][0], pathlib.Path(folder) / "out"
    graphs, truth = [(np.eye(4), np.array([[0, 1], [1, 2], [2, 3]]))], [np.array([0, 0, 1, 1])]
    of_graphs = cleave.train_graphs(graphs, truth, passes=2)
    few = dict(words=10, passes=2, superpixels=40)
    return {
        "read_image": lambda: cleave.read_image(ANIMALS / rows[1][0]),
        "train": lambda: cleave.train(pairs, **few),
        "train with progress": lambda: cleave.train(pairs, progress=lambda *told: None, **few),
        "train from a folder": lambda: cleave.train(ANIMALS / "manifest.tsv", split="test", **few),
        "train that fails": lambda: fails(cleave.UsageError, cleave.train, pairs, learner="none"),
        "train that stops": lambda: fails(KeyboardInterrupt, cleave.train, pairs, progress=stop, **few),
        "train_graphs": lambda: cleave.train_graphs(graphs, truth, passes=2),
        "train_graphs that fails": lambda: fails(cleave.UsageError, cleave.train_graphs, graphs, truth, split="train"),
        "predict": lambda: of_graphs.predict(graphs),
        "predict that fails": lambda: fails(cleave.UsageError, of_graphs.predict, graphs[0]),
        "predict_probabilities": lambda: of_graphs.predict_probabilities(graphs, samples=3),
        "save": lambda: model.save(path),
        "load": lambda: cleave.Model.load(path),
        "load that fails": lambda: fails(cleave.InputError, cleave.Model.load, "/nowhere/m.cleave"),
        "segment": lambda: cleave.segment(model, image),
        "segment, strides": lambda: cleave.segment(model, image[:, ::-1], refine=False),
        "segment_files": lambda: cleave.segment_files(image_file, out, model, overlay=True, objects=True, overwrite=True),
        "segment_files that stops": lambda: fails(KeyboardInterrupt, cleave.segment_files, image_file, out, model, overwrite=True, each=stop_at),
        "segment_files that fails": lambda: fails(cleave.UsageError, cleave.segment_files, image_file, out, model, rle=True),
        "segment_files of a file that fails": lambda: fails(cleave.InputError, cleave.segment_files, "/nowhere/a.png", out, model),
        "segment, objects": lambda: cleave.segment(model, image, objects=True, min_area=5),
        "measure": lambda: cleave.measure(mask, image),
        "measure that fails": lambda: fails(cleave.UsageError, cleave.measure, mask, image[1:]),
        "segment that fails": lambda: fails(cleave.UsageError, cleave.segment, model, image.astype(float)),
        "probabilities": lambda: cleave.probabilities(model, image),
        "features": lambda: cleave.features(model, image),
        "box_cut": lambda: cleave.box_cut(image, (5, 5, 30, 20)),
        "box_cut that fails": lambda: fails(cleave.UsageError, cleave.box_cut, image, (5000, 0, 1, 1)),
        "segment, alpha": lambda: cleave.segment(model, np.dstack([image, mask])),
        "copy": lambda: copy.deepcopy(model),
        "superpixels": lambda: cleave.superpixels(image, 50),
        "score": lambda: cleave.score(mask, mask),
        "click_cut": lambda: cleave.click_cut(image, np.where(mask, 1, cleave.VOID)),
        "click_cut that fails": lambda: fails(cleave.DataError, cleave.click_cut, image, np.full(mask.shape, 9)),
        "graph_cut of a grid": lambda: cleave.graph_cut(mask - 0.5, 0.1),
        "graph_cut of a graph": lambda: cleave.graph_cut(np.eye(3), np.array([[0, 1], [1, 2]]), np.ones(2)),
        "graph_cut that fails": lambda: fails(cleave.DataError, cleave.graph_cut, mask - 0.5, -1),
        "train with boxes": lambda: cleave.train([*pairs, (image, None)], boxes=[None, None, None, (5, 5, 30, 20)], **few),
        "refine": lambda: cleave.refine(image, mask.astype(np.float32)),
    }


def allocated():
    """Blocks of memory in use, except those of the cache of attributes, which keeps names that numpy makes at each call."""
    gc.collect()
    sys._clear_type_cache()
    return sys.getallocatedblocks()


def growth(call, rounds):
    before = allocated()
    for _ in range(rounds):
        call()
    return allocated() - before


def left_behind(call):
    """Blocks a call, the least of three samples: the interpreter's own caches grow now and then, by a dozen."""
    begin = time.process_time()
    for _ in range(WARM):
        call()
    rounds = MANY if time.process_time() - begin < WARM * 0.01 else FEW
    return min(growth(call, rounds) for _ in range(3)) / rounds


def main():
    with tempfile.TemporaryDirectory() as folder:
        made = calls(folder)
        left = {name: left_behind(call) for name, call in made.items()}
    leaking = {name: blocks for name, blocks in left.items() if blocks >= 1}
    print(f"leaks: {len(left)} calls, blocks of memory that each leaves behind: {leaking or 'none'}, at most {max(left.values()):.2f}")
    return bool(leaking)


if __name__ == "__main__":
    sys.exit(main())
