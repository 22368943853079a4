/* A run that is killed anywhere and then resumed gives the same bytes as a run that is not killed, for each way of
 * labelling: files, hidden ones too, tables and report. The status differs in one word: an input may have been finished
 * before. ptrace(2) watches a run of one thread and counts the calls that change files; at a call that a seed has
 * chosen the run ends by SIGKILL, before the call is done. So each kill happens at the same place every time. Start at
 * check_kill. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cleave/files.h"
#include "cleave/objects.h"
#include "image/raster/raster.h"
#include "support/support.h"
#include "support/ways.h"

TIMEOUT(120)

enum { N_KILLS = 5 };

/* Bright squares on a dark ground, some of which touch, as an image and as numbers. */
static void draw_cells(struct clv_image *image, struct clv_object_map *map, int32_t width, int32_t height, int shift)
{
    must(clv_image_new(image, width, height, 3, err));
    *map = (struct clv_object_map){.width = width, .height = height};
    map->objects = array_zalloc((size_t)width, (size_t)height * sizeof *map->objects);
    for (int32_t p = 0; p < width * height; p++) {
        const int32_t x = p % width + shift, y = p / width + 2 * shift, across = width / 16 + 4;
        const bool is_cell = y % 24 < 16 && x / 16 % 3;
        const int32_t light = !is_cell ? 30 : x % 16 < 2 || x % 16 > 13 ? 120 : 200;
        map->objects[p] = is_cell ? y / 24 * across + x / 16 : 0;
        map->n_objects = map->objects[p] > map->n_objects ? map->objects[p] : map->n_objects;
        memset(image->pixels + 3 * p, light + (p * 7919 + shift * 31) % 17, 3);
    }
}

static char model_of_cells[256], raster[256];

/* A raster, and a model of a fixed scale that has learned of objects. */
static void write_cells(void)
{
    snprintf(model_of_cells, sizeof model_of_cells, "%s", here("cells.cleave"));
    snprintf(raster, sizeof raster, "%s", here("region.tif"));
    run_here("mkdir -p cells/images cells/instances");
    for (int k = 0; k < 6; k++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(clv_object_map_release) struct clv_object_map map = {0};
        draw_cells(&image, &map, 80, 80, k);
        must(clv_png_write(here("cells/images/%d.png", k), &image, err));
        must(clv_object_map_write(NULL, here("cells/instances/%d.png", k), &map, err));
    }
    run_here("cleave train -q cells -o cells.cleave --seed 1 --scale 1 --tile 64 --region-area 25 --blocks colour,size "
             "--passes 3");
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    draw_cells(&image, &map, 210, 150, 7);
    const struct raster_layout layout = {.width = image.width, .height = image.height, .n_channels = 3, .bits = 8};
    must(raster_writer_create(&writer, raster, &layout, NULL, err));
    must(raster_writer_rows(&writer, image.pixels, image.height, err));
    must(raster_writer_commit(&writer, err));
}

static void setup(void)
{
    ways_setup();
    write_cells();
}

SETUP_ONCE(setup, NULL)

/* Windows of learned objects, then tiles. */
static void by_tiles(struct clv_files_options *options)
{
    static const char *const images[] = {raster};
    options->model_path = model_of_cells;
    options->images = images;
    options->n_images = 1;
    options->limits.max_pixels = 999;
    options->min_area = 5;
}

static const struct way tiles = {.name = "tiles", .choose = by_tiles, .has_model = true, .has_images = true};

/* Everything that the way can have, in out. Paths are the test's, so this comes before a fork. */
static void prepare(struct clv_files_options *options, const struct way *way, enum clv_existing existing)
{
    clv_files_defaults(options);
    way->choose(options);
    options->output = here("out");
    options->status = here("out/status.tsv");
    options->existing = existing;
    options->n_threads = 1;
    options->exports = CLV_EXPORT_COCO | CLV_EXPORT_VOC | CLV_EXPORT_GEOJSON;
    if (way->has_images) {
        options->overlay = options->objects = true;
        options->report = here("out/report");
    }
}

/* Whether a call makes, fills, names or removes a file. */
static bool changes_files(const struct __ptrace_syscall_info *call)
{
    switch (call->entry.nr) {
#ifdef SYS_mkdir /* which older machines have beside mkdirat, .. */
    case SYS_mkdir:
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_rename:
#endif
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_renameat2:
    case SYS_linkat:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_ftruncate:
    case SYS_utimensat: return true;
    case SYS_openat: return call->entry.args[2] & (O_CREAT | O_TRUNC);
    default: return false;
    }
}

/* Runs it in a process of its own, which is killed at the call number `at` that changes files (SIZE_MAX: at none).
 * Returns how many such calls came; 0: processes cannot be watched here. */
static size_t run_until(size_t at, const struct way *way)
{
    size_t n = 0;
    int status, signal_number = 0;
    struct clv_files_options options;
    prepare(&options, way, CLV_EXISTING_REFUSE);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct clv_files_result result;
        struct clv_error error;
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(2);
        raise(SIGSTOP);
        _exit(clv_segment_files(&result, &options, &error) == CLV_OK ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status))
        return 0;
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (ptrace(PTRACE_SYSCALL, child, NULL, signal_number) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status)) {
        struct __ptrace_syscall_info call;
        signal_number = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (signal_number || ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call) <= 0 ||
            call.op != PTRACE_SYSCALL_INFO_ENTRY || !changes_files(&call))
            continue;
        if (++n == at) {
            kill(child, SIGKILL);
            ck_assert_int_eq(waitpid(child, &status, 0), child);
            break;
        }
    }
    ck_assert_msg(at == SIZE_MAX ? WIFEXITED(status) && !WEXITSTATUS(status) : WIFSIGNALED(status),
                  "%s, call %zu: status %d", way->name, at, status);
    return n;
}

/* out is what `whole` is, each file. */
static void check_kill(const struct way *way, size_t at, size_t n)
{
    struct clv_files_options options;
    struct clv_files_result result;
    char *output;
    run_until(at, way);
    prepare(&options, way, CLV_EXISTING_RESUME);
    must(clv_segment_files(&result, &options, err));
    const int code = run_command(
        &output, "cd %s && sed -i 's/\tfinished before\t/\tdone\t/' out/status.tsv && diff -r whole out", here("."));
    ck_assert_msg(code == 0, "%s, killed at call %zu of %zu: %s", way->name, at, n, output);
    free(output);
    run_here("rm -r out");
}

TESTS(killed_anywhere_and_resumed_gives_the_same_bytes, 0, N_WAYS + 1)
{
    const struct way *way = _i < N_WAYS ? &ways[_i] : &tiles;
    const size_t n = run_until(SIZE_MAX, way);
    if (!n) {
        skip("kills", "processes cannot be watched here");
        return;
    }
    run_here("rm -rf whole && mv out whole");
    for (int k = 0; k < N_KILLS; k++)
        check_kill(way, 1 + n * (size_t)k / N_KILLS + rng_below(1, (uint64_t)_i, (uint64_t)k, (uint32_t)(n / N_KILLS)),
                   n);
}
