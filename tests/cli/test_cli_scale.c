/* The command at a fixed scale: photographs of mixed sizes, of one tile and of several. */
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define SCALE "--scale 1 --region-area 60 --tile 64 "
#define QUICK "--split train --seed 1 --words 20 --codebook-samples 2000 --passes 5 "

TEST(a_fixed_scale_learns_and_segments_to_the_same_bytes_at_any_number_of_threads)
{
    const char *folder = temporary_folder(), *set = sample_set();
    free(expect_success("cd %s && \"$CLEAVE\" train -q --data %s/manifest.tsv " QUICK SCALE "-t 1 -o one.cleave",
                        folder, set));
    free(expect_success("cd %s && \"$CLEAVE\" train -q --data %s/manifest.tsv " QUICK SCALE "-t 3 -o three.cleave",
                        folder, set));
    ck_assert(same_bytes(formatted("%s/one.cleave", folder), formatted("%s/three.cleave", folder)));
    free(expect_success("cd %s && \"$CLEAVE\" segment -q -m one.cleave %s/images -t 1 -o out-one && "
                        "\"$CLEAVE\" segment -q -m one.cleave %s/images -t 3 -o out-three && "
                        "\"$CLEAVE\" features -q -m one.cleave --data %s/manifest.tsv -o f.safetensors && "
                        "\"$CLEAVE\" segment -q -m one.cleave --features f.safetensors -o out-features",
                        folder, set, set, set));
    ck_assert(same_bytes(formatted("%s/out-one", folder), formatted("%s/out-three", folder)));
    ck_assert(same_bytes(formatted("%s/out-one", folder), formatted("%s/out-features", folder)));
    char *told = expect_success("cd %s && \"$CLEAVE\" inspect one.cleave", folder);
    ck_assert_ptr_nonnull(strstr(told, "scale 1, tiles of 64 px seen with 64 px around, superpixels of 60 px"));
    free(told);
    told = expect_success("cd %s && \"$CLEAVE\" inspect --json one.cleave", folder);
    ck_assert_ptr_nonnull(strstr(told, "\"region_area\":60"));
    ck_assert_ptr_null(strstr(told, "working_pixels"));
    free(told);
}

TEST(a_model_at_a_fixed_scale_segments_images_of_any_size)
{
    const char *folder = temporary_folder(), *set = sample_set();
    free(
        expect_success("cd %s && \"$CLEAVE\" train -q --data %s/manifest.tsv " QUICK SCALE "-o m.cleave", folder, set));
    sample_enlarge(formatted("%s/large.png", folder), 333, 210);
    sample_enlarge(formatted("%s/tiny.png", folder), 3, 2);
    free(expect_success("cd %s && \"$CLEAVE\" segment -q -m m.cleave large.png tiny.png -o out && [ -s out/large.png ] "
                        "&& [ -s out/tiny.png ]",
                        folder));
}

TEST(options_that_do_not_go_with_a_fixed_scale_are_named)
{
    expect_error(64, "--superpixels has no effect with --scale",
                 "\"$CLEAVE\" train --scale 1 --superpixels 9 -d x -o y");
    expect_error(64, "--working-pixels has no effect with --scale",
                 "\"$CLEAVE\" train --scale 1 --working-pixels 900 -d x -o y");
    expect_error(64, "--region-area has no effect without --scale", "\"$CLEAVE\" train --region-area 9 -d x -o y");
    expect_error(64, "--tile has no effect without --scale", "\"$CLEAVE\" train --tile 99 -d x -o y");
    expect_error(64, "--scale is for superpixels", "\"$CLEAVE\" train --scale 1 --nodes patches -d x -o y");
    expect_error(64, "--scale: \"0.5\"", "\"$CLEAVE\" train --scale 0.5 -d x -o y");
    expect_error(64, "block position looks at the whole image",
                 "\"$CLEAVE\" train --scale 1 --blocks colour,position -d %s/manifest.tsv -o %s/m.cleave", sample_set(),
                 temporary_folder());
}

SETUP_ONCE(sample_setup, NULL)
