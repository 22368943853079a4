"""Objects: what is found beside the command's, and measures beside scikit-image's."""

import csv

import numpy as np
import pytest
from conftest import ANIMALS, ROOT

import cleave

try:
    from skimage.measure import label as pieces_of
    from skimage.measure import regionprops
except ImportError:
    regionprops = None

NUCLEI = ROOT / "assets" / "nuclei"
compares = pytest.mark.skipif(regionprops is None, reason="there is no scikit-image here, so measures of objects are NOT compared with "
                              "its regionprops (tools/deps python installs it on Debian)")


def mask_values(path):
    from PIL import Image

    return np.array(Image.open(path))


def assert_as_regionprops(objects, image=None):
    """How many objects there are, each measured as regionprops does, to 1e-6."""
    found = cleave.measure(objects, image)
    theirs = regionprops(objects, intensity_image=image)
    np.testing.assert_array_equal(found["object"], [region.label for region in theirs])
    np.testing.assert_array_equal(found["area"], [region.area for region in theirs])
    boxes = np.stack([found[side] for side in ("top", "left", "bottom", "right")], axis=1)
    np.testing.assert_array_equal(boxes, [region.bbox for region in theirs])
    for name, values in {
        "centroid_x": [region.centroid[1] for region in theirs], "centroid_y": [region.centroid[0] for region in theirs],
        "perimeter": [region.perimeter for region in theirs], "eccentricity": [region.eccentricity for region in theirs],
        "solidity": [region.solidity for region in theirs],
    }.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-6, err_msg=name)
    for c, colour in enumerate(("red", "green", "blue") if image is not None else ()):
        np.testing.assert_allclose(found[f"mean_{colour}"], [region.intensity_mean[c] for region in theirs], rtol=0, atol=1e-6)
        deviations = [region.image_intensity[region.image][:, c].std() for region in theirs]
        np.testing.assert_allclose(found[f"deviation_{colour}"], deviations, rtol=0, atol=1e-6)
    return len(theirs)


@compares
@pytest.mark.parametrize("seed", range(20))
def test_objects_of_random_maps_are_measured_as_regionprops_does(seed):
    """Cells around random points, cut by noise and by circles: objects with holes, in pieces, of single pixels, at borders."""
    random = np.random.default_rng(seed)
    height, width = random.integers(20, 90, 2)
    y, x = np.mgrid[:height, :width]
    points = random.uniform(0, 1, (int(random.integers(2, 40)), 2)) * (height, width)
    distance = np.hypot(y[:, :, None] - points[:, 0], x[:, :, None] - points[:, 1])
    cells = distance.argmin(axis=2) + 1
    numbers = random.permutation(500)[:len(points) + 1] + 1
    for kept in (np.True_, distance.min(axis=2) < random.uniform(2, 12), random.uniform(size=cells.shape) < random.uniform(0.1, 1)):
        objects = np.where(kept, numbers[cells], 0)
        assert assert_as_regionprops(objects, random.integers(0, 256, (height, width, 3), np.uint8)) > 0


@compares
def test_nuclei_are_measured_as_regionprops_does():
    n = 0
    for path in sorted((NUCLEI / "masks").iterdir()):
        objects = pieces_of(mask_values(path) == 1, connectivity=1)
        n += assert_as_regionprops(objects, cleave.read_image(NUCLEI / "images" / path.name))
    assert n > 500


def table_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def assert_as_the_command(model, command, folder, path, *words, **options):
    """The objects of an image, which are those that the command writes."""
    model.save(folder / "m.cleave")
    command("segment", "-m", folder / "m.cleave", "-o", folder / "out", "--objects", *words, path)
    image = cleave.read_image(path)
    labels, objects, table = model.segment(image, objects=True, **options)
    np.testing.assert_array_equal(labels, model.segment(image))
    assert objects.dtype == np.int32
    np.testing.assert_array_equal(objects, mask_values(folder / "out" / "objects" / f"{path.stem}.png"))
    rows = table_of(folder / "out" / "objects.tsv")
    assert list(table) == list(rows[0])[1:]
    for name, values in table.items():
        theirs = [model.labels.index(row[name]) if name == "label" else float(row[name]) for row in rows]
        np.testing.assert_allclose(values, theirs, rtol=1e-9, atol=1e-9, err_msg=name)
    measured = cleave.measure(objects, image)
    assert all(np.array_equal(values, measured[name]) for name, values in table.items() if name not in ("label", "mean_probability"))
    return objects, table


def test_objects_are_those_of_the_command(model, command, tmp_path):
    path = sorted((ANIMALS / "images").iterdir())[-1]
    objects, table = assert_as_the_command(model, command, tmp_path, path)
    image = cleave.read_image(path)
    area = int(np.sort(table["area"])[-1])
    large = model.segment(image, objects=True, min_area=area)
    assert large.table["area"].tolist() == [value for value in table["area"] if value >= area]
    np.testing.assert_array_equal(large.labels, model.segment(image))
    inner = model.segment(image, objects=True, clear_border=True).objects
    assert not np.concatenate([inner[0], inner[-1], inner[:, 0], inner[:, -1]]).any()
    none = model.segment(image, objects=True, min_area=area + 1)
    assert not none.objects.any() and all(len(values) == 0 for values in none.table.values())


def test_objects_that_touch_are_separated_as_the_model_has_learned(command, tmp_path):
    """Pairs of squares, each with a dark rim, that touch: two objects a pair, not one piece."""
    from PIL import Image

    random = np.random.default_rng(1)
    rows = ["image\tinstances\tsplit"]
    for k in range(6):
        y, x = np.mgrid[-8:72, -5 - k:75 - k]
        inside = (x >= 0) & (x < 32) & (y >= 0) & (y < 52) & (y % 32 < 20)
        rim = (x % 16 < 2) | (x % 16 > 13)
        grey = np.where(inside, np.where(rim, 120, 200), 30) + random.integers(0, 17, x.shape)
        Image.fromarray(grey.astype(np.uint8)).save(tmp_path / f"{k}.png")
        Image.fromarray(np.where(inside, 2 * (y // 32) + x // 16 + 1, 0).astype(np.uint8)).save(tmp_path / f"{k}-objects.png")
        rows.append(f"{k}.png\t{k}-objects.png\ttrain")
    (tmp_path / "manifest.tsv").write_text("\n".join(rows) + "\n")
    made = cleave.train(tmp_path / "manifest.tsv", blocks="colour,size")
    objects, table = assert_as_the_command(made, command, tmp_path, tmp_path / "3.png")
    assert len(table["object"]) == 4 and (table["label"] == 1).all()
    assert np.mean((objects > 0) != (mask_values(tmp_path / "3-objects.png") > 0)) < 0.05


def test_objects_of_a_box_need_no_model(pairs):
    image, box = pairs[0][0], (20, 20, 120, 90)
    labels, objects, table = cleave.segment(None, image, box=box, objects=True)
    np.testing.assert_array_equal(labels, cleave.box_cut(image, box))
    np.testing.assert_array_equal(objects > 0, labels == 1)
    assert (table["label"] == 1).all() and table["area"].sum() == labels.sum()


@pytest.mark.parametrize("call, says", [
    (lambda m, i: m.segment(i, min_area=3), "need objects=True"),
    (lambda m, i: m.segment(i, objects=True, min_area=-1), "min_area is -1"),
    (lambda m, i: m.segment(i, objects=True, box=(1, 1, 20, 20)), "of a box without one"),
    (lambda m, i: cleave.measure(i), "shape"),
    (lambda m, i: cleave.measure(i[:, :, 0] / 2), "float64"),
    (lambda m, i: cleave.measure(-np.ones((3, 3), int)), "holds -1"),
    (lambda m, i: cleave.measure(i[:, :, 0], i[1:]), "objects of"),
])
def test_what_cannot_be_is_refused(model, pairs, call, says):
    with pytest.raises(cleave.UsageError, match=says):
        call(model, pairs[0][0])
