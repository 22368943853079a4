/* Reads masks from files of 8-bit values, of colours or 16 bits (mask_wide.c) or of object numbers, and from memory.
 * Start at item_mask_read. */
#include "base/base.h"
#include "data/data.h"
#include "image/image.h"

/* Reads a mask of colours or of more than 8 bits; *is_wide is false for other masks. */
static enum clv_status read_wide(struct clv_mask *mask, bool *is_wide, const char *path,
                                 const struct clv_labels *labels, const struct mask_wanted *wanted,
                                 struct clv_error *err)
{
    OWNED(file_map_close) struct file_map map = {0};
    *is_wide = false;
    if (file_map_open(&map, path, NULL) != CLV_OK)
        return CLV_OK; /* clv_indexed_image_read reports the reason */
    *is_wide = mask_is_wide(map.bytes, map.size);
    return *is_wide ? mask_from_wide(mask, &map, labels, wanted, err) : CLV_OK;
}

static enum clv_status read_mask(struct clv_mask *mask, const char *path, const struct clv_labels *labels,
                                 const struct mask_wanted *wanted, struct clv_error *err)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image image = {0};
    bool is_wide;
    MUST(read_wide(mask, &is_wide, path, labels, wanted, err));
    if (is_wide)
        return CLV_OK;
    MUST(clv_indexed_image_read(&image, path, wanted->limits, err));
    MUST(mask_check_size(image.width, image.height, path, wanted, err));
    return mask_from_indexed(mask, &image, path, labels, err);
}

enum clv_status clv_mask_read(struct clv_mask *mask, const char *path, const struct clv_labels *labels,
                              int32_t expected_width, int32_t expected_height, const struct clv_image_limits *limits,
                              struct clv_error *err)
{
    return read_mask(mask, path, labels, &(struct mask_wanted){expected_width, expected_height, limits}, err);
}

enum clv_status item_numbers_read(struct integer_image *image, const struct clv_item *item,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    if (!item->objects)
        return integer_image_read(image, item->instances ? item->instances : item->mask, limits, err);
    struct integer_image copy = {0};
    MUST(item_image_size(&copy.width, &copy.height, item, limits, err));
    copy.values = array_copy(item->objects, (size_t)copy.width * (size_t)copy.height, sizeof *copy.values);
    NEED(copy.values);
    *image = copy;
    return CLV_OK;
}

/* Derives a mask from a label image of objects: 1 inside objects, 0 elsewhere. */
static enum clv_status mask_from_instances(struct clv_mask *mask, const struct clv_item *item,
                                           const struct clv_labels *labels, const struct mask_wanted *wanted,
                                           struct clv_error *err)
{
    OWNED(integer_image_release) struct integer_image image = {0};
    const char *path = item->mask;
    MUST(item_numbers_read(&image, item, wanted->limits, err));
    size_t n = (size_t)image.width * (size_t)image.height;
    uint8_t *derived = NULL;
    FAIL_IF(labels->n_labels < 2 || !*labels->names[1], CLV_ERR_DATA,
            "%s: objects without a mask are label 1, which labels.tsv does not name", path);
    FAIL_IF(wanted->width && wanted->height && (image.width != wanted->width || image.height != wanted->height),
            CLV_ERR_DATA, "%s: the objects are %dx%d, image is %dx%d", path, image.width, image.height, wanted->width,
            wanted->height);
    NEED(derived = array_alloc(n, 1));
    for (size_t p = 0; p < n; p++)
        derived[p] = image.values[p] > 0;
    *mask = (struct clv_mask){image.width, image.height, derived, NULL};
    return CLV_OK;
}

/* Maps values in memory to labels by the rules for 8-bit grey files. With labels.tsv each value must be a label or
 * void. */
static enum clv_status mask_in_memory(struct clv_mask *mask, const struct clv_item *item,
                                      const struct clv_labels *labels, const struct mask_wanted *wanted,
                                      struct clv_error *err)
{
    const struct clv_mask *values = item->labels;
    const size_t width = (size_t)values->width, n = width * (size_t)values->height;
    MUST(mask_check_size(values->width, values->height, item->mask, wanted, err));
    for (size_t p = 0; p < n && labels->from_file; p++) {
        const uint8_t value = values->labels[p];
        const bool is_label = value < labels->n_labels && labels->names[value][0];
        if (!is_label && value != CLV_VOID && !labels->is_void[value])
            return fail_fault(err, CLV_FAULT_MASK_VALUES, "%s: value %d at pixel (%zu, %zu) is none of the %d labels",
                              item->mask, value, p % width, p / width, labels->n_labels);
    }
    return mask_from_values(mask, values, labels, item->mask, err);
}

enum clv_status item_mask_read(struct clv_mask *mask, const struct clv_item *item, const struct clv_labels *labels,
                               const struct mask_wanted *wanted, struct clv_error *err)
{
    if (item->is_derived)
        return mask_from_instances(mask, item, labels, wanted, err);
    return item->labels ? mask_in_memory(mask, item, labels, wanted, err)
                        : read_mask(mask, item->mask, labels, wanted, err);
}
