#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "batch/join.h"
#include "data/export/export.h"
#include "support/sample.h"
#include "support/support.h"

#define HEAD "image\tobject\n"

static struct clv_labels labels;

static void make_labels(void)
{
    must(clv_labels_binary(&labels, err));
}

static void release_labels(void)
{
    clv_labels_release(&labels);
}

static struct join_options usual(void)
{
    return (struct join_options){.tables = 1 << JOIN_OBJECTS | 1 << JOIN_COCO | 1 << JOIN_VOC,
                                 .parts = {.labels = &labels, .tolerance = 1},
                                 .objects_head = HEAD};
}

/* Writes a part of the output below here("out"), whose mask must exist. */
static void make_part(enum part_kind kind, const char *output, const char *mask, const char *name, const char *rest)
{
    struct part_key key;
    struct text lines;
    part_key_make(&key, kind, &(struct part_options){.labels = &labels, .tolerance = 1});
    text_init(&lines, (size_t)1 << 30);
    part_put_image(&lines, kind, name, 8, 6);
    text_put(&lines, rest);
    must(part_write(here("out/%s%s%s", part_paths[kind].below, output, part_paths[kind].ending),
                    &(struct part_mask){.path = mask}, &key, &lines, err));
    text_release(&lines);
}

/* The mask "a/b.png" and all parts of the image, with two objects. */
static void make_image(const char *output)
{
    char mask[256];
    snprintf(mask, sizeof mask, "%s", here("out/%s.png", output));
    run_here("cd out 2>/dev/null || { mkdir out && cd out; }; mkdir -p $(dirname %s) $(dirname voc/Annotations/%s) && "
             "echo %s >%s.png && touch voc/Annotations/%s.xml",
             output, output, output, output, output);
    make_part(PART_OBJECTS, output, mask, formatted("in/%s.jpg", output), formatted("1\t%s\n2\t%s\n", output, output));
    make_part(PART_COCO, output, mask, formatted("%s.jpg", output),
              formatted("\"category_id\":1,\"of\":\"%s\"}\n\"category_id\":1}\n", output));
}

/* The items of these outputs, of images in/<output>.jpg. */
#define N_ITEMS 8
struct list {
    struct join_item items[N_ITEMS];
    char texts[N_ITEMS][3][256];
    size_t n;
};

static void add_item(struct list *list, const char *output)
{
    char(*texts)[256] = list->texts[list->n];
    snprintf(texts[0], 256, "in/%s.jpg", output);
    snprintf(texts[1], 256, "%s", output);
    snprintf(texts[2], 256, "%s", here("out/%s.png", output));
    list->items[list->n++] = (struct join_item){texts[0], texts[0], texts[1], texts[2]};
}

static struct join_counts join(const struct list *list, const struct join_options *options)
{
    struct join_counts counts;
    must(join_tables(&counts, here("out"), list->items, list->n, options, err));
    return counts;
}

static void expect_file(const char *path, const char *text)
{
    char *found = slurp(path, NULL);
    ck_assert_str_eq(found, text);
    free(found);
}

#define COCO_TAIL "\n],\"categories\":[\n{\"id\":1,\"name\":\"foreground\",\"supercategory\":\"\"}\n]}\n"

TEST(the_list_comes_in_its_order_and_then_images_of_earlier_runs_by_path)
{
    struct list list = {.n = 0};
    static const char *const outputs[] = {"z", "b/c", "e", "b/a", "d"};
    for (size_t k = 0; k < 5; k++)
        make_image(outputs[k]);
    add_item(&list, "z");
    add_item(&list, "failed"); /* its number is of none */
    add_item(&list, "b/c");
    const struct join_options options = usual();
    struct join_counts counts = join(&list, &options);
    ck_assert_uint_eq(counts.n_joined, 15);
    ck_assert_uint_eq(counts.n_earlier, 9);
    ck_assert_uint_eq(counts.n_missing + counts.n_skipped + counts.n_torn, 0);
    expect_file(here("out/objects.tsv"), HEAD "in/z.jpg\t1\tz\nin/z.jpg\t2\tz\nin/b/c.jpg\t1\tb/c\nin/b/c.jpg\t2\tb/c\n"
                                              "in/b/a.jpg\t1\tb/a\nin/b/a.jpg\t2\tb/a\nin/d.jpg\t1\td\nin/d.jpg\t2\td\n"
                                              "in/e.jpg\t1\te\nin/e.jpg\t2\te\n");
    expect_file(here("out/voc/ImageSets/Segmentation/default.txt"), "z\nb/c\nb/a\nd\ne\n");
    expect_file(
        here("out/coco.json"), COCO_BEGINNING
        "\n{\"id\":1,\"image_id\":1,\"category_id\":1,\"of\":\"z\"},\n{\"id\":2,\"image_id\":1,\"category_id\":1},"
        "\n{\"id\":3,\"image_id\":3,\"category_id\":1,\"of\":\"b/c\"},\n{\"id\":4,\"image_id\":3,"
        "\"category_id\":1},\n{\"id\":5,\"image_id\":4,\"category_id\":1,\"of\":\"b/a\"},\n{\"id\":6,"
        "\"image_id\":4,\"category_id\":1},\n{\"id\":7,\"image_id\":5,\"category_id\":1,\"of\":\"d\"},\n"
        "{\"id\":8,\"image_id\":5,\"category_id\":1},\n{\"id\":9,\"image_id\":6,\"category_id\":1,\"of\":\"e\"},"
        "\n{\"id\":10,\"image_id\":6,\"category_id\":1}\n],\"images\":["
        "\n{\"id\":1,\"file_name\":\"z.jpg\",\"width\":8,\"height\":6},"
        "\n{\"id\":3,\"file_name\":\"b/c.jpg\",\"width\":8,\"height\":6},"
        "\n{\"id\":4,\"file_name\":\"b/a.jpg\",\"width\":8,\"height\":6},"
        "\n{\"id\":5,\"file_name\":\"d.jpg\",\"width\":8,\"height\":6},"
        "\n{\"id\":6,\"file_name\":\"e.jpg\",\"width\":8,\"height\":6}" COCO_TAIL);
    run_here("test $(ls -A out | wc -l) = 8"); /* four masks or folders of masks, voc, parts, two tables */
}

TEST(only_wanted_tables_are_written_and_empty_ones_too)
{
    struct list list = {.n = 0};
    struct join_options options = usual();
    run_here("mkdir out");
    options.tables = 1 << JOIN_COCO;
    ck_assert_uint_eq(join(&list, &options).n_joined, 0);
    run_here("test $(ls -A out) = coco.json");
    expect_file(here("out/coco.json"), COCO_BEGINNING "\n],\"images\":[" COCO_TAIL);
    options.tables = 1 << JOIN_OBJECTS | 1 << JOIN_VOC;
    join(&list, &options);
    expect_file(here("out/objects.tsv"), HEAD);
    expect_file(here("out/voc/ImageSets/Segmentation/default.txt"), "");
}

/* Two masks of one image, a third item between them. */
TEST(items_of_one_image_share_its_number_and_its_entry)
{
    struct list list = {.n = 0};
    struct join_options options = usual();
    for (int k = 0; k < 4; k++) {
        make_image(formatted("m%d", k));
        add_item(&list, formatted("m%d", k));
    }
    list.items[3].image = list.items[1].image = "in/x.jpg";
    run_here("rm out/.cleave-parts/coco/m1.json"); /* the first item failed: the number is its all the same */
    options.tables = 1 << JOIN_COCO;
    join(&list, &options);
    EXPECT_PARTS(slurp(here("out/coco.json"), NULL), "\"image_id\":2,\"category_id\":1,\"of\":\"m3\"}",
                 "\"image_id\":3,\"category_id\":1,\"of\":\"m2\"}",
                 "{\"id\":2,\"file_name\":\"x.jpg\",\"width\":8,\"height\":6}");
    make_image("m1");
    join(&list, &options);
    EXPECT_PARTS(slurp(here("out/coco.json"), NULL), "\"image_id\":2,\"category_id\":1,\"of\":\"m1\"}",
                 "\"image_id\":2,\"category_id\":1,\"of\":\"m3\"}");
    run_here(
        "test $(grep -c '\"file_name\":\"x.jpg\"' out/coco.json) = 1 && test $(grep -c file_name out/coco.json) = 3");
}

TEST(parts_that_do_not_fit_are_skipped_and_counted)
{
    struct list list = {.n = 0};
    struct join_options options = usual();
    for (int k = 0; k < 8; k++)
        make_image(formatted("m%d", k));
    for (int k = 0; k < 4; k++)
        add_item(&list, formatted("m%d", k));
    options.tables = 1 << JOIN_OBJECTS;
    run_here("cd out && echo edited >m0.png && rm m1.png && truncate -s -1 .cleave-parts/objects/m2.tsv && rm "
             ".cleave-parts/objects/m3.tsv && echo edited >m4.png && rm m5.png && truncate -s -1 "
             ".cleave-parts/objects/m6.tsv && mv m7.png m7.tif && touch .cleave-parts/objects/other");
    struct join_counts counts = join(&list, &options);
    expect_file(here("out/objects.tsv"), HEAD "in/m7.jpg\t1\tm7\nin/m7.jpg\t2\tm7\n");
    ck_assert_uint_eq(counts.n_joined, 1);
    ck_assert_uint_eq(counts.n_earlier, 1);
    ck_assert_uint_eq(counts.n_missing, 1);
    ck_assert_uint_eq(counts.n_skipped, 2);
    ck_assert_uint_eq(counts.n_torn, 2);
    ck_assert_str_eq(counts.first_missing, here("out/m3.png"));
    ck_assert_str_eq(counts.first_skipped, here("out/.cleave-parts/objects/m0.tsv"));
    ck_assert_str_eq(counts.first_torn, here("out/.cleave-parts/objects/m2.tsv"));
    options.tables = 1 << JOIN_VOC; /* which has no word on the content of a mask */
    ck_assert_uint_eq(join(&list, &options).n_skipped, 0);
    expect_file(here("out/voc/ImageSets/Segmentation/default.txt"), "m0\nm2\nm3\nm4\nm6\nm7\n");
    run_here("rm out/voc/Annotations/m3.xml");
    ck_assert_uint_eq(join(&list, &options).n_missing, 1);

    options.tables = 1 << JOIN_OBJECTS; /* columns of another model, and other labels, which are names there */
    options.parts.n_bands = 4;
    counts = join(&list, &options);
    ck_assert_uint_eq(counts.n_joined, 0);
    ck_assert_uint_eq(counts.n_skipped, 3);
    options.parts.n_bands = 0;
    options.parts.min_area = 7;
    struct clv_labels others;
    must(clv_labels_binary(&others, err));
    strcpy(others.names[1], "another");
    options.parts.labels = &others;
    ck_assert_uint_eq(join(&list, &options).n_joined, 1);
    options.tables = 1 << JOIN_COCO;
    ck_assert_uint_eq(join(&list, &options).n_joined, 0);
    clv_labels_release(&others);
}

/* As where the stems of images were shared later: m.png was made of m.jpg, whose mask is m.jpg.png now. */
TEST(an_image_of_the_list_is_not_in_a_table_twice)
{
    struct list list = {.n = 0};
    struct join_options options = usual();
    make_image("m");
    make_image("m.jpg");
    make_image("n");
    add_item(&list, "m.jpg");
    list.items[0].image = list.items[0].name = "in/m.jpg";
    ck_assert_uint_eq(join(&list, &options).n_joined, 2 + 2 + 3);
    expect_file(here("out/objects.tsv"),
                HEAD "in/m.jpg\t1\tm.jpg\nin/m.jpg\t2\tm.jpg\nin/n.jpg\t1\tn\nin/n.jpg\t2\tn\n");
    run_here(
        "test $(grep -c '\"file_name\":\"m.jpg\"' out/coco.json) = 1 && test $(grep -c file_name out/coco.json) = 2");
}

TEST(names_are_those_of_this_run_and_escaped)
{
    struct list list = {.n = 0};
    struct join_options options = usual();
    make_image("m");
    add_item(&list, "m");
    list.items[0].name = "../a\tb\\.jpg";
    list.items[0].image = "/elsewhere/m\"\t.jpg";
    join(&list, &options);
    expect_file(here("out/objects.tsv"), HEAD "../a\\tb\\\\.jpg\t1\tm\n../a\\tb\\\\.jpg\t2\tm\n");
    EXPECT_PARTS(slurp(here("out/coco.json"), NULL), "\"file_name\":\"m\\\"\\t.jpg\"");
    static const char *const names[][3] = {{"x/1.jpg", "1", "1.jpg"},         {"x/1.jpg", "x/1", "x/1.jpg"},
                                           {"x/1.jpg", "x/1.jpg", "x/1.jpg"}, {"x/1.jpg", "y/2", "1.jpg"},
                                           {"x/12.jpg", "y/1", "12.jpg"},     {"s.tif#2", "y/s-2", "s.tif#2"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char *name = join_file_name(names[k][0], names[k][1]);
        ck_assert_str_eq(name, names[k][2]);
        array_free(name);
    }
}

/* Cuts what a run wrote today into parts, joins these, and compares. */
TEST(tables_have_the_bytes_of_a_run)
{
    run_here("mkdir -p in/a in/b && cp $SET/images/0001.* in/a/x.jpg && cp $SET/images/0002.* in/b/x.jpg && cp "
             "$SET/images/0003.* in/y.jpg && cp $SET/images/0004.* in/y.ppm; cp $SET/images/0004.* in/z.jpg; "
             "cleave segment -m $MODEL in -o out --objects --export coco,voc && mkdir before && mv out/objects.tsv "
             "out/coco.json before && mv out/voc/ImageSets/Segmentation/default.txt before && test $(wc -l "
             "<before/default.txt) = 5");
    struct list list = {.n = 0};
    struct join_options options = usual();
    char *names = slurp(here("before/default.txt"), NULL), *objects = slurp(here("before/objects.tsv"), NULL),
         *coco = slurp(here("before/coco.json"), NULL), *rest = names, *output;
    struct clv_model model = {0};
    must(clv_model_read(&model, sample_model(), err));
    options.parts.labels = &model.labels;
    char *head_end = strchr(objects, '\n');
    options.objects_head = formatted("%.*s\n", (int)(head_end - objects), objects);
    while ((output = strsep(&rest, "\n")) && *output) {
        const size_t i = list.n, length = strlen(output);
        static const char *const images[] = {"a/x.jpg", "b/x.jpg", "y.jpg", "y.ppm", "z.jpg"};
        size_t k = 0;
        while (strncmp(images[k], output, length) != 0)
            k++;
        add_item(&list, output);
        snprintf(list.texts[i][0], 256, "in/%s", images[k]);
        struct text rows, lines;
        text_init(&rows, 1 << 24);
        text_init(&lines, 1 << 24);
        part_put_image(&rows, PART_OBJECTS, list.items[i].name, 0, 0);
        for (char *line = objects, *next; *line; line = next) {
            char *tab = strchr(line, '\t');
            next = strchr(line, '\n') + 1;
            if (strncmp(line, list.items[i].name, (size_t)(tab - line)) == 0)
                text_append(&rows, tab + 1, (size_t)(next - tab - 1));
        }
        int width, height;
        const char *entry = strstr(coco, formatted("\n{\"id\":%zu,\"file_name\"", i + 1));
        ck_assert_int_eq(sscanf(strstr(entry, "\"width\""), "\"width\":%d,\"height\":%d", &width, &height), 2);
        part_put_image(&lines, PART_COCO, images[k], width, height);
        const char *image_id = formatted("\"image_id\":%zu,", i + 1);
        for (const char *at = coco; (at = strstr(at, image_id));) {
            at += strlen(image_id);
            size_t size = strcspn(at, "\n");
            text_append(&lines, at, size - (at[size - 1] == ','));
            text_put(&lines, "\n");
        }
        for (enum part_kind kind = 0; kind < N_PART_KINDS; kind++) {
            struct part_key key;
            part_key_make(&key, kind, &options.parts);
            must(part_write(here("out/%s%s%s", part_paths[kind].below, output, part_paths[kind].ending),
                            &(struct part_mask){.path = list.items[i].mask}, &key,
                            kind == PART_OBJECTS ? &rows : &lines, err));
        }
        text_release(&rows);
        text_release(&lines);
    }
    ck_assert_uint_eq(list.n, 5);
    ck_assert_uint_eq(join(&list, &options).n_joined, 15);
    run_here("cmp before/objects.tsv out/objects.tsv && cmp before/coco.json out/coco.json && cmp before/default.txt "
             "out/voc/ImageSets/Segmentation/default.txt && grep -q segmentation out/coco.json && test $(wc -l "
             "<out/objects.tsv) -gt 5");
    clv_model_release(&model);
    free(names);
    free(objects);
    free(coco);
}

/* More than a block, and more bytes than a block reads ahead. */
TEST(many_and_large_parts_are_joined_by_any_number_of_threads)
{
    enum { N = 2100, LARGE = 3 };
    static struct join_item items[N + LARGE];
    static char outputs[N + LARGE][16], masks[N + LARGE][300], folder[256];
    struct join_options options = usual();
    struct join_counts counts;
    char *large = malloc(((size_t)33 << 20) + 2);
    memset(large, 'x', (size_t)33 << 20);
    strcpy(large + ((size_t)33 << 20), "\n");
    run_here("mkdir out && echo a >out/m.png");
    snprintf(folder, sizeof folder, "%s", here("out"));
    for (int k = 0; k < N + LARGE; k++) {
        snprintf(outputs[k], sizeof outputs[k], "p%d", k);
        snprintf(masks[k], sizeof masks[k], "%s/p%d.png", folder, k);
        ck_assert_int_eq(link(here("out/m.png"), masks[k]), 0);
        items[k] = (struct join_item){outputs[k], outputs[k], outputs[k], masks[k]};
        make_part(PART_OBJECTS, outputs[k], masks[k], "", k < N ? formatted("%d\n", k) : large);
    }
    free(large);
    options.tables = 1 << JOIN_OBJECTS;
    for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
        options.n_threads = n_threads;
        must(join_tables(&counts, folder, items, N + LARGE, &options, err));
        ck_assert_uint_eq(counts.n_joined, N + LARGE);
        ck_assert_uint_eq(counts.n_earlier, 0);
        run_here("cd out && sed '/xx/d; 1d' objects.tsv | awk -F'\\t' '{ if ($1 != \"p\" $2 || $2 != NR - 1) exit 1 } "
                 "END { exit NR != %d }' && test $(tail -n %d objects.tsv | wc -c) = %zu && mv objects.tsv t%d",
                 N, LARGE, LARGE * (((size_t)33 << 20) + 1 + strlen("p2100\t")), n_threads);
    }
    must(join_tables(&counts, folder, items, 1, &options,
                     err)); /* the others are earlier ones, by path; none has a name */
    ck_assert_uint_eq(counts.n_earlier, N + LARGE - 1);
    run_here("cd out && cmp t1 t3 && grep -v xx objects.tsv | sed 1,2d | cut -f2 >a && sort -c a");
}

TEST(memory_that_is_out_leaves_the_tables_as_they_were)
{
    static const char *const tables[] = {"objects.tsv", "coco.json", "voc/ImageSets/Segmentation/default.txt"};
    struct list list = {.n = 0};
    struct join_options options = usual();
    options.n_threads = 1;
    make_image("m");
    make_image("n");
    make_image("torn");
    run_here("truncate -s 3 out/.cleave-parts/coco/torn.json; mkdir -p out/voc/ImageSets/Segmentation");
    add_item(&list, "m");
    for (enum join_table table = 0; table < N_JOIN_TABLES; table++) {
        size_t request = 1;
        ck_assert_str_eq(join_paths[table], tables[table]);
        options.tables = 1U << table;
        for (bool is_out = true; is_out; request++) {
            struct clv_error error;
            struct join_counts counts;
            const char *path = here("out/%s", join_paths[table]), *folder = here("out");
            spill(path, "before", 6);
            array_fail_request(request);
            enum clv_status status = join_tables(&counts, folder, list.items, list.n, &options, &error);
            array_fail_request(0);
            is_out = status != CLV_OK;
            ck_assert_msg(status == (is_out ? CLV_ERR_MEMORY : CLV_OK), "%s", error.message);
            char *text = slurp(path, NULL);
            ck_assert_int_eq(strcmp(text, "before") == 0, is_out);
            free(text);
        }
        ck_assert_uint_gt(request, 10);
    }
}

TEST(a_table_that_cannot_be_written_is_an_error)
{
    struct list list = {.n = 0};
    struct join_options options = usual();
    struct join_counts counts;
    make_image("m");
    add_item(&list, "m");
    ck_assert_int_eq(symlink("/dev/full", here("out/objects.tsv")), 0);
    must_fail(CLV_ERR_IO, "objects.tsv", join_tables(&counts, here("out"), list.items, list.n, &options, err));
    run_here("rm out/objects.tsv && mkdir out/objects.tsv");
    must_fail(CLV_ERR_CREATE, "objects.tsv", join_tables(&counts, here("out"), list.items, list.n, &options, err));
    options.tables = 1 << JOIN_VOC;
    run_here("touch out/voc/ImageSets");
    must_fail(CLV_ERR_CREATE, "voc", join_tables(&counts, here("out"), list.items, list.n, &options, err));
}

static void keep_message(void *context, enum clv_message kind, const char *text)
{
    struct text *messages = context;
    text_printf(messages, "%d %s\n", kind == CLV_WARNING, text);
}

TEST(what_tables_lack_is_said)
{
    struct text messages;
    text_init(&messages, 1 << 16);
    const struct clv_progress progress = {.context = &messages, .notify = keep_message};
    struct join_counts counts = {.n_joined = 3};
    join_report(&counts, "out", &progress);
    ck_assert_uint_eq(messages.size, 0);
    counts = (struct join_counts){
        .n_missing = 1, .first_missing = "out/m.png", .n_torn = 2, .first_torn = "p", .n_skipped = 1};
    strcpy(counts.first_skipped, "q");
    join_report(&counts, "out", &progress);
    ck_assert_str_eq(
        messages.bytes,
        "1 out: a mask has no part for a table, out/m.png; the tables leave it out; run again over its image with "
        "--resume\n"
        "1 out: a part of a table is of another mask, or of other labels or bands, q; the tables leave it out; run "
        "again over its image with --resume\n"
        "1 out: 2 parts of tables are damaged, the first is p; the tables leave them out; run again over their images "
        "with --resume\n");
    text_release(&messages);
}

/* Locks. */

struct waiting {
    const char *folder;
    struct join_lock lock;
    enum clv_status status;
    volatile bool has_it;
    struct clv_progress progress;
};

static void *wait_for_lock(void *context)
{
    struct waiting *self = context;
    struct clv_error ignored;
    self->status = join_lock_take(&self->lock, self->folder, &self->progress, &ignored);
    self->has_it = true;
    return NULL;
}

TEST(one_joins_after_the_other)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s", here("out"));
    struct join_lock lock = {0};
    volatile int stop = 0;
    pthread_t threads[2];
    struct waiting waiting[2] = {{.folder = folder}, {.folder = folder, .progress = {.stop = &stop}}};
    must(join_lock_take(&lock, folder, NULL, err));
    run_here("test -e out/.cleave-parts/join.lock");
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(pthread_create(&threads[k], NULL, wait_for_lock, &waiting[k]), 0);
    usleep(100000);
    ck_assert(!waiting[0].has_it && !waiting[1].has_it);
    stop = 1;
    pthread_join(threads[1], NULL);
    ck_assert_int_eq(waiting[1].status, CLV_ERR_INTERRUPTED);
    ck_assert(!waiting[0].has_it);
    join_lock_release(&lock);
    join_lock_release(&waiting[1].lock);
    pthread_join(threads[0], NULL);
    ck_assert_int_eq(waiting[0].status, CLV_OK);
    run_here("test -e out/.cleave-parts/join.lock");
    join_lock_release(&waiting[0].lock);
    join_lock_release(&waiting[0].lock);
    run_here("test ! -e out/.cleave-parts/join.lock");
}

TEST(the_last_shard_is_the_one_that_sees_no_other)
{
    struct flock part = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 30, .l_len = 5};
    run_here("mkdir out");
    ck_assert(join_is_last(here("out")));
    int fd = open(here("out/" SHARDS_LOCK), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    ck_assert(join_is_last(here("out")));
    if (fcntl(fd, F_OFD_SETLK, &part) == 0) {
        ck_assert(!join_is_last(here("out")));
        part.l_type = F_UNLCK;
        ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &part), 0);
    }
    ck_assert(join_is_last(here("out")));
    close(fd);
}

SETUP_ONCE(sample_setup, NULL)
SETUP_EACH(make_labels, release_labels)
TIMEOUT(60)
