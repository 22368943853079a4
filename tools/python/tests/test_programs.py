"""The programs beside the package, and what pip is told."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ANIMALS


def test_the_example_runs(tmp_path):
    example = pathlib.Path(__file__).parents[1] / "example.py"
    told = subprocess.run([sys.executable, example, ANIMALS], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert float(told.split()[-1]) > 0.5, told


def test_the_tutorial_makes_seven_pictures(tmp_path):
    from PIL import Image

    tutorial = pathlib.Path(__file__).parents[1] / "tutorial.py"
    told = subprocess.run([sys.executable, tutorial, tmp_path], check=True, capture_output=True, text=True).stdout.splitlines()
    outcomes = [line for line in told if line.startswith(" ")]
    told = [line for line in told if line not in outcomes]
    assert [line.split()[0] for line in told] == ["box", "map", "model", "cut", "bands", "volume", "files"]
    for line, least in zip(told, (0.75, 0.5, 0.4, 0.5, 0.9, 0.85, 0.4)):
        assert float(line.split()[2].strip(",")) > least, line
    assert {Image.open(tmp_path / f"{name}.png").size[1] for name in ("box", "map", "model", "cut", "files")} == {
        Image.open(ANIMALS / "images" / "0025.jpg").height}
    assert len(outcomes) == len(list((tmp_path / "files").rglob("overlays/**/*.*g"))) > 1 and (tmp_path / "files" / "objects.tsv").exists()


@pytest.mark.parametrize("name", ["example.py", "tutorial.py"])
def test_a_program_without_its_argument_says_how_it_is_called(name):
    told = subprocess.run([sys.executable, pathlib.Path(__file__).parents[1] / name], capture_output=True, text=True)
    assert told.returncode == 1 and f"python3 {name} " in told.stderr and "Traceback" not in told.stderr


def test_without_a_library_pip_is_told_what_to_do(tmp_path):
    """pip shows what the hook prints; no traceback."""
    hook = "import sys; sys.path.insert(0, sys.argv[1]); import backend; print(backend.get_requires_for_build_wheel())"
    call = [sys.executable, "-c", hook, pathlib.Path(__file__).parents[1]]
    nowhere = {**os.environ, "PKG_CONFIG_PATH": str(tmp_path), "PKG_CONFIG_LIBDIR": str(tmp_path)}
    told = subprocess.run(call, env=nowhere, capture_output=True, text=True)
    assert told.returncode == 1 and "make wheel && pip install build/wheel/*.whl" in told.stderr and "Traceback" not in told.stderr
    assert "cffi" in subprocess.run(call, check=True, capture_output=True, text=True).stdout
