/* --maps and what goes with it: where the maps of networks are, and what they are. */
#ifndef CLI_MAPS_OPTION_H
#define CLI_MAPS_OPTION_H

#include "cleave/segment.h"
#include "cli/common/options.h"

#define MAPS_HELP                                                                                                      \
    "Maps of a network: FOLDER holds a .npy, PNG or safetensors file for each image, of its name; more than once for " \
    "more maps (else the manifest's columns maps.NAME)"

/* NAME=FOLDER, [NAME=]KIND, [NAME=]N, [NAME=]USE. */
error_t option_maps(struct clv_map_options *self, const char *arg, struct common_options *common);
error_t option_maps_kind(struct clv_map_options *self, const char *arg, struct common_options *common);
error_t option_maps_pca(struct clv_map_options *self, const char *arg, struct common_options *common);
error_t option_maps_use(struct clv_map_options *self, const char *arg, struct common_options *common);

#endif
