"""A Processing provider for QGIS 3.22 or later: the command `cleave` trains on a layer of polygons and segments rasters.

Link this folder into the plugins of a profile (~/.local/share/QGIS/QGIS3/profiles/default/python/plugins) and enable it. The command
is what the environment's CLEAVE names, else `cleave` of the PATH."""

from qgis.core import QgsApplication


class Plugin:
    def __init__(self):
        self.provider = None

    def initProcessing(self):
        from .provider import Provider

        self.provider = Provider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self):
        self.initProcessing()

    def unload(self):
        QgsApplication.processingRegistry().removeProvider(self.provider)


def classFactory(_interface):
    return Plugin()
