"""Many files in one call: the bytes of every file that the command writes, results as they come, resuming, refusals."""

import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from PIL import Image
from test_sequence import FEW, N, volume, write

import cleave

BESIDE = {"overlay": True, "cutout": True, "objects": True, "export": ["coco", "labelme", "voc", "yolo", "geojson"], "report": "report",
          "status": "status.tsv"}
ARGUMENTS = ["--overlay", "--cutout", "--objects", "--export", "coco,labelme,voc,yolo,geojson", "--report", "report", "--status",
             "status.tsv"]


@pytest.fixture(scope="module")
def photos(pairs, tmp_path_factory):
    """Four photos with masks: images/ and masks/."""
    folder = tmp_path_factory.mktemp("photos")
    for what in "images", "masks":
        (folder / what).mkdir()
    for index, (image, mask) in enumerate(pairs):
        Image.fromarray(image).save(folder / "images" / f"{index}.png")
        Image.fromarray(mask).save(folder / "masks" / f"{index}.png")
    return folder


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.cleave"
    model.save(path)
    return path


@pytest.fixture(scope="module")
def slices(tmp_path_factory):
    """A volume with two given masks, and the path of a model of slices."""
    folder = tmp_path_factory.mktemp("slices")
    grey, truth = volume()
    write(folder / "set", grey, {1: truth[1], 5: truth[5]})
    cleave.train([(grey, truth)], sequence=True, **FEW).save(folder / "m.cleave")
    return folder


def files(folder):
    """All files below a folder with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


@pytest.fixture
def alike(command, tmp_path, monkeypatch):
    """Runs the command in one folder and segment_files in others, and expects the same files; returns their names and the results."""

    def run(arguments, *calls):
        results = []
        for name, work in [("command", lambda: command(*arguments)), *((str(index), call) for index, call in enumerate(calls))]:
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            results.append(work())
        expected = files(tmp_path / "command")
        for index in range(len(calls)):
            found = files(tmp_path / str(index))
            assert [name for name in {*expected, *found} if expected.get(name) != found.get(name)] == []
        return list(expected), results[1:]

    return run


def test_photographs_are_those_of_the_command_with_all_that_is_beside_them(alike, photos, path, model):
    def in_memory():
        done = cleave.segment_files([photos / "images"], "out", model, **BESIDE, threads=3)
        page = pathlib.Path("report/index.html")  # names the model's file, which there is none of
        page.write_bytes(page.read_bytes().replace(b"<dd>the model</dd>", b"<dd>%s</dd>" % os.fsencode(path), 1))
        return done

    names, (by_path, by_model) = alike(["segment", "-q", "-m", path, photos / "images", "-o", "out", *ARGUMENTS],
                                       lambda: cleave.segment_files(str(photos / "images"), "out", path, **BESIDE), in_memory)
    assert {"out/0.png", "out/overlays/3.png", "out/cutouts/1.png", "out/objects.tsv", "out/coco.json", "out/geojson/2.geojson",
            "report/index.html", "status.tsv"} <= set(names)
    assert by_path == by_model and (by_path.done, by_path.earlier, by_path.failed) == (4, 0, 0)
    assert [outcome.mask for outcome in by_path.outcomes] == [f"out/{index}.png" for index in range(4)]
    assert by_path.objects == sum(outcome.objects for outcome in by_path.outcomes) > 0
    assert all(outcome.error is None and outcome.share is None and not outcome.is_earlier for outcome in by_path.outcomes)


def test_boxes_frames_slices_and_given_masks_are_those_of_the_command(alike, photos, slices, tmp_path):
    for index, (arguments, call) in enumerate([
        (["segment", "-q", "--boxes", "10,10,90,70", photos / "images"],
         lambda: cleave.segment_files(photos / "images", "out", boxes=(10, 10, 90, 70), **BESIDE)),
        (["propagate", "-q", slices / "set"], lambda: cleave.segment_files(slices / "set", "out", propagate=True, **BESIDE)),
        (["segment", "-q", "--sequence", "-m", slices / "m.cleave", slices / "set"],
         lambda: cleave.segment_files(slices / "set", "out", slices / "m.cleave", sequence=True, **BESIDE)),
        (["segment", "-q", "--from-masks", photos, "--min-area", "30"],
         lambda: cleave.segment_files(None, "out", from_masks=photos, min_area=30, **BESIDE)),
        (["segment", "-q", "--from-masks", photos / "masks", photos / "images"],
         lambda: cleave.segment_files(photos / "images", "out", from_masks=photos / "masks", **BESIDE)),
    ]):
        names, (done,) = alike([*arguments, "-o", "out", *ARGUMENTS], call)
        assert done.done == len(done.outcomes) == (4 if "--sequence" not in arguments and "propagate" not in arguments else
                                                   N if "--sequence" in arguments else N - 2)
        assert {"out/objects.tsv", "out/coco.json", "report/index.html"} <= set(names)
        for folder in "command", "0":
            (tmp_path / folder).rename(tmp_path / f"{index}-{folder}")


@pytest.mark.parametrize("arguments, options", [
    ([], {"probabilities": True}),
    (["--label", "foreground", "--samples", "20", "--seed", "5", "--overlay"],
     {"probabilities": True, "label": "foreground", "samples": 20, "seed": 5, "overlay": True}),
    (["--all-labels"], {"all_labels": True}),
    (["--margins", "--side", "64"], {"margins": True, "side": 64}),
])
def test_probabilities_are_those_of_the_command(arguments, options, alike, photos, path, model):
    _, (done, in_memory) = alike(["probabilities", "-q", "-m", path, photos / "images", "-o", "out", *arguments],
                                 lambda: cleave.segment_files(photos / "images", "out", path, **options),
                                 lambda: cleave.segment_files(photos / "images", "out", model, **options))
    assert done == in_memory
    if "probabilities" in options:
        assert all(0 <= outcome.share <= 1 and outcome.entropy >= 0 and outcome.method for outcome in done.outcomes)
    else:
        assert all(outcome.share is None and outcome.mask.endswith(".npy") for outcome in done.outcomes)


def test_options_of_the_table_and_of_images_count(alike, photos, path):
    alike(["segment", "-q", "-m", path, "-d", photos, "-o", "out", "--mask-format", "binary", "--refine", "--min-area", "20", "--shard", "2/2",
           "--cutout-label", "foreground,0", "--crop", "--range", "0,255"],
          lambda: cleave.segment_files(None, "out", path, data=photos, mask_format="binary", refine=True, min_area=np.int64(20), shard=(2, 2),
                                       cutout_label=["foreground", 0], crop=True, range=(0, 255)),
          lambda: cleave.segment_files(None, "out", path, data=photos, mask_format="binary", refine=True, min_area=20, shard="2/2",
                                       cutout_label="foreground,0", crop=np.bool_(True), range=(0, 255)))


def test_results_come_in_order_and_are_counted_with_failures(photos, path, tmp_path):
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no image")
    images = [photos / "images" / "0.png", bad, tmp_path / "missing.png", photos / "images" / "1.png"]
    seen, told = [], []
    with pytest.warns(UserWarning, match="2 of 4 inputs failed, the first: .*bad.png: ") as warned:
        done = cleave.segment_files(images, tmp_path / "out", path, each=seen.append, progress=lambda *said: told.append(said), threads=2)
    assert len(warned) == 1 and seen == done.outcomes and told[-1] == ("segmenting", 4, 4)
    assert [outcome.name for outcome in seen] == [str(image) for image in images]
    assert (done.done, done.failed, done.earlier) == (2, 2, 0)
    assert seen[1].mask is None and isinstance(seen[1].error, cleave.DataError) and seen[1].error.path == str(bad)
    assert isinstance(seen[2].error, cleave.InputError) and str(seen[2].error) == seen[2].message
    with pytest.raises(cleave.DataError, match="bad.png: ") as raised:  # of an only input, and of the first with fail_fast
        cleave.segment_files(bad, tmp_path / "one", path)
    assert raised.value.path == str(bad)
    with pytest.raises(cleave.DataError, match="bad.png: "):
        cleave.segment_files(images, tmp_path / "fast", path, fail_fast=True)
    assert not (tmp_path / "one").exists()


def test_a_run_that_was_stopped_is_resumed_to_the_same_bytes(photos, path, model, tmp_path):
    cleave.segment_files(photos / "images", tmp_path / "whole", model, objects=True, export="coco")

    def stop(outcome):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cleave.segment_files(photos / "images", tmp_path / "parts", path, objects=True, export="coco", each=stop, threads=1)
    n_made = len(list((tmp_path / "parts").glob("*.png")))
    assert 0 < n_made < 4
    done = cleave.segment_files(photos / "images", tmp_path / "parts", model, objects=True, export="coco", resume=True)
    assert (done.earlier, done.done) == (n_made, 4 - n_made) and [outcome.is_earlier for outcome in done.outcomes].count(True) == n_made
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    again = cleave.segment_files(photos / "images", tmp_path / "parts", path, objects=True, export="coco", resume=True)
    assert (again.earlier, again.done) == (4, 0) and files(tmp_path / "parts") == files(tmp_path / "whole")


def test_ctrl_c_ends_it_and_what_is_raised_comes_out(photos, path, tmp_path):
    def interrupt(*_):
        if not sent:
            sent.append(True)
            os.kill(os.getpid(), signal.SIGINT)
            waited.wait(0.5)

    sent, waited = [], threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            cleave.segment_files(photos / "images", tmp_path / "out", path, threads=1, each=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sent and 0 < len(list((tmp_path / "out").glob("*.png"))) < 4

    def fail(*_):
        raise ZeroDivisionError("each")

    for option in "each", "progress":
        with pytest.raises(ZeroDivisionError):
            cleave.segment_files(photos / "images", tmp_path / option, path, threads=1, **{option: fail})


@pytest.mark.parametrize("call, expected", [
    (lambda p, m: cleave.segment_files(p, "out"), "nothing says how images are labelled"),
    (lambda p, m: cleave.segment_files(p, "out", m, boxes=(1, 2, 3, 4)), "^boxes cannot be used with model: each is a way to label"),
    (lambda p, m: cleave.segment_files(p, "out", m, propagate=True), "propagate cannot be used with model"),
    (lambda p, m: cleave.segment_files(p, "out", m, ovrlay=True), "no option ovrlay; did you mean overlay"),
    (lambda p, m: cleave.segment_files(p, "out", m, null=True), "no option null"),
    (lambda p, m: cleave.segment_files(p, "out", m, overlay="yes"), "overlay is 'yes', must be True or False"),
    (lambda p, m: cleave.segment_files(p, "out", m, export=True), "export is True, must be a value"),
    (lambda p, m: cleave.segment_files(p, "out", m, export="pdf"), '^export: .*"pdf"'),
    (lambda p, m: cleave.segment_files(p, "out", m, min_area=-1), "^min_area: "),
    (lambda p, m: cleave.segment_files(p, "out", m, overwrite=True, resume=True), "overwrite and resume exclude each other"),
    (lambda p, m: cleave.segment_files(p, "out", m, all_labels=True, margins=True), "exclude each other"),
    (lambda p, m: cleave.segment_files(p, "out", m, probabilities=True, objects=True), "^objects cannot be used with probabilities"),
    (lambda p, m: cleave.segment_files(p, "out", m, probabilities=True, refine=True), "refine cannot be used with probabilities"),
    (lambda p, m: cleave.segment_files(p, "out", boxes=(1, 2, 3, 4), probabilities=True), "^probabilities cannot be used with "),
    (lambda p, m: cleave.segment_files(p, "out", m, label="foreground"), "label needs probabilities=True"),
    (lambda p, m: cleave.segment_files(p, "out", m, samples=3), "samples needs decode='min-loss'"),
    (lambda p, m: cleave.segment_files(p, "out", m, clear_border=True), "^clear_border needs objects"),
    (lambda p, m: cleave.segment_files(p, "out", m, rle=True), "^rle: goes with export='coco'"),
    (lambda p, m: cleave.segment_files(p, "out.png", m, objects=True), "^objects cannot be used with output out.png"),
    (lambda p, m: cleave.segment_files(p, "-", m), "output: '-' is the command's standard output"),
    (lambda p, m: cleave.segment_files(["-"], "out", m), "images: '-' is the command's standard input"),
    (lambda p, m: cleave.segment_files(p, m, "out"), "output is <cleave.Model"),
    (lambda p, m: cleave.segment_files(p, "out", 7), "model is a int"),
    (lambda p, m: cleave.segment_files(7, "out", m), "images is 7"),
    (lambda p, m: cleave.segment_files([np.zeros((3, 3))], "out", m), "images: item 0 is a ndarray.*Model.segment labels arrays"),
    (lambda p, m: cleave.segment_files([], "out", m), "no images"),
    (lambda p, m: cleave.segment_files(p, "out", m, sequence="yes"), "sequence is 'yes'"),
    (lambda p, m: cleave.segment_files(p, "out", m, threads=-1), "threads is -1"),
    (lambda p, m: cleave.segment_files(p, "out", m, each=3), "each is 3, a function is needed"),
    (lambda p, m: cleave.segment_files(p, "out", m, maps={"net": 3}), "maps: net is a int"),
])
def test_what_cannot_be_met_is_refused_before_anything_is_written(call, expected, photos, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cleave.UsageError, match=expected):
        call([photos / "images" / "0.png"] if "out.png" in expected else photos / "images", model)
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_are_there_and_models_that_are_not_are_told_by_their_kinds(photos, path, tmp_path):
    cleave.segment_files(photos / "images", tmp_path / "out", path)
    with pytest.raises(cleave.OutputError, match="out.*; .*overwrite") as raised:
        cleave.segment_files(photos / "images", tmp_path / "out", path)
    assert "--" not in str(raised.value)
    assert cleave.segment_files(photos / "images", tmp_path / "out", path, overwrite=True).done == 4
    with pytest.raises(cleave.MissingFileError):
        cleave.segment_files(photos / "images", tmp_path / "new", tmp_path / "no.cleave")
    with pytest.raises(cleave.InputError):
        cleave.segment_files(tmp_path / "nothing", tmp_path / "new", path)
    assert not (tmp_path / "new").exists()


def test_the_keywords_are_those_of_the_table():
    found = cleave.file_options()
    assert {"data", "split", "overlay", "export", "report", "min_area", "resume", "shard", "all_labels", "from_split", "memory"} <= set(found)
    assert not {"model", "output", "null", "no_refine", "boxes"} & set(found) and all(found.values())


def test_a_signal_ends_a_program_that_labels_files(photos, path, tmp_path):
    """In a process of its own, whose main thread waits in segment_files."""
    program = ("import cleave, sys\n"
               "def each(outcome): print(outcome.name, flush=True); sys.stdin.readline()\n"
               "try: cleave.segment_files(sys.argv[1], sys.argv[2], sys.argv[3], threads=1, each=each)\n"
               "except KeyboardInterrupt: print('interrupted', flush=True)\n")
    with subprocess.Popen([sys.executable, "-c", program, photos / "images", tmp_path / "out", path], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)) as run:
        assert run.stdout.readline().endswith("0.png\n")
        run.send_signal(signal.SIGINT)
        threading.Event().wait(0.5)
        told, _ = run.communicate("\n" * 9, timeout=60)
    assert told.splitlines()[-1] == "interrupted" and run.returncode == 0
