/* Maps of the probabilities of all labels: their memory. */
#include "batch/batch.h"
#include "model/model.h"
#include "support/support.h"

/* 2 bytes per pixel and label, 4 for margins, and two doubles of scratch. */
TEST(the_memory_of_a_map_of_all_labels_is_that_of_its_working_size)
{
    struct clv_model model = {.recipe = {.working_pixels = 80000}};
    struct batch run = {.model = &model, .options = {.probabilities = CLV_PROBABILITIES_OF_ALL}};
    ck_assert_double_eq(label_map_bytes(&run, 3, 1000), 1000 * (3 * 2 + 16));
    ck_assert_double_eq(label_map_bytes(&run, 3, 1e6), 80000 * (3 * 2 + 16));
    model.recipe.scale = 2;
    ck_assert_double_eq(label_map_bytes(&run, 3, 1e8), 2.5e7 * (3 * 2 + 16));
    run.options.probabilities = CLV_PROBABILITIES_MARGINS;
    ck_assert_double_eq(label_map_bytes(&run, 3, 1e8), 2.5e7 * (3 * 4 + 16));
    run.options.side = 100;
    ck_assert_double_eq(label_map_bytes(&run, 3, 1e8), 100 * 100 * (3 * 4 + 16));
}
