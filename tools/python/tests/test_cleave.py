"""The Python package beside the command line program: the same bytes, and errors that say what is wrong."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import ANIMALS, ROOT

import cleave


def mask_values(path):
    from PIL import Image

    return np.array(Image.open(path))


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_a_training_from_a_manifest_has_the_weights_of_the_command(command, tmp_path):
    made = cleave.train(ANIMALS / "manifest.tsv", split="train", seed=7, words=50, passes=3)
    command("train", "-d", ANIMALS / "manifest.tsv", "--split", "train", "--seed", 7, "--words", 50, "--passes", 3, "-o", tmp_path / "command.cleave")
    theirs = cleave.Model.load(tmp_path / "command.cleave")
    np.testing.assert_array_equal(made.weights, theirs.weights)
    assert made.labels == theirs.labels == ["background", "foreground"]


def test_arrays_and_files_teach_the_same(pairs, tmp_path):
    from PIL import Image

    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    for index, (image, mask) in enumerate(pairs):
        Image.fromarray(image).save(tmp_path / "images" / f"{index}.png")
        Image.fromarray(mask).save(tmp_path / "masks" / f"{index}.png")
    options = {"seed": 5, "passes": 3, "words": 30}
    np.testing.assert_array_equal(cleave.train(pairs, **options).weights, cleave.train(tmp_path, **options).weights)


QUICK = {"seed": 5, "passes": 3, "words": 30}


def test_a_folder_teaches_what_it_teaches_the_command(command, pairs, tmp_path):
    """Of six images one has no mask, one a draft of the page's, and one is of the split test."""
    from PIL import Image

    for folder in ("images", "masks", "strokes"):
        (tmp_path / "set" / folder).mkdir(parents=True)
    for index, (image, mask) in enumerate([*pairs, pairs[0], pairs[1]]):
        Image.fromarray(image).save(tmp_path / "set" / "images" / f"{index}.png")
        if index != 2:
            Image.fromarray(mask).save(tmp_path / "set" / "masks" / f"{index}.png")
    (tmp_path / "set" / "strokes" / "3.json").write_text('{"accepted": 0}')
    (tmp_path / "set" / "strokes" / "1.json").write_text('{"accepted": 1}')

    def both(**options):
        made = cleave.train(tmp_path / "set", **QUICK, **options)
        flags = [f"--{name.replace('_', '-')}" for name in options]
        command("train", "-d", tmp_path / "set", "--seed", 5, "--words", 30, "--passes", 3, *flags, "--overwrite", "-o", tmp_path / "command.cleave")
        np.testing.assert_array_equal(made.weights, cleave.Model.load(tmp_path / "command.cleave").weights)
        return made.weights

    with pytest.warns(UserWarning) as warned:
        without = both()
    assert [str(w.message).split(": ")[1] for w in warned] == [
        "skipped 1 draft that `cleave label' has not accepted, the first is that of images/3.png; include_drafts takes them",
        "1 of 6 images have no mask and were skipped, the first is images/2.png"]
    with pytest.warns(UserWarning) as warned:
        assert not np.array_equal(both(include_drafts=True), without)
    assert len(warned) == 1
    names = [f"{index}.png" for index in range(6)]
    (tmp_path / "set" / "manifest.tsv").write_text("image\tmask\tsplit\n" + "".join(
        f"images/{name}\t{'' if name == '2.png' else f'masks/{name}'}\t{'test' if name == '5.png' else 'train'}\n" for name in names))
    with pytest.warns(UserWarning, match=r"taking the split \"train\" \(5 of 6 images\); split chooses another"):
        assert not np.array_equal(both(), without)


def test_a_folder_without_a_mask_teaches_nothing(tmp_path, pairs):
    from PIL import Image

    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    Image.fromarray(pairs[0][0]).save(tmp_path / "images" / "a.png")
    with pytest.raises(cleave.DataError, match="none of the 1 images has a mask to learn from"):
        cleave.train(tmp_path)


@pytest.mark.filterwarnings("error", "ignore:ssvm. training ended far")
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64, np.uint64])
def test_masks_of_any_integer_type_teach_the_same(pairs, dtype):
    expected = cleave.train(pairs, **QUICK).weights
    np.testing.assert_array_equal(cleave.train([(image, mask.astype(dtype)) for image, mask in pairs], **QUICK).weights, expected)


def test_masks_of_black_and_white_are_read_as_their_files_are(pairs):
    white = [(image, 255 * mask) for image, mask in pairs]
    with pytest.warns(UserWarning, match="4 of 4 masks: black and white were read as 0 background and 1 foreground"):
        made = cleave.train(white, **QUICK)
    np.testing.assert_array_equal(made.weights, cleave.train(pairs, **QUICK).weights)
    assert made.labels == ["background", "foreground"]
    with pytest.warns(UserWarning, match="one other value"):
        made = cleave.train([(image, 7 * mask) for image, mask in pairs], **QUICK)
    assert made.labels == ["background", "foreground"]


def test_foregrounds_of_different_values_are_labels_of_their_own(pairs):
    made = cleave.train([(image, mask * (1 + index % 2)) for index, (image, mask) in enumerate(pairs)], nodes="patches", learner="perceptron",
                        words=10, passes=1)
    assert made.labels == ["label 0", "label 1", "label 2"]
    with_void = [(image, mask.copy()) for image, mask in pairs]
    with_void[0][1][:10] = cleave.VOID
    assert cleave.train(with_void, **QUICK).labels == ["background", "foreground"]


@pytest.mark.parametrize("by_files", [False, True])
def test_white_that_may_be_foreground_or_left_out_is_refused(pairs, by_files):
    more = {"boxes": [None] * len(pairs)} if by_files else {}
    strokes = [(image, np.where(np.arange(mask.shape[0])[:, None] % 3, mask, cleave.VOID).astype(np.uint8)) for image, mask in pairs]
    strokes[1][1][strokes[1][1] == 1] = cleave.VOID  # on the background alone
    blank = [(image, mask.copy()) for image, mask in pairs]
    blank[1][1][:] = cleave.VOID
    for given in strokes, blank:
        with pytest.raises(cleave.DataError, match="mask 1: beside mask 0, 255 may be foreground or void: name the labels"):
            cleave.train(given, **QUICK, **more)
        assert cleave.train(given, labels=["ground", "figure"], **QUICK, **more).labels == ["ground", "figure"]


@pytest.mark.parametrize("by_files", [False, True])
def test_values_with_gaps_are_not_made_labels_that_occur_nowhere(pairs, by_files):
    more = {"boxes": [None] * len(pairs)} if by_files else {}
    gaps = [(image, np.where(mask, 15, 0).astype(np.uint8)) for image, mask in pairs]
    gaps[0][1][:3] = cleave.VOID
    with pytest.raises(cleave.DataError, match="the masks hold 0 and 15, and 255, which is void: 16 labels, of which 14 occur nowhere; "
                                               "number the 2 values in their order, from 0 to 1"):
        cleave.train(gaps, **QUICK, **more)
    numbered = [(image, np.where(mask == cleave.VOID, mask, np.searchsorted([0, 15], mask)).astype(np.uint8)) for image, mask in gaps]
    assert cleave.train(numbered, **QUICK, **more).labels == ["background", "foreground"]
    with warnings.catch_warnings(record=True) as noted, pytest.raises(cleave.Error) as told:
        warnings.simplefilter("always")
        cleave.train(gaps, labels=["ground", "figure"], **QUICK, **more)
    said = " ".join([str(told.value), *(str(note.message) for note in noted)])
    assert "15" in said and "cleave import" not in said  # there are no files that anybody could convert


@pytest.mark.parametrize("mask, error, says", [
    (np.full((4, 6), -1), cleave.DataError, r"mask 1: value -1 at pixel \(0, 0\) is not in 0..255"),
    (np.arange(24).reshape(4, 6) + 240, cleave.DataError, r"mask 1: value 256 at pixel \(4, 2\)"),
    (np.zeros((4, 6)), cleave.UsageError, "mask 1 is an array of float64"),
    (np.zeros((6, 4), bool), cleave.UsageError, r"mask 1 has shape \(6, 4\), \(4, 6\) is needed"),
])
def test_masks_that_are_none_are_named(mask, error, says):
    image = np.zeros((4, 6, 3), np.uint8)
    with pytest.raises(error, match=says):
        cleave.train([(image, np.eye(4, 6, dtype=np.uint8)), (image, mask)])


@pytest.mark.parametrize("value, names, says", [
    (0, None, 'the 4 masks have one label alone, "background"'),
    (1, None, 'the 4 masks have one label alone, "foreground"'),
    (1, ["ground", "sky", "animal"], 'the 4 masks have one label alone, "sky"'),
    (cleave.VOID, ["ground", "animal"], "has no true labels to learn from"),
])
def test_masks_of_one_label_are_refused(pairs, value, names, says):
    with pytest.raises(cleave.DataError, match=says):
        cleave.train([(image, np.full(mask.shape, value)) for image, mask in pairs], labels=names)


@pytest.mark.parametrize("refine", [None, False, True])
def test_masks_are_those_of_the_command(model, command, tmp_path, refine):
    model.save(tmp_path / "m.cleave")
    image = sorted((ANIMALS / "images").iterdir())[-1]
    command("segment", "-m", tmp_path / "m.cleave", "-o", tmp_path / "out", *([] if refine is None else ["--refine"] if refine else ["--no-refine"]), image)
    np.testing.assert_array_equal(cleave.segment(model, cleave.read_image(image), refine=refine),
                                  mask_values(next((tmp_path / "out").glob("*.png"))))


def test_marginals_are_those_of_the_command(model, command, tmp_path):
    model.save(tmp_path / "m.cleave")
    image = sorted((ANIMALS / "images").iterdir())[-1]
    command("probabilities", "-m", tmp_path / "m.cleave", "-o", tmp_path / "out", "--samples", 16, "--seed", 4, image)
    found = cleave.probabilities(model, cleave.read_image(image), samples=16, seed=4)
    np.testing.assert_allclose(found.sum(axis=2), 1, atol=1e-6)
    np.testing.assert_array_equal(np.rint(255 * found[:, :, 1].astype(float)), mask_values(next((tmp_path / "out").glob("*.png"))))


def test_maps_of_networks_count_as_they_do_for_the_command(command, tmp_path):
    folder = ROOT / "assets" / "animals-maps"
    command("train", "-d", ANIMALS / "manifest.tsv", "--split", "train", "--maps", f"net={folder}", "--blocks", "maps", "--passes", 3,
            "-o", tmp_path / "m.cleave")
    made = cleave.Model.load(tmp_path / "m.cleave")
    image = sorted((ANIMALS / "images").iterdir())[-1]
    command("segment", "-m", tmp_path / "m.cleave", "--maps", f"net={folder}", "--refine", "-o", tmp_path / "out", image)
    planes = {"net": mask_values(folder / f"{image.stem}.png")}
    found = cleave.segment(made, cleave.read_image(image), maps=planes, refine=True)
    np.testing.assert_array_equal(found, mask_values(next((tmp_path / "out").glob("*.png"))))
    with pytest.raises(cleave.UsageError, match="net"):
        cleave.segment(made, cleave.read_image(image))
    with pytest.raises(cleave.UsageError, match="maps is a ndarray"):
        cleave.segment(made, cleave.read_image(image), maps=planes["net"])
    with pytest.warns(UserWarning, match="map net holds .*, those learned from are probabilities"):
        cleave.segment(made, cleave.read_image(image), maps={"net": planes["net"].astype(np.float32)})
    with pytest.raises(cleave.UsageError, match="shape"):
        cleave.features(made, cleave.read_image(image), maps={"net": np.zeros(3)})


def test_training_with_maps_is_that_of_the_command(command, tmp_path):
    folder = ROOT / "assets" / "animals-maps"
    made = cleave.train(ANIMALS / "manifest.tsv", split="train", maps={"net": folder}, seed=2, words=20, passes=3, superpixels=100)
    command("train", "-d", ANIMALS / "manifest.tsv", "--split", "train", "--maps", f"net={folder}", "--seed", 2, "--words", 20,
            "--passes", 3, "--superpixels", 100, "-o", tmp_path / "command.cleave")
    theirs = cleave.Model.load(tmp_path / "command.cleave")
    np.testing.assert_array_equal(made.weights, theirs.weights)
    image = sorted((ANIMALS / "images").iterdir())[-1]
    planes = {"net": mask_values(folder / f"{image.stem}.png")}
    np.testing.assert_array_equal(cleave.segment(made, cleave.read_image(image), maps=planes),
                                  cleave.segment(theirs, cleave.read_image(image), maps=planes))
    with pytest.raises(cleave.UsageError, match="maps: net is .*animals-maps.; of arrays it is a list of arrays"):
        cleave.train([(cleave.read_image(image), np.zeros((150, 200), np.uint8))], maps={"net": folder})


def test_options_of_training_are_those_of_the_command(command, tmp_path):
    listed = subprocess.run([os.environ["CLEAVE_BUILD"] + "/cleave", "train", "--list-options"], check=True, capture_output=True,
                            text=True).stdout
    of_command = {line[2:].split("=")[0].replace("-", "_") for line in listed.splitlines() if line.startswith("--")}
    assert cleave.options().keys() <= of_command
    not_of_sets = {"data", "maps", "output", "learner", "cv_grid", "overwrite", "progress", "requeue", "resume", "checkpoint_every", "threads", "quiet",
                   "max_pixels", "max_side", "max_jpeg_scans", "bands", "range", "axes", "help", "usage", "version"}
    assert of_command - cleave.options().keys() == not_of_sets | {name.replace("-", "_") for name in cleave.learners()["ssvm"]}
    made = cleave.train(ANIMALS / "manifest.tsv", split=["train"], blocks="words,size", sift_bins=[3, 6], pairwise="none", mirror=True,
                        loss="counts", seed=2, words=20, passes=3, superpixels=100)
    command("train", "-d", ANIMALS / "manifest.tsv", "--split", "train", "--blocks", "words,size", "--sift-bins", "3,6", "--pairwise", "none",
            "--mirror", "--loss", "counts", "--seed", 2, "--words", 20, "--passes", 3, "--superpixels", 100,
            "-o", tmp_path / "command.cleave")
    np.testing.assert_array_equal(made.weights, cleave.Model.load(tmp_path / "command.cleave").weights)
    with pytest.raises(cleave.UsageError, match="mirror is 3, must be True or False"):
        cleave.train(ANIMALS / "manifest.tsv", mirror=3)
    with pytest.raises(cleave.UsageError, match="^loss: .even. is not one of auto, balanced, counts"):
        cleave.train(ANIMALS / "manifest.tsv", loss="even")


@pytest.mark.parametrize("maps", [None, {"net": ROOT / "assets" / "animals-maps"}])
def test_two_stages_are_those_of_the_command(command, tmp_path, maps):
    options = {"seed": 2, "words": 20, "passes": 3, "superpixels": 60}
    made = cleave.train(ANIMALS / "manifest.tsv", split="train", stages=2, maps=maps, **options)
    command("train", "-d", ANIMALS / "manifest.tsv", "--split", "train", "--stages", 2, "-o", tmp_path / "command.cleave",
            *(x for key, value in options.items() for x in (f"--{key}", value)),
            *(x for name, folder in (maps or {}).items() for x in ("--maps", f"{name}={folder}")))
    theirs = cleave.Model.load(tmp_path / "command.cleave")
    np.testing.assert_array_equal(made.weights, theirs.weights)
    image = sorted((ANIMALS / "images").iterdir())[-1]
    planes = {name: mask_values(folder / f"{image.stem}.png") for name, folder in (maps or {}).items()}
    np.testing.assert_array_equal(cleave.segment(made, cleave.read_image(image), maps=planes),
                                  cleave.segment(theirs, cleave.read_image(image), maps=planes))


def test_label_costs_are_those_of_the_command(command, pairs, tmp_path):
    from PIL import Image

    (tmp_path / "set" / "images").mkdir(parents=True)
    (tmp_path / "set" / "masks").mkdir()
    (tmp_path / "set" / "labels.tsv").write_text("value\tname\n0\tground\n1\tsky\n2\tanimal\n")
    for index, (image, mask) in enumerate(pairs + pairs[:2]):
        mask = 2 * mask
        mask[:10 * (index % 2)] = 1
        Image.fromarray(image).save(tmp_path / "set" / "images" / f"{index}.png")
        Image.fromarray(mask).save(tmp_path / "set" / "masks" / f"{index}.png")
    made = cleave.train(tmp_path / "set", learner="mssvm", nodes="patches", stages=2, label_costs=3, seed=1, words=10, passes=2)
    command("train", "-d", tmp_path / "set", "--learner", "mssvm", "--nodes", "patches", "--stages", 2, "--label-costs", 3, "--seed", 1,
            "--words", 10, "--passes", 2, "-o", tmp_path / "command.cleave")
    theirs = cleave.Model.load(tmp_path / "command.cleave")
    np.testing.assert_array_equal(made.weights, theirs.weights)
    np.testing.assert_array_equal(made.segment(pairs[0][0]), theirs.segment(pairs[0][0]))
    with pytest.raises(cleave.UsageError, match="two labels"):
        cleave.train(ANIMALS / "manifest.tsv", stages=2, label_costs=1, words=10, passes=1)
    with pytest.raises(cleave.UsageError, match="^stages: .3. is not a whole number from 1 to 2"):
        cleave.train(pairs, stages=3)
    with pytest.raises(cleave.UsageError, match="^label_costs needs stages=2, whose first stage says"):
        cleave.train(pairs, label_costs=3)


def test_models_survive_their_file(model, pairs, tmp_path):
    model.save(tmp_path / "m.cleave")
    again = cleave.Model.load(tmp_path / "m.cleave")
    assert again.record["learner"] == "ssvm" and again.record["seed"] == "3" and not again.interrupted
    np.testing.assert_array_equal(again.segment(pairs[0][0]), model.segment(pairs[0][0]))
    again.save(tmp_path / "n.cleave")
    assert (tmp_path / "m.cleave").read_bytes() == (tmp_path / "n.cleave").read_bytes()


def test_several_labels_have_names(pairs):
    thirds = [(image, (mask * 2).astype(np.uint8)) for image, mask in pairs[:2]]
    thirds[0][1][:10] = 1
    thirds[0][1][10:12] = cleave.VOID
    named = cleave.train(thirds, labels=["ground", "sky", "animal"], nodes="patches", learner="perceptron", words=30, passes=1)
    assert named.labels == ["ground", "sky", "animal"]
    assert set(np.unique(named.segment(pairs[0][0]))) <= {0, 1, 2}


def test_box_cut_finds_the_object_in_a_box(pairs):
    image, mask = pairs[0]
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = (columns[0], rows[0], columns[-1] + 1 - columns[0], rows[-1] + 1 - rows[0])
    labels, likely = cleave.box_cut(image, box, return_probability=True)
    assert (labels & mask).sum() / (labels | mask).sum() > 0.6
    assert likely.dtype == np.float32 and 0 <= likely.min() and likely.max() <= 1
    np.testing.assert_array_equal(cleave.segment(None, image, box=box), labels)


def test_a_box_bounds_what_a_model_sees(model, pairs):
    whole, part = cleave.segment(model, pairs[0][0]), cleave.segment(model, pairs[0][0], box=(20, 10, 60, 40))
    np.testing.assert_array_equal(part[10:50, 20:80], whole[10:50, 20:80])
    part[10:50, 20:80] = 0
    assert not part.any()


def test_refining_a_map_follows_the_image():
    image = np.full((60, 80, 3), 40, np.uint8)
    image[:, 33:] = 200
    coarse = np.clip((np.arange(80) - 25) / 20.0, 0.05, 0.95)[None, :].repeat(60, axis=0)
    np.testing.assert_array_equal(cleave.refine(image, coarse), (image[:, :, 0] > 100).astype(np.uint8))
    three = np.stack([1 - coarse, coarse, np.zeros_like(coarse)], axis=2)
    np.testing.assert_array_equal(cleave.refine(image, three), (image[:, :, 0] > 100).astype(np.uint8))


def noisy_map():
    """A map of 128 x 128 made as large as its image, as networks give it, with noise in some pixels."""
    from PIL import Image

    image = sorted((ANIMALS / "images").iterdir())[-1]
    pixels = cleave.read_image(image)
    small = Image.open(ROOT / "assets" / "animals-maps" / f"{image.stem}.png").resize((128, 128))
    probable = np.array(small.resize(pixels.shape[1::-1], Image.NEAREST), float) / 255
    noise = np.random.default_rng(4).random(probable.shape) < 0.06
    return pixels, np.where(noise, 1 - probable, probable)


def test_weights_count_on_sharp_maps_and_without_them_it_is_said():
    pixels, probable = noisy_map()
    with pytest.warns(UserWarning, match="sharp to two pixels"):
        plain = cleave.refine(pixels, probable)
    np.testing.assert_array_equal(plain, probable > 0.5)
    found = [cleave.refine(pixels, probable, **weights) for weights in ({"coupling": 1}, {"coupling": 8}, {"nearby": 3}, {"overall": 2},
                                                                        {"prior": 2}, {"balance": 2}, {"rounds": 4})]
    assert all((labels != plain).sum() > 100 for labels in found)
    assert len({labels.tobytes() for labels in found}) == len(found)


@pytest.mark.filterwarnings("error")
def test_a_map_without_a_border_needs_no_warning(pairs):
    assert not cleave.refine(pairs[0][0], np.zeros(pairs[0][1].shape)).any()


def test_features_are_a_graph_over_the_pixels(model, pairs):
    problem = cleave.features(model, pairs[0][0])
    n = len(problem.area)
    assert problem.nodes.shape == pairs[0][0].shape[:2] and problem.nodes.max() == n - 1
    assert problem.row[0] == 0 and problem.row[-1] == len(problem.column) == len(problem.value)
    assert problem.column.max() < problem.n_features and problem.edges.shape == (len(problem.edge_features), 2)
    np.testing.assert_allclose(problem.area.sum(), problem.nodes.size)
    np.testing.assert_array_equal(np.bincount(problem.nodes.ravel(), minlength=n), problem.area)


def test_strides_and_grey_images_are_taken(model, pairs):
    image = pairs[0][0]
    padded = np.zeros((image.shape[0], image.shape[1] + 7, 4), np.uint8)
    padded[:, 3:-4, :3] = image
    np.testing.assert_array_equal(model.segment(padded[:, 3:-4, :3]), model.segment(image))
    np.testing.assert_array_equal(model.segment(np.asfortranarray(image)), model.segment(image))
    read_only = image.copy()
    read_only.flags.writeable = False
    np.testing.assert_array_equal(model.segment(read_only), model.segment(image))
    grey = image[:, :, 0]
    np.testing.assert_array_equal(model.segment(grey), model.segment(np.dstack([grey] * 3)))


@pytest.mark.parametrize("image, says", [
    (np.zeros((4, 4, 3), np.float32), "float32"),
    (np.zeros((4, 4, 5), np.uint8), r"\(4, 4, 5\)"),
    (np.zeros((0, 4, 3), np.uint8), r"\(0, 4, 3\)"),
    (np.zeros(12, np.uint8), r"\(12,\)"),
    ([[1, 2], [3]], "array|object|inhomogeneous"),
])
def test_wrong_images_are_named(model, image, says):
    with pytest.raises(ValueError, match=says):
        model.segment(image)


def test_errors_say_what_and_where(model, pairs, tmp_path):
    with pytest.raises(cleave.InputError, match="absent.cleave") as raised:
        cleave.Model.load(tmp_path / "absent.cleave")
    assert raised.value.exit_code == 66 and isinstance(raised.value, OSError)
    (tmp_path / "text.cleave").write_text("no model at all")
    with pytest.raises(cleave.DataError, match="text.cleave"):
        cleave.Model.load(tmp_path / "text.cleave")
    with pytest.raises(cleave.OutputError, match="missing"):
        model.save(tmp_path / "missing" / "m.cleave")
    with pytest.raises(cleave.UsageError, match="svm"):
        cleave.train(pairs, learner="svm")
    with pytest.raises(cleave.UsageError, match="no parameter weight"):
        cleave.train(pairs, weight=1)
    with pytest.raises(cleave.UsageError, match="-1"):
        cleave.train(pairs, passes=-1)
    with pytest.raises(cleave.UsageError, match=r"mask 0 has shape \(3, 3\)"):
        cleave.train([(pairs[0][0], np.zeros((3, 3), np.uint8))])
    with pytest.raises(cleave.UsageError, match="no images"):
        cleave.train([])
    with pytest.raises(cleave.UsageError, match="does not meet"):
        cleave.box_cut(pairs[0][0], (5000, 0, 10, 10))
    with pytest.raises(cleave.DataError, match="0..1"):
        cleave.refine(pairs[0][0], np.full(pairs[0][1].shape, np.nan))
    with pytest.raises(cleave.UsageError, match="shape"):
        cleave.refine(pairs[0][0], np.zeros((2, 2)))


def test_two_models_serve_two_threads(model, pairs):
    other = cleave.train(pairs, seed=4, words=30, passes=2, learner="perceptron")
    alone = [[m.segment(image) for image, _ in pairs] for m in (model, other)]
    found = [None, None]

    def work(k, m):
        found[k] = [m.segment(image) for image, _ in pairs]

    threads = [threading.Thread(target=work, args=(k, m)) for k, m in enumerate((model, other))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for expected, got in zip(alone, found):
        for one, two in zip(expected, got):
            np.testing.assert_array_equal(one, two)


def test_the_lock_is_free_during_calls(model, pairs):
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    model.segment(pairs[0][0])
    ended = time.monotonic()
    done.set()
    thread.join()
    assert sum(started < moment < ended for moment in ticks) > 1


def test_progress_is_told_and_may_raise(pairs):
    stages = set()
    cleave.train(pairs, words=30, passes=1, progress=lambda what, done, total: stages.add(what))
    assert "extracting features" in stages

    class Enough(Exception):
        pass

    def refuse(what, done, total):
        raise Enough

    with pytest.raises(Enough):
        cleave.train(pairs, words=30, passes=1, progress=refuse)


def test_an_interrupted_training_gives_the_model_so_far(pairs):
    """The interrupt comes once learning has begun; the passes asked for would take minutes."""

    def interrupt(what, done, total):
        if what not in ("looking at images", "extracting features", "sampling descriptors", "learning words") and not sent:
            sent.append(what)
            os.kill(os.getpid(), signal.SIGINT)

    sent = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    try:
        model = cleave.train(pairs, learner="wmpmap", words=30, passes=100000, progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sent and model.interrupted
    assert model.segment(pairs[0][0]).shape == pairs[0][1].shape


def test_nothing_leaks(model, pairs):
    image, mask = pairs[0]

    def use(times):
        for _ in range(times):
            model.segment(image)
            cleave.features(model, image)
            cleave.refine(image, mask.astype(float))
            with pytest.raises(cleave.UsageError):
                cleave.box_cut(image, (5000, 0, 1, 1))

    use(5)
    gc.collect()  # what failed trainings of other tests left in circles
    before = resident_bytes()
    counts = sys.getrefcount(image), sys.getrefcount(mask)
    use(30)
    assert resident_bytes() - before < 8 << 20
    assert (sys.getrefcount(image), sys.getrefcount(mask)) == counts


def test_the_manual_is_there():
    for name in cleave.__all__:
        assert getattr(cleave, name).__doc__ or name == "VOID", name
