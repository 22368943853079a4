"""What the toolbox shows: train a model, segment a raster."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from qgis.core import (
    QgsCoordinateTransform,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterField,
    QgsProcessingParameterFile,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterMultipleLayers,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsProcessingParameterRasterLayer,
    QgsProcessingParameterVectorDestination,
    QgsProcessingParameterVectorLayer,
    QgsProcessingProvider,
    QgsVectorFileWriter,
)


def interrupt(process, feedback):
    """Waits until the command ends or the run is cancelled; then one SIGINT ends it at the next safe point: a second one would end it
    at once, with files half written."""
    while process.poll() is None:
        if feedback.isCanceled():
            process.send_signal(signal.SIGINT)
            return
        time.sleep(0.2)


def cleave(feedback, *arguments):
    """Runs the command; what it says goes to the log, "cleave: tiles 3/64" moves the bar, cancelling interrupts it. False: it was
    cancelled."""
    command = [os.environ.get("CLEAVE", "cleave"), *map(str, arguments)]
    feedback.pushCommandInfo(" ".join(command))
    environment = {**os.environ, "CLEAVE_HEARTBEAT": "1"}
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment)
    except OSError as error:
        raise QgsProcessingException(f"{command[0]}: {error.strerror}; install cleave, or name the command in CLEAVE") from error
    last = ""
    watcher = threading.Thread(target=interrupt, args=(process, feedback), daemon=True)
    watcher.start()
    with process:
        for line in process.stdout:
            last = line.rstrip()
            feedback.pushConsoleInfo(last)
            done = re.match(r"cleave: [a-z ]+ (\d+)/(\d+)", last)
            if done and int(done[2]):
                feedback.setProgress(100 * int(done[1]) / int(done[2]))
    watcher.join()
    if feedback.isCanceled():
        return False
    if process.returncode:
        raise QgsProcessingException(last or f"{command[0]} ends with status {process.returncode}")
    return True


def with_ending(path, ending):
    """The command writes a file, not a folder, if the name ends like this."""
    return path if path.endswith(ending) else path + ending


def load_as(context, named, path):
    """QGIS opens an output under this name."""
    loaded = context.layersToLoadOnCompletion()
    if path != named and named in loaded:
        loaded[path] = loaded.pop(named)
        context.setLayersToLoadOnCompletion(loaded)


def unfinished(path):
    """A folder next to the output, in which it is made: of a run that is cancelled or fails nothing is left, and what stood at the
    output's place stays."""
    return tempfile.TemporaryDirectory(prefix=".cleave-", dir=os.path.dirname(os.path.abspath(path)))


def path_of(layer):
    path = layer.source().split("|")[0]
    if not os.path.isfile(path):
        raise QgsProcessingException(f"{layer.name()}: is not a file: {path}")
    return path


class Algorithm(QgsProcessingAlgorithm):
    def createInstance(self):
        return type(self)()

    def name(self):
        return self.NAME

    def displayName(self):
        return self.TITLE

    def shortHelpString(self):
        return self.__doc__


class Train(Algorithm):
    """Learns from polygons that show samples of each class on one or several GeoTIFFs. Polygons of another coordinate system
    are converted; rasters of one training have the same bands. What no polygon covers is not known, unless the box is ticked: then it
    is one more class, background. The model is a file."""

    NAME = "train"
    TITLE = "Train on polygons"

    def initAlgorithm(self, _configuration=None):
        self.addParameter(QgsProcessingParameterMultipleLayers("RASTERS", "GeoTIFFs", QgsProcessing.TypeRaster))
        self.addParameter(QgsProcessingParameterVectorLayer("POLYGONS", "Polygons", [QgsProcessing.TypeVectorPolygon]))
        self.addParameter(QgsProcessingParameterField("FIELD", "Field that names what a polygon shows", parentLayerParameterName="POLYGONS"))
        self.addParameter(QgsProcessingParameterNumber("AREA", "Pixels of a region", defaultValue=100, minValue=4))
        self.addParameter(QgsProcessingParameterBoolean("REST", "What no polygon covers is background", defaultValue=False))
        self.addParameter(QgsProcessingParameterNumber("SEED", "Seed", defaultValue=1, minValue=0))
        self.addParameter(QgsProcessingParameterFileDestination("MODEL", "Model", "Models of cleave (*.cleave)"))

    def processAlgorithm(self, parameters, context, feedback):
        rasters = self.parameterAsLayerList(parameters, "RASTERS", context)
        polygons = self.parameterAsVectorLayer(parameters, "POLYGONS", context)
        field = self.parameterAsString(parameters, "FIELD", context)
        model = self.parameterAsFileOutput(parameters, "MODEL", context)
        outside = "background" if self.parameterAsBool(parameters, "REST", context) else "void"
        if not rasters or not polygons:
            raise QgsProcessingException("rasters and a layer of polygons are wanted")
        with tempfile.TemporaryDirectory() as work, unfinished(model) as made:
            os.mkdir(f"{work}/images")
            for number, raster in enumerate(rasters):
                if raster.crs() != rasters[0].crs():
                    raise QgsProcessingException(f"{raster.name()}: is of another coordinate system than {rasters[0].name()}")
                path = path_of(raster)
                os.symlink(os.path.abspath(path), f"{work}/images/{number}-{os.path.basename(path)}")
            options = QgsVectorFileWriter.SaveVectorOptions()
            options.driverName = "GeoJSON"
            options.layerOptions = ["RFC7946=NO", "COORDINATE_PRECISION=12"]
            options.ct = QgsCoordinateTransform(polygons.crs(), rasters[0].crs(), context.transformContext())
            written = QgsVectorFileWriter.writeAsVectorFormatV3(polygons, f"{work}/polygons.geojson", context.transformContext(), options)
            if written[0] != QgsVectorFileWriter.NoError:
                raise QgsProcessingException(written[1])
            if not cleave(feedback, "import", "geojson", f"{work}/polygons.geojson", "--images", f"{work}/images", "--property", field,
                          "--outside", outside, "--train-share", 1, "-o", f"{work}/set"):
                return {}
            with open(f"{work}/set/labels.tsv", encoding="utf-8") as table:
                labels = [line.split("\t")[:2] for line in table if line[0].isdigit()]
            for value, label in labels:
                feedback.pushInfo(f"{value} in the rasters of labels is {label.strip()}")
            couplings = ["--learner", "mssvm", "--pairwise", "potts"] if len(labels) > 2 else []
            if not cleave(feedback, "train", f"{work}/set", "-o", f"{made}/model.cleave", "--scale", 1, "--region-area",
                          self.parameterAsInt(parameters, "AREA", context), "--seed", self.parameterAsInt(parameters, "SEED", context),
                          *couplings):
                return {}
            os.replace(f"{made}/model.cleave", model)
        return {"MODEL": model}


class Segment(Algorithm):
    """Labels every pixel of a GeoTIFF with a model: a GeoTIFF in the same place whose values are the model's labels, and, if wanted, a
    layer of polygons, one for each connected piece of a label, whose fields say which. Pieces of fewer pixels than the least area are
    merged with what surrounds them. Large rasters are read tile by tile, and one cut over all of them finds the labels."""

    NAME = "segment"
    TITLE = "Segment a raster"

    def initAlgorithm(self, _configuration=None):
        self.addParameter(QgsProcessingParameterRasterLayer("RASTER", "GeoTIFF"))
        self.addParameter(QgsProcessingParameterFile("MODEL", "Model"))
        self.addParameter(QgsProcessingParameterNumber("LEAST", "Least area of a piece, in pixels", defaultValue=0, minValue=0))
        self.addParameter(QgsProcessingParameterRasterDestination("LABELS", "Labels"))
        self.addParameter(QgsProcessingParameterVectorDestination("POLYGONS", "Polygons", QgsProcessing.TypeVectorPolygon, None, True, False))

    def processAlgorithm(self, parameters, context, feedback):
        raster = self.parameterAsRasterLayer(parameters, "RASTER", context)
        named = self.parameterAsOutputLayer(parameters, "LABELS", context)
        labels = with_ending(named, ".tif")
        if not raster:
            raise QgsProcessingException("a raster is wanted")
        load_as(context, named, labels)
        results = {"LABELS": labels}
        source = path_of(raster)
        command = ["segment", "-m", self.parameterAsFile(parameters, "MODEL", context), source, "--mask-format", "palette"]
        least = self.parameterAsInt(parameters, "LEAST", context)
        if least:
            command += ["--min-area", least]
        layer = self.parameterAsOutputLayer(parameters, "POLYGONS", context)
        if layer:
            results["POLYGONS"] = with_ending(layer, ".geojson")
            load_as(context, layer, results["POLYGONS"])
        with unfinished(labels) as made:
            if not cleave(feedback, *command, "-o", f"{made}/labels.tif"):
                return {}
            if layer:  # the polygons of the labels that are there: --resume
                stem = os.path.splitext(os.path.basename(source))[0]
                os.mkdir(f"{made}/out")
                os.link(f"{made}/labels.tif", f"{made}/out/{stem}.tif")
                if not cleave(feedback, *command, "-o", f"{made}/out", "--export", "geojson", "--resume"):
                    return {}
                shutil.move(f"{made}/out/geojson/{stem}.geojson", results["POLYGONS"])
            os.replace(f"{made}/labels.tif", labels)
        return results


class Provider(QgsProcessingProvider):
    def loadAlgorithms(self):
        self.addAlgorithm(Train())
        self.addAlgorithm(Segment())

    def supportedOutputRasterLayerExtensions(self):
        return ["tif"]

    def supportedOutputVectorLayerExtensions(self):
        return ["geojson"]

    def id(self):
        return "cleave"

    def name(self):
        return "cleave"
