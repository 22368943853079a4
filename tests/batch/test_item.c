/* run_item: an input lets those with later numbers pass, whatever becomes of it. */
#include "base/base.h"
#include "batch/batch.h"
#include "support/support.h"

TIMEOUT(60)

TEST(an_input_that_fails_for_lack_of_memory_lets_the_next_one_enter_the_gate)
{
    struct input input = {.name = (char[]){"a.png"}};
    struct target target = {.mask = (char[]){"out/a.png"}, .has_mask = true};
    struct clv_files_result result = {0};
    struct batch run = {.inputs = {.items = &input, .n = 1}, .targets = {.items = &target, .n = 1}, .result = &result};
    enum clv_status status = CLV_ERR_MEMORY;
    pthread_mutex_init(&run.lock, NULL);
    memory_gate_init(&run.gate, 0);
    must(deliver_begin(&run, err));
    size_t number = 0;
    for (size_t request = 1; status == CLV_ERR_MEMORY; request++) {
        struct clv_error error;
        array_fail_request(request);
        status = run_item(&run, 0, number++, 0, &error);
        array_fail_request(0);
        must(memory_gate_enter(&run.gate, number++, 0, err));
    }
    ck_assert_int_eq(status, CLV_OK);
    ck_assert_uint_gt(number, 2);
    ck_assert_uint_eq(result.n_earlier, 1);
    deliver_end(&run);
    memory_gate_release(&run.gate);
    pthread_mutex_destroy(&run.lock);
}
