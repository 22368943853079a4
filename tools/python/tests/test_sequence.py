"""Volumes and videos: the same bytes as the command writes of the same slices."""

import numpy as np
import pytest
from PIL import Image

import cleave

FEW = {"words": 10, "superpixels": 60, "passes": 5, "seed": 2, "window": 3}
N, HEIGHT, WIDTH = 7, 48, 64


def volume(shift=0):
    """A bright square, 3 pixels further right in each slice, and its masks."""
    slices, rows, columns = np.ogrid[:N, :HEIGHT, :WIDTH]
    truth = ((abs(rows - 24) < 9) & (abs(columns - 16 - shift - 3 * slices) < 9)).astype(np.uint8)
    texture = (rows * 13 + columns * 7 + 0 * slices) % 40
    return (70 + texture + 90 * truth).astype(np.uint8), truth


@pytest.fixture(scope="module")
def model():
    grey, truth = volume()
    return cleave.train([(grey, truth)], sequence=True, **FEW)


def write(folder, grey, masks):
    for what in "images", "masks":
        (folder / what).mkdir(parents=True)
    for index, one in enumerate(grey):
        Image.fromarray(one).save(folder / "images" / f"{index}.png")
        if index in masks:
            Image.fromarray(masks[index]).save(folder / "masks" / f"{index}.png")


def masks_of(folder):
    return np.array([np.array(Image.open(folder / f"{index}.png")) for index in range(N)])


@pytest.mark.parametrize("refine", [None, True])
def test_the_command_says_the_same_of_the_same_slices(refine, model, command, tmp_path):
    grey, truth = volume(shift=4)
    labels = model.segment(grey, sequence=True, refine=refine, threads=3)
    assert labels.shape == truth.shape and (labels == truth).mean() > 0.95
    model.save(tmp_path / "m.cleave")
    write(tmp_path / "set", grey, {})
    refined = ["--refine"] if refine else []
    command("segment", "-q", "--sequence", *refined, "-m", tmp_path / "m.cleave", tmp_path / "set", "-o", tmp_path / "out")
    assert np.array_equal(masks_of(tmp_path / "out"), labels)
    colours = np.repeat(grey[..., None], 3, axis=3)
    assert np.array_equal(cleave.segment(model, list(colours), sequence=True, refine=refine), labels)


def test_arrays_and_files_teach_the_same_weights(model, command, tmp_path):
    grey, truth = volume()
    write(tmp_path, grey, dict(enumerate(truth)))
    assert np.array_equal(cleave.train(tmp_path, sequence=True, **FEW).weights, model.weights)
    some = {0: truth[0], 4: truth[4]}
    by_numbers = cleave.train([(grey, some)], sequence=True, **FEW)
    by_list = cleave.train([(grey, [some.get(index) for index in range(N)])], **FEW)  # window alone says it, too
    assert np.array_equal(by_numbers.weights, by_list.weights) and not np.array_equal(by_numbers.weights, model.weights)
    two = cleave.train([(grey, truth), volume(shift=6)], sequence=True, **FEW)
    assert two.record["data"] == "arrays" and (two.segment(grey, sequence=True) == truth).mean() > 0.95


@pytest.mark.parametrize("sequence", [True, False])
def test_a_network_of_pixels_is_that_of_the_command_and_finds_thin_lines(sequence, command, tmp_path):
    slices, rows, columns = np.ogrid[:N, :HEIGHT, :WIDTH]
    truth = ((rows + columns // 4 + slices) % 16 < 2).astype(np.uint8)
    truth[:, 16:32, 20:36] = 2
    noise = np.random.default_rng(5).integers(0, 30, truth.shape)
    grey = (np.choose(truth, [140, 90, 190]) + noise).astype(np.uint8)
    write(tmp_path / "set", grey, dict(enumerate(truth)))
    (tmp_path / "set" / "labels.tsv").write_text("value\tname\n0\tground\n1\tline\n2\tsquare\n")
    few = {key: value for key, value in FEW.items() if sequence or key != "window"}
    shared = {"sequence": sequence, "pixel_net": True, "learner": "mssvm", **few}

    def segment(model, **options):
        return model.segment(grey, sequence=True, **options) if sequence else np.array([model.segment(image, **options) for image in grey])

    model = cleave.train([(grey, truth)] if sequence else list(zip(grey, truth)), **shared)
    labels = segment(model)
    assert np.array_equal(segment(cleave.train(tmp_path / "set", **shared)), labels)
    model.save(tmp_path / "m.cleave")
    command("segment", "-q", *(["--sequence"] if sequence else []), "-m", tmp_path / "m.cleave", tmp_path / "set" / "images",
            "-o", tmp_path / "out")
    assert np.array_equal(masks_of(tmp_path / "out"), labels)
    assert (labels != truth).mean() < 0.5 * (segment(model, refine=False) != truth).mean()


def test_given_masks_are_propagated_as_the_command_does(command, tmp_path):
    grey, truth = volume()
    given = {1: truth[1], 5: truth[5]}
    propagated = cleave.propagate(grey, given)
    write(tmp_path / "set", grey, given)
    command("propagate", "-q", tmp_path / "set", "-o", tmp_path / "out", "--mask-format", "grey")
    for index in range(N):
        assert np.array_equal(propagated[index], truth[index] if index in given else
                              np.array(Image.open(tmp_path / "out" / f"{index}.png")))
    assert np.array_equal(cleave.propagate(list(grey), [given.get(index) for index in range(N)], threads=1), propagated)
    assert np.array_equal(cleave.propagate(grey, truth), truth)
    with pytest.warns(UserWarning, match="255 is foreground"):
        assert np.array_equal(cleave.propagate(grey, {index: 255 * mask for index, mask in given.items()}), propagated)


def test_what_is_no_sequence_is_refused(model, pairs):
    grey, truth = volume()
    plain = cleave.train(pairs[:2], seed=3, words=20, passes=2)
    for expected, call in [
        (r"volume has shape \(48, 64\)", lambda: model.segment(grey[0], sequence=True)),
        ("not learned of sequences", lambda: plain.segment(grey, sequence=True)),
        ("without maps, box and objects", lambda: model.segment(grey, sequence=True, objects=True)),
        ("threads and progress are of sequences", lambda: model.segment(grey[0], threads=2)),
        ("there are 2 for 7 slices", lambda: cleave.propagate(grey, truth[:2])),
        ("must be in 0..6", lambda: cleave.propagate(grey, {7: truth[0]})),
        (r"masks: frame 2 has shape \(47, 64\)", lambda: cleave.propagate(grey, {2: truth[2, 1:]})),
        ("float64, uint8 in 0..255 is needed", lambda: cleave.propagate(grey / 255, {0: truth[0]})),
        ("volume 0 has shape", lambda: cleave.train([(grey[0], truth[0])], sequence=True)),
        ("frames has no slices", lambda: cleave.propagate([], {})),
    ]:
        with pytest.raises(cleave.UsageError, match=expected):
            call()
    with pytest.raises(cleave.DataError, match="slice 1 is 64x40, those before it are 64x48"):
        model.segment([grey[0], grey[1, :40]], sequence=True)
    with pytest.raises(cleave.DataError, match="none of the 7 frames has a mask"):
        cleave.propagate(grey, {})


def test_ctrl_c_and_progress(model):
    grey, truth = volume()
    seen = []
    cleave.propagate(grey, {0: truth[0]}, progress=lambda *told: seen.append(told))
    assert seen[-1] == ("segmenting", N - 1, N - 1)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.segment(grey, sequence=True, progress=stop)
