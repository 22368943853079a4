/* Failing memory in turn, for tests of the library's insides. */
#ifndef TESTS_REQUESTS_H
#define TESTS_REQUESTS_H

#include "base/base.h"
#include "support/support.h"

/* Fails each allocation of `call` in turn: CLV_ERR_MEMORY every time, and `check` holds, until it makes no more. */
#define must_survive_failed_requests(call) must_keep_when_requests_fail(call, (void)0)
#define must_keep_when_requests_fail(call, check)                                                                      \
    do {                                                                                                               \
        enum clv_status status_ = CLV_ERR_MEMORY;                                                                      \
        size_t request_ = 0;                                                                                           \
        while (status_ == CLV_ERR_MEMORY) {                                                                            \
            struct clv_error error_ = {0};                                                                             \
            struct clv_error *err = &error_;                                                                           \
            array_fail_request(++request_);                                                                            \
            status_ = (call);                                                                                          \
            array_fail_request(0);                                                                                     \
            ck_assert_msg(status_ == CLV_ERR_MEMORY || status_ == CLV_OK, "%s", error_.message);                       \
            if (status_ == CLV_ERR_MEMORY) {                                                                           \
                ck_assert_msg(strstr(error_.message, "out of memory") != NULL, "message is \"%s\"", error_.message);   \
                check;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        ck_assert_uint_gt(request_, 1);                                                                                \
    } while (0)

#endif
