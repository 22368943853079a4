/* cleave: image segmentation with learned graph cuts. The umbrella header. */
#ifndef CLEAVE_H
#define CLEAVE_H

#include "cleave/box_cut.h"
#include "cleave/boxes.h"
#include "cleave/click.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/files.h"
#include "cleave/image.h"
#include "cleave/infer.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/objects.h"
#include "cleave/options.h"
#include "cleave/problem.h"
#include "cleave/refine.h"
#include "cleave/score.h"
#include "cleave/segment.h"
#include "cleave/status.h"
#include "cleave/superpixel.h"
#include "cleave/train.h"
#include "cleave/version.h"

#endif
