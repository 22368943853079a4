/* The table of the files that an image has beside its mask: the path of each, what it needs, which options want it and
 * which function writes it. A new kind of file is a row here and a function. */
#include "batch/file_kinds.h"

#include "batch/batch.h"
#include "batch/raster_files.h"

static bool wants_overlay(const struct batch *run)
{
    return run->options.overlay;
}

static bool wants_cutout(const struct batch *run)
{
    return run->options.cutout && !output_is_stream(&run->options);
}

static bool wants_objects(const struct batch *run)
{
    return run->options.objects;
}

static bool wants_labelme(const struct batch *run)
{
    return run->options.exports & CLV_EXPORT_LABELME;
}

static bool wants_yolo(const struct batch *run)
{
    return run->options.exports & CLV_EXPORT_YOLO;
}

static bool wants_geojson(const struct batch *run)
{
    return run->options.exports & CLV_EXPORT_GEOJSON;
}

static bool wants_voc(const struct batch *run)
{
    return run->options.exports & CLV_EXPORT_VOC;
}

static bool wants_voc_objects(const struct batch *run)
{
    return wants_voc(run) && (run->options.objects || run->boxes);
}

static bool wants_coco(const struct batch *run)
{
    return run->options.exports & CLV_EXPORT_COCO;
}

const struct file_kind file_kinds[N_FILES] = {
    [FILE_OVERLAY] = {"overlays/", ".png", false, NEEDS_PIXELS | NEEDS_BESIDE, wants_overlay, overlay_write, ".tif",
                      raster_overlay_write},
    [FILE_CUTOUT] = {"cutouts/", ".png", false, NEEDS_PIXELS | NEEDS_LABELS, wants_cutout, cutout_write, ".tif",
                     raster_cutout_write},
    [FILE_OBJECTS] = {"objects/", ".png", false, NEEDS_PIXELS | NEEDS_LABELS | NEEDS_FOLDER, wants_objects,
                      objects_write, ".tif", raster_objects_write},
    [FILE_LABELME] = {"labelme/", ".json", false, NEEDS_LABELS | NEEDS_FOLDER, wants_labelme, labelme_write, NULL,
                      raster_labelme_write},
    [FILE_YOLO] = {"yolo/labels/", ".txt", false, NEEDS_LABELS | NEEDS_FOLDER, wants_yolo, yolo_write, NULL,
                   raster_yolo_write},
    [FILE_GEOJSON] = {"geojson/", ".geojson", false, NEEDS_LABELS | NEEDS_FOLDER, wants_geojson, geojson_write, NULL,
                      raster_geojson_write},
    [FILE_VOC] = {"voc/Annotations/", ".xml", false, NEEDS_LABELS | NEEDS_FOLDER, wants_voc, voc_write, NULL,
                  raster_voc_write},
    [FILE_CLASSES] = {"voc/SegmentationClass/", ".png", false, NEEDS_LABELS | NEEDS_FOLDER, wants_voc,
                      voc_classes_write, NULL, raster_classes_write},
    [FILE_CLASS_OBJECTS] = {"voc/SegmentationObject/", ".png", false, NEEDS_LABELS | NEEDS_FOLDER, wants_voc_objects,
                            voc_objects_write, NULL, raster_class_objects_write},
    [FILE_ROWS] = {PARTS_FOLDER "/objects/", ".tsv", true, NEEDS_PIXELS | NEEDS_LABELS | NEEDS_FOLDER, wants_objects,
                   object_rows_write, NULL, raster_object_rows_write},
    [FILE_ANNOTATIONS] = {PARTS_FOLDER "/coco/", ".json", true, NEEDS_LABELS | NEEDS_FOLDER, wants_coco,
                          annotations_write, NULL, raster_annotations_write},
};
