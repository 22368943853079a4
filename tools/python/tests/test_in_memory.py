"""Arrays teach what `cleave train` learns of the same images in files: tensors, recipe and record but for where the images were."""

import json
import struct

import numpy as np
import pytest

import cleave

Image = pytest.importorskip("PIL.Image")

N, HEIGHT, WIDTH = 6, 60, 72
QUICK = {"seed": 1, "words": 12, "passes": 4}
FEW = {**QUICK, "superpixels": 60}


@pytest.fixture(scope="module")
def scenes():
    """Images of blocks that touch, with masks, objects, bands and maps."""
    made = []
    for k in range(N):
        rng = np.random.default_rng(k)
        objects = np.zeros((HEIGHT, WIDTH), np.int32)
        for number, (y, x) in enumerate([(6, 8), (6, 24), (28, 8), (28, 24)], 1):
            objects[y + k:y + k + 16, x + 2 * k:x + 2 * k + 16] = number
        mask = (objects > 0).astype(np.uint8)
        image = (40 + 140 * mask[..., None] + rng.integers(0, 40, (HEIGHT, WIDTH, 3))).astype(np.uint8)
        bands = (300 + mask[..., None] * np.array([0, 200, 400, 100, 50]) + rng.integers(0, 200, (HEIGHT, WIDTH, 5))).astype(np.uint16)
        net = (mask[::4, ::4, None] + rng.normal(0, 1, (15, 18, 2))).astype(np.float32)
        made.append({"image": image, "mask": mask, "objects": objects, "bands": bands, "net": net})
    return made


def write(folder, scenes, what="image", columns=("mask",), rows=None):
    """A set with a manifest; `rows` are further columns."""
    for name in ("images", "masks", "objects", "maps"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    ending = "npy" if what == "bands" else "png"
    lines = ["\t".join(["image", *({"mask": "mask", "objects": "instances"}[name] for name in columns), *(rows[0] if rows else [])])]
    for k, scene in enumerate(scenes):
        if what == "bands":
            np.save(folder / "images" / f"{k}.npy", scene["bands"])
        else:
            Image.fromarray(scene["image"]).save(folder / "images" / f"{k}.png")
        if scene["mask"] is not None:
            Image.fromarray(scene["mask"]).save(folder / "masks" / f"{k}.png")
        Image.fromarray(scene["objects"].astype(np.uint8)).save(folder / "objects" / f"{k}.png")
        np.save(folder / "maps" / f"{k}.npy", scene["net"])
        files = {"mask": "" if scene["mask"] is None else f"masks/{k}.png", "objects": f"objects/{k}.png"}
        lines.append("\t".join([f"images/{k}.{ending}", *(files[name] for name in columns), *(rows[1 + k] if rows else [])]))
    (folder / "manifest.tsv").write_text("\n".join(lines) + "\n")
    return folder / "manifest.tsv"


def content(path):
    """The tensors' bytes, and what the file says of itself."""
    whole = path.read_bytes()
    size = struct.unpack("<Q", whole[:8])[0]
    head = json.loads(whole[8:8 + size])
    said = head["__metadata__"]
    said.pop("digest", None)
    said["record"] = {key: value for key, value in json.loads(said["record"]).items() if key not in ("command", "data", "data_digest")}
    return head, whole[8 + size:]


@pytest.fixture
def expect_the_same(command, tmp_path):
    def compare(pairs, manifest, arguments=(), learner="ssvm", options=FEW, **more):
        said = [word for name, value in options.items() for word in ([f"--{name.replace('_', '-')}"] + ([] if value is True else [value]))]
        command("train", "-q", "--data", manifest, "--learner", learner, *said, *arguments, "-o", tmp_path / "files.cleave")
        cleave.train(pairs, learner=learner, **options, **more).save(tmp_path / "arrays.cleave")
        assert content(tmp_path / "arrays.cleave") == content(tmp_path / "files.cleave")
    return compare


def pairs_of(scenes, what="image"):
    return [(scene[what], scene["mask"]) for scene in scenes]


def test_photographs(scenes, tmp_path, expect_the_same):
    manifest = write(tmp_path, scenes)
    expect_the_same(pairs_of(scenes), manifest)


@pytest.mark.parametrize("more", [{"stages": 2}, {"mirror": True}, {"pixel_net": True}])
def test_options_of_training(scenes, tmp_path, expect_the_same, more):
    expect_the_same(pairs_of(scenes), write(tmp_path, scenes), options={**FEW, **more})


def test_finer_regions(scenes, tmp_path, expect_the_same):
    thin = [{**scene, "mask": np.broadcast_to(np.arange(WIDTH) // 2 % 2, (HEIGHT, WIDTH)).astype(np.uint8)} for scene in scenes]
    thin = [{**scene, "image": np.repeat(60 + 90 * scene["mask"][..., None] + scene["image"] // 16, 1, 2)} for scene in thin]
    pairs = pairs_of(thin)
    expect_the_same(pairs, write(tmp_path, thin), options={"seed": 1, "passes": 2})
    assert cleave.train(pairs, seed=1, passes=2).segment(pairs[0][0]).shape == (HEIGHT, WIDTH)


def test_objects(scenes, tmp_path, expect_the_same):
    objects = [scene["objects"] for scene in scenes]
    expect_the_same(pairs_of(scenes), write(tmp_path, scenes, columns=("mask", "objects")), objects=objects)
    alone = [{**scene, "mask": None} for scene in scenes]
    (tmp_path / "files.cleave").unlink()
    expect_the_same(pairs_of(alone), write(tmp_path, alone, columns=("objects",)), objects=objects)
    for wrong, says in [(objects[:1], "there are 1 for 6"), ([objects[0][1:], *objects[1:]], "of shape"), ([-objects[0], *objects[1:]], "0 to")]:
        with pytest.raises(cleave.UsageError, match=says):
            cleave.train(pairs_of(scenes), objects=wrong)


def test_sequences(scenes, tmp_path, expect_the_same):
    part = [{**scene, "mask": scene["mask"] if k not in (1, 4) else None} for k, scene in enumerate(scenes)]
    manifest = write(tmp_path, part, rows=[["sequence"], *([str(k // 3)] for k in range(N))])
    volumes = [([scene["image"] for scene in part[k:k + 3]], [scene["mask"] for scene in part[k:k + 3]]) for k in (0, 3)]
    expect_the_same(volumes, manifest, learner="mssvm", options={**FEW, "sequence": True, "window": 2})


def test_boxes_and_images_without_anything(scenes, tmp_path, expect_the_same):
    part = [{**scene, "mask": scene["mask"] if k % 2 == 0 else None} for k, scene in enumerate(scenes)]
    splits = ["masked", "boxed", "masked", "nothing", "masked", "boxed"]
    manifest = write(tmp_path, part, rows=[["split"], *([split] for split in splits)])
    boxes = [None, (10, 7, 32, 38.5), None, None, None, [(18, 11, 32, 38), (60, 2, 30, 12)]]
    (tmp_path / "boxes.tsv").write_text("image\tx\ty\tw\th\nimages/1.png\t10\t7\t32\t38.5\nimages/5.png\t18\t11\t32\t38\n"
                                        "images/5.png\t60\t2\t30\t12\n")
    arguments = ["--split", "masked", "--weak-split", "boxed", "--boxes", tmp_path / "boxes.tsv", "--unlabelled-split", "nothing"]
    expect_the_same(pairs_of(part), manifest, arguments, boxes=boxes)


def test_maps(scenes, tmp_path, expect_the_same):
    expect_the_same(pairs_of(scenes), write(tmp_path, scenes), ["--maps", f"net={tmp_path / 'maps'}"], maps={"net": [scene["net"] for scene in scenes]})


def test_bands(scenes, tmp_path, expect_the_same):
    expect_the_same(pairs_of(scenes, "bands"), write(tmp_path, scenes, "bands"), bands=True)
    with pytest.raises(cleave.UsageError, match="image 0 is an array of int64; integers of up to 32 bits"):
        cleave.train([(scene["bands"].astype(np.int64), scene["mask"]) for scene in scenes], bands=True)


def test_labels_of_their_own(scenes, tmp_path, expect_the_same):
    three = [{**scene, "mask": np.where(scene["objects"] > 2, 2, scene["mask"]).astype(np.uint8)} for scene in scenes]
    (tmp_path / "labels.tsv").write_text("value\tname\n0\tground\n1\tupper\n2\tlower\n")
    expect_the_same(pairs_of(three), write(tmp_path, three), learner="perceptron", labels=["ground", "upper", "lower"])
