/* The list of inputs: an image from standard input. */
#include "batch/inputs.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"

enum { MAX_SIZE = 1000 };

/* Adds the first `size` of MAX_SIZE + 1 bytes, as the image on standard input. */
static enum clv_status add_standard(struct input_list *list, size_t size, struct clv_error *err)
{
    char bytes[MAX_SIZE + 1];
    memset(bytes, 'P', sizeof bytes);
    spill(here("image"), bytes, size);
    ck_assert_ptr_nonnull(freopen(here("image"), "rb", stdin));
    return inputs_add_standard(list, MAX_SIZE, err);
}

TEST(an_image_from_standard_input_has_at_most_the_size_that_is_allowed)
{
    OWNED(input_list_release) struct input_list list = {0};
    must(add_standard(&list, MAX_SIZE, err));
    ck_assert_uint_eq(list.n, 1);
    ck_assert_uint_eq(list.items[0].size, MAX_SIZE);
    must_fail(CLV_ERR_DATA, "standard input: more than 1000 bytes", add_standard(&list, MAX_SIZE + 1, err));
    ck_assert_uint_eq(list.n, 1);
}
