/* The command at a fixed scale: photographs of mixed sizes, of one tile and of several. */
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define SCALE "--scale 1 --region-area 60 --tile 64 "
#define QUICK "--split train --seed 1 --words 20 --codebook-samples 2000 --passes 5 "

TEST(a_fixed_scale_learns_and_segments_to_the_same_bytes_at_any_number_of_threads)
{
    run_here("cleave train -q --data $SET/manifest.tsv " QUICK SCALE "-t 1 -o one.cleave");
    run_here("cleave train -q --data $SET/manifest.tsv " QUICK SCALE "-t 3 -o three.cleave");
    ck_assert(same_bytes(here("one.cleave"), here("three.cleave")));
    run_here("cleave segment -q -m one.cleave $SET/images -t 1 -o out-one && cleave segment -q -m one.cleave "
             "$SET/images -t 3 -o out-three && cleave features -q -m one.cleave --data $SET/manifest.tsv -o "
             "f.safetensors && cleave segment -q -m one.cleave --features f.safetensors -o out-features");
    ck_assert(same_bytes(here("out-one"), here("out-three")));
    ck_assert(same_bytes(here("out-one"), here("out-features")));
    expect_output("scale 1, tiles of 64 px seen with 64 px around, superpixels of 60 px", "cleave inspect one.cleave");
    OWNED_ARRAY char *told = expect_success("cleave inspect --json one.cleave");
    ck_assert_ptr_nonnull(strstr(told, "\"region_area\":60"));
    ck_assert_ptr_null(strstr(told, "working_pixels"));
}

TEST(a_model_at_a_fixed_scale_segments_images_of_any_size)
{
    run_here("cleave train -q --data $SET/manifest.tsv " QUICK SCALE "-o m.cleave");
    sample_enlarge(here("large.png"), 333, 210);
    sample_enlarge(here("tiny.png"), 3, 2);
    run_here("cleave segment -q -m m.cleave large.png tiny.png -o out && [ -s out/large.png ] && [ -s out/tiny.png ]");
}

TEST(options_that_do_not_go_with_a_fixed_scale_are_named)
{
    static const struct refusal refusals[] = {
        {64, "--scale: \"0.5\"", "train --scale 0.5 -d x -o y"},
        {64, "block position looks at the whole image",
         "train --scale 1 --blocks colour,position -d $SET/manifest.tsv -o m.cleave"},
    };
    EXPECT_REFUSALS(refusals);
}

SETUP_ONCE(sample_setup, NULL)
