/* What the commands' option parsing shares: values with ranges and choices, the options that every working command has,
 * and the canonical spelling of a command line for the record. Parsing itself is argp's. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>

#include "base/path.h"
#include "base/text.h"
#include "cleave/image.h"
#include "cleave/infer.h"
#include "cli/common/outputs.h"

/* --threads, --quiet, --max-pixels and friends. */
struct common_options {
    int32_t n_threads; /* 0: all the machine's */
    struct clv_image_limits limits;
    const char *image_option; /* the first one given of those about images, without dashes; NULL: none */
    struct outputs outputs;   /* that the command claimed */
    struct path_list paths;   /* of an option that may be given several times (option_path) */
    struct text canonical;    /* " --name value" of every option given that can change results, in order */
    struct clv_error *err;    /* receives the first bad value */
    enum clv_status status;
};

void common_options_init(struct common_options *common, struct clv_error *err);
void common_options_release(struct common_options *common);

/* Child parsers; their input is a struct common_options. plain_argp is of commands that never read an image. */
extern const struct argp common_argp, plain_argp;

/* Refuses options about images (CLV_ERR_USAGE) where `why` tells that none is read; NULL: some are. */
enum clv_status common_options_check(const struct common_options *common, const char *why,
                                     struct clv_error *err) CLV_CHECK;

/* Keys for options without a short form start here; each parser has a range of its own. */
enum option_keys {
    KEYS_COMMON = 0x100,
    KEYS_COMMAND = 0x200,
    KEYS_RECIPE = 0x300,
    KEYS_LEARNER = 0x400,
    KEYS_SEGMENT = 0x500,
    KEY_OVERWRITE = 0x600,
};

/* Runs argp over the command line. --help, --usage and unknown options end the process; a bad value is a status. */
enum clv_status options_parse(const struct argp *argp, int argc, char **argv, void *input,
                              struct common_options *common) CLV_CHECK;

/* To be called first by every parser function: adds the option to common->canonical. `ignored` is a string of the short
 * keys that name outputs and cannot change results. */
void options_note(struct common_options *common, const struct argp_option *options, const char *ignored, int key,
                  const char *arg);

/* *first, if it is NULL, becomes the name of the option that has this key, if there is one. */
void options_note_first(const char **first, const struct argp_option *options, int key);

/* Option values. Each returns 0, or EINVAL after recording "--name: "typed" is ..." (CLV_ERR_USAGE) in common. */
/* One more of common->paths, of which *first is the first. */
error_t option_path(const char **first, const char *arg, struct common_options *common);

error_t option_int(int32_t *value, const char *name, const char *arg, int32_t minimum, int32_t maximum,
                   struct common_options *common);
error_t option_uint64(uint64_t *value, const char *name, const char *arg, uint64_t minimum,
                      struct common_options *common);
error_t option_number(double *value, const char *name, const char *arg, double minimum, double maximum,
                      struct common_options *common);
/* choices[n]; *value is the index. option_either: of two choices, whether it is the second. */
/* Bytes from 1M on: a number, then K, M or G (thousands) or nothing. */
error_t option_memory(double *bytes, const char *name, const char *arg, struct common_options *common);
error_t option_choice(int *value, const char *name, const char *arg, const char *const *choices, size_t n,
                      struct common_options *common);
error_t option_either(bool *is_second, const char *name, const char *arg, const char *const choices[2],
                      struct common_options *common);

/* --engine: which min-cut engine inference uses. */
#define ENGINE_HELP "Min-cut engine: cleave or bk (libmaxflow). Both give the same labels (default cleave)"
error_t option_engine(enum clv_engine *engine, const char *arg, struct common_options *common);

/* --decode: by which rule labels follow from a model's scores, in place of the model's own. */
enum decoding_choice { DECODING_OWN, DECODING_MAP, DECODING_MARGINAL_MAP, DECODING_MARGINALS, DECODING_LEAST_LOSS };
#define DECODING_HELP                                                                                                  \
    "How labels follow from scores: map (the best labelling of all nodes), marginal-map (the best of the nodes with "  \
    "a known label, the others summed out), marginals (of every node the most probable label)"
#define DECODING_OWN_HELP ", or own: what the model was learned for (default own)"
/* `last` is the last of the choices that the command has. */
error_t option_decoding(enum decoding_choice *choice, enum decoding_choice last, const char *arg,
                        struct common_options *common);
/* A temperature of hidden nodes stays the model's if it has one above 0; the least loss is clv_model_decide's. */
void decoding_choose(struct clv_decoding *decoding, enum decoding_choice choice);

/* Records any other complaint about the command line. */
error_t option_error(struct common_options *common, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
