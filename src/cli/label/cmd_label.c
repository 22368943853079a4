/* `cleave label`: opens a folder (src/page), serves the page on which its images are labelled (server.c), trains in the
 * background (trainer.c), and prints at the end how many images are labelled. Start at run. */
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/label/label.h"

/* Embeds assets/page in the binary. Paths are relative to the folder in which `make` runs. */

#define EMBED(name, file)                                                                                              \
    __asm__(".section .rodata\n"                                                                                       \
            ".balign 16\n"                                                                                             \
            "label_" #name "_begin:\n"                                                                                 \
            ".incbin \"assets/page/" file "\"\n"                                                                       \
            "label_" #name "_end:\n"                                                                                   \
            ".byte 0\n"                                                                                                \
            ".previous\n"                                                                                              \
            ".globl label_" #name "_begin\n"                                                                           \
            ".hidden label_" #name "_begin\n"                                                                          \
            ".globl label_" #name "_end\n"                                                                             \
            ".hidden label_" #name "_end\n");                                                                          \
    extern const unsigned char label_##name##_begin[], label_##name##_end[]

EMBED(index, "index.html");
EMBED(style, "style.css");
EMBED(icon, "icon.svg");
EMBED(main, "main.js");
EMBED(server, "server.js");
EMBED(canvas, "canvas.js");
EMBED(tools, "tools.js");
EMBED(keys, "keys.js");

static const struct page_file label_page_files[] = {
    {"/index.html", "text/html; charset=utf-8", label_index_begin, label_index_end},
    {"/style.css", "text/css; charset=utf-8", label_style_begin, label_style_end},
    {"/icon.svg", "image/svg+xml", label_icon_begin, label_icon_end},
    {"/main.js", "text/javascript; charset=utf-8", label_main_begin, label_main_end},
    {"/server.js", "text/javascript; charset=utf-8", label_server_begin, label_server_end},
    {"/canvas.js", "text/javascript; charset=utf-8", label_canvas_begin, label_canvas_end},
    {"/tools.js", "text/javascript; charset=utf-8", label_tools_begin, label_tools_end},
    {"/keys.js", "text/javascript; charset=utf-8", label_keys_begin, label_keys_end},
    {NULL, NULL, NULL, NULL},
};

#define MAX_LINKS ((size_t)1 << 16)

struct label {
    struct common_options *common;
    const char *folder, *address, *boxes;
    int32_t port;
    bool objects;
    int opens_browser; /* 1, or 0 */
};

#define AT(member)   offsetof(struct label, member)
#define SECTION_PAGE "The page"
#define BASIC        CLV_OPTION_BASIC
static const struct clv_option label_rows[] = {
    {"port", 0, "N", SECTION_PAGE, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_INT, AT(port), .minimum = 0, .maximum = 65535,
     .help = "The port to listen on (default: a free one)"},
    {"listen", 0, "ADDRESS", SECTION_PAGE, BASIC, CLV_OPTION_TEXT, AT(address),
     .help = "Listen on this address (default 127.0.0.1: this machine alone)\n"
             "0.0.0.0, or :: with IPv6, are all of this machine's; whoever sees the link can then change the folder's "
             "labels"},
    {"boxes", 0, "FILE", SECTION_PAGE, BASIC, CLV_OPTION_TEXT, AT(boxes),
     .help = "Show boxes and outlines of another program (default: FOLDER/boxes.tsv)\n"
             "They are shown on images that nothing was drawn on yet. TSV, Pascal VOC, COCO, labelme, CVAT, YOLO and "
             "others; a file or a folder"},
    {"objects", 0, NULL, SECTION_PAGE, BASIC, CLV_OPTION_FLAG, AT(objects),
     .help = "Keep objects apart, in FOLDER/instances/ (default: if it exists)\n"
             "Each image gets a label image, so that objects that touch can be told apart, counted and learned"},
    {"no-browser", 0, NULL, SECTION_PAGE, BASIC, CLV_OPTION_SET, AT(opens_browser), .minimum = 0,
     .help = "Only print the link (default: open it in the browser, too)"},
    {0},
};

static enum clv_status parse(struct label *self, int argc, char **argv, struct clv_error *err)
{
    const struct option_table table = {
        "[OPTION...] FOLDER",
        "Opens a page in the browser on which the images of a folder are labelled.",
        {"label photos/", "label --port 8080 --no-browser photos/"},
        "Boxes, strokes and clicks are each answered by a minimum cut, and a model that learns meanwhile makes "
        "suggestions. Everything is saved into the folder at every stroke: masks in FOLDER/masks/, boxes in "
        "FOLDER/boxes.tsv, strokes in FOLDER/strokes/, objects that are kept apart in FOLDER/instances/, the model in "
        "FOLDER/label.cleave. `cleave train --data FOLDER' learns from them. The link that is printed holds the "
        "page's password: only who has it can open the page. Ctrl-C ends the server; all work is saved.",
        {{label_rows, self, false}, {image_option_rows, self->common, false}, {plain_option_rows, self->common, false}},
    };
    struct common_options *common = self->common;
    common_options_init(common);
    MUST(options_parse(&table, argc, argv, common, err));
    FAIL_IF(common->n_arguments > 1, CLV_ERR_USAGE, "%s: label takes one folder, and %s is there already",
            common->arguments[1], common->arguments[0]);
    FAIL_IF(common->limits.band_files, CLV_ERR_USAGE,
            "--bands: label opens images that are one file each; gdalbuildvrt -separate and "
            "gdal_translate make one of several");
    FAIL_IF(!common->n_arguments, CLV_ERR_USAGE, "label: which folder of images?");
    self->folder = common->arguments[0];
    return CLV_OK;
}

static enum clv_status make_token(char token[PAGE_TOKEN_SIZE], struct clv_error *err)
{
    unsigned char bytes[(PAGE_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return fail_errno(err, CLV_ERR_OS, "no random numbers");
    for (size_t k = 0; k < sizeof bytes; k++)
        snprintf(token + 2 * k, 3, "%02x", bytes[k]);
    return CLV_OK;
}

#define REDIRECT                                                                                                       \
    "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%.*s\"><a href=\"%.*s\">cleave label</a>\n"

/* Makes a file that redirects to the link and that only this user may read, since all users can see the arguments of
 * programs, and the link has the password. */
static enum clv_status write_redirect(char **path, const char *link, int size, struct clv_error *err)
{
    const char *folders[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    int fd = -1;
    for (size_t k = 0; k < 3 && fd < 0; k++) {
        if (!folders[k] || !*folders[k])
            continue;
        array_free(*path);
        *path = path_join(folders[k], "cleave-label-XXXXXX.html");
        NEED(*path);
        fd = mkostemps(*path, 5, O_CLOEXEC);
    }
    if (fd < 0)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", *path);
    file_remember_temporary(*path);
    int n = dprintf(fd, REDIRECT, size, link, size, link);
    return close(fd) == 0 && n > 0 ? CLV_OK : fail_errno(err, CLV_ERR_IO, "%s: cannot write", *path);
}

static void run_opener(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            execlp("xdg-open", "xdg-open", path, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Opens the page in a browser if there is a desktop; does not check whether the browser starts. */
static void open_browser(char **redirect, const char *links)
{
    struct clv_error err = {0};
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
        return;
    if (write_redirect(redirect, links, (int)strcspn(links, "\n"), &err) == CLV_OK)
        run_opener(*redirect);
    else
        console_note("the browser is not opened: %s", err.message);
}

/* Appends " OPTION 'PATH'" for the shell; PATH is quoted. */
static void put_quoted(struct text *text, const char *option, const char *path)
{
    text_printf(text, " %s'", option);
    for (const char *c = path; *c; c++)
        text_printf(text, *c == '\'' ? "'\\%c'" : "%c", *c);
    text_put(text, "'");
}

/* Appends the commands that train on the folder and segment it with the model. What they write is in the folder: beside
 * it a container would lose it, or this user might not be allowed to write. */
static void put_commands(struct text *text, const struct label *self, const char *folder)
{
    char model[PATH_MAX + 16], masks[PATH_MAX + 16];
    snprintf(model, sizeof model, "%s/model.cleave", folder);
    snprintf(masks, sizeof masks, "%s/predictions", folder);
    text_put(text, "  cleave train");
    put_quoted(text, "--data ", folder);
    put_quoted(text, "-o ", model);
    if (self->common->limits.grey16_high > 0)
        text_printf(text, " --range %d,%d", self->common->limits.grey16_low, self->common->limits.grey16_high);
    text_printf(text, "%s\n  cleave segment", path_exists(model) ? " --overwrite" : "");
    put_quoted(text, "-m ", model);
    put_quoted(text, "", folder);
    put_quoted(text, "-o ", masks);
    text_put(text, path_exists(masks) ? " --overwrite" : "");
}

/* Prints how many images are labelled, and commands to continue without the page. n_before (NULL at the start): how
 * many images were accepted at the start. */
static void report_state(const struct label *self, const struct page_session *session, const size_t *n_before)
{
    char folder[PATH_MAX];
    size_t n_images, n_accepted;
    struct text text;
    if (console_is_quiet() || !realpath(self->folder, folder))
        return;
    page_session_count(&n_images, &n_accepted, session);
    text_init(&text, MAX_LINKS);
    if (n_before)
        console_note("stopped, all is saved: %zu of %s accepted, %zu were at the start; to go on:", n_accepted,
                     n_of(n_images, "image is", "images are").text, *n_before);
    else
        console_note("%s: %s, %zu accepted; two or more teach a model that labels others:", folder,
                     n_of(n_images, "image", "images").text, n_accepted);
    if (n_before && !n_accepted) { /* nothing to train on */
        text_put(&text, "  cleave label");
        put_quoted(&text, "", folder);
    } else {
        put_commands(&text, self, folder);
    }
    if (!text.failed)
        fprintf(stderr, "%s\n", text.bytes);
    text_release(&text);
}

static enum clv_status serve(struct label *self, struct label_server *server, const char *links,
                             struct page_session *session, struct clv_error *err)
{
    OWNED_ARRAY char *redirect = NULL;
    if (self->address)
        console_note(
            "--listen %s: whoever can reach this machine there and sees the link can see these images and change "
            "their labels",
            self->address);
    size_t n_images, n_before;
    page_session_count(&n_images, &n_before, session);
    report_state(self, session, NULL);
    fputs(links, stdout);
    fflush(stdout);
    if (self->opens_browser)
        open_browser(&redirect, links);
    const enum clv_status status = label_server_run(server, session, signals_stop(), err);
    report_state(self, session, &n_before); /* on failure, too, since all work is saved */
    if (redirect) {
        remove(redirect);
        file_forget_temporary(redirect);
    }
    return status;
}

static enum clv_status run(struct label *self, struct clv_error *err)
{
    struct page_trainer view;
    struct page_options options = {
        .folder = self->folder, .files = label_page_files, .trainer = &view, .objects = self->objects};
    OWNED(text_release) struct text links = {0};
    OWNED_ARRAY char *model = path_join(self->folder, "label.cleave");
    OWNED(label_trainer_drop) struct label_trainer *trainer = NULL;
    OWNED(page_session_discard) struct page_session *session = NULL;
    OWNED(label_server_drop) struct label_server *server = NULL;
    text_init(&links, MAX_LINKS);
    options.model = model;
    options.boxes = self->boxes;
    options.limits = self->common->limits;
    options.note = console_note;
    NEED(model);
    MUST(make_token(options.access.token, err));
    MUST(label_trainer_new(&trainer, model, err));
    view = label_trainer_view(trainer);
    MUST(page_session_new(&session, &options, err));
    MUST(label_server_new(&server, &links, &options.access, self->address ? self->address : "127.0.0.1", self->port,
                          err));
    return serve(self, server, links.bytes, session, err);
}

enum clv_status cmd_label(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct label self = {.common = &common, .opens_browser = 1};
    MUST(parse(&self, argc, argv, err));
    const enum clv_status status = output_locks_folder(&self.common->outputs.locks, self.folder, NULL, err);
    FAIL_IF(status != CLV_OK && output_locks_exit_code(), status,
            "%s: cleave label has it open, or another run writes there", self.folder);
    MUST(status);
    return run(&self, err);
}
