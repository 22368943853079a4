/* What `cleave marginals` adds to the run that it shares with `cleave segment`. */
#ifndef CLI_MARGINALS_H
#define CLI_MARGINALS_H

#include "cli/segment/segment.h"

#define JSON_MAX_SIZE ((size_t)1 << 30)

/* Of one image. */
struct marginals_summary {
    double share;                 /* expected share of the label's pixels */
    double entropy;               /* mean over pixels of H(p) in bits: 0 certain, 1 a coin */
    double bound, standard_error; /* upper bound A_G of the log-partition */
};

/* The label that options->label means, by number or by name; label 1 without one. Refused by name: one the model
 * lacks. */
enum clv_status marginals_find_label(int32_t *label, const struct segment *options, const struct clv_labels *labels,
                                     struct clv_error *err) CLV_CHECK;

/* value[n_nodes] = the label's probability at each node times 255, rounded. */
enum clv_status marginals_of_nodes(int32_t *value, struct marginals_summary *summary, const struct segment_run *run,
                                   const struct clv_problem *problem, struct clv_oracle *oracle,
                                   struct clv_error *err) CLV_CHECK;

/* Probabilities of all labels on a grid over the image. */
struct marginals_map {
    int32_t width, height;
    uint16_t *values; /* [n_labels][height][width], 65535 times the mean probability; NULL: none was made */
};
void marginals_map_release(struct marginals_map *map);

/* Bytes that making one takes, at most. */
double marginals_map_bytes(const struct segment *options, int32_t n_labels);

/* The sides are those of the example's superpixels, or of that shape with the longer one options->side long. */
enum clv_status marginals_map_make(struct marginals_map *map, const struct segment_run *run,
                                   const struct clv_example *example, struct clv_oracle *oracle,
                                   struct clv_error *err) CLV_CHECK;

/* Appends an image's object to run->json; prints the document. */
enum clv_status marginals_add_json(struct segment_run *run, const char *image, const char *map,
                                   const struct marginals_summary *summary, struct clv_error *err) CLV_CHECK;
enum clv_status marginals_print_json(const struct segment_run *run, const struct segment_counts *counts,
                                     struct clv_error *err) CLV_CHECK;

#endif
