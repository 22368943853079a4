"""Seven tasks, each with the picture that it makes: python3 tutorial.py FOLDER

FOLDER receives box.png, map.png, model.png, cut.png, bands.png, volume.png, files.png and files/. The photos, masks, boxes and maps are those of assets/."""

import pathlib
import sys

import numpy as np
from PIL import Image

import cleave

ASSETS = pathlib.Path(__file__).resolve().parents[2] / "assets"
if len(sys.argv) != 2:
    sys.exit(__doc__)
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)


def table(path):
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    return [dict(zip(header, row)) for row in rows]


def picture(name, image, labels):
    """The photo, and beside it the result, in which the background is darkened."""
    found = np.where(labels[:, :, None] > 0, image, image // 4)
    Image.fromarray(np.hstack([image, found])).save(out / name)


boxes = {row["image"]: tuple(float(row[side]) for side in "xywh") for row in table(ASSETS / "animals" / "boxes.tsv")}
rows = table(ASSETS / "animals" / "manifest.tsv")
train, test = ([row for row in rows if row["split"] == split] for split in ("train", "test"))
name = test[0]["image"]
image = cleave.read_image(ASSETS / "animals" / name)
truth = np.array(Image.open(ASSETS / "animals" / test[0]["mask"]))

# 1. The object in a box, without any training.
labels = cleave.box_cut(image, boxes[name])
picture("box.png", image, labels)
print(f"box    IoU {cleave.score(labels, truth).mean_iou:.2f}")

# 2. A network's map, refined at the pixels.
probable = np.array(Image.open(ASSETS / "animals-maps" / f"{pathlib.Path(name).stem}.png").resize(image.shape[1::-1])) / 255
labels = cleave.refine(image, probable)
picture("map.png", image, labels)
print(f"map    IoU {cleave.score(labels, truth).mean_iou:.2f}, before {cleave.score(probable > 0.5, truth).mean_iou:.2f}")

# 3. A model of photos with masks, and the objects that it finds.
pairs = [(cleave.read_image(ASSETS / "animals" / row["image"]), np.array(Image.open(ASSETS / "animals" / row["mask"]))) for row in train]
model = cleave.train(pairs, seed=1, words=100)
model.save(out / "animals.cleave")
labels, objects, measures = cleave.load(out / "animals.cleave").segment(image, objects=True, min_area=100)
picture("model.png", image, labels)
print(f"model  IoU {cleave.score(labels, truth).mean_iou:.2f}, objects of {', '.join(map(str, measures['area']))} pixels")

# 4. A raw cut: how much lighter or darker than the mean of the box's border a pixel is; couplings join similar neighbours.
x, y, width, height = (int(side) for side in boxes[name])
grey = image.mean(axis=2)
inside = np.zeros(grey.shape, bool)
inside[y:y + height, x:x + width] = True
unary = np.where(inside, np.abs(grey - np.median(grey[~inside])) / grey[~inside].std() - 1, -10)
steps = np.stack([np.abs(np.diff(grey, axis=1, append=0)), np.abs(np.diff(grey, axis=0, append=0))], axis=2)
labels = cleave.graph_cut(unary, 2 * np.exp(-steps / 10))
picture("cut.png", image, labels)
print(f"cut    IoU {cleave.score(labels, truth).mean_iou:.2f}")

# 5. Bands of a satellite, here drawn: four of 16 bits, two classes, and speckle because of which single pixels do not suffice.
random = np.random.default_rng(1)
spectra = np.array([[900, 1100, 1000, 2600], [1000, 1200, 1300, 2000]])


def scene():
    field = Image.fromarray(random.normal(size=(8, 8)).astype("f4")).resize((128, 128), Image.Resampling.BICUBIC)
    truth = (np.asarray(field) > 0).astype(np.uint8)
    return (spectra[truth] * random.gamma(9, 1 / 9, (128, 128, 4))).astype(np.uint16), truth


model = cleave.train([scene() for _ in range(4)], bands=True, labels=["grass", "soil"], blocks="colour,maps", seed=1)
bands, truth = scene()
labels = model.segment(bands, refine=True)
picture("bands.png", (bands[:, :, 3:0:-1] / 16).clip(0, 255).astype(np.uint8), labels)
print(f"bands  IoU {cleave.score(labels, truth).mean_iou:.2f}")

# 6. A volume, here drawn: a ball in noise, slice by slice, of which three have masks; and one mask propagated to the others without a model.
slices, rows, columns = np.ogrid[-12:12, -32:32, -32:32]
ball = (4 * slices**2 + (rows - slices)**2 + columns**2 < 26**2).astype(np.uint8)
volume = (100 + 30 * ball + random.normal(scale=20, size=ball.shape)).clip(0, 255).astype(np.uint8)
model = cleave.train([(volume, {4: ball[4], 12: ball[12], 20: ball[20]})], sequence=True, superpixels=150, words=20, seed=1)
labels = model.segment(volume, sequence=True)
propagated = cleave.propagate(volume, {12: ball[12]})
picture("volume.png", np.repeat(np.vstack(volume[2::5])[:, :, None], 3, axis=2), np.vstack(labels[2::5]))
print(f"volume IoU {cleave.score(np.vstack(labels), np.vstack(ball)).mean_iou:.2f}, "
      f"one mask propagated {cleave.score(np.vstack(propagated), np.vstack(ball)).mean_iou:.2f}")

# 7. A folder or a set in one call, as the command `cleave segment` labels it: masks, and beside them overlays and a table of objects.
done = cleave.segment_files(ASSETS / "animals" / "manifest.tsv", out / "files", out / "animals.cleave", split="test", overlay=True, objects=True,
                            min_area=100, overwrite=True, each=lambda outcome: print(f"       {outcome.name}: {outcome.objects} objects"))
labels, truth = (np.array(Image.open(path)) for path in (done.outcomes[0].mask, ASSETS / "animals" / test[0]["mask"]))
picture("files.png", image, labels)
print(f"files  IoU {cleave.score(labels, truth).mean_iou:.2f} of the first of {done.done} photos with {done.objects} objects")
