"""Image segmentation with learned graph cuts: libcleave for numpy.

    import cleave
    model = cleave.train("set/")                     # images/ and masks/, or a manifest; pairs of arrays likewise
    model.save("horses.cleave")
    labels = cleave.segment(model, image)            # image uint8 [height, width, 3] -> labels uint8 [height, width]
    labels = cleave.box_cut(image, (40, 30, 200, 180))   # from a box alone, without a model

Images are uint8 arrays [height, width, 3] in RGB order, or [height, width] in grey; labels and masks are uint8 arrays
[height, width] with values 0 .. n_labels - 1, and 255 (VOID) where nothing is known; masks to learn from may be bool or
integers of any width. Arrays that are contiguous are used where they
lie, others are copied. Results are new arrays. The same input and seed give the same bytes on any machine, and those of
the command `cleave`.

Errors are exceptions with the library's message, all of them a cleave.Error: UsageError and DataError are also ValueErrors,
InputError and OutputError OSErrors, OutOfMemory a MemoryError. The interpreter's lock is released during every call;
models may be shared by threads that segment. Ctrl-C during a training ends it at the next safe point.
"""

from ._errors import DataError, Error, InputError, InternalError, OutOfMemory, OutputError, UsageError
from ._model import Model, Problem, features, marginals, segment, version
from ._pixels import VOID, box_cut, read_image, refine
from ._train import learners, options, train

__all__ = [
    "DataError", "Error", "InputError", "InternalError", "Model", "OutOfMemory", "OutputError", "Problem", "UsageError",
    "VOID", "box_cut", "features", "learners", "marginals", "options", "read_image", "refine", "segment", "train", "version",
]
