/* Converts HorseSeg (or DogSeg) as published to a dataset that cleave reads.
 *
 * Kolesnikov, Guillaumin, Ferrari, Lampert: Closed-form approximate CRF training for scalable image segmentation (ECCV
 * 2014). The archive HDSeg.tar holds annotations; images come from ImageNet and PASCAL VOC 2012, as its README says:
 *
 *     HDSeg/images/HorseSeg/FOLDER/NAME.JPEG            FOLDER: voc12, an ImageNet synset (n02374451 ..), or test
 *     HDSeg/annotations/HorseSeg/FOLDER/NAME.gt.png     a mask by hand: split train (147); folder test: split test (241)
 *     HDSeg/annotations/HorseSeg/FOLDER/NAME.bb.png     a mask made automatically from a box: split weak (5974)
 *     HDSeg/annotations/HorseSeg/FOLDER/NAME.no.png     a mask made automatically from nothing: split bare (19317)
 *
 * Usage: horseseg HDSEG [HorseSeg | DogSeg]
 * writes HDSEG/manifest.tsv (image, mask, split), with masks only if they are by hand, and HDSEG/boxes.tsv: the tight
 * box of the foreground of each .bb.png. ImageNet's boxes are XML files, which `cleave train --boxes FOLDER` reads
 * directly. Missing images are counted and skipped. Then, as in the paper:
 *
 *     cleave train --learner wmpmap --data HDSEG/manifest.tsv --split train --boxes HDSEG/boxes.tsv --weak-split weak
 * -o m.cleave */
#include <stdbool.h>

#include "cleave/image.h"
#include "convert.h"

#define PROGRAM "horseseg"

/* In the order of what they are worth, where an image has several. */
enum annotation { BARE, BOX, MASK };

struct item {
    char *name;  /* FOLDER/NAME; NULL: no item */
    char *mask;  /* the annotation, relative to HDSEG */
    char *image; /* NULL: not there */
    enum annotation annotation;
    bool test;
};

static char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *formatted(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        give_up(PROGRAM, CLV_ERR_MEMORY, "out of memory");
    va_end(arguments);
    return text;
}

/* Cuts ".gt", ".bb" or ".no" off a name without ".png"; test masks may go without. */
static enum annotation cut_kind(char *name, bool test, const char *path)
{
    static const char *const suffixes[] = {[BARE] = ".no", [BOX] = ".bb", [MASK] = ".gt"};
    size_t length = strlen(name);
    for (int k = BARE; k <= MASK; k++)
        if (length > 3 && strcmp(name + length - 3, suffixes[k]) == 0) {
            name[length - 3] = 0;
            return (enum annotation)k;
        }
    if (!test)
        give_up(PROGRAM, CLV_ERR_DATA, "%s: is none of .gt.png, .bb.png, .no.png", path);
    return MASK;
}

/* The image of a name without extension, relative to HDSEG, or NULL. */
static char *find_image(const char *root, const char *class, const char *name)
{
    static const char *const extensions[] = {"JPEG", "jpg", "jpeg", "JPG", "png"};
    for (size_t k = 0; k < sizeof extensions / sizeof *extensions; k++) {
        char *image = formatted("images/%s/%s.%s", class, name, extensions[k]);
        char *path = formatted("%s/%s", root, image);
        bool found = path_exists(path);
        free(path);
        if (found)
            return image;
        free(image);
    }
    return NULL;
}

/* `path` as FOLDER/NAME.kind.png. */
static struct item make_item(const char *root, const char *class, const char *path)
{
    char *name = formatted("%s", path);
    name[strlen(name) - strlen(".png")] = 0;
    struct item item = {.test = strncmp(path, "test/", 5) == 0};
    item.annotation = cut_kind(name, item.test, path);
    item.mask = formatted("annotations/%s/%s", class, path);
    item.image = find_image(root, class, name);
    item.name = name;
    return item;
}

/* The tight box of an annotation's foreground; false if it has none. */
static bool find_box(int32_t box[4], const char *root, const char *mask)
{
    struct clv_indexed_image image = {0};
    struct clv_error err;
    char *path = formatted("%s/%s", root, mask);
    check(PROGRAM, clv_indexed_image_read(&image, path, NULL, &err), &err);
    int32_t left = image.width, top = image.height, right = -1, bottom = -1;
    for (int32_t y = 0; y < image.height; y++)
        for (int32_t x = 0; x < image.width; x++) {
            if (!image.values[(size_t)y * (size_t)image.width + (size_t)x])
                continue;
            left = x < left ? x : left;
            right = x > right ? x : right;
            top = y < top ? y : top;
            bottom = y;
        }
    clv_indexed_image_release(&image);
    free(path);
    const int32_t found[] = {left, top, right - left + 1, bottom - top + 1};
    memcpy(box, found, sizeof found);
    return right >= 0;
}

struct counts {
    size_t split[4], missing, empty;
};

static void write_item(FILE *manifest, FILE *boxes, struct counts *counts, const struct item *item, const char *root,
                       const char *class)
{
    static const char *const names[] = {"bare", "weak", "train", "test"};
    int32_t box[4];
    int split = item->test ? 3 : (int)item->annotation;
    if (!item->image) {
        counts->missing++;
        return;
    }
    fprintf(manifest, "%s\t%s\t%s\n", item->image, item->annotation == MASK ? item->mask : "", names[split]);
    counts->split[split]++;
    if (item->annotation != BOX)
        return;
    if (find_box(box, root, item->mask))
        fprintf(boxes, "%s\t%s\t%d\t%d\t%d\t%d\n", item->image, class, box[0], box[1], box[2], box[3]);
    else
        counts->empty++;
}

/* Annotations of one image follow each other in the sorted list; the best one counts. */
static struct counts convert(const struct path_list *files, const char *root, const char *class)
{
    struct counts counts = {0};
    struct file_writer manifest = table_create(PROGRAM, root, "manifest.tsv", "image\tmask\tsplit");
    struct file_writer boxes = table_create(PROGRAM, root, "boxes.tsv", "image\tlabel\tx\ty\tw\th");
    struct item best = {0};
    for (size_t i = 0; i <= files->n; i++) {
        struct item item = {0};
        if (i < files->n)
            item = make_item(root, class, files->paths[i]);
        bool same = item.name && best.name && strcmp(item.name, best.name) == 0;
        bool better = !same || item.annotation > best.annotation;
        if (!same && best.name)
            write_item(manifest.stream, boxes.stream, &counts, &best, root, class);
        struct item worse = better ? best : item;
        free(worse.name);
        free(worse.mask);
        free(worse.image);
        best = better ? item : best;
    }
    if (!(counts.split[0] + counts.split[1] + counts.split[2] + counts.split[3]))
        give_up(PROGRAM, CLV_ERR_NO_INPUT, "%s/images/%s: has none of the %zu annotated images", root, class,
                counts.missing);
    table_commit(PROGRAM, &boxes);
    table_commit(PROGRAM, &manifest);
    return counts;
}

int main(int argc, char **argv)
{
    struct path_list files = {0}, masks = {0};
    struct clv_error err;
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        fprintf(stderr, "usage: horseseg HDSEG [HorseSeg | DogSeg]\n");
        return 64;
    }
    const char *root = argv[1], *class = argc > 2 ? argv[2] : "HorseSeg";
    char *annotations = formatted("%s/annotations/%s", root, class);
    check(PROGRAM, folder_walk(&files, annotations, &err), &err);
    for (size_t i = 0; i < files.n; i++) {
        size_t length = strlen(files.paths[i]);
        if (length > 4 && strcmp(files.paths[i] + length - 4, ".png") == 0)
            check(PROGRAM, path_list_add(&masks, files.paths[i], &err), &err);
    }
    if (!masks.n)
        give_up(PROGRAM, CLV_ERR_NO_INPUT, "%s: has no annotations", annotations);
    struct counts counts = convert(&masks, root, class);
    printf("%s: %zu train, %zu weak, %zu bare, %zu test", class, counts.split[MASK], counts.split[BOX],
           counts.split[BARE], counts.split[3]);
    if (counts.missing)
        printf("; skipped %zu missing image%s", counts.missing, counts.missing == 1 ? "" : "s");
    if (counts.empty)
        printf("; %zu weak ones have no foreground and so no box", counts.empty);
    printf("\n");
    path_list_release(&files);
    path_list_release(&masks);
    free(annotations);
    return 0;
}
