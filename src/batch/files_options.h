#ifndef BATCH_FILES_OPTIONS_H
#define BATCH_FILES_OPTIONS_H

#include "cleave/options.h"

/* Rows that set a struct clv_files_options, by what the commands share; each ends with a NULL name. files_model_rows are
 * what `segment` and `probabilities` read, files_place_rows where results go, files_beside_rows what is written beside
 * masks, files_run_rows how all run. */
extern const struct clv_option files_model_rows[], files_way_rows[], files_place_rows[], files_mask_rows[],
    files_deciding_rows[], files_refining_rows[], files_beside_rows[], files_probability_rows[], files_sampling_rows[],
    files_propagate_rows[], files_run_rows[];

#define SECTION_INPUTS   "Inputs"
#define SECTION_OUTPUTS  "Outputs"
#define SECTION_DECIDING "How labels are decided"
#define SECTION_REFINING "Refining"
#define SECTION_RUN      "Running"

#endif
