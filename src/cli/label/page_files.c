/* assets/page within the binary. The paths are those of the folder that `make` runs in. */
#include <stddef.h>

#include "cli/label/label.h"

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

const struct page_file label_page_files[] = {
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
