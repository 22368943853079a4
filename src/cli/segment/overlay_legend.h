/* The legend of a folder of overlays: which colour is which label. */
#ifndef CLI_OVERLAY_LEGEND_H
#define CLI_OVERLAY_LEGEND_H

#include <stdbool.h>

#include "cleave/data.h"

/* Writes folder/overlays/legend.svg, all or nothing: a line for every label with a name. One that is there and says
 * something else stays as it is, which a note tells, unless `overwrite`. */
enum clv_status overlay_legend_write(const char *folder, const struct clv_labels *labels, bool overwrite,
                                     struct clv_error *err) CLV_CHECK;

#endif
