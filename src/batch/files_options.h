#ifndef BATCH_FILES_OPTIONS_H
#define BATCH_FILES_OPTIONS_H

#include "cleave/options.h"

/* Rows of options that set a struct clv_files_options, grouped by the commands that share them; each table ends with a
 * NULL name. files_model_rows are inputs of `segment` and `probabilities`, files_place_rows the destinations of
 * results, files_beside_rows the files beside masks, files_run_rows options of every run. */
extern const struct clv_option files_model_rows[], files_way_rows[], files_place_rows[], files_mask_rows[],
    files_deciding_rows[], files_refining_rows[], files_beside_rows[], files_probability_rows[], files_sampling_rows[],
    files_propagate_rows[], files_run_rows[];

#define SECTION_INPUTS   "Inputs"
#define SECTION_OUTPUTS  "Outputs"
#define SECTION_DECIDING "How labels are decided"
#define SECTION_REFINING "Refining"
#define SECTION_RUN      "Running"

#endif
