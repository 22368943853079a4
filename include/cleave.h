/* cleave: image segmentation with learned graph cuts. The umbrella header. */
#ifndef CLEAVE_H
#define CLEAVE_H

#include "cleave/annotate.h"
#include "cleave/belief_net.h"
#include "cleave/box_cut.h"
#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/image.h"
#include "cleave/image_tags.h"
#include "cleave/infer.h"
#include "cleave/learn.h"
#include "cleave/maps.h"
#include "cleave/model.h"
#include "cleave/problem.h"
#include "cleave/refine.h"
#include "cleave/report.h"
#include "cleave/score.h"
#include "cleave/segment.h"
#include "cleave/status.h"
#include "cleave/superpixel.h"
#include "cleave/synth.h"
#include "cleave/tag_model.h"
#include "cleave/tags.h"
#include "cleave/tensors.h"
#include "cleave/version.h"

#endif
