import os
import pathlib
import subprocess

import numpy as np
import pytest

import cleave

ROOT = pathlib.Path(__file__).resolve().parents[3]
ANIMALS = ROOT / "assets" / "animals"


@pytest.fixture(scope="session")
def command():
    """Runs the command line program: command("segment", "-m", ..)."""
    program = pathlib.Path(os.environ["CLEAVE_BUILD"]) / "cleave"
    return lambda *arguments: subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True)


@pytest.fixture(scope="session")
def pairs():
    """Four training images with masks, as arrays."""
    rows = [line.split("\t") for line in (ANIMALS / "manifest.tsv").read_text().splitlines()]
    image, mask = rows[0].index("image"), rows[0].index("mask")
    return [(cleave.read_image(ANIMALS / row[image]), cleave.read_image(ANIMALS / row[mask])[:, :, 0].astype(bool).astype(np.uint8))
            for row in rows[1:5]]


@pytest.fixture(scope="session")
def model(pairs):
    return cleave.train(pairs, seed=3, words=50, passes=5)
