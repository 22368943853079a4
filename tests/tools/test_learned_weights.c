/* What the programs write that learn weights of the source (tools/learn), and what they learn from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../tools/bench/box_objects.h"
#include "../../tools/learn/network.h"
#include "box_cut/box_cut.h"
#include "click/click.h"
#include "support/support.h"

TEST(weights_too_small_to_count_are_written_as_zero)
{
    static const struct network network = {.n_inputs = 2, .n_hidden = 1};
    static const float weights[] = {0.5F, -1.2e-39F, 9e-31F, -1.1e-30F, -9e-31F};
    char text[256] = "";
    FILE *stream = fmemopen(text, sizeof text, "w");
    network_write(stream, weights, &network);
    fclose(stream);
    ck_assert_str_eq(text, "    .linear = { 0.5F, 0.0F,},\n    .output = { 0.0F,},\n"
                           "    .hidden = {\n        { -1.1e-30F, 0.0F,},\n    },\n");
}

static void expect_none_small(const char *name, const float *weights, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(weights[i] == 0 || fabsf(weights[i]) >= 1e-30F, "%s: number %zu is %g", name, i, weights[i]);
}

TEST(no_weight_of_the_source_is_denormal)
{
    expect_none_small("clicks", (const float *)click_weights, sizeof click_weights / sizeof(float));
    expect_none_small("boxes", (const float *)&box_weights, sizeof box_weights / sizeof(float));
}

/* 124084 has another number there. */
TEST(photos_that_are_in_grabcut_50_are_known)
{
    static const char *const names[] = {"124084-0", "21077-0", "388016-0", "124080-0", "21078-0", "210770-0"};
    for (int i = 0; i < 6; i++) {
        struct box_object object = {0};
        snprintf(object.name, sizeof object.name, "%s", names[i]);
        ck_assert_msg(box_is_of_grabcut_50(&object) == (i < 3), "%s", names[i]);
    }
}

TEST(of_berkeleys_objects_17_are_in_grabcut_50)
{
    OWNED(box_objects_release) struct box_objects objects = {0};
    size_t n = 0;
    if (!real_data("of_berkeleys_objects_17_are_in_grabcut_50", "boxes-berkeley/manifest.tsv"))
        return;
    ck_assert(box_objects_read(&objects, "boxes-berkeley", ""));
    for (size_t i = 0; i < objects.n; i++)
        n += box_is_of_grabcut_50(&objects.items[i]);
    ck_assert_uint_eq(n, 17);
    ck_assert_uint_eq(objects.n, 100);
}
