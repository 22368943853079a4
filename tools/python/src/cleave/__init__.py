"""Image segmentation with learned graph cuts: libcleave for numpy.

    import cleave

    labels = cleave.box_cut(image, (40, 30, 200, 180))          # the object in a box, without any training
    labels = cleave.refine(image, probabilities)                # a network's map, refined at the pixels
    model = cleave.train("set/")                                # images/ and masks/, or a manifest; pairs of arrays likewise
    labels = model.segment(image)
    labels, objects, table = model.segment(image, objects=True)  # numbers of objects, and their measures
    labels = cleave.graph_cut(unary, couplings)                 # a raw minimum cut, on a grid or a graph
    volume = cleave.propagate(frames, {0: mask})         # one frame's mask propagated to the others; train and segment take
                                                                # volumes, too: sequence=True
    cleave.segment_files("photos", "out", model, export="coco")  # folders and sets, as the command does
    model = cleave.train_graphs(graphs, truth)                  # graphs without images: features, edges and labels of your own
    labels = model.predict(graphs)

Without models also: click_cut (strokes), superpixels, measure, score, read_image. Models: train, train_graphs, load, Model.save,
segment, probabilities, features, Model.predict; they can be pickled. tools/python/tutorial.py makes a picture of each of these, and one of bands.

Images are uint8 arrays [height, width, 3] in RGB order, [height, width, 4] with alpha, which is laid over white, or [height, width]
or [height, width, 1] in grey; labels and masks are uint8 arrays [height, width] with values 0 .. n_labels - 1, and 255 (VOID) where
nothing is known; masks to learn from may be bool or integers of any width. Maps have channels last (channel_axis). Calls work on
copies, trainings on the arrays themselves if they are contiguous. Results are new arrays. The same input and seed give the same
labels and weights on any machine, and those of the command `cleave`.

Errors are exceptions with the library's message, all of them a cleave.Error: UsageError and DataError are also ValueErrors,
InputError and OutputError OSErrors, MissingFileError a FileNotFoundError, OutOfMemory a MemoryError; `path` is the file that the
message begins with, or None. The interpreter's lock is released during every call; models may be shared by threads that segment.
Ctrl-C during a training, or while files are labelled, ends it at the next safe point. Other calls of the main thread that may take
long (segment, features, refine, superpixels and all cuts) raise KeyboardInterrupt at once; what such a call had begun is computed to
its end in the background, and dropped.
"""

from ._errors import DataError, Error, InputError, InternalError, MissingFileError, OutOfMemory, OutputError, UsageError
from ._files import Files, Outcome, file_options, segment_files
from ._graphs import graph_cut
from ._model import Model, Problem, features, load, probabilities, segment, version
from ._objects import Objects, measure
from ._pixels import VOID, Score, box_cut, click_cut, read_image, refine, score, superpixels
from ._sequence import propagate
from ._train import learners, options, train
from ._train_graphs import train_graphs

__version__ = version().split()[-1]

__all__ = [
    "DataError", "Error", "Files", "InputError", "InternalError", "MissingFileError", "Model", "Objects", "OutOfMemory", "Outcome",
    "OutputError", "Problem", "Score", "UsageError", "VOID", "box_cut", "click_cut", "features", "file_options", "graph_cut", "learners",
    "load", "measure", "options", "probabilities", "propagate", "read_image", "refine", "score", "segment", "segment_files",
    "superpixels", "train", "train_graphs", "version",
]
