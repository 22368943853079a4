#include "cli/synth/synth_options.h"

#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/common/console.h"

error_t synth_parse_sigma_is(bool *is_deviation, const char *arg, struct common_options *common)
{
    static const char *const readings[] = {"variance", "deviation"};
    return option_either(is_deviation, "--sigma-is", arg, readings, common);
}

error_t synth_parse_output(struct synth_output *output, int key, const char *arg, struct common_options *common)
{
    if (key == KEY_OVERWRITE) {
        output->overwrite = true;
        return 0;
    }
    if (key != 'o' && key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (output->folder)
        return option_error(common, "%s: one folder is enough; %s is given already", arg, output->folder);
    output->folder = arg;
    return 0;
}

enum clv_status synth_parse(const struct argp *argp, int argc, char **argv, void *self, struct common_options *common,
                            const struct synth_output *output, struct clv_error *err)
{
    common_options_init(common, err);
    enum clv_status status = options_parse(argp, argc, argv, self, common);
    if (status == CLV_OK && !output->folder)
        status = fail(err, CLV_ERR_USAGE, "synth: no folder to write into; give it with -o");
    return status;
}

enum clv_status synth_claim(struct common_options *common, const struct synth_output *output, const char *const *names,
                            size_t n, struct clv_error *err)
{
    enum path_kind kind;
    enum clv_status status = path_look(&kind, output->folder, err);
    for (size_t i = 0; i < n && status == CLV_OK && kind != PATH_ABSENT; i++) {
        char *path = path_join(output->folder, names[i]);
        status = path ? outputs_claim(&common->outputs, path, output->overwrite, "", NULL, 0, err) : fail_memory(err);
        array_free(path);
    }
    return status;
}

enum clv_status synth_write(const char *folder, const struct clv_dataset *train, const struct clv_dataset *test,
                            struct clv_error *err)
{
    char *train_path = path_join(folder, "train.safetensors"), *test_path = path_join(folder, "test.safetensors");
    enum clv_status status = train_path && test_path ? folder_create(folder, err) : fail_memory(err);
    if (status == CLV_OK)
        status = clv_dataset_write(train_path, train, err);
    if (status == CLV_OK) {
        status = clv_dataset_write(test_path, test, err);
        if (status != CLV_OK)
            unlink(train_path); /* one without the other would be half a set */
    }
    if (status == CLV_OK)
        console_note("%zu problems to train on and %zu to test on in %s", clv_dataset_size(train),
                     clv_dataset_size(test), folder);
    array_free(train_path);
    array_free(test_path);
    return status;
}
