"""Images of bands: arrays of any numbers, as the command reads them from files."""

import csv

import numpy as np
import pytest

import cleave

pytestmark = pytest.mark.filterwarnings("ignore:images of 5 bands")
FEW = {"words": 10, "superpixels": 60, "passes": 5, "seed": 2}


def scene(seed, kind):
    random = np.random.default_rng(seed)
    truth = np.zeros((40, 48), np.uint8)
    truth[8:30, 10 + seed:30 + seed] = 1
    values = 100 + 50 * truth[:, :, None] * np.array([1, -1, 1, -1, 1]) + random.normal(scale=15, size=(40, 48, 5))
    return values.astype(kind), truth


@pytest.fixture(scope="module")
def scenes():
    return [scene(seed, np.uint16) for seed in range(4)]


@pytest.fixture(scope="module")
def model(scenes):
    return cleave.train(scenes[:3], bands=True, **FEW)


@pytest.mark.parametrize("refine", [False, True])
def test_the_command_says_the_same_of_the_same_bands(refine, scenes, model, command, tmp_path):
    image, truth = scenes[3]
    labels = model.segment(image, refine=refine)
    assert (labels == truth).mean() > 0.9
    model.save(tmp_path / "m.cleave")
    np.save(tmp_path / "i.npy", image)
    command("segment", "-q", "--refine" if refine else "--no-refine", "-m", tmp_path / "m.cleave", tmp_path / "i.npy", "-o", tmp_path / "o")
    assert np.array_equal(cleave.read_image(tmp_path / "o" / "i.png")[:, :, 0] > 0, labels > 0)


def test_arrays_and_files_teach_the_same_weights(scenes, model, tmp_path):
    for folder in "images", "masks":
        (tmp_path / folder).mkdir()
    for index, (image, mask) in enumerate(scenes[:3]):
        np.save(tmp_path / "images" / f"{index}.npy", image)
        (tmp_path / "masks" / f"{index}.pgm").write_bytes(b"P5 48 40 255\n" + mask.tobytes())
    assert np.array_equal(cleave.train(tmp_path, **FEW).weights, model.weights)


def test_floats_without_data_in_places_and_marginals():
    scenes = [scene(seed, np.float32) for seed in range(3)]
    for image, _ in scenes:
        image[:3, :3] = np.nan
    model = cleave.train(scenes[:2], bands=True, **FEW)
    image, truth = scenes[2]
    image[5, 5, :3] = np.inf
    labels = model.segment(image)
    assert (labels == truth).mean() > 0.9
    assert np.array_equal(np.argwhere(labels == cleave.VOID).max(axis=0), [2, 2]) and (labels == cleave.VOID).sum() == 9
    assert not model.segment(image, objects=True)[1][:3, :3].any()
    assert model.probabilities(image, samples=10).shape == (40, 48, 2)
    assert model.features(image).n_features > 0


def test_what_is_no_image_of_bands_is_refused(scenes, model, tmp_path):
    image, mask = scenes[0]
    with pytest.raises(cleave.UsageError, match=r"image 0 is an array of uint16, .*bands=True"):
        cleave.train(scenes, **FEW)
    with pytest.raises(cleave.DataError, match="^image: 4 bands, the images learned from have 5"):
        model.segment(image[:, :, :4])
    with pytest.raises(cleave.DataError, match="3 bands, the images learned from have 5; cleave.read_image gives what a file looks like"):
        model.segment(image[:, :, :3].astype(np.uint8))
    with pytest.raises(cleave.UsageError, match="image is an array of bool, numbers are needed"):
        model.segment(image > 3)
    with pytest.raises(cleave.UsageError, match="shape"):
        model.segment(image[None])
    with pytest.raises(cleave.UsageError, match="bands is for arrays"):
        cleave.train(tmp_path, bands=True)
    with pytest.raises(cleave.UsageError, match=r"takes the maps \[\], given are \['bands'\]"):
        model.segment(image, maps={"bands": image})


def test_objects_are_measured_in_the_values_given(scenes, model, command, tmp_path):
    image, _ = scenes[3]
    labels, objects, table = model.segment(image, objects=True)
    model.save(tmp_path / "m.cleave")
    np.save(tmp_path / "i.npy", image)
    command("segment", "-q", "--objects", "-m", tmp_path / "m.cleave", tmp_path / "i.npy", "-o", tmp_path / "o")
    with open(tmp_path / "o" / "objects.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert list(table) == list(rows[0])[1:]
    for name in ("mean_1", "mean_5", "deviation_2"):
        np.testing.assert_allclose(table[name], [float(row[name]) for row in rows], rtol=1e-9)
    assert table["mean_1"].max() > 130
    measured = cleave.measure(objects, image)
    assert all(np.array_equal(values, measured[name]) for name, values in table.items() if name not in ("label", "mean_probability"))
    holes = image.astype(np.float32)
    holes[objects > 0] = np.nan
    assert np.isnan(cleave.measure(objects, holes)["mean_3"]).all()
    with pytest.raises(cleave.UsageError, match="objects of 48x40, an image of 48x39"):
        cleave.measure(objects, holes[1:])


@pytest.fixture(scope="module")
def twelve_bits():
    return [((image[:, :, 0].astype(np.int64) * 12).astype(np.uint16), truth) for image, truth in (scene(seed, np.uint16) for seed in range(4))]


def test_sixteen_bits_in_a_range(twelve_bits, command, tmp_path):
    """Arrays, files and the command agree, and the model keeps the range."""
    Image = pytest.importorskip("PIL.Image")
    for folder in "images", "masks":
        (tmp_path / folder).mkdir()
    for index, (image, mask) in enumerate(twelve_bits):
        Image.fromarray(image).save(tmp_path / "images" / f"{index}.png")
        Image.fromarray(mask).save(tmp_path / "masks" / f"{index}.png")
    model = cleave.train(twelve_bits, range=(300, 3000), **FEW)
    assert model.range == (300, 3000)
    of_files = cleave.train(tmp_path, range=(300, 3000), **FEW)
    assert of_files.range == model.range and np.array_equal(of_files.weights, model.weights)
    image, path = twelve_bits[3][0], tmp_path / "images" / "3.png"
    labels, _, table = model.segment(image, objects=True)
    np.testing.assert_array_equal(labels, model.segment(cleave.read_image(path, range=model.range)))
    for same in image.astype(np.int32), image[:, :, None]:
        np.testing.assert_array_equal(labels, model.segment(same))
    model.save(tmp_path / "m.cleave")
    command("segment", "-q", "--objects", "-m", tmp_path / "m.cleave", path, "-o", tmp_path / "o")
    np.testing.assert_array_equal(labels > 0, cleave.read_image(tmp_path / "o" / "3.png")[:, :, 0] > 0)
    with open(tmp_path / "o" / "objects.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for name in ("mean_red", "mean_blue", "deviation_green"):
        np.testing.assert_allclose(table[name], [float(row[name]) for row in rows], rtol=1e-9)
    assert table["mean_red"].max() > 1000
    with pytest.raises(cleave.UsageError, match=r"train\(range=\(low, high\)\)"):
        cleave.train(twelve_bits, **FEW)
    for wrong in (3, (9, 9), (0, 65536)):
        with pytest.raises(cleave.UsageError, match="range"):
            cleave.read_image(path, range=wrong)
