/* Reads rasters by GDAL, which only this file uses: VRT, JPEG 2000, netCDF and others. Builds without WITH_GDAL=1
 * refuse them. Start at raster_gdal_open. */
#include "image/raster/raster.h"

#if WITH_GDAL
#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "image/image.h"

struct raster_gdal {
    GDALDatasetH dataset;
    int32_t n_bands;
    uint8_t *has_data; /* [pixels of a window], 0: no data */
    size_t has_data_capacity;
};

bool raster_has_gdal(void)
{
    return true;
}

/* Between quiet_begin and quiet_end GDAL prints nothing; fail_gdal reports its last message. */
struct quiet {
    bool is_begun;
};

static struct quiet quiet_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, GDALAllRegister);
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
    return (struct quiet){true};
}

static void quiet_end(struct quiet *self)
{
    if (self->is_begun)
        CPLPopErrorHandler();
    *self = (struct quiet){0};
}

static void dataset_close(GDALDatasetH *dataset)
{
    if (*dataset)
        GDALClose(*dataset);
}

static void list_free(char ***list)
{
    CSLDestroy(*list);
}

static enum clv_status fail_gdal(struct clv_error *err, const char *doing)
{
    const char *why = CPLGetLastErrorMsg();
    NEED(CPLGetLastErrorNo() != CPLE_OutOfMemory);
    return fail(err, CLV_ERR_DATA, "GDAL cannot %s: %.*s", doing, (int)strcspn(why, "\n"), why);
}

bool raster_gdal_knows(const char *path)
{
    static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp",
                                             ".bmp", ".pnm", ".pbm",  ".pgm", ".ppm",  ".npy"};
    char *bytes;
    const char *name;
    size_t size, length;
    uint32_t page;
    for (size_t k = 0; k < sizeof extensions / sizeof *extensions; k++)
        if (text_ends_with(path, extensions[k]))
            return false;
    if (path_page(&length, &page, path) || file_read_head(&bytes, &size, path, 1024, NULL) != CLV_OK)
        return false;
    enum image_format format = image_format(&name, (const uint8_t *)bytes, size);
    array_free(bytes);
    if (format != FORMAT_FOREIGN && format != FORMAT_GDAL && format != FORMAT_UNKNOWN)
        return false;
    OWNED(quiet_end) struct quiet quiet = quiet_begin();
    return GDALIdentifyDriverEx(path, GDAL_OF_RASTER, NULL, NULL) != NULL;
}

static void unlink_virtual(const char **name)
{
    if (*name)
        VSIUnlink(*name);
}

/* Reads the dataset's georeference: GDAL writes it to a GeoTIFF of one pixel in memory, whose tags are read. */
static enum clv_status find_georeference(struct georeference *georeference, GDALDatasetH dataset, struct clv_error *err)
{
    char name[64];
    double transform[6];
    bool has_transform = GDALGetGeoTransform(dataset, transform) == CE_None;
    OGRSpatialReferenceH system = GDALGetSpatialRef(dataset);
    GDALDriverH driver = GDALGetDriverByName("GTiff");
    if (!driver || (!has_transform && !system))
        return CLV_OK;
    snprintf(name, sizeof name, "/vsimem/cleave-%p.tif", (void *)georeference);
    OWNED(unlink_virtual) const char *written = NULL;
    GDALDatasetH tiny = GDALCreate(driver, name, 1, 1, 1, GDT_Byte, NULL);
    if (!tiny)
        return fail_gdal(err, "read its georeference");
    if (has_transform)
        (void)GDALSetGeoTransform(tiny, transform);
    if (system)
        (void)GDALSetSpatialRef(tiny, system);
    GDALClose(tiny);
    written = name;
    vsi_l_offset size = 0;
    OWNED(raster_tiff_drop) struct raster_tiff *tiff = NULL;
    struct raster read = {0};
    const struct clv_image_limits limits = {.max_pixels = 1 << 20, .max_side_px = 1 << 10};
    GByte *bytes = VSIGetMemFileBuffer(name, &size, FALSE);
    if (!bytes)
        return fail_gdal(err, "read its georeference");
    MUST(raster_tiff_open(&tiff, &read, &(struct image_bytes){bytes, (size_t)size, 1, &limits, 0}, false, err));
    *georeference = read.georeference;
    return CLV_OK;
}

/* Reads the size and the number of bands. Does not count an alpha band at the end: GDAL's masks include it. */
static enum clv_status read_header(struct raster_gdal *self, struct raster *raster,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    int n = GDALGetRasterCount(self->dataset);
    char **parts = GDALGetMetadata(self->dataset, "SUBDATASETS");
    if (n < 1 && parts && *parts)
        return fail(err, CLV_ERR_DATA, "has several rasters (%s ..); gdal_translate makes a file of one", *parts);
    if (n > 1 && GDALGetRasterColorInterpretation(GDALGetRasterBand(self->dataset, n)) == GCI_AlphaBand)
        n--;
    FAIL_IF(n < 1 || n > CLV_MAX_BANDS, CLV_ERR_DATA, "%d bands, 1 to %d are read", n, CLV_MAX_BANDS);
    MUST(limits_check((uint32_t)GDALGetRasterXSize(self->dataset), (uint32_t)GDALGetRasterYSize(self->dataset), limits,
                      err));
    self->n_bands = n;
    *raster = (struct raster){.width = GDALGetRasterXSize(self->dataset),
                              .height = GDALGetRasterYSize(self->dataset),
                              .n_bands = n,
                              .is_bytes = true,
                              .is_colour = n >= 3};
    for (int b = 0; b < n; b++) {
        GDALRasterBandH band = GDALGetRasterBand(self->dataset, b + 1);
        if (GDALGetRasterColorTable(band))
            return fail(err, CLV_ERR_DATA, "has a palette; gdal_translate -expand rgb makes colours of it");
        raster->is_bytes &= GDALGetRasterDataType(band) == GDT_Byte;
        raster->is_colour &= b >= 3 || GDALGetRasterColorInterpretation(band) == (GDALColorInterp)(GCI_RedBand + b);
    }
    raster->is_photograph = raster->is_bytes && (n == 1 || (n == 3 && raster->is_colour));
    return CLV_OK;
}

static bool may_lack_data(const struct raster_gdal *self)
{
    for (int b = 1; b <= self->n_bands; b++) {
        GDALRasterBandH band = GDALGetRasterBand(self->dataset, b);
        if (!(GDALGetMaskFlags(band) & GMF_ALL_VALID) || GDALDataTypeIsFloating(GDALGetRasterDataType(band)))
            return true;
    }
    return false;
}

enum clv_status raster_gdal_open(struct raster_gdal **gdal, struct raster *raster, const char *path,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(raster_gdal_drop) struct raster_gdal *self = array_zalloc(1, sizeof *self);
    NEED(self);
    OWNED(quiet_end) struct quiet quiet = quiet_begin();
    self->dataset = GDALOpenEx(path, GDAL_OF_RASTER | GDAL_OF_READONLY, NULL, NULL, NULL);
    if (!self->dataset)
        return fail_gdal(err, "open it");
    MUST(read_header(self, raster, limits, err));
    MUST(find_georeference(&raster->georeference, self->dataset, err));
    raster->georeference.may_lack_data = may_lack_data(self);
    *gdal = TAKE(self);
    return CLV_OK;
}

void raster_gdal_close(struct raster_gdal *self)
{
    if (!self)
        return;
    if (self->dataset)
        GDALClose(self->dataset);
    arrays_free(self->has_data, self);
}

/* Reads a band of a window, NAN without data. */
static enum clv_status read_band(float *values, size_t step, struct raster_gdal *self, int b,
                                 const struct image_part *window, struct clv_error *err)
{
    GDALRasterBandH band = GDALGetRasterBand(self->dataset, b + 1);
    int width = window->width, height = window->height;
    size_t n = (size_t)width * (size_t)height;
    GSpacing across = (GSpacing)(step * sizeof *values);
    if (GDALRasterIOEx(band, GF_Read, window->left, window->top, width, height, values + b, width, height, GDT_Float32,
                       across, across * width, NULL) != CE_None)
        return fail_gdal(err, "read it");
    bool has_mask = !(GDALGetMaskFlags(band) & GMF_ALL_VALID);
    if (has_mask && GDALRasterIO(GDALGetMaskBand(band), GF_Read, window->left, window->top, width, height,
                                 self->has_data, width, height, GDT_Byte, 0, 0) != CE_None)
        return fail_gdal(err, "read it");
    for (size_t p = 0; p < n; p++) {
        float *value = &values[p * step + (size_t)b];
        if (!isfinite(*value) || (has_mask && !self->has_data[p]))
            *value = NAN;
    }
    return CLV_OK;
}

enum clv_status raster_gdal_read(float *values, size_t step, struct raster_gdal *self, const struct image_part *window,
                                 struct clv_error *err)
{
    size_t n = (size_t)window->width * (size_t)window->height;
    NEED(!array_reserve((void **)&self->has_data, &self->has_data_capacity, n, 1));
    OWNED(quiet_end) struct quiet quiet = quiet_begin();
    for (int b = 0; b < self->n_bands; b++)
        MUST(read_band(values, step, self, b, window, err));
    return CLV_OK;
}

#define MAX_DEPTH 16 /* of VRTs that are sources of VRTs */

/* Stamps a file. Files of GDAL's virtual file systems (/vsizip/ and so on) have no inode, so their size and time are
 * used. */
static enum clv_status stamp_one(uint64_t *hash, const char *path, bool is_strict, struct clv_error *err)
{
    VSIStatBufL info;
    if (strncmp(path, "/vsi", 4) != 0)
        return stamp_file(hash, path, is_strict, err);
    FAIL_IF(VSIStatL(path, &info), CLV_ERR_NO_INPUT, "%s: cannot examine", path);
    *hash = hash_bytes(*hash, path, strlen(path) + 1);
    *hash = hash_number(hash_number(*hash, (uint64_t)info.st_size), (uint64_t)info.st_mtime);
    return CLV_OK;
}

/* Stamps the files of a dataset. A VRT lists its sources, but not the sources of sources that are VRTs. */
static enum clv_status stamp_dataset(uint64_t *hash, GDALDatasetH dataset, const char *path, bool is_strict, int depth,
                                     struct clv_error *err)
{
    OWNED(list_free) char **files = GDALGetFileList(dataset);
    bool is_listed = false;
    for (char **file = files; file && *file; file++) {
        bool is_own = strcmp(*file, path) == 0;
        is_listed |= is_own;
        MUST(stamp_one(hash, *file, is_strict, err));
        if (is_own || depth >= MAX_DEPTH || !text_ends_with(*file, ".vrt"))
            continue;
        OWNED(dataset_close) GDALDatasetH source =
            GDALOpenEx(*file, GDAL_OF_RASTER | GDAL_OF_READONLY, NULL, NULL, NULL);
        if (source)
            MUST(stamp_dataset(hash, source, *file, is_strict, depth + 1, err));
    }
    return is_listed ? CLV_OK : stamp_one(hash, path, is_strict, err);
}

enum clv_status raster_gdal_stamp(uint64_t *hash, const struct raster_gdal *self, const char *path, bool is_strict,
                                  struct clv_error *err)
{
    OWNED(quiet_end) struct quiet quiet = quiet_begin();
    return stamp_dataset(hash, self->dataset, path, is_strict, 0, err);
}

#else

bool raster_has_gdal(void)
{
    return false;
}

enum clv_status raster_gdal_stamp(uint64_t *hash, const struct raster_gdal *self, const char *path, bool is_strict,
                                  struct clv_error *err)
{
    (void)hash, (void)self, (void)path, (void)is_strict;
    return fail(err, CLV_ERR_DATA, "this cleave was built without GDAL (WITH_GDAL=0)");
}

bool raster_gdal_knows(const char *path)
{
    (void)path;
    return false;
}

enum clv_status raster_gdal_open(struct raster_gdal **gdal, struct raster *raster, const char *path,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    (void)gdal, (void)raster, (void)path, (void)limits;
    return fail(err, CLV_ERR_DATA, "this cleave was built without GDAL (WITH_GDAL=0)");
}

void raster_gdal_close(struct raster_gdal *self)
{
    (void)self;
}

enum clv_status raster_gdal_read(float *values, size_t step, struct raster_gdal *self, const struct image_part *window,
                                 struct clv_error *err)
{
    (void)values, (void)step, (void)self, (void)window;
    return fail(err, CLV_ERR_DATA, "this cleave was built without GDAL (WITH_GDAL=0)");
}
#endif
