"""What needs no model, and masks beside the command's."""

import itertools
import json
import shutil

import numpy as np
import pytest
from conftest import ANIMALS, ROOT

import cleave


def mask_values(path):
    from PIL import Image

    return np.array(Image.open(path))


def test_masks_of_all_samples_are_those_of_the_command(model, command, tmp_path):
    """Sixty: the samples, which are not refined, and two thirds of them at twice the size, which are."""
    from PIL import Image

    names = sorted(path.name for path in (ANIMALS / "images").iterdir())
    for name in names:
        image = Image.open(ANIMALS / "images" / name)
        image.save(tmp_path / f"{name}.1.png")
    for name in names[:24]:
        image = Image.open(ANIMALS / "images" / name)
        image.resize((2 * image.width, 2 * image.height)).save(tmp_path / f"{name}.2.png")
    model.save(tmp_path / "m.cleave")
    images = sorted(tmp_path.glob("*.png"))
    command("segment", "-q", "-m", tmp_path / "m.cleave", "-o", tmp_path / "out", *images)
    equal = [np.array_equal(model.segment(cleave.read_image(path)), mask_values(tmp_path / "out" / path.name)) for path in images]
    assert len(equal) == 60 and sum(equal) == 60
    large = cleave.read_image(images[1])
    assert not np.array_equal(model.segment(large), model.segment(large, refine=False))


def test_a_mask_scores_as_it_does_for_the_command(pairs):
    truth = pairs[0][1]
    other = np.roll(truth, 9, axis=1)
    perfect = cleave.score(truth, truth)
    assert perfect == (0, 0, 1, truth.size)
    found, void = cleave.score(other, truth), truth.copy()
    assert found.hamming == np.mean(other != truth)
    assert found.mean_iou == pytest.approx((other & truth).sum() / (other | truth).sum())
    assert found.weighted_hamming == pytest.approx(np.mean([np.mean(other[truth == k] != k) for k in (0, 1)]))
    void[:50] = cleave.VOID
    assert cleave.score(other, void).n_pixels == truth[50:].size
    assert cleave.score(truth.astype(bool), truth) == perfect


def test_arrays_of_black_and_white_score_as_their_files_do(pairs, command, tmp_path):
    from PIL import Image

    truth = pairs[0][1]
    other, white = np.roll(truth, 9, axis=1), 255 * truth
    expected = cleave.score(other, truth)
    for name, values in (("set/images", truth), ("set/masks", white), ("out", other)):
        (tmp_path / name).mkdir(parents=True)
        Image.fromarray(values).save(tmp_path / name / "a.png")
    printed = json.loads(command("score", tmp_path / "set", tmp_path / "out", "--json").stdout)
    with pytest.warns(UserWarning, match="truth: black and white were read as 0 background and 1 foreground"):
        found = cleave.score(other, white)
    assert found == expected and found.mean_iou == pytest.approx(printed["mean_iou"])
    with pytest.warns(UserWarning, match="labels: black and white"):
        assert cleave.score(255 * other, truth) == expected
    assert cleave.score(other, white, void=True).n_pixels == (truth == 0).sum()
    with pytest.raises(cleave.DataError, match="labels: beside truth, 255 may be foreground or void: void=True ignores it, or"):
        cleave.score(truth, np.full_like(truth, cleave.VOID))
    several = np.where(truth, 2, 1).astype(np.uint8)
    several[0] = cleave.VOID
    assert cleave.score(several, np.where(several == cleave.VOID, 0, several)).hamming == several.shape[1] / several.size



def test_superpixels_are_connected_and_as_many_as_asked_for(pairs):
    image = pairs[0][0]
    found = cleave.superpixels(image, 100)
    assert found.dtype == np.int32 and found.shape == image.shape[:2]
    assert set(np.unique(found)) == set(range(found.max() + 1)) and abs(found.max() + 1 - 100) < 10
    assert not np.array_equal(cleave.superpixels(image, 100, compactness=40), found)
    assert cleave.superpixels(image).max() > 500


def strokes_of(mask):
    """A stroke in the middle of the object, and the image's border."""
    strokes = np.full(mask.shape, cleave.VOID, np.uint8)
    rows, columns = np.nonzero(mask)
    row = int(np.median(rows))
    inside = np.flatnonzero(mask[row])
    strokes[row, inside[len(inside) // 4:3 * len(inside) // 4]] = 1
    for edge in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        strokes[edge][mask[edge] == 0] = 0
    return strokes


def test_strokes_cut_an_object_out(pairs):
    found = []
    for image, mask in pairs:
        strokes = strokes_of(mask)
        labels = cleave.click_cut(image, strokes)
        np.testing.assert_array_equal(labels[strokes != cleave.VOID], strokes[strokes != cleave.VOID])
        np.testing.assert_array_equal(cleave.click_cut(image, strokes.astype(int), before=labels.astype(bool)),
                                      cleave.click_cut(image, strokes, before=labels))
        found.append(cleave.score(labels, mask).mean_iou)
    assert np.mean(found) > 0.65, found


def test_strokes_of_bool_are_on_the_object_or_nowhere(pairs):
    image, mask = pairs[0]
    strokes = strokes_of(mask)
    expected = cleave.click_cut(image, np.where(strokes == 1, strokes, np.uint8(cleave.VOID)))
    assert expected.sum() > (strokes == 1).sum()
    np.testing.assert_array_equal(cleave.click_cut(image, strokes == 1), expected)


@pytest.mark.parametrize("values, says", [
    ((0, 255), r"strokes holds 0 and 255 and no 1: .* no object is shown; strokes == 255 takes"),
    ((0, 1), "strokes holds no 255, which is elsewhere, .* nothing is left to cut; strokes == 1 takes"),
    ((1, 1), "strokes holds no 255"),
])
def test_strokes_of_two_readings_are_refused_with_what_to_do(pairs, values, says):
    image, mask = pairs[0]
    strokes = np.where(strokes_of(mask) == 1, values[1], values[0])
    with pytest.raises(cleave.DataError, match=says):
        cleave.click_cut(image, strokes)


def test_labels_before_may_be_black_and_white_and_strokes_on_the_background_alone(pairs):
    image, mask = pairs[0]
    strokes = strokes_of(mask)
    before = cleave.click_cut(image, strokes)
    np.testing.assert_array_equal(cleave.click_cut(image, strokes, before=255 * before), cleave.click_cut(image, strokes, before=before))
    background = np.where(strokes == 0, strokes, np.uint8(cleave.VOID))
    assert cleave.click_cut(image, background, before=before).any()


def test_maps_of_one_channel_are_of_label_1(pairs):
    image, mask = pairs[0]
    likely = np.random.default_rng(0).random(mask.shape)
    np.testing.assert_array_equal(cleave.refine(image, likely[:, :, None]), cleave.refine(image, likely))
    np.testing.assert_array_equal(cleave.refine(image, likely[None], channel_axis=0), cleave.refine(image, likely))


def test_a_graph_may_have_no_edges():
    np.testing.assert_array_equal(cleave.graph_cut([1, -1, 2], [], []), [1, 0, 1])


def gain(labels, unary, edges, weights):
    """Of a graph's labelling, by its definition."""
    labels = labels.ravel()
    return sum(unary[i, k] for i, k in enumerate(labels)) - sum(w for (a, b), w in zip(edges, weights) if labels[a] != labels[b])


def best_gain(unary, edges, weights):
    n, k = unary.shape
    return max(gain(np.array(labels), unary, edges, weights) for labels in itertools.product(range(k), repeat=n))


OFFSETS = ((0, 1), (1, 0), (1, 1), (1, -1))


def grid_edges(couplings):
    height, width, n = couplings.shape
    found = [((y * width + x, (y + dy) * width + x + dx), couplings[y, x, k]) for k, (dy, dx) in enumerate(OFFSETS[:n])
             for y in range(height) for x in range(width) if y + dy < height and 0 <= x + dx < width]
    return zip(*found)


@pytest.mark.parametrize("n_neighbours", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_a_cut_of_a_grid_is_the_best_labelling(n_neighbours, seed):
    random = np.random.default_rng(seed)
    unary, couplings = random.normal(size=(3, 4)), random.random((3, 4, n_neighbours))
    edges, weights = grid_edges(couplings)
    scores = np.stack([np.zeros(12), unary.ravel()], axis=1)
    labels = cleave.graph_cut(unary, couplings)
    assert labels.dtype == np.uint8 and labels.shape == unary.shape
    assert gain(labels, scores, edges, weights) == pytest.approx(best_gain(scores, edges, weights), abs=1e-5)
    np.testing.assert_array_equal(cleave.graph_cut(unary, np.moveaxis(couplings, 2, 0), channel_axis=0), labels)
    np.testing.assert_array_equal(cleave.graph_cut(scores.reshape(3, 4, 2), couplings), labels)
    np.testing.assert_array_equal(cleave.graph_cut(unary.ravel(), np.array(edges)[:, ::-1], weights).reshape(3, 4), labels)
    np.testing.assert_array_equal(cleave.graph_cut(unary, 0.3), cleave.graph_cut(unary, np.full((3, 4, 2), 0.3)))


@pytest.mark.parametrize("hard", [1e3, 1e10, 1e19, 1e200])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_couplings_that_must_not_be_cut_leave_the_rest_of_the_field_exact(hard, n_labels):
    """Before: all labels were 0 from 1e10 on. A ring of three, two pairs, and a node."""
    random = np.random.default_rng(n_labels)
    edges = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [5, 6], [2, 3], [4, 5], [6, 7]])
    weights, soft = np.where(np.arange(8) < 5, hard, 0.4), ([(0, 1), (1, 2), (2, 3)], [0.4] * 3)
    for _ in range(20):
        scores = random.normal(size=(8, n_labels))
        joined = np.add.reduceat(scores, [0, 3, 5, 7])
        found = cleave.graph_cut(scores if n_labels > 2 else scores[:, 1] - scores[:, 0], edges, weights)
        together = found[[0, 3, 5, 7]]
        np.testing.assert_array_equal(found, np.repeat(together, [3, 2, 2, 1]))
        assert gain(together, joined, *soft) >= best_gain(joined, *soft) - (1e-9 if n_labels == 2 else sum(soft[1]))


def test_a_grid_with_hard_couplings_is_cut_as_the_graph_it_is():
    random = np.random.default_rng(3)
    unary = random.normal(size=(12, 15))
    for hard in 1e2, 1e4, 1e8, 1e20:
        couplings = np.where(random.random((12, 15, 4)) < 0.2, hard, 0.3).astype(np.float32)
        edges, weights = grid_edges(couplings)
        found = cleave.graph_cut(unary, couplings)
        np.testing.assert_array_equal(found.ravel(), cleave.graph_cut(unary.astype(np.float32).ravel(), np.array(edges), np.array(weights)))
        assert found.any() and not found.all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call, says", [
    (lambda: cleave.graph_cut(np.where(np.eye(3), 1e300, 0), 1), r"unary\[0, 0\] is 1e\+300, sizes of at most 3.4e\+38 are taken"),
    (lambda: cleave.graph_cut(np.zeros((3, 3)), 1e39), r"couplings is 1e\+39, sizes"),
    (lambda: cleave.graph_cut(np.zeros((3, 3)), np.moveaxis(np.full((3, 3, 2), 1e99), 2, 0), channel_axis=0), r"couplings\[0, 0, 0\] is 1e\+99"),
    (lambda: cleave.graph_cut(np.array([[0, 1], [-1e308, 1.7e308]]), [[0, 1]], [1]), "node 1: its unary score is inf"),
    (lambda: cleave.refine(np.zeros((3, 4, 3), np.uint8), np.where(np.arange(24).reshape(3, 4, 2) == 11, -1e300, 0.5)),
     r"probabilities\[1, 1, 1\] is -1e\+300"),
    (lambda: cleave.train_graphs([([[1.0, 1e300]], [])], [[1]]), r"graphs\[0\]: features\[0, 1\] is 1e\+300"),
])
def test_numbers_that_no_float32_holds_are_named(call, says):
    """Before: a RuntimeWarning of numpy, and then infinity was what was wrong."""
    with pytest.raises(cleave.DataError, match=says):
        call()


@pytest.mark.parametrize("seed", range(5))
def test_a_cut_of_three_labels_is_nearly_the_best_labelling(seed):
    random = np.random.default_rng(seed)
    unary, couplings = random.normal(size=(2, 3, 3)), 0.5 * random.random((2, 3, 4))
    edges, weights = grid_edges(couplings)
    labels, best = cleave.graph_cut(unary, couplings), best_gain(unary.reshape(6, 3), edges, weights)
    found = gain(labels, unary.reshape(6, 3), edges, weights)
    assert found <= best + 1e-5 and found >= best - sum(weights)
    assert found > gain(np.zeros(6, int), unary.reshape(6, 3), edges, weights)
    np.testing.assert_array_equal(cleave.graph_cut(unary.reshape(6, 3), np.array(edges), weights).reshape(2, 3), labels)
    assert np.array_equal(cleave.graph_cut(unary, 0), unary.argmax(axis=2))


@pytest.mark.parametrize("arguments, error, says", [
    ((np.zeros(3), 1), cleave.UsageError, r"unary has shape \(3,\), \[height, width\]"),
    ((np.zeros((3, 4)), np.zeros((3, 4))), cleave.UsageError, r"couplings has shape \(3, 4\); a number, \(3, 4, 2\) or \(3, 4, 4\)"),
    ((np.zeros((3, 4)), -1), cleave.DataError, "negative|-1"),
    ((np.full((3, 4), np.nan), 1), cleave.DataError, "nan"),
    ((np.zeros((3, 4)), "strong"), cleave.UsageError, "couplings is an array of <U6, numbers are needed"),
    ((np.zeros(3), np.zeros((2, 3), int), np.zeros(2)), cleave.UsageError, r"edges is an array of int64 of shape \(2, 3\)"),
    ((np.zeros(3), np.array([[0, 1], [1, 3]]), np.zeros(2)), cleave.UsageError, r"edge 1 is \(1, 3\), two different nodes of 0 .. 2"),
    ((np.zeros(3), np.array([[1, 1]]), np.zeros(1)), cleave.UsageError, r"edge 0 is \(1, 1\)"),
    ((np.zeros(3), np.array([[0, -1]]), np.zeros(1)), cleave.UsageError, r"edge 0 is \(0, -1\)"),
    ((np.zeros(3), np.array([[0, 1]]), np.zeros(2)), cleave.UsageError, r"weights has shape \(2,\), \(1,\)"),
    ((np.zeros((3, 1)), np.array([[0, 1]]), np.zeros(1)), cleave.UsageError, r"unary has shape \(3, 1\)"),
    ((np.zeros(3), np.array([[0, 1]]), -np.ones(1)), cleave.DataError, "negative|-1"),
])
def test_graphs_that_are_none_are_named(arguments, error, says):
    with pytest.raises(error, match=says):
        cleave.graph_cut(*arguments)


def test_labels_of_a_map_are_last_or_along_an_axis(pairs):
    image, mask = pairs[0]
    soft = np.clip(np.cumsum(mask, axis=1) / 60.0, 0.02, 0.98)
    three = np.stack([1 - soft, soft / 2, soft / 2], axis=2)
    last = cleave.refine(image, three)
    np.testing.assert_array_equal(cleave.refine(image, np.moveaxis(three, 2, 0), channel_axis=0), last)
    with pytest.raises(cleave.UsageError, match="channel_axis is -1"):
        cleave.refine(image, np.moveaxis(three, 2, 0))


def test_channels_of_a_map_are_last_or_along_an_axis(tmp_path, pairs):
    planes = [np.stack([mask, 1 - mask], axis=2).astype(np.float32) for _, mask in pairs]
    made = cleave.train(pairs, maps={"net": planes}, words=10, passes=2)
    last = made.segment(pairs[0][0], maps={"net": planes[0]})
    first = made.segment(pairs[0][0], maps={"net": np.moveaxis(planes[0], 2, 0)}, channel_axis=0)
    np.testing.assert_array_equal(last, first)
    with pytest.raises(cleave.UsageError, match=r"map net has shape \(4,\)"):
        made.segment(pairs[0][0], maps={"net": np.zeros(4)})


def rows():
    lines = [line.split("\t") for line in (ANIMALS / "manifest.tsv").read_text().splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:13]]


def boxes_of():
    lines = [line.split("\t") for line in (ANIMALS / "boxes.tsv").read_text().splitlines()]
    return {line[0]: tuple(map(float, line[2:])) for line in lines[1:]}


@pytest.fixture(scope="module")
def samples():
    """Twelve of the samples: images, masks and boxes, with paths."""
    boxes = boxes_of()
    return [(row["image"], cleave.read_image(ANIMALS / row["image"]), mask_values(ANIMALS / row["mask"]), boxes[row["image"]])
            for row in rows()]


def set_of(folder, samples, taught):
    """The same on disk, as the command is given it: the first `taught` with masks."""
    for name, *_ in samples:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ANIMALS / name).read_bytes())
    masks = {row["image"]: row["mask"] for row in rows()}
    shutil.copytree(ANIMALS / "masks", folder / "masks")
    (folder / "manifest.tsv").write_text("image\tmask\tsplit\n" + "".join(
        f"{name}\t{masks[name] if index < taught else ''}\t{'a' if index < taught else 'b'}\n" for index, (name, *_) in enumerate(samples)))
    (folder / "boxes.tsv").write_text("image\tx\ty\tw\th\n" + "".join(
        "\t".join([name, *map(str, box)]) + "\n" for name, _, _, box in samples))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("taught", [4, 0])
@pytest.mark.parametrize("learner", ["wmpmap", "ssvm"])
def test_boxes_in_memory_teach_as_their_files_do(samples, tmp_path, taught, learner):
    quick = dict(learner=learner, seed=3, words=15, passes=2, superpixels=100)
    set_of(tmp_path, samples, taught)
    pairs = [(image, mask if index < taught else None) for index, (_, image, mask, _) in enumerate(samples)]
    made = cleave.train(pairs, boxes=[box for *_, box in samples], **quick)
    split = {"split": "a"} if taught else {}
    theirs = cleave.train(tmp_path, **split, weak_split="b", boxes=tmp_path / "boxes.tsv", **quick)
    np.testing.assert_array_equal(made.weights, theirs.weights)
    assert made.record["boxed_images"] == str(12 - taught) and made.record["data"] == "arrays"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_images_without_anything_teach_as_their_files_do(samples, tmp_path):
    quick = dict(learner="wmpmap", seed=3, words=15, passes=2, superpixels=100)
    set_of(tmp_path, samples, 8)
    made = cleave.train([(image, mask if index < 8 else None) for index, (_, image, mask, _) in enumerate(samples)], **quick)
    theirs = cleave.train(tmp_path, split="a", unlabelled_split="b", **quick)
    np.testing.assert_array_equal(made.weights, theirs.weights)
    assert made.record["unlabelled_images"] == "4"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_maps_in_memory_teach_as_their_files_do(samples, tmp_path):
    folder = ROOT / "assets" / "animals-maps"
    quick = dict(seed=2, words=15, passes=2, superpixels=100)
    set_of(tmp_path, samples, 12)
    planes = [mask_values(folder / name.split("/")[-1].replace(".jpg", ".png")) for name, *_ in samples]
    made = cleave.train([(image, mask) for _, image, mask, _ in samples], maps={"net": planes}, **quick)
    theirs = cleave.train(tmp_path, maps={"net": folder}, **quick)
    np.testing.assert_array_equal(made.weights, theirs.weights)
    image = samples[0][1]
    np.testing.assert_array_equal(made.segment(image, maps={"net": planes[0]}), theirs.segment(image, maps={"net": planes[0]}))


def test_nothing_is_said_of_the_folder_that_arrays_go_through(samples):
    pairs = [(image, None) for _, image, _, _ in samples[:3]]
    with pytest.raises(cleave.DataError, match="^3 images without labels teach nothing unless some have masks or boxes$"):
        cleave.train(pairs)
    with pytest.raises(cleave.UsageError, match="boxes: there are 1 for 3 images"):
        cleave.train(pairs, boxes=[(0, 0, 5, 5)])
    with pytest.raises(cleave.UsageError, match=r"boxes\[1\] is \(0, 0, 5\), four numbers"):
        cleave.train(pairs, boxes=[(0, 0, 5, 5), (0, 0, 5), None])
    with pytest.raises(cleave.UsageError, match=r"maps of net: there are 1 for 3 images"):
        cleave.train(pairs, maps={"net": [np.zeros((4, 4))]})
    with pytest.raises(cleave.UsageError, match="boxes is 'b.tsv'; of arrays it is a list"):
        cleave.train(pairs, boxes="b.tsv")
