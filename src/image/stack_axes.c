/* Finds out what the pages of a TIFF are: channels of one image, slices of a volume, frames of a film.
 *
 * ImageJ and OME-XML describe the axes in the first directory (tag 270): ImageJ by lines such as `channels=2', with
 * planes in the order channel, slice, frame; OME-XML by attributes of its first Pixels element, such as
 * DimensionOrder="XYCZT" and SizeC="2", and by TiffData elements if planes are in another order. stack_axes_choose
 * overrules both, except for masks that cleave wrote. Channels become bands of one image; each slice of each frame is
 * one image, all slices of one time before those of the next. A description is ignored if its number of planes is not
 * that of the file. Start at stack_axes_find. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"

enum { CHANNEL, SLICE, FRAME, N_AXES };

static const char letters[N_AXES + 1] = "CZT";

/* --axes: set before any image is read. */
static struct {
    int n;
    int axis[N_AXES];      /* the slowest first */
    uint32_t size[N_AXES]; /* 0: not given */
} chosen;

/* Parses the digits at the start of a text that ends at `end', without a NUL. Of a number with more than 32 bits only
 * the first digits count. */
static uint32_t number_before(const char *text, const char *end)
{
    uint64_t value = 0;
    for (const char *c = text; c < end && is_digit(*c) && value < UINT32_MAX / 10; c++)
        value = 10 * value + (uint64_t)(*c - '0');
    return (uint32_t)value;
}

enum clv_status stack_axes_choose(const char *axes, struct clv_error *err)
{
    int n = 0, axis[N_AXES] = {0};
    uint32_t size[N_AXES] = {0};
    for (const char *c = axes; *c;) {
        const char *letter = strchr(letters, *c);
        FAIL_IF(!letter || n == N_AXES, CLV_ERR_USAGE,
                "\"%s\" is not an order of the axes T, Z and C, the slowest first, such as TZC or T6C2", axes);
        axis[n] = (int)(letter - letters);
        for (int k = 0; k < n; k++)
            FAIL_IF(axis[k] == axis[n], CLV_ERR_USAGE, "\"%s\" names %c twice", axes, *letter);
        c++;
        size_t digits = strspn(c, "0123456789");
        FAIL_IF(digits > 6 || (digits && *c == '0'), CLV_ERR_USAGE, "\"%s\": sizes are 1 to 999999", axes);
        size[n] = number_before(c, c + digits);
        c += digits;
        n++;
    }
    chosen.n = n;
    memcpy(chosen.axis, axis, sizeof axis);
    memcpy(chosen.size, size, sizeof size);
    return CLV_OK;
}

bool stack_axes_are_chosen(void)
{
    return chosen.n > 0;
}

uint64_t stack_axes_hash(uint64_t hash)
{
    for (int k = 0; k < chosen.n; k++)
        hash = hash_number(hash_number(hash, (uint64_t)chosen.axis[k] + 1), chosen.size[k]);
    return hash;
}

/* Returns the number after `key' at the beginning of a line, or `otherwise'. */
static uint32_t line_value(const char *text, size_t length, const char *key, uint32_t otherwise)
{
    size_t n = strlen(key);
    for (const char *line = text, *end = text + length; line && line < end;) {
        if ((size_t)(end - line) > n && memcmp(line, key, n) == 0)
            return number_before(line + n, end);
        line = memchr(line, '\n', (size_t)(end - line));
        line += line ? 1 : 0;
    }
    return otherwise;
}

/* Finds the start tag of an element; false if there is none before `end'. Ignores prefixes of namespaces. */
static bool find_element(const char **begin, const char **close, const char *name, const char *from, const char *end)
{
    size_t n = strlen(name);
    for (const char *at = from; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        const char *tag = at + 1, *stop = memchr(tag, '>', (size_t)(end - tag));
        if (!stop)
            return false;
        size_t word = 0;
        while (tag + word < stop && !strchr(" \t\r\n/>", tag[word]))
            word++;
        if (word >= n && memcmp(tag + word - n, name, n) == 0 && (word == n || tag[word - n - 1] == ':')) {
            *begin = tag + word;
            *close = stop;
            return true;
        }
    }
    return false;
}

/* Returns the value of an attribute, without a NUL at its end; *length is 0 if the attribute is missing. */
static const char *attribute(size_t *length, const char *name, const char *begin, const char *close)
{
    size_t n = strlen(name);
    *length = 0;
    for (const char *at = begin; at + n + 2 < close; at++)
        if (strchr(" \t\r\n", at[0]) && !memcmp(at + 1, name, n) && at[n + 1] == '=' && strchr("\"'", at[n + 2])) {
            const char *value = at + n + 3, *end = memchr(value, at[n + 2], (size_t)(close - value));
            *length = end ? (size_t)(end - value) : 0;
            return value;
        }
    return NULL;
}

static uint32_t number_attribute(const char *name, const char *begin, const char *close, uint32_t otherwise)
{
    size_t length;
    const char *value = attribute(&length, name, begin, close);
    return length ? number_before(value, value + length) : otherwise;
}

/* The sizes and the order of axes in a description or in --axes, the fastest first. */
struct axis_layout {
    uint32_t size[N_AXES];
    int order[N_AXES];
    const char *planes, *planes_end; /* OME's TiffData; NULL: none */
};

static void read_imagej(struct axis_layout *layout, const char *text, size_t length)
{
    uint32_t n = line_value(text, length, "images=", 1);
    *layout =
        (struct axis_layout){.size = {line_value(text, length, "channels=", 1), line_value(text, length, "slices=", 1),
                                      line_value(text, length, "frames=", 1)},
                             .order = {CHANNEL, SLICE, FRAME}};
    if ((uint64_t)layout->size[CHANNEL] * layout->size[SLICE] * layout->size[FRAME] == 1)
        layout->size[SLICE] = n;
}

/* Reads OME-XML; false if it has no Pixels element with a valid order of axes. SizeC also counts the samples of a
 * pixel. */
static bool read_ome(struct axis_layout *layout, const char *text, size_t length, uint32_t n_samples)
{
    const char *end = text + length, *begin, *close, *more, *ignored;
    size_t n;
    if (!find_element(&begin, &close, "Pixels", text, end))
        return false;
    const char *order = attribute(&n, "DimensionOrder", begin, close);
    *layout = (struct axis_layout){.size = {number_attribute("SizeC", begin, close, 1),
                                            number_attribute("SizeZ", begin, close, 1),
                                            number_attribute("SizeT", begin, close, 1)}};
    if (n != 5 || memcmp(order, "XY", 2) != 0)
        return false;
    for (int k = 0; k < N_AXES; k++) {
        const char *letter = strchr(letters, order[2 + k]);
        if (!letter || !*letter || memchr(order + 2, order[2 + k], (size_t)k))
            return false;
        layout->order[k] = (int)(letter - letters);
    }
    if (n_samples > 1 && layout->size[CHANNEL] % n_samples == 0)
        layout->size[CHANNEL] /= n_samples;
    /* TiffData elements after a second Pixels element belong to another image. */
    if (find_element(&more, &ignored, "Pixels", close, end))
        end = more;
    if (find_element(&more, &ignored, "TiffData", close, end) &&
        find_element(&more, &ignored, "TiffData", ignored, end)) {
        layout->planes = close;
        layout->planes_end = end;
    }
    return true;
}

/* Reads --axes. If it names several axes, sizes that it does not give are those of the description. One size that is
 * then missing follows from the number of planes; false if two are missing. */
static bool read_chosen(struct axis_layout *layout, uint32_t n_planes, const struct axis_layout *described)
{
    uint64_t product = 1;
    int open = -1;
    struct axis_layout result = {.size = {1, 1, 1}};
    bool is_used[N_AXES] = {false};
    for (int k = 0; k < chosen.n; k++) {
        int axis = chosen.axis[k];
        uint32_t size = chosen.size[k] ? chosen.size[k] : described && chosen.n > 1 ? described->size[axis] : 0;
        is_used[axis] = true;
        result.order[chosen.n - 1 - k] = axis;
        result.size[axis] = size ? size : 1;
        product *= result.size[axis];
        if (!size && open >= 0)
            return false;
        open = size ? open : axis;
    }
    for (int axis = 0, at = chosen.n; axis < N_AXES; axis++)
        if (!is_used[axis])
            result.order[at++] = axis;
    if (open >= 0 && n_planes % product == 0)
        result.size[open] = (uint32_t)(n_planes / product);
    *layout = result;
    return true;
}

static bool fits(const struct axis_layout *layout, uint32_t n_planes)
{
    uint64_t product = 1;
    for (int axis = 0; axis < N_AXES; axis++) {
        product *= layout->size[axis];
        if (!layout->size[axis] || layout->size[axis] > n_planes)
            return false;
    }
    return product == n_planes;
}

static bool is_imagej(const struct stack_description *text)
{
    return text->length > 7 && memcmp(text->text, "ImageJ=", 7) == 0;
}

uint32_t stack_axes_n_planes(const struct stack_description *text)
{
    return text->text && is_imagej(text) ? line_value(text->text, text->length, "images=", 1) : 1;
}

void stack_axes_find(struct stack_axes *axes, uint32_t n_planes, const struct stack_description *text)
{
    struct axis_layout described = {0}, layout = {0};
    bool is_described = false, is_fixed = false;
    enum stack_axes_source source = AXES_OF_PAGES;
    if (text->text && is_imagej(text)) {
        read_imagej(&described, text->text, text->length);
        is_described = true;
        is_fixed = line_value(text->text, text->length, STACK_FIXED, 0);
        source = AXES_OF_IMAGEJ;
    } else if (text->text) {
        is_described = read_ome(&described, text->text, text->length, text->n_samples);
        source = AXES_OF_OME;
    }
    *axes = (struct stack_axes){.n_channels = 1, .n_slices = 1, .n_frames = n_planes, .step = {1, 1, 1}};
    is_described = is_described && fits(&described, n_planes);
    if (chosen.n && !(is_described && is_fixed) && read_chosen(&layout, n_planes, is_described ? &described : NULL) &&
        fits(&layout, n_planes))
        source = AXES_CHOSEN;
    else if (is_described)
        layout = described;
    else
        return;
    if (n_planes == 1)
        return;
    axes->n_channels = layout.size[CHANNEL];
    axes->n_slices = layout.size[SLICE];
    axes->n_frames = layout.size[FRAME];
    axes->source = source;
    uint32_t step = 1;
    for (int k = 0; k < N_AXES; k++) {
        axes->step[layout.order[k]] = step;
        step *= layout.size[layout.order[k]];
    }
    axes->planes = source == AXES_OF_OME ? layout.planes : NULL;
    axes->planes_end = layout.planes_end;
}

/* Finds a plane by OME's TiffData: IFD counts directories from 0, the other attributes are the plane's position. */
static bool find_plane(uint32_t *plane, const struct stack_axes *axes, const uint32_t at[N_AXES])
{
    const char *begin, *close = axes->planes;
    while (find_element(&begin, &close, "TiffData", close, axes->planes_end)) {
        uint32_t n = number_attribute("PlaneCount", begin, close, 1),
                 directory = number_attribute("IFD", begin, close, 0);
        if (n == 1 && number_attribute("FirstC", begin, close, 0) == at[CHANNEL] &&
            number_attribute("FirstZ", begin, close, 0) == at[SLICE] &&
            number_attribute("FirstT", begin, close, 0) == at[FRAME] &&
            directory < axes->n_channels * axes->n_slices * axes->n_frames) {
            *plane = directory;
            return true;
        }
    }
    return false;
}

uint32_t stack_axes_plane(const struct stack_axes *axes, uint32_t page, uint32_t channel)
{
    const uint32_t at[N_AXES] = {channel, page % axes->n_slices, page / axes->n_slices};
    uint32_t plane = 0;
    if (axes->planes && find_plane(&plane, axes, at))
        return plane;
    for (int axis = 0; axis < N_AXES; axis++)
        plane += at[axis] * axes->step[axis];
    return plane;
}

void stack_axes_name(char *name, size_t size, const struct stack_axes *axes)
{
    static const char *const sources[] = {[AXES_OF_IMAGEJ] = "as ImageJ describes them",
                                          [AXES_OF_OME] = "as OME-XML describes them",
                                          [AXES_CHOSEN] = "by --axes"};
    char of_time[32] = "", of_slices[32] = "", of_channels[40] = "";
    if (axes->n_frames > 1)
        snprintf(of_time, sizeof of_time, "%u time points", axes->n_frames);
    if (axes->n_slices > 1)
        snprintf(of_slices, sizeof of_slices, "%s%u slices", axes->n_frames > 1 ? " of " : "", axes->n_slices);
    if (axes->n_channels > 1)
        snprintf(of_channels, sizeof of_channels, "%s%u channels",
                 axes->n_frames > 1 || axes->n_slices > 1 ? " of " : "", axes->n_channels);
    snprintf(name, size, "%s%s%s%s%s", of_time, of_slices, of_channels, axes->source == AXES_OF_PAGES ? "" : ", ",
             axes->source == AXES_OF_PAGES ? "" : sources[axes->source]);
}
