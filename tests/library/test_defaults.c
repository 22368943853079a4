/* Functions of the public headers that fill a struct with defaults: nothing in it is left as it was, so that one may be
 * on the stack. */
#include <stdlib.h>

#include "cleave/segment.h"
#include "support/support.h"
#include "tags/tags.h"

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif
#if __has_builtin(__builtin_clear_padding)
#define clear_padding(object) __builtin_clear_padding(object)
#else
#define clear_padding(object) (void)(object)
#endif

/* The same bytes come out of two structs that were filled with different ones. */
#define fills_all(type, call)                                                                                          \
    do {                                                                                                               \
        static type a, b; /* of static storage: gcc would know what is on the stack */                                 \
        type *made = &a;                                                                                               \
        memset(&a, 0xAA, sizeof a);                                                                                    \
        memset(&b, 0x55, sizeof b);                                                                                    \
        call;                                                                                                          \
        made = &b;                                                                                                     \
        call;                                                                                                          \
        clear_padding(&a);                                                                                             \
        clear_padding(&b);                                                                                             \
        for (size_t byte = 0; byte < sizeof a; byte++)                                                                 \
            ck_assert_msg(((const uint8_t *)&a)[byte] == ((const uint8_t *)&b)[byte] || is_padding(),                  \
                          #call ": byte %zu of %zu is not set", byte, sizeof a);                                       \
    } while (0)

/* Where padding cannot be cleared it cannot be distinguished from fields, either. */
static bool is_padding(void)
{
    return !__has_builtin(__builtin_clear_padding);
}

TEST(defaults_set_every_field)
{
    struct clv_model model = {0};
    fills_all(struct clv_box_cut_options, clv_box_cut_defaults(made));
    fills_all(struct clv_bp_options, clv_bp_defaults(made));
    fills_all(struct clv_decision_options, clv_decision_defaults(made, &model));
    fills_all(struct clv_files_options, clv_files_defaults(made));
    fills_all(struct clv_refine_options, clv_refine_defaults(made));
    for (int32_t n_labels = 2; n_labels <= 3; n_labels++)
        fills_all(struct clv_refine_options, clv_refine_probabilities_defaults(made, n_labels));
    fills_all(struct clv_segment_options, clv_segment_defaults(made));
    fills_all(struct clv_sequence_options, clv_sequence_defaults(made));
    fills_all(struct clv_slic_options, clv_slic_defaults(made));
    for (size_t i = 0; clv_learner_at(i); i++) {
        fills_all(struct clv_training, clv_training_defaults(made, clv_learner_at(i)));
        fills_all(struct clv_train_options, clv_train_defaults(made, clv_learner_at(i)));
    }
    for (size_t i = 0; clv_tag_learner_at(i); i++)
        fills_all(struct clv_tag_training, clv_tag_training_defaults(made, clv_tag_learner_at(i)));
}

TEST(initial_options_set_every_field)
{
    fills_all(struct clv_recipe, clv_recipe_init(made));
    fills_all(struct clv_recipe, clv_recipe_init_patches(made));
}

/* A new function with defaults is to be added above. */
TEST(all_functions_with_defaults_are_among_them)
{
    OWNED_ARRAY char *output = NULL;
    const char *function = "^CLV_API void clv_[a-z_]+_(defaults|init|init_patches)\\(";
    ck_assert_int_eq(run_command(&output, "cat include/cleave/*.h | grep -cE '%s'", function), 0);
    ck_assert_str_eq(output, "13\n");
}
