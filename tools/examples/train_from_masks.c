/* Trains a model from images with masks: that of `cleave train --data PATH --seed 1`.
 *
 *     cc train_from_masks.c $(pkg-config --cflags --libs cleave) -o train_from_masks
 *     ./train_from_masks set/manifest.tsv horses.cleave */
#include <cleave.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct clv_train_options options;
    static struct clv_model model;
    struct clv_error error;
    if (argc != 3)
        return 64;
    clv_train_defaults(&options, clv_learner_find("ssvm"));
    options.data = argv[1];
    options.seed = 1;
    enum clv_status status = clv_train_set(&model, &options, &error);
    if (status == CLV_OK)
        status = clv_model_write(argv[2], &model, &error);
    if (status == CLV_OK)
        printf("%s: learned from %s images\n", argv[2], clv_record_get(&model.record, "images"));
    else
        fprintf(stderr, "train_from_masks: %s\n", error.message);
    clv_model_release(&model);
    return clv_status_exit_code(status);
}
