#include "support/sample.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "support/support.h"

static char set_folder[256], model_path[256];

void sample_setup(void)
{
    OWNED_ARRAY char *output = NULL;
    if (set_folder[0])
        return;
    snprintf(set_folder, sizeof set_folder, "%s/sample", temporary_folder());
    snprintf(model_path, sizeof model_path, "%s/sample.cleave", temporary_folder());
    int code = run_command(&output,
                           "\"$SYNTH\" -n 12 --size 120x90 --seed 3 %s && \"$CLEAVE\" train --learner ssvm "
                           "--data %s/manifest.tsv --split train " SAMPLE_TRAINING " -o %s",
                           set_folder, set_folder, model_path);
    setenv("SET", set_folder, 1);
    setenv("MODEL", model_path, 1);
    if (code)
        set_folder[0] = 0; /* the next suite tries again */
    ck_assert_msg(code == 0, "cannot make the sample (status %d): %s", code, output);
}

const char *sample_set(void)
{
    return set_folder;
}

const char *sample_model(void)
{
    return model_path;
}

void sample_enlarge(const char *path, int width, int height)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_image_release) struct clv_image image = {0}, large = {0};
    must(clv_set_read_manifest(&set, formatted("%s/manifest.tsv", set_folder), err));
    must(clv_image_read(&image, set.items[0].image, NULL, err));
    must(clv_image_resize(&large, &image, width, height, err));
    must(clv_png_write(path, &large, err));
}

double peak_of(const char *command)
{
    struct rusage usage;
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(wait4(child, &status, 0, &usage), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %d", command, status);
    return 1024.0 * (double)usage.ru_maxrss;
}

int count_files(const char *folder)
{
    OWNED(path_list_release) struct path_list list = {0};
    if (!path_is_folder(folder))
        return 0;
    must(folder_walk(&list, folder, err));
    int n = (int)list.n;
    return n;
}

int same_bytes(const char *a, const char *b)
{
    return run_command(NULL, "diff -r -x .cleave-run '%s' '%s'", a, b) == 0;
}
