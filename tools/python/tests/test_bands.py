"""Images of bands: arrays of any numbers, as the command reads them from files."""

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
    for place, (image, mask) in enumerate(scenes[:3]):
        np.save(tmp_path / "images" / f"{place}.npy", image)
        (tmp_path / "masks" / f"{place}.pgm").write_bytes(b"P5 48 40 255\n" + mask.tobytes())
    assert np.array_equal(cleave.train(tmp_path, **FEW).weights, model.weights)


def test_floats_without_data_in_places_and_marginals():
    scenes = [scene(seed, np.float32) for seed in range(3)]
    for image, _ in scenes:
        image[:3, :3] = np.nan
    model = cleave.train(scenes[:2], bands=True, **FEW)
    image, truth = scenes[2]
    assert (model.segment(image) == truth).mean() > 0.9
    assert model.marginals(image, draws=10).shape == (40, 48, 2)
    assert model.features(image).n_features > 0


def test_what_is_no_image_of_bands_is_refused(scenes, model, tmp_path):
    image, mask = scenes[0]
    with pytest.raises(cleave.UsageError, match=r"image 0 is an array of uint16, .*bands=True"):
        cleave.train(scenes, **FEW)
    with pytest.raises(cleave.DataError, match="^image: 4 bands, the images learned from have 5"):
        model.segment(image[:, :, :4])
    with pytest.raises(cleave.UsageError, match="image is an array of bool, numbers are needed"):
        model.segment(image > 3)
    with pytest.raises(cleave.UsageError, match="shape"):
        model.segment(image[None])
    with pytest.raises(cleave.UsageError, match="bands is for arrays"):
        cleave.train(tmp_path, bands=True)
    with pytest.raises(cleave.UsageError, match=r"takes the maps \[\], given are \['bands'\]"):
        model.segment(image, maps={"bands": image})
