"""What calls take, what they refuse and how they say so; models as Python objects."""

import concurrent.futures
import copy
import inspect
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import ANIMALS

import cleave
from cleave import _arrays
from cleave._native import ffi


def saved(folder, image):
    from PIL import Image

    Image.fromarray(image).save(folder / "saved.png")
    return cleave.read_image(folder / "saved.png")


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_arrays_of_other_channels_are_read_as_their_files_are(model, pairs, tmp_path, channels):
    image = pairs[0][0]
    alpha = np.linspace(0, 255, image.shape[1]).astype(np.uint8) + np.zeros(image.shape[:2], np.uint8)
    given = {1: image[:, :, :1], 3: image, 4: np.dstack([image, alpha])}[channels]
    read = saved(tmp_path, given[:, :, 0] if channels == 1 else given)
    np.testing.assert_array_equal(model.segment(given), model.segment(read))
    box = (20, 20, 120, 90)
    np.testing.assert_array_equal(cleave.box_cut(given, box), cleave.box_cut(read, box))


@pytest.mark.parametrize("dtype, times, remedy", [
    (np.float32, 1 / 255, "(255 * image).round().astype('uint8')"), (np.float64, 1 / 255, "(255 * image).round().astype('uint8')"),
    (np.uint16, 257, "(image / 257).round().astype('uint8')"), (np.int64, 1, "image.astype('uint8')"),
    (np.int32, 257, "(image / 257).round().astype('uint8')"),
    (bool, 1, "255 * image.astype('uint8')"),
])
def test_other_types_are_refused_with_what_converts_them(model, pairs, dtype, times, remedy):
    image = (pairs[0][0] * times).astype(dtype)
    with pytest.raises(cleave.UsageError, match=f"image is an array of {image.dtype}") as raised:
        model.segment(image)
    assert remedy in str(raised.value)
    converted = eval(remedy)
    assert converted.dtype == np.uint8
    if dtype is not bool:
        np.testing.assert_array_equal(converted, pairs[0][0])


def test_channels_first_are_refused_with_what_turns_them(model, pairs):
    with pytest.raises(cleave.UsageError, match=r"shape \(3, \d+, \d+\).*np.moveaxis\(image, 0, 2\)"):
        model.segment(np.moveaxis(pairs[0][0], 2, 0))


IMAGE, MASK = np.zeros((40, 60, 3), np.uint8), np.eye(40, 60, dtype=np.uint8)


@pytest.mark.parametrize("call, error, says", [
    (lambda m: cleave.segment(IMAGE, m), cleave.UsageError, "model is a ndarray, a cleave.Model is needed; it comes first"),
    (lambda m: cleave.probabilities(IMAGE, m), cleave.UsageError, "model is a ndarray"),
    (lambda m: cleave.features("m.cleave", IMAGE), cleave.UsageError, "model is a str"),
    (lambda m: m.segment(m), cleave.UsageError, "image is <cleave.Model ssvm, .*>, an array is needed"),
    (lambda m: m.segment("photo.jpg"), cleave.UsageError, r"image is 'photo.jpg', an array is needed; give cleave.read_image\(path\)"),
    (lambda m: cleave.train(IMAGE, IMAGE), cleave.UsageError, r"train takes one argument by place.*train\(\[\(image, mask\)\]\)"),
    (lambda m: m.segment(IMAGE, box=(1, 2, 3)), cleave.UsageError, r"box is \(1, 2, 3\), four numbers"),
    (lambda m: m.segment(IMAGE, box="left"), cleave.UsageError, "box is 'left', four numbers"),
    (lambda m: m.segment(IMAGE, box=(60, 0, 5, 5)), cleave.UsageError, r"box \(60, 0, 5, 5\) does not meet the image of 60 x 40"),
    (lambda m: m.segment(IMAGE, box=(1, 1, 0, 9)), cleave.UsageError, "does not meet"),
    (lambda m: cleave.box_cut(IMAGE, (0, 0, float("nan"), 1)), cleave.UsageError, "does not meet"),
    (lambda m: cleave.box_cut(IMAGE, 7), cleave.UsageError, "box is 7, four numbers"),
    (lambda m: m.segment(IMAGE, boxes=(1, 2, 3, 4)), TypeError, "boxes"),
    (lambda m: m.probabilities(IMAGE, samples="many"), cleave.UsageError, "samples is 'many', a whole number is needed"),
    (lambda m: m.probabilities(IMAGE, samples=0), cleave.UsageError, "samples is 0, must be in 1"),
    (lambda m: m.probabilities(IMAGE, samples=1.5), cleave.UsageError, "samples is 1.5"),
    (lambda m: m.probabilities(IMAGE, seed=-1), cleave.UsageError, "seed is -1, must be in 0"),
    (lambda m: cleave.refine(IMAGE, np.zeros((40, 60)), couplng=1), TypeError, "couplng"),
    (lambda m: cleave.refine(IMAGE, np.zeros((40, 60)), coupling="strong"), cleave.UsageError, "coupling is 'strong', a number is needed"),
    (lambda m: cleave.refine(IMAGE, np.zeros((40, 60)), coupling=-1), cleave.UsageError, "coupling is -1, must be at least 0"),
    (lambda m: cleave.refine(IMAGE, np.zeros((40, 60)), rounds=0), cleave.UsageError, "rounds is 0"),
    (lambda m: cleave.refine(IMAGE, np.zeros((40, 60), np.uint8)), cleave.UsageError, "probabilities / 255"),
    (lambda m: cleave.refine(IMAGE, np.zeros((40, 60, 3)), channel_axis=5), cleave.UsageError, "channel_axis is 5, must be in -3..2"),
    (lambda m: cleave.superpixels(IMAGE, 0), cleave.UsageError, "n is 0, must be in 1"),
    (lambda m: cleave.superpixels(IMAGE, compactness=-1), cleave.UsageError, "compactness is -1"),
    (lambda m: cleave.click_cut(IMAGE, np.zeros((4, 6), np.uint8)), cleave.UsageError, r"strokes has shape \(4, 6\), \(40, 60\)"),
    (lambda m: cleave.click_cut(IMAGE, np.full((40, 60), 3)), cleave.DataError, r"strokes: value 3 at pixel \(0, 0\) is not 0, 1 or 255"),
    (lambda m: cleave.score(np.zeros((4, 6), int), np.zeros((4, 5), int)), cleave.UsageError, r"labels has shape \(4, 6\), \(4, 5\)"),
    (lambda m: cleave.train([IMAGE, IMAGE]), cleave.UsageError, r"item 0 is a ndarray, a pair \(image, mask\) is needed"),
    (lambda m: cleave.train(7), cleave.UsageError, "data is 7"),
    (lambda m: cleave.train("set", threads=-1), cleave.UsageError, "threads is -1"),
    (lambda m: cleave.train("set", passes="many"), cleave.UsageError, "passes is 'many', a number is needed"),
    (lambda m: cleave.train("set", seed=-1), cleave.UsageError, "^seed: .-1. is"),
    (lambda m: cleave.train("set", lambda_="small"), cleave.UsageError, "lambda_ is 'small'"),
    (lambda m: cleave.train("set", learner=3), cleave.UsageError, "learner 3 is not one of"),
    (lambda m: cleave.train([(IMAGE, MASK)], learner=3), cleave.UsageError, "learner 3 is not one of"),
    (lambda m: cleave.train((IMAGE, MASK)), cleave.UsageError, r"item 0 is a ndarray, .*; one pair alone is \[\(image, mask\)\]"),
    (lambda m: cleave.train([(IMAGE, "a.png")]), cleave.UsageError, r"mask 0 is 'a.png', an array is needed; numpy.array\(PIL.Image"),
    (lambda m: cleave.train([(IMAGE, np.dstack([MASK] * 3))]), cleave.UsageError, r"mask 0 has shape .*; to number its colours over all masks"),
    (lambda m: cleave.train([(IMAGE, MASK.repeat(2, 0).repeat(2, 1))]), cleave.UsageError, r"mask 0 has shape .*; mask\[::2, ::2\] has it"),
    (lambda m: cleave.train([(IMAGE, MASK[::2, ::2])]), cleave.UsageError, r"mask 0 has shape .*; mask.repeat\(2, 0\).repeat\(2, 1\) has it"),
    (lambda m: cleave.train([(IMAGE, MASK / 1.0)]), cleave.UsageError, r"mask 0 is an array of float64, .*; its values are whole: mask.astype"),
    (lambda m: cleave.train([(IMAGE, MASK)], labels="horse"), cleave.UsageError, "labels is 'horse', a list of names is needed"),
    (lambda m: cleave.train([(IMAGE, MASK)], labels={0: "a", 1: "b"}), cleave.UsageError, "labels is {0: 'a', 1: 'b'}, a list of names"),
    (lambda m: cleave.train([(IMAGE, MASK)], labels=["one"], mirror=True), cleave.UsageError, "labels has 1 names, 2 to 255 are needed"),
    (lambda m: cleave.train([(IMAGE, MASK)], labels=["a\tb", "c"]), cleave.UsageError, r"label name 'a\\tb' must have 1 to 63 bytes, none .* tab"),
    (lambda m: cleave.train([(IMAGE, MASK)], init=m), cleave.UsageError, "init is <cleave.Model .*>; a text, .*, for files their paths"),
    (lambda m: cleave.train([(IMAGE, MASK)], bands="no"), cleave.UsageError, "bands is 'no', must be True or False"),
    (lambda m: cleave.train([(np.zeros((40, 60, 5), np.uint8), MASK)]), cleave.UsageError, r"\(40, 60, 5\); .*bands=True\) takes any number"),
    (lambda m: cleave.train([(IMAGE, None)], boxes=3), cleave.UsageError, "boxes is 3, a list is needed, one entry an image"),
    (lambda m: cleave.train([(IMAGE, None)], boxes=[3]), cleave.UsageError, r"boxes\[0\] is 3, \(x, y, width, height\) is needed"),
    (lambda m: cleave.train([(IMAGE, MASK)], maps={"net": 3}), cleave.UsageError, "maps of net is 3, a list is needed"),
    (lambda m: cleave.train([(IMAGE, MASK)], maps={"net": [None]}), cleave.UsageError, r"map net\[0\] is None, an array is needed"),
    (lambda m: cleave.train([(IMAGE, MASK)], progress=True), cleave.UsageError, r"progress is True, .* progress\(stage, done, total\)"),
    (lambda m: cleave.train([(IMAGE, MASK)], validate="test"), cleave.UsageError, "validate needs a manifest"),
    (lambda m: cleave.train([(IMAGE, MASK)], only="names.txt"), cleave.UsageError, "only needs a manifest"),
    (lambda m: cleave.train([(IMAGE, MASK)], patch_size=9), cleave.UsageError, "^patch_size needs nodes='patches', whose grid it sets"),
    (lambda m: cleave.train([(IMAGE, MASK)], pixel_net=True, mirror=True), cleave.UsageError, "^pixel_net excludes mirror: it learns from"),
    (lambda m: cleave.train([(IMAGE, MASK)], sequences=True), cleave.UsageError, "no parameter sequences; did you mean sequence?"),
    (lambda m: m.segment(None), cleave.UsageError, "image is None, an array is needed"),
    (lambda m: m.segment([IMAGE, IMAGE[1:]]), cleave.UsageError, r"image \(list\) has parts of different shapes, one array is needed"),
    (lambda m: m.segment(np.stack([IMAGE, IMAGE])), cleave.UsageError, r"image has shape \(2, 40, 60, 3\); .*; give one image at a time, or a volume"),
    (lambda m: m.segment(IMAGE, refine="no"), cleave.UsageError, "refine is 'no', must be True or False"),
    (lambda m: m.segment(IMAGE, objects="no"), cleave.UsageError, "objects is 'no', must be True or False"),
    (lambda m: cleave.superpixels(300, IMAGE), cleave.UsageError, "image is 300, an array is needed"),
    (lambda m: cleave.score(None, MASK), cleave.UsageError, "labels is None, an array is needed"),
    (lambda m: cleave.score(MASK, "a.png"), cleave.UsageError, "truth is 'a.png', an array is needed"),
    (lambda m: cleave.score(m.segment(IMAGE, objects=True), MASK), cleave.UsageError, r"labels \(Objects\) has parts of different shapes"),
    (lambda m: cleave.score([MASK, MASK], [MASK, MASK]), cleave.UsageError, r"truth has shape \(2, 40, 60\), .*; give one image at a time"),
    (lambda m: cleave.measure(m.segment(IMAGE, objects=True)), cleave.UsageError, r"objects \(Objects\) has parts of different shapes"),
    (lambda m: cleave.refine(IMAGE, np.zeros((3, 40, 60))), cleave.UsageError, "channel_axis is -1; channel_axis=0 is that of labels in front"),
    (lambda m: cleave.graph_cut(np.zeros((3, 2)), [[0, 1]]), cleave.UsageError, r"couplings has shape \(1, 2\); .* \(of a graph or a volume: edges and weights\)"),
    (lambda m: cleave.graph_cut(np.zeros(3), [[0, 1, 2], [1, 2, 0]], [1, 1, 1]), cleave.UsageError, r"edges is .*\(2, 3\), .* edges.T has that"),
    (lambda m: cleave.propagate("film.mp4", {0: MASK}), cleave.UsageError, "frames is 'film.mp4'; an array"),
    (lambda m: cleave.propagate([IMAGE, IMAGE], 5), cleave.UsageError, "masks is 5; {slice: mask} is needed"),
])
def test_what_is_wrong_is_named_with_its_value(model, call, error, says):
    with pytest.raises(error, match=says):
        call(model)


@pytest.mark.parametrize("value", [1.00000012, -1e-12, -1.2e-7, 1.02, -.015])
def test_probabilities_that_rounding_or_a_resize_left_are_clipped_in_silence(value):
    likely = np.full((40, 60), .5, np.float32)
    likely[0, 0] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = cleave.refine(IMAGE, likely, coupling=1)
    np.testing.assert_array_equal(labels, cleave.refine(IMAGE, likely.clip(0, 1), coupling=1))


def test_probabilities_far_out_or_of_another_sum_are_warned_of():
    likely = np.full((40, 60), .5, np.float32)
    likely[3, 4] = 1.2
    with pytest.warns(UserWarning, match=r"probabilities holds 0.5 .. 1.2, which is clipped"):
        cleave.refine(IMAGE, likely, coupling=1)
    three = np.full((40, 60, 3), 1 / 3, np.float32)
    three[7, 9] = .3, .3, .38
    with pytest.warns(UserWarning, match=r"of the 3 labels sum to 0.98 at pixel \(9, 7\), not to 1"):
        cleave.refine(IMAGE, three, coupling=1)
    two = np.moveaxis(np.full((40, 60, 2), .6, np.float32), 2, 0)
    with pytest.warns(UserWarning, match=r"of the 2 labels sum to 1.2"):
        cleave.refine(IMAGE, two, coupling=1, channel_axis=0)
    three[7, 9] = .3, .3, .405
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cleave.refine(IMAGE, three, coupling=1)


def test_masked_entries_are_void_where_that_means_something(pairs):
    (image, mask), *others = pairs[:6]
    hidden = np.zeros(mask.shape, bool)
    hidden[:9] = True
    void = np.where(hidden, np.uint8(cleave.VOID), mask)
    for values in (mask, 255 * mask, mask.astype(bool)):
        masked = np.ma.MaskedArray(values, hidden)
        assert cleave.score(mask, masked) == cleave.score(mask, void)
    few = {"superpixels": 60, "words": 5, "passes": 3}
    one = cleave.train([(image, np.ma.MaskedArray(255 * mask, hidden)), *others], **few)
    other = cleave.train([(image, void), *others], **few)
    np.testing.assert_array_equal(one.segment(image), other.segment(image))
    strokes = np.full(mask.shape, cleave.VOID, np.uint8)
    strokes[5], strokes[mask.shape[0] // 2] = 0, 1
    np.testing.assert_array_equal(cleave.click_cut(image, np.ma.MaskedArray(strokes, strokes == cleave.VOID)), cleave.click_cut(image, strokes))
    full = np.ma.MaskedArray(mask, False)  # nothing is masked
    assert cleave.score(full, full).hamming == 0


@pytest.mark.parametrize("call", [
    lambda image, masked: cleave.superpixels(np.ma.MaskedArray(image, image > 9)),
    lambda image, masked: cleave.refine(image, masked.astype(np.float32)),
    lambda image, masked: cleave.graph_cut(masked.astype(float), 1),
    lambda image, masked: cleave.click_cut(image, np.where(masked.data == 1, 1, 255), before=masked),
])
def test_masked_entries_are_refused_where_they_mean_nothing(pairs, call):
    image, mask = pairs[0]
    masked = np.ma.MaskedArray(mask, mask == 0)
    with pytest.raises(cleave.UsageError, match=r"is a masked array, \d+ of its entries have no value, .*\.filled\(value\)"):
        call(image, masked)


def test_strokes_that_are_nowhere_are_refused():
    for nothing in (np.full((40, 60), 255, np.uint8), np.zeros((40, 60), bool), np.ma.MaskedArray(np.ones((40, 60), np.uint8), True)):
        with pytest.raises(cleave.DataError, match="nothing is stroked"):
            cleave.click_cut(IMAGE, nothing)


@pytest.mark.parametrize("unary, couplings, says", [
    (np.zeros((10, 64, 64)), 1, r"unary has shape \(10, 64, 64\), which would be an image of 64 labels; of a volume give edges"),
    (np.zeros((10, 20, 16)), 1, r"unary has shape \(10, 20, 16\), which would be an image of 16 labels"),
    (np.zeros((5, 6, 7, 2)), 1, r"unary has shape \(5, 6, 7, 2\), "),
    (np.zeros((5, 6, 7)), np.ones((5, 6, 7, 3)), r"couplings has shape \(5, 6, 7, 3\); .* or a volume: edges and weights"),
    (np.zeros((5, 6, 1)), 1, r"unary has shape \(5, 6, 1\), 1 labels along channel_axis -1; 2 to 255"),
])
def test_volumes_are_no_images_of_labels(unary, couplings, says):
    with pytest.raises(cleave.UsageError, match=says):
        cleave.graph_cut(unary, couplings)


def test_many_labels_are_cut_where_they_are_said_to_be():
    unary = np.zeros((3, 4, 40))
    unary[..., 17] = 1
    assert (cleave.graph_cut(unary, 1, channel_axis=2) == 17).all()


def test_a_parameter_whose_name_python_keeps_takes_an_underscore(pairs):
    quick = dict(words=10, passes=2)
    made = cleave.train(pairs, lambda_=0.5, **quick)
    np.testing.assert_array_equal(made.weights, cleave.train(pairs, **{"lambda": 0.5}, **quick).weights)
    assert float(made.record["parameter.lambda"]) == 0.5


def test_options_that_files_alone_know_teach_arrays_the_same(pairs, tmp_path):
    """Before: init and mirror were refused, and void was not heard."""
    from PIL import Image

    quick = dict(words=10, passes=2, superpixels=40, seed=1)
    labels = [(image, np.where(np.arange(len(mask))[:, None] < 9, 2, mask).astype(np.uint8)) for image, mask in pairs]
    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "labels.tsv").write_text("value\tname\n0\tlabel 0\n1\tlabel 1\n2\tlabel 2\n")
    for index, (image, mask) in enumerate(labels):
        Image.fromarray(image).save(tmp_path / "images" / f"{index}.png")
        Image.fromarray(mask).save(tmp_path / "masks" / f"{index}.png")
    cleave.train(tmp_path, pairwise="none", **quick).save(tmp_path / "m.cleave")
    for more in ({"void": "label 2"}, {"mirror": True, "pairwise": "none"}):
        np.testing.assert_array_equal(cleave.train(labels, **quick, **more).weights, cleave.train(tmp_path, **quick, **more).weights)
    np.testing.assert_array_equal(cleave.train(labels, **quick, pairwise="none").weights, cleave.load(tmp_path / "m.cleave").weights)
    more = {"init": tmp_path / "m.cleave", "pairwise": "none", "learner": "subgradient"}
    np.testing.assert_array_equal(cleave.train(labels, passes=2, **more).weights, cleave.train(tmp_path, passes=2, **more).weights)
    with pytest.raises(cleave.UsageError, match="superpixels: features are those of the model"):
        cleave.train(tmp_path, superpixels=40, **more)


def test_options_of_features_keep_the_number_of_regions_as_they_do_for_the_command(command, tmp_path):
    """Before: finer regions were taken of masks that the usual ones cannot follow, which the command does not if words are given."""
    from PIL import Image

    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    for index in range(2):
        mask = ((np.arange(80)[:, None] // 2 + np.arange(100) // 2 + index) % 2).astype(np.uint8)
        Image.fromarray(60 * mask).save(tmp_path / "images" / f"{index}.png")
        Image.fromarray(mask).save(tmp_path / "masks" / f"{index}.png")
    for more in ({"words": 10}, {}):
        quick = {"passes": 2, "seed": 1, **more}
        command("train", "-d", tmp_path, *(x for k, v in quick.items() for x in (f"--{k}", v)), "--overwrite", "-o", tmp_path / "m.cleave")
        with warnings.catch_warnings():
            warnings.simplefilter("error" if more else "ignore")
            warnings.filterwarnings("ignore", "ssvm: training ended far")  # two passes
            made = cleave.train(tmp_path, **quick)
        np.testing.assert_array_equal(made.weights, cleave.load(tmp_path / "m.cleave").weights)


@pytest.mark.parametrize("read", [cleave.read_image, cleave.load, cleave.Model.load, cleave.train])
def test_a_file_that_is_missing_is_the_usual_error(tmp_path, read):
    path = tmp_path / "a: b"
    with pytest.raises(FileNotFoundError, match="a: b") as raised:
        read(path)
    assert isinstance(raised.value, cleave.InputError) and raised.value.exit_code == 66
    assert raised.value.errno == 2 and raised.value.filename == str(path)
    assert raised.value.path == str(path)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.errno, again.filename) == (type(raised.value), str(raised.value), 2, str(path))
    assert again.path == str(path)


def test_a_file_of_a_set_that_is_missing_is_named(tmp_path):
    (tmp_path / "manifest.tsv").write_text("image\tmask\nabsent.png\tmask.png\n")
    with pytest.raises(cleave.Error, match="absent.png") as raised:
        cleave.train(tmp_path)
    assert raised.value.path == str(tmp_path / "absent.png")


def test_an_error_has_the_path_that_its_message_begins_with(tmp_path):
    path = tmp_path / "no: \udcff model.cleave"
    path.write_text("no model at all")
    with pytest.raises(cleave.DataError, match="no model") as raised:
        cleave.load(path)
    assert raised.value.path == str(path) and pickle.loads(pickle.dumps(raised.value)).path == str(path)
    with pytest.raises(cleave.Error) as raised:
        cleave.train(tmp_path, learner="svm")
    assert raised.value.path is None


def test_models_are_copied_and_pickled(model, pairs):
    expected = model.segment(pairs[0][0])
    for made in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(made.segment(pairs[0][0]), expected)
        assert made.record == model.record and made.labels == model.labels


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_segments(model, pairs, method):
    images = [image for image, _ in pairs]
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(model.segment, images)
    for labels, image in zip(found, images):
        np.testing.assert_array_equal(labels, model.segment(image))


def test_the_record_is_that_of_the_command(command, tmp_path):
    said = {"seed": 7, "words": 20, "passes": 3}
    made = cleave.train(ANIMALS / "manifest.tsv", split="train", **said)
    command("train", "-d", ANIMALS / "manifest.tsv", "--split", "train", *(x for k, v in said.items() for x in (f"--{k}", v)),
            "-o", tmp_path / "command.cleave")
    theirs = cleave.load(tmp_path / "command.cleave").record
    assert theirs.pop("command").startswith("cleave train")
    assert made.record == theirs
    assert {"version", "data_digest", "loss", "learner", "parameter.lambda", "images", "train_weighted_hamming", "curve"} <= theirs.keys()


def test_methods_are_the_functions(model, pairs):
    image = pairs[0][0]
    np.testing.assert_array_equal(model.probabilities(image, samples=4, seed=2), cleave.probabilities(model, image, samples=4, seed=2))
    np.testing.assert_array_equal(model.features(image).value, cleave.features(model, image).value)


def test_the_version_is_the_librarys():
    assert cleave.version() == f"cleave {cleave.__version__}" and cleave.__version__.count(".") == 2


def test_help_begins_with_four_examples():
    examples = [line.split("#")[0].strip() for line in inspect.getdoc(cleave).splitlines()[2:10] if line.strip()]
    assert examples[0] == "import cleave"
    for line, name in zip([*examples[1:4], examples[-1]], ("box_cut", "refine", "train", "graph_cut")):
        assert f"cleave.{name}(" in line


SLOW = """
import os, signal, sys, threading, time
import numpy as np
import cleave
model, image = cleave.load(sys.argv[1]), cleave.read_image(sys.argv[2])
times = {"graph_cut": 16, "click_cut": 48}.get(sys.argv[3], 32)  # every call lasts longer than an interrupt may take, .25 s
large = image.repeat(times, axis=0).repeat(times, axis=1)
height, width = large.shape[:2]
strokes = np.full((height, width), cleave.VOID, np.uint8)
strokes[height // 2, width // 4:width // 2], strokes[9] = 1, 0
soft = np.linspace(0, 1, width, dtype=np.float32) + np.zeros((height, 1), np.float32)
noise = np.random.default_rng(1).normal(size=(height, width)).astype(np.float32)
calls = {
    "probabilities": lambda: model.probabilities(image, samples=10**8),
    "segment": lambda: model.segment(large),
    "refine": lambda: cleave.refine(large, soft, coupling=2),
    "superpixels": lambda: cleave.superpixels(large, 2000),
    "box_cut": lambda: cleave.box_cut(large, (9, 9, width - 30, height - 30)),
    "click_cut": lambda: cleave.click_cut(large, strokes),
    "graph_cut": lambda: cleave.graph_cut(noise, 1),
}
told = []
def interrupt():
    while not any(thread.name == "cleave" for thread in threading.enumerate()):
        time.sleep(0.001)
    time.sleep(2 if sys.argv[3] == "probabilities" else 0.05)  # draws begin after the features, which cannot stop
    told.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt).start()
try:
    calls[sys.argv[3]]()
except KeyboardInterrupt:
    waited = time.monotonic() - told[0]
    print(waited, any(thread.name == "cleave" for thread in threading.enumerate()))
"""


@pytest.mark.parametrize("call", ["probabilities", "segment", "refine", "superpixels", "box_cut", "click_cut", "graph_cut"])
def test_ctrl_c_is_heard_soon(model, tmp_path, call):
    """What draws ends; what cannot stop goes on without being waited for."""
    model.save(tmp_path / "m.cleave")
    image = sorted((ANIMALS / "images").iterdir())[0]
    said = subprocess.run([sys.executable, "-c", SLOW, tmp_path / "m.cleave", image, call], check=True, capture_output=True, text=True).stdout
    waited, goes_on = said.split()
    assert float(waited) < 0.3 and goes_on == str(call != "probabilities")


def test_arrays_may_change_once_a_call_was_left(pairs):
    """The library has its own copy: what it still reads then is not what the caller writes."""
    image = pairs[0][0].copy()
    mask = image[:, :, 0].copy()
    native, keep = _arrays.as_image("image", image)
    values, before = _arrays.as_values("mask", mask, mask.shape), image.tobytes()
    image[:], mask[:] = 7, 7
    assert bytes(ffi.buffer(keep)) == before and values.max() > 7


def test_threads_other_than_the_first_call_directly(model, pairs):
    """There is nothing to hear in them, so no further thread is started."""
    names = []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        labels = pool.submit(lambda: (model.segment(pairs[0][0]), names.extend(t.name for t in threading.enumerate()))[0]).result()
    np.testing.assert_array_equal(labels, model.segment(pairs[0][0]))
    assert "cleave" not in names


def test_what_was_meant_is_suggested(pairs):
    with pytest.raises(cleave.UsageError, match="did you mean superpixels"):
        cleave.train(pairs, superpixel=300)
    with pytest.raises(cleave.UsageError, match="did you mean lambda"):
        cleave.train(pairs, lamda=1)


def test_a_path_with_a_zero_byte_is_refused_and_nothing_is_written(model, tmp_path):
    (tmp_path / "precious").write_text("kept")
    for path in (f"{tmp_path}/precious\0.cleave", f"{tmp_path}/precious\0.cleave".encode()):
        with pytest.raises(cleave.UsageError, match="zero byte"):
            model.save(path)
    assert (tmp_path / "precious").read_text() == "kept"
    model.save(tmp_path / "m.cleave")
    for read in (cleave.read_image, cleave.load, cleave.Model.load, cleave.train):
        with pytest.raises(cleave.UsageError, match="zero byte"):
            read(f"{tmp_path}/m.cleave\0x")
    for more in ({"boxes": "boxes.tsv\0"}, {"maps": {"net": "maps\0"}}, {"maps": {"net\0": "maps"}}, {"learner": "ssvm\0"}):
        with pytest.raises(cleave.UsageError, match="zero byte"):
            cleave.train(tmp_path, **more)
